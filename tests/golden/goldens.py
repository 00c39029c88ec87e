"""What the code computes, pinned: stored inputs, stored results, and what differs from them.

    python tests/golden/goldens.py            # compute everything again and print what differs
    python tests/golden/goldens.py --write    # the same, then store what was computed
    python tests/golden/goldens.py --exact    # bit for bit: where they were stored, by this machine
    python tests/golden/goldens.py duffing    # only this; any number of names, without the demo

Each file of ``systems/`` has short data of one system and, for each recipe and each way to read the
data (in memory, as a stream, with two threads), the whole model file and every fact of the
diagnostics. Every system of the zoo is there as the zoo samples it, mostly as an Euler chain, for
``paper`` and ``sharp-euler``; a few are there again as a continuous process, at other steps and
with noise on the samples, for ``sharp``. :mod:`recordings` has data as sensors give them: there,
what is read off a fit and the numbers inside of it are stored as well. Of a file that was deleted,
``--write`` makes the data anew. ``demo/`` has the model of the demo and fingerprints of its files.

Machines round sums differently, even those that have the same processor and libraries
by every name. So an array may differ by ``TOLERANCE`` of its largest number, or by ``ROOM`` times
what it differs by if the last bits of the data change: that was measured when it was stored, and is
below the tolerance for all but ill-conditioned fits. ``--exact`` is for a change that must not move
a bit: store before it, compare after it, on one machine.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
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
from inner_numbers import inner_numbers
from recordings import RECORDINGS, Recording, numbers_of, readings

import wgsindy as wg
from wgsindy.errors import WgsindyError
from wgsindy.model import EulerMaruyama

HERE = Path(__file__).parent
WAYS = ("memory", "stream", "threads")
TOLERANCE = 1e-12
LAST_BITS, PERTURBED = 2.0**-50, 3  # size and number of changes of the data
ROOM = 30.0
SEED, TRAJECTORIES, STEPS = 7, 6, 800  # more than one chunk of a pass
SUBSTEPS = 20  # of the simulation of a process that cannot be sampled exactly
DEMO_FILES = ("model.json", "coefficients.csv", "report.html")

Flat = dict[str, Any]  # numbers as arrays, everything else as text


class Golden(NamedTuple):
    """A system as it is sampled, and by what it is fitted; the step is its own unless given."""

    system: str
    recipes: tuple[str, ...] = ("paper", "sharp-euler")
    dt: float = 0.0
    noise: float = 0.0  # on every sample, as a share of its coordinate's standard deviation
    ways: tuple[str, ...] = WAYS

    @property
    def name(self) -> str:
        """Name of the file."""
        return self.system if "sharp-euler" in self.recipes else f"{self.system}-process"

    def inputs(self) -> Flat:
        """Short data; single precision, so that the files stay small."""
        system = wg.zoo.get(self.system)
        if self.dt:
            system = replace(system, dt=self.dt, scheme=_finely(system.scheme))
        steps = min(system.steps, STEPS)
        data = system.simulate(SEED, trajectories=TRAJECTORIES, steps=steps)
        noise = self.noise * data.states.std(axis=0)
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
EVERY: tuple[Golden | Recording, ...] = (
    *(Golden(name) for name in wg.zoo.names()),
    *PROCESSES,
    *RECORDINGS,
)
GOLDENS = {golden.name: golden for golden in EVERY}


def results(
    inputs: Mapping[str, Any], golden: Golden | Recording, ways: Sequence[str] = ()
) -> Flat:
    """Fit the data by every recipe in every way."""
    options = json.loads(str(inputs.get("options", "{}")))
    library, found = json.loads(str(inputs["library"])), {}
    for recipe in map(wg.recipes.get, golden.recipes):
        for way in ways or golden.ways:
            estimator = wg.WGSINDy(library, recipe, threads=2 if way == "threads" else 1)
            estimator.set_params(order=options.get("order", 1))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                data = _data(inputs, way, options.get("driving", ()))
                fitted = _fit(estimator, data, options.get("change"))
            for key, value in _flat(fitted):
                found[f"{recipe.name}/{way}/{key}"] = value
    return found


def _data(inputs: Mapping[str, Any], way: str, driving: Sequence[str]) -> Any:
    paths, names = list(inputs["paths"].astype(np.float64)), json.loads(str(inputs["names"]))
    if way == "stream":
        return wg.stream(paths, dt=float(inputs["dt"]), names=names)
    times = [inputs["times"]] * len(paths) if "times" in inputs else None
    dt = float(inputs["dt"]) if times is None else None
    return wg.Trajectories(paths, dt, times=times, names=names, inputs=driving)


def _fit(estimator: wg.WGSINDy, data: Any, change: str | None) -> dict[str, Any]:
    """Return the content of the model file and the facts of the diagnostics, or the sentence.

    Of a recording, which has a ``change`` or an empty one, also what is read off the fit.
    """
    undone = wg.Change.parse(change, data.names) if change else None
    try:
        estimator.fit(undone.apply(data) if undone else data)
        found: dict[str, Any] = {} if change is None else {"inner": inner_numbers(estimator)}
        found["diagnostics"] = asdict(estimator.diagnostics_)
        generator = undone.undo(estimator.generator_, data) if undone else estimator.generator_
        if change is not None:
            found["readings"] = readings(generator, data)
            found["said"] = numbers_of(estimator.diagnostics_)
    except WgsindyError as error:
        return {"error": str(error)}
    found["diagnostics"]["findings"] = [
        f"{finding[0]} {finding[1]} {finding[-1]}" for finding in estimator.diagnostics_.findings
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        generator.save(path)
        found["model"] = json.loads(path.read_text())
    return found


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
    inputs: Mapping[str, Any], golden: Golden | Recording, found: Flat
) -> dict[str, float]:
    """By which share of its size each array changes if the last bits of the data do."""
    rng = np.random.default_rng(0)
    worst: dict[str, float] = {}
    values, places = np.unique(inputs["paths"].astype(np.float64), return_inverse=True)
    for _ in range(PERTURBED):
        moved = values * (1.0 + LAST_BITS * rng.standard_normal(values.shape))
        paths = moved[places].reshape(inputs["paths"].shape)  # what was equal stays so
        near = results({**inputs, "paths": paths}, golden, WAYS[:1])
        for key, value in near.items():
            assert key in found, f"{golden.name}: {key} is there or not, as the last bits have it"
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
    numbers, place = content.pop("numbers", ()), 0
    for key, shape in json.loads(content.pop("shapes", "{}")).items():
        size = math.prod(shape)
        content[key] = np.reshape(numbers[place : place + size], shape)
        place += size
    content |= json.loads(content.pop("texts", "{}"))
    inputs = {key[6:]: value for key, value in content.items() if key.startswith("input/")}
    found = {key: value for key, value in content.items() if not key.startswith("input/")}
    sensitive = json.loads(found.pop("sensitive"))
    for key in json.loads(found.pop("same")):
        found[key] = found[_in_memory(key)]
    return Stored(inputs, found, sensitive)


def _plain(value: Any) -> Any:
    return value if value.dtype.kind == "f" else str(value)


def store(golden: Golden | Recording, inputs: Flat, found: Flat) -> None:
    same = [
        key
        for key, value in found.items()
        if "/memory/" not in key and not _differ(found.get(_in_memory(key)), value, 0.0)
    ]
    kept = {key: value for key, value in found.items() if key not in same}
    texts = {key: value for key, value in kept.items() if isinstance(value, str)}
    texts["same"], texts["sensitive"] = (
        json.dumps(one) for one in (same, sensitivities(inputs, golden, found))
    )
    arrays = {key: value for key, value in kept.items() if key not in texts}
    # All numbers in one array: thousands of small ones would be mostly headers.
    np.savez_compressed(
        path_of(golden.name),
        **{f"input/{key}": value for key, value in inputs.items()},
        numbers=np.concatenate([value.ravel() for value in arrays.values()]),
        shapes=json.dumps({key: value.shape for key, value in arrays.items()}),
        texts=json.dumps(texts),
    )


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
        same = isinstance(old, str) and isinstance(new, str) and old == new
        return "" if same else f"{old} -> {new}"
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
        inputs = golden.inputs()
        if write:
            store(golden, inputs, results(inputs, golden))
        return [f"{name}: nothing was stored"]
    old = stored(name)
    new = results(old.inputs, golden)
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
