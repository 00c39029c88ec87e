"""The bundled data and the README's promises."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from wgsindy import zoo
from wgsindy.errors import DataError
from wgsindy.files import read_csv, write_atomically
from wgsindy.zoo.demo import DEMO_SYSTEM, demo_data, write_demo_file

ROOT = Path(__file__).parents[2]


def test_the_bundled_file_is_what_the_simulator_writes(tmp_path: Path) -> None:
    write_demo_file(tmp_path / "demo.csv")
    assert (tmp_path / "demo.csv").read_bytes() == (ROOT / "src/wgsindy/demo.csv").read_bytes()


def test_the_bundled_data_are_the_declared_system() -> None:
    data, system = demo_data(), zoo.get(DEMO_SYSTEM)
    assert (len(data), data.n_increments, data.names) == (16, 16_000, ("x", "y"))
    assert data.mean_dt == pytest.approx(system.dt)
    np.testing.assert_allclose(data[3][0], system.start)


def test_the_readme_snippet_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    snippet = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert snippet is not None
    exec(compile(snippet.group(1), "README.md", "exec"), {})
    assert "b1 = " in capsys.readouterr().out
    assert (tmp_path / "model.json").exists()


def test_a_csv_without_the_column_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("t,x\n0,1\n1,2\n2,4\n")
    assert len(read_csv(path, states=["x"], time="t")[0]) == 3
    with pytest.raises(DataError, match=r"no column 'y'; its columns are \['t', 'x'\]"):
        read_csv(path, states=["y"], time="t")
    path.write_text("t,x\n0,1\n1,oops\n")
    with pytest.raises(DataError, match="not a table of numbers"):
        read_csv(path, states=["x"], time="t")


def test_a_file_that_is_no_table_is_refused_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nowhere\.csv cannot be read: No such file"):
        read_csv(tmp_path / "nowhere.csv", states=["x"], time="t")
    with pytest.raises(DataError, match=r"overview.png is not a table of numbers"):
        read_csv(ROOT / "docs/images/overview.png", states=["x"], time="t")


def test_atomic_writing_keeps_the_old_file_if_the_new_one_fails(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write_atomically(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(path, "\ud800")
    assert path.read_text() == "old"
    assert [item.name for item in tmp_path.iterdir()] == ["a.txt"]
