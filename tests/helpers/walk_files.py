"""Files as people bring them: trackers, prices, weather, pendulums; made here, with known truth."""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
MAKERS: dict[str, Callable[[Path], list[Path]]] = {}
OPTIONS = {
    "weather": ("--library", "poly1"),
    "ohlcv": ("--log", "Adj Close"),
    "trackpy": ("--library", "poly1"),
    "trackmate": ("--library", "poly1"),
    "gene_network": ("--library", "poly1"),
    "many_columns": ("--library", "poly1"),
    "replicates": ("--replicates",),
    "exports": ("--unit", "h"),
    "workbook": ("--unit", "d"),
    "unreadable_clock": ("--dt", "0.1"),
    "poly20": ("--library", "poly20"),
}


def maker(function: Callable[[Path], list[Path]]) -> Callable[[Path], list[Path]]:
    MAKERS[function.__name__] = function
    return function


def ou(
    n: int, step: float, seed: int, *, rate: float = 1.0, noise: float = 1.0, dim: int = 1
) -> Array:
    """Exact samples ``(n, dim)`` of dx = -rate x dt + sqrt(noise) dW."""
    rng = np.random.default_rng(seed)
    keep = np.exp(-rate * step)
    kick = np.sqrt(noise / (2 * rate) * (1 - keep**2)) * rng.normal(size=(n, dim))
    x = np.zeros((n, dim))
    x[0] = np.sqrt(noise / (2 * rate)) * rng.normal(size=dim)
    for k in range(1, n):
        x[k] = keep * x[k - 1] + kick[k]
    return x


def written(path: Path, head: str, rows: list[str]) -> list[Path]:
    path.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    return [path]


def days(first: str, n: int, *, weekends: bool) -> list[dt.date]:
    day, found = dt.date.fromisoformat(first), list[dt.date]()
    while len(found) < n:
        if weekends or day.weekday() < 5:
            found.append(day)
        day += dt.timedelta(days=1)
    return found


@maker
def sunspots(folder: Path) -> list[Path]:
    x = 50 + 40 * ou(309, 1.0, 1, rate=0.3, noise=0.6)[:, 0]
    rows = [f"{1700 + k}.0,{max(v, 0.5):.1f}" for k, v in enumerate(x)]
    return written(folder / "sunspots.csv", '"YEAR","SUNACTIVITY"', rows)


@maker
def co2(folder: Path) -> list[Path]:
    x = 330 + 3 * ou(1500, 7 / 365.25, 2, rate=2.0)[:, 0]
    first = dt.date(1958, 3, 29)
    rows = [f"{first + dt.timedelta(days=7 * k):%Y%m%d},{v:.4f}" for k, v in enumerate(x)]
    return written(folder / "co2.csv", "date,co2", rows)


@maker
def co2_table(folder: Path) -> list[Path]:
    x = 330 + 3 * ou(700, 1 / 12, 3, rate=2.0)[:, 0]
    rows = ["# year month decimal average ndays"] + [
        f"{1958 + k // 12} {k % 12 + 1} {1958 + (k + 0.5) / 12:.4f} {v:.2f} {-1}"
        for k, v in enumerate(x)
    ]
    return written(folder / "co2_mm.txt", "\n".join(["# a monthly mean"] * 320), rows)


@maker
def weather(folder: Path) -> list[Path]:
    x = ou(1461, 1.0, 4, rate=0.4, noise=8.0, dim=4)
    kinds = ("rain", "sun", "fog", "drizzle")
    rows = [
        f"{d},{abs(v[0]):.1f},{v[1] + 16:.1f},{v[2] + 8:.1f},{abs(v[3]) + 1:.1f},{kinds[k % 4]}"
        for k, (d, v) in enumerate(zip(days("2012-01-01", 1461, weekends=True), x, strict=True))
    ]
    head = "date,precipitation,temp_max,temp_min,wind,weather"
    return written(folder / "seattle-weather.csv", head, rows)


def prices(n: int, seed: int) -> Array:
    """A price with volatility 0.2 a year of 252 days, and no drift to speak of."""
    steps = 0.2 / np.sqrt(252) * np.random.default_rng(seed).normal(size=n)
    return np.asarray(100 * np.exp(np.cumsum(steps)))


