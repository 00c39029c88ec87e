"""How numbers are written, wherever the package shows one to people.

Files that programs read (models, tables of coefficients) have every digit; these functions are
for equations, tables, reports and figures.
"""

from __future__ import annotations

from math import floor, isnan, log10

MINUS = "\N{MINUS SIGN}"
NOTHING = "-"  # stands where there is no number
MOST_DECIMALS = 6


def rounded(value: float, digits: int = 3) -> str:
    """Write a number to some digits, without zeros at its end.

    >>> rounded(0.98765), rounded(2.0), rounded(12345.6)
    ('0.988', '2', '1.23e+04')
    """
    return f"{value:.{digits}g}"


def padded(value: float, digits: int = 4) -> str:
    """Write a number to some digits, with the zeros that say how well it is known.

    >>> padded(0.02, 2), padded(3.0), padded(-125.0, 3)
    ('0.020', '3.000', '-125')
    """
    return f"{value:#.{digits}g}".rstrip(".")


def in_full(value: float) -> str:
    """Write three digits, and numbers of a few thousand in full.

    >>> in_full(0.98765), in_full(10000.0), in_full(2.5e9)
    ('0.988', '10000', '2.5e+09')
    """
    return f"{value:.0f}" if 1e3 <= abs(value) < 1e6 else rounded(value)


def fixed(value: float, decimals: int = 3) -> str:
    """Write a number to some decimals, or a dash where there is none.

    >>> fixed(0.98765), fixed(float("nan"))
    ('0.988', '-')
    """
    return NOTHING if isnan(value) else f"{value:.{decimals}f}"


def percent(share: float, decimals: int = 0) -> str:
    """Write a share, or a dash where there is none.

    >>> percent(0.125, 1), percent(float("nan"))
    ('12.5 %', '-')
    """
    return NOTHING if isnan(share) else f"{fixed(100 * share, decimals)} %"


def probability(value: float) -> str:
    """Write a probability; one that rounding would call certain is more than 0.999.

    >>> probability(0.5), probability(0.99999), probability(0.0)
    ('0.500', '> 0.999', '< 0.001')
    """
    return "> 0.999" if value > 0.999 else "< 0.001" if value < 0.001 else fixed(value)


def with_error(value: float, error: float) -> tuple[str, str]:
    """Write an error to two digits and its value to the same place.

    >>> with_error(0.98664, 0.020416), with_error(1234.5, 61.2), with_error(2e-9, 3e-10)
    (('0.987', '0.020'), ('1234', '61'), ('2e-09', '3e-10'))
    """
    if not error > 0:
        return rounded(value, 4), rounded(error, 2)
    decimals = max(0, 1 - floor(log10(error)))
    if decimals > MOST_DECIMALS or value >= 10**MOST_DECIMALS:
        return rounded(value), rounded(error, 2)
    return fixed(value, decimals), fixed(error, decimals)


def typographic(text: str) -> str:
    """Give the numbers of a text minus signs instead of hyphens."""
    return text.replace("-", MINUS)
