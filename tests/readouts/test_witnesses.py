"""Read-outs against independent witnesses: Galerkin matrices, simulated exits, measured spectra."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.optimize import curve_fit

from wgsindy import zoo
from wgsindy.data import FloatArray
from wgsindy.model import Generator


def hermite_galerkin(generator: Generator, scale: float, size: int) -> FloatArray:
    """Eigenvalues of L in products of Hermite polynomials up to ``size`` a coordinate."""
    root = np.sqrt(np.arange(1, size))
    position = scale * (np.diag(root, 1) + np.diag(root, -1))
    slope = np.diag(root, 1) / scale
    d, one = generator.dimension, np.eye(size)

    def lifted(matrix: FloatArray, p: int) -> FloatArray:
        out: FloatArray = np.ones((1, 1))
        for q in range(d):
            out = np.asarray(np.kron(out, matrix if q == p else one), dtype=np.float64)
        return out

    x, slopes = [lifted(position, p) for p in range(d)], [lifted(slope, p) for p in range(d)]

    def field(coefficients: FloatArray) -> FloatArray:
        out = np.zeros_like(x[0])
        for c, powers in zip(coefficients, generator.basis.monomials.powers, strict=True):
            if c:
                term = c * np.eye(len(out))
                for p in range(d):
                    term = term @ np.linalg.matrix_power(x[p], int(powers[p]))
                out += term
        return out

    total = np.zeros_like(x[0])
    for p in range(d):
        total += field(generator.drift_coefficients[p]) @ slopes[p]
    entry = 0
    for p in range(d):
        for q in range(p + 1):
            share = 0.5 if p == q else 1.0
            coefficients = generator.tensor_field.coefficients[entry]
            total += share * field(coefficients) @ slopes[p] @ slopes[q]
            entry += 1
    values = np.linalg.eigvals(total)
    return np.asarray(values[np.argsort(-values.real)])


@pytest.mark.parametrize(
    ("name", "scale"),
    [("double_well_transverse", 0.45), ("nongradient_circulation", 0.4), ("coupled_ou", 0.8)],
)
def test_rates_are_those_of_a_galerkin_matrix(name: str, scale: float) -> None:
    generator = zoo.get(name).generator
    smaller, larger = (hermite_galerkin(generator, scale, size) for size in (22, 26))
    # Truncation adds eigenvalues of its own, which move with the size.
    stays = [v for v in larger if np.abs(smaller - v).min() < 4e-3 * abs(v)]
    settled = [v for v in stays if v.real < -1e-6]
    assert settled
    told = generator.readouts()
    assert float(told.gap) == pytest.approx(-settled[0].real, rel=0.005)
    for value in settled[:3]:
        assert min(abs(complex(rate) - value) for rate in told.rates) < 0.005 * abs(value)
    other = zoo.get("rotational_ou").generator.readouts(cells=64)
    assert min(abs(complex(other.rates[0]) - v) for v in settled) > 0.01


class Exits:
    """Simulated paths that end at x = ``low`` or x = ``high``, also between two steps."""

    def __init__(
        self, generator: Generator, start: list[float], low: float, high: float, seed: int
    ) -> None:
        rng, dt, count = np.random.default_rng(seed), 0.005, 2500
        x = np.tile(start, (count, 1))
        root = np.sqrt(np.diag(generator.diffusion(x[:1])[0]))
        self.times, self.high = np.zeros(count), np.zeros(count, dtype=bool)
        alive, time = np.arange(count), 0.0
        while len(alive):
            noise = rng.standard_normal(x.shape) * np.sqrt(dt)
            after = x + generator.drift(x) * dt + root * noise
            time += dt
            ended = np.zeros((2, len(alive)), dtype=bool)
            for k, (line, way) in enumerate(((low, 1.0), (high, -1.0))):
                before, now = way * (x[:, 0] - line), way * (after[:, 0] - line)
                # A Brownian bridge between both ends touches the line with this probability.
                touch = np.exp(
                    -2 * np.maximum(before, 0) * np.maximum(now, 0) / (root[0] ** 2 * dt)
                )
                ended[k] = (now <= 0) | (rng.uniform(size=len(x)) < touch)
            done = ended.any(axis=0)
            self.times[alive[done]], self.high[alive[done]] = time, ended[1][done]
            alive, x = alive[~done], after[~done]

    @property
    def mean(self) -> tuple[float, float]:
        """Mean time and the half-width of its 95 % interval."""
        return self.times.mean(), 1.96 * self.times.std() / np.sqrt(len(self.times))

    @property
    def share(self) -> tuple[float, float]:
        """Share of exits above and the half-width of its 95 % interval."""
        share = self.high.mean()
        return share, 1.96 * np.sqrt(share * (1 - share) / len(self.times))


def noisy_maier_stein() -> Generator:
    """The zoo's, with so much noise that exits are seen soon."""
    drift = zoo.get("maier_stein").drift
    return Generator.from_sympy(("x", "y"), list(drift), [[0.36, 0], [0, 0.36]])


