"""Links from a page to a file of the repository that is no page: the site shows their text only.

On GitHub such a link opens the file; the site does not have it. The file must exist all the same.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

logger = logging.getLogger(__name__)


class UnlinkFiles(SphinxTransform):
    """Replace links that lead out of the folder of the documents by their text."""

    default_priority = 5  # before Sphinx looks for files to download

    def apply(self, **kwargs: Any) -> None:
        """Visit every link of the document."""
        source, page = Path(self.app.srcdir), Path(self.env.doc2path(self.env.docname))
        for node in list(self.document.findall(nodes.Element)):
            if not isinstance(node, (addnodes.download_reference, addnodes.pending_xref)):
                continue
            target = str(node.get("reftarget", "")).partition("#")[0]
            if not target.startswith(".."):
                continue
            path = (page.parent / target).resolve()
            if source in path.parents:
                continue
            if not path.exists():
                logger.warning("there is no file %s", target, location=node)
            node.replace_self(nodes.inline("", "", *_text_of(node)))


def _text_of(node: nodes.Element) -> list[nodes.Node]:
    inner = node.children
    return inner[0].children if len(inner) == 1 and isinstance(inner[0], nodes.inline) else inner


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the transform."""
    app.add_transform(UnlinkFiles)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
