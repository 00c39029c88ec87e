"""How numbers are written, wherever the package shows one to people.

Files that programs read (models, tables of coefficients) have every digit; these functions are
for equations, tables, reports and figures.
"""

from __future__ import annotations

from math import floor, isfinite, isnan, log10

MINUS = "\N{MINUS SIGN}"
NO_NUMBER = "-"  # stands where there is no number
MOST_DECIMALS = 6
MOST_DIGITS = 12


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
    return NO_NUMBER if isnan(value) else f"{value:.{decimals}f}"


def percent(share: float, decimals: int = 0) -> str:
    """Write a share, or a dash where there is none.

    >>> percent(0.125, 1), percent(float("nan"))
    ('12.5 %', '-')
    """
    return NO_NUMBER if isnan(share) else f"{fixed(100 * share, decimals)} %"


def probability(value: float) -> str:
    """Write a probability; one that rounding would call certain is more than 0.999.

    >>> probability(0.5), probability(0.99999), probability(0.0)
    ('0.500', '> 0.999', '< 0.001')
    """
    return "> 0.999" if value > 0.999 else "< 0.001" if value < 0.001 else fixed(value)


def with_error(value: float, error: float) -> tuple[str, str]:
    """Write an error to two digits, or one if the rest are zeros, and its value to the same place.

    >>> with_error(0.98664, 0.020416), with_error(1234.5, 61.2), with_error(2e-9, 3e-10)
    (('0.987', '0.020'), ('1234', '61'), ('2.0e-09', '3e-10'))
    >>> with_error(27.0, 0.18), with_error(1.0, 0.0001), with_error(1234567.8, 5.1)
    (('27.00', '0.18'), ('1.0000', '0.0001'), ('1.2345678e+06', '5.1'))
    """
    if not (error > 0 and isfinite(error)):
        return rounded(value, 4), rounded(error, 2)
    round_number = f"{error:.2e}"[1:4] == ".00"
    decimals = (0 if round_number else 1) - floor(log10(float(f"{error:.1e}")))
    if decimals <= MOST_DECIMALS and abs(value) < 10**MOST_DECIMALS:
        return fixed(value, max(0, decimals)), fixed(error, max(0, decimals))
    size = floor(log10(abs(value))) if value else 0
    return f"{value:.{min(max(0, size + decimals), MOST_DIGITS)}e}", rounded(error, 2)


def typographic(text: str) -> str:
    """Give the numbers of a text minus signs instead of hyphens."""
    return text.replace("-", MINUS)
