"""What a generator is written as: LaTeX, MathML, what a notebook shows, and programs.

Generators and the report call it. Browsers draw MathML by themselves; a notebook gets no
JavaScript. A program in Python, Julia, Stan or C stands alone: drift, diffusion tensor, and paths
by Euler-Maruyama, with every digit; what is around its formulas is a template beside this module.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from wgsindy.errors import DataError
from wgsindy.model import tensor
from wgsindy.model.formulas import Coefficient, Formulas, LinearForm
from wgsindy.model.notation import (
    field_names,
    join_terms,
    named_fields,
    rounded,
    typographic,
    with_error,
)
from wgsindy.terms import FUNCTIONS, Expression, Notation

if TYPE_CHECKING:
    from jinja2 import Environment

    from wgsindy.model.generator import Generator

LONGEST_LINE = 160  # characters of LaTeX, about half as many on paper
# A number inside a term is part of what the term means: rounded as coarsely as a coefficient, the
# centre of a Gaussian would move.
DIGITS_INSIDE_TERMS = 6
DIGITS_OF_DISTANCES = 12  # of x - 1234567.8


def printable(form: LinearForm) -> list[Any]:
    """Return every field as a SymPy sum whose numbers are short decimals."""
    import sympy

    terms = [bracketed(round_numbers(term, DIGITS_INSIDE_TERMS)) for term in form.sympy_terms()]
    numbers = [[round_numbers(sympy.Float(c), 12) for c in row] for row in form.coefficients]
    return [sympy.Add(*map(sympy.Mul, row, terms)) for row in numbers]


def bracketed(term: Any) -> Any:
    """Return a term that stays in its brackets: SymPy would multiply out 2 (x - 500000)."""
    import sympy

    return sympy.Symbol(rf"\left({{{sympy.latex(term)}}}\right)") if term.is_Add else term


def round_numbers(expression: Any, digits: int) -> Any:
    """Round the floats of a SymPy expression; whole ones become integers, which print without .0.

    >>> import sympy
    >>> x = sympy.Symbol("x")
    >>> round_numbers(0.12249999999999998 * x + 2.0, 6), round_numbers(x / 7.0 - 1234567.8, 6)
    (0.1225*x + 2, 0.142857*x - 1234567.8)
    """
    import sympy

    added = {part for found in expression.atoms(sympy.Add) for part in found.args}

    def shortened(number: Any) -> Any:
        places = max(digits, DIGITS_OF_DISTANCES) if number in added else digits
        value = float(f"{float(number):.{places}g}")
        return sympy.Integer(int(value)) if value.is_integer() else sympy.Float(value)

    return expression.xreplace({n: shortened(n) for n in expression.atoms(sympy.Float)})


def _written(expression: Any) -> str:
    """Write a SymPy expression; a sum that is too long for a line takes one for each term."""
    import sympy

    text = str(sympy.latex(expression))
    if len(text) <= LONGEST_LINE:
        return text
    if expression.is_Add:
        terms = [_written(term) for term in expression.as_ordered_terms()]
        return _aligned([f"&{term}" for term in _signed(terms)])
    if isinstance(expression, sympy.Min | sympy.Max):
        arguments = sorted(expression.args, key=sympy.default_sort_key)
        inside = ", ".join(_written(argument) for argument in arguments)
        return rf"\{expression.func.__name__.lower()}\left({inside}\right)"
    return text


def _signed(terms: Sequence[str]) -> list[str]:
    """Give each term after the first the sign that joins it to those before."""
    return [t if i == 0 or t.startswith("-") else f"+ {t}" for i, t in enumerate(terms)]


def _aligned(lines: Sequence[str]) -> str:
    """Return lines of LaTeX as one ``aligned`` block."""
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"


def _matrix(rows: Sequence[Sequence[Any]]) -> str:
    body = r" \\ ".join(" & ".join(_written(entry) for entry in row) for row in rows)
    return rf"\begin{{pmatrix}} {body} \end{{pmatrix}}"


def _symbols(names: Sequence[str]) -> list[str]:
    import sympy

    return [str(sympy.latex(sympy.Symbol(name))) for name in names]


def equations_latex(drift: LinearForm, entries: LinearForm) -> str:
    """Write one equation for each drift component and each tensor entry."""
    names = [name for names in field_names(len(drift.names)) for name in names]
    fields = [*printable(drift), *printable(entries)]
    return _aligned(
        [
            f"{name[0]}_{{{name[1:]}}} &= {_written(field)}"
            for name, field in zip(names, fields, strict=True)
        ]
    )


def sde_latex(drift: LinearForm, entries: LinearForm) -> str:
    """Write dX = b dt + sigma dW, the vector b and the matrix a = sigma sigma'.

    The tensor stands for sigma, because every sigma with the same tensor is the same process.
    """
    d = len(drift.names)
    written = dict(zip(tensor.pairs(d), printable(entries), strict=True))
    square = [[written[max(p, q), min(p, q)] for q in range(d)] for p in range(d)]
    at = f"({', '.join(_symbols(drift.names))})"
    return _aligned(
        [
            r"\mathrm{d}X_t &= b(X_t)\,\mathrm{d}t + \sigma(X_t)\,\mathrm{d}W_t,"
            r"\quad \sigma\sigma^\top = a",
            f"b{at} &= {_matrix([[component] for component in printable(drift)])}",
            f"a{at} &= {_matrix(square)}",
        ]
    )


def generator_latex(drift: LinearForm, entries: LinearForm) -> str:
    """Write L f = b . grad f + (1/2) a : Hess f, one line for each derivative that occurs."""
    names, pairs = drift.names, tensor.pairs(len(drift.names))
    # A mixed derivative occurs twice in the contraction, so it keeps the bracketed entry.
    share = np.array([[0.5 if p == q else 1.0] for p, q in pairs])
    second = replace(entries, coefficients=share * entries.coefficients)
    partial = [rf"\partial_{{{symbol}}}" for symbol in _symbols(names)]
    twice = [f"{partial[p]}^{{2}}" if p == q else f"{partial[q]} {partial[p]}" for p, q in pairs]
    function = r"\varphi" if "f" in names else "f"
    parts = zip([*printable(drift), *printable(second)], [*partial, *twice], strict=True)
    terms = [_applied(factor, f"{by} {function}") for factor, by in parts if factor != 0]
    start, *others = _signed(terms) or ["0"]
    return _aligned(
        [rf"\mathcal{{L}} {function} &= {start}", *(rf"&\quad {term}" for term in others)]
    )


def _applied(factor: Any, derivative: str) -> str:
    if factor.is_Add:
        return rf"\left({_written(factor)}\right) {derivative}"
    if abs(factor) == 1:
        return derivative if factor == 1 else f"- {derivative}"
    return f"{_written(factor)} {derivative}"


TIMES = Markup("<mo>&InvisibleTimes;</mo>")
DOT = "<mo>&sdot;</mo>"
LONGEST_TERM = 120  # characters; beyond, a formula is wider than a page
LONG_SYMBOL = re.compile(r"<mi>\w{2,}</mi>")
BRACKETS = Markup("<mrow><mo stretchy='false'>(</mo>{}<mo stretchy='false'>)</mo></mrow>")


@dataclass(frozen=True)
class Equation:
    """One field: its name and its terms, each an element of its own, so that lines break between.

    Terms are ``math``; one that is wider than a page is text.
    """

    name: str
    symbol: Markup
    terms: tuple[Markup, ...]
    unit: str = ""  # of the field, if it is known


def mathml_equations(generator: Generator, digits: int = 3) -> list[Equation]:
    """The equations of the drift and of the tensor, with standard errors if there are any."""
    drift, entries = field_names(generator.dimension, len(generator.inputs))
    shown = generator.written()
    return [
        Equation(
            name,
            field_symbol(name, generator.names),
            _sum([found for found in shown if found.target == name], generator.names, digits),
            generator.units.field(name),
        )
        for name in (*drift, *entries)
    ]


def field_symbol(field: str, names: Sequence[str]) -> Markup:
    """Write a field, b1 or a12, with the names of its coordinates below."""
    index = named_fields(field, names)[1:].strip("[]").replace(" ", "\u00a0")  # on one line
    return _math(Markup("<msub><mi>{}</mi><mi>{}</mi></msub>").format(field[0], index))


def term_formula(term: str, names: Sequence[str]) -> Markup:
    """Write a term of a library."""
    return _math(_term(term, names))


def _math(inside: Markup) -> Markup:
    return Markup("<math>{}</math>").format(inside)


def _term(term: str, names: Sequence[str], *, bracketed: bool = False) -> Markup:
    """Write a term; ``bracketed`` if it is a factor, which a sum cannot be as it is."""
    import sympy

    expression = round_numbers(Expression.parse(term, tuple(names)).to_sympy(), DIGITS_INSIDE_TERMS)
    # The printer builds a tree of elements: names are text in it, whatever they are.
    text = str(sympy.mathml(expression, printer="presentation")).replace("<mo>-<", "<mo>&minus;<")
    if LONG_SYMBOL.search(text):  # mx my would look like one symbol
        text = text.replace(str(TIMES), DOT)
    written = Markup(text.replace("&ExponentialE;", "e"))  # double-struck is not how people write
    return BRACKETS.format(written) if bracketed and expression.is_Add else written


def _sum(terms: Sequence[Coefficient], names: Sequence[str], digits: int) -> tuple[Markup, ...]:
    parts = [
        _spelt_out(found, names, digits, first=place == 0)
        if len(found.term) > LONGEST_TERM
        else _math(_sign(found.value, first=place == 0) + _product(found, names, digits))
        for place, found in enumerate(terms)
    ]
    return tuple(parts) or (_math(Markup("<mn>0</mn>")),)


def _spelt_out(found: Coefficient, names: Sequence[str], digits: int, *, first: bool) -> Markup:
    """Write a term as text, which breaks anywhere: browsers never break a formula."""
    text = join_terms([(found.value, found.term)], names, digits, _error_of(found))
    if not first:
        text = f"- {text[1:]}" if text.startswith("-") else f"+ {text}"
    return Markup("<code class='long'>{}</code>").format(typographic(text))


def _error_of(found: Coefficient) -> list[float] | None:
    return None if isnan(found.std_error) else [found.std_error]


def _sign(value: float, *, first: bool) -> Markup:
    if value < 0:
        return Markup(
            "<mo form='prefix'>&minus;</mo>" if first else "<mo form='infix'>&minus;</mo>"
        )
    return Markup("" if first else "<mo form='infix'>+</mo>")


def _product(found: Coefficient, names: Sequence[str], digits: int) -> Markup:
    plain = rounded(abs(found.value), digits)
    number = _number(plain)
    if not isnan(found.std_error) and found.std_error:
        value, error = map(_number, with_error(abs(found.value), found.std_error))
        number = BRACKETS.format(value + Markup("<mo>±</mo>") + error)
    elif plain == "1" and found.term != "1":
        return _term(found.term, names, bracketed=True)
    if found.term == "1":
        return number
    return number + TIMES + _term(found.term, names, bracketed=True)


def _number(text: str) -> Markup:
    mantissa, _, exponent = text.partition("e")
    plain = Markup("<mn>{}</mn>").format(mantissa)
    if not exponent:
        return plain
    power = Markup("<mo>&times;</mo><msup><mn>10</mn><mn>{}</mn></msup>").format(
        typographic(str(int(exponent)))
    )
    return plain + power


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


def written_equations(equations: Iterable[Equation]) -> Markup:
    """Write equations one below the other; long ones break between terms."""
    return Markup("<div class='equations'>{}</div>").format(
        Markup("").join(
            Markup(
                "<div><span class='symbol'>{}</span><span class='relation'><math><mo>=</mo></math>"
                "</span>{} <small>{}</small></div>"
            ).format(equation.symbol, Markup(" ").join(equation.terms), equation.unit)
            for equation in equations
        )
    )


def generator_parts(generator: Generator) -> list[Markup]:
    """Equations, with error bars if there are any, and a small picture where there is one."""
    from wgsindy.draw import small_drawing

    return [written_equations(mathml_equations(generator)), small_drawing(generator)]


def generator_html(generator: Generator) -> str:
    """Return the equations beside a small picture."""
    known = [key for key in ("recipe", "library") if key in generator.info]
    note = ", ".join(f"{key} {generator.info[key]!s:.60}" for key in known)
    title = f"Generator of ({', '.join(generator.names)})"
    return fragment(title, *generator_parts(generator), note=note)


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
        loader=PackageLoader("wgsindy.model", "templates"),
        autoescape=False,  # source code, not a page
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
