"""Observation noise: medians of each level beside the figures of the paper."""

from __future__ import annotations

from invented_lines import NOTHING, csv_rows, lines_of, middle, shown

from wgsindy import zoo
from wgsindy_evidence.pages import PAGES
from wgsindy_evidence.scope import Scope


def test_levels_of_noise_have_medians_and_the_papers_figures() -> None:
    lines = lines_of("noise", Scope(seeds=(1, 2, 3)))
    rows = PAGES["noise"](lines).grids["noise"].rows
    titles = {zoo.get(name).title: name for name in {line.case.system for line in lines}}
    methods = ("paper", "paper-noise", "sharp-euler", "sharp", "sharp-noise")
    found = 0
    for title, label, *cells in rows:
        size, kind = label.split(" % ") if label != "none" else ("0", "gaussian")
        wanted = {"system": titles[title], "kind": kind, "level": float(size) / 100}
        known = [
            [
                float(r["diffusion_rel_l2"])
                for r in csv_rows(
                    "fluctuation", system=titles[title], noise_kind=kind, noise_correct=corrected
                )
                if float(r["noise_to_signal_ratio"]) == wanted["level"]
            ]
            for corrected in ("False", "True")
        ]
        found += sum(map(len, known))
        assert cells == [
            *(shown(middle(lines, "tensor", recipe=m, **wanted)) for m in methods),
            *(shown(values[0] if values else NOTHING) for values in known),
            *(shown(middle(lines, "drift", recipe=m, **wanted)) for m in methods),
        ]
    assert len(rows) == 3 * 5
    assert found == len(csv_rows("fluctuation"))
