"""What is known of how a process was measured; every generator has one, and everybody may ask it.

Model files keep it in their ``info``, beside what is said for people (recipe, library, changes).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from wgsindy.data import BoolArray, Dataset, FloatArray, Trajectories, frozen
from wgsindy.model.tensor import pairs


@dataclass(frozen=True, eq=False)
class Observation:
    """How the samples of a process were made: by which sensor, how often, of which coordinates.

    Parameters
    ----------
    transition : how a sample follows the last: ``"chain"``, by one Euler step, or ``"process"``,
        whatever happens between; None if nobody has said, which is taken for a chain
    noise : ``(E,)`` covariance of the sensor's noise, in squares of the states' units, with that
        of rounding; None if there is none
    rounding : ``(d,)`` variance of rounding, as far as it matters; not in model files
    order : 1, or 2 if the second half of the coordinates are velocities that nobody measured
    inputs : names of the last coordinates, if these are known inputs and have no equation
    time_unit : empty if it is not known
    units : of the states by name, as far as they are known

    Examples
    --------
    >>> pendulum = Observation("process", np.array([0.01, 0.0, 0.0]), order=2, time_unit="s")
    >>> pendulum.hidden_velocities, pendulum.measured(2).tolist(), pendulum.is_chain
    (True, [True, False], False)
    >>> pendulum.facts()
    {'transition': 'process', 'observation_noise': [0.01, 0.0, 0.0], 'order': 2, 'time_unit': 's'}
    >>> Observation().covariance(1).tolist(), Observation().is_chain
    ([0.0], True)
    """

    transition: Literal["chain", "process"] | None = None
    noise: FloatArray | None = None
    rounding: FloatArray | None = None
    order: int = 1
    inputs: tuple[str, ...] = ()
    time_unit: str = ""
    units: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_chain(self) -> bool:
        """Whether each step is one Euler step."""
        return self.transition != "process"

    @property
    def hidden_velocities(self) -> bool:
        """Whether the second half of the coordinates are velocities that nobody measured."""
        return self.order == 2

    def measured(self, dimension: int) -> BoolArray:
        """Which of the coordinates have samples, ``(d,)``."""
        return np.arange(dimension) < (dimension // 2 if self.hidden_velocities else dimension)

    def covariance(self, dimension: int) -> FloatArray:
        """Entries ``(E,)`` of the covariance of the sensor's noise."""
        return np.zeros(len(pairs(dimension))) if self.noise is None else self.noise

    def coordinates(self, data: Dataset) -> Dataset:
        """Return ``data`` with all coordinates: positions get velocities, if these are hidden."""
        if self.hidden_velocities and not data.hidden_velocities and isinstance(data, Trajectories):
            return data.with_velocities()
        return data

    def facts(self) -> dict[str, Any]:
        """Return what a model file says of it: plain data, nothing that is not known."""
        known: dict[str, Any] = {} if self.transition is None else {"transition": self.transition}
        if self.noise is not None:
            known["observation_noise"] = self.noise.tolist()
        if self.hidden_velocities:
            known["order"] = self.order
        said = {"inputs": " ".join(self.inputs), "time_unit": self.time_unit, "units": self.units}
        return known | {key: value for key, value in said.items() if value}

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any], dimension: int) -> Observation:
        """Take what a model file says, among other facts.

        Raises
        ------
        ValueError
            If that makes no sense.
        """
        transition, order = facts.get("transition"), facts.get("order", 1)
        noise = facts.get("observation_noise")
        if transition not in (None, "chain", "process") or order not in (1, 2):
            raise ValueError(f"its transition is {transition!r} and its order {order!r}")
        if noise is not None:
            noise = frozen(np.array(noise, dtype=np.float64))
            if noise.shape != (len(pairs(dimension)),) or not np.isfinite(noise).all():
                raise ValueError(f"its observation noise is {noise.tolist()}")
        return cls(
            transition,
            noise,
            None,
            order,
            tuple(str(facts.get("inputs", "")).split()),
            str(facts.get("time_unit", "")),
            dict(facts.get("units", {})),
        )
