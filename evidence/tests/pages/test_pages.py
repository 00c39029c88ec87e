"""Every page, from invented lines: complete, labelled, made of its lines alone."""

from __future__ import annotations

import pytest
from invented_lines import LOOK, NOTHING, changed, content_of, failed, lines_of, panels

from wgsindy_evidence.campaign import Line
from wgsindy_evidence.pages import PAGES

PANELS = {
    "ladder": 1,
    "ablation": 8,
    "baselines": 1,
    "method-heatmap": 3,
    "method-heatmap-paper": 3,
    "naive": 4,
    "coefficients": 1,
    "convergence": 4,
    "nulls": 2,
    "leverage": 2,
    "circulation": 2,
    "noise": 4,
    "reliability": 1,
}


@pytest.mark.parametrize("name", LOOK)
def test_tables_are_complete_and_say_no_nan(name: str) -> None:
    content = content_of(name)
    assert content.grids
    for key, grid in content.grids.items():
        assert grid.title
        assert 0 < grid.left <= len(grid.headings) or key == "reliability"
        # Of further seeds a look has the sentences only; false terms need not be there.
        assert grid.rows or name == "further-seeds" or key == "ledger-false"
        for row in grid.rows:
            assert len(row) == len(grid.headings)
            assert all(isinstance(cell, str) for cell in row)
            assert row[0]
            assert not any("nan" in cell.lower().split() or "|" in cell for cell in row)


@pytest.mark.parametrize("name", LOOK)
def test_figures_are_labelled_and_their_legends_name_everything_once(name: str) -> None:
    for key, figure in content_of(name).figures.items():
        found = panels(figure)
        assert len(found) == PANELS[key], key
        around = figure.get_supxlabel() or figure.get_supylabel()
        bars = [axes.get_xlabel() for axes in figure.axes if axes not in found]
        if key.startswith(("naive", "method-heatmap")):  # the colour bar says what the panel shows
            assert len(bars) == len(set(bars)) == len(found)
            assert all(bars)
        for axes in found:
            assert axes.get_xlabel() or axes.get_ylabel() or axes.get_title() or around or bars
            assert axes.has_data()
        if not key.startswith(
            ("naive", "method-heatmap")
        ):  # words at the ticks, figures in the cells
            assert around or any(axes.get_xlabel() for axes in found)
        own = [legend for axes in found if (legend := axes.get_legend()) is not None]
        for legend in [*own, *figure.legends]:
            texts = [text.get_text() for text in legend.get_texts()]
            assert texts
            assert len(texts) == len(set(texts))
        figure.draw_without_rendering()  # nothing warns


def test_the_look_draws_every_figure_that_has_a_number_of_panels() -> None:
    assert {key for name in LOOK for key in content_of(name).figures} == set(PANELS)


@pytest.mark.parametrize("name", LOOK)
def test_a_page_depends_on_its_lines_alone(name: str) -> None:
    again = PAGES[name](lines_of(name))
    assert again.grids == content_of(name).grids
    assert again.sentences == content_of(name).sentences


@pytest.mark.parametrize("name", LOOK)
def test_a_failed_case_is_left_out(name: str) -> None:
    """The page is that of the lines without it, except where failures are counted."""
    first, *others = lines_of(name)
    content = PAGES[name]([failed(first), *others])
    without = PAGES[name](others)
    # In tables a failed case fails the gate; on measured data, failures are counted.
    if name not in ("table", "further-seeds", "measured", "recordings", "arena"):
        assert content.grids == without.grids


def whole_method_fails(name: str) -> list[Line]:
    """Lines of a campaign in which the first method of the first system never came through."""
    first = lines_of(name)[0].case
    return [
        failed(line)
        if (line.case.system, line.case.recipe) == (first.system, first.recipe)
        else line
        for line in lines_of(name)
    ]


@pytest.mark.parametrize("name", LOOK)
def test_a_method_that_never_comes_through_leaves_dashes(name: str) -> None:
    content = PAGES[name](whole_method_fails(name))
    for grid in content.grids.values():
        assert not any("nan" in cell for row in grid.rows for cell in row)


@pytest.mark.parametrize(
    ("name", "key", "method", "grid", "row", "place"),
    [
        ("ladder", "drift", "naive", "ladder", 0, 5),
        ("ablation", "condition", "paper-no-gls", "ablation-paper", 2, 6),
        ("baselines", "cosine", "sharp-euler", "baselines", 0, 6),
        ("naive", "psd", "naive", "naive", 0, 7),
        ("nulls", "tensor", "sharp-euler", "nulls", 0, 9),
        ("noise", "drift", "paper", "noise", 0, 9),
        ("leverage", "theta", "paper", "leverage", 0, 8),
        ("circulation", "current", "paper", "circulation", 0, 8),
    ],
)
def test_what_is_not_defined_is_a_dash(
    name: str, key: str, method: str, grid: str, row: int, place: int
) -> None:
    lines = [
        changed(line, **{key: NOTHING}) if line.case.recipe == method else line
        for line in lines_of(name)
    ]
    assert PAGES[name](lines).grids[grid].rows[row][place] == "-"
    assert content_of(name).grids[grid].rows[row][place] != "-"
