"""The house rules that no linter knows: import order, no code from text, quiet."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import wgsindy

SOURCE = Path(wgsindy.__file__).parent
ROOT = Path(__file__).parents[2]

# A module imports only from its own room and from rooms above it.
ROOMS = (
    "errors",
    "data",
    "files",
    "passes",
    "terms",
    "model",
    "draw",
    "readouts",
    "recipes",
    "estimate",
    "diagnostics",
    "zoo",
    "report",
    "workflow",
    "estimator",
    "cli",
)
# What a generator tells is asked of the generator, and loaded when it is; so are its pictures.
DOORS = {
    ("model.generator", "readouts"),
    ("model.generator", "draw"),
    ("model.simulation", "draw"),
    ("model.display", "draw"),
}
# The root hands out public names: whoever imports it may reach all of them.
ROOT_REACHES = "estimator"
PICKLERS = {"pickle", "_pickle", "cPickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}


@cache
def modules() -> list[tuple[str, ast.Module]]:
    """Return every module but the root, by its dotted name below ``wgsindy``."""
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        name = ".".join(part for part in parts if part not in ("__init__", "__main__"))
        if name:
            found.append((name, ast.parse(path.read_text(encoding="utf-8"), str(path))))
    return found


def imported_rooms(name: str, tree: ast.Module) -> Iterator[str]:
    """Yield the room of each import of the package, wherever in the module it stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                # Relative to the package of this module; which of them does not matter for rooms
                # as long as it is the room itself or the root.
                above = ["wgsindy", *name.split(".")][: -node.level]
                base = ".".join([*above, *([base] if base else [])])
            targets = [base] if base != "wgsindy" else [f"{base}.{a.name}" for a in node.names]
        else:
            continue
        for target in targets:
            root, _, rest = target.partition(".")
            if root == "wgsindy_evidence":
                yield root
            elif root == "wgsindy" and rest != "__version__":
                room = rest.split(".")[0]
                yield room if room in ROOMS else ROOT_REACHES


def violations(name: str, tree: ast.Module) -> list[str]:
    room = name.split(".")[0]
    if room not in ROOMS:
        return [f"{name} is in no known room; give it a place in the order"]
    place = ROOMS.index(room)
    return [
        f"{name} imports from {other}, which is below it"
        for other in imported_rooms(name, tree)
        if (name, other) not in DOORS and (other not in ROOMS or ROOMS.index(other) > place)
    ]


