"""Departures from the text have their words and costs; false terms of the ledger their names."""

from __future__ import annotations

from typing import Any

import numpy as np
from invented_lines import lines_of, middle, shown

from wgsindy import zoo
from wgsindy.terms import library
from wgsindy_evidence.campaign import Case, Line
from wgsindy_evidence.pages import PAGES
from wgsindy_evidence.pages.paper.departures import DEPARTURES
from wgsindy_evidence.recipes import AS_WRITTEN, PAPER
from wgsindy_evidence.scope import Scope

SOME = Scope(seeds=(1, 2, 3), systems=("indep_ou", "cir_pair"))


def test_every_formula_of_the_text_has_its_row() -> None:
    assert set(DEPARTURES) == set(AS_WRITTEN)
    rows = PAGES["departures"](lines_of("departures", SOME)).grids["departures"].rows
    assert len(rows) == 1 + len(AS_WRITTEN)
    for row, (name, recipe) in zip(rows[1:], AS_WRITTEN.items(), strict=True):
        assert recipe != PAPER
        assert recipe.name == name
        assert row[:4] == list(DEPARTURES[name])
        # The value that the table gives is a field of the recipe.
        field = row[3].strip("`").split("=")[0]
        assert not row[3].startswith("`") or hasattr(PAPER, field)


def test_costs_are_medians_and_the_worst_system_is_named() -> None:
    lines = lines_of("departures", SOME)
    rows = PAGES["departures"](lines).grids["departures"].rows
    names = ["paper", *AS_WRITTEN]
    for row, name in zip(rows, names, strict=True):
        assert row[4] == shown(middle(lines, "drift", recipe=name))
        assert row[5] == shown(middle(lines, "tensor", recipe=name), 4)
    ratios = {
        system: middle(lines, "drift", recipe="paper-cv-minimum", system=system)
        / middle(lines, "drift", recipe="paper", system=system)
        for system in SOME.systems or ()
    }
    worst = max(ratios, key=lambda system: ratios[system])
    place = names.index("paper-cv-minimum")
    assert rows[place][7] == f"{zoo.get(worst).title}: x {ratios[worst]:.2g}"


def test_rows_that_differ_stand_beside_the_published_interval() -> None:
    grid = PAGES["departures"](lines_of("departures", SOME)).grids["different-rows"]
    assert grid.headings == ("Recipe", "CIR pair")
    assert grid.rows[-1] == ["published", "0.116 (0.072 - 0.251)"]


def ledger_lines(system: str, recipe: str, found: np.ndarray[Any, Any]) -> list[Line]:
    item = zoo.get(system)
    true = item.true_coefficients()
    assert true is not None
    result = {"support": found.tolist(), "true_support": true.tolist()}
    return [Line(Case("ledger", system, recipe, seed), "x", result, None) for seed in range(5)]


def test_the_ledger_adds_up_beside_the_papers_and_names_false_terms() -> None:
    system = zoo.get("rotational_ou")
    true = system.true_coefficients()
    assert true is not None
    terms = list(library(system.library).bind(system.names).terms)
    found = true.copy()
    found[0, terms.index("x*y")] = 1.0
    found[1, terms.index("x")] = 0.0
    lines = ledger_lines("rotational_ou", "paper", found)
    lines += ledger_lines("rotational_ou", "sharp-euler", true)
    lines += ledger_lines("gbm_2d", "paper", np.asarray(zoo.get("gbm_2d").true_coefficients()))
    content = PAGES["ledger"](lines)
    rows = {row[0]: row[1:] for row in content.grids["ledger"].rows}
    assert rows["Rotational OU"] == ["6", "5", "1", "6", "0"]
    assert rows["the systems in scope"] == ["6", "5", "1", "6", "0"]
    assert rows["published"] == ["134", "104", "0", "-", "-"]
    assert rows["all rows"][:3] == ["11", "10", "1"]  # the limit counts here only
    (false,) = content.grids["ledger-false"].rows
    assert false == ["paper", "Rotational OU", "b1", "`x*y`", "5 of 5", "50 %", "0 %"]
    assert "5 of the 6 terms" in content.sentences["ledger"]
    assert "published: 104 of 134" in content.sentences["ledger"]
