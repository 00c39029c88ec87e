"""Coefficients: rates of selection, false terms, the rows of the paper."""

from __future__ import annotations

import numpy as np
import pytest
from invented_lines import FIELDS, NOTHING, content_of, csv_rows, lines_of

from wgsindy import zoo
from wgsindy.terms import library
from wgsindy_evidence.pages import PAGES
from wgsindy_evidence.pages.paper import coefficients as coefficients_page
from wgsindy_evidence.scope import Scope

SOME = Scope(seeds=(1, 2, 3, 4), systems=("correlated_ou", "maier_stein"))


def test_selection_rates_and_conditional_medians_are_counted() -> None:
    lines = lines_of("coefficients", SOME)
    usual = [line for line in lines if line.case.trajectories == 32]
    terms = coefficients_page.summarise(usual)
    systems = {zoo.get(name).title: name for name in SOME.systems or ()}
    seen = set()
    for term in terms:
        name = systems[term.system]
        for method, estimate in term.found.items():
            results = [
                line.result or {}
                for line in usual
                if (line.case.system, line.case.recipe) == (name, method)
            ]
            values = [
                r["selected"][term.target][term.name]
                for r in results
                if term.name in r["selected"].get(term.target, {})
            ]
            assert estimate.rate == len(values) / 4
            seen.add(estimate.rate)
            np.testing.assert_equal(estimate.value, np.median(values) if values else NOTHING)
        errors = [
            (line.result or {})["errors"][term.target][term.name]
            for line in usual
            if line.case.system == name and line.case.recipe == "sharp-euler"
        ]
        assert term.worth == pytest.approx(abs(term.true) / np.median(errors))
    assert len(seen) > 2  # rates of all kinds, or the test could not fail
    # b1, b2 of the linear process have one term each, its tensor three constants.
    assert sum(term.system == "Correlated OU" for term in terms) == 5


def test_terms_that_are_not_there_are_counted_as_false() -> None:
    lines = lines_of("coefficients", SOME)
    rows = PAGES["coefficients"](lines).grids["coefficients-summary"].rows
    for method, count, always, error, false in rows:
        wrong, fits_, rates, errors = 0, 0, [], []
        own = [
            line.case.system
            for line in lines
            if line.case.recipe == method and line.case.trajectories == 32
        ]
        for system in dict.fromkeys(own):
            truth = zoo.get(system)
            true = truth.true_coefficients()
            assert true is not None
            names = library(truth.library).bind(truth.names).terms
            table = dict(zip(FIELDS, true, strict=True))
            results = [
                line.result or {}
                for line in lines
                if (line.case.system, line.case.recipe, line.case.trajectories)
                == (system, method, 32)
            ]
            fits_ += len(results)
            for target, row in table.items():
                for term, value in zip(names, row, strict=True):
                    found = [
                        r["selected"][target][term]
                        for r in results
                        if term in r["selected"].get(target, {})
                    ]
                    if not value:
                        wrong += len(found)
                        continue
                    rates.append(len(found) / len(results))
                    if rates[-1] == 1:
                        errors.append(abs(np.median(found) / value - 1))
        assert wrong > 0
        assert count == str(len(rates))
        assert always == str(rates.count(1.0))
        assert error == (f"{100 * np.median(errors):.2f} %" if errors else "-")
        assert false == f"{wrong / fits_:.1f} a fit"


def test_false_terms_are_counted_over_the_fits_that_came_through() -> None:
    lines = list(lines_of("coefficients", SOME))
    place = next(n for n, line in enumerate(lines) if line.case.recipe == "paper")
    summaries = [
        PAGES["coefficients"](kept).grids["coefficients-summary"].rows[1]
        for kept in (lines[:place] + lines[place + 1 :],)
    ]
    truth = {name: zoo.get(name) for name in SOME.systems or ()}
    wrong, total = 0, 0
    for n, line in enumerate(lines):
        if n == place or line.case.recipe != "paper":
            continue
        total += 1
        system = truth[line.case.system]
        true = system.true_coefficients()
        assert true is not None
        names = library(system.library).bind(system.names).terms
        there = {
            (target, names[k])
            for target, row in zip(FIELDS, true, strict=True)
            for k in np.flatnonzero(row)
        }
        selected = (line.result or {})["selected"]
        wrong += sum((t, term) not in there for t, terms in selected.items() for term in terms)
    assert summaries[0][4] == f"{wrong / total:.1f} a fit"


def test_published_coefficients_stand_in_the_rows_of_their_terms() -> None:
    lines = lines_of("coefficients", Scope(seeds=(1,)))
    found = {
        (row[0], row[1], row[2].strip("`").replace("**", "^").replace("*", "")): row
        for row in PAGES["coefficients"](lines).grids["coefficients"].rows
    }
    theirs = csv_rows("coefficients")
    assert len(theirs) > 60
    for row in theirs:
        cells = found[row["system"], row["target"], row["term"]]
        rate = float(row["selection_rate"])
        assert cells[14] == f"{rate:.2f}"
        assert cells[13] == (f"{float(row['wg_sindy']):+.4f}" if rate else "-")
    known = {(row["system"], row["target"], row["term"]) for row in theirs}
    others = [row for key, row in found.items() if key not in known]
    assert others
    assert all(row[13:15] == ["-", "-"] for row in others)


def test_more_data_have_a_table_of_their_own() -> None:
    lines = lines_of("coefficients", SOME)
    grid = PAGES["coefficients"](lines).grids["coefficients-more"]
    assert "16 times" in grid.title
    assert {row[0] for row in grid.rows} == {"Maier-Stein"}
    (row,) = [row for row in grid.rows if row[1:3] == ["b1", "`x*y**2`"]]
    values = [
        (line.result or {})["selected"].get("b1", {}).get("x*y**2")
        for line in lines
        if line.case.trajectories == 512
    ]
    chosen = [value for value in values if value is not None]
    assert row[6] == f"{len(chosen) / 4:.2f}"
    assert row[5] == (f"{np.median(chosen):+.4f}" if chosen else "-")
    assert "coefficients-more" not in content_of("coefficients").grids
