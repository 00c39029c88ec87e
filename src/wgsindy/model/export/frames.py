"""Data frames of what a user gets as a table; polars is always there, pandas may be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from wgsindy.errors import MissingPackageError

if TYPE_CHECKING:
    import polars


class Tabular:
    """What has columns, and so gives data frames."""

    def columns(self) -> Mapping[str, Any]:
        """All of it by columns."""
        raise NotImplementedError

    def to_polars(self) -> polars.DataFrame:
        """Return a data frame."""
        import polars

        return polars.DataFrame(self.columns())

    def to_pandas(self) -> Any:
        """Return a data frame; pandas has to be installed.

        Raises
        ------
        MissingPackageError
            If it is not.
        """
        try:
            import pandas
        except ModuleNotFoundError:
            raise MissingPackageError(
                "pandas is not installed; use to_polars(), or pip install pandas."
            ) from None
        return pandas.DataFrame(self.columns())
