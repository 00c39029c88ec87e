"""A file in, equations, verdict and report out: what ``wgsindy fit`` does, as one call."""

from __future__ import annotations

import glob
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wgsindy import recipes
from wgsindy.data import Dataset, velocity_name, whole_number
from wgsindy.diagnostics import Diagnostics, diagnose, weak_fields
from wgsindy.errors import DataError, OutputError, RecipeError, ReportError
from wgsindy.estimate import (
    AUTO,
    Candidates,
    Fit,
    Order,
    fit_dataset,
    with_states,
    work_ahead,
)
from wgsindy.files import (
    Note,
    Reading,
    ReadingOptions,
    as_list,
    collecting_warnings,
    formula_name,
    label_of,
    open_data,
    options_of,
    refuse_occupied,
    refuse_unwritable,
    save_folder,
    write_atomically,
)
from wgsindy.model import MOST_STATES, Change, Generator, ReadOut, readouts
from wgsindy.passes import as_engine
from wgsindy.terms import angular_library, origin_notes

if TYPE_CHECKING:  # the report is loaded when it is drawn
    from wgsindy.report import PlotSample, Record

MODEL, FITTED_MODEL, RECORD, REPORT, TABLE = (
    "model.json",
    "fitted-model.json",
    "fit.json",
    "report.html",
    "coefficients.csv",
)
# Everything that a fit may write: nothing else is ever removed when a result is replaced.
RESULT_FILES = (MODEL, FITTED_MODEL, RECORD, REPORT, TABLE, "overview.png", "fields.png")

Stage = Callable[[str], AbstractContextManager[None]]


def _unsaid(sentence: str) -> None:
    pass


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
    order: Order = 1,
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
    report: bool = True,
    figures: bool = False,
    stage: Stage = _untold,
    tell: Callable[[str], None] = _unsaid,
    **reading: Any,
) -> FileFit:
    """Read files, fit, judge, and write model, table and report into a folder.

    What was found is saved before anything is drawn: if drawing fails, the model is there, and
    :func:`report_again` draws it.

    Parameters
    ----------
    data : a path, a glob, a list of paths, ``-`` for standard input; or whatever ``wg.read`` takes
    out : folder for the results, by default named after the data
    library, recipe, random_state, threads, engine : as in :class:`wgsindy.WGSINDy`
    noise_correction : allow for observation noise
    order : 2 if the states are positions whose velocities were not measured; 1; ``"auto"``
    log : states whose logarithm is fitted; equations are mapped back by Ito's formula
    transform : other functions of one state to fit, such as ``"u = sqrt(x)"``
    every : keep each so many-th sample
    stream : read piece by piece; by default if the files are larger than 256 MB
    title, command : heading of the report, and how to say that it was made
    force : replace an older result in that folder
    report : whether to write the report
    figures : whether to draw ``overview.png`` and ``fields.png``, too
    stage : called with the name of each stage, gives a context around it
    tell : called before a long fit with a sentence: what was read, how many terms, how long
    reading : further arguments of :func:`wgsindy.read`: ``states``, ``time``, ``dt`` ...

    Raises
    ------
    OutputError
        If the folder holds anything else, or an older result and not ``force``.
    DataError, LibraryError, RecipeError, EngineError
        Each with the offending value and a way out.
    ReportError
        If the report cannot be drawn; the model is saved.
    """
    options = options_of(ReadingOptions, reading, "fit_file")
    folder = Path(out) if out is not None else default_folder(data)
    replaceable = RESULT_FILES if force else ()
    refuse_occupied(folder, replaceable)
    refuse_unwritable(folder)
    chosen = recipes.get(recipe)
    whole_number(threads, "threads", 1, RecipeError, most=4096)
    with stage("reading"):
        found = open_data(data, options, stream=stream)
        measured: Dataset = found.data.thinned(every)
        changes, changed = _changed(
            [*_logarithms(log, measured.names), *as_list(transform, "transform")], measured
        )
        library = _periodic(library, found.angles, changed, order)
        _refuse_change(order, changes)
    label = label_of(data)
    ahead = work_ahead(label, changed, library, order)
    if ahead:
        tell(ahead)
    notes: list[Note] = []
    with stage("fitting"), collecting_warnings(notes):
        fit = fit_dataset(
            changed,
            library,
            recipes.with_noise_correction(chosen) if noise_correction else chosen,
            order=order,
            random_state=random_state,
            engine=as_engine(engine, threads),
        ).completed
        diagnostics = _judged(fit, folder, replaceable)
    fit = replace(fit, generator=with_units(fit.generator, found))
    origins = origin_notes(fit.generator.basis, fit.summary.region)
    result = FileFit(
        heading=_heading(label, measured, every, found.time_unit),
        notes=(
            *_without_repeats(found, notes),
            *_unidentified(changes, fit.generator),
            *(Note("choice", 1, sentence) for sentence in origins),
        ),
        changes=changes,
        fit=fit,
        generator=with_units(_mapped_back(changes, fit.generator, measured), found),
        diagnostics=diagnostics,
        readouts=tuple(readouts(fit.generator, fit.data.sample(MOST_STATES))),
        time_unit=found.time_unit or options.unit or options.time_unit or "",
        folder=folder,
        files=(),
    )
    record = _record(result, title or f"Fit of {label}", command, every, reading)
    equations = "\n".join(result.generator.equations(errors=True))
    save_folder(partial(_save, result, record), folder, replaceable, otherwise=equations)
    if not (report or figures):
        return _listed_files(result)
    return _with_report(result, record, stage, report=report, figures=figures)


