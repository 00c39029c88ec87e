"""Questions that take another fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from wgsindy.data.trajectories import Trajectories
from wgsindy.diagnostics import refits
from wgsindy.estimate.fit import fit_dataset


def noisy_walk() -> Trajectories:
    rng = np.random.default_rng(0)
    x = np.zeros((4, 1501, 1))
    for n in range(1500):
        x[:, n + 1] = 0.95 * x[:, n] + rng.normal(0, 0.3, (4, 1))
    return Trajectories(list(x + rng.normal(0, 0.2, x.shape)), 0.05)


def test_a_refit_that_cannot_be_solved_is_no_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    fit = fit_dataset(noisy_walk(), "poly1")
    asked = []

    def unsolved(*_: Any, **__: Any) -> None:
        asked.append(1)
        raise np.linalg.LinAlgError("SVD did not converge")

    monkeypatch.setattr(refits, "fit_likelihood", unsolved)
    found = refits.step_change(fit)
    assert asked  # there was noise, so fewer samples were asked
    assert found is not None
    assert found.fields == ()
