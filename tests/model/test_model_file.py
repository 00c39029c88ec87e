"""Model files: every bit comes back, and nothing else is accepted."""

from __future__ import annotations

import json
import os
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from generators import MADE, SYSTEMS, XY, made, near_start, points_for

from wgsindy import zoo
from wgsindy.errors import ModelFileError
from wgsindy.model import Generator, TensorField, tensor
from wgsindy.terms import library


def arrays_of(generator: Generator) -> list[bytes]:
    field = generator.tensor_field
    frame = generator.basis.frame
    arrays = (generator.drift_coefficients, field.coefficients, field.units)
    return [array.tobytes() for array in (*arrays, frame.centre, frame.scale)]


@pytest.mark.parametrize("name", [*MADE, *SYSTEMS])
def test_a_model_file_keeps_every_bit(name: str, tmp_path: Path) -> None:
    generator = MADE[name] if name in MADE else zoo.get(name).generator
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    generator.save(first)
    loaded = Generator.load(first)
    loaded.save(second)
    assert arrays_of(loaded) == arrays_of(generator)
    assert loaded.basis == generator.basis
    assert loaded.tensor_field.form == generator.tensor_field.form
    assert loaded.tensor_field.shrinkage == generator.tensor_field.shrinkage
    assert dict(loaded.info) == dict(generator.info)
    assert first.read_bytes() == second.read_bytes()
    x = points_for(name) if name in MADE else near_start(name)
    assert loaded.drift(x).tobytes() == generator.drift(x).tobytes()
    assert loaded.diffusion(x).tobytes() == generator.diffusion(x).tobytes()


@pytest.mark.parametrize("term", ["sin(x - 2*y)", "-(-x)*y", "exp(-(x**2 + y**2)/2)"])
def test_models_of_everyday_formulas_can_be_read_back(term: str, tmp_path: Path) -> None:
    generator = made(["1", "x", term], XY, "entries")
    generator.save(tmp_path / "model.json")
    assert Generator.load(tmp_path / "model.json").basis == generator.basis


def test_awkward_numbers_survive_the_file(tmp_path: Path) -> None:
    awkward = np.array([0.1 + 0.2, 1 / 3, -0.0, 5e-324, 1.7976931348623157e308, -1e-300])
    basis = library("poly2").bind(XY)
    field = TensorField("entries", np.stack([awkward] * 3), 0.05, np.array([1 / 3, 1e-7]))
    generator = Generator(basis, np.stack([awkward, -awkward]), field, {"text": "\u00b5 \u2713"})
    generator.save(tmp_path / "model.json")
    loaded = Generator.load(tmp_path / "model.json")
    assert arrays_of(loaded) == arrays_of(generator)
    assert loaded.info == {"text": "\u00b5 \u2713"}


def test_loaded_arrays_cannot_be_written_to(tmp_path: Path) -> None:
    MADE["factor"].save(tmp_path / "model.json")
    loaded = Generator.load(tmp_path / "model.json")
    with pytest.raises(ValueError, match="read-only"):
        loaded.drift_coefficients[0, 0] = 1.0


def content_with(keys: tuple[str, ...], value: Any) -> Any:
    content = json.loads(json.dumps(MADE["factor, shrunk"].to_dict()))
    inner = content
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value
    return content


NAN, INF = float("nan"), float("inf")
SIX = [1.0] * 6


@pytest.mark.parametrize(
    ("keys", "value", "sentence"),
    [
        (("format",), "sindy", "wgsindy-generator"),
        (("version",), 3, "version 3.*reads versions up to 2"),
        (("names",), ["x"], "damaged"),
        (("names",), 7, "damaged"),
        (("terms",), ["1", "x"], "damaged.*shape"),
        (("terms",), ["x", "1", "y", "x**2", "x*y", "y**2"], "damaged.*order"),
        (("terms",), ["1", "1", "y", "x**2", "x*y", "y**2"], "damaged"),
        (("terms",), ["1", "x", "y", "x**2", "x*y", 3], "damaged"),
        (("drift",), [SIX], "damaged"),
        (("drift",), None, "damaged"),
        (("drift",), [["a"] * 6, SIX], "damaged"),
        (("drift",), [SIX, SIX[:5]], "damaged"),
        (("drift",), [SIX, [NAN, *SIX[1:]]], "contains (NaN|Infinity)"),
        (("drift",), [SIX, [INF, *SIX[1:]]], "contains (NaN|Infinity)"),
        (("drift",), [SIX, [10**400, *SIX[1:]]], "damaged"),
        (("frame",), None, "damaged"),
        (("frame", "centre"), [NAN, 0.0], "contains (NaN|Infinity)"),
        (("frame", "scale"), [1.0], "damaged"),
        (("frame", "scale"), [0.0, 1.0], "damaged"),
        (("frame", "scale"), [-1.0, 1.0], "damaged"),
        (("tensor",), [], "damaged"),
        (("tensor", "form"), "root", "damaged.*root"),
        (("tensor", "coefficients"), [SIX, SIX], "damaged"),
        (("tensor", "coefficients"), [SIX, SIX, [NAN, *SIX[1:]]], "contains (NaN|Infinity)"),
        (("tensor", "shrinkage"), NAN, "damaged"),
        (("tensor", "shrinkage"), 1.5, "damaged"),
        (("tensor", "shrinkage"), "much", "damaged"),
        (("tensor", "units"), [1.0, NAN], "damaged"),
        (("tensor", "units"), [1.0, 0.0], "damaged"),
        (("info",), None, "damaged"),
    ],
)
def test_damaged_content_is_refused(
    keys: tuple[str, ...], value: Any, sentence: str, tmp_path: Path
) -> None:
    path = tmp_path / "model.json"
    path.write_text(json.dumps(content_with(keys, value)))
    with pytest.raises(ModelFileError, match=sentence):
        Generator.load(path)


