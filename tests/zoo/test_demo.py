"""The bundled data."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from alike import assert_same

from wgsindy import read, zoo
from wgsindy.model import EulerMaruyama
from wgsindy.zoo.demo import (
    DEMO_FILE,
    DEMO_SYSTEM,
    SEED,
    STEPS,
    STEPS_BETWEEN,
    TRAJECTORIES,
    demo_data,
    demo_text,
    write_demo_file,
)

ROOT = Path(__file__).parents[2]
# Of the table of the first release: who has fitted it gets the same numbers again.
TABLE = "a67c995f31a3cde91cff8eed41d7bf342f7f654ed0e03cd46c116614b889780e"


def test_the_bundled_file_is_what_the_simulator_writes(tmp_path: Path) -> None:
    write_demo_file(tmp_path / "demo.npz")
    with (
        np.load(tmp_path / "demo.npz", allow_pickle=False) as new,
        np.load(ROOT / "src/wgsindy/zoo" / DEMO_FILE, allow_pickle=False) as bundled,
    ):
        assert new.files == bundled.files
        assert [new[k].tobytes() for k in new.files] == [bundled[k].tobytes() for k in new.files]


def test_the_table_is_the_same_byte_for_byte() -> None:
    assert hashlib.sha256(demo_text().encode()).hexdigest() == TABLE


def test_the_table_and_the_bundled_data_are_the_same(tmp_path: Path) -> None:
    (tmp_path / "demo.csv").write_text(demo_text())
    assert_same(read(tmp_path / "demo.csv").data, demo_data(), rtol=1e-15)


def test_the_bundled_data_are_the_declared_system() -> None:
    data, system = demo_data(), zoo.get(DEMO_SYSTEM)
    assert (len(data), data.n_increments, data.names) == (16, 16_000, ("x", "y"))
    assert data.mean_dt == pytest.approx(system.dt)
    np.testing.assert_allclose(data[3][0], system.start)


def test_the_bundled_data_are_a_process_that_nothing_clips() -> None:
    system = zoo.get(DEMO_SYSTEM)
    free = replace(system, scheme=EulerMaruyama(substeps=STEPS_BETWEEN))
    paths = free.simulate(SEED, trajectories=TRAJECTORIES, steps=STEPS)
    np.testing.assert_allclose(demo_data().states, paths.states, atol=5.1e-5)


def test_substeps_are_finer_steps_of_which_some_are_seen() -> None:
    system = zoo.get(DEMO_SYSTEM)
    seen = system.simulate(1, trajectories=2, steps=20, substeps=5)
    fine = replace(system, dt=system.dt / 5).simulate(1, trajectories=2, steps=100).thinned(5)
    assert seen.mean_dt == system.dt
    np.testing.assert_allclose(seen.states, fine.states, rtol=1e-12)
    chain = system.simulate(1, trajectories=2, steps=20)
    assert not np.allclose(seen.states, chain.states)


def test_an_exact_simulator_has_no_use_for_substeps() -> None:
    system = zoo.get("gbm_2d")
    few, many = (system.simulate(0, trajectories=2, steps=9, substeps=n) for n in (1, 5))
    np.testing.assert_array_equal(few.states, many.states)