def quotes(folder: Path, name: str, symbols: tuple[str, ...]) -> list[Path]:
    rows = []
    dates = days("2012-01-02", 1260, weekends=False)
    for number, symbol in enumerate(symbols):
        for day, p in zip(dates, prices(1260, 5 + number), strict=True):
            ohlc = f"{p * 0.999:.4f},{p * 1.01:.4f},{p * 0.99:.4f},{p:.4f},{p:.5f},"
            volume = f'"{50_000 + int(p * 17):,}"'
            own = f"{symbol}," if len(symbols) > 1 else ""
            rows.append(f"{own}{day:%d/%m/%Y},{ohlc}{volume}")
    own = "symbol," if len(symbols) > 1 else ""
    return written(folder / name, f"{own}Date,Open,High,Low,Close,Adj Close,Volume", rows)


@maker
def ohlcv(folder: Path) -> list[Path]:
    return quotes(folder, "ohlcv.csv", ("SPY",))


@maker
def symbols(folder: Path) -> list[Path]:
    return quotes(folder, "symbols.csv", ("AAA", "BBB", "CCC"))


def tracks(n: int, length: int, seed: int) -> list[Array]:
    rng = np.random.default_rng(seed)
    return [np.cumsum(0.4 * rng.normal(size=(length, 2)), axis=0) + 50 for _ in range(n)]


@maker
def trackpy(folder: Path) -> list[Path]:
    rng, rows = np.random.default_rng(7), list[str]()
    for p, path in enumerate(tracks(12, 150, 6)):
        for frame, (x, y) in enumerate(path):
            mass, size = rng.normal(300, 9), rng.normal(2, 0.1)
            rows.append(
                f"{len(rows)},{y:.5f},{x:.5f},{mass:.3f},{size:.4f},0.1,9,400,0.05,{frame},{p}"
            )
    head = ",y,x,mass,size,ecc,signal,raw_mass,ep,frame,particle"
    return written(folder / "trackpy.csv", head, rows)


@maker
def trackmate(folder: Path) -> list[Path]:
    rng = np.random.default_rng(8)
    rows = [
        "Label,Spot ID,Track ID,Quality,X,Y,Z,T,Frame,Radius,Visibility,Mean ch1",
        "Label,Spot ID,Track ID,Quality,X,Y,Z,T,Frame,R,Visibility,Mean ch1",
        ",,,(quality),(micron),(micron),(micron),(sec),,(micron),,(counts)",
    ]
    for p, path in enumerate(tracks(10, 120, 9)):
        for frame, (x, y) in enumerate(path):
            spot = 2000 + 7 * len(rows)
            rows.append(
                f"ID{spot},{spot},{p},{rng.normal(9, 1):.3f},{x:.5f},{y:.5f},0,{0.5 * frame},"
                f"{frame},2.5,1,{rng.normal(90, 5):.2f}"
            )
    head = "LABEL,ID,TRACK_ID,QUALITY,POSITION_X,POSITION_Y,POSITION_Z,POSITION_T,FRAME,RADIUS,"
    return written(folder / "trackmate.csv", head + "VISIBILITY,MEAN_INTENSITY_CH1", rows)


@maker
def active_particle(folder: Path) -> list[Path]:
    """Speed 2, turning by 0.5 a second with rotational diffusion a = 0.4; the angle is wrapped."""
    rng, step, n = np.random.default_rng(10), 0.005, 40_000
    theta = np.cumsum(np.append(0.3, 0.5 * step + np.sqrt(0.4 * step) * rng.normal(size=n - 1)))
    push = 2 * step * np.column_stack([np.cos(theta), np.sin(theta)])
    xy = np.cumsum(push + 0.1 * np.sqrt(step) * rng.normal(size=(n, 2)), axis=0)
    xy, theta, step = np.vstack([np.zeros(2), xy[:-1]])[::10], theta[::10], 0.05
    wrapped = (theta + np.pi) % (2 * np.pi) - np.pi
    rows = [
        f"{k * step:.2f},{x:.6f},{y:.6f},{a:.6f}"
        for k, ((x, y), a) in enumerate(zip(xy, wrapped, strict=True))
    ]
    return written(folder / "active.csv", "time [s],x [um],y [um],theta", rows)


