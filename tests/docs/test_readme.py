"""The README's own example: its commands and its code print what it shows."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_examples import differences
from test_snippets import ROOT

from wgsindy.zoo import demo_text

README = (ROOT / "README.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"```text\n(.*?)```", README, re.DOTALL)


def run(*command: str, folder: Path) -> str:
    (folder / "mydata.csv").write_text(demo_text())
    done = subprocess.run(
        [sys.executable, "-W", "error", *command],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_example_in_python_prints_what_the_readme_shows(tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    printed = run("-c", code, folder=tmp_path)
    assert not differences(printed, SHOWN[1]), printed
    assert (tmp_path / "model.json").exists()
    assert "</html>" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_the_command_prints_what_the_readme_shows(tmp_path: Path) -> None:
    command = "import sys; from wgsindy.cli import main; sys.argv[0] = 'wgsindy'; main()"
    printed = run("-c", command, "fit", "mydata.csv", folder=tmp_path).splitlines()
    first = printed.index(SHOWN[0].splitlines()[0])
    part = "\n".join(printed[first : first + len(SHOWN[0].splitlines())]) + "\n"
    assert not differences(part, SHOWN[0]), part


def test_a_figure_that_the_readme_does_not_show_would_be_found() -> None:
    wrong = SHOWN[1].replace("1.005 ±", "0.987 ±")
    assert wrong != SHOWN[1]
    assert differences(wrong, SHOWN[1])


@pytest.mark.parametrize("word", ["pip install .", "Scripts\\activate", "python3 -m venv"])
def test_it_says_how_to_get_the_command_before_it_is_used_on_own_data(word: str) -> None:
    assert README.index(word) < README.index("## Your own data")
    assert README.index("docs/images/report.png") < README.index("## Install")
