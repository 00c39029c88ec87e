"""The commands of the evidence, which ``wgsindy bench`` shows."""

from wgsindy_evidence.cli.commands import bench
from wgsindy_evidence.cli.measured import add_measured
from wgsindy_evidence.cli.rivals import add_rivals
from wgsindy_evidence.cli.stored import add_stored

add_measured(bench)
add_stored(bench)
add_rivals(bench)

__all__ = ["bench"]
