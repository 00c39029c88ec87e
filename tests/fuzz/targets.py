"""What is fuzzed: readers, formulas, model files, stores of results; and how inputs are spoilt.

Each target has seeds, good inputs as bytes, and a function that takes bytes. A sentence, an error
of the package, is a right answer; so is a value.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wgsindy.errors import WgsindyError
from wgsindy.files import read
from wgsindy.model import Generator
from wgsindy.terms import Expression
from wgsindy_evidence.campaign import Case, Line, Store

CORPUS = Path(__file__).with_name("corpus")
POINTS = np.array([[0.3, -1.2], [1.5, 0.4]])
STRANGE = (
    b"nan", b"inf", b"-inf", b"1e308", b"-1e308", b"1e-320", b"0", b"-0.0", b"1e999", b'"', b"'",
    b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b",", b";", b"\t", b"\r", b"\n", b"{", b"[", b"}", b"]",
    b"__import__('os')", b"(((", b")))", b"**", b"**100", b"9" * 30, b"true", b"null", b"\\u0000",
    b"2024-02-30T25:61:61", b"1/0", b"x", b"lambda: 0", b"PK\x03\x04", b"\x1f\x8b", b"PAR1",
)  # fmt: skip


@dataclass(frozen=True)
class Target:
    """Good inputs, and what takes them; ``suffix`` and ``folder`` if it takes a file."""

    seeds: Callable[[], list[bytes]]
    take: Callable[[bytes, Path], object]


def _table() -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    rng = np.random.default_rng(0)
    return np.column_stack([np.arange(30) * 0.1, np.cumsum(rng.normal(size=(30, 2)), axis=0)])


def files() -> list[bytes]:
    """A small file of each format that needs no further package."""
    import polars as pl

    table, npy, npz, parquet = _table(), io.BytesIO(), io.BytesIO(), io.BytesIO()
    text = io.BytesIO()
    np.savetxt(text, table, delimiter=",", header="t,x,y", comments="", fmt="%.6g")
    np.save(npy, table)
    np.savez(npz, t=table[:, 0], x=table[:, 1])
    pl.DataFrame(table, schema=["t", "x", "y"]).write_parquet(parquet)
    plain = text.getvalue()
    days = [f"2024-01-{k + 1:02d};{k * 1.5:.2f}".replace(".", ",") for k in range(30)]
    rows = [f"{k % 3},{k // 3},x,{k * 0.7}" for k in range(60)]
    dates = "\n".join(["date;level", *days])
    long = "\n".join(["id,t,variable,value", *rows])
    return [plain, plain.replace(b",", b"\t"), plain.decode().encode("utf-16"), dates.encode(),
            long.encode(), gzip.compress(plain), npy.getvalue(), npz.getvalue(),
            parquet.getvalue()]  # fmt: skip


def formulas() -> list[bytes]:
    return [b"x*y**2 - sin(x)", b"max(x - 1, 0)*y", b"-(x/(2*y))**3 + exp(-x)", b"tanh(x)^2",
            b"sqrt(abs(x)) + log(1 + y**2)", b"3.5e-3*cos(2*x - y)", b"min(x, y)*1e3"]  # fmt: skip


def models() -> list[bytes]:
    import sympy

    x, y = sympy.symbols("x y", real=True)
    plain = Generator.from_sympy(("x", "y"), [-x + y**2, sympy.sin(x)], [[1 + x**2, 0], [0, 2]])
    return [json.dumps(plain.to_dict()).encode()]


def stores() -> list[bytes]:
    case = Case("toy", "ou", "sharp", 1, options=(("a", 1.0),))
    lines = [Line(case, "code", {"x": 1.0}, None), Line(case, "code", None, "DataError: no")]
    return ["".join(json.dumps({"case": one.case.to_json(), "code": one.code, "result": one.result,
            "error": one.error}) + "\n" for one in lines).encode()]  # fmt: skip


def take_file(content: bytes, folder: Path) -> object:
    path = folder / "data"
    path.write_bytes(content)
    return read(path)


def take_formula(content: bytes, folder: Path) -> object:
    formula = Expression.parse(content.decode("utf-8", "replace"), ("x", "y"))
    with np.errstate(all="ignore"):
        formula.value(POINTS)
        formula.jet(POINTS)
    assert Expression.parse(formula.text, ("x", "y")).text == formula.text
    if len(formula.text) < 200:  # SymPy takes a second for the longest
        str(formula.to_sympy())
    return formula


def take_model(content: bytes, folder: Path) -> object:
    path = folder / "model.json"
    path.write_bytes(content)
    generator = Generator.load(path)
    with np.errstate(all="ignore"):
        if generator.dimension == 2:
            generator.drift(POINTS)
    generator.equations()
    return generator


def take_store(content: bytes, folder: Path) -> object:
    path = folder / "store.jsonl"
    path.write_bytes(content)
    store = Store(path)
    lines = store.lines()
    store.latest([line.case for line in lines])
    store.compact()
    return lines


TARGETS = {
    "readers": Target(files, take_file),
    "formulas": Target(formulas, take_formula),
    "models": Target(models, take_model),
    "stores": Target(stores, take_store),
}


def spoilt(seeds: list[bytes], number: int) -> bytes:
    """Return input ``number``: a good one with up to eight errors."""
    rng = random.Random(number)
    content = bytearray(rng.choice(seeds))
    for _ in range(rng.randint(0, 8)):
        place = rng.randrange(len(content) + 1)
        size = rng.choice([1, 1, 2, 4, 16, 200])
        match rng.randrange(6):
            case 0:
                content[place : place + 1] = bytes([rng.randrange(256)])
            case 1:
                content[place : place + size] = rng.choice(STRANGE)
            case 2:
                content[place:place] = rng.choice(STRANGE)
            case 3:
                del content[place : place + size]
            case 4:
                piece = content[place : place + size]
                content[place:place] = piece * rng.choice([1, 2, 50])
            case 5:
                other = rng.choice(seeds)
                start = rng.randrange(len(other))
                content[place:place] = other[start : start + size]
        content = content[:20_000]
    return bytes(content)


def tried(target: Target, content: bytes, folder: Path) -> str:
    """Try an input: ``value`` or ``sentence``; anything else is raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            target.take(content, folder)
        except WgsindyError as error:
            return "sentence" if str(error).strip() else "crash: an error that says nothing"
    return "value"
