"""Data frames of packages that a user may have."""

from __future__ import annotations

from typing import Any

from wgsindy.errors import MissingPackageError


def pandas_frame(rows: Any, **options: Any) -> Any:
    """Return ``pandas.DataFrame(rows, **options)``.

    Raises
    ------
    MissingPackageError
        If pandas is not installed.
    """
    try:
        import pandas
    except ModuleNotFoundError:
        raise MissingPackageError(
            "pandas is not installed; use to_polars(), or pip install pandas."
        ) from None
    return pandas.DataFrame(rows, **options)
