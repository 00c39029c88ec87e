"""Lines of every experiment with invented figures, and what a page must make of them."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Sequence
from functools import cache
from math import isnan
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from wgsindy import zoo
from wgsindy.model import field_names
from wgsindy.terms import library
from wgsindy_evidence import published
from wgsindy_evidence.campaign import Case, Line
from wgsindy_evidence.pages import PAGES, Content
from wgsindy_evidence.registry import EXPERIMENTS
from wgsindy_evidence.scope import Scope

Result = dict[str, Any]


NOTHING = float("nan")


QUICK = Scope(quick=True)


LOOK = tuple(name for name in PAGES if name in EXPERIMENTS)


FIELDS = ("b1", "b2", "a11", "a12", "a22")
FLOORS = ("floor", "shifted_floor")  # of an oracle, and of one that must find the origin as well


def fit_result(case: Case, rng: np.random.Generator) -> Result:
    keys = ("drift", "whole_drift", "tensor", "cosine", "psd", "score", "condition", "seconds")
    return dict(zip(keys, rng.uniform(0.05, 0.9, len(keys)).tolist(), strict=True)) | {
        "fields": dict(zip(FIELDS, rng.uniform(size=5).tolist(), strict=True)),
        "time": 16.0,
    }


def leverage_result(case: Case, rng: np.random.Generator) -> Result:
    keys = ("rho_spread", "tensor", "kappa", "theta", "xi", "rho_parametric")
    rho = case.settings["rho"] + 0.3 * rng.standard_normal()
    return dict(zip(keys, rng.uniform(size=6).tolist(), strict=True)) | {"rho": float(rho)}


def circulation_result(case: Case, rng: np.random.Generator) -> Result:
    keys = ("antisymmetric", "current", "current_error", "paper_direction", "curl", "true_curl")
    return dict(zip(keys, rng.uniform(size=6).tolist(), strict=True))


def coefficient_result(case: Case, rng: np.random.Generator) -> Result:
    """Every true term in half of the seeds, every other one in a tenth."""
    system = zoo.get(case.system)
    terms = library(system.library).bind(system.names).terms
    true = system.true_coefficients()
    assert true is not None
    drift, entries = field_names(2)
    selected: dict[str, dict[str, float]] = {}
    errors: dict[str, dict[str, float]] = {}
    for target, row in zip([*drift, *entries], true, strict=True):
        errors[target] = {}
        for term, value in zip(terms, row, strict=True):
            if rng.uniform() < (0.8 if value else 0.1):
                estimate = float(value * rng.uniform(0.8, 1.2) or rng.normal())
                selected.setdefault(target, {})[term] = estimate
            if value:
                errors[target][term] = float(rng.uniform(0.01, 0.5))
    return {"selected": selected} | ({"errors": errors} if case.recipe == "sharp-euler" else {})


def table_result(case: Case, rng: np.random.Generator) -> Result:
    keys = ("drift", "tensor", "cosine", "psd", "psd_far", "action", "score", "floor_drift")
    more = ("floor_tensor", "held_out_drift", "held_out_tensor", "seconds_fit")
    result: Result = dict(zip((*keys, *more), rng.uniform(0.1, 0.9, 12).tolist(), strict=True))
    support = {"support": rng.uniform(size=(5, 6)), "true_support": rng.uniform(size=(5, 6))}
    terms = {"terms_present": 6, "terms_found": 5, "terms_absent": 24, "terms_false": 1}
    counted = terms if case.recipe == "sharp-euler" else {}
    return result | {key: value.tolist() for key, value in support.items()} | counted


def ledger_result(case: Case, rng: np.random.Generator) -> Result:
    """Projected supports of the true terms, and in some seeds of one that is not there."""
    system = zoo.get(case.system)
    terms = len(library(system.library).bind(system.names))
    true = np.where(rng.uniform(size=(5, terms)) < 0.5, 1.0, 0.0)
    found = true * rng.uniform(0.1, 1.0, true.shape)
    return {"support": found.tolist(), "true_support": true.tolist()}


def row_result(case: Case, rng: np.random.Generator) -> Result:
    keys = ("condition", "raw_condition", "total_time", "time_least", "time_median")
    more = ("largest", "largest_median")
    return dict(zip((*keys, *more), rng.uniform(0.1, 9e4, 7).tolist(), strict=True))


def calibration_result(case: Case, rng: np.random.Generator) -> Result:
    return {
        **{key: rng.normal(size=5).tolist() for key in ("given", "clustered", "selected")},
        "missed": int(rng.integers(3)),
        "inclusion": rng.uniform(size=30).tolist(),
        "present": rng.integers(2, size=30).tolist(),
    }


def step_result(case: Case, rng: np.random.Generator) -> Result:
    return {"drift": rng.normal(size=50).tolist(), "tensor": rng.normal(size=100).tolist()}


def verdict_result(case: Case, rng: np.random.Generator) -> Result:
    axis = str(rng.choice(["", "hidden coordinate", str(zoo.get(case.system).limitation)]))
    return {"verdict": "identified", "axis": axis, "axes": [axis] if axis else []}


def found_result(case: Case, rng: np.random.Generator) -> Result:
    """What experiments on unseen systems keep of terms, errors and verdicts."""
    floors = [f"{key}_{floor}" for key in ("drift", "tensor") for floor in FLOORS]
    errors = ("drift", "tensor", *floors, "seconds")
    counts = ("drift_false", "drift_missed", "tensor_false", "tensor_missed")
    return {
        **dict(zip(errors, rng.uniform(0.01, 0.9, len(errors)).tolist(), strict=True)),
        **({} if "offset" in case.settings else dict.fromkeys(counts, int(rng.integers(2)))),
        **{f"{field}covered": float(rng.uniform()) for field in ("drift_", "tensor_", "")},
        "deviations": rng.normal(size=4).tolist(),
        "noise": rng.uniform(size=2).tolist(),
        "verdict": str(rng.choice(["identified", "partly identified"])),
    }


def arena_result(case: Case, rng: np.random.Generator) -> Result:
    keys = ("drift", "diffusion", "drift_floor", "seconds")
    return dict(zip(keys, rng.uniform(0.01, 0.9, 4).tolist(), strict=True))


def gallery_result(case: Case, rng: np.random.Generator) -> Result:
    verdict = str(rng.choice(["identified", "partly identified", "not identified", "refused"]))
    first = "" if verdict == "identified" else "observation noise"
    figures = ("drift", "tensor", "drift_covered", "tensor_covered", "covered", "seconds")
    return {
        **dict(zip(figures, rng.uniform(0.1, 0.9, len(figures)).tolist(), strict=True)),
        "verdict": verdict,
        "first": first,
        "limitations": [first] if first else [],
        "handled": [],
    }


def zoo_verdict_result(case: Case, rng: np.random.Generator) -> Result:
    return gallery_result(case, rng) | {"grid_covered": float(rng.uniform())}


def linear_result(case: Case, rng: np.random.Generator) -> Result:
    shown = ("written", "equal", "absent")
    linear = {name: str(rng.choice(shown)) for name in ("b1", "a11")}
    return gallery_result(case, rng) | {"linear": linear}


def told_result(case: Case, rng: np.random.Generator) -> Result:
    keys = ("oracle", "distance", "gap_ratio", "current", "velocity")
    return dict(zip(keys, rng.uniform(0.1, 0.9, len(keys)).tolist(), strict=True))


def interval_result(case: Case, rng: np.random.Generator) -> Result:
    names = ("gap", "entropy production", "passage time")
    ends = ("truth", "value", "low", "high")
    return {
        name: dict(zip(ends, rng.uniform(0.1, 0.9, len(ends)).tolist(), strict=True))
        for name in names
    }


def position_result(case: Case, rng: np.random.Generator) -> Result:
    keys = ("force", "tensor", "seconds")
    return {
        **dict(zip(keys, rng.uniform(0.1, 0.9, len(keys)).tolist(), strict=True)),
        "false": int(rng.integers(2)),
        "missed": 0,
        "friction": bool(rng.integers(2)),
        "noise": bool(rng.integers(2)),
        "verdict": "identified",
    }


def position_speed_result(case: Case, rng: np.random.Generator) -> Result:
    seconds, yardstick = rng.uniform(0.1, 0.9, 2).tolist()
    return {"seconds": seconds, "seconds_yardstick": yardstick, "samples": 25_616}


def order_result(case: Case, rng: np.random.Generator) -> Result:
    right = bool(rng.integers(2))
    return {
        "second": False,
        "right": right,
        "wrong": not right,
        "log_evidence": -9.0,
        "seconds": 1.0,
    }


def missing_result(case: Case, rng: np.random.Generator) -> Result:
    keys = ("drift", "tensor", "seconds")
    return dict(zip(keys, rng.uniform(0.1, 0.9, len(keys)).tolist(), strict=True))


def arrived_result(case: Case, rng: np.random.Generator) -> Result:
    """A quarter of the fits end in an error, as of a task with no more than an error can."""
    keys = ("drift", "tensor", "drift_covered", "seconds")
    seen = {"fastest": 0.5, "dt": 0.1, "noise": float(rng.integers(2)) / 10, "rounding": 0.0}
    found = dict(zip(keys, rng.uniform(0.1, 0.9, len(keys)).tolist(), strict=True))
    verdict = {"verdict": str(rng.choice(["identified", "partly identified"]))}
    came = found | verdict if rng.random() < 0.75 else {"error": "FitError: invented."}
    return seen | {"drift_floor": 0.1, "tensor_floor": 0.1} | came


INVENTED: dict[str, Callable[[Case, np.random.Generator], Result]] = {
    "fit": fit_result,
    "leverage": leverage_result,
    "circulation": circulation_result,
    "noise": fit_result,
    "errata": fit_result,
    "coefficients": coefficient_result,
    "table": table_result,
    "ledger": ledger_result,
    "weak-rows": row_result,
    "calibration": calibration_result,
    "steps": step_result,
    "arrive": arrived_result,
    "arrive-lotka-volterra": arrived_result,
    "arrive-noisy": arrived_result,
    "uneven": fit_result,
    "measured": found_result,
    "recordings": found_result,
    "arena": arena_result,
    "gallery": gallery_result,
    "zoo-verdict": zoo_verdict_result,
    "linear-form": linear_result,
    "generator-readouts": told_result,
    "readout-intervals": interval_result,
    "verdict": verdict_result,
    "positions": position_result,
    "positions-speed": position_speed_result,
    "orders": order_result,
    "missing": missing_result,
}


def invented(case: Case) -> Line:
    """A line with figures that depend on the case and on nothing else."""
    key = zlib.crc32(json.dumps(case.to_json()).encode())
    return Line(case, "test", INVENTED[case.experiment](case, np.random.default_rng(key)), None)


@cache
def lines_of(name: str, scope: Scope = QUICK) -> tuple[Line, ...]:
    return tuple(invented(case) for case in dict.fromkeys(EXPERIMENTS[name].cases(scope)))


@cache
def content_of(name: str) -> Content:
    return PAGES[name](lines_of(name))


def failed(line: Line) -> Line:
    return line._replace(result=None, error="DataError: invented.")


def changed(line: Line, **figures: Any) -> Line:
    assert line.result is not None
    return line._replace(result=line.result | figures)


def middle(lines: Sequence[Line], key: str, **wanted: Any) -> float:
    """Median of a figure over the lines whose case has the wanted attributes or options."""
    values = []
    for line in lines:
        given = line.case.settings | vars(line.case)
        if line.result is not None and all(given[name] == value for name, value in wanted.items()):
            values.append(line.result[key])
    values = sorted(value for value in values if not isnan(value))
    if not values:
        return NOTHING
    n = len(values)
    return float((values[(n - 1) // 2] + values[n // 2]) / 2)


def shown(value: float, digits: int = 3) -> str:
    return "-" if isnan(value) else f"{value:.{digits}f}"


def csv_rows(name: str, **wanted: str) -> list[dict[str, str]]:
    rows = published.rows(name)
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


def panels(figure: Figure) -> list[Axes]:
    return [axes for axes in figure.axes if axes.get_subplotspec() is not None]
