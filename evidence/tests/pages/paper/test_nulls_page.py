"""Limits: their cause, read off the oracle."""

from __future__ import annotations

from invented_lines import NOTHING, changed, csv_rows, invented, lines_of, middle, shown

from wgsindy import zoo
from wgsindy_evidence.experiments.paper import nulls
from wgsindy_evidence.pages import PAGES
from wgsindy_evidence.pages.paper import nulls as nulls_page
from wgsindy_evidence.scope import Scope


def limit(system: str, sharp: float, oracle: float, wrong_library: str = "") -> str:
    """The cause that the page reads off lines with these drift errors."""
    drift = {"sharp-euler": sharp, "paper": 5.0, "oracle": oracle, "weak-oracle": 4.0}
    null = nulls.Null(system, wrong_library)
    lines = [
        changed(invented(case), whole_drift=drift[method])
        for method in nulls.METHODS
        for case in [nulls.null_case(null, method, 1)]
    ]
    (row,) = PAGES["nulls"](lines).grids["nulls"].rows[:1]
    return row[-1]


def test_the_cause_of_a_limit_is_read_off_the_oracle() -> None:
    # Terms are given and still wrong by more than the gate: the data.
    assert limit("gbm_2d", 3.0, 0.9) == "data"
    assert limit("gbm_2d", 0.9, 0.9) == "data"
    # Given the terms all is well, but none of them is on offer: the library.
    assert limit("mueller_brown", 0.5, 0.1) == "library"
    assert limit("nonpoly_drift", 0.5, 0.1, "poly2") == "library"
    # They were on offer and not taken.
    assert limit("gbm_2d", 0.5, 0.1) == "weak terms"
    # As good as the oracle.
    assert limit("gbm_2d", 0.15, 0.1) == "nothing: recovered"
    assert limit("sabr", NOTHING, NOTHING) == "no drift to find"


def test_without_an_oracle_nothing_is_called_recovered() -> None:
    assert "recovered" not in limit("gbm_2d", 3.0, NOTHING)


def test_an_error_beyond_the_gate_is_not_called_recovered() -> None:
    assert "recovered" not in limit("gbm_2d", 1.3, 0.7)


def test_limits_have_the_medians_of_whole_drift_and_tensor() -> None:
    lines = lines_of("nulls", Scope(seeds=(1, 2, 3)))
    rows = PAGES["nulls"](lines).grids["nulls"].rows
    assert len(rows) == len(nulls.NULLS)
    theirs = {
        (row["system"], row["failure_mode"] == "wrong_library"): row
        for row in csv_rows("honest_nulls")
    }
    assert len(theirs) == 8
    seen = set()
    for row, null in zip(rows, nulls.NULLS, strict=True):

        def of(key: str, method: str, null: nulls.Null = null) -> float:
            kept = [
                line
                for line in lines
                if line.case.settings.get("library", "")
                == (null.library, "")[method.endswith("oracle")]
            ]
            return middle(kept, key, system=null.system, recipe=method)

        known = theirs.get((null.system, bool(null.library)))
        seen |= {(null.system, bool(null.library))} if known else set()
        order = ("sharp-euler", "paper", "oracle", "weak-oracle")
        system = zoo.get(null.system)
        assert row[0] == system.title
        assert row[2] == str(system.limitation)
        columns = ("drift_rel_l2", "oracle_drift_rel_l2")
        more = ("diffusion_rel_l2", "oracle_diffusion_rel_l2")
        assert row[3:7] == [shown(of("whole_drift", method)) for method in order]
        assert row[7:9] == [shown(float(known[c]) if known else NOTHING) for c in columns]
        assert row[9:13] == [shown(of("tensor", method), 4) for method in order]
        assert row[13:15] == [shown(float(known[c]) if known else NOTHING) for c in more]
    assert seen == set(theirs)  # every published figure is somewhere


def test_the_label_of_a_limit_names_another_library() -> None:
    plain = nulls_page.Limit(nulls.Null("nonpoly_drift"), {}, {})
    other = nulls_page.Limit(nulls.Null("nonpoly_drift", "poly2"), {}, {})
    assert plain.label == "Non-polynomial drift"
    assert other.label == "Non-polynomial drift, poly2"
