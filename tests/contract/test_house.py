"""The house rules that no linter knows: import order, no code from text, quiet."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import wgsindy

SOURCE = Path(wgsindy.__file__).parent

# A module imports only from rooms above its own.
ROOMS = (
    "errors",
    "arrays",
    "findings",
    "recordings",
    "runs",
    "trajectories",
    "shards",
    "streams",
    "files",
    "jets",
    "expressions",
    "polynomials",
    "libraries",
    "recipes",
    "engine",
    "stretches",
    "clusters",
    "survey",
    "density",
    "smoother",
    "tensor",
    "observation",
    "lasso",
    "selection",
    "weakform",
    "evidence",
    "workingmodel",
    "carried",
    "likelihood",
    "uncertainty",
    "equations",
    "beyond",
    "choice",
    "refit",
    "sharp",
    "simulate",
    "readouts",
    "symbolic",
    "formulas",
    "modelfile",
    "generator",
    "alternatives",
    "auto",
    "monotone",
    "changes",
    "diagnostics",
    "recovery",
    "fitting",
    "estimator",
    "metrics",
    "zoo",
    "demo",
    "baselines",
    "bench",
    "display",
    "cli",
)
# The root hands out public names down to the zoo: whoever imports it may reach all of them.
ROOT_REACHES = "zoo"
PICKLERS = {"pickle", "_pickle", "cPickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}


def modules() -> list[tuple[str, ast.Module]]:
    """Return every module but the root, by its dotted name below ``wgsindy``."""
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        name = ".".join(part for part in parts if part != "__init__")
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
            if root == "wgsindy" and rest != "__version__":
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
        if ROOMS.index(other) > place
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
    there = {name.split(".")[0] for name, _ in modules()}
    # These are being built; the others must not vanish from under the order.
    assert set(ROOMS) - there <= {"demo", "bench", "display", "cli"}
    assert len(there) > 20


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("tensor", "from wgsindy.generator import Generator"),
        ("tensor", "from wgsindy import generator"),
        ("tensor", "import wgsindy.generator as g"),
        ("tensor", "from .generator import Generator"),
        ("tensor", "from . import generator"),
        ("tensor", "def f() -> None:\n    from wgsindy.weakform import WeakForm"),
        ("tensor", "if TYPE_CHECKING:\n    from wgsindy.zoo.system import System"),
        ("tensor", "import wgsindy"),
        ("tensor", "from wgsindy import WGSINDy"),
        ("zoo.limits", "from wgsindy.baselines.oracle import fit_oracle"),
        ("zoo.limits", "from ..baselines import fit_oracle"),
        ("utils", "import numpy"),
    ],
)
def test_the_checker_sees_a_violation(name: str, code: str) -> None:
    assert len(violations(name, ast.parse(code))) == 1


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("generator", "from wgsindy import tensor, readouts"),
        ("zoo.limits", "from wgsindy.zoo.system import System"),
        ("zoo.limits", "from .system import System"),
        ("tensor", "from wgsindy import __version__"),
        ("tensor", "import numpy as np\nfrom numpy.linalg import eigh"),
        ("bench.table", "import wgsindy as wg"),
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
    # These two are modules on purpose.
    assert ast.literal_eval(run.stdout.decode()) == {"recipes", "zoo"}


def test_public_names_are_all_there() -> None:
    for name in wgsindy.__all__:
        assert getattr(wgsindy, name) is not None
    with pytest.raises(AttributeError, match=r"wgsindy.*'nothing'"):
        _ = wgsindy.nothing
