"""How figures look: small writing, for pictures as wide as a column of text."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

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
