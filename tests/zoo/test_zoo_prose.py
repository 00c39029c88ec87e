"""What the zoo says about itself: limitations, observed truths, and LaTeX."""

from __future__ import annotations

import re

import numpy as np
import pytest
import sympy
from scipy.linalg import solve_continuous_lyapunov

from wgsindy import zoo
from wgsindy.errors import UnknownSystemError
from wgsindy.model import Generator
from wgsindy.model.display import DIGITS_INSIDE_TERMS, LONGEST_LINE
from wgsindy.zoo import Limitation

ALL = zoo.names(variants=True)


# ---- parameters of sweeps


def test_sweeps_change_what_they_name() -> None:
    points = np.array([[0.5, 0.04], [1.0, 0.09]])
    heston = zoo.get("heston_logsv", rho=-0.2).generator
    np.testing.assert_allclose(heston.leverage(points), -0.2)
    np.testing.assert_allclose(zoo.get("rotational_ou", omega=4).generator.curl(points), 4.0)
    swirl, twin = (zoo.get("nongradient_circulation", omega=w).generator for w in (1, 0))
    slope = -twin.drift(points)
    turned = np.column_stack([-slope[:, 1], slope[:, 0]])
    np.testing.assert_allclose(swirl.drift(points), -slope + turned)
    np.testing.assert_allclose(
        twin.drift(points), zoo.get("gradient_potential").generator.drift(points)
    )
    stalled = zoo.get("stalled_sensor", stall=7).simulate(0, trajectories=1, steps=5)
    assert stalled.n_increments == 12


def test_a_parameter_that_a_system_does_not_have_is_refused() -> None:
    with pytest.raises(UnknownSystemError, match=r"no parameter 'rho'; .* \['omega'\]"):
        zoo.get("rotational_ou", rho=0.1)
    assert zoo.get("rotational_ou").drift == zoo.get("rotational_ou", omega=2.0).drift


# ---- limitations


@pytest.mark.parametrize("name", ALL)
def test_whatever_is_not_a_clean_pass_names_its_limit(name: str) -> None:
    system = zoo.get(name)
    family = next(f for f, members in zoo.FAMILIES.items() if name in members)
    if system.verdict == "pass":
        # A pass has a limit only where the gates leave a component out.
        expected = system.scored is not None
    else:
        # The spanning libraries remove the limit of their twins.
        expected = family != "Spanning libraries"
    assert bool(system.limitation) == expected


def test_every_limitation_is_some_systems() -> None:
    # What can go wrong with a recording of any system is not the limit of one.
    of_recordings = {
        Limitation.NOISE,
        Limitation.ORDER,
        Limitation.UNEVEN_CLOCK,
        Limitation.JUMPS,
        Limitation.DISAGREEMENT,
        Limitation.SIMULATED,
        Limitation.INTERPOLATED,
        Limitation.COPIED,
        Limitation.ROUNDED,
        Limitation.SMOOTHED,
        Limitation.CHANGING,
        Limitation.DELAYED,
        Limitation.BURSTS,
        Limitation.INDEPENDENT,
        Limitation.CLOCK,
        Limitation.DETERMINISTIC,
        Limitation.BOUNDED,
        # Nor is what depends on the library, or on how long one has looked.
        Limitation.EXTRAPOLATED,
        Limitation.SEVERAL,
        Limitation.LONG_FORMULA,
        Limitation.UNCERTAIN,
    }
    assert {zoo.get(name).limitation for name in ALL} == set(Limitation) - of_recordings


def test_a_twin_has_its_own_limit() -> None:
    """`replace` hands on the axis of the original, which would be the wrong one here."""
    found = {
        name: str(zoo.get(name).limitation)
        for name in ("near_boundary_heston", "near_singular", "too_large_dt", "bad_coverage")
    }
    assert found == {
        "near_boundary_heston": "boundary concentration",
        "near_singular": "near-singular tensor",
        "too_large_dt": "step too large",
        "bad_coverage": "insufficient coverage",
    }


# ---- the truth about what is observed


@pytest.mark.parametrize("name", ALL)
def test_the_observed_truth_has_the_coordinates_of_the_data(name: str) -> None:
    system = zoo.get(name)
    data = system.simulate(0, trajectories=1, steps=3)
    assert system.observed_generator.names == tuple(data.names)
    if system.observed is None:
        assert system.observed_generator is system.generator


def test_the_projection_averages_the_hidden_coordinate_out() -> None:
    """Stationary Gaussian of a linear drift A: E[b1 | x] = (A S)_11 / S_11 x, A S + S A' = -a."""
    system = zoo.get("partial_observation")
    origin = np.zeros((1, 2))
    a = system.generator.diffusion(origin)[0]
    slope = system.generator.drift_jacobian(origin)[0]
    covariance = solve_continuous_lyapunov(slope, -a)
    points = np.array([[-1.5], [0.3], [2.0]])
    expected = (slope @ covariance)[0, 0] / covariance[0, 0] * points
    observed = system.observed_generator
    np.testing.assert_allclose(observed.drift(points), expected, atol=1e-12)
    np.testing.assert_allclose(observed.diffusion(points)[:, 0, 0], a[0, 0])


# ---- LaTeX

X, Y = sympy.symbols("x y", real=True)


