"""A table whose columns are runs of one state -> one table a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from wgsindy.errors import DataError
from wgsindy.files.columns.roles import Roles
from wgsindy.files.notes import Note, counted
from wgsindy.files.table import Table

STATE = "x"


def one_trajectory_a_column(
    tables: Sequence[Table], roles: Roles, names: Sequence[str] | None, notes: list[Note]
) -> tuple[list[Table], Roles]:
    """Return a table for each column of numbers, with the times of the whole, and its roles.

    Raises
    ------
    DataError
        If the rows have ids, too: then nothing says what a trajectory is.
    """
    if roles.trajectory is not None:
        raise DataError(
            f"replicates takes each column as a trajectory, but column {roles.trajectory!r} tells "
            "trajectories apart already; leave one of the two out."
        )
    name = names[0] if names else STATE
    found = []
    for table in tables:
        for column in roles.states:
            table.resolve(column)
            columns = {name: table.columns[column]}
            if roles.time is not None:
                columns = {roles.time: table.columns[roles.time]} | columns
            refused = {name: table.refused[column]} if column in table.refused else {}
            label = f"{table.label}, column {column!r}"
            found.append(replace(table, label=label, columns=columns, refused=refused))
    sentence = f"{counted(len(found), 'column')} are taken as trajectories of one state, {name!r}."
    notes.append(Note("choice", len(found), sentence))
    return found, replace(roles, states=(name,), chosen=True)
