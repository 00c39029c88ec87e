"""The examples on real data: what their pages say, and controls that must come out otherwise.

They run where their data are installed (``make test`` sees to it) and reach for no network.
"""

from __future__ import annotations

import re
import socket
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fish_checks
import fish_school
import sp500_vix
import wgsindy as wg
from wgsindy.data import FloatArray
from wgsindy.diagnostics import Limitation

STORED = Path(__file__).parents[2] / "docs" / "tutorials"
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")

# What the readers say of these data is known, and shown in the pages.
pytestmark = [
    pytest.mark.filterwarnings("ignore::wgsindy.errors.MissingValuesWarning"),
    pytest.mark.filterwarnings("ignore::wgsindy.errors.RepeatedSamplesWarning"),
    pytest.mark.filterwarnings("ignore::wgsindy.errors.OutlierWarning"),
]


def require(package: str) -> None:
    try:
        distribution(package)
    except PackageNotFoundError:
        pytest.skip(f"{package} is not installed, so its data are not here; make test installs it")


@pytest.fixture(scope="module")
def days() -> Any:
    require("arch")
    return sp500_vix.load()


@pytest.fixture(scope="module")
def school() -> wg.Trajectories:
    require("pydaddy")
    return fish_school.load().data


@pytest.fixture(scope="module")
def native(school: wg.Trajectories) -> fish_school.Look:
    return fish_school.look(school, fish_school.AS_THEY_ARE)


@pytest.fixture(scope="module")
def thinned(school: wg.Trajectories) -> fish_school.Look:
    return fish_school.look(fish_school.thinned(school, fish_school.CHOSEN))


@pytest.fixture(scope="module")
def clean(thinned: fish_school.Look) -> FloatArray:
    return fish_checks.simulated(thinned.est.generator_, fish_school.STEP)


# --- printed output is what the pages show ----------------------------------------------------


def unit(number: str) -> float:
    """What one more in the last printed digit would add."""
    mantissa, _, exponent = number.partition("e")
    return float(10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2])))


def differences(found: str, stored: str) -> list[str]:
    """Lines that differ in words, or in a number by more than one in its last printed digit.

    Other versions of NumPy and other processors add up in another order, which moves results by
    parts in 10^12: enough to tip a rounding, not more.
    """
    pairs = list(zip(found.splitlines(), stored.splitlines(), strict=False))
    bad = [f"{a} | {b}" for a, b in pairs if NUMBER.split(a) != NUMBER.split(b)]
    for a, b in pairs:
        numbers = zip(NUMBER.findall(a), NUMBER.findall(b), strict=False)
        bad += [f"{a} | {b}" for x, y in numbers if abs(float(x) - float(y)) > 1.001 * unit(y)]
    if len(found.splitlines()) != len(stored.splitlines()):
        bad.append("another number of lines")
    return bad


@pytest.mark.parametrize(
    ("found", "same"),
    [
        ("a = 0.12 ± 0.003", True),
        ("a = 0.13 ± 0.004", True),
        ("a = 0.14 ± 0.003", False),
        ("a = -0.12 ± 0.003", False),
        ("b = 0.12 ± 0.003", False),
        ("a = 0.12 ± 0.003\nmore", False),
    ],
)
def test_outputs_are_compared_by_printed_digits(found: str, same: bool) -> None:
    assert (not differences(found, "a = 0.12 ± 0.003")) == same


