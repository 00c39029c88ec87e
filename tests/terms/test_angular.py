"""Candidate terms of states of which some are angles."""

from __future__ import annotations

from wgsindy.terms import angular_library


def test_an_angle_has_sines_and_cosines_and_no_powers() -> None:
    names = ("theta", "w")
    waves = ("sin(theta)", "cos(theta)", "w*sin(theta)", "w*cos(theta)")
    assert angular_library(names, ["theta"]).bind(names).terms == ("1", "w", "w**2", *waves)


def test_angles_alone_have_a_constant_beside_their_waves() -> None:
    found = angular_library(("a", "b"), ["a", "b"]).bind(("a", "b")).terms
    assert found == ("1", "sin(a)", "cos(a)", "sin(b)", "cos(b)")
