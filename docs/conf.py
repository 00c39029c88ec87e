"""Sphinx: how the documentation is built. ``make docs`` builds it, warnings as errors, offline."""

from __future__ import annotations

import sys
from pathlib import Path

import wgsindy

sys.path.append(str(Path(__file__).parent / "_ext"))

project = "wgsindy"
author = "The wgsindy developers"
project_copyright = "The wgsindy developers, MIT licence"
version = release = wgsindy.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_design",
    "house_docstrings",
    "mathml",
    "offline",
    "readme_pages",
    "repository_links",
    "thresholds",
]
exclude_patterns = ["_build", "snippets"]
nitpicky = True
# What other packages document is not looked up: that would need the network.
nitpick_ignore_regex = [("py:.*", r"(?!wgsindy\.).*")]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autodoc_typehints = "none"  # shapes and meaning stand in the text
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
napoleon_numpy_docstring = True
napoleon_google_docstring = False
napoleon_attr_annotations = False
napoleon_custom_sections = [("Attributes", "params_style")]  # keeps generator_ its _
python_maximum_signature_line_length = 72
toc_object_entries_show_parents = "hide"

html_theme = "pydata_sphinx_theme"
html_title = "wgsindy"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "show_nav_level": 1,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "changelog": []}
