"""`wgsindy fit`: own data in; equations, a verdict and files out, or one sentence."""

from __future__ import annotations

import csv
import io
import json
import warnings
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
import pytest
from command import Command
from messy import BY_TRAJECTORY, DT, LOSSY, MESSY, PATHS, RECIPE, fitted, rows
from messy import write as write_lines

from wgsindy import Generator, Trajectories, cli, read
from wgsindy.cli.fit import READING, as_library, column, separated
from wgsindy.cli.output import printed_equations
from wgsindy.errors import OutlierWarning, RecipeError, SimulationError
from wgsindy.files import ReadingOptions, csv_text, refuse_occupied
from wgsindy.files.notes import WARNING_OF
from wgsindy.model import named_fields
from wgsindy.workflow import RESULT_FILES, default_folder, fit_file


def small_data(seed: int = 0, paths: int = 4) -> Trajectories:
    rng = np.random.default_rng(seed)
    x = np.zeros((paths, 1500, 2))
    for n in range(1499):
        pull = x[:, n] @ np.array([[-1.0, 2.0], [-2.0, -1.0]])
        x[:, n + 1] = x[:, n] + pull * 0.02 + 0.1 * rng.normal(size=(paths, 2))
    return Trajectories(list(x), 0.02)


def test_a_fit_prints_and_writes_everything(wgsindy: Command, tmp_path: Path) -> None:
    Path("mine.csv").write_text(csv_text(small_data()))
    ended = wgsindy("fit", "mine.csv", "--library", "poly2", "--title", "My <data>")
    assert (ended.code, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert lines[0] == (
        "mine.csv: 4 trajectories of x, y; 5996 steps, mean step 0.02, observed time 119.9."
    )
    folder = tmp_path / "mine-wgsindy"
    written = ["model.json", "fit.json", "report.html", "coefficients.csv"]
    assert sorted(item.name for item in folder.iterdir()) == sorted(written)
    model = Generator.load(folder / "model.json")
    for equation in printed_equations(model)[0]:
        assert f"  {equation}" in lines
        assert "±" in equation or equation.endswith("= 0")
    assert "The generator is identified: nothing was found that limits it." in lines
    assert lines[-1] == "Open mine-wgsindy/report.html in a browser."
    table = list(csv.DictReader(io.StringIO((folder / "coefficients.csv").read_text())))
    assert [(row["target"], row["term"], float(row["value"])) for row in table] == [
        (found.target, found.term, found.value) for found in model.coefficients
    ]
    assert [float(row["std_error"]) for row in table] == [
        found.std_error for found in model.coefficients
    ]
    page = (folder / "report.html").read_text()
    assert "My &lt;data&gt;" in page
    assert "wgsindy fit mine.csv --library poly2" in page


def test_figures_are_drawn_when_asked_for(wgsindy: Command) -> None:
    Path("mine.csv").write_text(csv_text(small_data()))
    fit = ("fit", "mine.csv", "--library", "poly2", "--no-report", "--figures")
    ended = wgsindy(*fit)
    assert ended.code == 0
    assert "overview.png, fields.png to mine-wgsindy/" in ended.out
    for name in ("overview.png", "fields.png"):
        picture = matplotlib.image.imread(Path("mine-wgsindy") / name)
        assert picture.std() > 0.05  # something is drawn
    assert not Path("mine-wgsindy/report.html").exists()
    # Those of an older result would say nothing of the new one.
    assert wgsindy(*fit[:-1], "--force").code == 0
    assert not Path("mine-wgsindy/fields.png").exists()


def test_data_far_from_zero_are_told_of_and_written_in_distances(
    wgsindy: Command, without_pictures: None
) -> None:
    near = small_data()
    moved = Trajectories([path + np.array([500_000, 0]) for path in near], 0.02)
    Path("far.csv").write_text(csv_text(moved))
    ended = wgsindy("fit", "far.csv", "--library", "poly2")
    assert ended.code == 0
    told = " ".join(ended.out.split())
    assert "far from zero: its terms are functions of x - 500000." in told
    assert "y is" not in told
    model = Generator.load("far-wgsindy/model.json")
    assert model.basis.coordinates == ("x - 500000", "y")
    assert {found.term for found in model.coefficients} == {"1", "x - 500000", "y"}
    table = list(csv.DictReader(io.StringIO(Path("far-wgsindy/coefficients.csv").read_text())))
    assert [row["term"] for row in table] == [found.term for found in model.coefficients]


@pytest.mark.parametrize("dimension", [1, 3])
def test_other_numbers_of_coordinates_get_curves(dimension: int, wgsindy: Command) -> None:
    x = np.cumsum(np.random.default_rng(0).normal(size=(2, 800, dimension)), axis=1)
    Path("walk.csv").write_text(csv_text(Trajectories(list(x), 0.1)))
    fit = ("fit", "walk.csv", "--library", "poly1", "--no-report", "--figures")
    assert wgsindy(*fit).code == 0
    picture = matplotlib.image.imread("walk-wgsindy/fields.png")
    assert picture.std() > 0.02
    assert not Path("walk-wgsindy/overview.png").exists()


def test_json_is_one_object_and_nothing_else(wgsindy: Command, without_pictures: None) -> None:
    Path("mine.csv").write_text(csv_text(small_data()))
    ended = wgsindy("fit", "mine.csv", "--library", "poly1", "--json", "--recipe", "paper")
    assert (ended.code, ended.err) == (0, "")
    content = json.loads(ended.out)
    model = Generator.load("mine-wgsindy/model.json")
    assert content["equations"] == model.equations()
    assert content["states"] == ["x", "y"]
    assert content["verdict"] == "not assessed"
    assert content["limitation"] == ""
    assert content["findings"] == []
    # The paper's recipe has no error bars: null, which every reader of JSON knows, not NaN.
    assert content["coefficients"][0]["std_error"] is None
    assert content["coefficients"][0]["value"] == model.coefficients[0].value
    assert content["files"]["model.json"] == "mine-wgsindy/model.json"
    assert {note["name"] for note in content["notes"]} == {"choice"}


def test_findings_are_told_with_their_advice(wgsindy: Command, without_pictures: None) -> None:
    walk = np.cumsum(np.random.default_rng(3).normal(size=(4, 600, 1)), axis=1)
    Path("walk.csv").write_text(csv_text(Trajectories(list(walk), 1.0)))
    found = json.loads(wgsindy("fit", "walk.csv", "--library", "poly1", "--json").out)
    assert found["verdict"] == "not identified"
    assert found["limitation"] == found["findings"][0]["limitation"] == "low drift signal-to-noise"
    told = " ".join(wgsindy("fit", "walk.csv", "--library", "poly1", "--force").out.split())
    assert named_fields(found["summary"], ["x"]) in told
    for finding in found["findings"]:
        said = named_fields(f"{finding['sentence']} {finding['advice']}", ["x"])
        assert " ".join(said.split()) in told


def test_quiet_prints_errors_only(wgsindy: Command, without_pictures: None) -> None:
    Path("mine.csv").write_text(csv_text(small_data()))
    assert wgsindy("fit", "mine.csv", "--library", "poly1", "--quiet") == (0, "", "")
    assert Path("mine-wgsindy/model.json").exists()
    ended = wgsindy("fit", "mine.csv", "--library", "poly1", "--quiet")
    assert ended.code == 1
    assert "already exists; replace it with --force" in ended.sentence


@pytest.fixture(scope="module")
def clean() -> Generator:
    return fitted(Trajectories(PATHS, DT, names=("x", "y")))


@pytest.mark.parametrize("name", MESSY)
def test_a_messy_file_gives_the_generator_of_the_clean_one(
    name: str, clean: Generator, wgsindy: Command, without_pictures: None, tmp_path: Path
) -> None:
    writer, expected = MESSY[name]
    source = writer(tmp_path / "data.csv").get("source", "data.csv")
    options = ("--library", "poly2", "--recipe", RECIPE, "--json", "--out", "result")
    ended = wgsindy("fit", source, *options)
    assert (ended.code, ended.err) == (0, "")
    content = json.loads(ended.out)
    kinds = [WARNING_OF.get(note["name"]) for note in content["notes"]]
    assert [kind for kind in kinds if kind] == expected
    wanted = {(c.target, c.term): c for c in clean.coefficients}
    found = {(c["target"], c["term"]): c["value"] for c in content["coefficients"]}
    assert set(found) == set(wanted)
    for key, value in found.items():
        assert wanted[key].low < value < wanted[key].high
        if name not in LOSSY:
            assert value == pytest.approx(wanted[key].value, rel=1e-6)


def test_a_wrong_dt_is_refused_and_the_sentence_says_by_how_much(
    wgsindy: Command, without_pictures: None
) -> None:
    write_lines(Path("data.csv"), ["id,t,x,y", *rows(BY_TRAJECTORY)])
    ended = wgsindy("fit", "data.csv", "--dt", "10", "--library", "poly2")
    assert (ended.code, ended.out) == (1, "")
    assert "dt=10 contradicts column 't'" in ended.sentence
    assert not Path("data-wgsindy").exists()


def half_written(path: Path) -> None:
    whole = io.BytesIO()
    np.savez(whole, x=small_data().states)
    path.write_bytes(whole.getvalue()[:3000])


def binary(path: Path) -> None:
    path.write_bytes(np.random.default_rng(0).bytes(5000))


BAD: dict[str, tuple[Callable[[Path], Any], str]] = {
    "half written": (half_written, "cannot be read as NPZ"),
    "binary": (binary, "is not a table of numbers"),
    "empty": (lambda path: path.touch(), "is empty; was it written to the end?"),
    "a folder": (lambda path: path.mkdir(), "is a folder; pass its files"),
    "missing": (lambda path: None, "cannot be read: No such file"),
    "cut off": (
        lambda path: path.write_text(csv_text(small_data())[:18]),
        "bad.dat",
    ),
    "words": (lambda path: path.write_text("to be\nor not\n" * 20), "bad.dat"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_file_ends_in_one_sentence(kind: str, wgsindy: Command) -> None:
    make, sentence = BAD[kind]
    make(Path("bad.dat"))
    ended = wgsindy("fit", "bad.dat")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith("wgsindy: ")
    assert ended.err.count("\n") == 1
    assert sentence in ended.err
    assert "Traceback" not in ended.err
    assert not Path("bad-wgsindy").exists()


def test_square_brackets_in_a_sentence_are_printed(wgsindy: Command) -> None:
    Path("mine.csv").write_text("x [mm],y [s]\n1,2\n2,3\n4,5\n")
    assert "'x [mm]', 'y [s]'" in wgsindy("fit", "mine.csv").err


def test_an_unexpected_error_is_named_and_not_hidden(
    wgsindy: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("the gears are stuck")

    monkeypatch.setattr("wgsindy.workflow.open_data", fail)
    ended = wgsindy("fit", "mine.csv")
    assert (ended.code, ended.out) == (1, "")
    assert "unexpected RuntimeError: the gears are stuck" in ended.sentence
    assert "WGSINDY_TRACEBACK=1" in ended.sentence
    monkeypatch.setenv("WGSINDY_TRACEBACK", "1")
    monkeypatch.setattr("sys.argv", ["wgsindy", "fit", "mine.csv"])
    with pytest.raises(RuntimeError, match="gears"):
        cli.main()


def stop(*_: Any, **__: Any) -> None:
    raise KeyboardInterrupt


def test_interruption_is_one_line(wgsindy: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wgsindy.workflow.open_data", stop)
    assert wgsindy("fit", "mine.csv") == (130, "", "wgsindy: interrupted.\n")


def test_force_replaces_an_older_result_whole(wgsindy: Command, without_pictures: None) -> None:
    Path("mine.csv").write_text(csv_text(small_data()))
    assert wgsindy("fit", "mine.csv", "--library", "poly1", "--log", "x").code == 1
    assert wgsindy("fit", "mine.csv", "--library", "poly1", "--transform", "u = exp(x)").code == 0
    assert Path("mine-wgsindy/fitted-model.json").exists()
    assert wgsindy("fit", "mine.csv", "--library", "poly1", "--force").code == 0
    assert not Path("mine-wgsindy/fitted-model.json").exists()  # it belonged to the older one
    assert {item.name for item in Path.cwd().iterdir()} == {"mine.csv", "mine-wgsindy"}


@pytest.mark.parametrize("failure", [OSError("no space left"), KeyboardInterrupt()])
def test_an_older_result_survives_a_failure(
    failure: BaseException,
    wgsindy: Command,
    without_pictures: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path("mine.csv").write_text(csv_text(small_data()))
    assert wgsindy("fit", "mine.csv", "--library", "poly1").code == 0
    before = {item.name: item.read_bytes() for item in Path("mine-wgsindy").iterdir()}

    def fail(*_: Any, **__: Any) -> None:
        raise failure

    monkeypatch.setattr("wgsindy.report.coefficients_csv", fail)
    assert wgsindy("fit", "mine.csv", "--library", "poly2", "--force").code != 0
    assert wgsindy("fit", "mine.csv", "--library", "poly2", "--out", "new").code != 0
    after = {item.name: item.read_bytes() for item in Path("mine-wgsindy").iterdir()}
    assert after == before
    assert {item.name for item in Path.cwd().iterdir()} == {"mine.csv", "mine-wgsindy"}


@pytest.mark.parametrize("failure", [RuntimeError("stuck"), KeyboardInterrupt()])
def test_the_model_is_saved_before_the_report_is_drawn(
    failure: BaseException, wgsindy: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("mine.csv").write_text(csv_text(small_data()))

    def fail(*_: Any, **__: Any) -> None:
        raise failure

    with monkeypatch.context() as broken:
        broken.setattr("wgsindy.report.write_report", fail)
        ended = wgsindy("fit", "mine.csv", "--library", "poly1")
    assert ended.code != 0
    if isinstance(failure, RuntimeError):
        assert "the model is saved in mine-wgsindy/, but its report could not be" in ended.sentence
        assert "RuntimeError: stuck" in ended.sentence
    assert Generator.load("mine-wgsindy/model.json").names == ("x", "y")
    assert not Path("mine-wgsindy/report.html").exists()
    # The sentence says what to do, and that works.
    assert wgsindy("report", "mine-wgsindy/model.json", "mine.csv").code == 0
    assert "Fit of mine.csv" in Path("mine-wgsindy/report.html").read_text()


def test_a_report_can_be_left_out_and_drawn_later_the_same(wgsindy: Command) -> None:
    Path("mine.csv").write_text(csv_text(positive_data()))
    fit = ["fit", "mine.csv", "--library", "poly1", "--log", "x", "--every", "2", "--unit", "s"]
    fit += ["--time-unit", "s"]
    ended = wgsindy(*fit, "--no-report")
    assert ended.code == 0
    assert "report.html" not in ended.out
    assert {item.name for item in Path("mine-wgsindy").iterdir()} == {
        "model.json",
        "fitted-model.json",
        "fit.json",
        "coefficients.csv",
    }
    assert wgsindy("report", "mine-wgsindy", "mine.csv").code == 0
    later = Path("mine-wgsindy/report.html").read_text()
    assert wgsindy("report", "mine-wgsindy", "mine.csv").code == 1  # it is there
    assert wgsindy(*fit, "--force").code == 0
    at_once = Path("mine-wgsindy/report.html").read_text()
    assert at_once.replace(" --force", "") == later.replace(" --no-report", "")
    assert "In the original states" in later


def test_a_report_of_other_data_is_refused(wgsindy: Command) -> None:
    Path("mine.csv").write_text(csv_text(small_data()))
    Path("other.csv").write_text(csv_text(small_data(paths=3)))
    assert wgsindy("fit", "mine.csv", "--library", "poly1", "--no-report").code == 0
    ended = wgsindy("report", "mine-wgsindy", "other.csv")
    assert "the fit was one of 5996 steps, these data have 4497" in ended.sentence
    Path("mine-wgsindy/fit.json").write_text("{}")
    assert (
        "does not say how its fit was made"
        in wgsindy("report", "mine-wgsindy", "mine.csv").sentence
    )
    assert "no model file" in wgsindy("report", "nowhere/model.json", "mine.csv").sentence


def test_a_simulation_that_diverges_is_told_and_everything_is_written(
    wgsindy: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise SimulationError("a trajectory became infinite at step 3 of 9.")

    monkeypatch.setattr("wgsindy.report.page.check_by_simulation", fail)
    Path("mine.csv").write_text(csv_text(small_data()))
    ended = wgsindy("fit", "mine.csv", "--library", "poly1")
    assert (ended.code, ended.err) == (0, "")
    told = " ".join(ended.out.split())
    assert "simulation: The equations cannot be simulated from the starts of the data" in told
    assert "Simulations diverge" in Path("mine-wgsindy/report.html").read_text()


def test_what_is_not_a_result_is_never_removed(wgsindy: Command, without_pictures: None) -> None:
    Path("mine.csv").write_text(csv_text(small_data()))
    Path("thesis").mkdir()
    Path("thesis/chapter1.tex").write_text("years of work")
    for force in ([], ["--force"]):
        ended = wgsindy("fit", "mine.csv", "--library", "poly1", "--out", "thesis", *force)
        assert ended.code == 1
    assert "holds 'chapter1.tex', which is no file of a fit" in ended.sentence
    assert Path("thesis/chapter1.tex").read_text() == "years of work"
    assert wgsindy("fit", "mine.csv", "--out", "mine.csv", "--force").code == 1
    Path("empty").mkdir()
    assert wgsindy("fit", "mine.csv", "--library", "poly1", "--out", "empty").code == 0
    assert Path("empty/model.json").exists()


def positive_data() -> Trajectories:
    logs = np.cumsum(0.005 + 0.03 * np.random.default_rng(0).normal(size=(8, 1000, 1)), axis=1)
    return Trajectories(list(np.exp(logs)), 0.01)


@pytest.mark.parametrize(
    "option", [("--log", "x"), ("--transform", "log_x = log(x)")], ids=["log", "transform"]
)
def test_a_logarithm_is_fitted_and_mapped_back(
    option: tuple[str, str], wgsindy: Command, without_pictures: None
) -> None:
    Path("price.csv").write_text(csv_text(positive_data()))
    content = json.loads(wgsindy("fit", "price.csv", "--library", "poly1", "--json", *option).out)
    fit, result = content["fitted"], content
    assert fit["changes"] == ["log_x = log(x)"]
    assert (fit["states"], result["states"]) == (["log_x"], ["x"])
    assert [c["term"] for c in fit["coefficients"]] == ["1", "1"]
    assert [c["term"] for c in result["coefficients"]] == ["x", "x**2"]
    m, s2 = (c["value"] for c in fit["coefficients"])
    drift, variance = (c["value"] for c in result["coefficients"])
    assert drift == pytest.approx(m + s2 / 2)
    assert variance == pytest.approx(s2)
    assert Generator.load("price-wgsindy/model.json").names == ("x",)
    assert Generator.load("price-wgsindy/fitted-model.json").names == ("log_x",)
    told = wgsindy("fit", "price.csv", "--library", "poly1", "--force", *option).out
    for model in (fit, result):
        for equation in model["equations"]:
            assert f"  {named_fields(equation, model['states'])}\n" in told


def test_the_report_is_given_unit_and_mapped_equations(
    wgsindy: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, Any] = {}

    def write_page(path: Path, fitted: Generator, *_: Any, **more: Any) -> list[str]:
        given.update(more, fitted=fitted)
        return []

    monkeypatch.setattr("wgsindy.report.write_report", write_page)
    Path("price.csv").write_text(csv_text(positive_data()))
    fit = ("fit", "price.csv", "--library", "poly1")
    assert wgsindy(*fit, "--log", "x", "--time-unit", "minutes").code == 0
    assert (given["fitted"].names, given["mapped"].names) == (("log_x",), ("x",))
    assert given["time_unit"] == "min"
    assert wgsindy(*fit, "--force", "--unit", "s", "--time-unit", "min").code == 0
    assert given["time_unit"] == "s"
    assert given["mapped"] is None
    assert wgsindy(*fit, "--force").code == 0
    assert given["time_unit"] == ""


def test_a_drift_that_was_not_found_is_not_passed_off_as_one(
    wgsindy: Command, without_pictures: None
) -> None:
    logs = np.cumsum(0.03 * np.random.default_rng(1).normal(size=(2, 500, 1)), axis=1)
    Path("price.csv").write_text(csv_text(Trajectories(list(np.exp(logs)), 0.01)))
    told = " ".join(wgsindy("fit", "price.csv", "--library", "poly1", "--log", "x").out.split())
    assert "no drift of log_x was identified, so the drift of x is only what Ito's" in told


def test_changes_of_two_states_are_undone_in_order(
    wgsindy: Command, without_pictures: None
) -> None:
    Path("mine.csv").write_text(csv_text(small_data()))
    changes = ["--transform", "u = exp(x)", "--transform", "v = asinh(y)", "--json"]
    content = json.loads(wgsindy("fit", "mine.csv", "--library", "poly1", *changes).out)
    assert content["fitted"]["states"] == ["u", "v"]
    assert content["states"] == ["x", "y"]
    model = Generator.load("mine-wgsindy/model.json")
    assert model.info["changes"] == ["u = exp(x)", "v = asinh(y)"]
    assert model.region is not None
    np.testing.assert_allclose(model.region.centre, small_data().states.mean(axis=0))


def test_thinning_is_that_of_the_trajectories(wgsindy: Command, without_pictures: None) -> None:
    Path("mine.csv").write_text(csv_text(small_data()))
    ended = wgsindy("fit", "mine.csv", "--library", "poly1", "--every", "5")
    assert "one sample in 5 kept; 1196 steps, mean step 0.1" in ended.out
    expected = fitted_poly1(read("mine.csv").data.thinned(5))
    assert Generator.load("mine-wgsindy/model.json").equations() == expected.equations()


def fitted_poly1(data: Trajectories) -> Generator:
    from wgsindy import WGSINDy

    return WGSINDy("poly1", "sharp").fit(data).generator_


def test_standard_input_and_columns_by_position(
    wgsindy: Command, without_pictures: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Pipe:
        buffer = io.BytesIO(csv_text(small_data()).encode())

    monkeypatch.setattr("sys.stdin", Pipe())
    options = ["--states", "3", "--time", "1", "--trajectory", "0", "--names", "height"]
    ended = wgsindy("fit", "-", "--library", "poly1", "--json", "--out", "piped", *options)
    assert json.loads(ended.out)["states"] == ["height"]
    assert json.loads(ended.out)["read"].startswith("standard input: 4 trajectories of height;")


def test_a_long_table_is_widened(wgsindy: Command, without_pictures: None) -> None:
    wide = [row.split(",") for row in csv_text(small_data(paths=2)).splitlines()[1:]]
    lines = [
        f"{i},{t},{name},{v}" for i, t, *row in wide for name, v in zip("xy", row, strict=True)
    ]
    Path("long.csv").write_text("\n".join(["trajectory,t,what,reading", *lines]))
    options = ["--variable", "what", "--value", "reading", "--states", "y,x"]
    content = json.loads(wgsindy("fit", "long.csv", "--library", "poly1", "--json", *options).out)
    assert content["states"] == ["y", "x"]
    assert "2 trajectories" in content["read"]


def test_a_warning_of_the_fit_is_told_once_and_by_name(
    wgsindy: Command, without_pictures: None
) -> None:
    states = small_data().states.copy().reshape(4, 1500, 2)
    states[0, 700, 0] += 20.0  # with 30, the fit runs away and says so
    Path("mine.csv").write_text(csv_text(Trajectories(list(states), 0.02)))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        read("mine.csv")
    assert OutlierWarning in [warning.category for warning in seen]
    ended = wgsindy("fit", "mine.csv", "--library", "poly1")
    assert ended.err == ""
    assert ended.out.count("\n  outlier: ") == 1
    assert "Warning" not in ended.out


def test_the_default_folder_is_named_after_the_data() -> None:
    names = {
        ("a/mydata.csv",): "mydata-wgsindy",
        ("mydata.csv.gz",): "mydata-wgsindy",
        ("runs/run*.txt",): "run-wgsindy",
        ("*.csv",): "data-wgsindy",
        ("-",): "data-wgsindy",
        ("cell_01.csv", "cell_12.csv"): "cell-wgsindy",
        ("trial7.csv",): "trial7-wgsindy",
    }
    assert {files: str(default_folder(files)) for files in names} == names


def test_options_are_read_as_they_are_meant() -> None:
    assert separated(["x, y", "z"]) == ["x", "y", "z"]
    assert [column(text) for text in ("2", "x")] == [2, "x"]
    assert as_library(["auto"]) == "auto"
    assert as_library(["poly2"]) == "poly2"
    joined = as_library(["poly1", "sin(x)"])
    assert not isinstance(joined, str)
    assert joined.bind(("x",)).terms == ("1", "x", "sin(x)")


def test_all_options_of_reading_can_be_said() -> None:
    names = {field.name for field in fields(ReadingOptions)}
    assert {name for name, *_ in READING} | {
        "log"
    } == names  # a logarithm is a change that is undone


def test_every_file_of_a_fit_may_be_replaced(wgsindy: Command) -> None:
    Path("mine.csv").write_text(csv_text(small_data(paths=2)))
    arguments = ["fit", "mine.csv", "--library", "poly1", "--transform", "u = exp(x)"]
    arguments += ["--quiet", "--figures"]
    assert wgsindy(*arguments).code == 0
    assert {item.name for item in Path("mine-wgsindy").iterdir()} == set(RESULT_FILES)
    refuse_occupied("mine-wgsindy", RESULT_FILES)


def test_simulated_paths_are_those_of_the_model(wgsindy: Command, without_pictures: None) -> None:
    Path("mine.csv").write_text(csv_text(small_data()))
    assert wgsindy("fit", "mine.csv", "--library", "poly1", "--quiet").code == 0
    arguments = ["simulate", "mine-wgsindy/model.json", "--dt", "0.02", "--steps", "30"]
    arguments += ["--trajectories", "2", "--start", "1,-0.5", "--seed", "7"]
    ended = wgsindy(*arguments)
    model = Generator.load("mine-wgsindy/model.json")
    paths = model.simulate([1, -0.5], dt=0.02, steps=30, trajectories=2, random_state=7)
    assert ended == (0, csv_text(paths), "")
    assert wgsindy(*arguments, "--out", "paths.csv").code == 0
    again = read("paths.csv").data
    np.testing.assert_array_equal(again.states, paths.states)
    np.testing.assert_allclose(again.steps(1), 0.02)
    assert wgsindy(*arguments, "--out", "paths.csv").code == 1
    assert wgsindy(*arguments, "--out", "paths.csv", "--force").code == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nowhere.json", "--dt", "1"], "there is no model file nowhere.json"),
        (["truth.json", "--dt", "1"], "does not know its data; pass --start"),
        (["truth.json", "--dt", "1", "--start", "1,2"], "a number for each of ['x']"),
        (["truth.json", "--dt", "1", "--start", "one"], "a number for each of ['x']"),
        (["truth.json", "--dt", "-1", "--start", "1"], "dt must be > 0"),
    ],
)
def test_a_simulation_that_makes_no_sense_gets_a_sentence(
    arguments: list[str], sentence: str, wgsindy: Command
) -> None:
    import sympy

    Generator.from_sympy(("x",), [-sympy.Symbol("x")], [[1]]).save("truth.json")
    ended = wgsindy("simulate", *arguments)
    assert (ended.code, ended.out) == (1, "")
    assert sentence in ended.sentence


def test_demo_writes_a_report_and_opens_it_if_asked(
    wgsindy: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def show(url: str) -> bool:
        opened.append(url)
        return True

    monkeypatch.setattr("webbrowser.open", show)
    ended = wgsindy("demo", "--open")
    assert (ended.code, ended.err) == (0, "")
    assert "Open demo-output/report.html in a browser." in ended.out
    assert opened == [Path("demo-output/report.html").absolute().as_uri()]
    model = Generator.load("demo-output/model.json")
    table = Path("demo-output/coefficients.csv").read_text().splitlines()
    assert len(table) == 1 + len(model.coefficients)
    assert "wgsindy demo" in Path("demo-output/report.html").read_text()


def test_the_bundled_data_can_be_had_as_a_file(wgsindy: Command) -> None:
    assert wgsindy("demo", "--csv", "demo.csv").code == 0
    assert wgsindy("demo", "--csv", "demo.csv").code == 0  # the same content harms nobody
    assert read("demo.csv").data.n_increments == 16_000
    assert not Path("demo-output").exists()
    Path("demo.csv").write_text("mine")
    assert "already exists" in wgsindy("demo", "--csv", "demo.csv").sentence
    assert Path("demo.csv").read_text() == "mine"


def test_more_threads_than_any_machine_has_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match=r"threads must be a whole number from 1 .*got 99999"):
        fit_file("no such file.csv", threads=99_999, out=tmp_path / "out")
