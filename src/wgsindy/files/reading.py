"""What reading gives: data, and notes of what was found and done on the way to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from wgsindy.data.dataset import Dataset
from wgsindy.files.notes import Note

DataT = TypeVar("DataT", bound=Dataset, covariant=True)


@dataclass(frozen=True, repr=False)
class Reading(Generic[DataT]):
    """Data and notes: the result of :func:`wgsindy.read`, and of the command line.

    ``WGSINDy().fit(reading)`` takes it like the data themselves.

    Parameters
    ----------
    data : the trajectories, in memory (:class:`~wgsindy.Trajectories`) or streamed
    notes : one for each choice, doubt and correction, in the order of the steps of reading

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

    def __repr__(self) -> str:
        lines = [f"  {note.kind}: {note.sentence}" for note in self.notes]
        return "\n".join([f"Reading({self.data!r})", *lines])
