"""How values become part of the page: template, numbers, data. Text is never markup."""

from __future__ import annotations

import base64
import json
from functools import cache
from importlib import resources
from math import isnan
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from wgsindy.model.display import numbers
from wgsindy.model.display.mathml import field_symbol
from wgsindy.report.page_text import capitalised


@cache
def environment() -> Environment:
    """Templates in which every value is text unless it was built as markup here."""
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
    loaded.filters["probability"] = probability
    return loaded


def figure(value: float, digits: int = 4) -> Markup:
    """Write a number to some digits and keep it whole for whoever reads the page by program.

    >>> str(figure(0.02, 2))
    "<data value='0.02'>0.020</data>"
    """
    if isnan(value):
        return Markup("<span aria-label='not known'>&ndash;</span>")
    text = numbers.typographic(numbers.padded(value, digits))
    return Markup("<data value='{}'>{}</data>").format(repr(float(value)), text)


def probability(value: float) -> Markup:
    """Write a probability; one that rounding would call certain is more than 0.999.

    >>> str(probability(0.99999))
    "<data value='0.99999'>&gt; 0.999</data>"
    """
    if isnan(value):
        return figure(value)
    return Markup("<data value='{}'>{}</data>").format(
        repr(float(value)), numbers.probability(value)
    )


def as_json(value: Any) -> Markup:
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
