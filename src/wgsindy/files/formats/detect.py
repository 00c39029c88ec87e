"""What a file is: its first bytes decide, not its name. And sentences for files that are broken."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from wgsindy.errors import DataError

Format = Literal["Parquet", "NPY", "NPZ", "HDF5", "Zarr", "gzip", "MATLAB or Excel", "text"]
MAGIC: tuple[tuple[bytes, Format], ...] = (
    (b"PAR1", "Parquet"),
    (b"\x93NUMPY", "NPY"),
    (b"PK\x03\x04", "NPZ"),
    (b"PK\x05\x06", "NPZ"),  # a zip archive of nothing
    (b"\x89HDF\r\n\x1a\n", "HDF5"),
    (b"\x1f\x8b", "gzip"),
    (b"MATLAB 5.0", "MATLAB or Excel"),
    (b"\xd0\xcf\x11\xe0", "MATLAB or Excel"),
)
LONGEST_MAGIC = max(len(magic) for magic, _ in MAGIC)
ZARR_MARKERS = ("zarr.json", ".zgroup", ".zarray")


def expanded(pattern: str | os.PathLike[str]) -> list[Path]:
    """Return the files of a path or of a glob; ``cell2`` comes before ``cell10``."""
    text = os.path.expanduser(os.fspath(pattern))
    try:
        if os.path.exists(text) or not glob.has_magic(text):
            return [Path(text)]
        found = glob.glob(text, recursive=True)
    except (ValueError, re.error):  # a NUL in the path, an unfinished set
        raise DataError(f"{text!r} is not a path.") from None
    if not found:
        raise DataError(f"no file matches {text!r}; the current folder is {os.getcwd()}.")
    return [Path(name) for name in sorted(found, key=_natural)]


def _natural(name: str) -> list[tuple[int, str]]:
    """Order names by the numbers in them."""
    return [
        (int(digits), "") if digits.isdecimal() else (-1, digits)
        for digits in re.split(r"(\d+)", name)
    ]


def format_of(path: Path) -> Format:
    """Return the format of a file or of a Zarr store.

    Raises
    ------
    DataError
        If it cannot be read, or is a folder that is no Zarr store, or is of MATLAB or Excel.
    """
    return "Zarr" if is_zarr(path) else format_of_bytes(bytes_of(path, LONGEST_MAGIC), path)


def is_zarr(path: Path) -> bool:
    """Whether a path is a Zarr store; any other folder is refused."""
    if not path.is_dir():
        return False
    if any((path / marker).exists() for marker in ZARR_MARKERS):
        return True
    raise DataError(
        f"{path} is a folder; pass its files, for example {str(path / '*.csv')!r}: each is "
        "read as a trajectory."
    )


def format_of_bytes(content: bytes, path: Path) -> Format:
    """Return the format of a file that begins with ``content``; see :func:`format_of`."""
    found: Format = next((kind for magic, kind in MAGIC if content.startswith(magic)), "text")
    if found == "MATLAB or Excel":
        raise DataError(
            f"{path} is a file of MATLAB or an old one of Excel; save it as CSV, or from MATLAB "
            "with -v7.3."
        )
    return found


def bytes_of(path: Path, most: int = -1) -> bytes:
    """Return the first ``most`` bytes of a file, by default all.

    Raises
    ------
    DataError
        If it is not there or cannot be opened.
    """
    try:
        with open(path, "rb") as file:
            return file.read(most)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"{path} cannot be read: {reason}.") from None


@contextmanager
def as_data_error(path: Path, kind: str) -> Iterator[None]:
    """Turn whatever a library raises on a broken file into one sentence."""
    try:
        yield
    except DataError:
        raise
    # Damaged files raise errors of every type in the libraries that read them.
    except Exception as error:
        why = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise DataError(
            f"{path} cannot be read as {kind}: {why[:160]}. It may be half written; write it again."
        ) from None


def extra_needed(label: str, kind: Format, package: str, extra: str) -> DataError:
    """Say which package reads a format."""
    return DataError(
        f"{label} is {kind}, which needs the package {package}: pip install 'wgsindy[{extra}]'."
    )
