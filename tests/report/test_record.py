"""fit.json: what a report needs, kept bit for bit and never trusted blindly."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from wgsindy import WGSINDy
from wgsindy.diagnostics import Finding, Limitation
from wgsindy.errors import ModelFileError
from wgsindy.report import Record
from wgsindy.report.record import Plain
from wgsindy.zoo import demo_data


@pytest.fixture(scope="module")
def record() -> Record:
    diagnostics = WGSINDy("poly2").fit(demo_data()).diagnostics_
    found = Finding(Limitation.NOISE, ("a11",), "Ein ß, a <b>.", "Do that.", handled=True)
    odd = replace(
        diagnostics, horizon=float("inf"), noiseless=("y",), findings=(found, *diagnostics.findings)
    )
    reading: dict[str, Plain] = {"states": ["x", "y"], "dt": 0.01, "time": None}
    return Record(odd, "Title", "wgsindy fit", ("A note.",), "s", ("u = log(x)",), 2, reading)


def test_what_is_written_is_read_back(record: Record, tmp_path: Path) -> None:
    path = tmp_path / "fit.json"
    path.write_text(record.text())
    assert Record.load(path) == record
    assert "Infinity" not in record.text()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("format", "other"),
        ("version", 99),
        ("title", 7),
        ("diagnostics", {}),
        ("notes", [1]),
        ("reading", []),
    ],
)
def test_a_damaged_file_gets_a_sentence(
    record: Record, tmp_path: Path, key: str, value: object
) -> None:
    path = tmp_path / "fit.json"
    path.write_text(json.dumps(json.loads(record.text()) | {key: value}))
    with pytest.raises(ModelFileError, match="does not say how its fit was made"):
        Record.load(path)


def test_a_verdict_that_nobody_gives_is_refused(record: Record, tmp_path: Path) -> None:
    content = json.loads(record.text())
    content["diagnostics"]["verdict"] = "perfect"
    (tmp_path / "fit.json").write_text(json.dumps(content))
    with pytest.raises(ModelFileError, match="'perfect'"):
        Record.load(tmp_path / "fit.json")
