"""A file in, equations, verdict and report out: what ``wgsindy fit`` does, as one call."""

from __future__ import annotations

import glob
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wgsindy import recipes
from wgsindy.data.dataset import Dataset
from wgsindy.diagnostics import Diagnostics, diagnose
from wgsindy.diagnostics.findings import weak_fields
from wgsindy.estimate.fit import Candidates, fit_dataset
from wgsindy.estimate.result import Fit
from wgsindy.files.atomic import refuse_occupied, whole_folder
from wgsindy.files.columns.times import checked_unit
from wgsindy.files.notes import Note, Reading, collecting_warnings
from wgsindy.files.read_tables import label_of, open_data
from wgsindy.model.change_of_variables import Change
from wgsindy.model.generator import Generator
from wgsindy.model.readout_bands import ReadOut, readouts
from wgsindy.passes.engine import as_engine
from wgsindy.terms.origin import origin_notes

if TYPE_CHECKING:
    from wgsindy.report.digest import Digest

MODEL, FITTED_MODEL, REPORT, TABLE = (
    "model.json",
    "fitted-model.json",
    "report.html",
    "coefficients.csv",
)
# Everything that a fit may write: nothing else is ever removed when a result is replaced.
RESULT_FILES = (MODEL, FITTED_MODEL, REPORT, TABLE, "overview.png", "fields.png")

Stage = Callable[[str], AbstractContextManager[None]]


def _untold(name: str) -> AbstractContextManager[None]:
    return nullcontext()


@dataclass(frozen=True)
class FileFit:
    """What a fit of files gives, in the files' coordinates but for ``fit`` and ``readouts``."""

    heading: str  # what was read, in one sentence
    notes: tuple[Note, ...]  # what was found in the data and done about it
    changes: tuple[Change, ...]  # of coordinates, in the order in which they were made
    fit: Fit  # in the coordinates of the fit
    generator: Generator
    diagnostics: Diagnostics
    readouts: tuple[ReadOut, ...]  # leverage, curl and validity, in the coordinates of the fit
    time_unit: str  # as far as it is known
    folder: Path
    files: tuple[str, ...]  # names of what was written there

    @property
    def change_text(self) -> str:
        """How the coordinates of the fit are made of those of the file."""
        return ", ".join(change.text for change in self.changes)


def fit_file(
    data: Any,
    *,
    out: str | Path | None = None,
    library: Candidates = "auto",
    recipe: str | recipes.Recipe = "sharp",
    noise_correction: bool = False,
    log: str | Sequence[str] = (),
    transform: str | Sequence[str] = (),
    every: int = 1,
    stream: bool | None = None,
    random_state: int = 0,
    threads: int = 1,
    engine: Any = None,
    title: str | None = None,
    command: str = "",
    force: bool = False,
    stage: Stage = _untold,
    **reading: Any,
) -> FileFit:
    """Read files, fit, judge, and write model, table, figures and report into a folder.

    Parameters
    ----------
    data : a path, a glob, a list of paths, ``-`` for standard input; or whatever ``wg.read`` takes
    out : folder for the results, by default named after the data; all files appear at once
    library, recipe, random_state, threads, engine : as in :class:`wgsindy.WGSINDy`
    noise_correction : allow for observation noise
    log : states whose logarithm is fitted; equations are mapped back by Ito's formula
    transform : other functions of one state to fit, such as ``"u = sqrt(x)"``
    every : keep each so many-th sample
    stream : read piece by piece; by default if the files are larger than 256 MB
    title, command : heading of the report, and how to say that it was made
    force : replace an older result in that folder
    stage : called with the name of each stage, gives a context around it
    reading : further arguments of :func:`wgsindy.read`: ``states``, ``time``, ``dt`` ...

    Raises
    ------
    OutputError
        If the folder holds anything else, or an older result and not ``force``.
    DataError, LibraryError, RecipeError, EngineError
        Each with the offending value and a way out.
    """
    folder = Path(out) if out is not None else default_folder(data)
    replaceable = RESULT_FILES if force else ()
    refuse_occupied(folder, replaceable)
    chosen = recipes.get(recipe)
    with stage("reading"):
        found = open_data(data, stream=stream, **reading)
        measured: Dataset = found.data.thinned(every)
        changes, changed = _changed([*_logarithms(log), *_listed(transform)], measured)
    notes: list[Note] = []
    with stage("fitting"), collecting_warnings(notes):
        fit = fit_dataset(
            changed,
            library,
            recipes.with_noise_correction(chosen) if noise_correction else chosen,
            random_state=random_state,
            engine=as_engine(engine, threads),
        )
        diagnostics = diagnose(fit)
    label, origins = label_of(data), origin_notes(fit.generator.basis, fit.summary.region)
    result = FileFit(
        heading=_heading(label, measured, every),
        notes=(
            *_without_repeats(found, notes),
            *_unidentified(changes, fit.generator),
            *(Note("choice", 1, sentence) for sentence in origins),
        ),
        changes=changes,
        fit=fit,
        generator=_mapped_back(changes, fit.generator, measured),
        diagnostics=diagnostics,
        readouts=(),
        time_unit=_known_unit(reading.get("unit"), reading.get("time_unit")),
        folder=folder,
        files=(MODEL, *([FITTED_MODEL] if changes else []), TABLE),
    )
    return _written(result, replaceable, title or f"Fit of {label}", command, stage)


