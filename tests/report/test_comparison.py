"""Two fits side by side."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
import sympy
from command import Command

import wgsindy as wg
from wgsindy.errors import DataError

mpl.use("Agg")


@pytest.fixture(scope="module")
def fits() -> tuple[wg.WGSINDy, wg.WGSINDy]:
    system = wg.zoo.get("rotational_ou")
    first, second = (
        wg.WGSINDy("poly1").fit(system.simulate(seed, trajectories=6)) for seed in (0, 1)
    )
    return first, second


def test_fits_of_one_process_agree_within_their_errors(
    fits: tuple[wg.WGSINDy, wg.WGSINDy],
) -> None:
    both = wg.compare(*fits)
    assert {(one.target, one.term) for one in both.pairs} == {
        ("b1", "x"), ("b1", "y"), ("b2", "x"), ("b2", "y"), ("a11", "1"), ("a22", "1")
    }  # fmt: skip
    for one in both.pairs:
        ours = {(c.target, c.term): c for c in fits[0].generator_.coefficients}
        assert (one.first, one.first_error) == ours[one.target, one.term][2:4]
        assert abs(one.distance) < 4  # chance makes one of six so large in 3,000 pairs of fits
    assert all(field.relative < 0.5 for field in both.fields)
    assert np.isnan(both.log_evidence)  # other data: nothing to judge by


def test_another_process_is_told_apart(fits: tuple[wg.WGSINDy, wg.WGSINDy]) -> None:
    x, y = sympy.symbols("x y")
    other = wg.Generator.from_sympy(("x", "y"), [-3 * x, -3 * y], [[2, 0], [0, 2]])
    held_out = wg.zoo.get("rotational_ou").simulate(7, trajectories=2)
    both = wg.compare(fits[0], other, data=held_out, labels=("fit", "wrong"))
    by_name = {field.field: field for field in both.fields}
    assert by_name["b1"].beyond > 0.5
    assert by_name["a11"].beyond == 1.0
    assert both.log_evidence < -10
    text = str(both)
    assert f"({held_out.n_increments} steps) prefer fit" in text
    assert "±" in text


def test_terms_are_paid_for_on_the_data_of_the_fits() -> None:
    data = wg.zoo.get("rotational_ou").simulate(0, trajectories=4)
    small = wg.WGSINDy("poly1", "paper").fit(data)
    large = wg.WGSINDy("poly3", "paper").fit(data)
    both = wg.compare(small, large)
    assert both.fitted
    assert both.log_likelihood is not None
    gained = (both.log_likelihood[1] - both.log_likelihood[0]) * data.n_increments
    more = len(large.generator_.coefficients) - len(small.generator_.coefficients)
    assert more > 0
    assert both.log_evidence == pytest.approx(gained - more * np.log(data.n_increments) / 2)


def test_the_picture_has_a_panel_for_each_field(fits: tuple[wg.WGSINDy, wg.WGSINDy]) -> None:
    figure = wg.compare(*fits).plot()
    drawn = [axes for axes in figure.axes if axes.lines]
    assert len(drawn) == 5
    assert all(len(axes.lines) == 2 for axes in drawn)
    b1 = drawn[0]
    x, values = b1.lines[0].get_xdata(), b1.lines[0].get_ydata()
    assert np.ptp(np.asarray(values)) > 0
    assert len(np.asarray(x)) == len(np.asarray(values))


def test_what_cannot_be_compared_gets_a_sentence(fits: tuple[wg.WGSINDy, wg.WGSINDy]) -> None:
    u, v = sympy.symbols("u v")
    named = wg.Generator.from_sympy(("u", "v"), [-u, -v], [[1, 0], [0, 1]])
    with pytest.raises(DataError, match=r"\['x', 'y'\].*\['u', 'v'\]"):
        wg.compare(fits[0], named)
    with pytest.raises(DataError, match="neither of the two knows"):
        wg.compare(named, named)
    with pytest.raises(DataError, match="a dict has no generator"):
        wg.compare(fits[0], {})


def test_the_command_prints_and_draws(
    wgsindy: Command, fits: tuple[wg.WGSINDy, wg.WGSINDy], tmp_path: Path
) -> None:
    for name, fit in zip("ab", fits, strict=True):
        (tmp_path / name).mkdir()
        fit.generator_.save(tmp_path / name / "model.json")
    ended = wgsindy("compare", "a", "b/model.json", "--out", "both.png")
    assert (ended.code, ended.err) == (0, "")
    assert "b1  x" in ended.out
    assert "Fields where both have data" in ended.out
    assert Path("both.png").read_bytes().startswith(b"\x89PNG")
    assert wgsindy("compare", "a", "b", "--out", "both.png").code == 1
    assert "no model file" in wgsindy("compare", "a", "nowhere.json", "--force").sentence
