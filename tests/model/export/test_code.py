"""Programs written from a generator give the fields of the generator."""

from __future__ import annotations

import ctypes
import importlib.util
import shutil
import subprocess
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import sympy

from wgsindy import Generator, zoo
from wgsindy.data import FloatArray
from wgsindy.errors import DataError
from wgsindy.model import TensorField

SYSTEMS = ["van_der_pol", "heston_sv", "mueller_brown", "nonpoly_drift", "sabr"]
LANGUAGES = ["python", "julia", "stan", "c"]


def clipped() -> Generator:
    """A tensor that has a negative eigenvalue where x and y differ much."""
    system = zoo.get("nondiag_cholesky")
    generator = system.generator
    field = generator.tensor_field
    coefficients = field.coefficients.copy()
    coefficients[1] *= 6.0  # a covariance larger than the variances allow
    return Generator(
        generator.basis,
        generator.drift_coefficients,
        TensorField("clipped", coefficients, 0.0, field.units),
    )


def generators() -> dict[str, Generator]:
    return {name: zoo.get(name).generator for name in SYSTEMS} | {"clipped": clipped()}


def places(generator: Generator) -> FloatArray:
    """States at which all of these systems are defined."""
    return np.random.default_rng(3).uniform(0.2, 1.8, (40, generator.dimension))


def as_module(code: str, path: Path) -> ModuleType:
    path.write_text(code)
    spec = importlib.util.spec_from_file_location("written", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_some_tensor_of_the_tests_is_really_clipped() -> None:
    generator = clipped()
    raw = TensorField("entries", generator.tensor_field.coefficients, 0.0, np.ones(2))
    theta = generator.basis.values(places(generator))
    assert (np.linalg.eigvalsh(raw(theta))[:, 0] < -0.01).any()
    assert (np.linalg.eigvalsh(generator.diffusion(places(generator)))[:, 0] > -1e-12).all()


@pytest.mark.parametrize("name", [*SYSTEMS, "clipped"])
def test_python_gives_the_fields_of_the_generator(name: str, tmp_path: Path) -> None:
    generator = generators()[name]
    module = as_module(generator.to_code("python"), tmp_path / "written.py")
    x = places(generator)
    np.testing.assert_allclose(module.drift(x), generator.drift(x), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(module.diffusion(x), generator.diffusion(x), rtol=1e-9, atol=1e-12)
    one = module.drift(x[0])
    np.testing.assert_allclose(one, generator.drift(x[:1])[0], rtol=1e-12, atol=1e-13)
    path = module.simulate(x, 1e-3, 5, np.random.default_rng(0))
    assert path.shape == (6, *x.shape)


def test_python_steps_have_the_mean_and_covariance_of_the_process(tmp_path: Path) -> None:
    generator = clipped()
    module = as_module(generator.to_code("python"), tmp_path / "written.py")
    n, dt, x = 200_000, 0.01, np.array([1.2, 0.7])
    steps = np.diff(module.simulate(np.tile(x, (n, 1)), dt, 1, np.random.default_rng(1)), axis=0)[0]
    variance = generator.diffusion(x[None])[0] * dt
    sizes = np.sqrt(np.diag(variance))
    # Five standard errors: a false alarm in two million runs.
    assert np.all(
        np.abs(steps.mean(axis=0) - generator.drift(x[None])[0] * dt) < 5 * sizes / n**0.5
    )
    found = np.cov(steps.T) / np.outer(sizes, sizes)
    np.testing.assert_allclose(found, variance / np.outer(sizes, sizes), atol=5 * (2 / n) ** 0.5)


@pytest.mark.parametrize("name", [*SYSTEMS, "clipped"])
def test_c_compiles_without_a_warning_and_gives_the_fields(name: str, tmp_path: Path) -> None:
    compiler = shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("there is no C compiler on this machine")
    generator = generators()[name]
    source, library = tmp_path / "written.c", tmp_path / "written.so"
    source.write_text(generator.to_code("c"))
    flags = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic", "-shared", "-fPIC"]
    subprocess.run([compiler, *flags, source, "-o", library, "-lm"], check=True, timeout=120)
    loaded, d = ctypes.CDLL(str(library)), generator.dimension
    numbers = ctypes.c_double * d
    matrix = ctypes.c_double * (d * d)
    for x in places(generator)[:10]:
        b, a = numbers(), matrix()
        loaded.drift(numbers(*x), b)
        loaded.diffusion(numbers(*x), a)
        np.testing.assert_allclose(list(b), generator.drift(x[None])[0], rtol=1e-12, atol=1e-13)
        expected = generator.diffusion(x[None])[0]
        np.testing.assert_allclose(np.reshape(a, (d, d)), expected, rtol=1e-9, atol=1e-12)
        # sigma e_k of a step without drift: its squares add up to the tensor.
        rows = []
        for k in range(d):
            state = numbers(*x)
            loaded.step(state, ctypes.c_double(1.0), numbers(*np.eye(d)[k]))
            rows.append(np.array(state) - x - np.array(b))
        np.testing.assert_allclose(np.array(rows).T @ np.array(rows), expected, atol=1e-9)


def test_julia_runs_where_it_is_installed(tmp_path: Path) -> None:
    julia = shutil.which("julia")
    if julia is None:
        pytest.skip("there is no Julia on this machine")
    generator = clipped()
    (tmp_path / "written.jl").write_text(generator.to_code("julia"))
    x = places(generator)[0]
    check = f'include("written.jl"); print(drift({x.tolist()}), diffusion({x.tolist()})[:])'
    run = subprocess.run(
        [julia, "-e", check], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=300
    )
    numbers = [
        float(text) for text in run.stdout.replace("[", " ").replace("]", ",").split(",")[:-1]
    ]
    expected = [*generator.drift(x[None])[0], *generator.diffusion(x[None])[0].ravel()]
    np.testing.assert_allclose(numbers, expected, rtol=1e-9)


@pytest.mark.parametrize("name", [*SYSTEMS, "clipped"])
def test_stan_is_read_by_its_compiler_where_it_is_installed(name: str, tmp_path: Path) -> None:
    stanc = shutil.which("stanc")
    if stanc is None:
        pytest.skip("there is no stanc on this machine")
    (tmp_path / "written.stan").write_text(generators()[name].to_code("stan"))
    subprocess.run([stanc, tmp_path / "written.stan"], check=True, timeout=120, cwd=tmp_path)


@pytest.mark.parametrize("language", LANGUAGES)
def test_names_that_a_language_has_taken_are_changed(language: str, tmp_path: Path) -> None:
    left, right = sympy.symbols("int drift")
    generator = Generator.from_sympy(
        ("int", "drift"), [-left + right, -2 * right], [[1, 0], [0, 1 + left**2]]
    )
    code = generator.to_code(language)
    assert "int_" in code
    assert "drift_" in code
    if language == "python":
        x = np.array([[1.0, 2.0], [0.5, -1.0]])
        module = as_module(code, tmp_path / "written.py")
        np.testing.assert_allclose(module.drift(x), generator.drift(x))
        np.testing.assert_allclose(module.diffusion(x), generator.diffusion(x))


def test_a_name_cannot_end_its_comment() -> None:
    from wgsindy.model.display import _single_line

    assert "*/" not in _single_line("x*/ system()")
    assert '"""' not in _single_line('x"""\nimport os')
    assert "\n" not in _single_line("x\ny")


def test_an_unknown_language_gets_a_sentence() -> None:
    with pytest.raises(DataError, match=r"python, julia, stan, c; got 'rust'"):
        clipped().to_code("rust")
