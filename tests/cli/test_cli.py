"""The command line, as a user calls it."""

from __future__ import annotations

from pathlib import Path

import pytest

from wgsindy import Generator, cli
from wgsindy_evidence.campaign import Case, Line, Store
from wgsindy_evidence.cli.console import parse_seeds
from wgsindy_evidence.errors import CampaignError


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["wgsindy", *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return int(ended.value.code or 0)


def test_demo_prints_equations_beside_the_truth_and_writes_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "demo", "--out", str(tmp_path / "new")) == 0
    printed = capsys.readouterr().out
    assert "recovered" in printed
    assert "b2 = -x + 1.2*y - 1.2*x**2*y" in printed
    assert Generator.load(tmp_path / "new" / "model.json").names == ("x", "y")
    written = {"model.json", "fit.json", "coefficients.csv", "report.html"}
    assert {item.name for item in (tmp_path / "new").iterdir()} == written
    # As after any fit, its page can be drawn again.
    table, folder = str(tmp_path / "demo.csv"), str(tmp_path / "new")
    assert run(monkeypatch, "demo", "--csv", table) == 0
    assert run(monkeypatch, "report", folder, table, "--force") == 0


def test_zoo_lists_every_system(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from wgsindy import zoo

    assert run(monkeypatch, "zoo") == 0
    printed = capsys.readouterr().out
    # Narrow terminals fold long names.
    assert all(name[:12] in printed for name in zoo.names(variants=True))


def test_bench_table_resumes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["bench", "table", "--system", "bad_coverage", "--out", str(tmp_path)]
    assert run(monkeypatch, *arguments, "--seeds", "0:2") == 0
    assert run(monkeypatch, *arguments, "--seeds", "0:3") == 0
    assert "Bad coverage" in capsys.readouterr().out
    lines = (tmp_path / "table.jsonl").read_text().splitlines()
    assert len(lines) == 3  # the first two cases were not run again
    assert (tmp_path / "table-paper.md").read_text().startswith("| System |")


def test_bench_compact_keeps_one_line_a_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path / "fits.jsonl")
    case = Case("fit", "indep_ou", "sharp", 1)
    for value in (1.0, 2.0):
        store.append(Line(case, "code", {"drift": value}, None))
    assert run(monkeypatch, "bench", "compact", "--results", str(tmp_path)) == 0
    assert [line.result for line in store.lines()] == [{"drift": 2.0}]


def test_bench_report_without_lines_says_which_command_makes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "bench", "report", "--results", str(tmp_path)) == 1
    assert "wgsindy bench all" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["bench", "table", "--recipe", "nosuch"], "there is no recipe 'nosuch'"),
        (["bench", "table", "--system", "nosuch"], "there is no system 'nosuch'"),
        (["bench", "table", "--seeds", "5:2"], "seeds must be FIRST:LAST"),
        (["bench", "ladder", "--system", "sabr"], "is not part of this experiment"),
        (["demo", "--out", "/dev/null/x"], "Not a directory"),
    ],
)
def test_a_wrong_argument_gets_a_sentence_and_no_traceback(
    arguments: list[str],
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(monkeypatch, *arguments) == 1
    captured = capsys.readouterr()
    assert sentence in captured.err.replace("\n", " ")
    assert "Traceback" not in captured.err + captured.out


def test_seeds_are_read_as_a_range() -> None:
    assert list(parse_seeds("3:6")) == [3, 4, 5]
    for text in ("3", "a:b", "-1:2", "2:2", ""):
        with pytest.raises(CampaignError, match="FIRST:LAST"):
            parse_seeds(text)
