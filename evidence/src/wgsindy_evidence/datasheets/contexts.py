"""What each system is, what is hard about it, what a good recovery shows: for people."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources


@cache
def contexts() -> dict[str, str]:
    """A paragraph for each system of the zoo, by its name."""
    text = resources.files("wgsindy_evidence.datasheets").joinpath("contexts.toml").read_text()
    return {name: " ".join(words.split()) for name, words in tomllib.loads(text).items()}
