"""Random systems, libraries, units and data, as Hypothesis draws them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from generators import made
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from wgsindy.data import FloatArray, Trajectories
from wgsindy.model import Generator
from wgsindy.model.simulation import linear_transition
from wgsindy.model.tensor import TensorForm

# The same examples each time: what fails is a change of the code, not luck. A fit takes a tenth of
# a second, so those of fits are few.
MANY = settings(max_examples=60, deadline=None, derandomize=True)
FEW = settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
SEEDS = st.integers(0, 2**16)
DIMENSIONS = st.integers(1, 3)
UNITS = st.floats(-4.0, 4.0).map(lambda power: float(10.0**power))
FORMS: tuple[TensorForm, ...] = ("entries", "clipped", "factor")
LIBRARIES = ("poly1", "poly2", "poly3", "trig")


class Linear(NamedTuple):
    """dX = (A X + c) dt + noise of a constant tensor, stable, turning, with correlated noise."""

    matrix: FloatArray
    offset: FloatArray
    field: FloatArray

    def simulated(
        self, seed: int, *, dt: float = 0.05, steps: int = 300, runs: int = 4
    ) -> Trajectories:
        """Draw exact samples."""
        rng = np.random.default_rng(seed)
        flow, shift, covariance = linear_transition(self.matrix, self.offset, self.field, dt)
        root, d = np.linalg.cholesky(covariance), len(self.matrix)
        x = np.empty((steps + 1, runs, d))
        x[0] = rng.normal(size=(runs, d))
        for n in range(steps):
            x[n + 1] = x[n] @ flow.T + shift + rng.standard_normal((runs, d)) @ root.T
        return Trajectories(list(x.transpose(1, 0, 2)), dt)


@st.composite
def linear_systems(draw: st.DrawFn, dimensions: st.SearchStrategy[int] = DIMENSIONS) -> Linear:
    """Draw a process that forgets within a few units of time."""
    d, rng = draw(dimensions), np.random.default_rng(draw(SEEDS))
    turning = rng.normal(size=(d, d))
    root = np.tril(rng.normal(size=(d, d)), -1) + np.diag(rng.uniform(0.3, 1.2, d))
    matrix = (turning - turning.T) - np.diag(rng.uniform(0.5, 2.0, d))
    return Linear(matrix, rng.normal(size=d), root @ root.T)


@st.composite
def drawn_generators(draw: st.DrawFn) -> Generator:
    """Draw a generator of any form, with random coefficients."""
    d = draw(DIMENSIONS)
    return made(
        draw(st.sampled_from(LIBRARIES)),
        ("x", "y", "z")[:d],
        draw(st.sampled_from(FORMS)),
        shrinkage=draw(st.sampled_from([0.0, 0.3])),
        seed=draw(SEEDS),
    )


def drawn_points(seed: int, d: int, n: int = 20) -> FloatArray:
    """Points near and far."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-3, 2, size=(n, 1))


def turned_by(seed: int, d: int) -> FloatArray:
    """A rotation."""
    q, r = np.linalg.qr(np.random.default_rng(seed).normal(size=(d, d)))
    return np.asarray(q * np.sign(np.diag(r)))
