"""The filter along noisy samples against joint normal densities, differences and simulation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace

import numpy as np
import pytest
from scipy.stats import chi2, multivariate_normal
from working_models import Formula, linear_model, model_of, units_of_entries

from wgsindy.data import BLOCK, Block, FloatArray, FunctionSource, Stream, Trajectories
from wgsindy.estimate.likelihood import transition
from wgsindy.estimate.likelihood.filter import Blocks, innovations
from wgsindy.estimate.likelihood.filter_sums import FilterPass, FilterSums
from wgsindy.estimate.likelihood.filtered_samples import (
    MANY_BLOCKS,
    SHORTEST_BLOCK,
    block_length,
)
from wgsindy.estimate.likelihood.process import Process
from wgsindy.model import tensor
from wgsindy.model.simulation import linear_transition
from wgsindy.passes import reduce
from wgsindy.passes.engine import Threads

MATRIX = np.array([[-0.8, 1.5], [-1.5, -0.4]])
OFFSET = np.array([0.3, -0.2])
FIELD = np.array([[0.5, 0.15], [0.15, 0.3]])
NOISE = np.array([[0.03, -0.01], [-0.01, 0.05]])
DT = 0.1


def entries_of(matrix: FloatArray) -> FloatArray:
    return tensor.entries_of(matrix[None])[0]


def linear(d: int = 2, terms: str = "poly2") -> Process:
    noise = entries_of(NOISE[:d, :d])
    return linear_model(
        MATRIX[:d, :d], OFFSET[:d], FIELD[:d, :d], terms=terms, noise=noise, longest_step=2 * DT
    )


def observed(
    seed: int, dts: list[FloatArray], d: int = 2, start: FloatArray | None = None
) -> Trajectories:
    """Noisy samples of the linear process, one trajectory for each of the steps ``dts``.

    What is observed first is ``start``; the state is that and the noise of one sample away, which
    is what a block takes for granted.
    """
    rng = np.random.default_rng(seed)
    roots = [np.linalg.cholesky(m[:d, :d]) for m in (NOISE, FIELD)]
    paths, times = [], []
    for dt in dts:
        y = [np.zeros(d) if start is None else start]
        x = y[0] + roots[0] @ rng.standard_normal(d)
        for step in dt:
            flow, shift, covariance = linear_transition(
                MATRIX[:d, :d], OFFSET[:d], FIELD[:d, :d], float(step)
            )
            x = flow @ x + shift + np.linalg.cholesky(covariance) @ rng.standard_normal(d)
            y.append(x + roots[0] @ rng.standard_normal(d))
        paths.append(np.array(y))
        times.append(np.append(0.0, np.cumsum(dt)))
    return Trajectories(paths, times=times, names=("x", "y")[:d])


def uneven(lengths: tuple[int, ...], seed: int = 0) -> list[FloatArray]:
    rng = np.random.default_rng(seed)
    return [rng.uniform(0.3 * DT, 2 * DT, n) for n in lengths]


LENGTHS = (150, 40, 1, 100, 2)


@pytest.fixture
def accurate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps so short that nothing is left of their error."""
    monkeypatch.setattr(transition, "SHORT_STEP", 0.0)
    monkeypatch.setattr(transition, "LONGEST_SUBSTEP", 0.06)
    monkeypatch.setattr(transition, "MOST_SUBSTEPS", 20)


