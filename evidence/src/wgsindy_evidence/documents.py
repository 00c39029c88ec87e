"""Documents whose tables and figures come from stored lines.

A document is Markdown written by hand with places for what is measured:

    <!-- begin ladder -->
    ...
    <!-- end ladder -->

:func:`built` puts the table, list or sentence of that name there. Figures stand beside the
documents under their own names. With the same lines and the same matplotlib nothing changes.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from wgsindy.draw import page_style
from wgsindy.files import write_atomically
from wgsindy_evidence.campaign import Line, Store
from wgsindy_evidence.datasheets import datasheet, index_of
from wgsindy_evidence.errors import CampaignError
from wgsindy_evidence.pages import JOINT, PAGES
from wgsindy_evidence.registry import EXPERIMENTS
from wgsindy_evidence.scope import Scope

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BLOCK = re.compile(r"(<!-- begin ([\w-]+) -->\n).*?(<!-- end \2 -->)", re.DOTALL)
STAMP = "drawn-with.txt"
RESOLUTION = 110  # dots an inch: sharp enough on a screen, small enough for a repository


def lines_of(name: str, results: Path) -> list[Line]:
    """The stored lines of a whole experiment, of whatever code.

    What needs other packages (rivals) is not part of the evidence; all lines of its file count.
    A page about several experiments has the lines of all of them.

    Raises
    ------
    CampaignError
        If there are none.
    """
    if name in JOINT:
        return [line for one in JOINT[name] for line in lines_of(one, results)]
    experiment = EXPERIMENTS.get(name)
    store = Store(results / f"{experiment.store if experiment else name}.jsonl")
    cases = experiment.cases(Scope()) if experiment else [line.case for line in store.lines()]
    found = store.latest(cases)
    if not found:
        command = "all" if experiment else name
        raise CampaignError(
            f"there are no lines of experiment {name!r} in {results}; run "
            f"`wgsindy bench {command} --out {results}` first."
        )
    return found


def built(results: Path, docs: Path, texts: Iterable[Path]) -> dict[Path, bytes]:
    """What every document, figure and datasheet should be, from the stored lines.

    Raises
    ------
    CampaignError
        If a document asks for a table that no experiment makes, or lines are missing.
    """
    with page_style():
        blocks, files = built_pages(results, docs / "images")
        files |= built_datasheets(results, docs / "datasheets")
    files[docs / "images" / STAMP] = f"drawn with matplotlib {version('matplotlib')}\n".encode()
    for path in texts:
        files[path] = filled(path.read_text(encoding="utf-8"), blocks, path).encode()
    return files


def built_pages(results: Path, images: Path) -> tuple[dict[str, str], dict[Path, bytes]]:
    """Tables and sentences by the name of their place, and figures by their file."""
    blocks: dict[str, str] = {}
    files: dict[Path, bytes] = {}
    for name, build in PAGES.items():
        lines = lines_of(name, results)
        content = build(lines)
        blocks |= {key: grid.markdown() for key, grid in content.grids.items()}
        blocks |= {f"{key}-sentences": text + "\n" for key, text in content.sentences.items()}
        blocks[f"{name}-source"] = source_of(lines)
        for key, figure in content.figures.items():
            files[images / f"{key}.png"] = as_png(figure)
    return blocks, files


def write_changed(files: Mapping[Path, bytes]) -> list[Path]:
    """Write the files whose content differs; returns them."""
    changed = differing(files)
    for path in changed:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, files[path])
    return changed


def differing(files: Mapping[Path, bytes]) -> list[Path]:
    """Files that are missing or have another content."""
    return [
        path for path, content in files.items() if not path.exists() or path.read_bytes() != content
    ]


def filled(text: str, blocks: Mapping[str, str], path: Path) -> str:
    """Replace what stands between the marks of a document."""

    def replacement(match: re.Match[str]) -> str:
        name = match.group(2)
        if name not in blocks:
            raise CampaignError(f"{path} asks for {name!r}; there is {sorted(blocks)}.")
        return f"{match.group(1)}{blocks[name]}{match.group(3)}"

    return BLOCK.sub(replacement, text)


def source_of(lines: Iterable[Line]) -> str:
    """Say which code made the lines and on which seeds."""
    found = list(lines)
    codes = ", ".join(f"`{code}`" for code in sorted({line.code for line in found}))
    seeds = sorted({line.case.seed for line in found})
    failed = sum(line.error is not None for line in found)
    ending = f"; {failed} case{'s' * (failed > 1)} failed" if failed else ""
    return f"{len(found)} cases, seeds {seeds[0]} to {seeds[-1]}, code {codes}{ending}.\n"


def built_datasheets(results: Path, folder: Path) -> dict[Path, bytes]:
    """A page and a picture for each system of the table, and the list of them."""
    lines, table = lines_of("datasheets", results), lines_of("table", results)
    systems = list(dict.fromkeys(line.case.system for line in lines))
    files = {folder / "README.md": index_of(systems).encode()}
    for name in systems:
        page = datasheet(
            name,
            [line for line in lines if line.case.system == name],
            [line for line in table if line.case.system == name],
        )
        files[folder / f"{name}.md"] = page.text.encode()
        files[folder / "images" / f"{name}.png"] = as_png(page.figure)
    return files


def comparable(files: Mapping[Path, bytes], docs: Path) -> dict[Path, bytes]:
    """Leave out what another version of matplotlib draws differently, dot by dot."""
    stamp = docs / "images" / STAMP
    if stamp.exists() and stamp.read_bytes() == files[stamp]:
        return dict(files)
    return {path: content for path, content in files.items() if path.suffix == ".md"}


def as_png(figure: Figure) -> bytes:
    """Draw a fresh figure; equal figures give equal bytes."""
    buffer = io.BytesIO()
    # Without the version of matplotlib in the file.
    figure.savefig(buffer, format="png", dpi=RESOLUTION, metadata={"Software": None})
    return buffer.getvalue()
