"""What is known of the measurement: model files keep it, and say no more than they did before."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from wgsindy import zoo
from wgsindy.data import Trajectories
from wgsindy.errors import ModelFileError
from wgsindy.model import Generator, Observation

TRUTH = zoo.get("rotational_ou").generator
KNOWN = {
    "transition": "process",
    "observation_noise": [0.01, -0.002, 0.03],
    "order": 2,
    "inputs": "u v",
    "changes": ["u = log(x)"],
    "time_unit": "s",
    "units": {"x": "um"},
}


def read(info: dict[str, Any]) -> Generator:
    return Generator.from_dict(json.loads(json.dumps(TRUTH.to_dict() | {"info": info})))


def test_a_model_file_keeps_what_is_known_of_the_measurement() -> None:
    generator = read({"library": "poly2"} | KNOWN)
    assert generator.info == {"library": "poly2", "changes": ["u = log(x)"]}
    seen = generator.observation
    assert (seen.transition, seen.order, seen.time_unit) == ("process", 2, "s")
    assert seen.covariance(2).tolist() == KNOWN["observation_noise"]
    assert generator.inputs == ("u", "v")
    assert (generator.units.time, generator.units.states) == ("s", ("um", ""))


@pytest.mark.parametrize("left_out", [(), *((key,) for key in KNOWN), tuple(KNOWN)])
def test_a_file_is_written_as_it_was_read(left_out: tuple[str, ...]) -> None:
    info = {"library": "poly2", "mine": 3} | {k: v for k, v in KNOWN.items() if k not in left_out}
    assert json.dumps(read(info).to_dict()["info"]) == json.dumps(info)


def test_nothing_is_said_of_what_is_not_known() -> None:
    assert TRUTH.to_dict()["info"] == {}
    known = [getattr(TRUTH.observation, item.name) for item in fields(Observation)]
    assert known == [None, None, None, 1, (), "", {}]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("transition", "jump"),
        ("order", 3),
        ("observation_noise", [0.1]),
        ("observation_noise", [0.1, "a", 0.1]),
        ("observation_noise", [0.1, 1e999, 0.1]),
        ("units", 3),
    ],
)
def test_facts_that_make_no_sense_are_refused(key: str, value: Any) -> None:
    with pytest.raises(ModelFileError, match="damaged"):
        read({key: value})


def test_positions_get_velocities_only_where_these_are_hidden() -> None:
    data = Trajectories(np.arange(8.0)[:, None] ** 2, dt=0.5)
    plain, motion = Observation(), Observation(order=2)
    assert plain.coordinates(data) is data
    both = motion.coordinates(data)
    assert both.names == ("x", "v_x")
    assert motion.coordinates(both) is both
    assert motion.measured(4).tolist() == [True, True, False, False]
    assert plain.measured(2).all()
    assert replace(motion, transition="process").is_chain is False
