"""The datasheet of a system, made from its declaration and from stored lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from wgsindy.bench.campaign import Line

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Datasheet(NamedTuple):
    """A page of Markdown and its picture."""

    text: str
    figure: Figure


def datasheet(name: str, lines: Sequence[Line], table: Sequence[Line]) -> Datasheet:
    """Build the page of one system from its datasheet lines and its lines of the table."""
    raise NotImplementedError


def index_of(systems: Sequence[str]) -> str:
    """The list of datasheets, by family."""
    raise NotImplementedError
