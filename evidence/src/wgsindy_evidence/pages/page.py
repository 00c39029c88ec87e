"""What a page of the evidence is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wgsindy_evidence.campaign import Line
from wgsindy_evidence.grid import Grid

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMN_WIDTH = 7.0  # inches: figures are read at the width of a page of text


@dataclass(frozen=True)
class Content:
    """Tables and figures by name; what their names are, the documents refer to."""

    grids: dict[str, Grid] = field(default_factory=dict)
    figures: dict[str, Figure] = field(default_factory=dict)
    sentences: dict[str, str] = field(default_factory=dict)


Build = Callable[[Sequence[Line]], Content]
