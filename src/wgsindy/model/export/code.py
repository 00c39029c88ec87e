"""The equations of a generator as a program in Python, Julia, Stan or C.

The program stands alone: drift, diffusion tensor, and paths by Euler-Maruyama. Formulas are
written with every digit; what is around them is a template beside this module.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from wgsindy.errors import DataError
from wgsindy.model import tensor
from wgsindy.model.formulas import Formulas
from wgsindy.terms import FUNCTIONS, Expression, Notation

if TYPE_CHECKING:
    from jinja2 import Environment

POWER = "pow({base}, {exponent})"
# Numbers are written as floats: 1/2 and 10000000000 mean something else as integers.
NOTATIONS = {
    "python": Notation(
        {**{name: f"np.{name}" for name in FUNCTIONS}, "asinh": "np.arcsinh"}
        | {"min": "np.minimum", "max": "np.maximum"},
        repr,
    ),
    "julia": Notation({}, repr, "{base}^{exponent}"),
    "stan": Notation({"min": "fmin", "max": "fmax"}, repr, POWER),
    "c": Notation({"abs": "fabs", "min": "fmin", "max": "fmax"}, repr, POWER),
}

# What the languages or the templates use themselves: a state of such a name gets an underscore.
TAKEN = frozenset(
    """
    a abs array as assert async auto await b baremodule begin bool break case catch char class
    complex const continue cos cosh data def default del diffusion do double drift dt eigen elif
    else elseif end enum except exp export extern false finally float for from function functions
    generated global goto if import in inline int is lambda let local log long lower macro main
    matrix max min model module mutable noise nonlocal not np or out parameter parameters pass path
    pow print profile pure quantities quote raise real register restrict return rng row_vector
    short sigma sign signed simulate sin sinh sizeof sqrt start state states static step steps
    struct switch tan tanh target transformed true try tuple typedef union unsigned upper using
    vector void volatile while with yield E I X
    """.split()  # noqa: SIM905 - a list of quoted words is no easier to read
)
PLAIN_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def program(formulas: Formulas, language: str, *, clipped: bool) -> str:
    """Write fields as a program; ``clipped`` if negative eigenvalues of the tensor become zero.

    Raises
    ------
    DataError
        If there is no such language here.
    """
    if language not in list(NOTATIONS):
        raise DataError(f"code is written in {', '.join(NOTATIONS)}; got {language!r}.")
    names = code_names(formulas.names)
    own = NOTATIONS[language]
    notation = replace(own, names={**own.names, **dict(zip(formulas.names, names, strict=True))})
    drift, entries = formulas.drift.expressions(), formulas.entries.expressions()
    template = _environment().get_template(f"{language}.txt")
    return template.render(
        d=formulas.dimension,
        names=names,
        states=[_single_line(name) for name in formulas.names],
        equations=[_single_line(text) for text in formulas.equations(3, 0.0, errors=True)],
        drift=[field.written(notation) for field in drift],
        used=_used(notation, formulas.names, drift),
        entries={
            pair: field.written(notation)
            for pair, field in zip(tensor.pairs(formulas.dimension), entries, strict=True)
        },
        used_by_tensor=_used(notation, formulas.names, entries),
        clipped=clipped,
    )


def code_names(names: Sequence[str]) -> list[str]:
    r"""Give each state a name that all the languages allow, and that no other has.

    >>> code_names(["x", "lambda", "\u0153il", "x_", "state_3"])
    ['x', 'lambda_', 'state_3_', 'x_', 'state_3']
    """
    found: list[str] = []
    for number, name in enumerate(names, 1):
        chosen = name if PLAIN_NAME.fullmatch(name) else f"state_{number}"
        others = (set(names) - {name}) | set(found)
        while chosen in TAKEN or chosen in others:
            chosen += "_"
        found.append(chosen)
    return found


def _used(notation: Notation, names: Sequence[str], fields: Iterable[Expression]) -> list[str]:
    """Names in code of the states that occur: a compiler warns of the others."""
    there = {name for field in fields for name in field.variables}
    return [notation.called(name) for name in names if name in there]


def _single_line(text: str) -> str:
    """Text for a comment, which nothing in a name may end."""
    return " ".join(text.replace("*/", "* /").replace('"""', "'''").replace("\\", "/").split())


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("wgsindy.model.export", "templates"),
        autoescape=False,  # source code, not a page
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
