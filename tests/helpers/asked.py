"""Single questions of the verdict, asked by the names of their statistics."""

from __future__ import annotations

from collections.abc import Callable

from wgsindy.diagnostics import Finding, Measurements
from wgsindy.diagnostics.verdict import answers, questions

Check = Callable[[Measurements], list[Finding]]


def ask(*statistics: str) -> Check:
    """Ask the questions of these statistics, with those that are asked instead."""
    rows = [
        together
        for name in statistics
        for together in questions()
        if any(question.name == name for question in together)
    ]
    assert len(rows) == len(statistics)
    return lambda facts: [finding for together in rows for finding in answers(together, facts)]


def alone(statistic: str) -> Check:
    """Ask one question, whatever those before it would say."""
    (row,) = (one for together in questions() for one in together if one.name == statistic)
    return lambda facts: list(answers((row,), facts))
