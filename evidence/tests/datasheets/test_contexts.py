"""The paragraphs about the systems."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from wgsindy import zoo
from wgsindy_evidence.datasheets.contexts import contexts

ALL = zoo.names(variants=True)


def sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.!?])\s+", text)


@pytest.mark.parametrize("name", ALL)
def test_a_context_is_a_short_paragraph_of_whole_sentences(name: str) -> None:
    context = contexts()[name]
    assert 200 <= len(context) <= 900
    assert context.endswith(".")
    assert 3 <= len(sentences(context)) <= 5
    assert "  " not in context
    assert not re.search(r"[a-z][.,;:][A-Za-z]", context)
    assert "{" not in context


def test_no_two_systems_share_a_sentence() -> None:
    counts = Counter(line for name in ALL for line in sentences(contexts()[name]))
    assert [line for line, n in counts.items() if n > 1] == []


@pytest.mark.parametrize("name", ALL)
def test_systems_that_a_context_refers_to_exist(name: str) -> None:
    mentioned = set(re.findall(r"[a-z]+(?:_[a-z0-9]+)+", contexts()[name]))
    assert mentioned <= set(ALL) - {name}


def test_every_system_has_one() -> None:
    assert set(contexts()) == set(ALL)
