"""Formulas as MathML, made while building: browsers draw it themselves, with no script to load.

The converter is the one that comes with docutils, so there is nothing more to install. A command
that it does not know is a warning, which ``make docs`` turns into an error; so is TeX that it is
known to misread without a word.
"""

from __future__ import annotations

import re
from html import escape
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)

MISREAD = {
    re.compile(r"\\[td]?frac\s*[^{\s]"): "write fractions with braces, \\frac{1}{2}",
    re.compile(r"\\(hat|tilde|bar)\s*(\w|\{\w+\}|\\\w+)\}?\s*[_^]"): "no index at an accent",
    re.compile(r"\\([lr]Vert|\|)"): "write | for a norm",
}


def converted(tex: str, *, as_block: bool) -> str:
    """Turn TeX into MathML.

    Raises
    ------
    MathError
        If the TeX is not understood, or would be misread.
    """
    for pattern, advice in MISREAD.items():
        if pattern.search(tex):
            raise MathError(advice)
    return tex2mathml(tex, as_block=as_block)


def _or_warning(node: nodes.Element, *, as_block: bool) -> str:
    try:
        return converted(node.astext(), as_block=as_block)
    except MathError as error:
        logger.warning("formula %r: %s", node.astext(), error, location=node)
        return f"<code>{escape(node.astext())}</code>"


def _inline(self: Any, node: nodes.Element) -> None:
    self.body.append(_or_warning(node, as_block=False))
    raise nodes.SkipNode


def _block(self: Any, node: nodes.Element) -> None:
    self.body.append(self.starttag(node, "div", CLASS="formula"))
    self.body.append(_or_warning(node, as_block=True))
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer under the name ``mathml``."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
