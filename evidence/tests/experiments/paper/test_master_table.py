"""A case of the master table."""

from __future__ import annotations

import numpy as np
import pytest
from table_result import result

from wgsindy import zoo
from wgsindy.errors import UnknownSystemError
from wgsindy.model import Generator, TensorField
from wgsindy_evidence.campaign import Case
from wgsindy_evidence.errors import CampaignError
from wgsindy_evidence.experiments.paper import table


def test_a_half_observed_system_is_refused_with_a_sentence() -> None:
    with pytest.raises(CampaignError, match=r"only \['x'\] of partial_observation is observed"):
        table.run_case(Case("table", "partial_observation", "paper", 0, trajectories=2))


def test_unknown_systems_are_refused_before_anything_runs() -> None:
    with pytest.raises(UnknownSystemError, match="no_such_system"):
        table.table_cases("paper", range(2), ["no_such_system"])


def test_a_real_case_has_every_figure() -> None:
    outcome = table.run_case(Case("table", "correlated_ou", "paper", 0, trajectories=4))
    assert set(result()) <= set(outcome)
    assert outcome["psd"] == outcome["psd_far"] == 1.0
    assert outcome["floor_drift"] < outcome["drift"]
    assert np.shape(outcome["support"]) == (5, 6)
    assert outcome == table.run_case(Case("table", "correlated_ou", "paper", 0, 4)) | {
        key: outcome[key] for key in ("seconds_fit", "seconds_simulate")
    }


def test_far_outside_finds_a_tensor_that_is_only_valid_inside() -> None:
    truth = zoo.get("rotational_ou").generator
    states = zoo.get("rotational_ou").simulate(0, trajectories=1).states
    assert table.psd_far_outside(truth, states) == 1.0
    # a11 = 1 - x^2 / 25 is positive for |x| < 5 and negative beyond.
    basis = zoo.get("diag_multiplicative").generator.basis
    entries = np.zeros((3, len(basis)))
    entries[:, 0] = [1, 0, 1]
    entries[0, list(basis.terms).index("x**2")] = -1 / 25
    field = TensorField("entries", entries, 0.0, np.ones(2))
    broken = Generator(basis, np.zeros((2, len(basis))), field)
    assert table.psd_far_outside(broken, states) < 1.0


def test_a_real_sharp_case_counts_its_terms() -> None:
    figures = table.run_case(Case("table", "rotational_ou", "sharp-euler", 0))
    # Two terms a drift component and two constant variances, of five fields with six terms.
    assert (figures["terms_present"], figures["terms_absent"]) == (6, 24)
    assert (figures["terms_found"], figures["terms_false"]) == (6, 0)
    assert "terms_present" not in table.run_case(Case("table", "rotational_ou", "paper", 0))
