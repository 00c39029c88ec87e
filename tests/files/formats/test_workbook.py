"""Workbooks, and the corners of text: quotes, thousands, comments, long lines."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from walks import DT, N, frame, text, walk

from wgsindy.errors import DataError, GuessedColumnWarning
from wgsindy.files import read, stream


def test_a_workbook_is_read_like_text(tmp_path: Path) -> None:
    path = tmp_path / "book.xlsx"
    stamps = pd.date_range("2024-01-01", periods=N, freq="h")
    table = frame().drop(columns="t").assign(Date=stamps, remark="two words")
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"note": ["hello"]}).to_excel(book, sheet_name="About", index=False)
        table.to_excel(book, sheet_name="Data", index=False)
    found = read(path)
    assert (found.data.names, found.time_unit, found.data.mean_dt) == (("x", "y"), "h", 1.0)
    np.testing.assert_allclose(found.data[0], walk(), rtol=1e-15)


def test_a_damaged_workbook_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "book.xlsx"
    frame().to_excel(path)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(DataError, match="cannot be read as"):
        read(path)


def rows(quoted: int) -> list[str]:
    lines = [f'{k * DT},{a},{b},"n{k}"' for k, (a, b) in enumerate(walk())]
    lines[quoted] = lines[quoted][:-1]
    return lines


@pytest.mark.parametrize("place", [0, 57, N - 1])
def test_an_unclosed_quote_loses_no_other_row(place: int, tmp_path: Path) -> None:
    path = text(tmp_path, "\n".join(["t,x,y,note", *rows(place)]))
    assert read(path).data.n_increments == N - 1


def test_two_unclosed_quotes_swallow_nothing_between_them(tmp_path: Path) -> None:
    lines = rows(57)
    lines[60] = lines[60][:-1]
    data = read(text(tmp_path, "\n".join(["t,x,y,note", *lines]))).data
    assert data.n_increments == N - 1


@pytest.mark.parametrize(
    ("forms", "expected", "warns"),
    [
        (("50,012", "1,250,000", "7,001.5"), (50_012.0, 1_250_000.0, 7_001.5), True),
        (("50,012", "51,013", "999"), (50_012.0, 51_013.0, 999.0), True),
        (("50,012", "0,013", "1,500"), (50.012, 0.013, 1.5), False),
        (("50,012", "51,01", "1,500"), (50.012, 51.01, 1.5), False),
    ],
)
def test_three_digits_behind_every_comma_are_thousands(
    forms: tuple[str, ...], expected: tuple[float, ...], warns: bool, tmp_path: Path
) -> None:
    lines = [f"{k};{forms[min(k, 2)]}" for k in range(3)]
    path = text(tmp_path, "\n".join(["t;x", *lines]))
    if warns:
        with pytest.warns(GuessedColumnWarning, match="groups thousands"):
            data = read(path).data
    else:
        data = read(path).data
    assert data.states[:3, 0].tolist() == list(expected)


def test_any_number_of_comments_is_skipped(tmp_path: Path) -> None:
    lines = [f"{k * DT},{a},{b}" for k, (a, b) in enumerate(walk())]
    content = "\n".join(["# words, and more"] * 900 + ["# t,x,y", *lines])
    assert read(text(tmp_path, content)).data.names == ("x", "y")


@pytest.mark.slow
def test_lines_may_be_of_any_length(tmp_path: Path) -> None:
    width, long = 3_000, "0." + "125" * 20  # 190 KB a line
    lines = [",".join([str(k), *[long] * (width - 1), str(k * 7 % 5)]) for k in range(45)]
    names = ["t", *(f"c{k}" for k in range(width - 1)), "last"]
    path = text(tmp_path, "\n".join([",".join(names), *lines]))
    for data in (read(path, states=["last"]).data, stream(path, states=["last"])):
        assert (data.names, data.n_increments) == (("last",), 44)
