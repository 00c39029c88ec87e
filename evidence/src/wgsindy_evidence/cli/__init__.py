"""The commands of the evidence, which ``wgsindy bench`` shows."""

from wgsindy_evidence.cli.commands import bench
from wgsindy_evidence.cli.rivals import add_rivals
from wgsindy_evidence.cli.stored import add_stored

add_stored(bench)
add_rivals(bench)

__all__ = ["bench"]
