"""What the code computes, pinned: stored inputs, stored results, and what differs from them.

    python tests/golden/goldens.py            # compute everything again and print what differs
    python tests/golden/goldens.py --write    # the same, then store what was computed
    python tests/golden/goldens.py --exact    # bit for bit: where they were stored, by this machine
    python tests/golden/goldens.py duffing    # only this; any number of names, without the demo

Each file of ``systems/`` has short data of one system and, for each recipe and each way to read the
data (in memory, as a stream, with two threads), the whole model file and every fact of the
diagnostics. Every system of the zoo is there as the zoo samples it, mostly as an Euler chain, for
``paper`` and ``sharp-euler``; a few are there again as a continuous process, at other steps and
with noise on the samples, for ``sharp``. ``demo/`` has the model of the demo and fingerprints of
its files. Machines round sums differently, even those that have the same processor and libraries
by every name. So an array may differ by ``TOLERANCE`` of its largest number, or by ``ROOM`` times
what it differs by if the last bits of the data change: that was measured when it was stored, and is
below the tolerance for all but ill-conditioned fits. ``--exact`` is for a change that must not move
a bit: store before it, compare after it, on one machine.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import wgsindy as wg
from wgsindy.errors import WgsindyError
from wgsindy.model.simulate import EulerMaruyama

HERE = Path(__file__).parent
WAYS = ("memory", "stream", "threads")
TOLERANCE = 1e-12
LAST_BITS, PERTURBED = 2.0**-50, 3  # size and number of changes of the data
ROOM = 30.0
SEED, TRAJECTORIES, STEPS = 7, 6, 800  # more than one chunk of a pass
SUBSTEPS = 20  # of the simulation of a process that cannot be sampled exactly
DEMO_FILES = ("model.json", "coefficients.csv", "report.html", "overview.png", "fields.png")

Flat = dict[str, Any]  # numbers as arrays, everything else as text


class Golden(NamedTuple):
    """A system as it is sampled, and by what it is fitted; the step is its own unless given."""

    system: str
    recipes: tuple[str, ...] = ("paper", "sharp-euler")
    dt: float = 0.0
    noise: float = 0.0  # on every sample, as a share of its coordinate's standard deviation

    @property
    def name(self) -> str:
        """Name of the file."""
        return self.system if "sharp-euler" in self.recipes else f"{self.system}-process"


def process(system: str, dt: float, noise: float = 0.0) -> Golden:
    return Golden(system, ("sharp",), dt, noise)


PROCESSES = (
    process("rotational_ou", 0.01),  # fine and clean: the cheap way
    process("double_well_transverse", 0.2),
    process("diag_multiplicative", 0.1),
    process("cir_pair", 0.05),  # square roots: terms that have a domain
    process("van_der_pol", 0.02, 0.1),
    process("maier_stein", 0.05, 0.05),
)
GOLDENS = {
    golden.name: golden for golden in (*(Golden(name) for name in wg.zoo.names()), *PROCESSES)
}


def simulated(golden: Golden) -> Flat:
    """Short data of a system; single precision, so that the files stay small."""
    system = wg.zoo.get(golden.system)
    if golden.dt:
        system = replace(system, dt=golden.dt, scheme=_finely(system.scheme))
    steps = min(system.steps, STEPS)
    data = system.simulate(SEED, trajectories=TRAJECTORIES, steps=steps)
    noise = golden.noise * data.states.std(axis=0)
    rng = np.random.default_rng(SEED)
    paths = np.stack([path + noise * rng.standard_normal(path.shape) for path in data])
    library = system.library if isinstance(system.library, str) else list(system.library)
    return {
        "paths": paths.astype(np.float32),
        "dt": np.float64(system.dt),
        "library": json.dumps(library),
        "names": json.dumps(data.names),
    }


def _finely(scheme: Any) -> Any:
    return replace(scheme, substeps=SUBSTEPS) if isinstance(scheme, EulerMaruyama) else scheme


def results(inputs: Mapping[str, Any], recipes: Sequence[str], ways: Sequence[str] = WAYS) -> Flat:
    """Fit the data by every recipe in every way."""
    paths = inputs["paths"].astype(np.float64)
    dt, library = float(inputs["dt"]), json.loads(str(inputs["library"]))
    names = json.loads(str(inputs["names"]))
    found: Flat = {}
    for recipe in recipes:
        for way in ways:
            source = wg.stream if way == "stream" else wg.Trajectories
            data = source(list(paths), dt=dt, names=names)
            threads = 2 if way == "threads" else 1
            estimator = wg.WGSINDy(library=library, recipe=recipe, threads=threads)
            for key, value in _flat(_fit(estimator, data)):
                found[f"{recipe}/{way}/{key}"] = value
    return found


def _fit(estimator: wg.WGSINDy, data: Any) -> dict[str, Any]:
    """Return the content of the model file and the facts of the diagnostics, or the sentence."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            estimator.fit(data)
            facts = asdict(estimator.diagnostics_)
        except WgsindyError as error:
            return {"error": str(error)}
    facts["findings"] = [
        f"{finding[0]} {finding[1]} {finding[-1]}" for finding in estimator.diagnostics_.findings
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        estimator.generator_.save(path)
        model = json.loads(path.read_text())
    return {"model": model, "diagnostics": facts}


def _flat(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield numbers and lists of numbers as arrays, everything else as text, with their places."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flat(inner, f"{prefix}/{key}" if prefix else key)
        return
    if isinstance(value, list | tuple) and any(isinstance(inner, dict) for inner in value):
        yield from _flat({str(place): inner for place, inner in enumerate(value)}, prefix)
        return
    if isinstance(value, bool | str) or value is None:
        yield prefix, json.dumps(value)
        return
    try:
        yield prefix, np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        yield prefix, json.dumps(value)


def sensitivities(
    inputs: Mapping[str, Any], recipes: Sequence[str], found: Flat
) -> dict[str, float]:
    """By which share of its size each array changes if the last bits of the data do."""
    rng = np.random.default_rng(0)
    worst: dict[str, float] = {}
    for _ in range(PERTURBED):
        noise = 1.0 + LAST_BITS * rng.standard_normal(inputs["paths"].shape)
        paths = inputs["paths"].astype(np.float64) * noise
        near = results({**inputs, "paths": paths}, recipes, WAYS[:1])
        for key, value in near.items():
            share = _share(found[key], value) if isinstance(value, np.ndarray) else 0.0
            worst[key] = max(worst.get(key, 0.0), share)
    return {key: share for key, share in worst.items() if ROOM * share > TOLERANCE}


def path_of(name: str) -> Path:
    return HERE / "systems" / f"{name}.npz"


class Stored(NamedTuple):
    """Inputs, results, and how sensitive these are."""

    inputs: Flat
    found: Flat
    sensitive: dict[str, float]


def stored(name: str) -> Stored:
    """Read a file; a result equal to the one in memory is stored once."""
    with np.load(path_of(name), allow_pickle=False) as file:
        content = {key: _plain(file[key]) for key in file}
    inputs = {key[6:]: value for key, value in content.items() if key.startswith("input/")}
    found = {key: value for key, value in content.items() if not key.startswith("input/")}
    sensitive = json.loads(found.pop("sensitive"))
    for key in json.loads(found.pop("same")):
        found[key] = found[_in_memory(key)]
    return Stored(inputs, found, sensitive)


def _plain(value: Any) -> Any:
    return value if value.dtype.kind == "f" else str(value)


def store(golden: Golden, inputs: Flat, found: Flat) -> None:
    same = [
        key
        for key, value in found.items()
        if "/memory/" not in key and not _differ(found.get(_in_memory(key)), value, 0.0)
    ]
    arrays = {f"input/{key}": value for key, value in inputs.items()}
    arrays |= {key: value for key, value in found.items() if key not in same}
    sensitive = sensitivities(inputs, golden.recipes, found)
    arrays |= {"same": json.dumps(same), "sensitive": json.dumps(sensitive)}
    np.savez_compressed(path_of(golden.name), **arrays)


def _in_memory(key: str) -> str:
    recipe, _, rest = key.split("/", 2)
    return f"{recipe}/memory/{rest}"


def differences(old: Stored, new: Flat, *, exact: bool) -> list[str]:
    """Say what differs, a line each."""
    lines = [f"{key}: no longer there" for key in old.found.keys() - new.keys()]
    lines += [f"{key}: not there before" for key in new.keys() - old.found.keys()]
    for key in old.found.keys() & new.keys():
        room = max(TOLERANCE, ROOM * old.sensitive.get(_in_memory(key), 0.0))
        found = _differ(old.found[key], new[key], 0.0 if exact else room)
        if found:
            lines.append(f"{key}: {found}")
    return sorted(lines)


def _differ(old: Any, new: Any, room: float) -> str:
    if isinstance(old, str) or isinstance(new, str) or old is None:
        return "" if isinstance(old, str) and old == new else f"{old} -> {new}"
    if old.shape != new.shape:
        return f"shape {old.shape} -> {new.shape}"
    share = _share(old, new)
    return "" if share <= room else f"{share:.1e} of {_largest(old):.3g}"


def _largest(values: Any) -> float:
    return float(np.max(np.abs(values), initial=0.0, where=np.isfinite(values)))


def _share(old: Any, new: Any) -> float:
    """Largest difference over the largest number."""
    if old.shape != new.shape:
        return np.inf
    if np.array_equal(old, new, equal_nan=True):
        return 0.0
    if not np.array_equal(np.isfinite(old), np.isfinite(new)) or not _largest(old):
        return np.inf
    with np.errstate(invalid="ignore"):
        return float(np.nanmax(np.where(old == new, 0.0, np.abs(old - new)))) / _largest(old)


def demo_files() -> dict[str, bytes]:
    """Run the demo and return its files."""
    from typer.testing import CliRunner

    from wgsindy.cli import app

    with tempfile.TemporaryDirectory() as folder:
        result = CliRunner().invoke(app, ["demo", "--out", folder])
        assert result.exit_code == 0, result.output
        return {name: (Path(folder) / name).read_bytes() for name in DEMO_FILES}


def demo_fingerprints(files: Mapping[str, bytes]) -> dict[str, str]:
    return {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}


def demo_differences(files: Mapping[str, bytes], *, exact: bool) -> list[str]:
    """Say which numbers of the demo's model differ or, if ``exact``, which files by any byte."""
    folder = HERE / "demo"
    if exact:
        old = json.loads((folder / "sha256.json").read_text())
        new = demo_fingerprints(files)
        return [f"demo {name}: other bytes" for name in DEMO_FILES if old[name] != new[name]]
    model, now = (
        dict(_flat(json.loads(content), "demo/memory/model"))
        for content in ((folder / "model.json").read_bytes(), files["model.json"])
    )
    return differences(Stored({}, model, {}), now, exact=False)


def renewed(name: str, *, write: bool, exact: bool) -> list[str]:
    """Compute the results of a system again; say what differs, and store them if asked to."""
    golden = GOLDENS[name]
    if not path_of(name).exists():
        inputs = simulated(golden)
        if write:
            store(golden, inputs, results(inputs, golden.recipes))
        return [f"{name}: nothing was stored"]
    old = stored(name)
    new = results(old.inputs, golden.recipes)
    if write:
        store(golden, old.inputs, new)
    return [f"{name} {line}" for line in differences(old, new, exact=exact)]


def renewed_demo(*, write: bool, exact: bool) -> list[str]:
    """Run the demo again; say which files differ, and store them if asked to."""
    files = demo_files()
    lines = demo_differences(files, exact=exact)
    if write:
        write_demo(files)
    return lines


def write_demo(files: Mapping[str, bytes]) -> None:
    folder = HERE / "demo"
    folder.mkdir(exist_ok=True)
    (folder / "model.json").write_bytes(files["model.json"])
    (folder / "sha256.json").write_text(json.dumps(demo_fingerprints(files), indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="all unless given")
    parser.add_argument("--write", action="store_true", help="store what was computed")
    parser.add_argument("--exact", action="store_true", help="bit for bit")
    asked = parser.parse_args()
    if unknown := set(asked.names) - set(GOLDENS):
        parser.error(f"there is no golden {sorted(unknown)}; choose among {list(GOLDENS)}.")
    with ProcessPoolExecutor(2) as pool:
        names = asked.names or list(GOLDENS)
        found = pool.map(partial(renewed, write=asked.write, exact=asked.exact), names)
        lines = [line for some in found for line in some]
    if not asked.names:
        lines += renewed_demo(write=asked.write, exact=asked.exact)
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.write(
        f"{len(lines)} differences ({'bit for bit' if asked.exact else 'beyond rounding'}).\n"
    )
    sys.exit(bool(lines) and not asked.write)


if __name__ == "__main__":
    main()
