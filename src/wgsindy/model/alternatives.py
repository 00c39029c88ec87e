"""Formulas that explain the data about as well as the one that is written."""

from __future__ import annotations

from typing import Any, NamedTuple


class Alternative(NamedTuple):
    """Another set of terms for one field.

    ``log_evidence`` is that of this formula minus that of the written one: above zero if the data
    prefer this one, -1 if they prefer the written one by a factor of e. ``library`` says what its
    terms would have to be added to the candidates, and is empty if they were among them.

    >>> Alternative("b1", ("1", "x"), -0.7).formula
    'b1 ~ 1, x'
    """

    target: str  # the field: b1, a12
    terms: tuple[str, ...]
    log_evidence: float
    library: str = ""

    @property
    def formula(self) -> str:
        """The field and its terms, without their coefficients."""
        return f"{self.target} ~ {', '.join(self.terms) or '0'}"


def encoded(alternatives: tuple[Alternative, ...]) -> list[dict[str, Any]]:
    """Return them as plain data."""
    return [{**one._asdict(), "terms": list(one.terms)} for one in alternatives]


def decoded(content: Any) -> tuple[Alternative, ...]:
    """Read them from plain data; whatever is no text or number raises."""
    return tuple(
        Alternative(
            str(one["target"]),
            tuple(str(term) for term in one["terms"]),
            float(one["log_evidence"]),
            str(one["library"]),
        )
        for one in content
    )
