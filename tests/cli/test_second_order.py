"""`wgsindy fit --order`: positions in a file, velocities in the result."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from command import Command

from wgsindy import Generator
from wgsindy.workflow import report_again


@pytest.fixture
def track() -> Path:
    """Positions of a noisy oscillator in um, some of them lost."""
    rng, h = np.random.default_rng(0), 0.01
    x, v, out = np.zeros(6), np.zeros(6), []
    for n in range(4000):
        if n % 10 == 0:
            out.append(x.copy())
        v = v + h * (-2 * x - 0.5 * v) + np.sqrt(0.4 * h) * rng.standard_normal(6)
        x = x + h * v
    seen = np.array(out).T + rng.normal(0, 0.02, (6, 400))
    seen[rng.random(seen.shape) < 0.03] = np.nan
    lines = ["run,t [s],x [um]"]
    lines += [f"{r},{n / 10:.1f},{y:.5f}" for r, row in enumerate(seen) for n, y in enumerate(row)]
    path = Path("track.csv")
    path.write_text("\n".join(lines).replace("nan", ""))
    return path


def test_positions_give_a_model_of_positions_and_velocities(wgsindy: Command, track: Path) -> None:
    ended = wgsindy("fit", str(track), "--order", "2", "--library", "poly1", "--out", "out")
    assert (ended.code, ended.err) == (0, "")
    assert "  b[x] = v_x   [um/s]" in ended.out.splitlines()
    assert "[um^2/s^3]" in ended.out
    model = Generator.load("out/model.json")
    assert model.names == ("x", "v_x")
    assert model.observation.hidden_velocities
    assert model.observation.units == {"x": "um", "v_x": "um/s"}
    np.testing.assert_array_equal(model.drift([[0.3, 0.7]])[0, 0], 0.7)
    page = Path("out/report.html").read_text()
    assert "v_x over time" in page
    assert report_again("out", "track.csv", out="again.html").read_text().count("v_x over time")
    # Negative control: without it, the states are states.
    plain = wgsindy("fit", str(track), "--library", "poly1", "--no-report", "--json")
    found = json.loads(plain.out)
    assert "v_x" not in json.dumps(found["coefficients"])
    assert any("--order 2" in one["advice"] for one in found["findings"])


def test_auto_says_what_the_data_prefer(wgsindy: Command, track: Path) -> None:
    ended = wgsindy("fit", str(track), "--order", "auto", "--library", "poly1", "--no-report")
    assert ended.code == 0
    told = " ".join(ended.out.split())
    assert "prefer second order, with hidden velocities, by" in told


def test_what_cannot_be_is_a_sentence(wgsindy: Command, track: Path) -> None:
    assert "--order is 1, 2 or auto" in " ".join(
        wgsindy("fit", str(track), "--order", "3").err.split()
    )
    logged = wgsindy("fit", str(track), "--order", "2", "--transform", "u = exp(x)")
    assert "takes the states for positions as they are" in " ".join(logged.err.split())
