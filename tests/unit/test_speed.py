"""What a fit costs: memory is tested, time only printed, for machines differ."""

from __future__ import annotations

import pytest

from wgsindy import Trajectories, WGSINDy, engine, zoo
from wgsindy.bench import speed

INCREMENTS = 48_000
KERNEL_MATRIX = 64 * INCREMENTS * 8 / 2**20  # 23 MB: what a centres x samples matrix would take


@pytest.fixture(scope="module")
def data() -> Trajectories:
    found = zoo.get("rotational_ou").simulate(0, steps=INCREMENTS // 16)
    WGSINDy("poly2").fit(found)  # what imports leave behind is not counted
    return found


def test_a_fit_never_holds_a_centres_by_samples_matrix(data: Trajectories) -> None:
    assert speed.added_megabytes("paper", data) < KERNEL_MATRIX / 3


def test_one_huge_chunk_would_be_noticed(
    data: Trajectories, monkeypatch: pytest.MonkeyPatch
) -> None:
    defaults = dict(engine.reduce.__kwdefaults__ or {}, chunk_size=10**9)
    monkeypatch.setattr(engine.reduce, "__kwdefaults__", defaults)
    assert speed.added_megabytes("paper", data) > KERNEL_MATRIX


def test_the_timing_is_a_ratio_of_one_run() -> None:
    timing = speed.time_fit("paper", increments=3200, repeats=1)
    assert timing.increments == 3200
    assert timing.ratio == pytest.approx(timing.fit / timing.yardstick)
    assert timing.ratio > 0
