"""Files in and out: tables and arrays of any kind -> :class:`Trajectories`; results written whole.

``read`` is the way in. Each step between a file and trajectories is one module::

    sources -> text (with dialect) | stores | frames -> Table
    Table -> roles -> clock -> order -> pieces -> checks -> Trajectories

``stream`` is the way in for what does not fit in memory::

    streamed_arrays | streamed_parquet | streamed_text -> head (Table) -> roles -> shards -> Stream
"""

from wgsindy.files.atomic import csv_text, refuse_occupied, whole_folder, write_atomically
from wgsindy.files.notes import Note
from wgsindy.files.read_tables import Reading, read
from wgsindy.files.stream_tables import stream
from wgsindy.files.strict_csv import read_csv

__all__ = [
    "Note",
    "Reading",
    "csv_text",
    "read",
    "read_csv",
    "refuse_occupied",
    "stream",
    "whole_folder",
    "write_atomically",
]
