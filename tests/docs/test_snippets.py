"""The documentation: every snippet runs, prints what the page shows, and is on a page."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

import wgsindy
from wgsindy import errors
from wgsindy.diagnostics import Limitation

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
# Made or filled by `wgsindy bench report`, or notes for developers: they have no snippets.
WITHOUT_SNIPPETS = ("_build", "evidence", "datasheets", "errata.md", "design.md", "sharp.md")
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")
INLINE = re.compile(
    r"^ *(`{3,}|~{3,}|:{3,})\s*\{?(?:code-block\}? )?(python|sh|bash|console)\b", re.M
)


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


runner = _load(DOCS / "rerun_snippets.py")
SNIPPETS: list[Path] = runner.snippets()


def pages() -> list[Path]:
    """Return every page that people write by hand."""
    found = [path.relative_to(DOCS) for path in sorted(DOCS.rglob("*.md"))]
    return [DOCS / path for path in found if path.parts[0] not in WITHOUT_SNIPPETS]


def same_but_for_rounding(found: str, shown: str) -> bool:
    """Whether two texts differ by the last digit of numbers at most."""
    if NUMBER.sub("#", found) != NUMBER.sub("#", shown):
        return False
    pairs = zip(NUMBER.findall(found), NUMBER.findall(shown), strict=True)
    return all(float(a) == pytest.approx(float(b), rel=0.05, abs=0.02) for a, b in pairs)


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda path: path.name)
def test_the_snippet_runs_without_a_warning_and_prints_what_its_page_shows(
    snippet: Path, tmp_path: Path
) -> None:
    done = runner.run(snippet, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr
    shown = runner.OUTPUTS / f"{snippet.stem}.txt"
    if shown.exists():
        text = shown.read_text(encoding="utf-8")
        assert same_but_for_rounding(done.stdout, text), (
            f"{snippet.name} prints something else than its page shows; if that is meant, run "
            f"`python docs/rerun_snippets.py {snippet.name}`.\n{done.stdout}"
        )


def test_numbers_may_differ_by_rounding_and_words_may_not() -> None:
    assert same_but_for_rounding("b1 = -(0.633 ± 0.17)*x", "b1 = -(0.632 ± 0.17)*x")
    assert not same_but_for_rounding("b1 = -(0.833 ± 0.17)*x", "b1 = -(0.632 ± 0.17)*x")
    assert not same_but_for_rounding("b1 = -(0.633 ± 0.17)*x", "b1 = -(0.633 ± 0.17)*y")


def test_the_lines_of_make_are_those_that_continuous_integration_runs() -> None:
    checked = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    lines = (DOCS / "snippets" / "make.sh").read_text(encoding="utf-8").splitlines()
    commands = [line.partition("#")[0].strip() for line in lines]
    assert commands
    assert set(commands) <= set(checked)


def test_code_on_pages_is_included_from_files() -> None:
    inline = [path.name for path in pages() if INLINE.search(path.read_text(encoding="utf-8"))]
    assert not inline, "put the code into docs/snippets and include it by literalinclude"


@pytest.mark.parametrize("fence", ["```python\nx\n```", "~~~sh\nx\n~~~", "```{code-block} python"])
def test_inline_code_would_be_found(fence: str) -> None:
    assert INLINE.search(f"text\n\n{fence}")
    assert not INLINE.search("```{literalinclude} a.py\n:language: python\n```\n```text\nx\n```")


def test_every_snippet_is_on_a_page() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in pages())
    files = [path for path in (DOCS / "snippets").rglob("*") if path.is_file()]
    files = [path for path in files if path.parent.name != "__pycache__"]
    shown = {path.name for path in files if f"/{path.name}" in text}
    assert not {path.name for path in files} - shown


def test_the_guide_explains_every_warning_of_reading() -> None:
    text = (DOCS / "howto" / "own-data.md").read_text(encoding="utf-8")
    kinds = [kind.__name__ for kind in errors.ReadingWarning.__subclasses__()]
    assert len(kinds) >= 12
    assert not [kind for kind in kinds if f"| `{kind}` |" not in text]


def test_the_guide_explains_every_limitation() -> None:
    lines = (DOCS / "howto" / "verdict.md").read_text(encoding="utf-8").splitlines()
    assert not [one for one in Limitation if one and str(one) not in lines]


def test_the_reference_has_every_public_name() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in (DOCS / "api").glob("*.md"))
    known = set(re.findall(r"auto\w+:: wgsindy\.(?:\w+\.)*(\w+)$", text, re.MULTILINE))
    modules = {"diagnostics", "recipes", "zoo"}
    assert modules <= set(re.findall(r"auto\w+:: wgsindy\.(\w+)\.\w+$", text, re.MULTILINE))
    assert not set(wgsindy.__all__) - modules - known
