"""What may be said of data that are read: said once here, for ``read``, ``stream`` and all others.

A public function takes each option by its name and makes one value of them, which travels from
there on; :func:`by_keyword` writes that signature.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from wgsindy.errors import DataError
from wgsindy.files.notes import listed
from wgsindy.files.table import checked_unit

ROWS, CALENDAR = "rows", "calendar"
P = ParamSpec("P")
ResultT = TypeVar("ResultT")
OptionsT = TypeVar("OptionsT", bound="StreamOptions")


@dataclass(frozen=True, kw_only=True)
class StreamOptions:
    """Which columns are what; see :func:`wgsindy.stream`."""

    states: str | int | Sequence[str | int] | None = None
    time: str | int | None = None
    trajectory: str | int | None = None
    dt: float | None = None
    names: Sequence[str] | None = None


@dataclass(frozen=True, kw_only=True)
class ReadingOptions(StreamOptions):
    """Which columns are what, and what is made of them; see :func:`wgsindy.read`.

    What is said here beyond :class:`StreamOptions` changes data, which a stream takes as they are.
    """

    unit: str | None = None
    time_unit: str | None = None
    time_format: str | None = None
    clock: str | None = None
    variable: str | int | None = None
    value: str | int | None = None
    replicates: bool = False
    angle: str | Sequence[str] = ()
    inputs: str | Sequence[str] = ()
    log: str | Sequence[str] = ()
    missing: float | Sequence[float] = ()
    gap: float | None = None

    def __post_init__(self) -> None:
        for name in ("unit", "time_unit"):
            # Under its short name, as a frozen dataclass sets its fields itself.
            object.__setattr__(self, name, checked_unit(getattr(self, name), name))
        if self.clock not in (None, ROWS, CALENDAR):
            raise DataError(f"clock={self.clock!r} is not known; there are 'rows' and 'calendar'.")

    @property
    def moments_unit(self) -> str | None:
        """The unit that moments must be read in, if one is called for: a ``dt`` is in seconds."""
        return self.unit or ("s" if self.dt is not None else None)

    def changing(self) -> list[str]:
        """Return the names of options that change data."""
        harmless = {field.name for field in fields(StreamOptions)}
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in harmless}
        return [
            name
            for name, value in values.items()
            if not (value is None or value is False or value == () or value == [])
        ]


def as_list(columns: Any, argument: str) -> list[Any]:
    """Return several columns, or one, as a list."""
    if isinstance(columns, (str, int, float)):
        return [columns]  # a single name is a list of one, not of its letters
    try:
        return list(columns)
    except TypeError:
        raise DataError(f"{argument} must be a list, got {columns!r}.") from None


def options_of(
    options: Callable[..., OptionsT], keywords: Mapping[str, Any], caller: str
) -> OptionsT:
    """Make options of keywords, of which None stands for none.

    Raises
    ------
    TypeError
        If there is no such option.
    """
    known = list(inspect.signature(options).parameters)
    for name in keywords:
        if name not in known:
            raise TypeError(
                f"{caller}() got an unexpected keyword argument {name!r}; its options are "
                f"{listed(known, most=len(known))}."
            )
    return options(**{name: value for name, value in keywords.items() if value is not None})


def by_keyword(
    options: Callable[P, OptionsT],
) -> Callable[[Callable[[Any, OptionsT], ResultT]], Callable[Concatenate[Any, P], ResultT]]:
    """Make a function of a source and options one of a source and a keyword for each option."""

    def decorated(
        function: Callable[[Any, OptionsT], ResultT],
    ) -> Callable[Concatenate[Any, P], ResultT]:
        @wraps(function)
        def taking(source: Any, *more: P.args, **keywords: P.kwargs) -> ResultT:
            if more:
                raise TypeError(f"{function.__name__}() takes options by keyword, got {more!r:.80}")
            return function(source, options_of(options, keywords, function.__name__))

        signature = inspect.signature(function)
        first, _ = signature.parameters.values()
        asked = inspect.signature(options).parameters.values()
        taking.__signature__ = signature.replace(parameters=[first, *asked])  # type: ignore[attr-defined]
        return taking  # type: ignore[return-value]  # mypy wants the source without a name

    return decorated
