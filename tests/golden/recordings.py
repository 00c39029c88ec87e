"""Short data as sensors give them, and what else than equations is read off a fit to them.

Each has what one part of the core is for: positions without velocities, values that are missing,
noise on samples, digits that were cut, states far from zero, steps that differ, coordinates without
noise, known inputs, states that are fitted as their logarithm, a past that is not in the data.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import sympy

import wgsindy as wg
from wgsindy.data import FloatArray
from wgsindy.diagnostics import Diagnostics
from wgsindy.estimate import log_likelihood, states_of, with_states
from wgsindy.model import EulerMaruyama
from wgsindy.model.circulation import fit_density
from wgsindy.recipes import LikelihoodRecipe, Recipe, WeakFormRecipe

SEED, SUBSTEPS = 11, 10
PLACES = 5  # at which fields are read
X, Y, Z, U = sympy.symbols("x y z u", real=True)
Spoil = Callable[[FloatArray, np.random.Generator], FloatArray]  # paths (R, n, d)

WELL = wg.Generator.from_sympy(("x",), [X - X**3], [[0.5]])
SPRING = wg.Generator.from_sympy(("x", "y"), [Y, -2 * X - Y / 2], [[0, 0], [0, 0.4]])
PUSHED = wg.Generator.from_sympy(("x", "u"), [-X + U, -U], [[0.2, 0], [0, 0.5]])
PENDULUM = wg.Generator.from_sympy(("x", "y"), [Y, -sympy.sin(X) - 0.3 * Y], [[0, 0], [0, 0.5]])
SPIRAL = wg.Generator.from_sympy(
    ("x", "y"), [-X - 2 * Y, 2 * X - Y], [[0.5, 0.2], [0.2, 0.6 + 0.3 * X**2]]
)
PRICES = wg.Generator.from_sympy(
    ("x", "y"), [0.3 * X * (1 - X), 1 - Y], [[0.05 * X**2, 0], [0, 0.1]]
)
CYCLE = wg.Generator.from_sympy(("x", "y"), [Y, (1 - X**2) * Y - X], [[0.1, 0], [0, 0.2]])
U1, U2 = sympy.symbols("u1 u2", real=True)
ORBIT = wg.Generator.from_sympy(
    ("x", "y", "u1", "u2"),
    [U1, U2, -2 * X + Y - U1 / 2, -Y - U2],
    [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0.4, 0.1], [0, 0, 0.1, 0.3]],
)
ROOM = wg.Generator.from_sympy(
    ("x", "y", "z"),
    [-X + Y, -Y - X * Z / 2, X * Y / 2 - Z],
    [[0.5, 0.1, 0], [0.1, 0.4, 0], [0, 0, 0.3]],
)


def unspoilt(paths: FloatArray, _: np.random.Generator) -> FloatArray:
    return paths


def first(paths: FloatArray, _: np.random.Generator) -> FloatArray:
    return paths[:, :, :1]


def noisy(paths: FloatArray, rng: np.random.Generator) -> FloatArray:
    return paths + 0.1 * paths.std(axis=(0, 1)) * rng.standard_normal(paths.shape)


def noisy_first(paths: FloatArray, rng: np.random.Generator) -> FloatArray:
    return noisy(paths, rng)[:, :, :1]


def holes(paths: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Values of the last coordinate that are missing, a few rows, and a gap."""
    last, rows = paths[:, :, -1:], rng.random((*paths.shape[:2], 1))
    spoilt = np.concatenate([paths[:, :, :-1], np.where(rows < 0.25, np.nan, last)], axis=2)
    rows[0, 50:65] = 1.0  # a gap at which a trajectory is cut
    return np.where(rows > 0.98, np.nan, spoilt)


def noisy_holes(paths: FloatArray, rng: np.random.Generator) -> FloatArray:
    return holes(noisy(paths, rng), rng)


def rounded(paths: FloatArray, _: np.random.Generator) -> FloatArray:
    return np.round(4 * paths) / 4


def held(paths: FloatArray, _: np.random.Generator) -> FloatArray:
    """A sensor that gives its last value again, every third time."""
    rows = np.arange(paths.shape[1])
    return paths[:, np.where(rows % 3 == 2, rows - 1, rows)]


def pair(paths: FloatArray, rng: np.random.Generator) -> FloatArray:
    return noisy(paths, rng)[:, :, :2]


