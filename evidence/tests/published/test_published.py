"""The figures of the paper."""

from __future__ import annotations

from math import isnan

import pytest

from wgsindy import zoo
from wgsindy_evidence import published
from wgsindy_evidence.published import table_row


def test_published_files_name_their_source_and_are_read_once() -> None:
    from importlib import resources

    folder = resources.files("wgsindy_evidence.published")
    names = [item.name.removesuffix(".csv") for item in folder.iterdir() if ".csv" in item.name]
    assert len(names) >= 10
    for name in names:
        text = folder.joinpath(f"{name}.csv").read_text(encoding="utf-8")
        assert text.startswith("# Source:")
        rows = published.rows(name)
        plain = [line for line in text.splitlines() if not line.startswith("#")]
        assert len(rows) == len(plain) - 1 > 0
        assert list(rows[0]) == plain[0].split(",")
        assert published.rows(name) is rows
    assert published.figure({"x": "0.25"}, "x") == 0.25
    assert isnan(published.figure({"x": ""}, "x"))


@pytest.mark.parametrize("name", zoo.names())
def test_every_system_of_the_table_has_its_published_row(name: str) -> None:
    row = table_row(name)
    assert row["n"] == 10
    assert row["diffusion_ci_low"] <= row["diffusion_median"] <= row["diffusion_ci_high"]


def test_variants_have_no_published_row() -> None:
    assert all(table_row(name) == {} for name in set(zoo.names(variants=True)) - set(zoo.names()))


def test_published_figures_are_those_of_the_paper() -> None:
    # Table 1 of the paper, rounded to three digits there.
    table = {
        "indep_ou": (0.098, 0.033),
        "maier_stein": (0.235, 0.038),
        "nondiag_cholesky": (0.204, 0.079),
        "brusselator": (0.013, 0.067),
        "too_large_dt": (0.098, 0.119),
    }
    for name, (drift, field) in table.items():
        row = table_row(name)
        assert row["objective_drift_median"] == pytest.approx(drift, abs=5.1e-4)
        assert row["diffusion_median"] == pytest.approx(field, abs=5.1e-4)
