"""Figures: the right numbers in the right panels."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.collections import EllipseCollection, QuadMesh
from matplotlib.figure import Figure

from wgsindy import Trajectories, WGSINDy, zoo
from wgsindy.errors import DataError
from wgsindy.report import plot_comparison, plot_overview
from wgsindy.report.figures.fields import plot_portrait

SYSTEM = zoo.get("nondiag_cholesky")
TRUTH = SYSTEM.generator
DATA = SYSTEM.simulate(0, trajectories=4, steps=300)


def meshes(figure: Figure) -> list[QuadMesh]:
    found = [axes.collections[0] for axes in figure.axes if axes.get_subplotspec() is not None]
    return [mesh for mesh in found if isinstance(mesh, QuadMesh)][:15]


def test_recovered_and_true_share_a_scale_and_the_error_is_centred() -> None:
    estimate = WGSINDy("poly2", "paper").fit(DATA).generator_
    panels = meshes(plot_comparison(estimate, TRUTH, DATA))
    assert len(panels) == 15
    for row in range(5):
        recovered, true, error = panels[3 * row : 3 * row + 3]
        assert recovered.get_clim() == true.get_clim()
        low, high = error.get_clim()
        assert low == -high
        size = np.abs(np.asarray(true.get_array())).max()
        # As wide as the error, but at least a quarter of the field: a small error looks small.
        assert high == pytest.approx(max(np.abs(np.asarray(error.get_array())).max(), size / 4))
        difference = np.asarray(recovered.get_array()) - np.asarray(true.get_array())
        np.testing.assert_allclose(np.asarray(error.get_array()), difference)


def test_a_perfect_recovery_has_a_blank_error_column() -> None:
    panels = meshes(plot_comparison(TRUTH, TRUTH, DATA))
    assert all(not np.asarray(panel.get_array()).any() for panel in panels[2::3])


def test_ellipses_follow_the_tensor() -> None:
    axes = Figure().subplots()
    plot_portrait(TRUTH, DATA, axes)
    (ellipses,) = (drawn for drawn in axes.collections if isinstance(drawn, EllipseCollection))
    centres = np.asarray(ellipses.get_offsets())
    assert centres.shape == (49, 2)
    values, vectors = np.linalg.eigh(TRUTH.diffusion(centres))
    widths, heights = np.array(ellipses.get_widths()), np.array(ellipses.get_heights())
    np.testing.assert_allclose(widths / heights, np.sqrt(values[:, 1] / values[:, 0]))
    np.testing.assert_allclose(widths / widths.max(), np.sqrt(values[:, 1] / values.max()))
    angles = np.radians(ellipses.get_angles())
    along = np.cos(angles) * vectors[:, 0, 1] + np.sin(angles) * vectors[:, 1, 1]
    np.testing.assert_allclose(np.abs(along), 1)


def test_the_overview_writes_both_sets_of_equations() -> None:
    figure = plot_overview(TRUTH, TRUTH, DATA)
    texts = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert len(texts) == 2
    assert all(text.startswith("b1 = -x") for text in texts)


def test_pictures_of_other_dimensions_are_refused_with_a_sentence() -> None:
    line = Trajectories([np.arange(5.0)], dt=1.0)
    with pytest.raises(DataError, match="need 2 coordinates, these data have 1"):
        plot_comparison(TRUTH, TRUTH, line)