def unbalanced(latex: str) -> list[str]:
    """Read the braces, environments and fences of LaTeX; return what is left open or misplaced."""
    tokens = re.findall(
        r"\\begin\{\w+\}|\\end\{\w+\}|\\left(?![a-z])|\\right(?![a-z])|\\.|[{}]", latex, re.DOTALL
    )
    closing = {r"\right": r"\left", "}": "{"}
    stack: list[str] = []
    for token in tokens:
        if token.startswith(r"\begin") or token in (r"\left", "{"):
            stack.append(token)
        elif token.startswith(r"\end") or token in closing:
            opening = closing.get(token, token.replace(r"\end", r"\begin"))
            if not stack or stack.pop() != opening:
                return [*stack, token]
    return stack


@pytest.mark.parametrize("broken", [r"{x", r"x}", r"\begin{a}{\end{a}}", r"\left(\begin{a}\right)"])
def test_the_reader_of_balance_sees_imbalance(broken: str) -> None:
    assert unbalanced(broken)


@pytest.mark.parametrize("name", ALL)
def test_latex_of_every_system_is_balanced_and_fits_a_page(name: str) -> None:
    truth = zoo.get(name).generator
    for latex in (truth.sde_latex(), truth.generator_latex(), truth.to_latex()):
        assert unbalanced(latex) == []
        assert "$" not in latex
        assert r"\frac" not in latex  # decimals, no fractions
        numbers = re.findall(r"\d+\.\d+", latex)
        assert all(len(n.replace(".", "").lstrip("0")) <= DIGITS_INSIDE_TERMS for n in numbers)
        assert max(map(len, re.split(r"\\\\|\n", latex))) < LONGEST_LINE


def small() -> Generator:
    """Anisotropic, non-aligned, state-dependent, with a zero, a third and a rounding error."""
    first, cross = 0.35**2 + sympy.Rational(1, 5) * X**2, -sympy.Rational(1, 3) * X * Y
    return Generator.from_sympy(
        ("x", "y"), [-X + sympy.Rational(7, 2) * Y**2, 0], [[first, cross], [cross, 2 * Y**2]]
    )


def test_sde_latex_has_the_vector_and_the_matrix() -> None:
    assert small().sde_latex() == "\n".join(
        [
            r"\begin{aligned}",
            r"\mathrm{d}X_t &= b(X_t)\,\mathrm{d}t + \sigma(X_t)\,\mathrm{d}W_t,"
            r"\quad \sigma\sigma^\top = a \\",
            r"b(x, y) &= \begin{pmatrix} - x + 3.5 y^{2} \\ 0 \end{pmatrix} \\",
            r"a(x, y) &= \begin{pmatrix} 0.2 x^{2} + 0.1225 & - 0.3333 x y \\ "
            r"- 0.3333 x y & 2 y^{2} \end{pmatrix}",
            r"\end{aligned}",
        ]
    )


def test_generator_latex_halves_the_pure_second_derivatives_only() -> None:
    assert small().generator_latex() == "\n".join(
        [
            r"\begin{aligned}",
            r"\mathcal{L} f &= \left(- x + 3.5 y^{2}\right) \partial_{x} f \\",
            r"&\quad + \left(0.1 x^{2} + 0.06125\right) \partial_{x}^{2} f \\",
            r"&\quad - 0.3333 x y \partial_{x} \partial_{y} f \\",
            r"&\quad + y^{2} \partial_{y}^{2} f",
            r"\end{aligned}",
        ]
    )


def test_generator_latex_renames_the_function_where_f_is_a_coordinate() -> None:
    f = sympy.Symbol("f", real=True)
    latex = Generator.from_sympy(("f",), [-f], [[2]]).generator_latex()
    assert latex.splitlines()[1:3] == [
        r"\mathcal{L} \varphi &= - f \partial_{f} \varphi \\",
        r"&\quad + \partial_{f}^{2} \varphi",
    ]


def test_generator_latex_of_nothing_is_zero() -> None:
    still = Generator.from_sympy(("x",), [0], [[0]])
    assert still.generator_latex().splitlines()[1] == r"\mathcal{L} f &= 0"


def test_matrix_of_three_coordinates_is_symmetric_and_in_order() -> None:
    z = sympy.Symbol("z", real=True)
    tensor = [[11, X, Y], [X, 22, z], [Y, z, 33]]
    latex = Generator.from_sympy(("x", "y", "z"), [1, 2, 3], tensor).sde_latex()
    assert r"\begin{pmatrix} 11 & x & y \\ x & 22 & z \\ y & z & 33 \end{pmatrix}" in latex
    assert r"b(x, y, z) &= \begin{pmatrix} 1 \\ 2 \\ 3 \end{pmatrix}" in latex


def test_a_long_sum_takes_a_line_for_each_term() -> None:
    powers = [3.25 * sympy.sin(k * X) * sympy.exp(-k * Y) for k in range(1, 9)]
    latex = Generator.from_sympy(("x", "y"), [sum(powers), 0], [[1, 0], [0, 1]]).sde_latex()
    lines = [line.removesuffix(r" \\") for line in latex.splitlines() if line.startswith("&")]
    assert len(lines) == len(powers)
    signs = [line.startswith("&+ ") for line in lines]
    assert signs == [False] + [True] * (len(powers) - 1)


def test_numbers_inside_a_term_keep_more_digits_than_coefficients() -> None:
    term = sympy.exp(-((100.25 * X) ** 2))
    latex = Generator.from_sympy(("x",), [1.23456 * term], [[1]]).to_latex(digits=3)
    assert latex.splitlines()[1] == r"b_{1} &= 1.23 e^{- 10050.1 x^{2}} \\"
