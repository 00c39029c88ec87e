"""Documents from stored lines: what is marked is replaced, nothing else, and the same each time."""

from __future__ import annotations

import os
import re
from pathlib import Path

import matplotlib
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from wgsindy.draw import SETTINGS, page_style
from wgsindy_evidence import documents
from wgsindy_evidence.campaign import Case, Line, Store
from wgsindy_evidence.cli import bench
from wgsindy_evidence.documents import (
    as_png,
    built_pages,
    differing,
    filled,
    lines_of,
    source_of,
    write_changed,
)
from wgsindy_evidence.errors import CampaignError
from wgsindy_evidence.experiments.paper.ladder import RUNGS
from wgsindy_evidence.grid import Grid
from wgsindy_evidence.pages import PAGES, Content
from wgsindy_evidence.registry import EXPERIMENTS
from wgsindy_evidence.scope import Scope

HERE = Path("some/page.md")
ROOT = Path(__file__).parents[2]


def block(name: str, inside: str = "") -> str:
    return f"<!-- begin {name} -->\n{inside}<!-- end {name} -->"


# --- places in a document ---


def test_only_what_is_marked_is_replaced() -> None:
    text = (
        "# Title\r\n\ntrailing  \n" + block("one", "old\n") + "\nbetween \\1 \\g<2>\n"
        "`<!-- begin x -->`\n" + block("a-b_2") + "\nno newline at the end"
    )
    found = filled(text, {"one": "| 1 |\n", "a-b_2": "x \\1\n\ny\n", "unused": "!"}, HERE)
    assert found == (
        "# Title\r\n\ntrailing  \n" + block("one", "| 1 |\n") + "\nbetween \\1 \\g<2>\n"
        "`<!-- begin x -->`\n" + block("a-b_2", "x \\1\n\ny\n") + "\nno newline at the end"
    )


def test_places_beside_each_other_do_not_run_together() -> None:
    text = block("a", "1\n") + block("b", "2\n") + block("a", "3\n")
    assert filled(text, {"a": "A\n", "b": "B\n"}, HERE) == (
        block("a", "A\n") + block("b", "B\n") + block("a", "A\n")
    )


def test_a_place_ends_at_its_own_mark() -> None:
    text = block("a", "1\n<!-- end b -->\n")
    assert filled(text, {"a": "A\n"}, HERE) == block("a", "A\n")


plain = st.text(st.characters(exclude_characters="<>"))


@given(plain, plain, plain, plain)
def test_filling_twice_is_filling_once(before: str, old: str, after: str, new: str) -> None:
    text = before + block("name", old) + after
    once = filled(text, {"name": new}, HERE)
    assert once == before + block("name", new) + after
    assert filled(once, {"name": new}, HERE) == once


def test_a_text_without_marks_is_left_as_it_is() -> None:
    text = "begin one\n<!-- end one -->\n<!-- begin one -->"
    assert filled(text, {"one": "!"}, HERE) == text


def test_an_unknown_name_is_refused_with_the_file_and_what_there_is() -> None:
    message = re.escape("some/page.md asks for 'ladr'; there is ['ladder', 'nulls'].")
    with pytest.raises(CampaignError, match=message):
        filled(block("ladr"), {"nulls": "", "ladder": ""}, HERE)


def test_every_place_in_the_documents_is_closed_and_made_by_some_page() -> None:
    texts = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    begun = {
        (path.name, name)
        for path in texts
        for name in re.findall(r"^<!-- begin ([\w-]+) -->$", path.read_text(), re.MULTILINE)
    }
    ended = {
        (path.name, name)
        for path in texts
        for name in re.findall(r"^<!-- end ([\w-]+) -->$", path.read_text(), re.MULTILINE)
    }
    assert begun == ended
    # Each page makes a source line; what else it makes, the pages' own tests build.
    sources = {name for _, name in begun if name.endswith("-source")}
    assert sources <= {f"{name}-source" for name in PAGES}


# --- lines ---


