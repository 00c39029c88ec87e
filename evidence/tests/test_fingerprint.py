"""The fingerprint: words and places do not change it, whatever can change a figure does."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

import wgsindy
import wgsindy_evidence
from wgsindy_evidence.experiments import fits
from wgsindy_evidence.experiments.ours import calibration, steps
from wgsindy_evidence.experiments.paper import table
from wgsindy_evidence.fingerprint import (
    COMPUTING,
    MEASURING,
    code_version,
    fingerprint,
    imported,
    modules_of,
    statement_digests,
)
from wgsindy_evidence.peers import comparison

EVIDENCE = Path(wgsindy_evidence.__file__).parent
SOURCE = '''"""What it is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from somewhere import Something

SLACK = 0.5  # why so much


class Field:
    """A field."""

    name: str = "b"


def halved(value: float) -> float:
    """Half of it."""
    # less is enough
    import math

    return SLACK * math.fabs(value) if value else np.float64(0)
'''


def of(folder: Path, source: str, name: str = "module") -> str:
    path = folder / f"{name}.py"
    path.write_text(source)
    return fingerprint([path])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# why so much", "# for another reason"),
        ("# less is enough", "# less\n    # is enough"),
        ('"""What it is about."""', '"""Something else."""\n\n__all__ = ["Field"]\n'),
        ('    """Half of it."""\n', ""),
        ('    """A field."""\n', '    """A field of one name."""\n\n    # of text\n'),
        ("import numpy as np\n", "import numpy as np\nimport scipy\n"),
        ("    import math\n", "    import json\n    import math\n"),
        ("if TYPE_CHECKING:\n    from somewhere import Something\n", ""),
        ("SLACK = 0.5", "SLACK=(0.5)"),
        ("0.5  # why so much\n\n\nclass", "0.5  # why so much\nclass"),
    ],
)
def test_words_imports_and_layout_do_not_count(old: str, new: str, tmp_path: Path) -> None:
    assert old in SOURCE
    assert of(tmp_path, SOURCE.replace(old, new)) == of(tmp_path, SOURCE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SLACK = 0.5", "SLACK = 0.25"),
        ("SLACK = 0.5", "SLACK = 1"),
        ("SLACK = 0.5", "SLACK = True"),
        ('name: str = "b"', 'name: str = "a"'),
        ("SLACK * math.fabs(value)", "math.fabs(value) * SLACK"),
        ("if value else np.float64(0)", "if value else np.float64(None)"),
        ("np.float64(0)", "np.float64(0, 0)"),
        ("math.fabs(value)", "math.sqrt(value)"),
        ("    return", "    if value:\n        pass\n    return"),
    ],
)
def test_whatever_can_change_a_figure_counts(old: str, new: str, tmp_path: Path) -> None:
    assert old in SOURCE
    assert of(tmp_path, SOURCE.replace(old, new)) != of(tmp_path, SOURCE)


def test_one_and_true_are_not_the_same_constant(tmp_path: Path) -> None:
    assert of(tmp_path, "A = 1") != of(tmp_path, "A = True")
    assert of(tmp_path, "A = 1") != of(tmp_path, "A = 1.0")
    assert of(tmp_path, "A = 'None'") != of(tmp_path, "A = None")


def test_a_statement_may_live_anywhere(tmp_path: Path) -> None:
    head, _, tail = SOURCE.partition("def halved")
    whole = of(tmp_path, SOURCE)
    (tmp_path / "room").mkdir()
    for name, text in (("room/field.py", head), ("halves.py", f"def halved{tail}")):
        (tmp_path / name).write_text(text)
    assert fingerprint([tmp_path / "halves.py", tmp_path / "room" / "field.py"]) == whole
    assert fingerprint([tmp_path / "room" / "field.py"]) != whole
    assert of(tmp_path, SOURCE, "another_name") == whole


def test_the_same_statement_twice_is_not_the_same_as_once(tmp_path: Path) -> None:
    assert of(tmp_path, "values.append(1)\nvalues.append(1)") != of(tmp_path, "values.append(1)")


def test_a_table_counts_by_its_values(tmp_path: Path) -> None:
    texts = ("[a]\nx = 1.0\n", "# the first\n[a]\nx = 1.00", "[a]\nx = 1.5\n")
    paths = [tmp_path / f"{number}.toml" for number in range(3)]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    first, commented, changed = (fingerprint([path]) for path in paths)
    assert first == commented != changed


def test_rooms_that_only_read_or_show_are_left_out() -> None:
    package = Path(wgsindy.__file__).parent
    rooms = {path.relative_to(package).with_suffix("").parts[0] for path in package.rglob("*.py")}
    assert set(COMPUTING) <= rooms
    assert {"files", "report", "cli", "errors"}.isdisjoint(COMPUTING)
    taken = {path.relative_to(package).as_posix() for path in modules_of(package, COMPUTING)}
    assert {"recipes.py", "estimator.py", "zoo/systems.py", "zoo/systems.toml"} <= taken
    assert not any(name.startswith(("report", "cli", "files", "errors")) for name in taken)


def names(function: Callable[..., object]) -> set[str]:
    found = imported(function.__module__, EVIDENCE)
    return {path.relative_to(EVIDENCE).as_posix() for path in found}


def test_an_experiment_depends_on_what_it_imports() -> None:
    own = names(table.run_case)
    assert {"experiments/paper/table.py", "experiments/fits.py", "recipes.py"} <= own
    assert "baselines/gedmd.py" in own  # by way of fits, which imports all baselines
    assert "experiments/ours/calibration.py" not in own
    assert names(steps.run_case) == {"experiments/ours/steps.py", "recipes.py"}
    # The adapters are started as scripts, and imported as a package only.
    assert "peers/workers/with_sfi.py" in names(comparison.run_case)
    for work in (table.run_case, calibration.run_case, fits.run_case, comparison.run_case):
        assert {re.split(r"[/.]", name)[0] for name in names(work)} <= set(MEASURING)


def test_code_is_known_by_what_does_the_work() -> None:
    assert code_version(table.run_case) == code_version(table.run_case)
    assert code_version(table.run_case) != code_version(calibration.run_case)
    assert code_version(partial(table.run_case)) == code_version(table.run_case)
    release, plus, digest = code_version(names).partition("+")  # not of the evidence
    assert (release, plus, len(digest)) == (wgsindy.__version__, "+", 12)
    assert imported(__name__, EVIDENCE) == []


def test_an_empty_module_has_no_statements() -> None:
    assert statement_digests(b'"""Only words."""\nfrom math import pi\n') == ()
