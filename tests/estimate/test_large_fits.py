"""What is done with data in memory can be done with a stream: changes, thinning, reports, `fit`."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from alike import assert_same
from command import Command
from drawn_streams import EDGES, QUICK, Paths, blocks_of, streamed, trajectories
from hypothesis import given
from hypothesis import strategies as st

import wgsindy.files.reading as opening
import wgsindy.report.plot_sample as samples
from wgsindy import Change, Generator, WGSINDy, stream, zoo
from wgsindy.data import FloatArray, Stream, Trajectories
from wgsindy.errors import DataError, NotEnoughDataError
from wgsindy.estimate import RivalLibrary, rival_libraries
from wgsindy.estimate.libraries import LibraryComparison, _HalfFramed
from wgsindy.model.change_of_variables import Monotonicity
from wgsindy.passes import reduce
from wgsindy.passes.engine import Threads
from wgsindy.report import PlotSample, render_report, residual_series
from wgsindy.report.facts import Origin
from wgsindy.terms import Expression, library

ORIGIN = Origin("A fit", "", "model.json", ())


@QUICK
@given(
    drawn=trajectories(), edges=EDGES, every=st.integers(1, 5), chosen=st.sets(st.integers(0, 5))
)
def test_a_thinned_stream_is_the_thinned_data(
    drawn: tuple[Paths, Paths], edges: list[int], every: int, chosen: set[int]
) -> None:
    paths, times = drawn
    for clock in (times, 0.25):
        whole = streamed(blocks_of(paths, clock, edges), per_source=1)
        known = (
            Trajectories(paths, clock)
            if isinstance(clock, float)
            else Trajectories(paths, times=clock)
        )
        kept = sorted({k % len(paths) for k in chosen})
        for data, expected in (
            (whole, known),
            *([(whole.subset(kept), known.subset(kept))] if kept else []),
        ):
            if expected.lengths.max() <= every:
                with pytest.raises(NotEnoughDataError, match=f"every={every} leaves no step"):
                    data.thinned(every)
                continue
            thin, same = data.thinned(every), expected.thinned(every)
            assert thin.lengths.tolist() == same.lengths.tolist()
            for one, other in zip(thin.chunks(4), same.chunks(4), strict=True):
                np.testing.assert_array_equal(one.states, other.states)
                np.testing.assert_array_equal(one.increments, other.increments)
                np.testing.assert_allclose(one.dt, other.dt, rtol=1e-13)


@QUICK
@given(drawn=trajectories(), edges=EDGES, per_source=st.integers(1, 3))
def test_a_changed_stream_is_the_changed_data(
    drawn: tuple[Paths, Paths], edges: list[int], per_source: int
) -> None:
    paths, _ = drawn
    data, moving = Trajectories(paths, 0.5), streamed(blocks_of(paths, 0.5, edges), per_source)
    change = Change.parse("u = exp(y) + y", data.names)
    applied = change.apply(moving)
    assert isinstance(applied, Stream)
    assert_same(applied, change.apply(data))
    assert_same(moving, data)  # which stays what it was
    last = [len(paths) - 1]
    assert_same(change.apply(moving.subset(last)), change.apply(data.subset(last)))


def in_blocks(data: Trajectories, size: int = 613) -> Callable[[], Iterator[tuple[Any, ...]]]:
    def blocks() -> Iterator[tuple[Any, ...]]:
        for number, path in enumerate(data):
            for first in range(0, len(path), size):
                yield path[first : first + size], data.mean_dt, number

    return blocks


VALUES = np.array([2.0, 3.0, 0.5, 4.0, -1.25, 7.0, -3.0, 2.0])


@pytest.mark.parametrize(
    "text",
    ["u = log(x)", "u = 1/x", "u = x**2", "u = sqrt(x)", "u = 0*x", "u = sin(x)"],
)
def test_a_change_that_cannot_be_is_told_by_the_same_sentence(text: str) -> None:
    data = Trajectories([VALUES], 0.1)
    change = Change.parse(text, ("x",))
    with pytest.raises(DataError) as expected:
        change.apply(data)
    for size in (1, 3, 8):
        with pytest.raises(DataError) as found:
            change.apply(stream(in_blocks(data, size)))
        assert str(found.value) == str(expected.value)


def test_a_formula_that_jumps_is_no_way_back_even_between_two_pieces() -> None:
    # It falls wherever a sample is, and climbs between them.
    rows = np.concatenate([np.full(40_000, -1.0), np.full(40_000, 1.0)])
    rows += np.tile([0.0, 0.1], 40_000)
    for data in (Trajectories([rows], 0.1), stream(lambda: [rows[:40_000], rows[40_000:]], dt=0.1)):
        with pytest.raises(DataError, match="not strictly monotone"):
            Change.parse("u = 1/x", ("x",)).apply(data)


@QUICK
@given(
    text=st.sampled_from(["log(x)", "1/x", "x**2", "sqrt(x)", "exp(x)", "x**3 + x"]),
    values=st.lists(st.integers(-4, 9), min_size=1, max_size=12),
    cut=st.integers(0, 12),
)
def test_a_formula_is_looked_at_alike_in_pieces(text: str, values: list[int], cut: int) -> None:
    x = np.array(values) / 2
    whole, partitions = (Monotonicity(Expression.parse(text, ("x",))) for _ in range(2))
    whole.add(x)
    for part in (x[:cut], x[cut:]):
        if len(part):
            partitions.add(part)
    bad = [v for v in x if (v <= 0 and text in ("log(x)", "sqrt(x)")) or (v == 0 and text == "1/x")]
    for one in (whole, partitions):
        assert (one.bad, one.low, one.high) == (len(bad), x.min(), x.max())
        if bad:
            assert one.first_bad == bad[0]
        else:
            one.add_between()
    if not bad:
        assert whole.is_monotone == partitions.is_monotone
        turns = x.min() <= 0 <= x.max() and x.min() < x.max()
        if len(set(values)) > 1:
            assert whole.is_monotone == (not turns or text not in ("1/x", "x**2"))


def test_the_first_bad_sample_of_all_pieces_is_told() -> None:
    found = Monotonicity(Expression.parse("log(x)", ("x",)))
    for part in ([2.0, -1.0, -3.0], [1.0, -2.0]):
        found.add(np.array(part))
    assert (found.bad, found.first_bad) == (3, -1.0)


def test_a_jump_between_two_pieces_shows_between_the_samples() -> None:
    found = Monotonicity(Expression.parse("1/x", ("x",)))
    found.add(np.array([-2.0, -1.0]))
    found.add(np.array([1.0, 2.0]))
    assert found.is_monotone
    found.add_between()
    assert not found.is_monotone


def test_slopes_of_a_drift_in_a_frame() -> None:
    data = Trajectories([path * 3 + np.array([5.0, -7.0]) for path in oscillator(2)], 0.01)
    fitted = WGSINDy("poly3", "paper").fit(data).generator_
    assert not np.array_equal(fitted.basis.frame.scale, np.ones(2))
    x = data.states[::400]
    for q, step in enumerate(1e-5 * np.eye(2)):
        slope = (fitted.drift(x + step) - fitted.drift(x - step)) / 2e-5
        np.testing.assert_allclose(fitted.drift_jacobian(x)[:, :, q], slope, rtol=1e-5, atol=1e-6)


def growing(seed: int) -> Trajectories:
    rng = np.random.default_rng(seed)
    log = np.cumsum(rng.normal(0.002, 0.05, (4, 3000, 1)), axis=1)
    return Trajectories(list(np.exp(log)), 0.01)


def test_a_fit_in_logarithms_goes_back_as_in_memory() -> None:
    data = growing(1)
    moving = stream(in_blocks(data))
    change = Change.parse("u = log(x)", ("x",))
    found = []
    for one in (data, moving):
        fitted = WGSINDy("poly1", "sharp").fit(change.apply(one))
        found.append(change.undo(fitted.generator_, one))
    (first, second), here = found, np.array([[0.5], [2.0]])
    assert first.info == second.info
    np.testing.assert_allclose(first.drift(here), second.drift(here), rtol=1e-9)
    np.testing.assert_allclose(first.diffusion(here), second.diffusion(here), rtol=1e-9)
    assert first.region is not None
    assert second.region is not None
    np.testing.assert_allclose(first.region.centre, data.states.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(second.region.scale, data.states.std(axis=0), rtol=1e-12)


def test_a_changed_file_travels(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", growing(2)[0])
    data = stream(tmp_path / "x.npy", dt=0.01).thinned(3)
    changed = pickle.loads(pickle.dumps(Change.parse("u = log(x)", ("x",)).apply(data)))
    np.testing.assert_array_equal(next(changed.chunks()).states, np.log(growing(2)[0][::3][:-1]))


# Reports.


def oscillator(trajectories: int = 4) -> Trajectories:
    return zoo.get("duffing").simulate(seed=1, trajectories=trajectories)


def test_a_report_of_a_small_stream_is_that_of_the_data() -> None:
    data = oscillator(2)
    moving = stream(in_blocks(data), names=data.names)
    fitted = WGSINDy("poly3", "sharp").fit(data)
    seen = PlotSample.of(moving)
    assert (seen.share, seen.note) == (1.0, "")
    for one, other in zip(seen.segments, data, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-14)
    pages = [
        render_report(fitted.generator_, one, fitted.diagnostics_, ORIGIN) for one in (data, moving)
    ]
    facts = [page[page.index("<h2") :].split("Range of")[0] for page in pages]
    assert facts[0].count("Observed time") == facts[1].count("Observed time") > 0
    assert [page.count("<tr") for page in pages] == [pages[0].count("<tr")] * 2


@pytest.mark.parametrize("threads", [1, 3])
def test_a_plot_sample_is_evenly_taken(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "SHOWN_SEGMENTS", 5)
    monkeypatch.setattr(samples, "SEGMENT_STEPS", 70)
    monkeypatch.setattr(samples, "SHOWN_STEPS", 350)
    monkeypatch.setattr(
        samples, "reduce", lambda step, data: reduce(step, data, engine=Threads(threads))
    )
    rising = Trajectories(
        [np.arange(9000.0) + 0.25, 9000.5 + np.arange(41.0), 9050 + np.arange(7000.0)], 0.5
    )
    seen = PlotSample.of(stream(in_blocks(rising)))
    assert [len(path) for path in seen.segments] == [71] * 5
    starts = np.concatenate([path[:-1, 0] for path in rising])
    np.testing.assert_array_equal(seen.states[:, 0], starts[:: len(starts) // 350])
    edges = np.linspace(0, len(starts) - 70, 5).astype(int)
    for path, first in zip(seen.segments, edges, strict=True):
        np.testing.assert_array_equal(path[:-1, 0], starts[first : first + 70])
        assert path[-1, 0] == path[-2, 0] + 1
    assert (seen.low[0], seen.high[0], seen.steps) == (0.25, 16049.0, (0.5, 0.5))
    assert seen.share == 350 / rising.n_increments
    assert "350 of 16038 steps, in 5 segments" in seen.note


def test_no_stretch_of_a_sample_spans_two_trajectories(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(samples, "SEGMENT_STEPS", 70)
    monkeypatch.setattr(samples, "SHOWN_SEGMENTS", 5)
    monkeypatch.setattr(samples, "SHOWN_STEPS", 350)
    data = Trajectories([k * 1e3 + np.arange(11.0) for k in range(100)], 1.0)
    seen = PlotSample.of(stream(in_blocks(data)))
    assert seen.segments.n_increments == 350
    assert all(set(np.diff(path[:, 0])) == {1.0} for path in seen.segments)


def test_what_all_steps_say_is_held_to_the_number_of_all_steps() -> None:
    data = oscillator(2)
    fitted = WGSINDy("poly3", "sharp").fit(data)
    whole, quarter = (
        residual_series(
            fitted.generator_, data, fitted.diagnostics_.noise_level, share=share
        ).moments(1, fitted.diagnostics_)
        for share in (1.0, 0.25)
    )
    widths = [(b.high - b.low) / (a.high - a.low) for a, b in zip(whole, quarter, strict=True)]
    # Mean and skewness are those of what is there; the others have four times the steps.
    np.testing.assert_allclose(widths, [1.0, 0.5, 1.0, 0.5, 0.5])


# Readings of all data.


def counted(data: Trajectories) -> tuple[Stream, Callable[[], int]]:
    """Return a stream, and a function that says how often it was read since it was last asked."""
    calls = [0]
    inner = in_blocks(data)

    def blocks() -> Iterator[tuple[Any, ...]]:
        calls[0] += 1
        return inner()

    def since() -> int:
        found, calls[0] = calls[0], 0
        return found

    return stream(blocks, names=data.names), since


@pytest.mark.parametrize(("terms", "readings"), [("poly3", (1, 9, 3, 1)), ("auto", (1, 17, 2, 1))])
def test_data_are_not_read_more_often_than_needed(terms: str, readings: tuple[int, ...]) -> None:
    # One to count and check. A fit: the first state, the survey, stalls and straight pieces, three
    # rounds of normal equations, observation noise before and after the last two, the scores;
    # "auto" surveys once, does the rest for poly2 and poly3, and compares each with larger
    # libraries. Diagnostics: some states, residuals, larger libraries. A report: one.
    data, since = counted(oscillator(8))
    found = [since()]
    fitted = WGSINDy(terms, "sharp").fit(data)
    found.append(since())
    assert fitted.diagnostics_
    found.append(since())
    PlotSample.of(data)
    assert (*found, since()) == readings


def test_the_fit_of_the_choice_is_the_fit_of_the_library() -> None:
    data = oscillator(8)
    chosen = WGSINDy("auto", "sharp").fit(data)
    named = WGSINDy(chosen.library_, "sharp").fit(data)
    first, second = (one.generator_.to_dict() for one in (chosen, named))
    # The choice has looked at other libraries, keeps their formulas among the alternatives, and
    # leaves the form of the drift open in its bands.
    other = {"info": 0, "alternatives": 0}
    wide, narrow = (one["uncertainty"].pop("form_spread") for one in (first, second))
    assert {**first, **other} == {**second, **other}
    assert np.trace(wide[1]) > 0
    assert narrow is None
    own = [one for one in chosen.generator_.alternatives if not one.library]
    assert own == list(named.generator_.alternatives)
    assert chosen.diagnostics_.findings == named.diagnostics_.findings
    # Another recipe is not what the choice has fitted.
    assert WGSINDy("auto", "sharp-noise").fit(data).fit_.recipe.noise_correction


def test_one_pass_compares_as_many_do(monkeypatch: pytest.MonkeyPatch) -> None:
    data = Trajectories([np.exp(path / 3) for path in oscillator(2)], 0.02)
    found = WGSINDy("poly2", "sharp").fit(data).fit_
    joint = rival_libraries(found)
    assert len(joint) == 4  # a degree, sines, roots, reciprocals
    monkeypatch.setattr(LibraryComparison, "_joint", None)
    apart: dict[str, RivalLibrary] = {one.name: one for one in rival_libraries(found)}
    for one in joint:
        assert one.log_evidence == pytest.approx(apart[one.name].log_evidence, rel=1e-6, abs=1e-6)
        assert one.chosen == apart[one.name].chosen


def test_terms_half_in_a_frame_are_the_terms() -> None:
    data = Trajectories([path + np.array([30.0, -7.0]) for path in oscillator(1)], 0.02)
    fitted = WGSINDy("poly1", "sharp").fit(data).fit_
    plain = library(["1", "x", "y", "x*y", "x**2", "y**2", "sin(x)"]).bind(data.names)
    framed = _HalfFramed.of(plain, fitted.summary)
    x: FloatArray = data.states[::100]
    np.testing.assert_allclose(framed.values(x) @ framed.from_physical.T, plain.values(x))
    np.testing.assert_allclose(
        np.einsum("nkp,lk->nlp", framed.gradients(x), framed.from_physical),
        plain.gradients(x),
        atol=1e-9,
    )
    np.testing.assert_allclose(
        np.einsum("nkpq,lk->nlpq", framed.hessians(x), framed.from_physical),
        plain.hessians(x),
        atol=1e-9,
    )
    np.testing.assert_allclose(framed.to_physical @ framed.from_physical, np.eye(7), atol=1e-9)


# The command line.


@pytest.mark.parametrize("form", ["csv", "npy"])
def test_a_streamed_fit_is_the_fit(
    form: str,
    wgsindy: Command,
    without_pictures: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = oscillator(2)
    if form == "npy":
        np.save("mine.npy", np.array(list(data)))
    else:
        rows = [
            f"{k},{n * 0.01:.2f},{x!r},{y!r}"
            for k, path in enumerate(data)
            for n, (x, y) in enumerate(path.tolist())
        ]
        Path("mine.csv").write_text("\n".join(["id,t,x,y", *rows]))
    options = ["--library", "poly3", "--json", "--force"]
    options += ["--dt", "0.01"] if form == "npy" else []
    memory, told = (
        json.loads(wgsindy("fit", f"mine.{form}", *options, *more).out)
        for more in ([], ["--stream"])
    )
    monkeypatch.setattr(opening, "LARGE", 1000)
    large = json.loads(wgsindy("fit", f"mine.{form}", *options).out)
    kept = json.loads(wgsindy("fit", f"mine.{form}", *options, "--no-stream").out)
    assert memory["equations"] == told["equations"] == large["equations"] == kept["equations"]
    assert memory["verdict"] == large["verdict"]
    notes = [[note["sentence"] for note in one["notes"]] for one in (memory, told, large, kept)]
    assert notes[0] == notes[3]
    assert notes[1][0].startswith("streamed from disk: nothing is changed")
    assert notes[2][0].startswith("streamed from disk, since they are larger than")
    assert notes[1][1:] == notes[2][1:]


def walk_rows() -> list[str]:
    """Lines of a file, a time and a state each."""
    walk = np.random.default_rng(0).normal(size=400).cumsum()
    return [f"{n},{x!r}" for n, x in enumerate(walk.tolist())]


def test_a_large_file_that_must_be_repaired_says_how(
    wgsindy: Command,
    without_pictures: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(opening, "LARGE", 1000)
    rows = walk_rows()
    rows[200], rows[201] = rows[201], rows[200]
    Path("mine.csv").write_text("\n".join(["t,x", *rows]))
    ended = wgsindy("fit", "mine.csv", "--library", "poly1")
    assert ended.code != 0
    assert "row 201 has 200 after 201" in ended.sentence
    assert "(--no-stream) reads them into memory and corrects more" in ended.sentence
    assert wgsindy("fit", "mine.csv", "--library", "poly1", "--no-stream").code == 0
    # What only reading can do is asked for: so it is read.
    assert wgsindy("fit", "mine.csv", "--library", "poly1", "--gap", "9", "--force").code == 0
    for arguments, words in (
        (("mine.csv", "--stream", "--gap", "9"), "(--gap) changes data"),
        (("mine.csv", "--stream", "--time-unit", "s"), "(--time-unit) changes data"),
        (("-", "--stream"), "standard input can be read only once"),
    ):
        assert words in wgsindy("fit", *arguments, "--force").sentence


def test_a_large_file_with_missing_values_is_fitted_as_in_memory(
    wgsindy: Command,
    without_pictures: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(opening, "LARGE", 1000)
    rows = walk_rows()
    rows[200] = "200,"
    Path("mine.csv").write_text("\n".join(["t,x", *rows]))
    options = ("--library", "poly1", "--json", "--force")
    large, kept = (
        json.loads(wgsindy("fit", "mine.csv", *options, *more).out)
        for more in ([], ["--no-stream"])
    )
    assert large["notes"][0]["sentence"].startswith("streamed from disk")
    for one in (large, kept):
        (missing,) = [note for note in one["notes"] if note["name"] == "missing"]
        assert re.match(r"(1 row with|rows with a .*value: 1, )", missing["sentence"])
        assert "left out (over up to 10 the step is longer" in missing["sentence"]
    assert large["equations"] == kept["equations"]


def test_a_streamed_fit_in_logarithms_thinned(
    wgsindy: Command,
    without_pictures: None,
) -> None:
    np.save("mine.npy", np.array(list(growing(3))))
    options = ["--dt", "0.01", "--log", "x", "--every", "2", "--library", "poly1", "--force"]
    for more in ("--stream", "--no-stream"):
        assert wgsindy("fit", "mine.npy", *options, more).code == 0
        model = Generator.load("mine-wgsindy/model.json")
        if more == "--stream":
            first = model
    here = np.array([[0.7], [3.0]])
    np.testing.assert_allclose(first.drift(here), model.drift(here), rtol=1e-9)
    np.testing.assert_allclose(first.diffusion(here), model.diffusion(here), rtol=1e-9)
