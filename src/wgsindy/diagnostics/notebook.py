"""What a notebook shows of the diagnostics: the verdict, what was found, a small picture."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from markupsafe import Markup

from wgsindy.model import ACCENT, LETTERS, fragment

if TYPE_CHECKING:
    from wgsindy.diagnostics.findings import Diagnostics

ROW, LEFT, WIDTH = 20, 40, 220  # pixels: a coordinate, the names, the scale from 0 to 2
NORMAL = 0.8, 1.2  # residual variances that are no finding


def diagnostics_html(found: Diagnostics) -> str:
    """Return the verdict, a line a finding, and the residual variances as a picture."""
    return fragment(found.summary, verdict(found), _picture(found), note=_size(found))


def verdict(found: Diagnostics) -> Markup:
    """Write every finding with its advice."""
    line = Markup("<li><strong>{}</strong>: {} <small>{}</small></li>")
    lines = [line.format(one.limitation, one.sentence, one.advice) for one in found.findings]
    return Markup("<ul>{}</ul>").format(Markup("").join(lines)) if lines else Markup("")


def diagnostics_latex(found: Diagnostics) -> str:
    """Return the summary as LaTeX."""
    text = found.summary.replace("\\", " ").replace("%", r"\%").replace("_", r"\_")
    return rf"$\text{{{text}}}$"


def _size(found: Diagnostics) -> str:
    return f"{found.n_increments} steps, {found.n_terms} candidate terms a field"


def _picture(found: Diagnostics) -> Markup:
    """Draw the residual variance of each coordinate on a scale from 0 to 2; 1 is right."""
    height = ROW * len(found.residual_variance)
    low, high = (LEFT + WIDTH * edge / 2 for edge in NORMAL)
    marks = [
        Markup("<rect x='{}' y='0' width='{}' height='{}' fill='{}' fill-opacity='0.18'/>").format(
            f"{low:.0f}", f"{high - low:.0f}", height, ACCENT
        )
    ]
    for p, value in enumerate(found.residual_variance):
        middle = ROW * p + ROW / 2
        marks.append(Markup("<text x='4' y='{}'>{}</text>").format(middle + 4, f"{p + 1}"))
        if isfinite(value):
            place = LEFT + WIDTH * min(max(value, 0.0), 2.0) / 2
            marks.append(
                Markup("<circle cx='{}' cy='{}' r='4' fill='{}'/>").format(
                    f"{place:.1f}", middle, ACCENT
                )
            )
    drawing = Markup(
        "<svg xmlns='http://www.w3.org/2000/svg' role='img' width='{w}' height='{h}' "
        "viewBox='0 0 {w} {h}'><title>Residual variance of each coordinate</title>"
        f"<g {LETTERS}>{{marks}}</g></svg>"
    ).format(w=LEFT + WIDTH + 8, h=height, marks=Markup("").join(marks))
    caption = (
        "Residual variance of each coordinate, from 0 to 2: 1 (in the band) if the tensor fits."
    )
    return Markup("<figure>{}<figcaption>{}</figcaption></figure>").format(drawing, caption)