def default_folder(data: Any) -> Path:
    """Name a folder for results after the data; numbers of several files are left out.

    >>> default_folder(["runs/cell_01.csv", "runs/cell_12.csv"]).name
    'cell-wgsindy'
    """
    names = [data] if isinstance(data, str | Path) else data
    if not (isinstance(names, list | tuple) and names and isinstance(names[0], str | Path)):
        return Path("data-wgsindy")
    stem = Path(names[0]).name.split(".")[0]
    if len(names) > 1 or glob.has_magic(stem):
        stem = re.split(r"[*?\[]", stem)[0].rstrip("-_ 0123456789")
    return Path(f"{stem.strip('-') or 'data'}-wgsindy")


def _listed(given: str | Sequence[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def _logarithms(names: str | Sequence[str]) -> list[str]:
    return [f"log_{name} = log({name})" for name in _listed(names)]


def _changed(texts: Sequence[str], data: Dataset) -> tuple[tuple[Change, ...], Dataset]:
    """Read changes of states and apply them, one after the other."""
    changes = []
    for text in texts:
        changes.append(Change.parse(text, data.names))
        data = changes[-1].apply(data)
    return tuple(changes), data


def _mapped_back(changes: Sequence[Change], generator: Generator, measured: Dataset) -> Generator:
    """Undo the changes of states by Ito's formula, the last one first."""
    for number, change in reversed(list(enumerate(changes))):
        generator = change.undo(generator, None if number else measured)
    return generator


def _heading(source: str, data: Dataset, every: int) -> str:
    count = len(data)
    thinning = "" if every == 1 else f", one sample in {every} kept"
    return (
        f"{source}: {count} {'trajectory' if count == 1 else 'trajectories'} of "
        f"{', '.join(data.names)}{thinning}; {data.n_increments} steps, mean step "
        f"{data.mean_dt:.4g}, observed time {data.total_time:.4g}."
    )


def _without_repeats(found: Reading[Dataset], of_the_fit: Sequence[Note]) -> Iterator[Note]:
    """Yield the notes of the reading and of the fit; of two of a kind, the fit's."""
    kinds = {note.kind for note in of_the_fit}
    yield from dict.fromkeys([note for note in found.notes if note.kind not in kinds])
    yield from dict.fromkeys(of_the_fit)


def _unidentified(changes: Sequence[Change], generator: Generator) -> Iterator[Note]:
    """Say where a mapped drift is Ito's term alone: its small error bar would mislead."""
    sure = generator.uncertainty
    drift = generator.drift_coefficients if sure is None else sure.drift
    empty = [name for name, row in zip(generator.names, drift, strict=True) if not row.any()]
    for change in changes:
        if change.new in empty:
            yield Note(
                "change",
                1,
                f"no drift of {change.new} was identified, so the drift of {change.old} is only "
                "what Ito's formula makes of the tensor; its error bar says nothing of what was "
                "not found.",
            )


def _known_unit(unit: str | None, time_unit: str | None) -> str:
    """Name the unit of time in the result: the one asked for, else that of the column."""
    return checked_unit(unit or time_unit, "unit") or ""


def _written(
    result: FileFit, replaceable: Sequence[str], title: str, command: str, stage: Stage
) -> FileFit:
    """Write all files into the folder, at once or not at all, the model first."""
    from wgsindy.report.digest import digest

    with whole_folder(result.folder, replaceable) as draft, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of drawing; those of data and fit are told
        drawn = digest(result.fit.data)
        _write(result, drawn, draft, title=title, command=command, stage=stage)
        files = tuple(name for name in RESULT_FILES if (draft / name).exists())
    found = tuple(readouts(result.fit.generator, drawn.states))
    return replace(result, files=files, readouts=found)


def _write(
    result: FileFit, drawn: Digest, folder: Path, *, title: str, command: str, stage: Stage
) -> None:
    from wgsindy import report
    from wgsindy.report.figures import fit_figures
    from wgsindy.report.figures.fields import page_style, save_picture

    fitted = result.fit.generator
    result.generator.save(folder / MODEL)
    if result.changes:
        fitted.save(folder / FITTED_MODEL)
    (folder / TABLE).write_text(fit_figures.coefficients_csv(result.generator.coefficients))
    with stage("drawing"), page_style():
        weak = weak_fields(result.diagnostics.findings)
        for name, figure in fit_figures.fit_figures(fitted, drawn, weak).items():
            save_picture(figure, folder / f"{name}.png", dpi=150)
    notes = [note.sentence for note in result.notes]
    with stage("writing the report"):
        report.write_report(
            folder / REPORT,
            fitted,
            drawn,
            result.diagnostics,
            title=title,
            command=command,
            model_file=FITTED_MODEL if result.changes else MODEL,
            notes=[*notes, *([f"Fitted in {result.change_text}."] if result.changes else [])],
            time_unit=result.time_unit,
            mapped=result.generator if result.changes else None,
        )