def jumping(paths: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Now and then a jump that stays, and a rhythm."""
    jumps = 2.0 * (rng.random(paths.shape) > 0.995) * rng.standard_normal(paths.shape)
    rhythm = 0.3 * np.sin(2 * np.pi * np.arange(paths.shape[1]) / 12)
    return paths + jumps.cumsum(axis=1) + rhythm[:, None]


class Recording(NamedTuple):
    """How a process is sampled, spoilt, and fitted."""

    name: str
    process: wg.Generator
    library: Any = "poly2"
    spoil: Spoil = unspoilt
    dt: float = 0.1
    steps: int = 300
    trajectories: int = 4
    recipes: tuple[str | Recipe, ...] = ("sharp",)
    order: Any = 1
    uneven: bool = False
    offset: float = 0.0  # is added to all states
    driving: tuple[str, ...] = ()  # names of known inputs
    change: str = ""  # of a state, before the fit, which is undone after it
    ways: tuple[str, ...] = ("memory",)

    def inputs(self) -> dict[str, Any]:
        """Short data in single precision, and how they are to be fitted."""
        rng, finer = np.random.default_rng(SEED), 4 if self.uneven else 1
        start = rng.normal(1.0, 0.2, (self.trajectories, self.process.dimension))
        scheme, length = EulerMaruyama(substeps=SUBSTEPS), finer * self.steps
        paths = scheme(self.process, start, self.dt / finer, length, rng)
        rows = np.sort(rng.choice(length + 1, self.steps + 1, replace=False))
        spoilt = self.spoil(paths[:, rows], rng).astype(np.float32)
        times = {"times": self.dt / finer * rows} if self.uneven else {"dt": np.float64(self.dt)}
        options = {name: getattr(self, name) for name in ("order", "driving", "change")}
        return {
            "paths": spoilt.astype(np.float64) + self.offset if self.offset else spoilt,
            "library": json.dumps(self.library),
            "names": json.dumps(self.process.names[: spoilt.shape[2]]),
            "options": json.dumps(options),
            **times,
        }


PLAIN = LikelihoodRecipe("plain", noise_correction=False, averaging=False, degree_cost=0.0)
CHAIN = LikelihoodRecipe("chain-noise", transition="chain", noise_correction=True)
WEAK = (
    WeakFormRecipe("pooled", rows="pooled", gls="full", centres="grid", n_centres=25,
                   standardise=False),
    WeakFormRecipe("separate", rows="separate", slack=0.0, floors="absolute", refit_tensor=False,
                   cholesky_order="given", shrinkage_units="raw", n_centres=25),
    WeakFormRecipe("lasso", solver="lasso", gls="none", tensor="entries", local_order=1),
    WeakFormRecipe("stlsq", solver="stlsq", bandwidth="isotropic", local_order=0, debias=False),
    WeakFormRecipe("crossed", cross_fit=True, drift_square=False),
)  # fmt: skip
RECORDINGS = (
    Recording("positions", SPRING, spoil=first, order=2),
    Recording("positions-noisy", SPRING, "poly1", noisy_first, order=2),
    Recording(
        "positions-uneven", PENDULUM, "poly2", noisy_first, order="auto", uneven=True, steps=150
    ),
    Recording("positions-pair", ORBIT, "poly1", pair, order=2, steps=100),
    Recording("holes", SPIRAL, spoil=holes),
    Recording("holes-noisy", SPIRAL, spoil=noisy_holes, recipes=("sharp", "sharp-noise")),
    Recording("far", SPIRAL, offset=1e6, ways=("memory", "threads")),
    Recording("far-noisy", SPIRAL, spoil=noisy, offset=-3e3, recipes=("sharp", "sharp-noise")),
    Recording("rounded", SPIRAL, spoil=rounded, dt=0.02),
    Recording("uneven", SPIRAL, recipes=("sharp", "paper", PLAIN), uneven=True),
    Recording("well", WELL, "auto", steps=800),
    Recording("well-noisy", WELL, "poly3", noisy, recipes=("sharp-noise", "paper-noise", CHAIN)),
    Recording("room", ROOM),
    Recording("spring", SPRING, "poly3"),
    Recording("pendulum", PENDULUM, "trig", noisy, steps=150),
    Recording("pushed", PUSHED, driving=("u",)),
    Recording("prices", PRICES, "poly2", change="u = log(x)", dt=0.5),
    Recording("changed", PRICES, "poly1", change="v = exp(y)", dt=0.2),
    Recording("coarse", SPIRAL, "poly1", dt=0.4),
    Recording("grown", CYCLE, "auto", dt=0.05),
    Recording("held", SPIRAL, spoil=held, dt=0.02),
    Recording("hidden", SPIRAL, "auto", first, dt=0.05, steps=600),
    Recording("jumping", SPIRAL, "poly1", jumping, steps=150),
    Recording("short", SPIRAL, steps=4, trajectories=120),
    Recording("weak", SPIRAL, recipes=WEAK),
)


def readings(generator: wg.Generator, data: Any) -> dict[str, Any]:
    """What follows from a generator, at some of its data: states, fields, paths, forecasts."""
    whole: Any = with_states(generator, data)
    points = whole.states[:: len(whole.states) // PLACES][:PLACES]
    start, dt = points[0], data.total_time / data.n_increments
    fan = generator.forecast(start, 8 * dt, steps=8, paths=20, doubts=False, random_state=SEED)
    paths = generator.simulate(start, dt=dt, steps=8, trajectories=2, random_state=SEED)
    known = states_of(generator, data)
    few = slice(None, None, max(1, len(known) // 40))
    return {
        "states": [known.mean[few], known.deviation[few]],
        "score": log_likelihood(generator, data),
        "equations": generator.equations(errors=generator.uncertainty is not None),
        "simulated": paths.states,
        "fan": [fan.median, fan.low[0], fan.high[1]],
        "fields": fields(generator, points),
        "current": generator.current_velocity(points, fit_density(whole, "poly2")),
    }


def numbers_of(found: Diagnostics) -> list[str]:
    """Numbers in the sentences of the findings: words may change, these not."""
    return [" ".join(re.findall(r"\d[\d.,e+-]*", finding.sentence)) for finding in found.findings]


def fields(generator: wg.Generator, points: FloatArray) -> dict[str, Any]:
    """Every field at points, and its bands."""
    whole = ("drift", "diffusion", "correlation", "rotation", "antisymmetric_drift",
             "diffusion_divergence")  # fmt: skip
    plane = ("leverage", "curl") if generator.dimension == 2 else ()
    found = {name: getattr(generator, name)(points) for name in (*whole, *plane)}
    found["squares"] = generator.apply(f"{generator.names[0]}**2", points)
    if generator.uncertainty is not None:
        found["bands"] = generator.bands(points)._asdict()
    return found