@pytest.mark.slow
@pytest.mark.parametrize(
    ("package", "script", "name"),
    [("arch", sp500_vix, "sp500-vix"), ("pydaddy", fish_school, "fish-school")],
)
def test_the_script_prints_what_its_page_shows_and_asks_no_network(
    package: str,
    script: Any,
    name: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    require(package)

    def refuse(*_: object) -> None:
        raise AssertionError("the example opened a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    script.main(["--out", str(tmp_path)])
    stored = (STORED / f"{name}-output.txt").read_text(encoding="utf-8")
    wrong = differences(capsys.readouterr().out, stored)
    assert not wrong, "run make examples and read the pages again:\n" + "\n".join(wrong)
    assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    reports = list(tmp_path.glob("*report.html"))
    assert reports
    assert all("</html>" in report.read_text(encoding="utf-8")[-200:] for report in reports)


@pytest.mark.parametrize("name", ["sp500-vix", "fish-school"])
def test_the_page_includes_what_the_script_makes(name: str) -> None:
    page = (STORED / f"{name}.md").read_text(encoding="utf-8")
    assert f"{name}-output.txt" in page
    assert f"({name}.png)" in page
    assert (STORED / f"{name}.png").exists()


@pytest.mark.parametrize("name", ["sp500-vix", "fish-school"])
def test_decimal_numbers_of_the_page_are_printed_by_the_script(name: str) -> None:
    page = (STORED / f"{name}.md").read_text(encoding="utf-8")
    printed = set(NUMBER.findall((STORED / f"{name}-output.txt").read_text(encoding="utf-8")))
    prose = re.sub(r"pydaddy==\S+|doi \S+", "", page)
    quoted = {number for number in NUMBER.findall(prose) if "." in number}
    assert quoted
    assert quoted <= printed


# --- S&P 500 and VIX --------------------------------------------------------------------------


def test_leverage_effect(days: Any) -> None:
    x = sp500_vix.states(days)
    found = sp500_vix.fit(x)[1].generator_.leverage(x).mean()
    assert -0.9 < found < -0.7
    assert found == pytest.approx(np.corrcoef(*np.diff(x, axis=0).T)[0, 1], abs=0.03)


@pytest.mark.statistical
def test_leverage_is_gone_once_the_days_are_shuffled(days: Any) -> None:
    x = sp500_vix.states(days)
    steps = np.diff(x[:, 0])
    np.random.default_rng(0).shuffle(steps)
    shuffled = np.column_stack([np.concatenate([[0.0], np.cumsum(steps)]), x[:, 1]])
    # Four standard errors, doubled for the heavy tails and for terms in v.
    limit = 8 / np.sqrt(len(x))
    assert abs(sp500_vix.fit(shuffled)[1].generator_.leverage(shuffled).mean()) < limit


def price_drift_is_claimed(est: wg.WGSINDy) -> bool:
    denied = any(
        finding.limitation is Limitation.LOW_SIGNAL and "b1" in finding.fields
        for finding in est.diagnostics_.findings
    )
    return not denied and est.generator_.equations()[0] != "b1 = 0"


def test_price_drift_is_not_claimed(days: Any) -> None:
    x = sp500_vix.states(days)
    mean, error = sp500_vix.mean_return(x)
    assert abs(mean) < 2 * error
    assert not price_drift_is_claimed(sp500_vix.fit(x)[1])


def test_a_large_price_drift_is_claimed(days: Any) -> None:
    x = sp500_vix.states(days).copy()
    x[:, 0] += np.arange(len(x)) / sp500_vix.DAYS  # e-fold a year: 17 standard errors
    est = sp500_vix.fit(x)[1]
    assert price_drift_is_claimed(est)
    mean, error = sp500_vix.mean_return(x)
    calm = est.generator_.drift([[0.0, 0.0]])[0, 0]
    assert abs(calm - mean) < 4 * error


@pytest.mark.statistical
def test_prices_move_in_trading_time(days: Any) -> None:
    assert sp500_vix.weekend_ratio(days)[0] < 2
    nights = np.diff(days.index.to_numpy()) / np.timedelta64(1, "D")
    steps = np.random.default_rng(0).normal(size=(len(nights), 2)) * np.sqrt(nights)[:, None] / 100
    calendar = days.iloc[1:] * 0 + np.exp(np.cumsum(steps, axis=0))
    # A variance of 227 normal steps over one of 984: standard error 0.3 of 3.
    assert np.all(np.abs(sp500_vix.weekend_ratio(calendar) - 3) < 1.2)


def test_the_logarithm_is_the_most_even_volatility(days: Any) -> None:
    vix = days["vix"].to_numpy()
    found = [sp500_vix.excess_kurtosis(np.diff(f)) for f in (vix**2, vix, np.log(vix))]
    assert found == sorted(found, reverse=True)
    normal = np.random.default_rng(0).normal(size=len(vix))
    assert abs(sp500_vix.excess_kurtosis(normal)) < 4 * np.sqrt(24 / len(vix))


# --- fish -------------------------------------------------------------------------------------


def test_missing_rows_are_bridged_or_split_the_recording(school: wg.Trajectories) -> None:
    path = distribution("pydaddy").locate_file("pydaddy/data/fish_data/ectropus.csv")
    rows = np.genfromtxt(str(path), delimiter=",")
    there = np.isfinite(rows).any(axis=1)  # a row that lacks one of two values is kept
    assert np.count_nonzero(~there) > 0
    assert len(school) > 1
    assert school.n_samples == np.count_nonzero(there)
    # The longest hole is cut, over the others the step is longer.
    assert school.n_increments > np.count_nonzero(there[1:] & there[:-1])


def test_neighbouring_residuals_oppose_each_other(native: fish_school.Look) -> None:
    # 24,616 increments: one standard error is below 0.01.
    assert native.lags[1] < -0.2


@pytest.mark.statistical
def test_residuals_of_a_clean_path_do_not(clean: FloatArray) -> None:
    data = fish_checks.with_noise(clean, fish_school.STEP, 0.0, of_state=False)
    assert abs(fish_school.look(data).lags[1]) < 4 / np.sqrt(data.n_increments)


def test_thinning_halves_the_tensor_and_then_leaves_it(
    school: wg.Trajectories, native: fish_school.Look, thinned: fish_school.Look
) -> None:
    assert thinned.along < 0.6 * native.along
    for every in (4, 16):
        other = fish_school.look(fish_school.thinned(school, every))
        assert other.along == pytest.approx(thinned.along, rel=0.15)
        assert other.across == pytest.approx(thinned.across, rel=0.15)


@pytest.mark.statistical
def test_thinning_leaves_the_tensor_of_a_clean_path(
    clean: FloatArray, thinned: fish_school.Look
) -> None:
    data = fish_checks.with_noise(clean, fish_school.STEP, 0.0, of_state=False)
    for every in (1, 4):
        found = fish_school.look(fish_school.thinned(data, every))
        assert found.along == pytest.approx(thinned.along, rel=0.15)


def test_the_drift_keeps_its_shape_and_loses_what_noise_added(
    native: fish_school.Look, thinned: fish_school.Look
) -> None:
    assert 0 < thinned.rate < 0.7 * native.rate
    terms = {row.term for row in thinned.est.generator_.coefficients if row.target in ("b1", "b2")}
    assert terms <= {"mx", "my"}


@pytest.mark.statistical
def test_noise_falls_with_polarisation(school: wg.Trajectories, clean: FloatArray) -> None:
    variances = [variance for _, _, variance in fish_checks.noise_by_polarisation(school)]
    assert variances[0] > 5 * variances[-1]
    even = fish_checks.with_noise(clean, fish_school.STEP, 0.01, of_state=False)
    for _, _, variance in fish_checks.noise_by_polarisation(even):
        assert variance == pytest.approx(0.01, rel=0.25)


@pytest.mark.statistical
@pytest.mark.parametrize("seed", range(3))
def test_the_filter_mends_noise_that_is_the_same_everywhere(
    clean: FloatArray, thinned: fish_school.Look, seed: int
) -> None:
    data = fish_checks.with_noise(clean, fish_school.STEP, 0.0038, of_state=False, seed=seed)
    plain, corrected = fish_school.look(data, fish_school.AS_THEY_ARE), fish_school.look(data)
    assert plain.rate > 2 * thinned.rate
    # Where the tensor ends, at |m| = 1, a filter whose prediction is normal has a bias: the rate is
    # 1.40 to 1.44 times that of the clean simulation in these three, without a filter over 2.
    assert corrected.rate == pytest.approx(thinned.rate, rel=0.5)
    assert corrected.along == pytest.approx(thinned.along, rel=0.25)


def test_the_filter_is_dropped_on_the_fish(
    school: wg.Trajectories, native: fish_school.Look
) -> None:
    # One variance for all states is too much where the school is polarised. Should a filter
    # learn that, the page has to be written anew.
    found = fish_school.look(school)
    assert found.est.diagnostics_.observation_noise == (0.0, 0.0)
    first = found.est.diagnostics_.findings[0]
    assert (first.limitation, first.handled) == (Limitation.NOISE, False)
    assert found.along == pytest.approx(native.along, rel=0.05)
    assert found.rate == pytest.approx(native.rate, rel=0.05)


def test_no_direction_is_special(thinned: fish_school.Look) -> None:
    errors = [row.std_error for row in thinned.est.generator_.coefficients if row.term == "mx**2"]
    _, c, rows = fish_checks.isotropic_law(thinned.est.generator_)
    assert c > 0
    for _, predicted, found in rows:
        assert abs(found - predicted) < 4 * max(errors)


def test_a_special_direction_is_seen() -> None:
    import sympy

    mx, my = sympy.symbols("mx my")
    striped = wg.Generator.from_sympy(("mx", "my"), [-mx, -my], [[1 - mx**2, 0], [0, 1]])
    rows = fish_checks.isotropic_law(striped)[2]
    assert max(abs(found - predicted) for _, predicted, found in rows) > 0.5


@pytest.mark.parametrize(
    ("library", "every", "start"),
    [*(("poly2", k, 0) for k in range(4, 17)), ("poly3", 8, 3)],
)
def test_both_rows_of_the_tensor_are_found_at_every_step(
    school: wg.Trajectories, thinned: fish_school.Look, library: str, every: int, start: int
) -> None:
    found = fish_school.look(fish_school.thinned(school, every, start), library=library)
    tensor = found.est.generator_.diffusion([[0.0, 0.0]])[0]
    reference = thinned.est.generator_.diffusion([[0.0, 0.0]])[0]
    assert np.diag(tensor) == pytest.approx(np.diag(reference), rel=0.5)
