"""Sentences for files that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wgsindy.errors import DataError


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


def extra_needed(label: str, kind: str, package: str, extra: str) -> DataError:
    """Say which package reads a format."""
    return DataError(
        f"{label} is {kind}, which needs the package {package}: pip install 'wgsindy[{extra}]'."
    )
