"""Two exports of one instrument, whose rows overlap -> one table: no row is counted twice."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np

from wgsindy.files.columns.roles import Roles
from wgsindy.files.notes import Note
from wgsindy.files.table import Table

# Noise never repeats itself: rows that are equal in time and all states are one measurement.
FEWEST_SHARED = 3
MOST_TABLES = 100  # beyond, files are runs, not exports


def joined_exports(tables: Sequence[Table], roles: Roles, notes: list[Note]) -> list[Table]:
    """Join each table to an earlier one with which it shares rows, but not all of them.

    Rows that are there twice are left out where rows are put in order; two different states at one
    time are refused there.
    """
    if roles.time is None or roles.trajectory is not None or not 1 < len(tables) <= MOST_TABLES:
        return list(tables)
    found: list[Table] = []
    rows: list[set[Hashable]] = []
    for table in tables:
        own = _rows(table, roles)
        partner = next((k for k, other in enumerate(rows) if _overlap(own, other)), None)
        if partner is None:
            found.append(table)
            rows.append(own)
            continue
        shared = len(own & rows[partner])
        notes.append(
            Note(
                "duplicate",
                shared,
                f"{table.label} and {found[partner].label} share {shared} rows: they are exports "
                "of one instrument and are joined.",
            )
        )
        found[partner] = _joined(found[partner], table)
        rows[partner] |= own
    return found


def _rows(table: Table, roles: Roles) -> set[Hashable]:
    assert roles.time is not None
    names = [name for name in (roles.time, *roles.states) if name in table.columns]
    return set(zip(*(table.columns[name].tolist() for name in names), strict=True))


def _overlap(own: set[Hashable], other: set[Hashable]) -> bool:
    # Whole copies are left out, with a sentence of their own, where rows are put in order.
    return len(own & other) >= FEWEST_SHARED and own != other


def _joined(first: Table, second: Table) -> Table:
    columns = {
        name: np.concatenate([column, second.columns[name]])
        for name, column in first.columns.items()
        if name in second.columns
    }
    return replace(
        first,
        label=f"{first.label} + {second.label}",
        columns=columns,
        ragged_rows=first.ragged_rows + second.ragged_rows,
    )
