"""The commands of the evidence, which ``wgsindy bench`` shows."""

from wgsindy_evidence.cli.commands import bench
from wgsindy_evidence.cli.rivals import add_rivals

add_rivals(bench)

__all__ = ["bench"]
