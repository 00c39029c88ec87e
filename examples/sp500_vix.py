"""S&P 500 and VIX: the leverage effect, and a price drift that five years do not show.

    python examples/sp500_vix.py --out DIR

The data come with the package ``arch`` (``pip install "wgsindy[examples]"``); no network is used.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import wgsindy as wg
from figures import draw_volatility
from wgsindy.data import FloatArray
from wgsindy.report import write_report

DAYS = 252  # trading days a year: the clock
# The level of an index carries no information, so no term contains s: a constant, the
# log-volatility, and exp(2 v), which is the implied variance.
LIBRARY = ("1", "v", "exp(2*v)")
# Every other library that was tried before this one was settled on: the choice is not blind.
OTHER_LIBRARIES: tuple[str | tuple[str, ...], ...] = (
    *("poly1", "poly2", "poly3"),
    ("1",),
    ("1", "v"),
    ("1", "v", "v**2"),
    ("1", "v", "v**2", "v**3"),
    ("1", "exp(v)"),
    ("1", "v", "exp(v)"),
    ("1", "v", "exp(v)", "exp(2*v)"),
    ("1", "v", "sqrt(exp(v))", "exp(v)", "exp(2*v)"),
    ("1", "v", "tanh(v)"),
)
BINS = 6


def load() -> Any:
    """Return a data frame by day: ``price``, ``vix`` in percent; days with both."""
    try:
        import pandas
        from arch.data import sp500, vix
    except ModuleNotFoundError as missing:
        raise SystemExit(f'{missing}: pip install "wgsindy[examples]"') from None
    columns = {"price": sp500.load()["Adj Close"], "vix": vix.load()["vix"]}
    return pandas.concat(columns, axis=1, join="inner").dropna()


def states(frame: Any) -> FloatArray:
    """``(n, 2)``: s, log price over the first; v, log VIX over its median."""
    price, vix = frame["price"].to_numpy(), frame["vix"].to_numpy()
    return np.column_stack([np.log(price / price[0]), np.log(vix / np.median(vix))])


def fit(
    x: FloatArray, library: str | Sequence[str] = LIBRARY
) -> tuple[wg.Trajectories, wg.WGSINDy]:
    """One trajectory in trading years, and what is found in it."""
    data = wg.Trajectories([x], dt=1 / DAYS, names=("s", "v"))
    return data, wg.WGSINDy(library=library, recipe="sharp").fit(data)


def excess_kurtosis(values: FloatArray) -> float:
    """Zero for normal numbers: how uneven the noise of a candidate state is."""
    centred = values - values.mean()
    return float(np.mean(centred**4) / np.mean(centred**2) ** 2 - 3)


def weekend_ratio(frame: Any) -> FloatArray:
    """Mean squared increment from Friday to Monday over that of other days, of s and v."""
    nights = np.diff(frame.index.to_numpy()) / np.timedelta64(1, "D")
    squares = np.diff(states(frame), axis=0) ** 2
    return squares[nights == 3].mean(axis=0) / squares[nights == 1].mean(axis=0)


def mean_return(x: FloatArray) -> tuple[float, float]:
    """Mean log return a year and its standard error."""
    steps = np.diff(x[:, 0])
    return float(steps.mean() * DAYS), float(steps.std(ddof=1) * DAYS / np.sqrt(len(steps)))


def binned(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean v ``(B,)`` and tensor ``(B, 2, 2)`` in bins of equally many days: no formula."""
    order = np.argsort(x[:-1, 1], kind="stable")
    parts = np.array_split(order, BINS)
    steps = np.diff(x, axis=0)
    tensors = [np.cov(steps[part].T) * DAYS for part in parts]
    return np.array([x[part, 1].mean() for part in parts]), np.array(tensors)


def other_libraries(x: FloatArray) -> list[str]:
    """One line a library: what stays and what does not."""
    lines = []
    for library in OTHER_LIBRARIES:
        est = fit(x, library)[1]
        name = library if isinstance(library, str) else ", ".join(library)
        r, clipped = est.generator_.leverage(x).mean(), est.diagnostics_.clipped_fraction
        b1 = est.generator_.equations(errors=True, digits=2)[0]
        lines.append(f"  {name:<41} {r:.2f} {clipped:>6.1%}  {b1}")
    return lines


def describe(frame: Any, est: wg.WGSINDy) -> list[str]:
    """What the example prints."""
    x, vix = states(frame), frame["vix"].to_numpy()
    ratio, (mean, error) = weekend_ratio(frame), mean_return(x)
    raw = float(np.corrcoef(*np.diff(x, axis=0).T)[0, 1])
    unevenness = [excess_kurtosis(np.diff(f)) for f in (vix**2, vix, np.log(vix))]
    found = est.diagnostics_
    return [
        f"S&P 500 and VIX, {frame.index[0]:%Y-%m-%d} to {frame.index[-1]:%Y-%m-%d}: "
        f"{len(frame)} trading days, median VIX {np.median(vix):.2f} %",
        "",
        "Which volatility? Excess kurtosis of daily increments (0: normal)",
        "  VIX squared {:.0f}, VIX {:.0f}, log VIX {:.0f}".format(*unevenness),
        "Which clock? Mean squared increment over a weekend / over a night",
        "  price {:.2f}, log VIX {:.2f} (calendar time would make both 3)".format(*ratio),
        "",
        *est.generator_.equations(errors=True),
        "",
        found.summary,
        *(f"- {finding.sentence} {finding.advice}" for finding in found.findings),
        "",
        f"Correlation of price and volatility shocks, mean over days: "
        f"{est.generator_.leverage(x).mean():.2f}",
        f"  straight from the increments: {raw:.2f}",
        f"Mean return: {mean:.3f} ± {error:.3f} a year; two standard errors from zero would take "
        f"{(2 * error / mean) ** 2 * len(x) / DAYS:.0f} years of this",
        "",
        "Other libraries that were tried: correlation, samples with a clipped tensor, price drift",
        *other_libraries(x),
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit, print, draw, report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("examples-output"))
    out: Path = parser.parse_args(arguments).out
    out.mkdir(parents=True, exist_ok=True)
    frame = load()
    data, est = fit(states(frame))
    print("\n".join(describe(frame, est)))
    x, median = states(frame), float(np.median(frame["vix"]))
    low, high = np.quantile(x[:, 1], [0.01, 0.99])
    middle = np.linspace(low, high, 200)
    picture = out / "sp500-vix.png"
    draw_volatility(picture, est.generator_, middle, median, binned(x), len(x) / BINS)
    title = "S&P 500 (s: log price) and VIX (v: log VIX over its median), trading years"
    command = "python examples/sp500_vix.py"
    report = out / "sp500-vix-report.html"
    write_report(report, est.generator_, data, est.diagnostics_, title=title, command=command)


if __name__ == "__main__":
    main()