@maker
def pendulum(folder: Path) -> list[Path]:
    """A noisy pendulum that goes over the top: dw = (-4 sin(theta) - 0.5 w + 2) dt + 1.5 dW."""
    rng, fine, every, n = np.random.default_rng(11), 0.002, 10, 6000
    theta, w, rows = 0.1, 0.0, list[str]()
    for k in range(n * every):
        if k % every == 0:
            rows.append(f"{k * fine:.3f};{np.degrees(theta) % 360:.4f};{w:.5f}".replace(".", ","))
        kick = 1.5 * np.sqrt(fine) * rng.normal()
        theta, w = theta + w * fine, w + (-4 * np.sin(theta) - 0.5 * w + 2) * fine + kick
    return written(folder / "pendulum.csv", "t;theta [deg];omega [rad/s]", rows)


@maker
def gene_network(folder: Path) -> list[Path]:
    x = 5 + ou(600, 0.1, 12, dim=6)
    rows = [",".join([f"{0.1 * k:.1f}", *(f"{v:.5f}" for v in row)]) for k, row in enumerate(x)]
    return written(folder / "genes.csv", "time (h),lacI,tetR,cI,gfp,rfp,yfp", rows)


@maker
def many_columns(folder: Path) -> list[Path]:
    x = ou(600, 0.1, 13, dim=20)
    rows = [",".join([f"{0.1 * k:.1f}", *(f"{v:.5f}" for v in row)]) for k, row in enumerate(x)]
    return written(folder / "wide.csv", "t," + ",".join(f"c{k}" for k in range(20)), rows)


@maker
def replicates(folder: Path) -> list[Path]:
    x = ou(500, 0.1, 14, dim=8)
    rows = [",".join([f"{0.1 * k:.1f}", *(f"{v:.5f}" for v in row)]) for k, row in enumerate(x)]
    return written(folder / "runs.csv", "t," + ",".join(f"run{k}" for k in range(8)), rows)


@maker
def exports(folder: Path) -> list[Path]:
    x = ou(2000, 1 / 60, 15, rate=3.0)[:, 0]
    first = dt.datetime(2024, 1, 1)
    rows = [f"{first + dt.timedelta(minutes=k)},{v:.6f}" for k, v in enumerate(x)]
    head = "timestamp,level [cm]"
    return [
        *written(folder / "january.csv", head, rows[:1200]),
        *written(folder / "february.csv", head, rows[1000:]),
    ]


@maker
def workbook(folder: Path) -> list[Path]:
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["Logger 17, exported"])
    sheet.append(["Date", "level [cm]", "remark"])
    first = dt.datetime(2024, 1, 1)
    for k, v in enumerate(ou(1500, 1 / 24, 16)[:, 0]):
        sheet.append([first + dt.timedelta(hours=k), float(v), "ok"])
    content = io.BytesIO()
    book.save(content)
    path = folder / "logger.xlsx"
    path.write_bytes(content.getvalue())
    return [path]


@maker
def unclosed_quote(folder: Path) -> list[Path]:
    x = ou(1500, 0.1, 17)[:, 0]
    rows = [f'{0.1 * k:.1f},{v:.5f},"note {k}"' for k, v in enumerate(x)]
    rows[40] = rows[40][:-1]
    return written(folder / "notes.csv", "t,x,remark", rows)


@maker
def unreadable_clock(folder: Path) -> list[Path]:
    x = ou(1500, 0.1, 18)[:, 0]
    rows = [f"shot no. {k} of the morning,{v:.5f}" for k, v in enumerate(x)]
    return written(folder / "shots.csv", "time,x", rows)


@maker
def poly20(folder: Path) -> list[Path]:
    x = ou(600, 0.1, 19, dim=2)
    rows = [f"{0.1 * k:.1f},{a:.5f},{b:.5f}" for k, (a, b) in enumerate(x)]
    return written(folder / "plane.csv", "t,x,y", rows)
