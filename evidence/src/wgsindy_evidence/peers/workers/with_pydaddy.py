"""PyDaddy: polynomial drift and diffusion functions of two-dimensional data.

Trajectories are pooled into one series with a missing sample between them, which PyDaddy drops.
Coordinates are divided by their standard deviations, because its thresholds are absolute; this
leaves the monomials what they are. The drift's threshold is tuned by PyDaddy's own
cross-validation, that of the diffusion is its default: of the four combinations tried on seeds 0
and 1, with and without scaling, the one with the smallest errors. Its diffusion targets are
dX dX' / dt without the drift subtracted, the only ones that its public interface offers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

PACKAGES = ("pydaddy",)
DISTRIBUTION = "pydaddy"


def fit(task: dict[str, Any]) -> dict[str, Any]:
    """Fit the five functions and keep them with the scale of the coordinates."""
    import pydaddy

    degree = int(task["powers"].sum(axis=1).max())
    paths = task["paths"]
    scale = paths.reshape(-1, 2).std(axis=0)
    gap = np.full((len(paths), 1, 2), np.nan)
    series = np.concatenate([paths / scale, gap], axis=1).reshape(-1, 2)
    data = pydaddy.Characterize(
        [series[:, 0], series[:, 1]], t=float(task["dt"]), Dt=1, dt=1, show_summary=False
    )
    functions = {name: data.fit(name, order=degree, tune=True) for name in ("F1", "F2")}
    functions |= {name: data.fit(name, order=degree) for name in ("G11", "G12", "G22")}
    return {"functions": functions, "scale": scale, "degree": degree}


def read(model: dict[str, Any], task: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Fields at the points, back in the units of the data."""
    functions, scale, degree = model["functions"], model["scale"], model["degree"]
    x, y = (task["points"] / scale).T
    values = {name: function(x, y) for name, function in functions.items()}
    drift = np.stack([values["F1"], values["F2"]], axis=1) * scale
    rows = [[values["G11"], values["G12"]], [values["G12"], values["G22"]]]
    tensor = np.moveaxis(np.array(rows), -1, 0) * np.outer(scale, scale)
    order = [(n, m) for m in range(degree + 1) for n in range(degree - m + 1)]
    places = [order.index(tuple(row)) for row in task["powers"].tolist()]
    support = np.array([functions[name].coeffs[places] != 0 for name in ("F1", "F2")])
    return drift, tensor, support
