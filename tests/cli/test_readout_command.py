"""`wgsindy readout`: numbers and a picture of a model file."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import Command

from wgsindy import zoo

COARSE = ("--cells", "32", "--draws", "0")


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "model.json"
    zoo.get("rotational_ou").generator.save(path)
    return str(path)


def test_everything_is_told(wgsindy: Command, model: str) -> None:
    ended = wgsindy("readout", model, *COARSE)
    assert ended.code == 0, ended.err
    for words in ("variance x = 0.", "entropy production", "turning by", "Ornstein-Uhlenbeck"):
        assert words in " ".join(ended.out.split())


def test_only_what_is_asked_for_is_told(wgsindy: Command, model: str) -> None:
    ended = wgsindy("readout", model, *COARSE, "--escape", "x<0", "x>1")
    assert ended.code == 0, ended.err
    assert "Passage from x<0 to x>1" in ended.out
    assert "entropy" not in ended.out


def test_a_picture(wgsindy: Command, model: str, tmp_path: Path) -> None:
    picture = tmp_path / "told.png"
    assert wgsindy("readout", model, *COARSE, "--rates", "--out", str(picture)).code == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    again = wgsindy("readout", model, *COARSE, "--out", str(picture))
    assert again.code == 1
    assert "--force" in again.err


def test_refusals_are_sentences(wgsindy: Command, tmp_path: Path, model: str) -> None:
    zoo.get("gbm_2d").generator.save(tmp_path / "walk.json")
    ended = wgsindy("readout", str(tmp_path / "walk.json"), *COARSE)
    assert ended.code == 1
    assert "no stationary law" in ended.err
    assert wgsindy("readout", model, "--box", "wide").code == 1


def test_places_and_kinds_that_cannot_be_written_are_named(wgsindy: Command, model: str) -> None:
    ended = wgsindy("readout", model, *COARSE, "--rates", "--out", "no/such/a.png")
    assert "there is no folder no/such" in " ".join(ended.err.split())
    ended = wgsindy("readout", model, *COARSE, "--rates", "--out", "a.zzz")
    assert "a.zzz is of no kind that can be drawn: " in " ".join(ended.err.split())
    assert "unexpected" not in ended.err