def line(case: Case, value: float = 0.0, code: str = "c1") -> Line:
    return Line(case, code, {"value": value}, None)


def test_missing_lines_are_refused_with_the_command_that_makes_them(tmp_path: Path) -> None:
    for name in ("ladder", "noise", "errata", "steps"):
        with pytest.raises(CampaignError) as caught:
            lines_of(name, tmp_path)
        assert f"no lines of experiment '{name}'" in str(caught.value)
        assert f"`wgsindy bench all --out {tmp_path}`" in str(caught.value)


@pytest.mark.parametrize("name", ["peers", "match"])
def test_missing_lines_of_rivals_are_refused_with_their_own_command(
    name: str, tmp_path: Path
) -> None:
    assert name not in EXPERIMENTS
    with pytest.raises(CampaignError, match=f"wgsindy bench {name}"):
        lines_of(name, tmp_path)


def test_the_command_of_the_sentence_exists() -> None:
    names = {command.name for command in bench.registered_commands}
    assert {"all", "report", "restamp", "compact", "peers", "match", "speed"} <= names


def test_the_latest_line_of_a_case_counts(tmp_path: Path) -> None:
    cases = EXPERIMENTS["ladder"].cases(Scope())[:3]
    store = Store(tmp_path / "fits.jsonl")
    for number, case in enumerate([cases[1], cases[0], cases[1]]):
        store.append(line(case, number, code=f"c{number}"))
    found = lines_of("ladder", tmp_path)
    # In the order of the cases, whatever code made them; the third has none.
    assert [(item.case, item.result) for item in found] == [
        (cases[0], {"value": 1}),
        (cases[1], {"value": 2}),
    ]
    store.append(Line(cases[0], "c9", None, "DataError: no."))
    assert lines_of("ladder", tmp_path)[0].error == "DataError: no."


def test_lines_of_other_experiments_in_the_same_file_do_not_count(tmp_path: Path) -> None:
    store = Store(tmp_path / "fits.jsonl")
    ladder, convergence = (set(EXPERIMENTS[name].cases(Scope())) for name in ("ladder", "nulls"))
    own = next(iter(ladder - convergence))
    store.append(line(own))
    assert [item.case for item in lines_of("ladder", tmp_path)] == [own]
    with pytest.raises(CampaignError):
        lines_of("nulls", tmp_path)
    # A look has other seeds and lengths; only whole experiments make documents.
    store.append(line(Case("fit", own.system, own.recipe, 1, own.trajectories)))
    assert len(lines_of("ladder", tmp_path)) == 1


def test_rivals_count_with_all_their_lines(tmp_path: Path) -> None:
    cases = [Case("peers", "rotational_ou", "sfi", seed) for seed in (8, 9)]
    for case in (*cases, cases[0]):
        Store(tmp_path / "peers.jsonl").append(line(case))
    assert [item.case for item in lines_of("peers", tmp_path)] == cases


def test_the_source_says_how_many_lines_of_which_code_and_seeds() -> None:
    cases = [Case("fit", "rotational_ou", "paper", seed) for seed in (4, 2, 9)]
    lines = [line(cases[0], code="1+b"), line(cases[1], code="1+a"), line(cases[2], code="1+b")]
    assert source_of(lines) == "3 cases, seeds 2 to 9, code `1+a`, `1+b`.\n"
    broken = [*lines[:2], Line(cases[2], "1+b", None, "DataError: no.")]
    assert source_of(iter(broken)) == ("3 cases, seeds 2 to 9, code `1+a`, `1+b`; 1 case failed.\n")


# --- pages to files ---


def drawing(width: float = 1.0) -> Figure:
    figure = Figure(figsize=(2, 1.5), layout="constrained")
    axes = figure.subplots()
    axes.plot([0, 1, 2], [0, width, 4], label="line")
    axes.set_xlabel("x")
    axes.legend()
    return figure


