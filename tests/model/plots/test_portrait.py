"""Pictures of a generator: data in, Axes out, and what they show is the generator."""

from __future__ import annotations

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
import sympy
from matplotlib.axes import Axes
from matplotlib.collections import EllipseCollection
from matplotlib.quiver import Quiver

import wgsindy as wg
from wgsindy.errors import DataError
from wgsindy.model import named_fields

mpl.use("Agg")


@pytest.fixture(scope="module")
def plane() -> tuple[wg.WGSINDy, wg.Trajectories]:
    data = wg.zoo.get("rotational_ou").simulate(0, trajectories=4)
    return wg.WGSINDy("poly1").fit(data), data


@pytest.fixture
def ax() -> Axes:
    return plt.figure().add_subplot()


def test_arrows_are_the_drift_and_ellipses_the_tensor(
    plane: tuple[wg.WGSINDy, wg.Trajectories], ax: Axes
) -> None:
    generator = plane[0].generator_
    assert generator.plot(plane[1], ax=ax) is ax
    (arrows,) = [found for found in ax.collections if isinstance(found, Quiver)]
    feet = np.column_stack([arrows.X, arrows.Y])
    np.testing.assert_allclose(np.column_stack([arrows.U, arrows.V]), generator.drift(feet))
    (ellipses,) = [found for found in ax.collections if isinstance(found, EllipseCollection)]
    assert len(np.asarray(ellipses.get_offsets())) == 49
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x", "y")


def test_without_data_the_range_is_that_of_the_fit(
    plane: tuple[wg.WGSINDy, wg.Trajectories], ax: Axes
) -> None:
    region = plane[0].generator_.region
    assert region is not None
    plane[0].generator_.plot(ax=ax)
    low, high = ax.get_xlim()
    assert (low + high) / 2 == pytest.approx(region.centre[0], abs=1e-9)
    assert high - low == pytest.approx(4 * region.scale[0])
    truth = wg.zoo.get("rotational_ou").generator
    with pytest.raises(DataError, match="pass data to draw it"):
        truth.plot(ax=ax)


def test_a_plane_of_three_coordinates_can_be_chosen(ax: Axes) -> None:
    x, y, z = sympy.symbols("x y z")
    truth = wg.Generator.from_sympy(("x", "y", "z"), [-x, z, -y], [[1, 0, 0], [0, 1, 0], [0, 0, 4]])
    states = np.random.default_rng(0).normal(size=(500, 3))
    truth.plot(states, coordinates=("y", "z"), ax=ax)
    (arrows,) = [found for found in ax.collections if isinstance(found, Quiver)]
    x_feet, y_feet, u, v = (
        np.asarray(part, dtype=float) for part in (arrows.X, arrows.Y, arrows.U, arrows.V)
    )
    np.testing.assert_allclose(u, y_feet)  # dy = z dt
    np.testing.assert_allclose(v, -x_feet)
    for wrong in (("y", "w"), ("y", "y"), ("y",)):
        with pytest.raises(DataError):
            truth.plot(states, coordinates=wrong, ax=ax)


def test_a_field_has_its_band(plane: tuple[wg.WGSINDy, wg.Trajectories], ax: Axes) -> None:
    generator, data = plane[0].generator_, plane[1]
    generator.plot_field("b2", data, along="x", ax=ax)
    x, values = (np.asarray(v) for v in ax.lines[0].get_data())
    states = np.column_stack([x, np.full_like(x, np.median(data.states[:, 1]))])
    np.testing.assert_allclose(values, generator.drift(states)[:, 1])
    band = ax.collections[0].get_paths()[0].vertices
    bands = generator.bands(states)
    assert np.asarray(band)[:, 1].max() == pytest.approx(bands.drift_high[:, 1].max())
    with pytest.raises(DataError, match="no field 'b3'; there are b1, b2, a11, a12, a22"):
        generator.plot_field("b3", ax=ax)


def test_every_coefficient_is_drawn(plane: tuple[wg.WGSINDy, wg.Trajectories], ax: Axes) -> None:
    generator = plane[0].generator_
    generator.plot_coefficients(ax=ax)
    labels = [text.get_text() for text in ax.get_yticklabels()]
    named = [named_fields(one.target, generator.names) for one in generator.coefficients]
    terms = [one.term for one in generator.coefficients]
    assert labels == [f"{field}: {term}" for field, term in zip(named, terms, strict=True)]
    drawn = np.asarray(ax.lines[1].get_xdata())
    np.testing.assert_array_equal(drawn, [one.value for one in generator.coefficients])


def test_a_fit_draws_itself_its_residuals_and_simulations(
    plane: tuple[wg.WGSINDy, wg.Trajectories],
) -> None:
    est = plane[0]
    assert est.plot().collections
    heights = est.plot_residuals("y").patches[0].get_data().values  # type: ignore[attr-defined]
    assert np.sum(heights) * 0.2 == pytest.approx(1.0, abs=1e-3)
    for what in ("density", "autocorrelation"):
        assert len(est.plot_simulated("x", what=what).lines) == 2
    with pytest.raises(DataError, match="no coordinate 'q'"):
        est.plot_residuals("q")
    with pytest.raises(DataError, match="got 'spectrum'"):
        est.plot_simulated(what="spectrum")
    plt.close("all")
