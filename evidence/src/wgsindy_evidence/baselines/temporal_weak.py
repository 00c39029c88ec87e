"""Weak SINDy along time: test functions on windows of a trajectory instead of kernels in space.

The weak form of Messenger and Bortz (2021), made for trajectories without noise of their own. With
a smooth phi that vanishes at both ends of a window, integration by parts moves the derivative off
the data:

    - int phi' X dt = int phi b(X) dt,        int phi dX dX' = int phi a(X) dt.

On a diffusion the noise of a row, int phi dW, is not independent of the row's own terms, because
the states of a window follow the noise of that window. For a process that looks the same forwards
and backwards in time, and a symmetric phi, both sides of the first equation are uncorrelated:
the drift comes out as zero however long the data are. What remains of a drift is the part that
turns states around in a circle.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from wgsindy.data import CHUNK_SIZE, FloatArray, Trajectories
from wgsindy.errors import NotEnoughDataError
from wgsindy.model import Generator, tensor
from wgsindy.terms import Library
from wgsindy_evidence.baselines.regression import Problem, add_rows, fit_targets, pose
from wgsindy_evidence.recipes import PAPER

STEPS = 64  # of a window
OVERLAP = 2  # windows over each sample
SMOOTHNESS = 4  # phi = (1 - s^2)^4: three derivatives vanish at the ends of a window

Windows = tuple[FloatArray, FloatArray]


def windows(data: Trajectories) -> Iterator[Windows]:
    """Yield blocks of overlapping windows: states ``(m, STEPS + 1, d)``, steps ``(m, STEPS)``.

    No window spans two trajectories. Up to half a window is left over at the end of each.
    """
    at_once = max(1, CHUNK_SIZE // STEPS)
    for r, path in enumerate(data):
        if len(path) <= STEPS:
            continue
        stride = STEPS // OVERLAP
        states = sliding_window_view(path, STEPS + 1, axis=0)[::stride]
        steps = sliding_window_view(data.steps(r), STEPS)[::stride]
        for first in range(0, len(states), at_once):
            block = slice(first, first + at_once)
            yield states[block].swapaxes(1, 2), steps[block]


def bump(steps: FloatArray) -> FloatArray:
    """Test function ``(m, W + 1)`` at the samples of windows of ``steps (m, W)``; zero at the ends.

    phi = (1 - s^2)^4, where s runs from -1 to 1 over the window.
    """
    time = np.cumsum(steps, axis=1)
    s = 2 * np.pad(time, ((0, 0), (1, 0))) / time[:, -1:] - 1
    return np.asarray((1 - s**2) ** SMOOTHNESS)


def weak_rows(problem: Problem, block: Windows, drift: FloatArray | None) -> FloatArray:
    """Rows ``[int phi theta dt | targets]`` of one block of windows, by the trapezoidal rule.

    Targets are ``- int X dphi (m, d)``, or, once a drift ``(d, K)`` is known,
    ``int phi (dX dX' - b b' dt^2) (m, E)``.
    """
    states, steps = block
    m, samples, d = states.shape
    theta = problem.basis.values(states.reshape(-1, d)).reshape(m, samples, -1)
    phi = bump(steps)
    share = (np.pad(steps, ((0, 0), (1, 0))) + np.pad(steps, ((0, 0), (0, 1)))) / 2
    design = np.einsum("mn,mnk->mk", phi * share, theta)
    if drift is None:
        middle = (states[:, 1:] + states[:, :-1]) / 2
        return np.hstack([design, -np.einsum("mn,mnp->mp", np.diff(phi), middle)])
    moved = (theta[:, :-1] @ drift.T * steps[..., None]).reshape(-1, d)
    square = tensor.outer_entries(np.diff(states, axis=1).reshape(-1, d))
    square = (square - tensor.outer_entries(moved)).reshape(m, samples - 1, -1)
    weight = (phi[:, 1:] + phi[:, :-1]) / 2
    return np.hstack([design, np.einsum("mn,mne->me", weight, square)])


def _fit(problem: Problem, drift: FloatArray | None = None) -> FloatArray:
    """Stack the rows of all windows and solve for the fields, ``(T, K)``."""
    k, d = len(problem.basis), problem.data.dimension
    triangle = np.empty((0, k + (d if drift is None else len(tensor.pairs(d)))))
    for block in windows(problem.data):
        triangle = add_rows(triangle, weak_rows(problem, block, drift))
    return fit_targets(triangle, k, threshold=PAPER.threshold)


def fit_temporal_weak(
    data: Trajectories, library: str | Sequence[str] | Library, *, seed: int = 0
) -> Generator:
    """Fit the drift to weak rows along time, then the tensor to those of squared increments.

    Finds the drift of a trajectory without noise, and the tensor of a diffusion. Of the drift of a
    diffusion it finds only what is not reversible in time; see the module. Nothing keeps the
    tensor semidefinite. Nothing is random: ``seed`` is there for a common signature.

    Raises
    ------
    NotEnoughDataError
        If trajectories hold fewer windows than there are terms.
    DataError, LibraryError
        If a coordinate or a term is constant at zero.
    """
    problem = pose(data, library, standardise=False)
    longest = max(len(path) - 1 for path in data)
    if longest < STEPS:
        raise NotEnoughDataError(
            f"the longest trajectory has {longest} steps and a window has {STEPS}; give longer "
            "trajectories."
        )
    drift = _fit(problem)
    return problem.generator("temporal-weak", drift, _fit(problem, drift))
