"""Check README and documents: every link leads somewhere, every figure has a source.

``python docs/check_pages.py`` prints what is wrong and ends with 1. A link may point to a file or
a heading of this repository (others are not followed). A figure in hand-written text, that is a
number with a decimal point, a percentage or "so many x", must

- stand in a table or sentence of the same page that `wgsindy bench report` makes,
- stand in output or code of the same page that tests compare (docs/snippets, the README's blocks),
- stand in one of these on another page, and have three digits, so that it is no coincidence,
- or be listed in docs/figures.toml, with the constant of the code that it is, which is compared, or
  with the place where it comes from.
"""

from __future__ import annotations

import importlib
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from math import isclose
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
REGISTER = Path("docs") / "figures.toml"
BLOCK = re.compile(r"<!-- begin ([\w-]+) -->\n(.*?)<!-- end \1 -->", re.DOTALL)
FENCE = re.compile(r"^ *(```|~~~).*?^ *\1", re.DOTALL | re.MULTILINE)
FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$\n]*\$", re.DOTALL)
MARKED = re.compile(r"pydaddy==\S+|\$\$.*?\$\$|\$[^$\n]*\$|`[^`\n]*`|<!--.*?-->", re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
URL = re.compile(r"https?://\S+")
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")
FIGURE = re.compile(r"(?<![\w.,^/-])(\d[\d,]*\.\d+(?:e[+-]?\d+)?|\d+(?= ?%)|\d+(?= x\b))(?![\w/])")
INCLUDE = re.compile(r"^```\{literalinclude\} (\S+)", re.MULTILINE)
HEADING = re.compile(r"^#+ +(.*?) *$", re.MULTILINE)
LEVELS = {"95"}  # of intervals, in percent
# Written by programs, or not for readers of the documents.
NOT_CHECKED = ("_build", "datasheets", "snippets")


def documents(root: Path) -> list[Path]:
    """Every document that people write, relative to the root."""
    found = [path.relative_to(root) for path in sorted((root / "docs").rglob("*.md"))]
    kept = [path for path in found if path.parts[1] not in NOT_CHECKED]
    return [Path("README.md"), Path("CONTRIBUTING.md"), *kept]


def anchors(text: str) -> set[str]:
    """Names of the headings, as GitHub and Sphinx make them."""
    plain = (re.sub(r"[`*]", "", title).lower() for title in HEADING.findall(text))
    return {re.sub(r"[^\w\s-]", "", title).strip().replace(" ", "-") for title in plain}


def broken_links(root: Path, pages: Iterable[Path]) -> Iterator[str]:
    """Say which links lead nowhere."""
    for page in pages:
        text = (root / page).read_text(encoding="utf-8")
        for target in LINK.findall(FORMULA.sub("", FENCE.sub("", text))):
            place, _, anchor = target.partition("#")
            if URL.match(target) or target.startswith("mailto:"):
                continue
            path = (root / page).parent / place if place else root / page
            if not path.exists():
                yield f"{page}: there is no {target}"
            elif path.suffix == ".md" and anchor not in {"", *anchors(path.read_text("utf-8"))}:
                yield f"{page}: {place or page} has no heading #{anchor}"


def numbers(text: str) -> set[str]:
    """Every number of a text, without commas."""
    return {found.replace(",", "") for found in NUMBER.findall(text)}


def prose(text: str) -> str:
    """What a hand has written: no tables of the evidence, code, formulas or addresses."""
    for pattern in (BLOCK, FENCE, MARKED, URL):
        text = pattern.sub(" ", text)
    return LINK.sub("]", text)


def sourced(root: Path, page: Path) -> set[str]:
    """Numbers of a page that tests compare: made by the evidence, in code, in its output."""
    text = (root / page).read_text(encoding="utf-8")
    parts = [block for _, block in BLOCK.findall(text)]
    for included in INCLUDE.findall(text):
        parts.append(((root / page).parent / included).read_text(encoding="utf-8"))
    if page.name == "README.md":  # a test compares its blocks with what they print
        parts += [found.group(0) for found in FENCE.finditer(text)]
    return set().union(*map(numbers, parts))


def telling(figure: str) -> bool:
    """Whether a number has three digits, so that finding it elsewhere is no coincidence."""
    return len(re.sub(r"e.*|[.]", "", figure).strip("0")) >= 3


def constant(name: str) -> float:
    """Value of ``module:NAME``; attributes after a dot, an index after a slash."""
    module, _, rest = name.partition(":")
    path, _, index = rest.partition("/")
    value: Any = reduce(getattr, path.split("."), importlib.import_module(module))
    return float(value[int(index)] if index else value)


def wrong_constants(root: Path, register: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Say which listed sentences are gone, and which say another number than the code."""
    for entry in register:
        page, text = entry["page"], entry["text"]
        content = " ".join((root / page).read_text(encoding="utf-8").split())
        if " ".join(text.split()) not in content:
            yield f"{page} no longer says {text!r}; correct {REGISTER}"
        if "constant" in entry:
            value = constant(entry["constant"]) * entry.get("times", 1)
            if not isclose(value, entry["value"], rel_tol=1e-9):
                yield f"{page} says {text!r}, and {entry['constant']} is {value:g}"


def unsourced_figures(
    root: Path, pages: Sequence[Path], register: Iterable[dict[str, Any]]
) -> Iterator[str]:
    """Say which figures of hand-written text come from nowhere."""
    made = {page: sourced(root, page) for page in pages}
    elsewhere = {figure for found in made.values() for figure in found if telling(figure)}
    listed: dict[str, set[str]] = {}
    for entry in register:
        listed.setdefault(entry["page"], set()).update(numbers(entry["text"]))
    for page in pages:
        text = prose((root / page).read_text(encoding="utf-8"))
        for found in FIGURE.finditer(text):
            figure = found.group(1).replace(",", "")
            here = made[page] | listed.get(page.as_posix(), set())
            if figure not in here | elsewhere | LEVELS:
                around = " ".join(text[max(0, found.start() - 40) : found.end() + 30].split())
                yield f"{page}: where does {found.group(1)} come from, in {around!r}?"


def problems(root: Path = ROOT) -> list[str]:
    """Everything that is wrong, a sentence each."""
    pages = documents(root)
    register = tomllib.loads((root / REGISTER).read_text(encoding="utf-8"))["figure"]
    return [
        *broken_links(root, pages),
        *wrong_constants(root, register),
        *unsourced_figures(root, pages, register),
    ]


if __name__ == "__main__":
    found = problems()
    right = f"{len(documents(ROOT))} documents: links and figures are right."
    sys.stdout.write("\n".join(found or [right]) + "\n")
    sys.exit(bool(found))
