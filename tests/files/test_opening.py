"""``open_data``: into memory or as a stream, with notes instead of warnings."""

from __future__ import annotations

import io
import os
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from alike import assert_same
from walks import DT, frame, walk

import wgsindy.files.reading as opening
from wgsindy import read, stream
from wgsindy.data import Block, Stream, Trajectories
from wgsindy.errors import DataError, ModelFileError, NotEnoughDataError, ShortPiecesWarning
from wgsindy.files import ReadingOptions, label_of, open_data
from wgsindy.model import Generator


@pytest.fixture
def table(tmp_path: Path) -> Path:
    frame().to_csv(tmp_path / "table.csv", index=False)
    return tmp_path / "table.csv"


def test_small_files_are_read_and_large_ones_streamed(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = open_data(table)
    assert isinstance(small.data, Trajectories)
    assert small.notes == read(table).notes
    assert isinstance(open_data([table], stream=True).data, Stream)
    monkeypatch.setattr(opening, "LARGE", 1000)
    large = open_data(str(table))
    assert isinstance(large.data, Stream)
    assert_same(large.data, read(table).data, rtol=1e-12)
    assert "streamed from disk, since they are larger than" in large.notes[0].sentence
    assert large.notes[1:] == open_data(table, stream=True).notes[1:]
    assert isinstance(open_data(table, stream=False).data, Trajectories)
    # What only reading can do is asked for: so it is read.
    assert isinstance(open_data(table, ReadingOptions(gap=9.0, missing=[])).data, Trajectories)


def test_what_is_in_memory_and_functions_are_taken_as_well() -> None:
    assert isinstance(open_data(frame()).data, Trajectories)
    assert isinstance(open_data([walk(), walk(1)], ReadingOptions(dt=DT)).data, Trajectories)
    found = open_data(lambda: [Block(walk(), DT)])
    assert isinstance(found.data, Stream)
    assert found.notes[0].sentence.startswith("streamed: nothing is changed")
    with pytest.raises(NotEnoughDataError, match="the list of sources is empty"):
        open_data([])


def test_warnings_become_notes(tmp_path: Path) -> None:
    rows = {"id": [0] * 20 + [1], "t": [*range(20), 0], "x-mm": [*np.sin(np.arange(20.0)), 1.0]}
    path = tmp_path / "table.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        streamed, whole = open_data(path, stream=True), open_data(path)
    assert [note.kind for note in streamed.notes if note.kind != "choice"] == ["renamed", "short"]
    assert "1 of 2 trajectories have one sample" in streamed.notes[-1].sentence
    assert [note.kind for note in whole.notes if note.kind != "choice"] == ["renamed", "short"]
    with pytest.warns(ShortPiecesWarning, match="1 of 2") as seen:
        stream(path, names=["x"])
    assert seen[0].filename == __file__


def test_warnings_of_others_are_passed_on() -> None:
    def blocks() -> Any:
        warnings.warn("the disk is slow", RuntimeWarning, stacklevel=1)
        yield Block(walk(), DT)

    with pytest.warns(RuntimeWarning, match="the disk is slow"):
        assert len(open_data(blocks).notes) == 1


def test_standard_input_is_read_once(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Pipe:
        buffer = io.BytesIO(table.read_bytes())

    monkeypatch.setattr("sys.stdin", Pipe())
    assert_same(open_data("-").data, read(table).data)
    with pytest.raises(DataError, match="standard input can be read only once"):
        open_data("-", stream=True)


def test_what_changes_data_cannot_be_streamed(table: Path) -> None:
    for asked, words in (
        ({"gap": 0.0}, r"gap \(--gap\) changes data"),
        ({"time_unit": "s"}, r"time_unit \(--time-unit\) changes data"),
        ({"log": ["x"]}, r"log \(--log\) changes data"),
    ):
        with pytest.raises(DataError, match=words):
            open_data(table, ReadingOptions(**asked), stream=True)
    assert open_data(table, ReadingOptions(gap=None, missing=()), stream=True).data
    for streamed in (True, False):  # no states is not the same as no choice of states
        with pytest.raises(DataError, match="has no column of states"):
            open_data(table, ReadingOptions(states=[]), stream=streamed)


def test_an_error_of_a_large_file_says_how_to_read_it(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "LARGE", 1000)
    frame().iloc[[*range(100), *range(98, 200)]].to_csv(table, index=False)
    with pytest.raises(DataError, match=r"row 100 has .* stream=False \(--no-stream\) reads"):
        open_data(table)


def test_sources_have_a_name_for_sentences(table: Path) -> None:
    assert label_of(table) == label_of([str(table)]) == "table.csv"
    assert (label_of("-"), label_of(["a", "b"])) == ("standard input", "2 files")
    assert (label_of("runs/x.zarr/"), label_of(frame())) == ("x.zarr", "the data")


def test_what_has_no_end_is_refused_and_a_pipe_is_read(tmp_path: Path, table: Path) -> None:
    with pytest.raises(DataError, match=r"/dev/zero cannot be read: it is a device, not a file"):
        read("/dev/zero")
    with pytest.raises(ModelFileError, match="is a device"):
        Generator.load("/dev/zero")
    pipe, content = tmp_path / "pipe", table.read_bytes()
    os.mkfifo(pipe)
    with pytest.raises(NotEnoughDataError, match="pipe is empty"):  # nobody writes
        read(pipe)
    writer = os.open(pipe, os.O_RDWR)  # a pipe that nobody reads cannot be opened to write only
    lines = content.splitlines(keepends=True)
    os.write(writer, b"".join(lines[:30]))

    def finish() -> None:
        os.write(writer, b"".join(lines[30:61]))
        os.close(writer)

    threading.Timer(0.2, finish).start()  # after the reader has begun to wait, most likely
    assert read(pipe).data.n_samples == 60


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"gap": "x"}, "gap must be real numbers, got 'x'"),
        ({"missing": "x"}, r"missing must be real numbers, got \['x'\]"),
        ({"dt": [1, 2]}, r"dt must be one number, got \[1, 2\]"),
    ],
)
def test_arguments_that_are_no_numbers_are_refused(
    given: dict[str, Any], sentence: str, table: Path
) -> None:
    with pytest.raises(DataError, match=sentence):
        read(table, **given)


def test_a_path_that_no_system_takes_is_refused() -> None:
    with pytest.raises(DataError, match=r"aaa cannot be read: File name too long"):
        read("a" * 5000)
