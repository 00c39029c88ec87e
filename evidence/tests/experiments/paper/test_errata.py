"""What a slip of the release changes, and nothing else."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from wgsindy import WGSINDy, zoo
from wgsindy.data import frozen
from wgsindy.model import Generator, TensorField
from wgsindy.terms import library
from wgsindy.zoo import scores as metrics
from wgsindy_evidence import recipes
from wgsindy_evidence.campaign import Case
from wgsindy_evidence.experiments import fits
from wgsindy_evidence.experiments.paper import errata


def test_a_case_without_the_slip_has_no_option_and_with_it_says_which() -> None:
    for slip in errata.SLIPS:
        right, wrong = (
            errata.slip_case(slip, slip.systems[0], 3, slipped=slipped) for slipped in (False, True)
        )
        assert right.options == ()
        assert right.recipe == "paper"
        assert right != wrong
        built_in = slip.name in recipes.OWN
        assert wrong.recipe == (slip.name if built_in else "paper")
        assert wrong.settings == ({} if built_in else {"slip": slip.name})
    known = {*errata.DATA, *errata.ESTIMATES, *errata.TRUTHS}
    assert known == {slip.name for slip in errata.SLIPS} - set(recipes.OWN)


@pytest.mark.statistical
def test_half_kicks_halve_the_variance_of_the_momentum() -> None:
    system = zoo.get("underdamped_langevin")
    case = Case("errata", system.key, "paper", 0, trajectories=8, steps=1200)
    for data, strength in (
        (errata.half_kicks(system, case), 0.5),
        (fits.simulate(case, system), 1.0),
    ):
        noise = np.concatenate(
            [np.diff(x[:, 1]) - system.generator.drift(x[:-1])[:, 1] * system.dt for x in data]
        )
        # An exact step of unit friction: variance s (1 - exp(-2 dt)) / 2; squares of 9,600
        # Gaussians have a relative standard error of sqrt(2 / 9600). Five of them.
        theory = strength * (1 - math.exp(-2 * system.dt)) / 2
        assert np.mean(noise**2) == pytest.approx(theory, rel=5 * math.sqrt(2 / len(noise)))


def test_padded_paths_end_in_repeats_of_their_last_point() -> None:
    system = zoo.get("bad_coverage")
    case = Case("errata", system.key, "paper", 5, trajectories=3)
    short, long = fits.simulate(case, system), errata.padded(system, case)
    assert long.names == short.names
    assert long.mean_dt == pytest.approx(short.mean_dt)
    for before, after in zip(short, long, strict=True):
        assert len(after) == errata.PADDED_ROWS
        np.testing.assert_array_equal(after[: len(before)], before)
        still = ~np.diff(after, axis=0).any(axis=1)
        assert still.sum() == errata.PADDED_ROWS - len(before)
        np.testing.assert_array_equal(after[-1], before[-1])


def test_other_units_are_the_same_process() -> None:
    system = zoo.get("two_factor_vasicek")
    case = Case("errata", system.key, "paper", 5, trajectories=2, steps=50)
    plain, scaled = fits.simulate(case, system), errata.other_units(system, case)
    for before, after in zip(plain, scaled, strict=True):
        np.testing.assert_array_equal(after, 1000 * before)
    truth, other = system.generator, errata.rescaled_truth(system)
    at = metrics.central_grid(plain.states, points=4)
    np.testing.assert_allclose(other.drift(1000 * at), 1000 * truth.drift(at), rtol=1e-12)
    np.testing.assert_allclose(other.diffusion(1000 * at), 1e6 * truth.diffusion(at), rtol=1e-12)
    assert other.names == truth.names
    # Negative control: it is not the truth in the old units.
    assert not np.allclose(other.diffusion(at), truth.diffusion(at))


def test_shrinkage_in_raw_units_changes_the_units_and_nothing_else() -> None:
    basis = library("poly1").bind(("x", "y"))
    factor = np.array([[2.0, 0.3, 0.0], [0.1, 0.0, 0.2], [0.02, 0.0, 0.01]])
    units = np.array([4.0, 0.05])
    field = TensorField("factor", frozen(factor), 0.05, frozen(units))
    before = Generator(basis, frozen(np.ones((2, 3))), field, {"from": "here"})
    after = errata.shrunk_in_raw_units(before)
    at = np.array([[0.4, -0.2], [1.0, 2.0]])
    np.testing.assert_array_equal(after.drift(at), before.drift(at))
    assert replace(after.tensor_field, units=before.tensor_field.units) == field
    assert after.info == before.info
    # a = 0.95 L L' + 0.05 (mean of the variances in their units) units^2, by hand.
    rows = np.column_stack([np.ones(2), at]) @ factor.T
    for found, unit in ((before, units), (after, np.ones(2))):
        for tensor, (l11, l21, l22) in zip(found.diffusion(at), rows, strict=True):
            lower = np.array([[l11, 0.0], [l21, l22]])
            plain = lower @ lower.T
            mean = np.mean(np.diag(plain) / unit**2)
            np.testing.assert_allclose(tensor, 0.95 * plain + 0.05 * mean * np.diag(unit**2))


@pytest.mark.parametrize("name", ["duffing", "van_der_pol"])
def test_the_truth_as_written_has_noise_on_the_velocity_only(name: str) -> None:
    system = zoo.get(name)
    written, true = errata.as_written(system), system.generator
    at = np.array([[0.5, -1.0], [1.5, 0.3]])
    np.testing.assert_array_equal(written.drift(at), true.drift(at))
    assert not written.diffusion(at)[:, 0].any()
    np.testing.assert_allclose(written.diffusion(at)[:, 1, 1], true.diffusion(at)[:, 1, 1])
    assert true.diffusion(at)[:, 0, 0].all()


def test_a_slip_of_the_estimate_reaches_the_figures() -> None:
    slip = next(item for item in errata.SLIPS if item.name == "shrinkage in raw units")
    case = replace(
        errata.slip_case(slip, "heston_logsv", 0, slipped=True), trajectories=2, steps=99
    )
    found = errata.run_case(case)
    system = zoo.get("heston_logsv")
    data = fits.simulate(case, system)
    right = WGSINDy(system.library, "paper", random_state=0).fit(data).generator_
    for estimate, same in ((errata.shrunk_in_raw_units(right), True), (right, False)):
        scores = metrics.scores_of(estimate, system.generator, data.states, scored=(1,))
        assert found["drift"] == scores.drift
        assert (found["tensor"] == scores.tensor) == same
        assert (found["fields"]["a22"] == scores.fields["a22"]) == same


def test_a_slip_of_the_truth_reaches_the_figures() -> None:
    slip = next(item for item in errata.SLIPS if item.name == "truth as written")
    right, wrong = (
        errata.run_case(replace(case, trajectories=2, steps=200))
        for case in (errata.slip_case(slip, "duffing", 0, slipped=s) for s in (False, True))
    )
    assert right["drift"] == wrong["drift"]
    assert math.isfinite(right["fields"]["a11"])
    assert math.isnan(wrong["fields"]["a11"])  # no error relative to zero
    assert wrong["tensor"] > 0.5 > right["tensor"]
