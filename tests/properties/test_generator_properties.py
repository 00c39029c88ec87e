"""What holds of every generator, whatever its library, its form and its coefficients."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np
import sympy
from drawn_systems import MANY, SEEDS, drawn_generators, drawn_points
from hypothesis import given

from wgsindy.model import Generator
from wgsindy.model.model_file import encode


@MANY
@given(generator=drawn_generators(), seed=SEEDS)
def test_the_tensor_is_positive_semidefinite_at_every_point(
    generator: Generator, seed: int
) -> None:
    points = drawn_points(seed, generator.dimension)
    if generator.tensor_field.form == "entries":
        return  # plain entries, a truth's, are what somebody wrote: see the control below
    found = generator.diffusion(points)
    values = np.linalg.eigvalsh(found)
    off = np.abs(found - found.transpose(0, 2, 1)).max(axis=(1, 2))
    assert (off <= 1e-15 * values[:, -1]).all()
    assert (values[:, 0] >= -1e-13 * np.abs(values[:, -1])).all()


def test_plain_entries_are_not_semidefinite_everywhere() -> None:
    generator = Generator.from_sympy(("x",), [0], [[sympy.Symbol("x", real=True)]])
    assert generator.diffusion([[-1.0]])[0, 0, 0] < 0


@MANY
@given(generator=drawn_generators(), seed=SEEDS)
def test_a_model_file_keeps_every_bit(generator: Generator, seed: int) -> None:
    points = drawn_points(seed, generator.dimension)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.json")
        generator.save(path)
        again = Generator.load(path)
    assert json.dumps(encode(again)) == json.dumps(encode(generator))
    np.testing.assert_array_equal(again.drift(points), generator.drift(points))
    np.testing.assert_array_equal(again.diffusion(points), generator.diffusion(points))


@MANY
@given(generator=drawn_generators(), seed=SEEDS)
def test_the_sympy_form_is_the_function(generator: Generator, seed: int) -> None:
    points = np.random.default_rng(seed).normal(size=(5, generator.dimension))
    symbols = sympy.symbols(generator.names, real=True)
    drift = sympy.lambdify(symbols, list(generator.to_sympy().drift), "numpy")
    found = np.array([drift(*row) for row in points.tolist()])
    expected = generator.drift(points)
    # Sums of up to 20 terms, some of which cancel: rounding of the largest of them.
    size = np.abs(generator.drift_coefficients).sum(axis=1) * (1 + np.abs(points).max()) ** 3
    assert (np.abs(found - expected) <= 1e-12 * size).all()
