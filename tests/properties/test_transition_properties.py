"""What a step makes of any parameters, however far off: numbers, and without jumps."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from drawn_systems import MANY, SEEDS
from hypothesis import given, settings
from hypothesis import strategies as st
from working_models import asked, linear_model, model_of, names_of

from wgsindy.data import Trajectories
from wgsindy.estimate.likelihood.exact_steps import ExactSteps
from wgsindy.estimate.likelihood.filter_sums import FilterPass
from wgsindy.estimate.likelihood.filtered_samples import FilteredSamples
from wgsindy.estimate.likelihood.normal_equations import NormalPass, Runner
from wgsindy.estimate.likelihood.process import Process
from wgsindy.estimate.likelihood.selection import Extrapolation, TermSelection
from wgsindy.model import tensor
from wgsindy.passes import SERIAL, data_summary, reduce
from wgsindy.recipes import SHARP
from wgsindy.terms import library

DIMENSIONS = st.integers(1, 3)
LIBRARIES = st.sampled_from(["poly1", "poly3", "trig"])
STEPS = st.floats(-3, 1).map(lambda power: float(10.0**power))
FEWER = settings(MANY, max_examples=25)


def drawn(d: int, terms: str, seed: int, size: float) -> Process:
    """A process with random coefficients of all terms, of about the ``size`` given."""
    rng = np.random.default_rng(seed)
    names = names_of(d)
    model = model_of(
        [{one: -1.0} for one in names],
        [{"1": 0.5}] * len(tensor.pairs(d)),
        terms=terms,
        low=-2.0,
        high=2.0,
    )
    fields = rng.normal(size=(d + len(model.entries), len(model.basis)))
    fields *= size * rng.choice([1.0, 0.01], size=(len(fields), 1))
    return replace(model, drift=fields[:d], entries=fields[d:])


@MANY
@given(d=DIMENSIONS, terms=LIBRARIES, seed=SEEDS, power=st.floats(-1, 4), dt=STEPS)
def test_a_step_ends_in_numbers_whatever_the_parameters(
    d: int, terms: str, seed: int, power: float, dt: float
) -> None:
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2, 2, size=(12, d))
    x[:2] *= 50  # far from all data
    model = asked(drawn(d, terms, seed, 10.0**power), x[2:], dt)
    root = rng.normal(size=(d, d))
    spreads = [None, np.repeat((root @ root.T)[:, :, None], len(x), axis=2)]
    for spread in spreads:
        path = model.dynamics.step(x, np.full(len(x), dt), spread)
        for name in ("theta", "mean", "covariance", "flow", "response"):
            assert np.isfinite(getattr(path, name)).all(), (name, spread is None)


def data_of(d: int, seed: int, dt: float) -> Trajectories:
    rng = np.random.default_rng(seed)
    x = np.zeros((80, d))
    for n in range(79):
        x[n + 1] = 0.7 * x[n] + 0.5 * rng.standard_normal(d)
    return Trajectories(x, dt)


@MANY
@given(d=st.integers(1, 2), seed=SEEDS, power=st.floats(0, 300), noisy=st.booleans())
def test_a_look_gives_numbers_or_nothing(d: int, seed: int, power: float, noisy: bool) -> None:
    """Whatever the parameters: no exception, and nothing that is handed on is not a number."""
    data = data_of(d, seed, 0.5)
    basis, summary = library("poly2").bind(data.names), data_summary(data, standardise=True)
    selection = TermSelection(basis, Extrapolation(basis, summary), SHARP, None)
    run = Runner(data, SERIAL, 4096)
    start = Process.start(basis.in_frame(summary.region), summary, is_chain=False)
    rng = np.random.default_rng(seed)
    with np.errstate(over="ignore"):
        process = replace(
            start,
            drift=rng.normal(size=start.drift.shape) * 10.0**power,
            entries=rng.normal(size=start.entries.shape) * 10.0 ** (power / 2),
        )
    kernel: ExactSteps | FilteredSamples = ExactSteps(selection, run)
    if noisy:
        noise = tensor.entries_of(0.01 * np.eye(d)[None])[0]
        process = replace(
            process, observation_noise=noise, noisy=np.full(len(noise), fill_value=True)
        )
        kernel = FilteredSamples(selection, run, 32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = kernel.look(process, (), 0.0)
    if found is None:
        return
    later = found.proposal
    for one in (found.evidence, later.drift, later.entries, later.observation_noise, later.units):
        assert np.isfinite(one).all()


def likelihood(process: Process, data: Trajectories) -> float:
    step = FilterPass(process) if process.noisy.any() else NormalPass(process)
    return float(reduce(step, data).log_likelihood)


@FEWER
@given(d=st.integers(1, 2), seed=SEEDS, noisy=st.booleans(), power=st.floats(-1, 1))
def test_the_likelihood_has_no_jump_where_steps_may_end(
    d: int, seed: int, noisy: bool, power: float
) -> None:
    """Halving a step leads to where it began: if not, none would ever be short enough."""
    rng, dt = np.random.default_rng(seed), 0.5
    x = np.zeros((8, 13, d))
    for n in range(12):
        x[:, n + 1] = 0.7 * x[:, n] + 0.5 * rng.standard_normal((8, d))
    data = Trajectories(list(x), dt)
    sensor = (0.05 if noisy else 0.0) * np.eye(d)
    start = linear_model(
        -0.7 * np.eye(d),
        np.zeros(d),
        0.7 * np.eye(d),
        terms="poly3",
        noise=tensor.entries_of(sensor[None])[0],
    )
    start = asked(start, data.states[:-1], dt)
    end = drawn(d, "poly3", seed, 10.0**power)

    def at(share: float) -> float:
        drift = (1 - share) * start.drift + share * end.drift
        entries = (1 - share) * start.entries + share * end.entries
        return likelihood(replace(start, drift=drift, entries=entries), data)

    shares = np.concatenate([[0.0], np.geomspace(1e-3, 1, 20)])
    found = np.array([at(one) for one in shares])
    near = np.flatnonzero(found > found[0] - 500)
    last = int(near.max()) if len(near) else 0
    # Where the likelihood changes most by a step this short, look until that is nothing.
    if not last:
        return
    change = np.abs(np.diff(found[: last + 1]))
    k = int(np.argmax(change))
    low, high, ends = shares[k], shares[k + 1], (found[k], found[k + 1])
    for _ in range(30):
        middle = (low + high) / 2
        value = at(middle)
        if abs(value - ends[0]) > abs(value - ends[1]):
            high, ends = middle, (ends[0], value)
        else:
            low, ends = middle, (value, ends[1])
    assert abs(ends[1] - ends[0]) < 1e-3  # of 100 and more over the interval
