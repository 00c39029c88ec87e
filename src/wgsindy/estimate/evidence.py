"""Which terms the data ask for: search over supports by evidence.

The log-likelihood of K coefficients is quadratic, so a support S is worth
gain(S) = g_S' G_S^-1 g_S / 2 nats. A term costs a fixed number of nats, so that a term that is not
there gets in at a known rate. Up to 16 terms every support is tried; beyond, forward, backward and
exchange moves from the empty one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from wgsindy.data import BoolArray, FloatArray, IntArray
from wgsindy.errors import DataError

EXHAUSTIVE_LIMIT = 16
QUICK_LIMIT = 10  # up to here trying every support is faster than climbing
CANDIDATES = 256  # supports kept for averaging; the rest weigh nothing
DEPENDENT = 1e-10  # a column with this share of its squared length left adds nothing new
RIDGE = 1e-12
MANY_TERMS = 60
NEGLIGIBLE = 15.0  # nats below the best at which a support has no weight left
WEIGHTLESS = 30.0  # and below which nobody could tell that it was left out: e^-30 is rounding
SMALLEST_EIGENVALUE = 1e-15
ROUNDED = 1e-6  # nats: what two ways to compute a gain may differ by, and much more

Penalty = Callable[[FloatArray], FloatArray]


def no_numbers() -> DataError:
    """What to say of sums that are out of the range of numbers wherever one starts."""
    return DataError(
        "the values of some terms are out of the range of numbers at these samples: use other "
        "units, or a library without the fastest of them (exponentials, high powers)."
    )


@dataclass(frozen=True)
class Root:
    """Root of an information matrix G, ``columns / norm`` with unit columns; see :class:`Problem`.

    ``values (K,)`` and ``vectors (K, K)`` are those of G with rows and columns multiplied by
    ``scale (K,)``, in working terms.
    """

    columns: FloatArray
    norm: FloatArray
    values: FloatArray
    vectors: FloatArray
    scale: FloatArray

    @classmethod
    def of(cls, gram: FloatArray, change: FloatArray) -> Root:
        """Take the root of ``gram (K, K)`` and change from working terms to the wanted ones.

        ``change (K, K)`` expresses the wanted terms by the working ones: theta = change @ working.
        """
        if not np.isfinite(gram).all() or (np.diag(gram) <= 0).any():
            raise no_numbers()
        scale = 1.0 / np.sqrt(np.diag(gram))
        values, vectors = np.linalg.eigh(gram * np.outer(scale, scale))
        values = np.sqrt(np.maximum(values, SMALLEST_EIGENVALUE * values[-1]))
        root = (values[:, None] * vectors.T / scale) @ change.T
        norm = np.sqrt(np.einsum("ik,ik->k", root, root))
        return cls(root / norm, norm, values, vectors, scale)

    def problem(self, cross: FloatArray) -> Problem:
        """Return the problem with this information and g = ``cross (K,)``, in working terms."""
        target = (self.vectors.T @ (cross * self.scale)) / self.values
        return Problem(self.columns, target, self.norm)


@dataclass(frozen=True)
class Problem:
    """A quadratic log-likelihood, c'g - c'Gc/2, as least squares |target - root c|^2.

    ``root (K, K)`` has unit columns, ``target (K,)``; ``norm (K,)`` are the lengths that they
    had. Working with the root instead of G keeps terms apart that are almost parallel, such as
    1, s, s^2 for a price s near 100.
    """

    root: FloatArray
    target: FloatArray
    norm: FloatArray

    @staticmethod
    def from_sums(gram: FloatArray, cross: FloatArray, change: FloatArray) -> Problem:
        """Return the problem of ``gram (K, K)`` and ``cross (K,)``; see :meth:`Root.of`."""
        return Root.of(gram, change).problem(cross)

    def __len__(self) -> int:
        return len(self.norm)

    def only(self, terms: BoolArray | Sequence[int]) -> Problem:
        """Return the problem of some of the terms, in their order."""
        return Problem(self.root[:, terms], self.target, self.norm[terms])

    def beside(self, terms: BoolArray, others: BoolArray) -> Problem:
        """Return the problem of some ``terms (K,)`` to which ``others (K,)`` are fitted anew."""
        unit = np.linalg.qr(self.root[:, others])[0]
        left = self.root[:, terms] - unit @ (unit.T @ self.root[:, terms])
        length = np.maximum(np.linalg.norm(left, axis=0), np.sqrt(DEPENDENT))
        target = self.target - unit @ (unit.T @ self.target)
        return Problem(left / length, target, self.norm[terms] * length)

    def solve(self, support: BoolArray) -> FloatArray:
        """Maximum-likelihood coefficients ``(K,)`` with all terms outside ``support (K,)`` zero."""
        coefficients = np.zeros(len(self))
        if support.any():
            coefficients[support] = np.linalg.lstsq(self.root[:, support], self.target)[0]
        return coefficients / self.norm

    def gain(self, support: BoolArray) -> float:
        """Log-likelihood that the terms in ``support (K,)`` explain."""
        fitted = self.root @ (self.solve(support) * self.norm)
        return float(fitted @ fitted) / 2

    def solve_all(self, supports: BoolArray) -> FloatArray:
        """Coefficients ``(M, K)`` of many supports ``(M, K)``."""
        if len(self) > MANY_TERMS:  # of which a support has few
            return self._solve_few(supports)
        inside = supports.astype(np.float64)
        gram, cross = self.root.T @ self.root, self.root.T @ self.target
        systems = gram * inside[:, :, None] * inside[:, None, :]
        diagonal = np.arange(len(self))
        systems[:, diagonal, diagonal] += (1.0 - inside) + RIDGE
        return np.linalg.solve(systems, (inside * cross)[:, :, None])[:, :, 0] / self.norm

    def _solve_few(self, supports: BoolArray) -> FloatArray:
        """Do what :meth:`solve_all` does, in systems that are as large as the largest support."""
        terms, inside = _packed(supports)
        gram, cross = self.root.T @ self.root, self.root.T @ self.target
        systems = gram[terms[:, :, None], terms[:, None, :]]
        systems *= inside[:, :, None] * inside[:, None, :]
        diagonal = np.arange(terms.shape[1])
        systems[:, diagonal, diagonal] += (1.0 - inside) + RIDGE
        solved = np.linalg.solve(systems, (inside * cross[terms])[:, :, None])[:, :, 0]
        found = np.zeros(supports.shape)
        np.put_along_axis(found, terms, solved * inside / self.norm[terms], axis=1)
        return found

    def _covariances_of_few(self, supports: BoolArray) -> FloatArray:
        """Do what :meth:`covariances` does, with the terms of each support alone."""
        terms, inside = _packed(supports)
        own = np.eye(terms.shape[1]) * np.sqrt(1.0 - inside + RIDGE)[:, None, :]
        columns = self.root[:, terms].transpose(1, 0, 2) * inside[:, None, :]
        triangle = np.linalg.qr(np.concatenate([columns, own], axis=1), mode="r")
        inverse = np.linalg.inv(triangle) * inside[:, :, None] / self.norm[terms][:, :, None]
        found = np.zeros((*supports.shape, len(self)))
        rows = np.arange(len(supports))[:, None, None]
        found[rows, terms[:, :, None], terms[:, None, :]] = inverse @ inverse.swapaxes(1, 2)
        return found

    def covariances(self, supports: BoolArray) -> FloatArray:
        """Inverse information ``(M, K, K)`` of many supports ``(M, K)``, zero outside of each."""
        if len(self) > MANY_TERMS:
            return self._covariances_of_few(supports)
        inside = supports.astype(np.float64)
        # A row of its own for every term that is not there, so that a root is left of each.
        own = np.eye(len(self)) * np.sqrt(1.0 - inside + RIDGE)[:, None, :]
        roots = np.concatenate([self.root * inside[:, None, :], own], axis=1)
        inverse = np.linalg.inv(np.linalg.qr(roots, mode="r")) * inside[:, :, None]
        inverse /= self.norm[:, None]
        return np.asarray(inverse @ inverse.swapaxes(1, 2))

    def covariance(self, support: BoolArray, free: FloatArray | None = None) -> FloatArray:
        """Inverse information of the terms in ``support``, ``(K, K)``, zero elsewhere.

        Along the columns of ``free (K, m)`` coefficients may move as well.
        """
        ways = np.eye(len(self))[:, support]
        if free is not None:
            turned = free * self.norm[:, None]
            length = np.linalg.norm(turned, axis=0)
            ways = np.hstack([ways, turned[:, length > 0] / length[length > 0]])
        triangle = np.linalg.qr(self.root @ ways, mode="r")
        inverse = ways @ np.linalg.pinv(triangle) / self.norm[:, None]
        return inverse @ inverse.T


def _packed(supports: BoolArray) -> tuple[IntArray, FloatArray]:
    """Terms ``(M, s)`` of each support, filled up with others, and 1 for those that are its own."""
    most = max(1, int(supports.sum(axis=1).max()))
    terms = np.argsort(~supports, axis=1, kind="stable")[:, :most]
    return terms, np.take_along_axis(supports, terms, axis=1).astype(np.float64)


@dataclass(frozen=True)
class Posterior:
    """Supports worth considering, best first, with their weights and coefficients.

    ``supports (M, K)``, ``weights (M,)`` that sum to 1, ``coefficients (M, K)``, and what their
    terms cost in nats, ``paid (M,)``; ``gain`` is what the best support explains, in nats.
    """

    supports: BoolArray
    weights: FloatArray
    coefficients: FloatArray
    paid: FloatArray
    gain: float

    @classmethod
    def certain(cls, coefficients: FloatArray) -> Posterior:
        """Return that of a field whose ``coefficients (K,)`` are known beforehand."""
        known = coefficients[None]
        return cls(known != 0, np.ones(1), known, np.zeros(1), 0.0)

    @property
    def best(self) -> BoolArray:
        """The support of highest evidence, ``(K,)``."""
        return self.supports[0]

    @property
    def inclusion(self) -> FloatArray:
        """Weight of the supports that have each term, ``(K,)``."""
        return self.inclusion_at(1.0)

    def inclusion_at(self, share: float) -> FloatArray:
        """Weight ``(K,)`` of the supports that have each term if it cost a ``share`` of itself."""
        return np.minimum(self.weights_at(share) @ self.supports, 1.0)

    @property
    def mean(self) -> FloatArray:
        """Coefficients averaged over supports, ``(K,)``."""
        return self.weights @ self.coefficients

    def weights_at(self, share: float) -> FloatArray:
        """Weights ``(M,)`` if each term cost a ``share`` of what it does; they sum to 1."""
        if share == 1.0:
            return self.weights
        with np.errstate(divide="ignore"):
            scores = np.log(self.weights) + (1 - share) * self.paid
        weights = np.exp(scores - scores.max())
        return np.asarray(weights / weights.sum())


def search(
    problem: Problem, costs: FloatArray, penalty: Penalty | None = None, *, exhaustive: bool = True
) -> Posterior:
    """Weigh supports by exp(gain - sum of costs - penalty).

    Parameters
    ----------
    problem : the quadratic log-likelihood
    costs : nats that each term costs, ``(K,)``
    penalty : nats to subtract for coefficients ``(M, K)`` that cannot be; ``(M,)``, not negative
    exhaustive : try every support if there are at most 16 terms

    Examples
    --------
    >>> problem = Problem.from_sums(np.eye(3), np.array([9.0, 1.0, -4.0]), np.eye(3))
    >>> search(problem, np.full(3, 5.0)).best.tolist()
    [True, False, True]
    """
    supports, gains = _candidates(problem, costs, exhaustive=exhaustive)
    paid = supports @ costs
    before = gains - paid
    reached, best = np.inf, float(before.max())
    while best < reached:  # what a penalty takes from the best brings others within reach
        reached = best
        near = before >= reached - WEIGHTLESS
        coefficients = problem.solve_all(supports[near])
        scores = before[near] - (0.0 if penalty is None else penalty(coefficients))
        best = float(scores.max())
    order = np.argsort(-scores, kind="stable")
    supports = supports[near][order]
    gains, paid = gains[near][order], paid[near][order]
    weights = np.exp(scores[order] - best)
    coefficients = coefficients[order]
    # Solving many systems at once squares their condition; the one that counts is solved with care.
    coefficients[0] = problem.solve(supports[0])
    return Posterior(supports, weights / weights.sum(), coefficients, paid, float(gains[0]))


def best_support(
    problem: Problem, costs: FloatArray, guess: BoolArray | None = None
) -> tuple[BoolArray, float]:
    """Find the support of highest score ``(K,)`` and its gain: what :func:`search` puts first.

    Where nothing is averaged, most supports need not be tried: each is worth at most what all terms
    together explain, less what its own ones cost; ``costs (K,)`` are positive. A good ``guess
    (K,)`` takes the place of climbing where all others are ruled out, or tried, anyway.
    """
    certified = len(problem) <= EXHAUSTIVE_LIMIT
    if guess is not None and certified:
        supports, gains = guess[None], np.array([problem.gain(guess)])
    else:
        supports, gains = _climb(problem, costs)
    if certified:
        least = float((gains - supports @ costs).max()) - ROUNDED
        certain = _certain(problem, costs, least)
        spare = problem.gain(np.ones(len(problem), dtype=bool)) - costs[certain].sum() - least
        tried, worth = _try_all(problem, costs, certain, max(int(spare / costs.min()), 0))
        # Of nearly dependent terms, two ways to compute a gain differ by more than rounding: what
        # was found before stays among them.
        supports, gains = np.concatenate([tried, supports]), np.concatenate([worth, gains])
    best = np.argmax(gains - supports @ costs)
    return supports[best], float(gains[best])


def _candidates(
    problem: Problem, costs: FloatArray, *, exhaustive: bool
) -> tuple[BoolArray, FloatArray]:
    """Return supports of high score ``(M, K)`` and their gains ``(M,)``."""
    k = len(problem)
    if k <= QUICK_LIMIT:
        return _try_all(problem, costs, np.zeros(k, dtype=bool))
    supports, gains = _climb(problem, costs)
    # About a point far from zero, a line is two terms that say nothing one by one.
    cheapest = costs <= costs.min() + ROUNDED
    if cheapest.sum() <= QUICK_LIMIT:
        low, more = _climb(problem, costs, cheapest)
        if (more - low @ costs).max() > (gains - supports @ costs).max() + ROUNDED:
            supports, gains = low, more
    if not exhaustive or k > EXHAUSTIVE_LIMIT:
        return supports, gains
    reached = float((gains - supports @ costs).max())
    return _try_all(problem, costs, _certain(problem, costs, reached - NEGLIGIBLE))


def _certain(problem: Problem, costs: FloatArray, least: float) -> BoolArray:
    """Terms that are in every support whose score is at least so high, ``(K,)``.

    No support without term k gains more than all other terms together, nor is paid more than by
    all others whose cost is negative.
    """
    paid = np.maximum(-costs, 0.0)
    without = np.stack([np.delete(problem.root, k, axis=1) for k in range(len(problem))])
    shadows = np.swapaxes(np.linalg.qr(without)[0], 1, 2) @ problem.target
    return 0.5 * np.sum(shadows**2, axis=1) + paid.sum() - paid < least


def _try_all(
    problem: Problem, costs: FloatArray, certain: BoolArray, most: int = EXHAUSTIVE_LIMIT
) -> tuple[BoolArray, FloatArray]:
    """Weigh every support that has the ``certain (K,)`` terms; keep those of highest score.

    With no more than ``most`` others.
    """
    unit = np.linalg.qr(problem.root[:, certain])[0]
    root = problem.root[:, ~certain] - unit @ (unit.T @ problem.root[:, ~certain])
    target = problem.target - unit @ (unit.T @ problem.target)
    gains = all_gains(root, target, most) + 0.5 * float(np.sum((unit.T @ problem.target) ** 2))
    free = all_supports(root.shape[1])
    if most < free.shape[1]:
        free = free[free.sum(axis=1) <= most]
    scores = gains - free @ costs[~certain]
    kept = np.arange(len(scores))
    if len(scores) > CANDIDATES:
        kept = np.argpartition(-scores, CANDIDATES)[:CANDIDATES]
    supports = np.ones((len(kept), len(problem)), dtype=bool)
    supports[:, ~certain] = free[kept]
    return supports, gains[kept]


@cache
def all_supports(size: int) -> BoolArray:
    """Every subset of ``size`` terms, ``(2 ** size, size)``; bit k of the row number is term k."""
    numbers: IntArray = np.arange(2**size)
    return ((numbers[:, None] >> np.arange(size)) & 1).astype(bool)


def all_gains(root: FloatArray, target: FloatArray, most: int = EXHAUSTIVE_LIMIT) -> FloatArray:
    """Gain of every support of at most so many terms, in the order of :func:`all_supports`.

    Term by term, each partial support splits into one without the term and one with it, which
    takes the term's direction out of the columns still to come (modified Gram-Schmidt). The whole
    tree costs little more than its leaves.
    """
    columns, gains = np.vstack([root.T, target])[None], np.zeros(1)  # the target as the last one
    sizes = np.zeros(1, dtype=np.int64)
    for done in range(root.shape[1]):
        first, others = columns[:, 0], columns[:, 1:]
        square = np.einsum("bi,bi->b", first, first)
        square[square <= DEPENDENT] = np.inf
        unit = first / np.sqrt(square)[:, None]
        shadow = np.einsum("bmi,bi->bm", others, unit)
        room = slice(None) if done < most else sizes < most  # a slice copies nothing
        taken = others[room] - shadow[room, :, None] * unit[room, None, :]
        columns = np.concatenate([others, taken])
        gains = np.concatenate([gains, gains[room] + 0.5 * shadow[room, -1] ** 2])
        sizes = np.concatenate([sizes, sizes[room] + 1])
    return gains


def improved(problem: Problem, costs: FloatArray, support: BoolArray) -> BoolArray:
    """Climb from a ``support (K,)`` to one that no addition, removal or exchange makes better."""
    return _climb(problem, costs, support)[0][0]


def _climb(
    problem: Problem, costs: FloatArray, start: BoolArray | None = None
) -> tuple[BoolArray, FloatArray]:
    """Add, drop or exchange terms as long as the score rises; return all supports met."""
    gram, cross = problem.root.T @ problem.root, problem.root.T @ problem.target
    current = np.zeros(len(problem), dtype=bool) if start is None else start
    met: dict[bytes, float] = {current.tobytes(): _gain(gram, cross, current)}
    score = met[current.tobytes()] - float(current @ costs)
    while True:
        best_score, best = score, current
        for support, gain in _neighbours(gram, cross, current):
            met[support.tobytes()] = gain
            value = gain - float(support @ costs)
            if value > best_score + 1e-9:
                best_score, best = value, support
        if best is current:
            break
        score, current = best_score, best
    supports = np.array([np.frombuffer(key, dtype=bool) for key in met])
    gains = np.array(list(met.values()))
    kept = np.argsort(-(gains - supports @ costs), kind="stable")[:CANDIDATES]
    return supports[kept], gains[kept]


def _neighbours(
    gram: FloatArray, cross: FloatArray, current: BoolArray
) -> list[tuple[BoolArray, float]]:
    """Supports one addition, removal or exchange away, with their gains."""
    found = _additions(gram, cross, current)
    for k in np.flatnonzero(current):
        without = current.copy()
        without[k] = False
        found.append((without, _gain(gram, cross, without)))
        found += [pair for pair in _additions(gram, cross, without) if not pair[0][k]]
    return found


def _gain(gram: FloatArray, cross: FloatArray, support: BoolArray) -> float:
    if not support.any():
        return 0.0
    inside = cross[support]
    return 0.5 * float(inside @ np.linalg.lstsq(gram[np.ix_(support, support)], inside)[0])


def _additions(
    gram: FloatArray, cross: FloatArray, support: BoolArray
) -> list[tuple[BoolArray, float]]:
    """Supports with one term more, if it is not dependent on those that are there."""
    inside = np.flatnonzero(support)
    mixed = gram[inside]
    solved = np.linalg.lstsq(gram[np.ix_(inside, inside)], np.column_stack([mixed, cross[inside]]))
    projection, coefficients = solved[0][:, :-1], solved[0][:, -1]
    left = np.diag(gram) - np.einsum("sk,sk->k", mixed, projection)
    residual = cross - coefficients @ mixed
    base = 0.5 * float(cross[inside] @ coefficients)
    found = []
    for k in np.flatnonzero(~support & (left > DEPENDENT)):
        larger = support.copy()
        larger[k] = True
        found.append((larger, base + 0.5 * float(residual[k] ** 2 / left[k])))
    return found
