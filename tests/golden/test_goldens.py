"""Results that are stored: nothing may change them unnoticed."""

from __future__ import annotations

import goldens
import pytest


@pytest.mark.parametrize("name", goldens.GOLDENS)
def test_a_system_gives_what_is_stored(name: str) -> None:
    old = goldens.stored(name)
    new = goldens.results(old.inputs, goldens.GOLDENS[name])
    assert goldens.differences(old, new, exact=False) == []


def test_the_demo_writes_the_model_that_is_stored() -> None:
    assert goldens.demo_differences(goldens.demo_files(), exact=False) == []


@pytest.mark.parametrize("exact", [True, False])
def test_a_change_would_be_seen(exact: bool) -> None:
    old = goldens.stored("duffing")
    key = "sharp-euler/memory/model/drift"
    moved = old.found | {key: old.found[key] * (1 + 1e-11)}
    assert len(goldens.differences(old, moved, exact=exact)) == 1
    assert len(goldens.differences(old, moved | {"new": key}, exact=exact)) == 2
    assert goldens.differences(old, old.found, exact=exact) == []