def forbidden_calls(tree: ast.Module) -> list[str]:
    """Name every way by which text or bytes could become running code."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in ("eval", "exec", "__import__"):
            found.append(node.id)
        elif isinstance(node, ast.Attribute) and ast.unparse(node) in (
            "builtins.eval",
            "builtins.exec",
        ):
            found.append(ast.unparse(node))
        elif isinstance(node, ast.Import):
            found += [a.name for a in node.names if a.name.split(".")[0] in PICKLERS]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [node.module] if node.module.split(".")[0] in PICKLERS else []
        elif isinstance(node, ast.keyword) and node.arg == "allow_pickle":
            found += ["allow_pickle"] if ast.unparse(node.value) != "False" else []
    return found


def prints(tree: ast.Module) -> bool:
    return any(isinstance(node, ast.Name) and node.id == "print" for node in ast.walk(tree))


def test_every_module_imports_only_from_rooms_above_it() -> None:
    assert [line for name, tree in modules() for line in violations(name, tree)] == []


def test_the_rooms_of_the_order_exist() -> None:
    assert {name.split(".")[0] for name, _ in modules()} == set(ROOMS)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("terms.basis", "from wgsindy.model.generator import Generator"),
        ("terms.basis", "from wgsindy import model"),
        ("terms.basis", "import wgsindy.model.generator as g"),
        ("terms.basis", "from ..model.generator import Generator"),
        ("recipes", "from . import estimate"),
        (
            "terms.basis",
            "def f() -> None:\n    from wgsindy.estimate.weak_form.weak_rows import WeakForm",
        ),
        ("terms.basis", "if TYPE_CHECKING:\n    from wgsindy.zoo.systems import System"),
        ("terms.basis", "import wgsindy"),
        ("model.tensor", "from wgsindy.readouts.chain import Grid"),
        ("terms.basis", "from wgsindy import WGSINDy"),
        ("zoo.systems", "from wgsindy_evidence.baselines.oracle import fit_oracle"),
        ("zoo.systems", "from ..report import write_report"),
        ("utils", "import numpy"),
    ],
)
def test_the_checker_sees_a_violation(name: str, code: str) -> None:
    assert len(violations(name, ast.parse(code))) == 1


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("model.generator", "from wgsindy import terms, errors"),
        ("model.generator", "from wgsindy.readouts.readouts import Readouts"),
        ("zoo.systems", "from wgsindy.zoo.systems import System"),
        ("zoo.systems", "from .systems import System"),
        ("terms.basis", "from wgsindy import __version__"),
        ("terms.basis", "import numpy as np\nfrom numpy.linalg import eigh"),
        ("cli.fit", "import wgsindy as wg"),
    ],
)
def test_the_checker_lets_good_imports_pass(name: str, code: str) -> None:
    assert violations(name, ast.parse(code)) == []


def test_text_never_becomes_code() -> None:
    root = ast.parse((SOURCE / "__init__.py").read_text(encoding="utf-8"))
    found = {name: forbidden_calls(tree) for name, tree in [*modules(), ("wgsindy", root)]}
    assert {name: calls for name, calls in found.items() if calls} == {}


@pytest.mark.parametrize(
    "code",
    [
        "eval('1')",
        "run = exec",
        "import builtins\nbuiltins.eval('1')",
        "import pickle",
        "from joblib import load",
        "np.load('f', allow_pickle=True)",
        "__import__('os')",
    ],
)
def test_the_checker_sees_text_that_becomes_code(code: str) -> None:
    assert len(forbidden_calls(ast.parse(code))) == 1


def test_words_about_evaluation_are_not_code() -> None:
    assert (
        forbidden_calls(ast.parse("'''no eval(x) here'''\nnp.load('f', allow_pickle=False)")) == []
    )


def test_only_the_command_line_prints() -> None:
    assert [name for name, tree in modules() if prints(tree) and name.split(".")[0] != "cli"] == []
    assert prints(ast.parse("def f() -> None:\n    print('seen')"))


def test_public_functions_are_not_hidden_by_modules_of_their_name() -> None:
    code = (
        "import wgsindy as wg, pkgutil; wg.zoo.get('duffing'); wg.WGSINDy; "
        "print({m.name for m in pkgutil.iter_modules(wg.__path__)} & set(wg.__all__))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=60)
    # These are modules on purpose.
    assert ast.literal_eval(run.stdout.decode()) == {"diagnostics", "errors", "recipes", "zoo"}


def test_public_names_are_all_there() -> None:
    for name in wgsindy.__all__:
        assert getattr(wgsindy, name) is not None
    with pytest.raises(AttributeError, match=r"wgsindy.*'nothing'"):
        _ = wgsindy.nothing


def test_every_place_that_is_left_out_of_quick_tests_exists() -> None:
    text = (ROOT / "conftest.py").read_text(encoding="utf-8")
    places = re.findall(r'^    "([\w/.]+)",$', text, re.MULTILINE)
    assert len(places) > 20
    assert [place for place in places if not (ROOT / place).exists()] == []


@pytest.mark.parametrize(
    ("asked", "place", "unread"),
    [
        ("not slow and not long", "tests/zoo/test_demo.py", True),
        ("not slow and not long", "tests/golden/test_goldens.py", True),
        ("not slow and not long", "tests/house/test_house.py", False),
        ("not long", "tests/zoo/test_demo.py", False),
        ("not long", "tests/golden/test_goldens.py", True),
        ("long", "tests/golden/test_goldens.py", False),
        ("long", "tests/house/test_house.py", True),
        ("long", "tests", False),  # long ones are in it
        ("slow", "tests/house/test_house.py", False),  # a single test may be slow
        ("", "tests/golden/test_goldens.py", False),
    ],
)
def test_only_what_is_left_out_is_not_read(
    asked: str, place: str, unread: bool, pytestconfig: pytest.Config
) -> None:
    chosen: Any = pytestconfig.pluginmanager.get_plugin(str(ROOT / "conftest.py"))
    config = SimpleNamespace(option=SimpleNamespace(markexpr=asked))
    assert bool(chosen.pytest_ignore_collect(ROOT / place, config)) is unread
