"""Pictures of a generator: data in, Axes out, and what they show is the generator."""

from __future__ import annotations

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
import sympy
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import to_hex

import wgsindy as wg
from wgsindy.data import FloatArray
from wgsindy.draw import Colour, Picture, axes, data_planes, dots, draw_picture, heat, portrait
from wgsindy.draw.picture import CIVIDIS, VIRIDIS
from wgsindy.draw.planes import StateCloud
from wgsindy.draw.plots import LIGHT_COLOURS
from wgsindy.errors import DataError
from wgsindy.model import named_fields
from wgsindy.report.page import package_text

mpl.use("Agg")


@pytest.fixture(scope="module")
def plane() -> tuple[wg.WGSINDy, wg.Trajectories]:
    data = wg.zoo.get("rotational_ou").simulate(0, trajectories=4)
    return wg.WGSINDy("poly1").fit(data), data


@pytest.fixture
def ax() -> Axes:
    return plt.figure().add_subplot()


def arrows(ax: Axes, colour: Colour = Colour.INK) -> tuple[FloatArray, FloatArray]:
    """Feet and directions ``(n, 2)`` of arrows; each is a line of seven places."""
    (line,) = [line for line in ax.lines if line.get_color() == LIGHT_COLOURS[colour]]
    places = np.asarray(line.get_xydata()).reshape(-1, 7, 2)
    return places[:, 0], places[:, 1] - places[:, 0]


def assert_along(directions: FloatArray, drift: FloatArray) -> None:
    """Compare directions, to the digits that a picture has."""
    lengths = [np.linalg.norm(one, axis=1, keepdims=True) for one in (directions, drift)]
    np.testing.assert_allclose(directions / lengths[0], drift / lengths[1], atol=0.02)


def test_arrows_are_the_drift_and_ellipses_the_tensor(
    plane: tuple[wg.WGSINDy, wg.Trajectories], ax: Axes
) -> None:
    generator, data = plane[0].generator_, plane[1]
    assert generator.plot(data, ax=ax) is ax
    feet, directions = arrows(ax)
    assert_along(directions, generator.drift(feet))
    (line,) = [one for one in ax.lines if one.get_color() == LIGHT_COLOURS[Colour.SIMULATED]]
    rings = np.asarray(line.get_xydata()).reshape(-1, 41, 2)[:, :-1]
    centres = (rings.max(axis=1) + rings.min(axis=1)) / 2
    around = rings - centres[:, None]
    form = np.linalg.inv(generator.diffusion(centres))
    sizes = np.einsum("nkp,npq,nkq->nk", around, form, around)
    np.testing.assert_allclose(sizes, sizes.mean(), rtol=0.02)
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
    feet, directions = arrows(ax)
    assert_along(directions, np.column_stack([feet[:, 1], -feet[:, 0]]))  # dy = z dt
    for wrong in (("y", "w"), ("y", "y"), ("y",)):
        with pytest.raises(DataError):
            truth.plot(states, coordinates=wrong, ax=ax)


def test_a_field_has_its_band(plane: tuple[wg.WGSINDy, wg.Trajectories], ax: Axes) -> None:
    generator, data = plane[0].generator_, plane[1]
    generator.plot_field("b2", data, along="x", ax=ax)
    x, values = (np.asarray(v) for v in ax.lines[0].get_data())
    states = np.column_stack([x, np.full_like(x, np.median(data.states[:, 1]))])
    np.testing.assert_allclose(values, generator.drift(states)[:, 1], rtol=1e-4, atol=1e-5)
    band = np.asarray(ax.patches[0].get_xy())  # type: ignore[attr-defined]
    assert band[:, 1].max() == pytest.approx(generator.bands(states).drift_high[:, 1].max(), 1e-4)
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
    bars = est.plot_residuals("y").patches
    assert sum(bar.get_height() for bar in bars) * 0.2 == pytest.approx(1, abs=1e-3)  # type: ignore[attr-defined]
    for what in ("density", "autocorrelation"):
        drawn = est.plot_simulated("x", what=what)
        assert (len(drawn.lines), len(drawn.patches)) == (1, 1)
        assert "of the observed curve inside" in drawn.get_title()
    with pytest.raises(DataError, match="no coordinate 'q'"):
        est.plot_residuals("q")
    with pytest.raises(DataError, match="got 'spectrum'"):
        est.plot_simulated(what="spectrum")
    plt.close("all")


def test_what_comes_later_lies_above_and_gaps_stay_open(ax: Axes) -> None:
    states = np.random.default_rng(0).normal(size=(99, 2))
    cells = data_planes(StateCloud(("x", "y"), states))[0].cells(4)
    values = np.arange(16.0)
    values[5] = np.nan
    places = np.array([0.0, np.nan, 1.0])
    traces = [heat(cells, values, showscale=False), dots(places, places, 3, Colour.INK)]
    draw_picture(Picture("a", "a title", "", traces, axes("x", "y")), ax, {"x": "x (m)"})
    (image,) = [found for found in ax.collections if isinstance(found, QuadMesh)]
    assert np.ma.asarray(image.get_array()).mask.sum() == 1
    assert ax.lines[0].get_zorder() > image.get_zorder()
    assert np.isnan(np.asarray(ax.lines[0].get_xdata(), dtype=float)).sum() == 1
    assert (ax.get_title(), ax.get_xlabel(), ax.get_ylabel()) == ("a title", "x (m)", "y")


def test_a_portrait_over_data_is_pale_where_there_are_none() -> None:
    system = wg.zoo.get("van_der_pol")
    data = system.simulate(0, trajectories=2, steps=300)
    cloud = StateCloud(data.names, data.states)
    plane = data_planes(cloud)[0]
    _, _, _, pale, ink = portrait(system.generator, plane, cloud).traces
    feet = np.column_stack([pale["x"][::7], pale["y"][::7]])
    near = np.abs(data.states[None] - feet[:, None]) < plane.sizes / 30 * 0.99
    assert not near.all(axis=2).any()
    assert len(ink["x"]) + len(pale["x"]) == 7 * 15**2


def test_colours_are_those_of_the_page_and_of_matplotlib() -> None:
    light = package_text("report.css").split("}")[0]
    for colour, value in LIGHT_COLOURS.items():
        assert f"--{colour[6:-1]}: {value};" in light
    assert set(LIGHT_COLOURS) == set(Colour)
    for name, palette in (("viridis", VIRIDIS), ("cividis", CIVIDIS)):
        for place, shade in palette:
            assert shade == to_hex(mpl.colormaps[name](np.array([place]))[0])