def test_arrays_that_are_not_finite_are_refused_without_a_file_too() -> None:
    with pytest.raises(ModelFileError, match=r"damaged.*finite"):
        Generator.from_dict(content_with(("drift",), [SIX, [NAN, *SIX[1:]]]))


def test_a_factor_may_take_the_coordinates_in_another_order(tmp_path: Path) -> None:
    basis = library("poly1").bind(("x", "y", "z"))
    rng = np.random.default_rng(3)
    coefficients = rng.standard_normal((6, 4))
    field = TensorField("factor", coefficients, 0.1, np.array([1.0, 2.0, 3.0]), (2, 0, 1))
    made = Generator(basis, np.zeros((3, 4)), field)
    points = rng.standard_normal((5, 3))
    # By hand: row i of L belongs to coordinate order[i].
    factor = tensor.lower_triangle(basis.values(points) @ coefficients.T, 3)
    product = factor @ factor.transpose(0, 2, 1)
    expected = np.empty_like(product)
    for i, p in enumerate((2, 0, 1)):
        for j, q in enumerate((2, 0, 1)):
            expected[:, p, q] = product[:, i, j]
    expected = tensor.shrink(expected, 0.1, field.units)
    np.testing.assert_allclose(made.diffusion(points), expected, rtol=1e-12)
    written = sympy.lambdify(made.to_sympy().symbols, made.to_sympy().diffusion)
    for point, value in zip(points, expected, strict=True):
        np.testing.assert_allclose(written(*point), value, rtol=1e-9, atol=1e-12)
    made.save(tmp_path / "model.json")
    assert Generator.load(tmp_path / "model.json").tensor_field.order == (2, 0, 1)
    content = made.to_dict()
    content["tensor"]["order"] = [0, 0, 1]
    with pytest.raises(ModelFileError, match="order of coordinates"):
        Generator.from_dict(content)


def test_the_content_that_is_damaged_above_is_sound_before(tmp_path: Path) -> None:
    content = content_with(("info",), {})
    assert Generator.from_dict(content).dimension == 2


@pytest.mark.parametrize(
    "key", ["format", "version", "names", "terms", "frame", "drift", "tensor", "info"]
)
def test_missing_content_is_refused(key: str) -> None:
    content = MADE["factor"].to_dict()
    del content[key]
    with pytest.raises(ModelFileError):
        Generator.from_dict(content)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b'"wgsindy-generator"',
        b"t,x,y\n0,1,2\n",
        b"\xff\xfe\x00\x01",
        b"[" * 100_000,
        pickle.dumps({"format": "wgsindy-generator"}),
    ],
)
def test_foreign_files_are_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_bytes(content)
    with pytest.raises(ModelFileError):
        Generator.load(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "nowhere.json"
    with pytest.raises(ModelFileError, match=re.escape(str(path))):
        Generator.load(path)


def test_truncated_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    MADE["factor"].save(path)
    whole = path.read_bytes().rstrip()
    for length in range(0, len(whole), 41):
        path.write_bytes(whole[:length])
        with pytest.raises(ModelFileError):
            Generator.load(path)


def test_code_in_a_model_file_is_not_run(tmp_path: Path) -> None:
    witness = tmp_path / "witness"
    term = f"__import__('pathlib').Path({str(witness)!r}).touch()"
    for code in (term, f"sin({term})", f"x + (lambda: {term})()"):
        terms = ["1", "x", "y", "x**2", "x*y", code]
        with pytest.raises(ModelFileError, match="no place in a formula"):
            Generator.from_dict(content_with(("terms",), terms))
    assert not witness.exists()


def test_saving_leaves_nothing_but_the_file(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    for generator in (MADE["entries"], MADE["factor"]):
        generator.save(path)
    assert os.listdir(tmp_path) == ["model.json"]
    assert arrays_of(Generator.load(str(path))) == arrays_of(MADE["factor"])


@pytest.mark.parametrize("broken", ["fsync", "replace"])
def test_a_failing_write_leaves_the_old_file_intact(
    broken: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.json"
    MADE["entries"].save(path)
    before = path.read_bytes()

    def fail(*_: Any) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(os, broken, fail)
    with pytest.raises(OSError, match="no space"):
        MADE["factor"].save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["model.json"]


def test_a_generator_that_is_not_finite_is_not_saved(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    sound = MADE["entries"]
    sound.save(path)
    before = path.read_bytes()
    broken = Generator(sound.basis, sound.drift_coefficients * NAN, sound.tensor_field)
    with pytest.raises(ValueError, match="JSON"):
        broken.save(path)
    assert path.read_bytes() == before
