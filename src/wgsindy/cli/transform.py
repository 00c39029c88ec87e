"""A fit of what was read, in the coordinates asked for, and back."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from wgsindy.cli.output import Outcome, Remark

if TYPE_CHECKING:
    from wgsindy.data.dataset import Dataset
    from wgsindy.files import Reading
    from wgsindy.model.change_of_variables import Change
    from wgsindy.model.generator import Generator


def fitted(
    found: Reading[Dataset],
    *,
    source: str,
    time_unit: str,
    changes: Sequence[str],
    every: int,
    **options: Any,
) -> Outcome:
    """Fit what was read, in the coordinates asked for, and map the result back.

    ``options`` are those of :func:`wgsindy.estimate.fit.fit_dataset`.
    """
    from wgsindy.diagnostics import diagnose
    from wgsindy.estimate.fit import fit_dataset

    measured: Dataset = found.data.thinned(every)
    data = measured
    applied: list[Change] = []
    for text in changes:
        change, data = changed(text, data)
        applied.append(change)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        model = fit_dataset(data, **options)
    generator = model.generator
    for change in reversed(applied):
        generator = change.undo(generator, measured if change is applied[0] else None)
    return Outcome(
        heading=_heading(source, measured, every),
        remarks=(*remarks(found, seen), *unidentified(applied, model.generator)),
        changes=tuple(applied),
        data=data,
        fitted=model.generator,
        generator=generator,
        diagnostics=diagnose(model),
        time_unit=time_unit,
    )


def changed(text: str, data: Dataset) -> tuple[Change, Dataset]:
    """Read a change of states and apply it."""
    from wgsindy.model.change_of_variables import Change

    change = Change.parse(text, data.names)
    return change, change.apply(data)


def _heading(source: str, data: Dataset, every: int) -> str:
    count = len(data)
    thinning = "" if every == 1 else f", one sample in {every} kept"
    return (
        f"{source}: {count} {'trajectory' if count == 1 else 'trajectories'} of "
        f"{', '.join(data.names)}{thinning}; {data.n_increments} steps, mean step "
        f"{data.mean_dt:.4g}, observed time {data.total_time:.4g}."
    )


def remarks(found: Reading[Dataset], seen: Sequence[warnings.WarningMessage]) -> tuple[Remark, ...]:
    """Name what the reading and the fit have to say; of two about the same, the fit's."""
    from wgsindy.files.notes import KIND_OF, WARNING_OF

    told = {warning.category for warning in seen}
    all_of_them = [
        Remark(note.kind, note.sentence)
        for note in found.notes
        if WARNING_OF.get(note.kind) not in told
    ]
    for warning in seen:
        name = KIND_OF.get(warning.category) or warning.category.__name__
        all_of_them.append(Remark(name, str(warning.message)))
    return tuple(dict.fromkeys(all_of_them))


def unidentified(changes: Sequence[Change], generator: Generator) -> list[Remark]:
    """Say where a mapped drift is Ito's term alone: its small error bar would mislead."""
    sure = generator.uncertainty
    drift = generator.drift_coefficients if sure is None else sure.drift
    empty = [name for name, row in zip(generator.names, drift, strict=True) if not row.any()]
    return [
        Remark(
            "change",
            f"no drift of {change.new} was identified, so the drift of {change.old} is only what "
            "Ito's formula makes of the tensor; its error bar says nothing of what was not found.",
        )
        for change in changes
        if change.new in empty
    ]
