"""Known inputs: coordinates that drive the others and have no equation of their own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import wgsindy as wg
from wgsindy import WGSINDy
from wgsindy.data import FloatArray, Trajectories
from wgsindy.errors import DataError, MissingValuesWarning, RecipeError
from wgsindy.model import Generator

DT, SUBSTEPS, GAIN = 0.05, 10, 0.8
NAMES = ("x", "v", "u")


def driven_oscillator(seed: int, runs: int = 4, steps: int = 1600) -> FloatArray:
    """dv = (-x - v / 2 + 0.8 u) dt + 0.4 dW, u a walk that is drawn back; ``(runs, steps, 3)``."""
    rng, h = np.random.default_rng(seed), DT / SUBSTEPS
    u = np.zeros((runs, steps + 1))
    for k in range(steps):
        u[:, k + 1] = 0.95 * u[:, k] + 0.3 * rng.normal(size=runs)
    x, v, path = np.zeros(runs), np.zeros(runs), np.empty((runs, steps, 3))
    for k in range(steps):
        path[:, k] = np.stack([x, v, u[:, k]], axis=1)
        for part in range(SUBSTEPS):
            now = u[:, k] + (u[:, k + 1] - u[:, k]) * part / SUBSTEPS
            force = -x - 0.5 * v + GAIN * now
            x, v = x + v * h, v + force * h + 0.4 * np.sqrt(h) * rng.normal(size=runs)
    return path


def driven(seed: int) -> Trajectories:
    return Trajectories(driven_oscillator(seed), DT, names=NAMES, inputs=("u",))


@pytest.mark.slow
def test_coefficients_of_an_input_are_within_their_intervals() -> None:
    # 95 % intervals: at least 9 of 10 hold with probability 0.91; the seeds are fixed.
    held, identified = 0, 0
    for seed in range(10):
        est = WGSINDy("poly1").fit(driven(seed))
        rows = {row.term: row for row in est.generator_.coefficients if row.target == "b2"}
        assert set(rows) == {"x", "v", "u"}
        held += rows["u"].low <= GAIN <= rows["u"].high
        identified += est.diagnostics_.verdict == "identified"
    assert held >= 9
    assert identified >= 9


def test_inputs_have_no_equation() -> None:
    gen: Generator = WGSINDy("poly1").fit(driven(0)).generator_
    assert gen.inputs == ("u",)
    assert [line.split(" = ")[0] for line in gen.equations()] == ["b1", "b2", "a11", "a12", "a22"]
    assert str(gen).startswith("Generator of (x, v), driven by u")
    np.testing.assert_array_equal(gen.drift([[1.0, 2.0, 3.0]])[0, 2], 0.0)
    assert not gen.diffusion([[1.0, 2.0, 3.0]])[0, 2].any()
    again = Generator.from_dict(gen.to_dict())
    assert again.inputs == ("u",)
    assert again.equations() == gen.equations()


def test_the_report_of_a_driven_process_says_what_it_cannot_show(tmp_path: Path) -> None:
    path = driven_oscillator(1, runs=2, steps=500)
    est = WGSINDy("poly1").fit(Trajectories(list(path), DT, names=NAMES, inputs=("u",)))
    est.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "This process is driven by u" in page
    assert "u would be held where it began" in page


@pytest.mark.slow
def test_an_input_that_is_left_out_is_missed_by_the_verdict() -> None:
    est = WGSINDy("poly1").fit(driven(0).select(["x", "v"]))
    assert est.diagnostics_.verdict == "partly identified"


def test_taking_an_input_for_a_state_is_another_question() -> None:
    # As a state, u has an equation: it is a walk that is drawn back.
    gen = WGSINDy("poly1").fit(Trajectories(driven_oscillator(0), DT, names=NAMES)).generator_
    assert any(row.target == "b3" for row in gen.coefficients)


def test_inputs_go_behind_the_states_and_stay_there() -> None:
    path = driven_oscillator(0, runs=3, steps=40)
    data = Trajectories(list(path[:, :, ::-1]), DT, names=("u", "v", "x"), inputs=("u",))
    assert data.names == ("v", "x", "u")
    assert data.inputs == data.subset([1]).inputs == data.thinned(2).inputs == ("u",)
    np.testing.assert_array_equal(data[0][:, 2], path[0, :, 2])
    assert data.replaced("u", "w", np.tanh).inputs == ("w",)
    assert data.select(["x", "u"]).inputs == ("u",)
    with pytest.raises(DataError, match="behind the others"):
        data.select(["u", "x"])


def test_bad_inputs_are_refused_with_a_sentence() -> None:
    path = driven_oscillator(0, runs=1, steps=40)
    with pytest.raises(DataError, match=r"no input 'temp'; there are \['x', 'v', 'u'\]"):
        Trajectories(path, DT, names=NAMES, inputs=("temp",))
    with pytest.raises(DataError, match="at least one coordinate"):
        Trajectories(path, DT, names=NAMES, inputs=NAMES)
    with pytest.raises(RecipeError, match=r"recipe 'paper' knows no inputs \(u\)"):
        WGSINDy("poly1", "paper").fit(driven(0))
    with pytest.raises(RecipeError, match="order=2 knows no inputs"):
        WGSINDy("poly1", order=2).fit(driven(0))


def test_inputs_are_read_from_tables() -> None:
    path = driven_oscillator(1, runs=1, steps=60)[0]
    table = {"t": np.arange(60) * DT, "temp": path[:, 2], "x": path[:, 0], "v": path[:, 1]}
    reading = wg.read(table, inputs="temp")
    assert (reading.data.names, reading.data.inputs) == (("x", "v", "temp"), ("temp",))
    assert any(note.sentence.startswith("inputs: temp") for note in reading.notes)
    chosen = wg.read(table, states=["v"], inputs=["temp"]).data
    assert (chosen.names, chosen.inputs) == (("v", "temp"), ("temp",))


def test_a_switch_is_an_input_whatever_its_digits() -> None:
    path = driven_oscillator(2, runs=4, steps=400)
    path[:, :, 2] = np.sign(path[:, :, 2])  # two values: no state that is written with few digits
    est = WGSINDy("poly1").fit(Trajectories(list(path), DT, names=NAMES, inputs=("u",)))
    assert est.fit_.data.n_increments == 4 * 399


def test_new_data_of_a_driven_process_are_scored_as_those_of_the_fit() -> None:
    path = driven_oscillator(0, runs=2, steps=500)
    data = Trajectories(path, DT, names=NAMES, inputs=("u",))
    est = WGSINDy("poly1").fit(data)
    assert est.score(list(path), dt=DT) == pytest.approx(est.score(data), rel=1e-12)
    # Rows that lack a value are left out, as in a fit.
    path[:, 5::9, 1] = np.nan
    with pytest.warns(MissingValuesWarning):
        holed = Trajectories(path, DT, names=NAMES, inputs=("u",))
    assert est.score(holed) == pytest.approx(est.score(holed.complete()), rel=1e-12)


def test_samples_of_a_driven_process_are_its_states() -> None:
    path = driven_oscillator(0, runs=2, steps=500)
    est = WGSINDy("poly1").fit(Trajectories(path, DT, names=NAMES, inputs=("u",)))
    for found in (est.states(), est.states(list(path), dt=DT)):
        np.testing.assert_array_equal(found.mean, path.reshape(-1, 3))
        assert not found.deviation.any()
    path[:, 5::9, 1] = np.nan
    with pytest.warns(MissingValuesWarning):
        left = est.states(list(path), dt=DT)
    np.testing.assert_array_equal(left.mean, path[np.isfinite(path).all(axis=2)])
