"""The bundled data set: a short recording of a known system, for the first minute of a new user."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import numpy as np

from wgsindy import zoo
from wgsindy.data.trajectories import Trajectories
from wgsindy.files import read_csv, write_atomically

DEMO_SYSTEM = "van_der_pol"
SEED, TRAJECTORIES, STEPS = 0, 16, 1000


def demo_data() -> Trajectories:
    """Return the bundled trajectories."""
    with resources.as_file(resources.files("wgsindy.zoo") / "demo.csv") as path:
        return read_csv(path, states=("x", "y"), time="t", trajectory="trajectory")


def demo_text() -> str:
    """Return the bundled file as it is."""
    return (resources.files("wgsindy.zoo") / "demo.csv").read_text(encoding="utf-8")


def write_demo_file(path: str | Path) -> None:
    """Write the bundled file anew: it is simulated, not edited by hand."""
    system = zoo.get(DEMO_SYSTEM)
    data = system.simulate(SEED, trajectories=TRAJECTORIES, steps=STEPS)
    lines = ["trajectory,t,x,y"]
    for number, states in enumerate(data):
        times = np.arange(len(states)) * system.dt
        lines += [
            f"{number},{t:.2f},{x:.4f},{y:.4f}" for t, (x, y) in zip(times, states, strict=True)
        ]
    write_atomically(path, "\n".join(lines) + "\n")
