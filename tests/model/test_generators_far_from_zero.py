"""Generators whose terms are measured from far away: written, stored, mapped and evaluated."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sympy
from generators import made

from wgsindy.data import FloatArray, Frame
from wgsindy.errors import ModelFileError
from wgsindy.model import Change, Generator, mathml_equations, term_formula
from wgsindy.model.circulation import fit_density
from wgsindy.model.tensor import TensorForm

NAMES = ("x", "y")
X, Y = sympy.symbols("x y", real=True)
PLACE = np.array([1_234_567.5, -500_000.0])
# Near zero; exact in floating point at the place too.
NEAR = np.random.default_rng(0).integers(-512, 512, (12, 2)) / 256.0
FAR_AWAY = NEAR + PLACE
PLAIN = Generator.from_sympy(
    NAMES, [X - X**3 + 2 * Y, 1 - 2 * X - Y], [[0.5 + X**2, 0.1 * X], [0.1 * X, 2]]
)


def moved(generator: Generator, place: FloatArray = PLACE) -> Generator:
    region = Frame(np.array([0.2, -0.1]), np.array([1.0, 1.5]))
    near = replace(generator, region=region)
    away = Frame(region.centre + place, region.scale)
    return replace(near, basis=generator.basis.about(place), region=away)


def test_equations_are_in_the_distance_from_the_origin() -> None:
    x, y = "(x - 1234567.5)", "(y + 500000)"
    expected = [
        f"b1 = {x} + 2*{y} - {x}**3",
        f"b2 = 1 - 2*{x} - {y}",
        f"a11 = 0.5 + {x}**2",
        f"a12 = 0.1*{x}",
        "a22 = 2",
    ]
    far = moved(PLAIN)
    assert far.equations() == expected
    assert repr(far).splitlines()[1:] == [f"  {line}" for line in expected]
    terms = {found.term for found in far.coefficients}
    assert terms == {"1", "x - 1234567.5", "y + 500000", "(x - 1234567.5)**2", "(x - 1234567.5)**3"}
    assert far.relative().equations() == PLAIN.equations()


def test_small_terms_are_those_that_are_small_near_the_data() -> None:
    # x**3 is 0.001 * 2.2**3 of the drift near the data, and enormous measured from zero.
    tiny = Generator.from_sympy(NAMES, [X - 0.001 * X**3, -Y], [[1, 0], [0, 1]])
    near = replace(tiny, region=Frame(np.array([0.2, -0.1]), np.array([1.0, 1.5])))
    assert near.equations()[0] == "b1 = x"
    for place in (PLACE, -PLACE):
        assert moved(tiny, place).relative().equations() == near.equations()
        assert "**3" not in moved(tiny, place).equations()[0]


def test_sympy_keeps_the_distances_and_their_digits() -> None:
    far = moved(PLAIN)
    symbols, drift, diffusion = far.to_sympy()
    assert drift[1].has(sympy.Add(X, -sympy.Float(1_234_567.5)))
    b, a = sympy.lambdify(symbols, drift), sympy.lambdify(symbols, diffusion)
    for point, at_drift, at_tensor in zip(
        FAR_AWAY, far.drift(FAR_AWAY), far.diffusion(FAR_AWAY), strict=True
    ):
        np.testing.assert_allclose(b(*point)[:, 0], at_drift, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(a(*point), at_tensor, rtol=1e-12, atol=1e-12)
    # Negative control: multiplied out, the cubic is a difference of numbers of 1e18.
    lost = sympy.lambdify(symbols, drift.expand())
    assert abs(float(lost(*FAR_AWAY[0])[0, 0]) - far.drift(FAR_AWAY[:1])[0, 0]) > 0.1


def test_latex_has_the_distances_in_brackets_and_all_digits() -> None:
    far = moved(PLAIN)
    for written in (far.to_latex(), far.sde_latex(), far.generator_latex()):
        assert r"2 \left({x - 1234567.5}\right)" in written
        assert r"\left(x - 1234567.5\right)^{3}" in written
    ou = Generator.from_sympy(("x",), [-X], [[1]])
    alone = replace(ou, basis=ou.basis.about(np.array([300.0])))
    assert r"b_{1} &= - \left({x - 300}\right)" in alone.to_latex()


def test_mathml_has_the_distances_in_brackets_and_all_digits() -> None:
    first = mathml_equations(moved(PLAIN))[1].terms[1]  # - 2 (x - 1234567.5)
    inner = "<mi>x</mi><mo>&minus;</mo><mn>1234567.5</mn>"
    assert f"<mo stretchy='false'>(</mo><mrow>{inner}</mrow>" in first
    assert "(" not in term_formula("x - 1234567.5", NAMES)
    assert "1234567.5" in moved(PLAIN)._repr_html_()


def test_pictures_are_drawn_in_the_distance_from_the_origin() -> None:
    near = replace(PLAIN, region=Frame(np.array([0.2, -0.1]), np.array([1.0, 1.5])))
    drawn, expected = (
        html[html.index("<svg") : html.index("</svg>")]
        for html in (moved(PLAIN)._repr_html_(), near._repr_html_())
    )
    label = "x \N{MINUS SIGN} 1234567.5<"
    assert label in drawn
    assert drawn.replace(label, "x<").replace("y + 500000<", "y<") == expected


FORMS: tuple[TensorForm, ...] = ("entries", "clipped", "factor")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("spec", "framed"), [("poly2", False), ("poly2", True), ("trig", False)])
def test_fields_are_those_of_the_distance(form: TensorForm, spec: str, framed: bool) -> None:
    near = made(spec, NAMES, form, shrinkage=0.1)
    work = near.basis.about(PLACE)
    if framed:
        frame = Frame(np.array([0.25, -0.5]), np.array([0.5, 2.0]))
        near = replace(near, basis=near.basis.in_frame(frame))
        work = work.in_frame(Frame(frame.centre + PLACE, frame.scale))
    far = replace(near, basis=work)
    assert far.drift(FAR_AWAY).tobytes() == near.drift(NEAR).tobytes()
    assert far.diffusion(FAR_AWAY).tobytes() == near.diffusion(NEAR).tobytes()
    assert far.drift_jacobian(FAR_AWAY).tobytes() == near.drift_jacobian(NEAR).tobytes()
    assert far.curl(FAR_AWAY).tobytes() == near.curl(NEAR).tobytes()
    divergence = [g.diffusion_divergence(x) for g, x in ((far, FAR_AWAY), (near, NEAR))]
    assert divergence[0].tobytes() == divergence[1].tobytes()
    turning = [g.antisymmetric_drift(x) for g, x in ((far, FAR_AWAY), (near, NEAR))]
    assert turning[0].tobytes() == turning[1].tobytes()
    # What is written is what is evaluated, also of a tensor that is stored by its factor.
    written = sympy.lambdify(far.to_sympy().symbols, far.to_sympy().diffusion)
    if form != "clipped":
        for point, value in zip(FAR_AWAY, far.diffusion(FAR_AWAY), strict=True):
            np.testing.assert_allclose(written(*point), value, rtol=1e-8, atol=1e-8)


def test_paths_are_moved_with_the_origin() -> None:
    near = PLAIN.simulate([0.0, 0.0], dt=0.01, steps=200, random_state=0)
    far = moved(PLAIN).simulate(PLACE, dt=0.01, steps=200, random_state=0)
    np.testing.assert_allclose(far.states - PLACE, near.states, atol=1e-7)
    density = fit_density(far, "poly2")
    np.testing.assert_allclose(
        moved(PLAIN).current_velocity(far.states[:5], density),
        PLAIN.current_velocity(near.states[:5], fit_density(near, "poly2")),
        rtol=1e-4,
        atol=1e-4,
    )


def test_a_model_file_keeps_the_origin(tmp_path: Path) -> None:
    far = moved(made("trig", NAMES, "entries"))
    far.save(tmp_path / "model.json")
    loaded = Generator.load(tmp_path / "model.json")
    assert loaded.basis == far.basis
    assert loaded.equations() == far.equations()
    assert loaded.drift(FAR_AWAY).tobytes() == far.drift(FAR_AWAY).tobytes()
    for damaged in ([0.0], None, ["a", "b"]):
        with pytest.raises(ModelFileError, match="damaged"):
            Generator.from_dict({**far.to_dict(), "origin": damaged})


def test_files_of_the_first_version_are_read() -> None:
    generator = made(["1", "x", "sin(x - 2*y)"], NAMES, "entries")
    content = json.loads(json.dumps(generator.to_dict()))
    assert "origin" not in content  # so that the first release reads them too
    assert content["version"] == 1
    content["terms"][2] = "sin(x + (-2)*y)"  # as it was written then
    loaded = Generator.from_dict(content)
    assert loaded.basis == generator.basis
    assert not loaded.basis.origin.any()


@pytest.mark.parametrize("text", ["u = log(x)", "u = sqrt(x)", "u = x/10"])
def test_a_change_of_states_keeps_the_distances(text: str) -> None:
    # Fitted in u and y, each far from zero; Ito's formula by hand, with numerical derivatives.
    change = Change.parse(text, NAMES)
    x = np.array([[500_000.0, 300.5], [500_100.0, 299.0], [499_900.0, 300.0]])
    u = change.values(x[:, 0])
    place = np.array([float(f"{u[0]:.3g}"), 300.0])
    fitted = Generator.from_sympy(
        ("u", "y"),
        [sympy.Symbol("u", real=True) * Y + 3, Y**3],
        [[2 + Y**2, sympy.Symbol("u", real=True)], [sympy.Symbol("u", real=True), 1]],
    )
    fitted = replace(fitted, basis=fitted.basis.about(place))
    back = change.undo(fitted)
    jet = change.formula.jet(x[:, :1])
    slope, bend = 1 / jet.gradient[:, 0], -jet.hessian[:, 0, 0] / jet.gradient[:, 0] ** 3
    at = np.column_stack([u, x[:, 1]])
    b, a = fitted.drift(at), fitted.diffusion(at)
    expected = np.column_stack([slope * b[:, 0] + bend * a[:, 0, 0] / 2, b[:, 1]])
    np.testing.assert_allclose(back.drift(x), expected, rtol=1e-9)
    np.testing.assert_allclose(back.diffusion(x)[:, 0, 0], slope**2 * a[:, 0, 0], rtol=1e-9)
    np.testing.assert_allclose(back.diffusion(x)[:, 0, 1], slope * a[:, 0, 1], rtol=1e-9, atol=1e-9)
    assert "(y - 300)**3" in back.equations()[1]
    assert Generator.from_dict(back.to_dict()).basis == back.basis
