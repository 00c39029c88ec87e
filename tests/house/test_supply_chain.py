"""What is installed is locked, listed and licensed; what is allowed at least is what is tested."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from wgsindy_evidence.trust import CHECKS

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
REQUIREMENTS = ROOT / "requirements"


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def bounds(given: list[str]) -> dict[str, str]:
    """Lower bounds by name; a name without one is refused."""
    pairs = [re.fullmatch(r"([\w.-]+)(?:\[.*\])?>=([\d.]+)", text) for text in given]
    assert all(pairs), given
    return {plain(pair[1]): pair[2] for pair in pairs if pair}


def pinned(name: str) -> dict[str, set[str]]:
    text = (REQUIREMENTS / name).read_text(encoding="utf-8")
    found: dict[str, set[str]] = {}
    for package, version in re.findall(r"^([\w.-]+)==([\w.]+)", text, re.MULTILINE):
        found.setdefault(plain(package), set()).add(version)
    return found


RUNTIME = bounds(PROJECT["project"]["dependencies"])
DEVELOPMENT = bounds(PROJECT["dependency-groups"]["dev"])


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


@pytest.mark.parametrize("name", sorted({**RUNTIME, **DEVELOPMENT}))
def test_every_dependency_is_locked_at_a_version_that_is_allowed(name: str) -> None:
    least = {**DEVELOPMENT, **RUNTIME}[name]
    assert pinned("locked.txt")[name]
    assert all(numbers(version) >= numbers(least) for version in pinned("locked.txt")[name])


def test_every_locked_version_has_hashes_and_no_address_is_written() -> None:
    for name in ("locked.txt", "runtime.txt", "data.txt"):
        text = (REQUIREMENTS / name).read_text(encoding="utf-8")
        entries = re.split(r"\n(?=[\w.-]+==)", text.strip())
        assert all("--hash=sha256:" in entry for entry in entries)
        assert len(entries) >= 1
    for path in REQUIREMENTS.iterdir():
        assert not re.search(r"https?:|index|@ ", path.read_text(encoding="utf-8"))


def test_a_demo_gets_the_versions_that_are_tested() -> None:
    locked = pinned("locked.txt")
    assert all(versions <= locked[name] for name, versions in pinned("runtime.txt").items())
    assert set(RUNTIME) <= set(pinned("runtime.txt"))


@pytest.mark.parametrize("name", sorted(RUNTIME))
def test_the_lowest_version_that_is_allowed_is_the_one_that_is_tested(name: str) -> None:
    tested = {numbers(version) for version in pinned("lowest.txt")[name]}
    least = numbers(RUNTIME[name])
    assert {version[: len(least)] for version in tested} == {least}


@pytest.mark.parametrize("name", sorted(RUNTIME))
def test_every_dependency_has_a_licence_that_lets_anybody_use_it(name: str) -> None:
    rows = (REQUIREMENTS / "licences.md").read_text(encoding="utf-8").splitlines()[2:]
    listed = {plain(row.split("|")[1].strip()): row.split("|")[2].strip() for row in rows}
    assert listed[name]
    assert not any(re.search(r"\bA?GPL|UNKNOWN", licence) for licence in listed.values())


def test_classifiers_name_the_oldest_python_that_is_allowed_and_those_that_are_tried() -> None:
    oldest = PROJECT["project"]["requires-python"].removeprefix(">=")
    tried = [check.kind.removeprefix("Python ") for check in CHECKS if "Python 3" in check.kind]
    for version in (oldest, *tried):
        assert f"Programming Language :: Python :: {version}" in PROJECT["project"]["classifiers"]


@pytest.mark.parametrize("spoilt", [False, True])
def test_a_package_whose_hash_is_another_is_not_installed(spoilt: bool, tmp_path: Path) -> None:
    wheel = tmp_path / "toy-1.0-py3-none-any.whl"
    about = {
        "METADATA": "Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n",
        "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "RECORD": "",
    }
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("toy.py", "")
        for name, text in about.items():
            archive.writestr(f"toy-1.0.dist-info/{name}", text)
    digest = hashlib.sha256(wheel.read_bytes() + b"!" * spoilt).hexdigest()
    (tmp_path / "locked.txt").write_text(f"toy==1.0 --hash=sha256:{digest}\n")
    pip = [sys.executable, "-m", "pip", "install", "--require-hashes", "--no-index"]
    places = ["--find-links", str(tmp_path), "--target", str(tmp_path / "site")]
    command = [*pip, *places, "-r", str(tmp_path / "locked.txt")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ("DO NOT MATCH THE HASHES" in ended.stderr) == spoilt
    assert (tmp_path / "site" / "toy.py").exists() != spoilt
