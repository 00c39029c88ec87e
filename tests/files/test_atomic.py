"""Files are written whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from wgsindy.files import write_atomically


def test_atomic_writing_keeps_the_old_file_if_the_new_one_fails(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write_atomically(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(path, "\ud800")
    assert path.read_text() == "old"
    assert [item.name for item in tmp_path.iterdir()] == ["a.txt"]
