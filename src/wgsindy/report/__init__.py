"""report.html: what a fit found, how sure it is and whether to believe it, in one file.

``digest`` reads the data, ``page_text`` and ``facts_table`` gather sentences and numbers,
``checks`` compares the fit with its data. ``planes`` and ``field_data`` compute what is drawn,
``figures`` draws it with Matplotlib and ``pictures`` for the page, and ``page`` fills a template.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from wgsindy.data.dataset import Dataset
from wgsindy.diagnostics import Diagnostics
from wgsindy.errors import DataError
from wgsindy.files import write_atomically
from wgsindy.model.generator import Generator
from wgsindy.report.digest import Digest, digest
from wgsindy.report.page import render
from wgsindy.report.page_text import Origin

__all__ = ["render_report", "write_report"]


def write_report(
    path: str | Path,
    generator: Generator,
    data: Dataset | Digest,
    diagnostics: Diagnostics,
    *,
    title: str = "Report of a fit",
    command: str = "",
    model_file: str = "model.json",
    notes: Sequence[str] = (),
    random_state: int = 0,
    time_unit: str = "",
    mapped: Generator | None = None,
) -> None:
    """Write a self-contained HTML page about a fit, atomically; it asks no network for anything.

    Parameters
    ----------
    generator, diagnostics : ``generator_`` and ``diagnostics_`` of a fitted estimator
    data : what it was fitted to, or a digest of it; of a stream some samples are drawn
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
    >>> from wgsindy.zoo.demo import demo_data
    >>> fitted = WGSINDy("poly3", "sharp").fit(demo_data())
    >>> write_report(
    ...     "report.html", fitted.generator_, demo_data(), fitted.diagnostics_
    ... )  # doctest: +SKIP
    """
    origin = Origin(title, command, model_file, tuple(notes), time_unit, mapped)
    page = render_report(generator, data, diagnostics, origin, random_state=random_state)
    write_atomically(path, page)


def render_report(
    generator: Generator,
    data: Dataset | Digest,
    diagnostics: Diagnostics,
    origin: Origin,
    *,
    random_state: int = 0,
) -> str:
    """Make the page of :func:`write_report`; the same arguments give the same text."""
    if data.names != generator.names:
        raise DataError(
            f"the generator is one of {list(generator.names)}, the data have {list(data.names)}; "
            "give the data it was fitted to."
        )
    return render(generator, digest(data), diagnostics, origin, random_state=random_state)
