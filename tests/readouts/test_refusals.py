"""What does not exist is refused by a sentence; what is doubtful has a wide interval."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy

from wgsindy import zoo
from wgsindy.data import Frame
from wgsindy.errors import ReadoutError
from wgsindy.model import Generator

X, Y = sympy.symbols("x y", real=True)


def line(drift: object, noise: object = 1) -> Generator:
    return Generator.from_sympy(("x",), [drift], [[noise]])


@pytest.mark.parametrize(
    "generator",
    [
        pytest.param(line(sympy.Integer(0)), id="random walk"),
        pytest.param(line(sympy.Rational(1, 2)), id="drift for ever"),
        pytest.param(line(X), id="explosive"),
        pytest.param(line(-X + X**3 / 10), id="turns outward far out"),
        pytest.param(zoo.get("gbm_2d").generator, id="two prices"),
        pytest.param(zoo.get("heston_logsv").generator, id="log-price"),
    ],
)
def test_no_stationary_law(generator: Generator) -> None:
    told = generator.readouts(cells=32)
    with pytest.raises(ReadoutError, match="no stationary law"):
        _ = told.gap


def test_a_box_that_cuts_the_law() -> None:
    told = zoo.get("rotational_ou").generator.readouts(box=[(-4, 0.5), (-4, 4)], cells=32)
    with pytest.raises(ReadoutError, match="cuts the stationary law at the upper end of x"):
        told.density([[0.0, 0.0]])
    whole = zoo.get("rotational_ou").generator.readouts(box=[(-4, 4), (-4, 4)], cells=32)
    assert whole.density([[0.0, 0.0]])[0] > 0.3


def test_a_law_that_is_not_where_the_data_were() -> None:
    well = line(X - X**3, 0.1)
    seen = replace(well, region=Frame(np.array([-1.0]), np.array([0.2])))
    with pytest.raises(ReadoutError, match="further than 4 standard deviations"):
        _ = seen.readouts().gap
    both = replace(well, region=Frame(np.array([0.0]), np.array([1.0])))
    assert float(both.readouts().gap) < 0.1


def test_noise_may_end_where_the_states_do() -> None:
    """Most of the law of this square-root process is beside zero, which is no cut."""
    told = line(0.02 - X, 0.16 * X).readouts()
    assert told.grid.low[0] == 0.0
    # The density grows as v^-0.75 towards zero, which no grid resolves: the grid error says so.
    for found, exact in ((told.mean, 0.02), (told.covariance, 0.02 * 0.16 / 2)):
        error = abs(float(np.ravel(found.values)[0]) - exact)
        assert 0.02 * exact < error < float(np.ravel(found.grid_error)[0])


def test_entropy_production_needs_noise_everywhere() -> None:
    with pytest.raises(ReadoutError, match="full rank"):
        _ = zoo.get("underdamped_langevin").generator.readouts(cells=64).entropy_production


def test_nothing_turns() -> None:
    with pytest.raises(ReadoutError, match="nothing turns"):
        _ = zoo.get("coupled_ou").generator.readouts(cells=32).oscillation


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"box": [(0, 1)]}, "a pair"),
        ({"box": [(1, 0), (0, 1)]}, "a pair"),
        ({"box": "wide"}, "a pair"),
        ({"cells": 4}, "at least 16"),
        ({"cells": (64,)}, "at least 16"),
        ({"cells": 4000}, "at most"),
        ({"level": 1.5}, "probability"),
    ],
)
def test_bad_arguments(options: dict[str, object], says: str) -> None:
    with pytest.raises(ReadoutError, match=says):
        _ = zoo.get("rotational_ou").generator.readouts(**options).grid  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["x", "x = 0", "x < y < 0", ""])
def test_what_is_no_set(text: str) -> None:
    told = zoo.get("rotational_ou").generator.readouts(cells=32)
    with pytest.raises(ReadoutError, match="no set"):
        told.passage_time([0.0, 0.0], text)


def test_sets_outside_of_the_box_and_sets_that_overlap() -> None:
    told = zoo.get("rotational_ou").generator.readouts(cells=32)
    with pytest.raises(ReadoutError, match="never reached, or so rarely"):
        told.passage_time([0.0, 0.0], "x > 100")
    with pytest.raises(ReadoutError, match="no cell of the box is in the set"):
        told.passage_time("x < 0", "x > 100")
    with pytest.raises(ReadoutError, match="one state in the box"):
        told.passage_time([0.0, 50.0], "x > 1")
    with pytest.raises(ReadoutError, match="overlap"):
        told.committor("x < 0.5", "x > -0.5", [[0.0, 0.0]])


def test_four_coordinates_are_too_many() -> None:
    names = ("p", "q", "r", "s")
    states = sympy.symbols(names)
    generator = Generator.from_sympy(names, [-s for s in states], np.eye(4).tolist())
    with pytest.raises(ReadoutError, match="1 to 3 coordinates"):
        _ = generator.readouts().gap
