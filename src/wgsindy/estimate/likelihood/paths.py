"""What a path of the transition carries along, and how fast it changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from wgsindy.data import FloatArray, Scratch
from wgsindy.estimate.likelihood.matrices import multiply

_SCRATCH = Scratch()


class Fields(NamedTuple):
    """Fields averaged over the spread at one point of each path."""

    theta: FloatArray  # (K, n) library
    drift: FloatArray  # (d, n)
    jacobian: FloatArray  # (d, d, n)
    tensor: FloatArray  # (d, d, n)
    bend: FloatArray | None  # (d, d, d, n) second derivatives of the drift, if they are asked for
    slope: FloatArray | None  # (d, d, d, n) derivatives of the tensor, the last index the state's


class Path(NamedTuple):
    """Where a path is, and what it carries, in one array: short rows cost what calls cost."""

    rows: FloatArray  # (d + d w, n)
    mean: FloatArray  # (d, n) displacement
    moments: FloatArray  # (d, w, n) covariance, flow, response times time, third moments
    covariance: FloatArray  # (d, d, n)
    flow: FloatArray  # (d, d, n)
    response: FloatArray  # (d, d, n) times time
    skewness: FloatArray  # (d, d, d, n) third central moments; none at all if they are not carried

    @classmethod
    def of(cls, rows: FloatArray, d: int) -> Path:
        """See ``rows`` as what they are, in ``d`` coordinates."""
        n = rows.shape[1]
        moments = rows[d:].reshape(d, -1, n)
        covariance, flow, response = (moments[:, p : p + d] for p in (0, d, 2 * d))
        skewness = moments[:, 3 * d :].reshape(d, -1, d, n)
        return cls(rows, rows[:d], moments, covariance, flow, response, skewness)

    @classmethod
    def start(cls, covariance: FloatArray | None, shape: tuple[int, int], *, curved: bool) -> Path:
        """Begin ``(d, n)`` paths, with third moments if ``curved``."""
        d, n = shape
        path = cls.of(_SCRATCH.take("start", path_rows(d, curved=curved), n), d)
        path.rows.fill(0.0)
        if covariance is not None:
            path.covariance[...] = covariance
        path.begin()
        return path

    def begin(self) -> None:
        """Let flow and response be those from here on."""
        self.response[...], self.flow[...] = 0.0, np.eye(len(self.mean))[:, :, None]

    def room(self, name: str) -> Path:
        """Return room for another path, which is kept for the next that has the name."""
        return Path.of(_SCRATCH.take(name, *self.rows.shape), len(self.mean))

    def set_to(self, start: Path, rates: Path, time: FloatArray) -> None:
        """Go from another path along its rates over some time."""
        np.multiply(rates.rows, time, out=self.rows)
        np.add(self.rows, start.rows, out=self.rows)


def path_rows(d: int, *, curved: bool) -> int:
    """Rows of a path of ``d`` coordinates, with third moments if ``curved``."""
    return d + d * (3 * d + curved * d**2)


def set_rates(rates: Path, seen: Fields, path: Path, push: FloatArray | None) -> FloatArray:
    """Set rates of all that a path carries; ``push (d, n)`` is a drift beside that of formulas.

    Returns the source of the covariance ``(d, d, n)``: all of its rate but what the flow does.
    """
    d, width, _ = path.moments.shape
    np.add(seen.drift, 0.0 if push is None else push, out=rates.mean)
    multiply(seen.jacobian, path.moments, out=rates.moments)
    rates.rows[3 * d :: width + 1] += 1.0  # a constant drift, seen at the end
    source = seen.tensor
    if seen.bend is not None:
        widened = 0.5 * np.einsum("ikln,kljn->ijn", seen.bend, path.skewness)
        source = source + widened + widened.swapaxes(0, 1)
        _add_skewing(rates.skewness, seen.bend, seen.slope, path.covariance)
    own = rates.covariance
    np.add(own + own.swapaxes(0, 1), source, out=own)
    return source


def joined(parts: Sequence[tuple[FloatArray, FloatArray]]) -> tuple[FloatArray, FloatArray]:
    """Flow and response of substeps, one after the other."""
    flow, response = parts[0]
    for last, later in parts[1:]:
        flow, response = multiply(last, flow), multiply(last, response) + later
    return flow, response


def complete_response(path: Path, time: FloatArray) -> None:
    """Add the second order to the response of a midpoint step, of whose rates it has the first.

    It is one, half of J h and a sixth of its square.
    """
    first = path.response / time - np.eye(len(path.mean))[:, :, None]
    path.response[...] += (2 / 3) * time * multiply(first, first)


def set_covariance(
    path: Path, start: FloatArray, sources: Sequence[FloatArray], time: FloatArray
) -> None:
    """Set the covariance of ``path`` after two to four stages, by Simpson's rule over F(s).

    Of noise that reaches a coordinate through others only, the rates know nothing at the start, and
    a step of fourth order has little more than its first term. A midpoint step has no second order:
    it would put a tensor wrong by two thirds of (J h)^2.
    """
    d, _, n = start.shape
    first, *between, last = sources
    if not between:  # none at the end: on the line through the others
        middle, last = last, 2 * last - first
    elif len(between) == 1:  # none in the middle either
        middle, last = first + 0.75 * (last - first), first + 1.5 * (last - first)
    else:
        middle = (between[0] + between[1]) / 2
    flow, spread = np.empty((2, d, d, 2, n))  # at the start and in the middle
    flow[:, :, 0] = path.flow
    flow[:, :, 1] = (6 * path.response / time - path.flow - np.eye(d)[:, :, None]) / 4
    spread[:, :, 0] = start + (time / 6) * first
    spread[:, :, 1] = (2 * time / 3) * middle
    flow, spread = flow.reshape(d, d, 2 * n), spread.reshape(d, d, 2 * n)
    carried = multiply(multiply(flow, spread), flow.swapaxes(0, 1))
    path.covariance[...] = (time / 6) * last + carried[:, :, :n] + carried[:, :, n:]


def _add_skewing(
    rates: FloatArray, bend: FloatArray, slope: FloatArray | None, covariance: FloatArray
) -> None:
    """Complete the rates ``(d, d, d, n)`` of third central moments, of a nearly normal spread.

    They have what the flow does to the first index, and each index may be the first.
    """
    bent = np.einsum("ilkn,kmn->ilmn", bend, covariance)
    rates += np.einsum("jln,ilmn->ijmn", covariance, bent)
    if slope is not None:
        rates += np.einsum("jkln,lin->ijkn", slope, covariance)
    rates[...] = rates + rates.swapaxes(0, 1) + rates.transpose(1, 2, 0, 3)
