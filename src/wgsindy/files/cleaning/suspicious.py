"""What states look like that no file format can tell: spiked, in mixed units.

Each is warned of and the data stay as they are: a jump or a factor of 1000 can be physics, and only
the reader of the warning knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

from wgsindy.data import BoolArray, FloatArray, IntArray, Trajectories
from wgsindy.files.notes import Notes, counted

# An increment this many times the largest of its eight neighbours, and the usual one, stands out.
# Where the noise is large anyway, one of 3 standard deviations has eight neighbours below 1/20 of
# it with probability 0.12^8: away from the ends less than one false alarm in 10^9.
STANDS_OUT = 20.0
AROUND = 4
# Trajectories of one process differ in their noise by factors; by 100 they differ in units.
OTHER_UNIT = 100.0
FEWEST_OTHERS = 8  # values that can tell how far values spread
SCALE_BLOCK = 10  # increments whose median is a scale that no single outlier moves


def inspect(data: Trajectories, labels: Sequence[str], notes: Notes) -> None:
    """Note spikes, jumps and changes of units; ``labels`` are what to call the trajectories."""
    # Numbers whose differences overflow are refused by the fit, with a sentence.
    with np.errstate(over="ignore", invalid="ignore"):
        paths = list(data)
        states = np.concatenate(paths)
        owner = np.repeat(np.arange(len(paths)), [len(path) for path in paths])
        for p, name in enumerate(data.names):
            # All trajectories as if they were one array: there may be 100,000 short ones, and a
            # call of NumPy for each of them takes longer than all their numbers.
            values, of = _without_stand_ins(states[:, p], owner, name, notes)
            _note_outliers(values, of, name, notes)
        _note_changes_of_unit(paths, data.names, notes)
        _note_other_units(data, labels, notes)


def _without_stand_ins(
    values: FloatArray, owner: IntArray, name: str, notes: Notes
) -> tuple[FloatArray, IntArray]:
    """Note numbers that seem to stand for no value; return the others and whose they are."""
    stand_ins = _stand_ins(values)
    if not stand_ins:
        return values, owner
    others = ~np.isin(values, stand_ins)
    count, shown = int(np.count_nonzero(~others)), ", ".join(f"{v:g}" for v in stand_ins)
    notes.add(
        "outlier",
        count,
        f"{counted(count, 'value')} of {name} at exactly {shown}, far from all others: kept. "
        f"Pass missing=[{shown}] if that stands for no value.",
    )
    return values[others], owner[others]


def _stand_ins(values: FloatArray) -> list[float]:
    """Return an extreme value that occurs again and lies farther off than all others spread.

    The others are the majority, so that increments are left between them.
    """
    stand_ins = []
    for end in (values.min(), values.max()):
        rest = values[values != end]
        count = len(values) - len(rest)
        if 1 < count < len(rest) and len(rest) >= FEWEST_OTHERS:
            distance = float(np.abs(rest - end).min())
            if distance > np.ptp(rest):
                stand_ins.append(float(end))
    return stand_ins


def _note_outliers(values: FloatArray, owner: IntArray, name: str, notes: Notes) -> None:
    odd = _jumping(values, owner)
    if len(odd):
        notes.add(
            "outlier",
            len(odd),
            f"{counted(len(odd), 'value')} of {name} more than {STANDS_OUT:g} times farther "
            f"off than the neighbours (first: {odd[0]:.6g}): kept, but such jumps swamp the "
            "tensor. Correct or remove what is not real.",
        )


def _jumping(values: FloatArray, owner: IntArray) -> FloatArray:
    """Return values that leave and come back at once, and those that leave for good.

    ``owner (n,)`` is the number of each value's trajectory, ascending.
    They are in the order of trajectories, in each of them first those that come back.
    """
    starts = np.flatnonzero(owner[1:] == owner[:-1])
    owner = owner[starts]
    increments = values[starts + 1] - values[starts]
    size = np.abs(increments)
    usual = float(np.median(size)) if len(size) else 0.0
    # Nearly always nothing is that large, and there is no need to look around each increment.
    if usual == 0.0 or size.max() <= STANDS_OUT * usual:
        return np.empty(0)
    # Zeros between trajectories, so that none is the neighbour of another one's increment.
    rank = np.cumsum(np.diff(owner, prepend=owner[:1]) != 0)
    place = np.arange(len(starts)) + (AROUND + 1) * (rank + 1)
    apart = np.zeros(place[-1] + AROUND + 2)
    apart[place] = increments
    back = np.sign(apart[place]) == -np.sign(apart[place + 1])
    spike = back & _stands_out(apart, 1, usual)[place]
    jump = _stands_out(apart, 0, usual)[place]
    long = (np.bincount(rank) >= 2 * AROUND)[rank]
    jumps = np.concatenate([np.flatnonzero(spike & long), np.flatnonzero(jump & long)])
    comes_back = np.arange(len(jumps)) < np.count_nonzero(spike & long)
    order = np.lexsort((jumps, ~comes_back, rank[jumps]))
    return np.asarray(values[starts[jumps[order]] + 1])


def _stands_out(increments: FloatArray, more: int, usual: float) -> BoolArray:
    """Whether increment n (and ``more`` after it) dwarfs those around, ``(n,)``."""
    size, n = np.abs(increments), len(increments)
    padded = np.concatenate([np.zeros(AROUND), size, np.zeros(AROUND + more)])
    shifted = [padded[shift : shift + n] for shift in range(2 * AROUND + 1 + more)]
    smallest = reduce(np.minimum, shifted[AROUND : AROUND + 1 + more])
    around = reduce(np.maximum, shifted[:AROUND] + shifted[AROUND + 1 + more :])
    return np.asarray(smallest > STANDS_OUT * np.maximum(around, usual))


def _note_changes_of_unit(paths: Sequence[FloatArray], names: Sequence[str], notes: Notes) -> None:
    for p, name in enumerate(names):
        changes = sum(_changes_of_scale(path[:, p]) for path in paths)
        notes.add(
            "units",
            changes,
            f"increments of {name} change by a factor of {OTHER_UNIT:g} or more, "
            f"{counted(changes, 'time')} within a trajectory, as if its unit changed: kept. Bring "
            "all values to one unit.",
        )


def _changes_of_scale(values: FloatArray) -> int:
    """Return how often the usual increment changes a hundredfold from one block to the next."""
    blocks = len(values[1:]) // SCALE_BLOCK
    if blocks < 3:
        return 0
    size = np.median(
        np.abs(np.diff(values)[: blocks * SCALE_BLOCK]).reshape(blocks, SCALE_BLOCK), axis=1
    )
    # The block between the two compared may hold the change itself.
    before, after = size[:-2], size[2:]
    known = (before > 0) & (after > 0)
    ratio = np.divide(after, before, out=np.ones_like(after), where=known)
    abrupt = (ratio > OTHER_UNIT) | (ratio * OTHER_UNIT < 1)
    return int(np.count_nonzero(np.diff(abrupt.astype(np.int8), prepend=0) == 1))


def _note_other_units(data: Trajectories, labels: Sequence[str], notes: Notes) -> None:
    """Compare the usual steps and increments of trajectories with each other."""
    long = [(k, path) for k, path in enumerate(data) if len(path) > 2 * SCALE_BLOCK]
    if len(long) < 2:
        return
    long_labels = [labels[k] for k, _ in long]
    steps = _usual_sizes([data.steps(k)[:, None] for k, _ in long])
    _compare("steps in time", steps[:, 0], long_labels, notes)
    increments = _usual_sizes([np.diff(path, axis=0) for _, path in long])
    for name, sizes in zip(data.names, increments.T, strict=True):
        _compare(f"increments of {name}", sizes, long_labels, notes)


def _usual_sizes(series: Sequence[FloatArray]) -> FloatArray:
    """Return the median absolute values of each of R series ``(n, d)``, ``(R, d)``."""
    lengths = np.array([len(values) for values in series])
    order = np.argsort(lengths, kind="stable")
    medians = np.empty((len(series), series[0].shape[1]))
    # Those of one length together: a median for each takes ten times as long.
    for alike in np.split(order, np.flatnonzero(np.diff(lengths[order])) + 1):
        medians[alike] = np.median(np.abs(np.stack([series[k] for k in alike])), axis=1)
    return medians


def _compare(what: str, sizes: FloatArray, labels: Sequence[str], notes: Notes) -> None:
    usual = float(np.median(sizes))
    if usual == 0.0:
        return
    odd = np.flatnonzero((sizes > OTHER_UNIT * usual) | (sizes * OTHER_UNIT < usual))
    odd = odd[sizes[odd] > 0]
    if len(odd):
        notes.add(
            "units",
            len(odd),
            f"{counted(len(odd), 'trajectory')} (first: {labels[odd[0]]}) with {what} "
            f"{sizes[odd[0]] / usual:.3g} times the usual ones, as if in another unit: kept. "
            "Bring all files to one unit.",
        )