def stretches(data: Trajectories) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Samples ``(n + 1, d)`` and steps ``(n,)`` of each block, by counting samples."""
    place = 0
    for r, path in enumerate(data):
        steps, first = data.steps(r), 0
        for row in range(1, len(steps) + 1):
            if row == len(steps) or (place + row) % BLOCK == 0:
                yield path[first : row + 1], steps[first:row]
                first = row
        place += len(path)


def joint_log_density(y: FloatArray, steps: FloatArray) -> float:
    """Of the samples after the first, if the state is N(first sample, noise)."""
    n, d = len(steps), y.shape[1]
    noise = NOISE[:d, :d]
    mean, own = y[0], noise
    means, covariance = np.zeros((n, d)), np.zeros((n, d, n, d))
    for k, dt in enumerate(steps):
        flow, shift, wider = linear_transition(MATRIX[:d, :d], OFFSET[:d], FIELD[:d, :d], float(dt))
        mean, own = flow @ mean + shift, flow @ own @ flow.T + wider
        means[k] = mean
        covariance[k, :, :k] = np.einsum("pq,qlr->plr", flow, covariance[k - 1, :, :k])
        covariance[:k, :, k] = covariance[k, :, :k].transpose(1, 2, 0)
        covariance[k, :, k] = own
    for k in range(n):
        covariance[k, :, k] += noise
    return float(
        multivariate_normal(means.ravel(), covariance.reshape(n * d, n * d)).logpdf(y[1:].ravel())
    )


@pytest.mark.parametrize("d", [1, 2])
def test_the_likelihood_of_a_linear_process_is_that_of_joint_normal_samples(
    d: int, accurate: None
) -> None:
    data, model = observed(3, uneven(LENGTHS), d), linear(d)
    found = reduce(FilterPass(model), data, chunk_size=BLOCK)
    blocks = list(stretches(data))
    assert len(blocks) > len(LENGTHS)
    assert max(len(steps) for _, steps in blocks) <= BLOCK
    expected = sum(joint_log_density(*block) for block in blocks)
    assert found.count == data.n_increments == sum(LENGTHS)
    # In units of the model, and without the constant.
    constant = found.count * (d / 2 * np.log(2 * np.pi) + np.log(model.units).sum())
    assert found.log_likelihood - constant == pytest.approx(expected, abs=1e-4)
    # Negative control: a third more noise than there is costs several nats.
    off = replace(model, observation_noise=model.observation_noise * 1.33)
    assert reduce(FilterPass(off), data).log_likelihood < found.log_likelihood - 1


def test_coarser_steps_of_integration_change_little(accurate: None) -> None:
    data, model = observed(3, uneven(LENGTHS)), linear()
    fine = reduce(FilterPass(model), data).log_likelihood
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transition, "LONGEST_SUBSTEP", 1.0)
        coarse = reduce(FilterPass(model), data).log_likelihood
    # |A| dt is up to 0.45, twice that for covariances, so each innovation is off by 0.9^4 / 120.
    assert abs(coarse - fine) < 5e-3 * np.sqrt(data.n_increments)


# Slopes


def physical_slopes(model: Process, sums: FilterSums) -> tuple[FloatArray, ...]:
    """Slopes by physical coefficients of drift ``(d, K)``, tensor ``(E, K)``, noise ``(E,)``."""
    (d, k), e = model.drift.shape, len(model.entries)
    change, products = model.basis.from_physical, units_of_entries(model.units)
    drift = sums.drift_slope.sum(axis=0).reshape(d, k) @ change.T / model.units[:, None]
    own = sums.tensor_slope.sum(axis=0)
    entries = own[: e * k].reshape(e, k) @ change.T / products[:, None]
    return drift, entries, own[e * k :] / products


def standard_errors(model: Process, sums: FilterSums) -> tuple[FloatArray, ...]:
    """Roots of the information on each physical coefficient: the usual size of its slope."""
    (d, k), e = model.drift.shape, len(model.entries)
    change, products = model.basis.from_physical, units_of_entries(model.units)
    blocks = sums.drift.reshape(d, k, d, k)
    drift = [np.diag(change @ blocks[p, :, p] @ change.T) / model.units[p] ** 2 for p in range(d)]
    gram = sums.tensor[: e * k, : e * k].reshape(e, k, e, k)
    entries = [np.diag(change @ gram[f, :, f] @ change.T) / products[f] ** 2 for f in range(e)]
    noise = np.diag(sums.tensor)[e * k :] / products**2
    return np.sqrt(drift), np.sqrt(entries), np.sqrt(noise)


def moved(model: Process, field: str, row: int, term: int | None, by: float) -> Process:
    """The model with one physical coefficient moved."""
    values = getattr(model, field).copy()
    products = units_of_entries(model.units)
    if term is None:
        values[row] += by / products[row]
    else:
        unit = model.units[row] if field == "drift" else products[row]
        values[row] += by / unit * model.basis.from_physical[term]
    changed: Process = replace(model, **{field: values})
    return changed


def log_likelihood(model: Process, data: Trajectories) -> float:
    """That of the pass, without derivatives."""
    total = 0.0
    for chunk in data.chunks(100 * BLOCK):
        noise = model.observation_noise
        for found in innovations(model.dynamics, noise, chunk, Blocks.of(chunk)):
            white = np.einsum("pqn,qn->pn", found.whitening, found.value)
            total += float(np.log(np.einsum("ppn->pn", found.whitening)).sum())
            total -= 0.5 * float((white**2).sum())
    return total


def differences(model: Process, data: Trajectories, field: str, by: float = 1e-4) -> FloatArray:
    """Derivatives of the log-likelihood by the physical coefficients of a field."""
    shape = getattr(model, field).shape
    out = np.empty(shape)
    for place in np.ndindex(*shape):
        row, term = place[0], place[1] if len(place) == 2 else None
        ends = [log_likelihood(moved(model, field, row, term, s), data) for s in (by, -by)]
        out[place] = (ends[0] - ends[1]) / (2 * by)
    return out


SHORT = (15,) * 16  # blocks run side by side, so that short ones take little time


def test_slopes_of_tensor_and_noise_are_derivatives_of_the_likelihood() -> None:
    # The filter of a linear process with constant tensor is linear in the data, and the library
    # has terms that the process has not. A row of the design is right in second order of |A| dt,
    # which is up to 0.45 here: a few percent of what a slope usually is, and nothing of constants.
    data, model = observed(3, uneven(SHORT)), linear()
    sums = reduce(FilterPass(model), data)
    assert log_likelihood(model, data) == pytest.approx(sums.log_likelihood, rel=1e-12)
    _, entries, noise = physical_slopes(model, sums)
    _, usual, usual_noise = standard_errors(model, sums)
    found = differences(model, data, "entries")
    assert (np.abs(entries - found) / usual).max() < 0.05
    assert (np.abs(entries - found) / usual)[:, 0].max() < 1e-3
    np.testing.assert_allclose(
        noise, differences(model, data, "observation_noise"), rtol=0, atol=1e-3 * usual_noise.max()
    )
    # Negative control: these slopes are of the usual size, not small.
    assert (np.abs(found) / usual).max() > 0.5
    assert (np.abs(noise) / usual_noise).max() > 0.1


def held_log_likelihood(data: Trajectories, p: int, power: tuple[int, int], by: float) -> float:
    """Log-likelihood if the drift of coordinate p has one term more, covariances held.

    The term is x^i y^j and has a mean over the spread, which is that of the process without it.
    """
    i, j = power

    def term(m: FloatArray, q: FloatArray) -> float:
        x, y = m
        value = x**i * y**j
        value += 0.5 * q[0, 0] * (i * (i - 1) * x ** max(i - 2, 0) * y**j)
        value += 0.5 * q[1, 1] * (j * (j - 1) * y ** max(j - 2, 0) * x**i)
        return float(value + q[0, 1] * i * j * x ** max(i - 1, 0) * y ** max(j - 1, 0))

    total = 0.0
    for y, steps in stretches(data):
        mean, own = y[0].copy(), NOISE.copy()
        for seen, dt in zip(y[1:], steps, strict=True):
            h = dt / 10
            for _ in range(10):  # midpoint rule
                middle = own + h / 2 * (MATRIX @ own + own @ MATRIX.T + FIELD)
                half = mean + h / 2 * (MATRIX @ mean + OFFSET)
                half[p] += h / 2 * by * term(mean, own)
                mean = mean + h * (MATRIX @ half + OFFSET)
                mean[p] += h * by * term(half, middle)
                own = own + h * (MATRIX @ middle + middle @ MATRIX.T + FIELD)
            e, s = seen - mean, own + NOISE
            total -= 0.5 * float(e @ np.linalg.solve(s, e))
            gain = own @ np.linalg.inv(s)
            mean, own = mean + gain @ e, (np.eye(2) - gain) @ own
    return total


POWERS = {"1": (0, 0), "x": (1, 0), "y": (0, 1), "x**2": (2, 0), "x*y": (1, 1), "y**2": (0, 2)}


def test_slopes_of_the_drift_are_derivatives_with_the_covariances_held() -> None:
    # What a drift does to covariances is left out of its slope: E[e e'] - S has mean zero, so
    # that is information lost, not a bias. The rest is right in second order of |A| dt.
    data, model = observed(4, uneven((15,) * 4)), linear()
    sums = reduce(FilterPass(model), data)
    found, usual = physical_slopes(model, sums)[0], standard_errors(model, sums)[0]
    expected = np.empty_like(found)
    for k, power in enumerate(POWERS.values()):
        for p in range(2):
            ends = [held_log_likelihood(data, p, power, by) for by in (1e-3, -1e-3)]
            expected[p, k] = (ends[0] - ends[1]) / 2e-3
    assert list(POWERS) == list(model.basis.terms)
    assert (np.abs(found - expected) / usual).max() < 0.02
    assert (np.abs(expected) / usual).max() > 0.5
    # The whole derivative differs, by less than a slope usually is.
    whole = differences(model, data, "drift", 1e-3)
    apart = np.abs(whole - found) / usual
    assert 0.05 < apart.max() < 1


WELLS: list[Formula] = [{"x": 1.0, "x**3": -1.0, "y": 0.5}, {"y": -1.0}]


def double_well(seed: int, dt: float, steps: int, trajectories: int) -> Trajectories:
    """Noisy samples of a curved process."""
    rng = np.random.default_rng(seed)
    roots, h = [np.linalg.cholesky(m) for m in (FIELD, NOISE)], dt / 20
    x, out = rng.uniform(-1, 1, (trajectories, 2)), []
    for n in range(20 * steps + 1):
        if n % 20 == 0:
            out.append(x + rng.standard_normal(x.shape) @ roots[1].T)
        drift = np.stack([x[:, 0] - x[:, 0] ** 3 + 0.5 * x[:, 1], -x[:, 1]], axis=1)
        x = x + drift * h + np.sqrt(h) * rng.standard_normal(x.shape) @ roots[0].T
    return Trajectories(list(np.stack(out, axis=1)), dt)


def test_slopes_of_a_curved_process_are_near_the_derivatives() -> None:
    # Here the covariances depend on where the mean is, and it moves with the coefficients: that
    # is left out, too. What is left is a fraction of what a slope usually is.
    model = model_of(
        WELLS,
        [{"1": float(v)} for v in entries_of(FIELD)],
        terms="poly3",
        noise=entries_of(NOISE),
    )
    data = double_well(0, DT, 15, 16)
    sums = reduce(FilterPass(model), data)
    slopes, usual = physical_slopes(model, sums), standard_errors(model, sums)
    for k, field in enumerate(("drift", "entries", "observation_noise")):
        apart = np.abs(differences(model, data, field) - slopes[k]) / usual[k]
        assert apart.max() < (1.0, 0.25, 0.25)[k], field


# Information


@pytest.mark.statistical
def test_the_information_is_the_covariance_of_slopes_over_simulations() -> None:
    trajectories, model = 400, linear(terms="poly1")
    starts = np.random.default_rng(5).normal(size=(trajectories, 2))
    data = observed_together(6, starts, BLOCK // 2 - 1)
    sums = reduce(FilterPass(model, trajectories), data)
    information = np.block([[sums.drift, sums.mixed], [sums.mixed.T, sums.tensor]])
    slopes = np.hstack([sums.drift_slope, sums.tensor_slope])
    root = np.linalg.cholesky(information / trajectories)
    white = np.linalg.solve(root, slopes.T)  # (c, R), independent and of variance one
    # Means: 4.5 standard errors, 18 of them, one alarm in 8,000.
    assert np.abs(white.mean(axis=1)).max() < 4.5 / np.sqrt(trajectories)
    # Variances: chi-squared, at 1e-6 each; sums over 63 steps are close to normal.
    variance = np.mean(white**2, axis=1)
    assert variance.max() < chi2.isf(1e-6, trajectories) / trajectories
    assert variance.min() > chi2.ppf(1e-6, trajectories) / trajectories
    off_diagonal = ~np.eye(len(white), dtype=bool)
    assert np.abs(np.corrcoef(white)[off_diagonal]).max() < 5 / np.sqrt(trajectories)
    # Negative control: what drift and tensor share is not nothing.
    alone = np.block([[sums.drift, 0 * sums.mixed], [0 * sums.mixed.T, sums.tensor]])
    white = np.linalg.solve(np.linalg.cholesky(alone / trajectories), slopes.T)
    assert np.abs(np.corrcoef(white)[off_diagonal]).max() > 5 / np.sqrt(trajectories)
    # Negative control: where the filter does not know the noise, slopes do not vanish.
    off = replace(model, observation_noise=0.6 * model.observation_noise)
    sums = reduce(FilterPass(off, trajectories), data)
    white = np.linalg.solve(np.linalg.cholesky(sums.tensor / trajectories), sums.tensor_slope.T)
    assert np.abs(white.mean(axis=1)).max() > 10 / np.sqrt(trajectories)


def observed_together(seed: int, starts: FloatArray, steps: int) -> Trajectories:
    """As ``observed``, of many trajectories at the same step."""
    rng = np.random.default_rng(seed)
    flow, shift, covariance = linear_transition(MATRIX, OFFSET, FIELD, DT)
    sensor, root = np.linalg.cholesky(NOISE), np.linalg.cholesky(covariance)
    x = starts + rng.standard_normal(starts.shape) @ sensor.T
    out = [starts]
    for _ in range(steps):
        x = x @ flow.T + shift + rng.standard_normal(x.shape) @ root.T
        out.append(x + rng.standard_normal(x.shape) @ sensor.T)
    return Trajectories(list(np.stack(out, axis=1)), DT)


def test_slopes_at_another_noise_are_expected_by_the_information() -> None:
    model = linear()
    data = observed_together(7, np.zeros((400, 2)), 30)
    sums, noise = reduce(FilterPass(model), data), 0.97 * model.observation_noise
    found = sums.with_noise(model, noise)
    other = reduce(FilterPass(replace(model, observation_noise=noise)), data)
    for name in ("drift_slope", "tensor_slope"):
        before, now, expected = (getattr(one, name)[0] for one in (sums, found, other))
        # In units of what a slope usually is: the information is an expectation, about a twentieth
        # of which the slopes of so many samples differ by.
        usual = np.sqrt(np.diag(getattr(sums, name.split("_")[0])))
        moved = np.abs((expected - before) / usual).max()
        assert np.abs((now - expected) / usual).max() < 0.15 * max(moved, 1.0)
    assert moved > 1  # negative control: they do move


# Blocks


def assert_same(found: FilterSums, expected: FilterSums, share: float = 1e-11) -> None:
    assert (found.count, found.clipped) == (expected.count, expected.clipped)
    for item in fields(FilterSums):
        one, other = getattr(found, item.name), np.asarray(getattr(expected, item.name))
        size = np.abs(other).max(initial=0.0)
        np.testing.assert_allclose(one, other, rtol=0, atol=share * size, err_msg=item.name)


DATASETS = {
    "one long": (400,),
    "uneven": (200, 3, 128, 127, 129, 1, 1, 2),
    "many short": (7,) * 60,
}


def streamed(data: Trajectories, size: int) -> Stream:
    """The same samples in blocks of ``size`` rows, which end anywhere."""
    times = np.concatenate([np.append(0.0, np.cumsum(data.steps(r))) for r in range(len(data))])
    owner = np.repeat(np.arange(len(data)), data.lengths)
    blocks = [
        Block(data.states[k : k + size], times[k : k + size], owner[k : k + size])
        for k in range(0, data.n_samples, size)
    ]
    return Stream([FunctionSource(lambda: blocks)])


@pytest.mark.parametrize("lengths", DATASETS)
def test_sums_do_not_depend_on_how_data_are_stored(lengths: str) -> None:
    data, model = observed(8, uneven(DATASETS[lengths])), linear(terms="poly1")
    step = FilterPass(model, len(data))
    expected = reduce(step, data, chunk_size=BLOCK * 100)
    for chunk_size in (BLOCK, 3 * BLOCK):
        assert_same(reduce(step, data, chunk_size=chunk_size), expected)
    assert_same(reduce(step, data, chunk_size=BLOCK, engine=Threads(2)), expected)
    assert_same(reduce(step, streamed(data, 50), chunk_size=2 * BLOCK), expected)
    # Slopes by trajectory add up to those of all.
    whole = reduce(FilterPass(model), data)
    np.testing.assert_allclose(whole.drift_slope[0], expected.drift_slope.sum(axis=0), atol=1e-8)


def test_chunks_that_cut_blocks_do_change_the_sums() -> None:
    # Negative control: a block that is cut begins anew, and knows less.
    data, step = observed(8, uneven((400,))), FilterPass(linear(terms="poly1"))
    one, other = (reduce(step, data, chunk_size=size) for size in (BLOCK, BLOCK // 2))
    assert abs(one.log_likelihood - other.log_likelihood) > 1e-3


@pytest.mark.parametrize("lengths", DATASETS)
def test_blocks_cover_every_row_once(lengths: str) -> None:
    data = observed(8, uneven(DATASETS[lengths]))
    seen = 0
    for chunk in data.chunks(4 * BLOCK):
        blocks = Blocks.of(chunk)
        rows = np.concatenate(list(blocks.steps()))
        assert sorted(rows.tolist()) == list(range(len(chunk.dt)))
        assert (np.diff(blocks.length) <= 0).all()
        for first, length, owner in zip(*blocks, strict=True):
            assert (chunk.trajectory[first : first + length] == owner).all()
        seen += len(rows)
    assert seen == data.n_increments


def test_sums_of_a_curved_process_do_not_depend_on_the_chunk_size() -> None:
    model = model_of(
        WELLS,
        [{"1": float(v)} for v in entries_of(FIELD)],
        terms="poly3",
        noise=entries_of(NOISE),
    )
    data = double_well(1, DT / 2, 130, 4)
    step = FilterPass(model)
    expected = reduce(step, data, chunk_size=100 * BLOCK)
    assert_same(reduce(step, data, chunk_size=BLOCK), expected)


def test_a_trajectory_may_have_the_slope_of_each_of_its_blocks() -> None:
    data, model = observed(9, uneven((300, 200))), linear()
    both = reduce(FilterPass(model, 2), data)
    alone = reduce(FilterPass(model, 1), data.subset([0]))
    np.testing.assert_allclose(both.drift_slope[0], alone.drift_slope[0], rtol=1e-9)
    np.testing.assert_allclose(both.tensor_slope[0], alone.tensor_slope[0], rtol=1e-9)


def test_samples_at_which_the_tensor_is_clipped_are_counted() -> None:
    falling: list[Formula] = [{"x": 0.5}]
    noise = entries_of(NOISE[:1, :1])
    model = model_of([{"x": -0.8}], falling, noise=noise)
    data = observed(2, uneven((100, 50)), d=1)
    found = reduce(FilterPass(model), data)
    assert 20 < found.clipped < 130
    assert np.isfinite(found.log_likelihood)
    none = model_of([{"x": -0.8}], [{"1": 0.5}], noise=noise)
    assert reduce(FilterPass(none), data).clipped == 0


def test_short_data_are_cut_into_short_blocks_unless_the_filter_remembers() -> None:
    model, one = linear(1), np.full(1, DT)
    few = observed(4, [np.tile(one, 400)], 1)
    many = Trajectories([np.zeros((BLOCK * MANY_BLOCKS + 1, 1))], DT, names=("x",))
    weak, middle, strong = (
        replace(model, observation_noise=model.observation_noise * times) for times in (1, 4, 1000)
    )
    assert block_length(weak, few) == SHORTEST_BLOCK
    assert block_length(middle, few) == 2 * SHORTEST_BLOCK
    assert block_length(weak, many) == BLOCK
    assert block_length(strong, few) == BLOCK
    # Where the tensor vanishes, samples say nothing new for long.
    vanishing = model_of([{"x": -0.8}], [{"x**2": 1.0}], noise=entries_of(NOISE[:1, :1]))
    even = model_of([{"x": -0.8}], [{"1": 1.0}], noise=entries_of(NOISE[:1, :1]))
    assert block_length(vanishing, few) > block_length(even, few)


def test_short_blocks_lose_little_of_what_the_samples_tell() -> None:
    model, data = linear(), observed(5, [np.full(1024, DT)])
    long, short = (reduce(FilterPass(model, block=n), data, chunk_size=1024) for n in (1024, 32))
    for name in ("drift", "tensor"):
        whole, left = (np.diag(getattr(sums, name)) for sums in (long, short))
        told = whole > 0
        assert (left[told] > 0.9 * whole[told]).all()
    # Negative control: blocks of two samples know nothing of the noise but its share of a step.
    tiny = reduce(FilterPass(model, block=2), data, chunk_size=1024)
    assert (np.diag(tiny.tensor) < 0.9 * np.diag(long.tensor)).any()


def test_pieces_of_blocks_find_what_the_blocks_find() -> None:
    # Memory is about two samples here: after 32 of them nothing is left of where a piece began.
    data, model = observed(3, uneven((300, 128, 70, 5))), linear()
    expected = reduce(FilterPass(model, len(data)), data, chunk_size=BLOCK)
    found = reduce(FilterPass(model, len(data), BLOCK, 32), data, chunk_size=BLOCK)
    assert_same(found, expected, 1e-9)
    # Negative control: after two of them much is.
    rough = reduce(FilterPass(model, len(data), BLOCK, 2), data, chunk_size=BLOCK)
    assert abs(rough.log_likelihood - expected.log_likelihood) > 1e-3


def test_slopes_that_are_not_clustered_are_the_sum_of_those_that_are() -> None:
    data, model = observed(3, uneven(SHORT)), linear()
    each, total = (reduce(FilterPass(model, number), data) for number in (len(data), 0))
    np.testing.assert_allclose(total.drift_slope[0], each.drift_slope.sum(axis=0), rtol=1e-9)
    np.testing.assert_allclose(total.tensor_slope[0], each.tensor_slope.sum(axis=0), rtol=1e-9)
