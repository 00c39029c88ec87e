"""Whatever a caller has goes in at one door; scores, searches, reports and notebooks come out."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score

import wgsindy as wg
from wgsindy.data import FloatArray
from wgsindy.errors import DataError

DT = 0.01


def paths(seed: int = 0, trajectories: int = 8) -> list[FloatArray]:
    rng = np.random.default_rng(seed)
    x = np.zeros((trajectories, 1001, 2))
    for n in range(1000):
        pull = np.stack([-x[:, n, 0] - 2 * x[:, n, 1], 2 * x[:, n, 0] - x[:, n, 1]], axis=1)
        x[:, n + 1] = x[:, n] + pull * DT + np.sqrt(DT) * rng.normal(size=(trajectories, 2))
    return list(x)


def table() -> dict[str, Any]:
    data = paths()
    return {
        "id": np.repeat(np.arange(len(data)), 1001),
        "t": np.tile(np.arange(1001) * DT, len(data)),
        "x": np.concatenate(data)[:, 0],
        "y": np.concatenate(data)[:, 1],
    }


def fit(given: Any, **arguments: Any) -> wg.WGSINDy:
    return wg.WGSINDy(library="poly1").fit(given, **arguments)


@pytest.fixture(scope="module")
def fitted() -> wg.WGSINDy:
    return fit(paths(), dt=DT)


@pytest.mark.parametrize(
    ("given", "arguments"),
    [
        (wg.Trajectories(paths(), DT), {}),
        (np.array(paths()), {"dt": DT}),
        (paths(), {"t": np.arange(1001) * DT}),
        (wg.stream(paths(), dt=DT), {}),
        (wg.read(table()), {}),
        (pd.DataFrame(table()), {}),
        (pl.DataFrame(table()), {"t": "t"}),
        (pd.DataFrame(table()).drop(columns="t"), {"dt": DT}),
    ],
    ids=["trajectories", "array", "times", "stream", "reading", "pandas", "polars", "frame and dt"],
)
def test_every_kind_of_data_gives_the_same_fit(
    given: Any, arguments: dict[str, Any], fitted: wg.WGSINDy
) -> None:
    found = fit(given, **arguments).generator_
    assert found.names == ("x", "y")
    np.testing.assert_allclose(
        found.drift_coefficients, fitted.generator_.drift_coefficients, rtol=1e-9, atol=1e-12
    )


def test_names_are_those_given() -> None:
    assert fit(paths(), dt=DT, names=["u", "w"]).generator_.names == ("u", "w")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "arrays need the sampling interval"),
        ({"dt": DT, "t": np.arange(1001)}, "the sampling interval is needed once"),
    ],
)
def test_arrays_need_their_steps_once(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        fit(paths(), **arguments)


@pytest.mark.parametrize("arguments", [{"dt": DT}, {"t": [0.0]}, {"names": ["u", "w"]}])
def test_what_data_carry_is_not_given_again(arguments: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="carry their own"):
        fit(wg.Trajectories(paths(), DT), **arguments)


# Scores and searches.


def test_the_score_is_that_of_the_generator(fitted: wg.WGSINDy) -> None:
    held_out = paths(seed=1)
    assert fitted.score(held_out) == fitted.score(wg.Trajectories(held_out, DT))
    assert fitted.score(held_out) == fitted.score(held_out, dt=DT)
    # log N of two coordinates of variance a dt = 0.01 at their mean square: -1 - log(2 pi 0.01).
    assert fitted.score(held_out) == pytest.approx(-1 - np.log(2 * np.pi * DT), abs=0.05)


@pytest.mark.parametrize("given", [paths(), wg.Trajectories(paths(), DT)], ids=["list", "own"])
def test_a_grid_search_finds_the_library_that_predicts(given: Any) -> None:
    search = GridSearchCV(
        wg.WGSINDy(library="poly1"), {"library": [["1"], "poly1"]}, cv=2, error_score="raise"
    )
    search.fit(given, **({"dt": DT} if isinstance(given, list) else {}))
    assert search.best_params_ == {"library": "poly1"}
    constant, linear = search.cv_results_["mean_test_score"]
    # b^2 dt / (2 a) of a linear drift with |J x|^2 = 5 |x|^2 = 5: 0.025 a step.
    assert linear - constant == pytest.approx(0.025, rel=0.3)


def test_cross_validation_keeps_the_steps_of_trajectories() -> None:
    data = wg.Trajectories(paths(), [DT] * 7 + [2 * DT])
    scores = cross_val_score(wg.WGSINDy(library="poly1"), data, cv=4, error_score="raise")
    assert np.isfinite(scores).all()
    assert data[np.array([7, 0])].mean_dt == pytest.approx(1.5 * DT)


# What comes out.


def test_a_report_is_written(fitted: wg.WGSINDy, tmp_path: Path) -> None:
    fitted.report(tmp_path / "report.html", title="My <own> data")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "My &lt;own&gt; data" in page
    assert fitted.diagnostics_.summary in page


def test_a_notebook_shows_equations_verdict_and_picture(fitted: wg.WGSINDy) -> None:
    bundle = fitted._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", "text/latex"}
    html = bundle["text/html"]
    assert fitted.diagnostics_.summary in html
    assert "<math" in html
    assert "<svg" in html
    assert "<script" not in html
    ElementTree.fromstring(html.replace("&InvisibleTimes;", "").replace("&minus;", "-"))
    assert wg.WGSINDy()._repr_mimebundle_() == {"text/plain": "WGSINDy()"}


@pytest.mark.parametrize(
    ("recipe", "verdict"),
    [
        ("sharp", "identified, with allowance for observation noise."),
        ("sharp-euler", "partly identified; what limits it: observation noise (a11, a22)."),
    ],
)
def test_a_notebook_shows_findings_with_their_advice(recipe: str, verdict: str) -> None:
    rng = np.random.default_rng(0)
    noisy = [path + 0.2 * rng.normal(size=path.shape) for path in paths()]
    found = wg.WGSINDy(library="poly1", recipe=recipe).fit(noisy, dt=DT).diagnostics_
    html = found._repr_html_()
    ElementTree.fromstring(html)
    assert found.findings
    assert found.findings[0].advice.split("(")[0] in unescape(html)
    assert found._repr_latex_() == rf"$\text{{The generator is {verdict}}}$"


def test_one_call_does_what_the_command_line_does(tmp_path: Path) -> None:
    frame = pd.DataFrame(table())
    frame.to_csv(tmp_path / "mine.csv", index=False)
    result = wg.fit_file(tmp_path / "mine.csv", out=tmp_path / "out", library="poly1")
    assert {path.name for path in (tmp_path / "out").iterdir()} == set(result.files)
    assert "report.html" in result.files
    assert result.heading.startswith("mine.csv: 8 trajectories of x, y; 8000 steps")
    stored = wg.Generator.load(tmp_path / "out" / "model.json")
    assert stored.equations() == result.generator.equations()
    with pytest.raises(wg.errors.OutputError, match="force"):
        wg.fit_file(tmp_path / "mine.csv", out=tmp_path / "out")


def test_the_package_lists_its_public_names() -> None:
    assert set(dir(wg)) == {*wg.__all__, "__version__"}
    assert all(getattr(wg, name) is not None for name in wg.__all__)


def test_units_of_what_was_read_stay_with_the_fit() -> None:
    named = {"x": "x [um]", "t": "t [s]"}
    read = wg.read({named.get(key, key): values for key, values in table().items()})
    units = fit(read).generator_.units
    assert (units.time, units.states) == ("s", ("um", ""))
    assert not fit(wg.read(table())).generator_.units.known
