"""What a datasheet keeps of a fit."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from wgsindy import WGSINDy, zoo
from wgsindy.model import Generator
from wgsindy.model import model_file as modelfile
from wgsindy.zoo import scores as metrics
from wgsindy_evidence.campaign import Case, rounded
from wgsindy_evidence.experiments.ours import datasheets


def datasheet_case(seed: int, method: str = "sharp-euler") -> Case:
    return Case("datasheet", "rotational_ou", method, seed, 2, 300)


def test_a_datasheet_keeps_the_model_of_one_seed_only() -> None:
    drawn = datasheets.run_case(datasheet_case(datasheets.DRAWN))
    other = datasheets.run_case(datasheet_case(datasheets.DRAWN + 1))
    assert set(drawn) - set(other) == {"model", "range", "reasons", "increments"}
    assert drawn["increments"] == 600


@pytest.mark.parametrize("method", datasheets.METHODS)
def test_the_model_of_a_datasheet_is_the_fit(method: str) -> None:
    case = datasheet_case(datasheets.DRAWN, method)
    kept: Any = json.loads(json.dumps(rounded(datasheets.run_case(case))))
    data = zoo.get("rotational_ou").simulate(case.seed, trajectories=2, steps=300)
    fitted = WGSINDy("poly2", method, random_state=case.seed).fit(data)
    model = Generator(*modelfile.decode(kept["model"]))
    low, high = np.array(kept["range"])
    np.testing.assert_allclose([low, high], np.percentile(data.states, [2, 98], axis=0), rtol=1e-5)
    at = metrics.central_grid(data.states, points=3)
    # Six digits of every coefficient are kept.
    np.testing.assert_allclose(model.drift(at), fitted.generator_.drift(at), atol=1e-4)
    np.testing.assert_allclose(model.diffusion(at), fitted.generator_.diffusion(at), atol=1e-4)
    assert kept["verdict"] == fitted.diagnostics_.verdict
    assert ("coefficients" in kept) == (method == "sharp-euler")  # the one with error bars
    if method == "sharp-euler":
        rows = [(row.target, row.term) for row in fitted.generator_.coefficients]
        assert [tuple(row[:2]) for row in kept["coefficients"]] == rows
        errors = [row.std_error for row in fitted.generator_.coefficients]
        np.testing.assert_allclose([row[3] for row in kept["coefficients"]], errors, rtol=1e-5)
