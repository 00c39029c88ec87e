"""README.md of a folder as its contents page: it needs no toctree, so that GitHub shows it well.

The pages of the folder that it links to become its toctree, in the order of the links.
"""

from __future__ import annotations

import re

from sphinx.application import Sphinx

NEIGHBOUR = re.compile(r"\]\((?P<page>[\w-]+)\.md\)")


def add_contents(app: Sphinx, docname: str, source: list[str]) -> None:
    """Append a hidden toctree of the neighbours that a README links to."""
    if docname.endswith("/README"):
        pages = dict.fromkeys(match["page"] for match in NEIGHBOUR.finditer(source[0]))
        listed = "\n".join(pages)
        source[0] += f"\n\n```{{toctree}}\n:hidden:\n\n{listed}\n```\n"


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the reading of sources."""
    app.connect("source-read", add_contents)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
