"""Every kind by its key."""

from __future__ import annotations

from wgsindy_evidence.experiments.ours.gallery_data import (
    changing,
    controls,
    later,
    latest,
    maps,
    memory,
    noises,
    outside,
    spoilt,
)
from wgsindy_evidence.experiments.ours.gallery_data.kind import Kind, Role

NULLS: tuple[Kind, ...] = (
    *noises.KINDS,
    *memory.KINDS,
    *changing.KINDS,
    *maps.KINDS,
    *spoilt.KINDS,
    *outside.KINDS,
)
HARD: tuple[Kind, ...] = (*controls.HARD, *outside.HARD)
KINDS: dict[str, Kind] = {
    kind.key: kind for kind in (*NULLS, *later.KINDS, *latest.KINDS, *HARD, *controls.CONTROLS)
}


def keys_of(role: Role) -> tuple[str, ...]:
    """Keys of the kinds that play a role."""
    return tuple(key for key, kind in KINDS.items() if kind.role == role)
