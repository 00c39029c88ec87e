"""What a fit costs: scale, yardsticks, threads, libraries, start, and where the time goes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from wgsindy_evidence.campaign import Case, Line
from wgsindy_evidence.grid import Grid, number, percent
from wgsindy_evidence.pages.page import COLUMN_WIDTH, Content

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AUTHORS = 2.5  # times KMeans: of the authors' release, measured once outside of this repository
METHODS = {"sfi": "StochasticForceInference", "pysindy": "pysindy"}
ORDER = ("sharp", "sharp-euler", "paper", *METHODS)


class Found(NamedTuple):
    """A measurement: its case and what came out."""

    case: Case
    result: dict[str, Any]

    @property
    def recipe(self) -> str:
        """Recipe of the fit, or another method."""
        return self.case.recipe

    @property
    def samples(self) -> int:
        """Samples of the file or the cloud."""
        return int(self.case.settings["samples"])

    @property
    def noise(self) -> str:
        """Noise on the samples, as a share of their spread."""
        noise = self.case.settings.get("noise", 0.0)
        return percent(noise) if noise else "none"


def build(lines: Sequence[Line]) -> Content:
    """All tables for which there are lines."""
    kinds: dict[str, list[Found]] = {}
    for line in sorted(lines, key=_place):
        if line.result is not None:
            kind = line.case.system if line.case.options else "methods"
            kinds.setdefault(kind, []).append(Found(line.case, line.result))
    grids = {f"speed-{kind}": make(kinds[kind]) for kind, make in TABLES.items() if kind in kinds}
    for found in kinds.get("profile", []):
        grids[f"profile-{found.recipe}"] = _profile(found)
    figures = {"profile": _bars(kinds["profile"])} if "profile" in kinds else {}
    sentences = {"profile": _machine(kinds["profile"])} if figures else {}
    return Content(grids, figures, sentences | {"speed-short": in_short(kinds)})


def in_short(kinds: Mapping[str, Sequence[Found]]) -> str:
    """The yardstick at the size of the paper's data, and the largest file."""
    ratios = {
        one.recipe: one.result["seconds"] / one.result["yardstick"]
        for one in kinds.get("yardstick", [])
        if (one.samples, one.noise, one.case.settings["library"]) == (25_600, "none", "poly2")
    }
    listed = ", ".join(f"{ratio:.2f} (`{recipe}`)" for recipe, ratio in ratios.items())
    sentence = (
        f"- **Fast.** With one thread and 25,600 samples, a fit takes {listed} times as long as "
        "scikit-learn's `KMeans(64, n_init=10)` on the same points."
    )
    largest = max(kinds.get("scale", []), key=lambda one: one.samples, default=None)
    if largest is not None:
        sentence += (
            f" Data larger than memory are streamed: `{largest.recipe}` fits {largest.samples:,} "
            f"samples in {largest.result['seconds']:.0f} s with two threads and "
            f"{largest.result['peak_mib']:.0f} MiB (`wgsindy bench speed`)."
        )
    return sentence


def _place(line: Line) -> tuple[Any, ...]:
    """Our recipes first, and each by size."""
    settings = line.case.settings
    sizes = [settings.get(name, 0) for name in ("dimension", "degree", "samples")]
    return ORDER.index(line.case.recipe), settings.get("noise", 0.0), *sizes


def _scale(found: Sequence[Found]) -> Grid:
    rows = [
        [
            one.recipe,
            one.noise,
            f"{one.samples:,}",
            number(one.result["seconds"], 1),
            number(1e9 * one.result["seconds"] / one.samples, 0),
            number(one.result["peak_mib"], 0),
            number(one.result["yardstick"], 2),
            number(one.result["seconds"] / one.result["yardstick"], 1),
            number(one.result["seconds"] / one.result["tight"], 1),
            f"{one.result['drift_error']:.1e}",
            f"{one.result['tensor_error']:.1e}",
        ]
        for one in found
    ]
    headings = (
        *("recipe", "noise", "samples", "seconds", "ns a sample", "peak memory, MiB"),
        *("read + poly3, s", "ratio", "ratio to tight", "drift error", "tensor error"),
    )
    return Grid("A file on disk, two threads", headings, rows, left=2)


def _yardstick(found: Sequence[Found]) -> Grid:
    rows = []
    for one in found:
        seconds, yardstick = one.result["seconds"], one.result["yardstick"]
        chain = one.result.get("chain", float("nan"))
        rows.append(
            [
                *(one.recipe, str(one.case.settings["library"]), one.noise, f"{one.samples:,}"),
                *(number(seconds), number(yardstick, 2), number(seconds / yardstick)),
                *(number(AUTHORS * yardstick / seconds, 0), number(seconds / chain, 1)),
            ]
        )
    headings = (
        *("recipe", "library", "noise", "samples", "seconds", "KMeans, s", "ratio"),
        *(f"{AUTHORS:g} x KMeans over fit", "fit over sharp-euler"),
    )
    return Grid("A fit beside KMeans(64, n_init=10), one thread", headings, rows, left=3)


