"""The page of thresholds is what the code says, and each of the diagnostics says its origin."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from test_snippets import DOCS, _load

import wgsindy

listing = _load(DOCS / "_ext" / "thresholds.py")
ORIGINS = ("derived", "false alarm", "zoo", "gallery", "by hand", "drawing")
PAGE = (DOCS / "theory" / "thresholds.md").read_text(encoding="utf-8")


def built() -> str:
    source = [PAGE]
    listing.add_tables(None, "theory/thresholds", source)
    return source[0]


@pytest.mark.parametrize("room", ["diagnostics", "estimate"])
def test_every_number_of_a_room_is_on_the_page_with_its_value(room: str) -> None:
    page, found = built(), 0
    for path in (Path(wgsindy.__file__).parent / room).rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
                value = node.value.value
                names = [name.id for name in node.targets if isinstance(name, ast.Name)]
                if len(names) == 1 and isinstance(value, int | float):
                    found += 1
                    assert f"| `{names[0]}` | {value!r} |" in page
    assert found > 40
    assert "<!-- constants" not in page


def test_every_threshold_of_the_verdict_says_where_it_comes_from() -> None:
    for constant in listing.constants("diagnostics"):
        assert constant.origin.startswith(ORIGINS), constant
        assert constant.meaning, constant
        assert len([one for one in ORIGINS if f"**{one}**" in PAGE]) == len(ORIGINS) - 1


def test_comments_above_and_beside_are_read_with_their_origin(tmp_path: Path) -> None:
    lines = ["# Share of samples. [by hand]", "A, B = 1, 2", "C = 0.5  # of the rest"]
    nodes = ast.parse("\n".join(lines)).body
    assert listing._comment(lines, nodes[0]) == "Share of samples. [by hand]"
    assert listing._comment(lines, nodes[1]) == "of the rest"
