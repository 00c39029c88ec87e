"""Files in and out: tables and arrays of any kind -> data to fit; results written whole.

``read`` takes everything into memory and corrects it. The steps between a file and trajectories::

    formats (what a file holds) -> Table
    columns (what each column is) -> cleaning (order, gaps, doubts) -> Trajectories

``stream`` leaves the data where they are and takes all complete rows as they are::

    formats (a LazyTable: first rows, and sources of all rows) -> columns -> Stream

``open_data`` chooses between the two. All of them give a :class:`Reading`: data and notes; only
``stream``, whose notes become warnings, gives the data alone. No module has the name of a function
of this package, which it would replace in ``wgsindy.files`` when it is imported.
"""

from wgsindy.files.atomic import (
    csv_text,
    opened,
    refuse_occupied,
    refuse_unwritable,
    save_folder,
    whole_folder,
    write_atomically,
)
from wgsindy.files.columns.roles import formula_name
from wgsindy.files.notes import Note, Reading, collecting_warnings
from wgsindy.files.options import ReadingOptions, as_list, options_of
from wgsindy.files.reading import as_dataset, label_of, open_data, read, stream

__all__ = [
    "Note",
    "Reading",
    "ReadingOptions",
    "as_dataset",
    "as_list",
    "collecting_warnings",
    "csv_text",
    "formula_name",
    "label_of",
    "open_data",
    "opened",
    "options_of",
    "read",
    "refuse_occupied",
    "refuse_unwritable",
    "save_folder",
    "stream",
    "whole_folder",
    "write_atomically",
]
