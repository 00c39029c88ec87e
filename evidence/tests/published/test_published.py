"""The figures of the paper."""

from __future__ import annotations

from math import isnan

from wgsindy_evidence import published


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
