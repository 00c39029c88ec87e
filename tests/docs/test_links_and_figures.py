"""Links and figures of the documents, and that the checker finds what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_snippets import DOCS, ROOT, _load

checker = _load(DOCS / "check_pages.py")
REGISTER = """
[[figure]]
page = "docs/a.md"
text = "a term costs 0.5"
constant = "wgsindy.recipes:SHARP.degree_cost"
value = 0.5
"""
PAGE = """# First page
See [the other](b.md#a-second-page). It said that a term costs 0.5, and the error is 0.1234.

<!-- begin table -->
| 0.1234 | 7.5 % |
<!-- end table -->

It is 7.5 %, and `0.77` and $0.88$ are no figures.
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text("# Read me\n")
    (tmp_path / "CONTRIBUTING.md").write_text("# Contribute\n")
    (tmp_path / "docs" / "a.md").write_text(PAGE)
    (tmp_path / "docs" / "b.md").write_text("# A second page\nOf 0.1234 we know from the first.\n")
    (tmp_path / "docs" / "figures.toml").write_text(REGISTER)
    return tmp_path


def test_the_documents_are_right() -> None:
    assert checker.problems(ROOT) == []


def test_nothing_is_wrong_with_a_page_whose_figures_have_sources(tree: Path) -> None:
    assert checker.problems(tree) == []


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("b.md#a-second", "c.md#a-second", "there is no c.md#a-second-page"),
        ("#a-second-page", "#a-third-page", "b.md has no heading #a-third-page"),
        ("the error is 0.1234", "the error is 0.4321", "where does 0.4321 come from"),
        ("It is 7.5 %", "It is 8.5 %", "where does 8.5 come from"),
        ("a term costs 0.5", "a term costs 0.6", "no longer says 'a term costs 0.5'"),
    ],
)
def test_what_is_wrong_is_found(tree: Path, before: str, after: str, found: str) -> None:
    page = tree / "docs" / "a.md"
    page.write_text(page.read_text().replace(before, after))
    assert any(found in problem for problem in checker.problems(tree))


def test_a_constant_that_changed_is_found(tree: Path) -> None:
    register = tree / "docs" / "figures.toml"
    register.write_text(REGISTER.replace("value = 0.5", "value = 0.6"))
    (problem,) = checker.problems(tree)
    assert "SHARP.degree_cost is 0.5" in problem


def test_a_short_number_of_another_page_is_no_source(tree: Path) -> None:
    page = tree / "docs" / "b.md"
    page.write_text(page.read_text() + "And 7.5 % too.\n")
    (problem,) = checker.problems(tree)
    assert "where does 7.5 come from" in problem
