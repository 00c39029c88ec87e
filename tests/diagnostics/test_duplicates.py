"""Samples that stand in several places: found wherever they are, and not by chance."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter

from wgsindy import Trajectories, WGSINDy
from wgsindy.data import Chunk, FloatArray
from wgsindy.diagnostics import Limitation, residuals

DT = 0.05


def relaxation(seed: int, n: int) -> FloatArray:
    """A record ``(n, 1)`` of dx = -x dt + dW."""
    kept = np.exp(-DT)
    shocks = np.random.default_rng(seed).standard_normal(n + 200) * np.sqrt((1 - kept**2) / 2)
    return np.asarray(lfilter([1.0], [1.0, -kept], shocks)[200:, None])


def found(*paths: FloatArray) -> list[str]:
    """What a verdict says of samples that are given twice."""
    diagnostics = WGSINDy("poly1").fit(Trajectories(list(paths), DT)).diagnostics_
    named = [one for one in diagnostics.findings if one.limitation is Limitation.COPIED]
    assert not named or diagnostics.verdict != "identified"
    return [one.sentence for one in named]


def chunk_of(*paths: FloatArray) -> Chunk:
    (chunk,) = Trajectories(list(paths), DT).chunks(100_000)
    return chunk


def share(*chunks: Chunk) -> float:
    kept = residuals.no_stretches()
    for chunk in chunks:
        kept = residuals.smallest_stretches(kept, residuals.stretch_numbers(chunk))
    return residuals.share_repeated(kept)


def test_windows_that_overlap_are_named_and_pieces_are_not() -> None:
    record = relaxation(0, 6000)
    (said,) = found(*[record[start : start + 2000] for start in range(0, 4001, 1000)])
    # All but the ends: 8,000 of 10,000, of which 2,048 tell by a share with an error of a percent.
    assert 77 <= int(said.split("%")[0]) <= 83
    assert not found(*[record[start : start + 2000] for start in range(0, 4001, 2000)])


def test_few_digits_that_repeat_by_chance_are_no_copies() -> None:
    """A walk on twelve sites has few patterns; digits of a third of a step have enough."""
    rng, site, sites = np.random.default_rng(1), 6, []
    for step in rng.integers(0, 2, 20_000) * 2 - 1:
        site = site + step if 0 <= site + step < 12 else site - step
        sites.append([float(site)])
    walk = np.array(sites)
    assert share(chunk_of(walk)) > 0.1
    assert not found(walk)
    record, grid = relaxation(1, 20_000), np.sqrt(DT) / 3
    assert not found(np.round(record / grid) * grid)


def test_a_copy_is_found_in_another_part_of_the_data() -> None:
    """Also if it has a minus zero, and however parts are merged."""
    one, other = relaxation(2, 5000), relaxation(3, 5000)
    one[100] = 0.0
    again = one.copy()
    again[100] = -0.0
    assert share(chunk_of(one), chunk_of(other)) == 0.0
    assert share(chunk_of(one), chunk_of(other), chunk_of(again)) == pytest.approx(2 / 3, abs=0.06)
    assert share(chunk_of(one, again)) == 1.0
    # 2048 are kept of 15,000: three standard errors of a share are 0.04.


def test_a_stretch_that_stands_in_two_columns_is_no_copy() -> None:
    one, other = relaxation(4, 3000), relaxation(5, 3000)
    pair, swapped = np.hstack([one, other]), np.hstack([other, one])
    assert share(chunk_of(pair, swapped)) == 0.0
    assert share(chunk_of(pair, pair)) == 1.0
    assert share(chunk_of(one, one[::-1])) == 0.0


def test_rest_and_few_samples_have_no_stretches() -> None:
    still = relaxation(6, 400)
    still[100:300] = still[100]
    assert share(chunk_of(still)) == 0.0
    assert (
        len(residuals.stretch_numbers(chunk_of(still)))
        < 400 - 200 - residuals.DUPLICATE_LENGTH + 40
    )
    assert share(chunk_of(relaxation(7, 10))) == 0.0
    short = [relaxation(seed, 17) for seed in range(4)]  # sixteen steps: one stretch each
    assert len(residuals.stretch_numbers(chunk_of(*short))) == 4


def test_a_stretch_moves_in_most_of_its_steps() -> None:
    half = residuals.DUPLICATE_LENGTH // 2
    for steps, expected in ((half, 0), (half + 1, 1)):
        path = np.minimum(np.arange(residuals.DUPLICATE_LENGTH + 1.0), steps)[:, None]
        assert len(residuals.stretch_numbers(chunk_of(path))) == expected