def invented_page(lines: list[Line]) -> Content:
    total = sum((item.result or {})["value"] for item in lines)
    grid = Grid("Title", ("a", "b"), [["sum", f"{total:g}"]])
    return Content({"ladder": grid, "extra": grid}, {"picture": drawing()}, {"words": "So it is."})


def stored(folder: Path) -> list[Case]:
    cases = EXPERIMENTS["ladder"].cases(Scope())[: len(RUNGS)]
    for number, case in enumerate(cases):
        Store(folder / "fits.jsonl").append(line(case, number))
    return cases


def test_pages_become_blocks_and_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "PAGES", {"ladder": invented_page})
    stored(tmp_path)
    blocks, files = built_pages(tmp_path, tmp_path / "images")
    assert blocks == {
        "ladder": "| a | b |\n|---|---:|\n| sum | 36 |\n",
        "extra": "| a | b |\n|---|---:|\n| sum | 36 |\n",
        "words-sentences": "So it is.\n",
        "ladder-source": "9 cases, seeds 1000 to 1000, code `c1`.\n",
    }
    assert list(files) == [tmp_path / "images" / "picture.png"]
    assert files[tmp_path / "images" / "picture.png"].startswith(b"\x89PNG")


def test_a_report_is_the_same_twice_and_changes_with_its_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "PAGES", {"ladder": invented_page})
    monkeypatch.setattr(documents, "built_datasheets", lambda results, folder: {})
    cases = stored(tmp_path)
    page, quiet = tmp_path / "page.md", tmp_path / "quiet.md"
    page.write_text("# É\n\n" + block("ladder") + "\n\nend")
    quiet.write_text("Nothing is measured here.")

    def report() -> dict[Path, bytes]:
        return documents.built(tmp_path, tmp_path / "docs", [page, quiet])

    image = tmp_path / "docs" / "images" / "picture.png"
    stamp = tmp_path / "docs" / "images" / documents.STAMP
    assert set(write_changed(report())) == {page, image, stamp}
    assert stamp.read_text() == f"drawn with matplotlib {matplotlib.__version__}\n"
    assert write_changed(report()) == []
    assert page.read_text().startswith("# É\n\n<!-- begin ladder -->\n| a | b |")
    assert quiet.read_text() == "Nothing is measured here."
    Store(tmp_path / "fits.jsonl").append(line(cases[0], 100.0))
    assert differing(report()) == [page]
    page.write_text(page.read_text() + block("nulls"))
    with pytest.raises(CampaignError, match=re.escape(f"{page} asks for 'nulls'")):
        report()


def test_a_picture_is_the_same_bytes_twice_and_says_no_version() -> None:
    # A figure that was drawn before is another one: its layout starts from where it was.
    first = as_png(drawing())
    assert as_png(drawing()) == first
    assert as_png(drawing(2.0)) != first
    assert b"Software" not in first
    assert b"atplotlib" not in first


def test_the_style_ends_with_its_context() -> None:
    before = {key: matplotlib.rcParams[key] for key in SETTINGS}
    with page_style():
        assert {key: matplotlib.rcParams[key] for key in SETTINGS} == SETTINGS
    assert {key: matplotlib.rcParams[key] for key in SETTINGS} == before != SETTINGS


# --- files ---


def test_only_what_differs_is_written(tmp_path: Path) -> None:
    same, other, new = tmp_path / "same", tmp_path / "other", tmp_path / "deep" / "er" / "new"
    same.write_bytes(b"1")
    other.write_bytes(b"2\r\n")
    os.utime(same, ns=(1, 1))
    files = {same: b"1", other: b"2\n", new: b"\x00\xff"}
    assert differing(files) == [other, new]
    assert not new.exists()  # to look is not to write
    assert write_changed(files) == [other, new]
    assert same.stat().st_mtime_ns == 1
    assert (other.read_bytes(), new.read_bytes()) == (b"2\n", b"\x00\xff")
    assert differing(files) == write_changed(files) == []
    assert [path.name for path in new.parent.iterdir()] == ["new"]  # nothing is left over
