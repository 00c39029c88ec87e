"""Pages must be readable without a network: a warning for each that loads something from one."""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)

LOADED = re.compile(
    r"""<(?:script|img|iframe|source)\b[^>]*\bsrc=["'](?:https?:)?//[^"']+"""
    r"""|<link\b(?![^>]*rel=["']canonical)[^>]*\bhref=["'](?:https?:)?//[^"']+""",
    re.IGNORECASE,
)


def check(app: Sphinx, error: Exception | None) -> None:
    """Look through every page that was built."""
    if error is None:
        for page in sorted(Path(app.outdir).rglob("*.html")):
            for match in LOADED.finditer(page.read_text(encoding="utf-8")):
                logger.warning("%s loads from the network: %s", page.name, match.group()[:200])


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the end of the build."""
    app.connect("build-finished", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
