"""Bad input: the right type of error, with the offending value and a way out."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sympy

from wgsindy import recipes, zoo
from wgsindy.data import FloatArray, Frame, Trajectories
from wgsindy.errors import (
    DataError,
    LibraryError,
    MissingValuesWarning,
    ModelFileError,
    NotEnoughDataError,
    OutlierWarning,
    ReadoutError,
    RecipeError,
    RepeatedSamplesWarning,
    SimulationError,
    UnknownSystemError,
    WgsindyError,
)
from wgsindy.estimate import fit_dataset
from wgsindy.estimator import WGSINDy
from wgsindy.model import Generator, Uncertainty
from wgsindy.readouts import Readouts
from wgsindy.recipes import PAPER, WeakFormRecipe
from wgsindy.report import compare
from wgsindy.terms import Expression, Library, library

FAST = replace(PAPER, name="fast", n_centres=16)


def good_paths(seed: int = 0, d: int = 2) -> list[FloatArray]:
    """Sample a stable linear process: 4 x 1000 increments."""
    rng = np.random.default_rng(seed)
    x = np.zeros((4, 1001, d))
    for n in range(1000):
        x[:, n + 1] = 0.98 * x[:, n] + rng.normal(0.0, 0.1, size=(4, d))
    return list(x)


def spoiled(value: float) -> list[FloatArray]:
    paths = good_paths()
    paths[2][17, 1] = value
    return paths


def with_constant(value: float) -> list[FloatArray]:
    return [np.column_stack([path, np.full(len(path), value)]) for path in good_paths()]


def ramp(n: int, d: int = 1) -> FloatArray:
    return np.arange(float(n * d)).reshape(n, d)


Case = tuple[Callable[[], Any], type[WgsindyError], str]

DATA: dict[str, Case] = {
    "only nan": (
        lambda: Trajectories(with_constant(np.nan), 0.1),
        DataError,
        "coordinate 2 is NaN or infinite in all 4004 samples; leave it out",
    ),
    "only infinity": (
        lambda: Trajectories(with_constant(-np.inf), 0.1),
        DataError,
        "coordinate 2 is NaN or infinite in all 4004 samples; leave it out",
    ),
    "no two rows with all values": (
        lambda: Trajectories(np.where(ramp(40) % 20 == 0, 1.0, np.nan), 0.1),
        NotEnoughDataError,
        "of 40 samples, no two near each other are left .*choose fewer coordinates",
    ),
    "one sample": (
        lambda: Trajectories([ramp(5), ramp(1)], 0.1),
        NotEnoughDataError,
        r"trajectory 1 has n_samples=1; .* at least 2 samples.*drop this trajectory",
    ),
    "no sample": (
        lambda: Trajectories(np.empty((0, 2)), 0.1),
        NotEnoughDataError,
        r"trajectory 0 has n_samples=0; .* at least 2",
    ),
    "empty list": (lambda: Trajectories([], 0.1), NotEnoughDataError, "list of arrays is empty"),
    "empty stack": (
        lambda: Trajectories(np.empty((0, 5, 2)), 0.1),
        NotEnoughDataError,
        "list of arrays is empty",
    ),
    "no coordinates": (
        lambda: Trajectories(np.empty((5, 0)), 0.1),
        DataError,
        r"trajectory 0 has shape \(5, 0\); .*\(n, d\)",
    ),
    "unequal coordinates": (
        lambda: Trajectories([ramp(5, 2), ramp(5, 2), ramp(5, 3)], 0.1),
        DataError,
        "trajectory 0 has 2, trajectory 2 has 3",
    ),
    "four axes": (
        lambda: Trajectories(np.zeros((2, 3, 4, 5)), 0.1),
        DataError,
        r"trajectory 0 has shape \(3, 4, 5\); .*\(n, d\)",
    ),
    "ragged rows": (
        lambda: Trajectories([[[0.0, 1.0], [2.0]]], 0.1),
        DataError,
        r"trajectory 0, states of shape \(n, d\), must be real numbers, got ",
    ),
    "text": (
        lambda: Trajectories([np.array(["a", "b", "c"])], 0.1),
        DataError,
        r"trajectory 0, states of shape \(n, d\), must be real numbers, got ",
    ),
    "objects": (
        lambda: Trajectories([[object(), object()]], 0.1),  # type: ignore[arg-type]
        DataError,
        r"trajectory 0, states of shape \(n, d\), must be real numbers, got ",
    ),
    "complex": (
        lambda: Trajectories([ramp(5), 1j * ramp(5)], 0.1),
        DataError,
        r"trajectory 1, .* must be real numbers, got array\(\[\[0\..*j",
    ),
    "a number": (lambda: Trajectories(3.0, 0.1), DataError, "list of arrays, got float"),
    "nothing": (
        lambda: Trajectories(None, 0.1),  # type: ignore[arg-type]
        DataError,
        "list of arrays, got NoneType",
    ),
    "dt zero": (
        lambda: Trajectories(ramp(5), 0.0),
        DataError,
        "dt must be > 0, got 0.0 for trajectory 0; pass the sampling interval",
    ),
    "dt negative": (
        lambda: Trajectories([ramp(5)] * 4, [0.1, 0.1, 0.1, -0.01]),
        DataError,
        "dt must be > 0, got -0.01 for trajectory 3",
    ),
    "dt nan": (lambda: Trajectories(ramp(5), np.nan), DataError, "dt must be > 0, got nan"),
    "dt infinite": (lambda: Trajectories(ramp(5), np.inf), DataError, "dt must be > 0, got inf"),
    "dt text": (
        lambda: Trajectories(ramp(5), "fast"),  # type: ignore[arg-type]
        DataError,
        "dt, .*, must be real numbers, got 'fast'",
    ),
    "dt missing": (lambda: Trajectories(ramp(5)), DataError, "pass dt .* or times"),
    "dt and times": (
        lambda: Trajectories(ramp(5), 0.1, times=np.arange(5.0)),
        DataError,
        "not both",
    ),
    "too many dt": (
        lambda: Trajectories([ramp(5)] * 2, [0.1, 0.2, 0.3]),
        DataError,
        r"dt has shape \(3,\) for 2 trajectories; pass one number",
    ),
    "times as dt": (
        lambda: Trajectories(ramp(5), np.arange(5.0).tolist()),
        DataError,
        r"dt has shape \(5,\) for 1 trajectories.*times=",
    ),
    "times backwards": (
        lambda: Trajectories(ramp(4), times=[0.0, 2.0, 1.0, 3.0]),
        DataError,
        r"trajectory 0 goes from 2.0 to 1.0 at sample 2 \(1 such.*sort",
    ),
    "times repeated": (
        lambda: Trajectories(ramp(3), times=[0.0, 1.0, 1.0]),
        DataError,
        "from 1.0 to 1.0 at sample 2.*drop duplicates",
    ),
    "times nan": (
        lambda: Trajectories(ramp(3), times=[0.0, np.nan, 1.0]),
        DataError,
        "from 0.0 to nan",
    ),
    "times too short": (
        lambda: Trajectories(ramp(5), times=np.arange(4.0)),
        DataError,
        r"trajectory 0 has 5 samples but times of shape \(4,\)",
    ),
    "times of one path": (
        lambda: Trajectories([ramp(3), ramp(4)], times=[np.arange(3.0)]),
        DataError,
        "2 trajectories need 2 arrays of times, got 1",
    ),
    "times text": (
        lambda: Trajectories(ramp(3), times=["a", "b", "c"]),
        DataError,
        "times",
    ),
    "times a number": (lambda: Trajectories(ramp(3), times=5.0), DataError, "times"),
    "too few names": (
        lambda: Trajectories(ramp(5, 2), 0.1, names=["x"]),
        DataError,
        r"2 coordinates need 2 names, got \['x'\]",
    ),
    "equal names": (
        lambda: Trajectories(ramp(5, 2), 0.1, names=["x", "x"]),
        DataError,
        r"must differ from each other, got \['x', 'x'\]",
    ),
    "a name with a blank": (
        lambda: Trajectories(ramp(5), 0.1, names=["x 1"]),
        DataError,
        "'x 1' cannot stand in a formula; use letters",
    ),
    "a keyword as name": (
        lambda: Trajectories(ramp(5), 0.1, names=["lambda"]),
        DataError,
        "'lambda' cannot stand in a formula",
    ),
    "a number as name": (
        lambda: Trajectories(ramp(5), 0.1, names=[3]),  # type: ignore[list-item]
        DataError,
        "3 cannot stand in a formula",
    ),
}


def fit(X: Any, *, terms: Any = "poly1", recipe: Any = FAST, dt: Any = 0.1) -> WGSINDy:
    return WGSINDy(library=terms, recipe=recipe).fit(X, dt=dt)


FITS: dict[str, Case] = {
    "dt missing": (lambda: fit(good_paths(), dt=None), DataError, "pass dt=.*or Trajectories"),
    "dt twice": (
        lambda: fit(Trajectories(good_paths(), 0.1), dt=0.25),
        DataError,
        "carry their own steps; leave out dt=0.25",
    ),
    "one sample": (lambda: fit(ramp(1, 2)), NotEnoughDataError, "n_samples=1"),
    "two samples": (
        lambda: fit(ramp(2, 2)),
        NotEnoughDataError,
        "1 increments cannot determine 3 terms.*smaller library",
    ),
    "more terms than increments": (
        lambda: fit(np.random.default_rng(0).normal(size=(10, 2)), terms="poly4"),
        NotEnoughDataError,
        "9 increments cannot determine 15 terms.*smaller library",
    ),
    "more terms than rows": (
        # One trajectory of 60 samples has at most 59 / 5 = 11 centres, so 11 weak rows.
        lambda: fit(good_paths()[0][:60], terms="poly4"),
        NotEnoughDataError,
        "there are 11 weak rows for 15 terms; .*smaller library",
    ),
    "all constant": (
        lambda: fit(np.full((50, 1), 2.5)),
        DataError,
        "coordinate 'x' is constant .2.5 in all samples.*leave it out",
    ),
    "one constant beside good ones": (
        lambda: fit(with_constant(7.0)),
        DataError,
        "coordinate 'z' is constant .7 in all samples.*leave it out",
    ),
    "constant within each trajectory": (
        lambda: fit([np.full((50, 1), value) for value in (1.0, 2.0)]),
        DataError,
        "coordinate 'x' is constant",
    ),
    "unknown library": (
        lambda: fit(good_paths(), terms="spline"),
        LibraryError,
        "no library 'spline'; choose poly1",
    ),
    "unknown degree": (
        lambda: fit(good_paths(), terms="poly"),
        LibraryError,
        "no library 'poly'; choose poly1",
    ),
    "a number as library": (
        lambda: fit(good_paths(), terms=3),
        LibraryError,
        "a library is poly1.*got int",
    ),
    "empty library": (
        lambda: fit(good_paths(), terms=[]),
        LibraryError,
        "at least one term, got an empty list",
    ),
    "unknown state in a term": (
        lambda: fit(good_paths(), terms=["1", "x", "w*x"]),
        LibraryError,
        r"'w\*x' uses 'w'.*the states are \['x', 'y'\]",
    ),
    "unknown function in a term": (
        lambda: fit(good_paths(), terms=["gamma(x)"]),
        LibraryError,
        "'gamma'.*the functions are",
    ),
    "code in a term": (
        lambda: fit(good_paths(), terms=["__import__('os')"]),
        LibraryError,
        "no place in a formula; use numbers",
    ),
    "roots of negative states": (
        lambda: fit(good_paths(), terms="sqrt"),
        LibraryError,
        r"term sqrt\([xy]\) is not finite at x = .*, y = .*; choose a library that is defined",
    ),
    "a term that is zero": (
        lambda: fit(good_paths(), terms=["1", "0*x"]),
        LibraryError,
        "is zero on all data; leave it out",
    ),
    "unknown recipe": (
        lambda: fit(good_paths(), recipe="papr"),
        RecipeError,
        r"no recipe 'papr'; choose one of \['paper'.*or pass a WeakFormRecipe",
    ),
    "a number as recipe": (
        lambda: fit(good_paths(), recipe=5),
        RecipeError,
        r"no recipe 5; choose one of \['paper'",
    ),
    "a list as recipe": (
        lambda: fit(good_paths(), recipe=["paper"]),
        RecipeError,
        r"\['paper'\]",
    ),
    "only nan": (lambda: fit(with_constant(np.nan)), DataError, "coordinate 2 is NaN or infinite"),
}

RECIPES: dict[str, Case] = {
    "kernel shape": (
        lambda: WeakFormRecipe(bandwidth="square"),  # type: ignore[arg-type]
        RecipeError,
        r"bandwidth must be one of \['covariance', 'isotropic'\], got 'square'",
    ),
    "local order": (
        lambda: WeakFormRecipe(local_order=3),  # type: ignore[arg-type]
        RecipeError,
        r"local_order must be one of \[0, 1, 2\], got 3",
    ),
    "solver": (
        lambda: WeakFormRecipe(solver="omp"),  # type: ignore[arg-type]
        RecipeError,
        "solver must be one of .*'stlsq'.*got 'omp'",
    ),
    "no centres": (
        lambda: WeakFormRecipe(n_centres=0),
        RecipeError,
        r"n_centres .*\[1, 4096\], got 0",
    ),
    "centres by half": (
        lambda: WeakFormRecipe(n_centres=2.5),  # type: ignore[arg-type]
        RecipeError,
        "n_centres must be a int, got 2.5",
    ),
    "centres by truth": (
        lambda: WeakFormRecipe(n_centres=True),
        RecipeError,
        "n_centres .*got True",
    ),
    "switch by number": (
        lambda: WeakFormRecipe(debias=1),  # type: ignore[arg-type]
        RecipeError,
        "debias must be a bool, got 1",
    ),
    "bandwidth": (
        lambda: WeakFormRecipe(bandwidth_factor=0.0),
        RecipeError,
        "bandwidth_factor.*got 0.0",
    ),
    "threshold": (lambda: WeakFormRecipe(threshold=1.5), RecipeError, r"\[0, 1\], got 1.5"),
    "threshold nan": (lambda: WeakFormRecipe(threshold=np.nan), RecipeError, r"\[0, 1\], got nan"),
    "one fold": (
        lambda: WeakFormRecipe(folds=1),
        RecipeError,
        r"folds must be in \[2, 100\], got 1",
    ),
    "shrinkage": (
        lambda: WeakFormRecipe(shrinkage=-0.1),
        RecipeError,
        r"shrinkage .*\[0, 1\], got -0.1",
    ),
    "shrinkage by text": (
        lambda: WeakFormRecipe(shrinkage="5 %"),  # type: ignore[arg-type]
        RecipeError,
        "shrinkage must be a float, got '5 %'",
    ),
    "unknown name": (lambda: recipes.get("sharpest"), RecipeError, "no recipe 'sharpest'"),
}

OTHERS: dict[str, Case] = {
    "unknown system": (
        lambda: zoo.get("lorenz"),
        UnknownSystemError,
        "no system 'lorenz'; choose one of .*'rotational_ou'",
    ),
    "unknown library": (lambda: Library.named("sine"), LibraryError, "no library 'sine'"),
    "nothing as library": (
        lambda: library(None),  # type: ignore[arg-type]
        LibraryError,
        "got NoneType",
    ),
    "a start of the wrong size": (
        lambda: zoo.get("duffing").generator.simulate([0.0], dt=0.1, steps=5),
        SimulationError,
        r"x0 must have shape \(2,\) or \(1, 2\), got \(1,\)",
    ),
    "a negative step": (
        lambda: zoo.get("duffing").generator.simulate([0.0, 0.0], dt=-0.1, steps=5),
        SimulationError,
        "dt must be > 0 .*got dt=-0.1",
    ),
    "no steps": (
        lambda: zoo.get("duffing").generator.simulate([0.0, 0.0], dt=0.1, steps=0),
        SimulationError,
        "steps must be a whole number from 1 on, got 0",
    ),
    "an explosion": (
        lambda: zoo.get("duffing").generator.simulate([0.0, 9.0], dt=5.0, steps=99, random_state=0),
        SimulationError,
        "became infinite at step .* of 99.*smaller dt",
    ),
}

OU = Generator.from_sympy(("x",), [-sympy.Symbol("x")], [[0.5]])


SEEN = replace(OU, region=Frame(np.zeros(1), np.ones(1)))


def walk(**more: Any) -> Any:
    return OU.simulate(**{"x0": [0.0], "dt": 0.1, "steps": 3, **more})


def fan(**more: Any) -> Any:
    return OU.forecast(**{"x0": [0.0], "horizon": 1.0, "paths": 10, **more})


def told(**more: Any) -> Readouts:
    return OU.readouts(**{"cells": 32, **more})


def dates(unit: str) -> Any:
    return np.arange(5).astype(f"datetime64[{unit}]")


SILLY: dict[str, Case] = {
    # Dates count in whatever unit they are stored; a mask hides a number that nobody measured.
    "times are dates": (lambda: Trajectories(ramp(5), times=[dates("s")]), DataError, "seconds"),
    "times are moments": (lambda: Trajectories(ramp(5), times=[dates("ns")]), DataError, "seconds"),
    "times are complex": (lambda: Trajectories(ramp(2), times=[[0, 1j]]), DataError, "0, 1j"),
    "times are masked": (
        lambda: Trajectories(
            ramp(3), times=[np.ma.masked_array(np.arange(3.0), mask=[False, False, True])]
        ),
        DataError,
        "from 1.0 to nan",
    ),
    "dt is a duration": (
        lambda: Trajectories(ramp(5), np.timedelta64(1, "s")),  # type: ignore[arg-type]
        DataError,
        "must be real numbers, got .*timedelta64",
    ),
    "an integer that no float holds": (
        lambda: Trajectories([[10**400, 1, 2]], 0.1),
        DataError,
        r"real numbers, got \[1000",
    ),
    "a set": (lambda: Trajectories({1.0, 2.0}, 0.1), DataError, "got set"),  # type: ignore[arg-type]
    "a data frame": (lambda: Trajectories(pd.DataFrame(ramp(5)), 0.1), DataError, "wgsindy.read"),
    "names are a number": (
        lambda: Trajectories(ramp(5), 0.1, names=5),  # type: ignore[arg-type]
        DataError,
        "names must be a list, .*got 5",
    ),
    "a path": (lambda: WGSINDy().fit("mine.csv"), DataError, "mine.csv is no array; .*read"),
    "a library of bytes": (lambda: fit(good_paths(), terms=b"poly1"), LibraryError, "got bytes"),
    "a start of words": (lambda: walk(x0="abc"), SimulationError, "x0 must be .*'abc'"),
    "a start that is not finite": (lambda: walk(x0=[np.nan]), SimulationError, "x0 finite"),
    "a step of words": (lambda: walk(dt="a"), SimulationError, "dt must be .*'a'"),
    "a step for each": (lambda: walk(dt=[0.1, 0.2]), SimulationError, r"dt .*\[0.1, 0.2\]"),
    "a step without end": (lambda: walk(dt=np.inf), SimulationError, "dt=inf"),
    "half a step": (lambda: walk(steps=2.5), SimulationError, "steps must be .* got 2.5"),
    "steps that no memory holds": (lambda: walk(steps=10**13), SimulationError, "fewer at a time"),
    "paths below zero": (lambda: walk(trajectories=-2), SimulationError, "trajectories .* got -2"),
    "a seed below zero": (lambda: walk(random_state=-1), SimulationError, "random_state .*-1"),
    "a scheme by name": (lambda: walk(scheme="euler"), SimulationError, "got 'euler'"),
    "a fan from words": (lambda: fan(x0="abc"), SimulationError, "x0 must be .*'abc'"),
    "a fan until words": (lambda: fan(horizon="a"), SimulationError, "horizon must be .*'a'"),
    "a fan of too many": (lambda: fan(paths=10**13), SimulationError, "fewer at a time"),
    "levels in percent": (lambda: fan(levels=90), SimulationError, r"like 0.9, got \[90"),
    "no levels": (lambda: fan(levels=()), SimulationError, r"like 0.9, got \[\]"),
    "no level": (lambda: fan(levels=None), SimulationError, "levels must be .*None"),
    "a language in a list": (lambda: OU.to_code(["c"]), DataError, r"got \['c'\]"),  # type: ignore[arg-type]
    "half a cell": (lambda: told(cells=20.5).grid, ReadoutError, "cells must be .*20.5"),
    "cells by name": (lambda: told(cells="a").grid, ReadoutError, "cells must be .*'a'"),
    "a box without end": (lambda: told(box=[(-1e308, 1e308)]).grid, ReadoutError, "box needs"),
    "draws below zero": (lambda: told(draws=-1), ReadoutError, "draws .* got -1"),
    "a level by name": (lambda: told(level="a"), ReadoutError, "level must be .*'a'"),
    "an array as data": (lambda: told(data=ramp(5)), ReadoutError, "got ndarray"),
    "a correlation before": (lambda: told().autocorrelation([-1]), ReadoutError, r"0 on, got \[-1"),
    "a correlation never": (lambda: told().autocorrelation([]), ReadoutError, r"got \[\]"),
    "a correlation of nothing": (
        lambda: told().autocorrelation([1.0], of="1"),
        ReadoutError,
        "1 is constant or infinite",
    ),
    "a spectrum nowhere": (lambda: told().power_spectrum([np.nan]), ReadoutError, r"got \[nan"),
    "a set that is a number": (
        lambda: told().passage_time([0.0], 5),  # type: ignore[arg-type]
        ReadoutError,
        "a set is a text such as x < 0, got 5",
    ),
    "a way that is none": (
        lambda: told().passage_time("x < 0", "x < 0"),
        ReadoutError,
        "'x < 0' lies in 'x < 0'",
    ),
    "a time by name": (lambda: told().forecast([0.0], "a"), ReadoutError, "t must be .*'a'"),  # type: ignore[arg-type]
    "data that are none": (lambda: compare(SEEN, SEEN, data="a"), DataError, "got str"),  # type: ignore[arg-type]
    "one label": (lambda: compare(SEEN, SEEN, labels=5), DataError, "two labels, got 5"),  # type: ignore[arg-type]
    "a model that is a folder": (
        lambda: Generator.load("/"),
        ModelFileError,
        "/ cannot be read: Is a directory",
    ),
}

CASES = {
    f"{group}: {name}": case
    for group, cases in (
        ("data", DATA),
        ("fit", FITS),
        ("recipe", RECIPES),
        ("other", OTHERS),
        ("silly", SILLY),
    )
    for name, case in cases.items()
}


@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_refused_with_its_value_and_a_way_out(name: str) -> None:
    call, error, sentence = CASES[name]
    with pytest.raises(error, match=sentence) as caught:
        call()
    assert type(caught.value) is error
    assert str(caught.value).endswith(".")


def test_every_error_can_be_caught_as_a_value_error() -> None:
    assert issubclass(WgsindyError, ValueError)
    assert all(issubclass(error, WgsindyError) for _, error, _ in CASES.values())


@pytest.mark.parametrize(
    "paths",
    [[ramp(2)], [np.array([[0.0], [value]]) for value in np.linspace(0.5, 3.0, 60)]],
    ids=["two samples", "many short paths from one start"],
)
def test_samples_that_differ_are_not_called_constant(paths: list[FloatArray]) -> None:
    # All steps start at the same state, so nothing can be learned; but "constant in all samples"
    # is not the reason.
    with pytest.raises(NotEnoughDataError, match=r"start at one value of .*longer trajectories"):
        fit(paths, terms=["1"])


def test_clean_data_give_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = fit(good_paths())
    assert fitted.diagnostics_.repeated_samples == 0
    # The largest of 8000 Gaussian increments is beyond 7 only once in 5e7 data sets.
    assert 2 < fitted.diagnostics_.largest_increment < 7


def test_repeated_samples_are_counted_and_warned_of() -> None:
    paths = [np.vstack([path, np.repeat(path[-1:], 10, axis=0)]) for path in good_paths()]
    with pytest.warns(RepeatedSamplesWarning, match="^40 samples repeat .*Drop them"):
        fitted = fit(paths)
    assert fitted.diagnostics_.repeated_samples == 40


def test_a_coordinate_that_rests_while_another_moves_is_no_repetition() -> None:
    paths = good_paths()
    for path in paths:
        path[200:300, 0] = path[200, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(paths)


def test_a_huge_outlier_is_warned_of() -> None:
    # Two increments of size M among n typical ones: the ratio tends to sqrt(n / 2), 44 here,
    # however large M is.
    with pytest.warns(OutlierWarning, match="increment of y is 4[0-9].* times .*Split or clean"):
        fitted = fit(spoiled(1e4))
    np.testing.assert_allclose(fitted.diagnostics_.largest_increment, np.sqrt(2000), rtol=1e-3)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"random_state": None}, "random_state must be a whole number from 0 .*got None"),
        ({"random_state": -1}, "random_state must be a whole number from 0 .*got -1"),
        ({"random_state": 2**32}, "random_state must be a whole number from 0 .*got 4294967296"),
        ({"threads": 0}, "threads must be a whole number from 1 .*got 0"),
    ],
)
def test_bad_parameters_are_refused(parameters: dict[str, Any], sentence: str) -> None:
    with pytest.raises(RecipeError, match=sentence):
        WGSINDy("poly1", **parameters).fit(good_paths(), dt=0.01)


@pytest.mark.parametrize("value", [np.nan, -np.inf])
def test_a_row_with_a_missing_or_infinite_value_is_left_out_and_counted(value: float) -> None:
    paths, times = good_paths(), [np.arange(1001) * 0.1] * 4
    paths[2], times[2] = np.delete(paths[2], 17, axis=0), np.delete(times[2], 17)
    expected = Trajectories(paths, times=times)
    with pytest.warns(MissingValuesWarning, match=r"in rows that have others .*kept"):
        found = Trajectories(spoiled(value), 0.1).complete()
    np.testing.assert_array_equal(found.states, expected.states)
    for index in range(4):
        np.testing.assert_allclose(found.steps(index), expected.steps(index))
    assert found.steps(2)[16] == 0.2
    with pytest.warns(MissingValuesWarning, match=r"in rows that have others"):
        fitted = fit(spoiled(value)).generator_
    wanted = fit(expected, dt=None).generator_
    np.testing.assert_allclose(
        [one.value for one in fitted.coefficients], [one.value for one in wanted.coefficients]
    )


def test_masked_values_and_times_are_not_taken_for_states() -> None:
    masked = np.ma.masked_array(ramp(5), mask=np.arange(5)[:, None] == 2)
    with pytest.warns(MissingValuesWarning, match=r"value: 1, left out"):
        found = Trajectories([masked], dt=0.1)
    assert found[0].ravel().tolist() == [0.0, 1.0, 3.0, 4.0]
    assert found.steps(0).tolist() == [0.1, 0.2, 0.1]
    with pytest.raises(DataError, match=r"trajectory 0, .* must be real numbers, got array.*1970"):
        Trajectories([np.arange(5).astype("datetime64[s]")], dt=0.1)


@pytest.mark.parametrize("size", [1e160, 1e-170])
def test_states_whose_squares_leave_floating_point_are_refused(size: float) -> None:
    paths = [path * size for path in good_paths()]
    with pytest.raises(DataError, match=r"states of size .*e[+-]1[67].*change its units"):
        fit(paths)


def with_outlier(size: float) -> list[FloatArray]:
    paths = good_paths()
    paths[1][500, 0] = size
    return paths


OUT_OF_RANGE: dict[str, tuple[Callable[[], list[FloatArray]], float, str]] = {
    "states": (lambda: [p * 1e150 for p in good_paths()], 0.1, r"states of size \d.*e\+150.*units"),
    "an outlier": (lambda: with_outlier(1e100), 0.1, r"size 1e\+100 .* nobody measured"),
    "long steps": (good_paths, 1e300, r"mean step is 1e\+300; .*another unit"),
    "short steps": (good_paths, 1e-300, r"mean step is 1e-300; .*another unit"),
}


@pytest.mark.parametrize("name", OUT_OF_RANGE)
def test_numbers_that_no_fit_can_use_are_refused_with_their_size(name: str) -> None:
    paths, dt, sentence = OUT_OF_RANGE[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutlierWarning)
        with pytest.raises(DataError, match=sentence):
            WGSINDy("poly2").fit(paths(), dt=dt)


def test_an_outlier_within_the_range_of_numbers_is_named_and_fitted() -> None:
    with pytest.warns(OutlierWarning):
        found = fit_dataset(Trajectories(with_outlier(1e20), 0.1), "poly2")
    x = np.concatenate(good_paths())
    assert np.isfinite(found.generator.drift(x)).all()
    assert np.isfinite(found.generator.diffusion(x)).all()


def test_two_values_in_turns_are_fitted_and_not_identified() -> None:
    """No diffusion makes such a path."""
    found = WGSINDy("poly1").fit(np.tile([0.0, 1.0], 150), dt=0.1)
    assert np.isfinite(found.generator_.drift(np.zeros((1, 1)))).all()
    assert found.diagnostics_.verdict == "not identified"


@pytest.mark.parametrize(("size", "dt"), [(1e29, 1e-29), (1e-29, 1e29), (1e29, 1e29)])
def test_numbers_within_the_limits_give_error_bars_that_are_numbers(size: float, dt: float) -> None:
    found = WGSINDy("poly3").fit([path * size for path in good_paths()], dt=dt).generator_
    assert found.uncertainty is not None
    errors = found.uncertainty.std_errors()
    chosen = np.concatenate([found.uncertainty.drift, found.tensor_field.coefficients]) != 0
    assert (errors[chosen] > 0).all()
    assert np.isfinite(errors).all()


@pytest.mark.parametrize("recipe", ["sharp", "paper"])
def test_a_term_that_is_zero_on_the_data_is_named(recipe: str) -> None:
    terms = ["1", "x", "y", "max(x - 100, 0)"]
    with pytest.raises(LibraryError, match=r"(max\(x - 100, 0\)|number 3).*(0 at all|zero on all)"):
        WGSINDy(terms, recipe).fit(good_paths(), dt=0.1)


def test_equations_that_cannot_be_solved_are_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise np.linalg.LinAlgError("Eigenvalues did not converge")

    monkeypatch.setattr("wgsindy.estimate.fit.recover_by_likelihood", fail)
    with pytest.raises(DataError, match=r"cannot be solved \(Eigen.*spread of x .*mean step 0.1"):
        WGSINDy("poly1").fit(good_paths(), dt=0.1)


@pytest.mark.parametrize("wrong", [0.0, np.inf])
def test_an_error_bar_of_zero_or_infinity_is_never_a_result(
    wrong: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    def error_bars(self: Uncertainty, **_: Any) -> FloatArray:
        shape = len(self.inclusion), self.drift.shape[1]
        return np.full(shape, wrong)

    monkeypatch.setattr(Uncertainty, "std_errors", error_bars)
    with pytest.raises(DataError, match=r"error bar of .* came out as (0|inf), which no data"):
        WGSINDy("poly1").fit(good_paths(), dt=0.1)


def test_predicting_before_fitting_is_refused() -> None:
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        WGSINDy().predict([[0.0, 0.0]])


def test_points_and_formulas_must_fit_the_states() -> None:
    truth = zoo.get("rotational_ou").generator
    with pytest.raises(DataError, match=r"points, .* must be real numbers, got .*'a'"):
        truth.drift([["a", "b"]])
    with pytest.raises(DataError, match=r"\('y', 'x'\), the states are \('x', 'y'\)"):
        truth.apply(Expression.parse("x", ("y", "x")), [[0.0, 0.0]])


def test_a_handful_of_increments_is_refused() -> None:
    walk = np.cumsum(np.random.default_rng(0).standard_normal((50, 1)), axis=0)
    with pytest.raises(NotEnoughDataError, match=r"49 increments are too few.*at least 50"):
        WGSINDy(["1"]).fit([walk], dt=1.0)
    fitted = WGSINDy(["1"]).fit([np.vstack([walk, walk[-1:] + 1])], dt=1.0)
    # The variance of 50 increments of unit variance is within 1 +- 5 sqrt(2 / 50).
    assert 0 < fitted.generator_.diffusion([[0.0]])[0, 0, 0] < 2
