"""What states look like that no file format can tell: constant, stalled, spiked, mixed units.

Each is warned of and the data stay as they are (but for constant columns nobody asked for): a
jump, a stall or a factor of 1000 can be physics, and only the reader of the warning knows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wgsindy.data.arrays import BoolArray, FloatArray
from wgsindy.data.chunk import moved
from wgsindy.errors import DataError, NotEnoughDataError
from wgsindy.files.cleaning.tracks import Track
from wgsindy.files.notes import Note, counted, listed

# An increment this many times the largest of its eight neighbours, and the usual one, stands out.
# Where the noise is large anyway, one of 3 standard deviations has eight neighbours below 1/20 of
# it with probability 0.12^8: away from the ends less than one false alarm in 10^9.
STANDS_OUT = 20.0
AROUND = 4
# Trajectories of one process differ in their noise by factors; by 100 they differ in units.
OTHER_UNIT = 100.0
FEWEST_OTHERS = 8  # values that can tell how far values spread
BLOCK = 10  # increments whose median is a scale that no single outlier moves


def drop_constant(
    tracks: Sequence[Track], names: Sequence[str], chosen: bool, notes: list[Note]
) -> tuple[list[Track], tuple[int, ...]]:
    """Leave out states that never change within a trajectory; return tracks and columns kept.

    Raises
    ------
    DataError
        If the caller asked for such a state, or nothing else is left.
    NotEnoughDataError
        If no trajectory has two samples.
    """
    moves = np.zeros(len(names), dtype=bool)
    for track in tracks:
        for p in np.flatnonzero(~moves):
            there = track.states[np.isfinite(track.states[:, p]), p]
            moves[p] = len(there) > 0 and bool((there != there[0]).any())
    if all(len(track.states) < 2 for track in tracks):
        raise NotEnoughDataError("no trajectory has two rows; an increment needs two samples.")
    still = [name for name, move in zip(names, moves, strict=True) if not move]
    if not still:
        return list(tracks), tuple(range(len(names)))
    if chosen or not moves.any():
        raise DataError(
            f"{listed(still)} never changes within a trajectory, so nothing can be learned about "
            "it; choose other states."
        )
    kept = np.flatnonzero(moves)
    notes.append(
        Note(
            "constant",
            len(still),
            f"{listed(still)} never changes within a trajectory and is not taken as a state.",
        )
    )
    return (
        [Track(t.label, t.times, t.states[:, kept]) for t in tracks],
        tuple(int(k) for k in kept),
    )


def as_logarithms(
    tracks: Sequence[Track], logged: Sequence[int], names: Sequence[str]
) -> list[Track]:
    """Replace some states by their logarithms.

    Raises
    ------
    DataError
        If such a state is zero or negative somewhere.
    """
    result = []
    for track in tracks:
        states = track.states.copy()
        for p in logged:
            bad = np.flatnonzero(states[:, p] <= 0)
            if len(bad):
                raise DataError(
                    f"{names[p]} of a state that is not positive: {track.label} has "
                    f"{states[bad[0], p]:g} at row {bad[0]} ({len(bad)} such rows). Leave the "
                    "logarithm out, or mark these values as missing."
                )
            states[:, p] = np.log(states[:, p])
        result.append(Track(track.label, track.times, states))
    return result


def inspect(pieces: Sequence[Track], names: Sequence[str], notes: list[Note]) -> None:
    """Note stalls, spikes, jumps and changes of units."""
    # Numbers whose differences overflow are refused by the fit, with a sentence.
    with np.errstate(over="ignore", invalid="ignore"):
        _inspect(pieces, names, notes)


def _inspect(pieces: Sequence[Track], names: Sequence[str], notes: list[Note]) -> None:
    stalled = sum(int(np.count_nonzero(~moved(np.diff(p.states, axis=0)))) for p in pieces)
    if stalled:
        # Kept: the fit counts them too, and recipe sharp leaves them out by itself.
        notes.append(
            Note(
                "repeated",
                stalled,
                f"{counted(stalled, 'sample')} with the states of the one before (a stalled "
                "sensor, padding, few digits): kept.",
            )
        )
    for p, name in enumerate(names):
        _inspect_outliers([piece.states[:, p] for piece in pieces], name, notes)
    _inspect_units(pieces, names, notes)


def _inspect_outliers(paths: Sequence[FloatArray], name: str, notes: list[Note]) -> None:
    stand_ins = _stand_ins(np.concatenate(paths))
    count = sum(int(np.count_nonzero(np.isin(path, stand_ins))) for path in paths)
    if count:
        values = ", ".join(f"{value:g}" for value in stand_ins)
        notes.append(
            Note(
                "outlier",
                count,
                f"{counted(count, 'value')} of {name} at exactly {values}, far from all others: "
                f"kept. Pass missing=[{values}] if that stands for no value.",
            )
        )
        paths = [path[~np.isin(path, stand_ins)] for path in paths]
    usual = float(np.median(np.abs(np.concatenate([np.diff(path) for path in paths]))))
    odd = [value for path in paths for value in _jumping(path, usual)]
    if odd:
        notes.append(
            Note(
                "outlier",
                len(odd),
                f"{counted(len(odd), 'value')} of {name} more than {STANDS_OUT:g} times farther "
                f"off than the neighbours (first: {odd[0]:.6g}): kept, but such jumps swamp the "
                "tensor. Correct or remove what is not real.",
            )
        )


def _stand_ins(values: FloatArray) -> FloatArray:
    """Return an extreme value that occurs again and lies farther off than all others spread.

    The others are the majority, so that increments are left between them.
    """
    found = []
    for end in (values.min(), values.max()):
        rest = values[values != end]
        count = len(values) - len(rest)
        if 1 < count < len(rest) and len(rest) >= FEWEST_OTHERS:
            distance = float(np.abs(rest - end).min())
            if distance > np.ptp(rest):
                found.append(float(end))
    return np.array(found)


def _jumping(path: FloatArray, usual: float) -> list[float]:
    """Return the values that leave and come back at once, and those that leave for good."""
    increments = np.diff(path)
    if len(increments) < 2 * AROUND or usual == 0.0:
        return []
    if np.abs(increments).max() <= STANDS_OUT * usual:
        return []  # as nearly always, and much cheaper than to look around each
    back = np.sign(increments[:-1]) == -np.sign(increments[1:])
    spike = back & _stands_out(increments, 1, usual)[:-1]
    jump = _stands_out(increments, 0, usual)
    return [*path[1:-1][spike].tolist(), *path[1:][jump].tolist()]


def _stands_out(increments: FloatArray, more: int, usual: float) -> BoolArray:
    """Whether increment n (and ``more`` after it) dwarfs those around, ``(n,)``."""
    size, n = np.abs(increments), len(increments)
    padded = np.concatenate([np.zeros(AROUND), size, np.zeros(AROUND + more)])
    shifted = [padded[shift : shift + n] for shift in range(2 * AROUND + 1 + more)]
    own = shifted[AROUND : AROUND + 1 + more]
    around = shifted[:AROUND] + shifted[AROUND + 1 + more :]
    return np.asarray(np.min(own, axis=0) > STANDS_OUT * np.maximum(np.max(around, axis=0), usual))


def _inspect_units(pieces: Sequence[Track], names: Sequence[str], notes: list[Note]) -> None:
    for p, name in enumerate(names):
        changes = sum(_changes_of_scale(piece.states[:, p]) for piece in pieces)
        if changes:
            notes.append(
                Note(
                    "units",
                    changes,
                    f"increments of {name} change by a factor of {OTHER_UNIT:g} or more, "
                    f"{counted(changes, 'time')} within a trajectory, as if its unit changed: "
                    "kept. Bring all values to one unit.",
                )
            )
    long = [piece for piece in pieces if len(piece.states) > 2 * BLOCK]
    if len(long) < 2:
        return
    if long[0].times is not None:
        steps = [float(np.median(np.diff(p.times))) for p in long if p.times is not None]
        _compare("steps in time", np.array(steps), [p.label for p in long], notes)
    for p, name in enumerate(names):
        sizes = np.array([np.median(np.abs(np.diff(piece.states[:, p]))) for piece in long])
        _compare(f"increments of {name}", sizes, [piece.label for piece in long], notes)


def _changes_of_scale(path: FloatArray) -> int:
    """Return how often the usual increment changes a hundredfold from one block to the next."""
    blocks = len(path[1:]) // BLOCK
    if blocks < 3:
        return 0
    size = np.median(np.abs(np.diff(path)[: blocks * BLOCK]).reshape(blocks, BLOCK), axis=1)
    # The block between the two compared may hold the change itself.
    before, after = size[:-2], size[2:]
    known = (before > 0) & (after > 0)
    ratio = np.divide(after, before, out=np.ones_like(after), where=known)
    abrupt = (ratio > OTHER_UNIT) | (ratio * OTHER_UNIT < 1)
    return int(np.count_nonzero(np.diff(abrupt.astype(np.int8), prepend=0) == 1))


def _compare(what: str, sizes: FloatArray, labels: Sequence[str], notes: list[Note]) -> None:
    usual = float(np.median(sizes))
    if usual == 0.0:
        return
    odd = np.flatnonzero((sizes > OTHER_UNIT * usual) | (sizes * OTHER_UNIT < usual))
    odd = odd[sizes[odd] > 0]
    if len(odd):
        notes.append(
            Note(
                "units",
                len(odd),
                f"{counted(len(odd), 'piece')} (first: {labels[odd[0]]}) with {what} "
                f"{sizes[odd[0]] / usual:.3g} times the usual ones, as if in another unit: kept. "
                "Bring all files to one unit.",
            )
        )
