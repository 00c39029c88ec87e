"""Candidate terms for states some of which are angles: periodic in these, polynomials in others."""

from __future__ import annotations

from collections.abc import Sequence

from wgsindy.terms.library import Library, library


def angular_library(names: Sequence[str], angles: Sequence[str]) -> Library:
    """Return polynomials of degree 2 in the other states, sines, cosines, and their products.

    Whatever drives an angle is the same after a turn, so no power of it is a candidate.

    >>> angular_library(("theta", "w"), ["theta"]).bind(("theta", "w")).terms
    ('1', 'w', 'w**2', 'sin(theta)', 'cos(theta)', 'w*sin(theta)', 'w*cos(theta)')
    """
    others = [name for name in names if name not in angles]
    plain = list(library("poly2").bind(others).terms) if others else ["1"]
    waves = [f"{f}({angle})" for angle in angles for f in ("sin", "cos")]
    mixed = [f"{other}*{wave}" for other in others for wave in waves]
    return Library.custom([*plain, *waves, *mixed])