def _judged(fit: Fit, folder: Path, replaceable: Sequence[str]) -> Diagnostics:
    """Judge a fit; if that fails, the model is saved all the same."""
    try:
        return diagnose(fit)
    except Exception as error:  # whatever it is, the fit took longer than saving it
        equations = "\n".join(fit.generator.equations(errors=True))
        save_folder(
            lambda draft: fit.generator.save(draft / MODEL),
            folder,
            replaceable,
            otherwise=equations,
        )
        raise ReportError(
            f"the model is saved in {folder}/, in the coordinates of the fit, but it could not be "
            f"judged ({type(error).__name__}: {error}): do not rely on it. Try a smaller library, "
            "or look at the data for values that nobody measured."
        ) from error


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


def _logarithms(wanted: str | Sequence[str], names: Sequence[str]) -> list[str]:
    """Write changes to logarithms; a column may be named as the file does, ``Adj Close``."""
    own = [name if name in names else formula_name(name) for name in as_list(wanted, "log")]
    return [f"log_{name} = log({name})" for name in own]


def _periodic(
    library: Candidates, angles: Sequence[str], data: Dataset, order: Order
) -> Candidates:
    """Return terms that repeat after a turn, if nobody chose others and there are angles."""
    turning = [name for name in angles if name in data.names]
    names = [*data.names, *(map(velocity_name, data.names) if order == 2 else ())]
    return angular_library(names, turning) if turning and library == AUTO else library


def _refuse_change(order: Order, changes: Sequence[Change]) -> None:
    """Refuse functions of positions: their velocities have no equation of the same kind."""
    if order != 1 and changes:
        raise DataError(
            f"order={order!r} takes the states for positions as they are, and {changes[0].text} "
            "changes them; write that function into a column of its own, or fit with order=1."
        )


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


def _heading(source: str, data: Dataset, every: int, unit: str) -> str:
    count, after = len(data), f" {unit}" if unit else ""
    thinning = "" if every == 1 else f", one sample in {every} kept"
    return (
        f"{source}: {count} {'trajectory' if count == 1 else 'trajectories'} of "
        f"{', '.join(data.names)}{thinning}; {data.n_increments} steps, mean step "
        f"{data.mean_dt:.4g}{after}, observed time {data.total_time:.4g}{after}."
    )


def with_units(generator: Generator, found: Reading[Dataset]) -> Generator:
    """Tell a generator the units that are known."""
    states = {name: unit for name, unit in found.units.items() if name in generator.names}
    if generator.observation.hidden_velocities and found.time_unit:
        states |= {
            velocity_name(name): f"{unit}/{found.time_unit}" for name, unit in states.items()
        }
    known = replace(generator.observation, time_unit=found.time_unit, units=states)
    return replace(generator, observation=known)


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


def _record(
    result: FileFit, title: str, command: str, every: int, reading: Mapping[str, Any]
) -> Record:
    """Collect what a report needs beside model and data."""
    from wgsindy.report import Record

    return Record(
        diagnostics=result.diagnostics,
        title=title,
        command=command,
        notes=tuple(note.sentence for note in result.notes),
        time_unit=result.time_unit,
        changes=tuple(change.text for change in result.changes),
        every=every,
        reading={
            name: list(value) if isinstance(value, tuple) else value
            for name, value in reading.items()
            if isinstance(value, str | int | float | list | tuple)
        },
    )


