"""What reading gives: data, and a note of each thing that was found in them and done about it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from wgsindy import errors
from wgsindy.data import Dataset

# A choice that follows from names or from arguments, and what a change of states means for the
# result, are told, not warned of.
TOLD = ("choice", "change", "simulation")
WARNING_OF: dict[str, type[errors.WgsindyWarning]] = {
    "gap": errors.GapWarning,
    "missing": errors.MissingValuesWarning,
    "short": errors.ShortPiecesWarning,
    "duplicate": errors.DuplicateRowsWarning,
    "unsorted": errors.UnsortedTimesWarning,
    "restart": errors.TimeRestartsWarning,
    "constant": errors.ConstantColumnWarning,
    "repeated": errors.RepeatedSamplesWarning,
    "straight": errors.InterpolatedSamplesWarning,
    "outlier": errors.OutlierWarning,
    "units": errors.MixedUnitsWarning,
    "guess": errors.GuessedColumnWarning,
    "unreadable": errors.UnreadableFieldsWarning,
    "encoding": errors.EncodingGuessWarning,
    "renamed": errors.RenamedColumnsWarning,
}
KIND_OF: dict[type[Warning], str] = {warning: kind for kind, warning in WARNING_OF.items()}
DataT = TypeVar("DataT", bound=Dataset, covariant=True)


@dataclass(frozen=True)
class Note:
    """One finding: its kind, how many rows, columns, files or warnings it is about, a sentence."""

    kind: str  # one of those that are told, or of those with a warning
    count: int
    sentence: str


class Notes(list[Note]):
    """What is found on the way from a source to data, in the order of the steps."""

    def add(self, kind: str, count: int, sentence: str) -> None:
        """Add a note, unless it is about nothing."""
        if count:
            self.append(Note(kind, count, sentence))


def warn_of(notes: Sequence[Note], *, stacklevel: int) -> None:
    """Give each note its warning; ``stacklevel`` counts from the caller of this function."""
    for note in notes:
        if note.kind not in TOLD:
            warnings.warn(note.sentence, WARNING_OF[note.kind], stacklevel=stacklevel + 1)


@contextmanager
def collecting_warnings(notes: list[Note]) -> Iterator[None]:
    """Make a note of each warning of this package that is given inside; pass all others on."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        kind = KIND_OF.get(warning.category)
        if kind is not None:
            notes.append(Note(kind, 1, str(warning.message)))
        else:
            place = warning.filename, warning.lineno
            warnings.warn_explicit(warning.message, warning.category, *place)


def counted(count: int, noun: str) -> str:
    """Return ``1 row``, ``2 rows`` or ``2 trajectories``."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count} {noun if count == 1 else plural}"


def listed(items: Sequence[str], most: int = 8) -> str:
    """Return the first items in quotes, and how many more there are."""
    shown = ", ".join(repr(item) for item in items[:most])
    return shown if len(items) <= most else f"{shown} and {len(items) - most} more"


@dataclass(frozen=True, repr=False)
class Reading(Generic[DataT]):
    """Data and notes: the result of :func:`wgsindy.read`, and of the command line.

    ``WGSINDy().fit(reading)`` takes it like the data themselves.

    Parameters
    ----------
    data : the trajectories, in memory (:class:`~wgsindy.Trajectories`) or streamed
    notes : one for each choice, doubt and correction, in the order of the steps of reading
    time_unit : unit of the times, as far as it is known
    units : units of states, by their names, as far as they are known
    angles : states that are angles, continuous and in radians

    Examples
    --------
    >>> from wgsindy import read
    >>> read({"t": [0.0, 0.1, 0.2], "x": [1.0, 0.8, 0.9]})
    Reading(Trajectories(1 x (x), 2 increments, mean dt = 0.1))
      choice: time: 't' is used as it is.
      choice: states 'x'; time 't'.
    """

    data: DataT
    notes: tuple[Note, ...] = ()
    time_unit: str = ""
    units: Mapping[str, str] = field(default_factory=dict)
    angles: tuple[str, ...] = ()

    def __repr__(self) -> str:
        lines = [f"  {note.kind}: {note.sentence}" for note in self.notes]
        return "\n".join([f"Reading({self.data!r})", *lines])
