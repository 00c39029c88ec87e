"""How figures look: small writing, for pictures as wide as a column of text."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SETTINGS: Any = {
    "font.size": 8,
    "axes.labelsize": 8.5,
    "figure.labelsize": 8.5,
    "axes.titlesize": 9,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def page_style() -> AbstractContextManager[None]:
    """Apply the settings to figures made and drawn inside the context."""
    import matplotlib

    return matplotlib.rc_context(SETTINGS)


def save_picture(figure: Figure, path: Path, dpi: int) -> None:
    """Save a figure whose layout is worked out once; Matplotlib alone would do it twice."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine("none")
    figure.savefig(path, dpi=dpi)