@pytest.mark.parametrize("name", ["maier_stein", "double_well_transverse"])
def test_passage_times_are_those_of_simulated_exits(name: str) -> None:
    generator = noisy_maier_stein() if name == "maier_stein" else zoo.get(name).generator
    found = generator.readouts().passage_time([-1.0, 0.0], "x > 0").mean
    mean, half = Exits(generator, [-1.0, 0.0], -np.inf, 0.0, seed=1).mean
    assert abs(float(found) - mean) < half
    # A set whose edge is elsewhere is told apart.
    other = generator.readouts().passage_time([-1.0, 0.0], "x > 0.25").mean
    assert abs(float(other) - mean) > half


@pytest.mark.parametrize("name", ["maier_stein", "double_well_transverse"])
def test_committors_are_shares_of_simulated_exits(name: str) -> None:
    generator = noisy_maier_stein() if name == "maier_stein" else zoo.get(name).generator
    start = [-0.15, 0.3]
    found = generator.readouts().committor("x < -0.8", "x > 0.8", [start])
    share, half = Exits(generator, start, -0.8, 0.8, seed=2).share
    assert abs(found[0] - share) < half
    assert abs(0.5 - share) > half


PATHS, TIME = 128, 480.0


def spectral_peak(name: str, seed: int) -> tuple[float, float]:
    """Angular frequency and half-width of the peak in the measured spectrum of x."""
    generator, dt, steps, paths = zoo.get(name).generator, 0.005, 100_000, PATHS
    start = np.random.default_rng(seed).normal(0, 0.5, (paths, 2)) + np.array([1.0, 0.0])
    data = generator.simulate(start, dt=dt, steps=steps, trajectories=paths, random_state=seed)
    x = np.stack(list(data))[:, 4000::4, 0]
    power = (np.abs(np.fft.rfft(x - x.mean(axis=1, keepdims=True))) ** 2).mean(axis=0)
    w = 2 * np.pi * np.fft.rfftfreq(x.shape[1], 4 * dt)
    top = w[power.argmax()]
    near = (w > 0.65 * top) & (w < 1.35 * top)

    def peak(
        w: FloatArray, height: float, lean: float, centre: float, width: float, rest: float
    ) -> FloatArray:
        # What a pair of rates adds to a spectrum, a line and its slope; of the others, a constant.
        line = (height + lean * (w - centre)) * width**2 / ((w - centre) ** 2 + width**2)
        return np.asarray(np.log(np.maximum(line + rest, 1e-9)))

    guess = (1.0, 0.0, top, 0.06, 0.0)
    fitted, _ = curve_fit(peak, w[near], np.log(power[near] / power.max()), guess)
    return float(fitted[2]), abs(float(fitted[3]))


@pytest.mark.parametrize("name", ["stuart_landau", "van_der_pol"])
def test_the_slowest_pair_is_the_peak_of_the_measured_spectrum(name: str) -> None:
    told = zoo.get(name).generator.readouts(cells=192)
    rate = told.rates[0]
    centre, width = spectral_peak(name, seed=4)
    # A line of this width is measured to a part sqrt(4 / (width * time)) of the width, in place
    # and in width: about 3 %. Three of these are passed by chance once in 370.
    error = 3 * width * np.sqrt(4 / (width * PATHS * TIME))
    assert abs(rate.frequency.value - centre) < error + rate.frequency.grid_error
    assert abs(rate.decay.value - width) < error + rate.decay.grid_error
    # A harmonic would not do, nor a width of half the size.
    assert abs(2 * rate.frequency.value - centre) > error + rate.frequency.grid_error
    assert abs(rate.decay.value / 2 - width) > error + rate.decay.grid_error
    turning = told.oscillation
    assert turning.frequency.value == pytest.approx(rate.frequency.value / (2 * np.pi), rel=1e-3)
    assert turning.quality.value == pytest.approx(centre / (2 * width), rel=0.3)


def test_all_directions_are_combined() -> None:
    """Nothing above uses a start that lies on a cell: nor does this."""
    generator = zoo.get("rotational_ou").generator
    corners = list(product((-0.31, 0.31), (-0.17, 0.17)))
    told = generator.readouts(cells=64)
    times = [float(told.passage_time(list(start), "x**2 + y**2 > 1").mean) for start in corners]
    np.testing.assert_allclose(times, times[0], rtol=1e-3)
