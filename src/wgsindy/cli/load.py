"""The data of `wgsindy fit`: read into memory and repaired, or streamed as they are if large."""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wgsindy.errors import DataError

if TYPE_CHECKING:
    from wgsindy.data.dataset import Dataset
    from wgsindy.files import Note

STDIN = "-"
STREAMED_FROM = 256 * 2**20  # bytes of all files: beyond, what is read in memory takes over 1 GB
# What only reading into memory can do: these change or mend what is in the file.
MENDING = ("unit", "time_unit", "time_format", "variable", "value", "missing", "gap")


@dataclass(frozen=True)
class Gathered:
    """Data, what was found on the way to them, and warnings that have no note."""

    data: Dataset
    notes: tuple[Note, ...]
    seen: tuple[warnings.WarningMessage, ...] = ()


def gathered(data: Sequence[str], asked: Mapping[str, Any], *, stream: bool | None) -> Gathered:
    """Read or stream the files ``data``; unless told, stream if they are large.

    Raises
    ------
    DataError
        If they cannot be read, or cannot be streamed and were to be.
    """
    refused = [f"--{name.replace('_', '-')}" for name in MENDING if asked[name]]
    if stream and STDIN in data:
        raise DataError("standard input can be read only once; save it to a file to stream it.")
    if stream and refused:
        raise DataError(f"{refused[0]} changes data, which are streamed as they are; leave it out.")
    if stream or (stream is None and not refused and STDIN not in data and _is_large(data)):
        return _streamed(data, asked, told=bool(stream))
    return _read(data, asked)


def _is_large(data: Sequence[str]) -> bool:
    from wgsindy.files.stream_ import bytes_on_disk

    return bytes_on_disk(data) > STREAMED_FROM


def _streamed(data: Sequence[str], asked: Mapping[str, Any], *, told: bool) -> Gathered:
    from wgsindy.files.notes import Note
    from wgsindy.files.stream_ import streamed

    columns = {name: value for name, value in asked.items() if name not in MENDING}
    why = "" if told else f", since they are larger than {STREAMED_FROM // 2**20} MB"
    way_out = f" The data are streamed{why}: --no-stream reads them into memory and mends more."
    try:
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            found = streamed(list(data), **columns)
    except DataError as error:
        raise type(error)(str(error) if told else str(error) + way_out) from None
    means = Note(
        "choice",
        1,
        f"streamed from disk{why}: nothing is repaired, rows are taken as ordered and without "
        "gaps.",
    )
    return Gathered(found.data, (means, *found.notes), tuple(seen))


def _read(data: Sequence[str], asked: Mapping[str, Any]) -> Gathered:
    from wgsindy.files import read

    # The notes of the reading say all that its warnings would.
    with _spooled(data) as sources, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reading = read(sources, **asked)
    return Gathered(reading.data, reading.notes)


@contextmanager
def _spooled(data: Sequence[str]) -> Iterator[list[str]]:
    """Give the names of all files, standard input among them."""
    if STDIN not in data:
        yield list(data)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stdin"
        path.write_bytes(sys.stdin.buffer.read())
        yield [str(path) if name == STDIN else name for name in data]


def label(data: Sequence[str]) -> str:
    """What to call the data in a sentence."""
    if len(data) > 1:
        return f"{len(data)} files"
    return "standard input" if data[0] == STDIN else os.path.basename(data[0].rstrip("/"))