def _save(result: FileFit, record: Record, folder: Path) -> None:
    """Write everything that took a fit to find."""
    from wgsindy.report import coefficients_csv

    result.generator.save(folder / MODEL)
    if result.changes:
        result.fit.generator.save(folder / FITTED_MODEL)
    write_atomically(folder / TABLE, coefficients_csv(result.generator))
    write_atomically(folder / RECORD, record.text())


def _listed_files(result: FileFit) -> FileFit:
    files = tuple(name for name in RESULT_FILES if (result.folder / name).exists())
    return replace(result, files=files)


def _with_report(
    result: FileFit, record: Record, stage: Stage, *, report: bool, figures: bool
) -> FileFit:
    """Add what is asked for to the folder; what the simulations found is a note."""
    from wgsindy.report import PlotSample, draw_figures

    fitted, folder, told = result.fit.generator, result.folder, []
    try:
        sample = PlotSample.of(result.fit.data)
        if figures:
            weak = weak_fields(record.diagnostics.findings)
            with stage("drawing"), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of drawing; those of data and fit are told
                draw_figures(fitted, sample, weak, folder)
        if report:
            with stage("writing the report"):
                mapped = result.generator if result.changes else None
                told = _draw_report(folder / REPORT, fitted, sample, record, mapped)
    except Exception as error:
        raise ReportError(
            f"the model is saved in {folder}/, but its report could not be drawn "
            f"({type(error).__name__}: {error}). Once that is mended, `wgsindy report "
            f"{folder / MODEL} DATA` draws it without fitting again."
        ) from error
    notes = [Note("simulation", 1, sentence) for sentence in told]
    return _listed_files(replace(result, notes=(*result.notes, *notes)))


def _draw_report(
    path: Path, fitted: Generator, sample: PlotSample, record: Record, mapped: Generator | None
) -> list[str]:
    from wgsindy import report

    shown = mapped or fitted
    units = shown.units.sentence()
    changed = [f"Fitted in {', '.join(record.changes)}."] if record.changes else []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return report.write_report(
            path,
            fitted,
            sample,
            record.diagnostics,
            title=record.title,
            command=record.command,
            model_file=FITTED_MODEL if mapped else MODEL,
            notes=[*record.notes, *changed, units],
            time_unit=record.time_unit,
            mapped=mapped,
        )


def report_again(
    model: str | Path,
    data: Any,
    *,
    out: str | Path | None = None,
    force: bool = False,
    stage: Stage = _untold,
    **reading: Any,
) -> Path:
    """Draw the report of a saved fit again, from its data and without fitting.

    Parameters
    ----------
    model : ``model.json`` of a result, or its folder
    data : what was fitted, as in :func:`fit_file`; it is read as it was then
    out : the page, by default ``report.html`` beside the model
    force : replace a page that is there
    stage : called with the name of each stage, gives a context around it
    reading : arguments of :func:`wgsindy.read` that are now others

    Raises
    ------
    ModelFileError
        If the model or the record of its fit cannot be read.
    OutputError
        If the page exists and not ``force``.
    DataError
        If these are not the data of the fit.
    """
    from wgsindy.report import PlotSample, Record

    folder = Path(model) if Path(model).is_dir() else Path(model).parent
    page = Path(out) if out is not None else folder / REPORT
    if page.exists() and not force:
        raise OutputError(f"{page} already exists; replace it with --force, or name another.")
    result = Generator.load(folder / MODEL if folder == Path(model) else model)
    record = Record.load(folder / RECORD)
    with stage("reading"):
        asked = {**record.reading, **{k: v for k, v in reading.items() if v is not None}}
        options = options_of(ReadingOptions, asked, "report_again")
        measured: Dataset = open_data(data, options).data.thinned(record.every)
        _, changed = _changed(record.changes, measured)
    fitted = Generator.load(folder / FITTED_MODEL) if record.changes else result
    _refuse_other_data(changed, record)
    changed = with_states(fitted, changed)
    with stage("writing the report"):
        _draw_report(
            page, fitted, PlotSample.of(changed), record, result if record.changes else None
        )
    return page


def _refuse_other_data(data: Dataset, record: Record) -> None:
    expected = record.diagnostics.n_increments
    if data.n_increments != expected:
        raise DataError(
            f"the fit was one of {expected} steps, these data have {data.n_increments}; give the "
            "data that were fitted, with the options with which they were read."
        )