def _methods(found: Sequence[Found]) -> Grid:
    rows = [
        [
            METHODS.get(one.recipe, f"wgsindy, {one.recipe}"),
            number(one.result["seconds_cold"], 2),
            number(one.result.get("seconds_warm", float("nan")), 3),
        ]
        for one in found
    ]
    headings = ("method", "fresh process, s", "further fit, s")
    return Grid("Rivals on the same 25,600 samples", headings, rows)


def _threads(found: Sequence[Found]) -> Grid:
    rows = [
        [
            *(one.recipe, f"{one.samples:,}"),
            *(number(one.result["one"], 2), number(one.result["two"], 2)),
            number(one.result["one"] / one.result["two"], 2),
            number(one.result["possible"], 2),
        ]
        for one in found
    ]
    headings = ("recipe", "samples", "one thread, s", "two, s", "gain", "possible gain")
    return Grid("A second thread", headings, rows)


def _cluster(found: Sequence[Found]) -> Grid:
    rows = [
        [
            *(one.recipe, f"{one.samples:,}"),
            *(number(one.result[name], 2) for name in ("threads", "usual", "kept")),
            number(1e3 * one.result["pass"], 0),
        ]
        for one in found
    ]
    headings = (
        *("recipe", "samples", "two threads, s", "two workers, s"),
        *("workers that keep memory, s", "least pass, ms"),
    )
    return Grid("A Dask cluster on this machine", headings, rows)


def _growth(found: Sequence[Found]) -> Grid:
    rows = [
        [
            f"poly{one.case.settings['degree']}",
            str(one.case.settings["dimension"]),
            *(str(one.result["terms"]), str(one.result["fields"])),
            *(number(one.result["passes"], 2), number(one.result["selection"], 2)),
            number(one.result["added_mib"], 0),
        ]
        for one in found
    ]
    headings = (
        *("library", "dimensions", "terms", "fields"),
        *("passes, s", "selection, s", "added memory, MiB"),
    )
    return Grid("Larger libraries, 100,000 increments, recipe sharp-euler", headings, rows)


def _start(found: Sequence[Found]) -> Grid:
    result = found[0].result
    rows = [
        ["python -c pass", number(result["interpreter"], 2)],
        ["import wgsindy", number(result["import"], 2)],
        ["import, first fit of 25,600 samples by sharp-euler", number(result["first_fit"], 2)],
    ]
    heavy = ", ".join(result["heavy"]) or "none"
    rows.append([f"heavy packages that the import loads: {heavy}", "-"])
    return Grid("From nothing", ("process", "seconds"), rows)


def _profile(found: Found) -> Grid:
    rows = [
        [
            *(row["name"], f"{row['increments']:,}"),
            *(number(row["flops"], 0), number(row["exponentials"], 0)),
            number(1e9 * row["seconds"] / row["increments"], 0),
            number(1e9 * row["least"] / row["increments"], 0),
            number(row["seconds"] / row["least"], 1),
        ]
        for row in found.result["passes"]
    ]
    between = 1e3 * found.result["between"]
    rows.append([f"between passes: {between:.0f} ms in all", *["-"] * 6])
    headings = (
        *("pass", "increments", "operations", "exponentials"),
        *("ns an increment", "least", "ratio"),
    )
    title = f"Passes of recipe {found.recipe} over {found.samples:,} samples, one thread"
    return Grid(title, headings, rows)


TABLES = {
    "scale": _scale,
    "yardstick": _yardstick,
    "methods": _methods,
    "threads": _threads,
    "cluster": _cluster,
    "growth": _growth,
    "start": _start,
}


def _machine(found: Sequence[Found]) -> str:
    machine = found[0].result["machine"]
    return (
        f"One thread of this machine read {1e-9 / machine['byte']:.1f} GB a second from a file "
        f"that was read before, did {1e-9 / machine['flop']:.0f} billion operations a second in "
        f"products of matrices, and took {1e9 * machine['exponential']:.1f} ns for an exponential."
    )


def _bars(found: Sequence[Found]) -> Figure:
    """Seconds of each pass, one bar a fit; what the machine would need at least is darker."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        len(found), 1, figsize=(COLUMN_WIDTH, 1.6 * len(found)), layout="constrained"
    )
    for ax, one in zip(axes.flat if len(found) > 1 else [axes], found, strict=True):
        for left, width, least, name in _spans(one):
            bar = ax.barh(0, width, left=left, height=0.8, alpha=0.5, edgecolor="white")
            ax.barh(0, least, left=left, height=0.8, color=bar.patches[0].get_facecolor())
            if width > 0.06 * sum(row["seconds"] for row in one.result["passes"]):
                ax.text(left + width / 2, 0, name.replace("Pass", ""), ha="center", va="center")
        ax.set(yticks=[], title=f"{one.recipe}, {one.samples:,} samples", xlabel="seconds")
    return figure


def _spans(found: Found) -> Iterator[tuple[float, float, float, str]]:
    left = 0.0
    for row in found.result["passes"]:
        yield left, row["seconds"], row["least"], row["name"]
        left += row["seconds"]
