"""A reading: data and notes, from memory, from a stream, and of many short trajectories."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from walks import DT, frame, walk

from wgsindy.files import Note, Reading, ReadingOptions, open_data, read


def test_a_reading_shows_data_and_notes() -> None:
    reading = read(frame(), time="t")
    assert repr(reading) == (
        "Reading(Trajectories(1 x (x, y), 199 increments, mean dt = 0.01))\n"
        "  choice: time: 't' is used as it is.\n"
        "  choice: states 'x', 'y'; time 't'."
    )
    assert repr(Reading(reading.data)) == f"Reading({reading.data!r})"
    assert all(isinstance(note, Note) for note in reading.notes)
    with pytest.raises(dataclasses.FrozenInstanceError):
        reading.notes = ()  # type: ignore[misc]


def test_a_stream_has_a_reading_of_the_same_kind() -> None:
    reading = open_data(walk(), ReadingOptions(dt=DT), stream=True)
    assert type(reading) is Reading
    assert "Reading(Stream(1 x (x, y), 199 increments" in repr(reading)


def test_functions_are_not_hidden_by_modules_of_their_name() -> None:
    code = (
        "import importlib, pkgutil, wgsindy, wgsindy.files as files\n"
        "for module in pkgutil.walk_packages(files.__path__, 'wgsindy.files.'):\n"
        "    importlib.import_module(module.name)\n"
        "names = [n for n in files.__all__ if not callable(getattr(files, n))]\n"
        "print(names, callable(wgsindy.read), callable(wgsindy.stream))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=60)
    assert run.stdout.decode().split() == ["[]", "True", "True"]


def short_trajectories(count: int, rows: int = 30) -> dict[str, Any]:
    steps = np.random.default_rng(0).normal(size=(count, rows, 2))
    states = np.cumsum(steps, axis=1).reshape(-1, 2)
    return {
        "id": np.repeat(np.arange(count), rows),
        "t": np.tile(np.arange(rows) * DT, count),
        "x": states[:, 0],
        "y": states[:, 1],
    }


def test_many_short_trajectories_keep_their_samples() -> None:
    table = short_trajectories(300)
    shuffled = np.random.default_rng(1).permutation(300)
    order = (30 * shuffled[:, None] + np.arange(30)).ravel()
    data = read({name: column[order] for name, column in table.items()}).data
    assert data.lengths.tolist() == [30] * 300
    np.testing.assert_array_equal(data.states, np.stack([table["x"], table["y"]], axis=1)[order])
