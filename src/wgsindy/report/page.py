"""``write_report``: template, style and script of the package, filled with what a fit found."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from markupsafe import Markup

from wgsindy import __version__
from wgsindy.data import Dataset
from wgsindy.diagnostics import Diagnostics, weak_fields
from wgsindy.draw import (
    Constant,
    Picture,
    capitalised,
    constant_fields,
    coverage_pictures,
    field_pictures,
    flow_pictures,
    time_picture,
)
from wgsindy.errors import DataError, WgsindyError
from wgsindy.estimate import states_of
from wgsindy.files import write_atomically
from wgsindy.model import (
    Coefficient,
    Equation,
    Generator,
    field_names,
    field_symbol,
    mathml_equations,
    model_text,
    named_equations,
    named_fields,
    padded,
    probability,
    term_formula,
    typographic,
    with_unit,
)
from wgsindy.report import facts
from wgsindy.report.checks import (
    Moment,
    check_by_simulation,
    residual_pictures,
    residual_series,
    simulation_pictures,
)
from wgsindy.report.facts import Origin, measured
from wgsindy.report.law import law_section
from wgsindy.report.plot_sample import PlotSample, relative

if TYPE_CHECKING:
    from jinja2 import Environment

SHOWN_STATES = 200  # samples of the first trajectory


@cache
def environment() -> Environment:
    """Templates in which every value is text unless it was built as markup here."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loaded = Environment(
        loader=PackageLoader("wgsindy.report", "template"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    loaded.filters["capitalised"] = capitalised
    loaded.filters["figure"] = figure
    loaded.filters["symbol"] = field_symbol
    loaded.filters["named"] = named_fields
    loaded.filters["unbroken"] = facts.unbroken
    loaded.filters["probability"] = probability_figure
    return loaded


def figure(value: float, digits: int = 4) -> Markup:
    """Write a number to some digits and keep it whole for whoever reads the page by program.

    >>> str(figure(0.02, 2))
    "<data value='0.02'>0.020</data>"
    """
    if isnan(value):
        return Markup("<span aria-label='not known'>&ndash;</span>")
    text = typographic(padded(value, digits))
    return Markup("<data value='{}'>{}</data>").format(repr(float(value)), text)


def probability_figure(value: float) -> Markup:
    """Write a probability; one that rounding would call certain is more than 0.999.

    >>> str(probability_figure(0.99999))
    "<data value='0.99999'>&gt; 0.999</data>"
    """
    if isnan(value):
        return figure(value)
    return Markup("<data value='{}'>{}</data>").format(repr(float(value)), probability(value))


def json_markup(value: Any) -> Markup:
    """Write data into a script element: no text in it can end the element."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def as_base64(content: bytes) -> str:
    """Write bytes as letters and digits."""
    return base64.b64encode(content).decode("ascii")


def package_text(name: str) -> Markup:
    """A file of the page, which this package wrote and nobody else can."""
    path = resources.files("wgsindy.report") / "template" / name
    return Markup(path.read_text(encoding="utf-8"))


@dataclass(frozen=True)
class ResidualSection:
    """What the page shows of the residuals of one coordinate."""

    coordinate: str
    moments: list[Moment]  # none where the coordinate has no noise
    pictures: list[Picture]


@dataclass(frozen=True)
class SimulationSection:
    """What the page shows of simulated data beside observed ones."""

    pictures: list[Picture]
    share: float = 1.0  # of the data that are compared
    failure: str = ""  # why nothing could be simulated
    omitted: str = ""  # why nothing was
    advice: str = facts.DIVERGING

    @property
    def sentence(self) -> str:
        """What went wrong, for a page and for a terminal."""
        return f"The equations cannot be simulated from the starts of the data: {self.failure}"


class Page(NamedTuple):
    """A report, and what was found while it was drawn, in sentences."""

    text: str
    findings: tuple[str, ...]


def render(
    generator: Generator,
    data: PlotSample,
    diagnostics: Diagnostics,
    origin: Origin,
    *,
    random_state: int,
) -> Page:
    """Compute everything and fill the template."""
    if data.names != generator.names:
        raise DataError(
            f"the generator is one of {list(generator.names)}, the data have {list(data.names)}; "
            "give the data it was fitted to."
        )
    weak, unit = weak_fields(diagnostics.findings), origin.time_unit or generator.units.time
    told = replace(generator, observation=replace(generator.observation, time_unit=unit))
    units, (shown, sample) = told.units, relative(told, data)
    labels = dict(zip(sample.names, units.labels(sample.names), strict=True))
    flow, fields = flow_pictures(shown, sample, weak, unit), field_pictures(shown, sample, weak)
    coverage = coverage_pictures(shown, sample)
    residuals = residual_sections(shown, sample, diagnostics)
    simulated = simulation_section(shown, sample, random_state, unit)
    law, unseen = law_section(shown, sample, unit), state_pictures(shown, sample, unit)
    drawn = [*flow, *unseen, *law.pictures, *fields, *coverage, *simulated.pictures]
    drawn += [picture for section in residuals for picture in section.pictures]
    text = (
        environment()
        .get_template("report.html")
        .render(
            origin=origin,
            notes=[*origin.notes, *([data.note] if data.note else [])],
            version=__version__,
            names=generator.names,
            diagnostics=diagnostics,
            next_step=facts.NEXT_STEP[diagnostics.verdict],
            written=Written.of(told),
            mapped=None if origin.mapped is None else Written.of(origin.mapped),
            units=units,
            coefficients=coefficient_rows(generator, generator.written()),
            small_coefficients=coefficient_rows(generator, unwritten(generator)),
            averaged=generator.uncertainty is not None,
            measured=measured(diagnostics, generator.names, len(data.whole)),
            data_facts=facts.data_facts(sample, units),
            fit_facts=facts.fit_facts(told, diagnostics),
            readout_facts=facts.readout_facts(shown, sample),
            flow=flow,
            unseen=unseen,
            law=law,
            fields=fields,
            constants=with_equation(constant_fields(shown, sample, weak), shown),
            coverage=coverage,
            residuals=residuals,
            simulated=simulated,
            random_state=random_state,
            model=as_base64(model_text(generator.to_dict()).encode()),
            specs=json_markup({picture.name: picture.spec(labels) for picture in drawn}),
            style=package_text("report.css"),
            script=package_text("report.js"),
        )
    )
    return Page(text, (simulated.sentence,) if simulated.failure else ())


def with_equation(constants: list[Constant], generator: Generator) -> list[Constant]:
    """Leave out the fields of known inputs."""
    drift, entries = field_names(generator.dimension, len(generator.inputs))
    return [one for one in constants if one.field in {*drift, *entries}]


def state_pictures(generator: Generator, data: PlotSample, unit: str) -> list[Picture]:
    """Draw each coordinate that was not measured at some of the first samples."""
    if data.segments.seen is None:
        return []
    try:
        states = states_of(generator, data.segments.subset([0]))
    except WgsindyError:
        return []
    rows = slice(0, min(SHOWN_STATES, len(states)))
    lacking = np.isnan(states.measured[rows]).any(axis=0)
    return [
        time_picture(
            data.names[p],
            states.time[rows],
            (states.mean[rows, p], "mean"),
            [(states.low[rows, p], states.high[rows, p], "95 % band")],
            below=with_unit("time", unit),
            measured=states.measured[rows, p],
            name=f"states-{p}",
            title=f"{data.names[p]} over time",
            alt=f"Mean and 95 % band of {data.names[p]} over time, given all samples.",
            caption="The first trajectory, estimated from all of its samples.",
        )
        for p in np.flatnonzero(lacking).tolist()
    ]


@dataclass(frozen=True)
class Written:
    """The equations of a generator in every form in which the page has them."""

    names: tuple[str, ...]
    equations: list[Equation]
    texts: list[str]
    latex: str
    python: str

    @property
    def n_drift(self) -> int:
        """How many of the equations are those of the drift."""
        return sum(equation.name.startswith("b") for equation in self.equations)

    @classmethod
    def of(cls, generator: Generator) -> Self:
        """Write them."""
        return cls(
            generator.names,
            mathml_equations(generator),
            named_equations(generator),
            generator.to_latex(),
            generator.to_code("python"),
        )


def residual_sections(
    generator: Generator, data: PlotSample, diagnostics: Diagnostics
) -> list[ResidualSection]:
    """Residuals of every coordinate, as numbers and as pictures."""
    noise = diagnostics.noise_level
    series = residual_series(generator, data.segments, noise, share=data.share)
    series = replace(series, names=data.names)
    memory = series.autocorrelation()
    sections = []
    for p, name in enumerate(generator.names):
        if len(series.of(p)) < 2:
            sections.append(ResidualSection(name, [], []))
            continue
        moments = series.moments(p, diagnostics)
        sections.append(ResidualSection(name, moments, residual_pictures(series, memory, p)))
    return sections


def simulation_section(
    generator: Generator, data: PlotSample, random_state: int, unit: str
) -> SimulationSection:
    """Simulate; equations that cannot be simulated are a finding, not an error of the report."""
    if generator.inputs:
        driven = (
            f"Nothing is simulated: {', '.join(generator.inputs)} would be held where it began."
        )
        return SimulationSection([], omitted=driven)
    try:
        check = check_by_simulation(generator, data.segments, random_state)
        check = replace(check, names=data.names)
    except WgsindyError as error:
        return SimulationSection([], failure=str(error))
    pictures = [
        picture for p in range(data.dimension) for picture in simulation_pictures(check, p, unit)
    ]
    return SimulationSection(pictures, check.share * data.share)


def unwritten(generator: Generator) -> list[Coefficient]:
    """Coefficients that are too small for the equations."""
    large = {(found.target, found.term) for found in generator.written()}
    return [found for found in generator.coefficients if (found.target, found.term) not in large]


def coefficient_rows(
    generator: Generator, coefficients: Iterable[Coefficient]
) -> list[tuple[Markup, Markup, Coefficient]]:
    """Coefficients with their fields and terms as formulas."""
    return [
        (
            field_symbol(found.target, generator.names),
            term_formula(found.term, generator.names),
            found,
        )
        for found in coefficients
    ]


def write_report(
    path: str | Path,
    generator: Generator,
    data: Dataset | PlotSample,
    diagnostics: Diagnostics,
    *,
    title: str = "Report of a fit",
    command: str = "",
    model_file: str = "model.json",
    notes: Sequence[str] = (),
    random_state: int = 0,
    time_unit: str = "",
    mapped: Generator | None = None,
) -> list[str]:
    """Write a self-contained HTML page about a fit, atomically; it asks no network for anything.

    Returns what was found while it was drawn, in sentences: simulations that diverge.

    Parameters
    ----------
    generator, diagnostics : ``generator_`` and ``diagnostics_`` of a fitted estimator
    data : what it was fitted to, or a sample of it; of a stream some samples are drawn
    title : heading of the page; text, never markup
    command : how the fit was made, to be shown as it is
    model_file : name under which the page offers the model it holds
    notes : sentences about the data, from whoever read them
    random_state : seed of the simulations that are compared with the data
    time_unit : name of the unit of time, such as ``"s"`` or ``"years"``, if it is known
    mapped : the generator in the original states, if the fit was one of changed states

    Raises
    ------
    DataError
        If the data and the generator do not have the same coordinates.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> from wgsindy import WGSINDy
    >>> from wgsindy.zoo import demo_data
    >>> fitted = WGSINDy("poly3", "sharp").fit(demo_data())
    >>> write_report(
    ...     "report.html", fitted.generator_, demo_data(), fitted.diagnostics_
    ... )  # doctest: +SKIP
    """
    origin = Origin(title, command, model_file, tuple(notes), time_unit, mapped)
    sample = PlotSample.of(data)
    page = render(generator, sample, diagnostics, origin, random_state=random_state)
    write_atomically(path, page.text)
    return list(page.findings)


def render_report(
    generator: Generator,
    data: Dataset | PlotSample,
    diagnostics: Diagnostics,
    origin: Origin,
    *,
    random_state: int = 0,
) -> str:
    """Make the page of :func:`write_report`; the same arguments give the same text."""
    sample = PlotSample.of(data)
    return render(generator, sample, diagnostics, origin, random_state=random_state).text
