"""The bundled data: short trajectories of a known system, for the first minute of a new user.

They are samples of a process, as measured data are, and no Euler chain: ten steps of the simulator
lie between two of them. The file has the numbers that a table with four digits after the point
would have, so that the data are the same whether they are taken from here or from the table that
`wgsindy demo --csv` writes.
"""

from __future__ import annotations

import io
from importlib import resources
from pathlib import Path

import numpy as np

from wgsindy.data import Trajectories
from wgsindy.files import write_atomically
from wgsindy.zoo.systems import find_system

DEMO_SYSTEM = "van_der_pol"
# Of the first release; whoever has fitted these data gets the same numbers again.
SEED, TRAJECTORIES, STEPS, STEPS_BETWEEN = 0, 16, 1000, 10
DEMO_FILE = "demo.npz"


def demo_data() -> Trajectories:
    """Return the bundled trajectories."""
    content = (resources.files("wgsindy.zoo") / DEMO_FILE).read_bytes()
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        states, times = arrays["states"], arrays["times"]
    return Trajectories(states, times=[times] * len(states), names=("x", "y"))


def demo_text() -> str:
    """Return the bundled data as a table: trajectory, time, states."""
    data = demo_data()
    lines = [",".join(["trajectory", "t", *data.names])]
    for number, states in enumerate(data):
        times = np.arange(len(states)) * find_system(DEMO_SYSTEM).dt
        lines += [
            f"{number},{t:.2f},{x:.4f},{y:.4f}" for t, (x, y) in zip(times, states, strict=True)
        ]
    return "\n".join(lines) + "\n"


def write_demo_file(path: str | Path) -> None:
    """Write the bundled file anew: it is simulated, not edited by hand."""
    system = find_system(DEMO_SYSTEM)
    data = system.simulate(SEED, trajectories=TRAJECTORIES, steps=STEPS, substeps=STEPS_BETWEEN)
    draft = io.BytesIO()
    # Rounded by way of text, as whoever reads the table has them.
    np.savez_compressed(
        draft,
        states=np.array([[[f"{x:.4f}" for x in state] for state in path] for path in data], float),
        times=np.array([f"{t:.2f}" for t in np.arange(STEPS + 1) * system.dt], float),
    )
    write_atomically(path, draft.getvalue())
