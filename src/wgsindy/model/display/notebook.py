"""What a notebook shows: equations as MathML and a small picture, without JavaScript."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from markupsafe import Markup

from wgsindy.model.display.mathml import Equation, equations

if TYPE_CHECKING:
    from wgsindy.model.generator import Generator

STYLE = Markup(
    "<style>"
    ".wgsindy{display:flex;flex-wrap:wrap;gap:.4em 2em;align-items:flex-start;line-height:1.6}"
    ".wgsindy>header{flex-basis:100%}"
    ".wgsindy small{opacity:.7}"
    ".wgsindy .equations>div{padding-left:4em;text-indent:-4em}"
    ".wgsindy .equations math{text-indent:0}"
    ".wgsindy .equations .symbol{display:inline-block;min-width:2.2em;text-indent:0}"
    ".wgsindy .equations .relation{display:inline-block;min-width:1.8em;text-indent:0}"
    ".wgsindy figure{margin:0;max-width:420px}"
    ".wgsindy figcaption{font-size:85%;opacity:.8;line-height:1.35}"
    "</style>"
)


def fragment(title: str, *parts: Markup, note: str = "") -> str:
    """Return HTML for a notebook: a heading, a quiet note beside it, and parts below.

    Parts stand side by side where there is room. The style is that of this fragment only.
    """
    heading = Markup("<header><strong>{}</strong> <small>{}</small></header>").format(title, note)
    return str(
        Markup("<div class='wgsindy'>{}{}{}</div>").format(STYLE, heading, Markup("").join(parts))
    )


def written(found: Iterable[Equation]) -> Markup:
    """Write equations one below the other; long ones break between terms."""
    return Markup("<div class='equations'>{}</div>").format(
        Markup("").join(
            Markup(
                "<div><span class='symbol'>{}</span><span class='relation'><math><mo>=</mo></math>"
                "</span>{} <small>{}</small></div>"
            ).format(equation.symbol, Markup(" ").join(equation.terms), equation.unit)
            for equation in found
        )
    )


def generator_parts(generator: Generator) -> list[Markup]:
    """Equations, with error bars if there are any, and a small picture where there is one."""
    from wgsindy.draw import small_drawing

    return [written(equations(generator)), small_drawing(generator)]


def generator_html(generator: Generator) -> str:
    """Return the equations beside a small picture."""
    known = [key for key in ("recipe", "library") if key in generator.info]
    note = ", ".join(f"{key} {generator.info[key]!s:.60}" for key in known)
    title = f"Generator of ({', '.join(generator.names)})"
    return fragment(title, *generator_parts(generator), note=note)
