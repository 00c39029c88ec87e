"""Other ways to the same generator, for comparison."""

from __future__ import annotations

from wgsindy.baselines.oracle import fit_oracle

__all__ = ["fit_oracle"]
