"""Packed files: what they unpack to is bounded, before it is in memory.

A megabyte of zeros and commas may stand for gigabytes, by intent or by accident.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from pathlib import Path

from wgsindy.errors import DataError

MOST_TEXT = 64 * 2**20  # bytes: as a table of short rows, they take 13 times as much memory
MOST_NUMBERS = 256 * 2**20  # bytes of arrays
PIECE = 2**20


def unpacked_gzip(content: bytes, path: Path) -> bytes:
    """Unpack a gzip file, of one or of several members.

    Raises
    ------
    DataError
        If it is damaged, or unpacks to more than 64 MB.
    """
    found, left = io.BytesIO(), content
    try:
        while left:
            member = zlib.decompressobj(wbits=31)
            while not member.eof:
                found.write(member.decompress(left, PIECE))
                if found.tell() > MOST_TEXT:
                    raise too_large(path.name, f"to more than {MOST_TEXT // 2**20} MB")
                if not member.eof and not member.unconsumed_tail:
                    raise DataError(
                        f"{path} cannot be unpacked: it ends early; is it half written?"
                    )
                left = member.unconsumed_tail
            left = member.unused_data.lstrip(b"\0")  # what tape drives fill up with
    except zlib.error as error:
        raise DataError(f"{path} cannot be unpacked: {error}; is it half written?") from None
    return found.getvalue()


def refuse_large_archive(archive: zipfile.ZipFile, label: str) -> None:
    """Refuse a zip archive, of arrays or of a workbook, that says it unpacks to too much."""
    size = sum(item.file_size for item in archive.infolist())
    if size > MOST_NUMBERS:
        raise too_large(label, f"to {size / 2**20:,.0f} MB")


def refuse_large_arrays(size: int, label: str) -> None:
    """Refuse arrays of ``size`` bytes, which a file may declare without holding them."""
    if size > MOST_NUMBERS:
        raise DataError(
            f"{label} declares arrays of {size / 2**20:,.0f} MB, of which "
            f"{MOST_NUMBERS // 2**20} MB are read into memory; --stream reads it piece by piece."
        )


def too_large(label: str, size: str) -> DataError:
    """Say that a packed file is refused for its size."""
    return DataError(
        f"{label} unpacks {size}; packed files are read up to {MOST_TEXT // 2**20} MB of text or "
        f"{MOST_NUMBERS // 2**20} MB of arrays. Unpack it first: plain files are streamed."
    )
