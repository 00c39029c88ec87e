"""The experiments of the evidence: a name, the cases, the work, and the file of their lines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from wgsindy_evidence.campaign import Case, Work
from wgsindy_evidence.experiments import fits
from wgsindy_evidence.experiments.arrive import random_cases, tasks
from wgsindy_evidence.experiments.hidden import missing, orders, positions
from wgsindy_evidence.experiments.hidden import yardstick as position_speed
from wgsindy_evidence.experiments.judged import linear_forms, zoo_verdicts
from wgsindy_evidence.experiments.ours import (
    arena,
    calibration,
    datasheets,
    gallery,
    generator_readouts,
    measured,
    observation_noise,
    recordings,
    steps,
    uneven,
    verdicts,
)
from wgsindy_evidence.experiments.paper import (
    ablation,
    circulation,
    coefficients,
    convergence,
    departures,
    errata,
    ladder,
    leverage,
    nulls,
    table,
    weak_rows,
)
from wgsindy_evidence.experiments.paper import baselines as proxies
from wgsindy_evidence.scope import Scope


@dataclass(frozen=True)
class Experiment:
    """Cases that one function works off into one file; several experiments may share both."""

    name: str
    cases: Callable[[Scope], list[Case]]
    work: Work
    store: str


EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        Experiment("table", table.evidence_cases, table.run_case, "table"),
        Experiment("ledger", table.ledger_cases, table.run_ledger_case, "ledger"),
        Experiment("further-seeds", table.further_cases, table.run_case, "further-seeds"),
        Experiment(
            "calibration", calibration.calibration_cases, calibration.run_case, "calibration"
        ),
        Experiment("ladder", ladder.ladder_cases, fits.run_case, "fits"),
        Experiment("ablation", ablation.ablation_cases, fits.run_case, "fits"),
        Experiment("departures", departures.departure_cases, fits.run_case, "fits"),
        Experiment("weak-rows", weak_rows.row_cases, weak_rows.run_case, "weak-rows"),
        Experiment("baselines", proxies.proxy_cases, fits.run_case, "fits"),
        Experiment("naive", proxies.naive_cases, fits.run_case, "fits"),
        Experiment("nulls", nulls.null_cases, fits.run_case, "fits"),
        Experiment("convergence", convergence.convergence_cases, fits.run_case, "fits"),
        Experiment(
            "coefficients", coefficients.coefficient_cases, coefficients.run_case, "coefficients"
        ),
        Experiment("leverage", leverage.leverage_cases, leverage.run_case, "readouts"),
        Experiment("circulation", circulation.circulation_cases, circulation.run_case, "readouts"),
        Experiment("noise", observation_noise.noise_cases, observation_noise.run_case, "readouts"),
        Experiment("datasheets", datasheets.datasheet_cases, datasheets.run_case, "datasheets"),
        Experiment("steps", steps.step_cases, steps.run_case, "steps"),
        Experiment("measured", measured.measured_cases, measured.run_case, "measured"),
        Experiment("recordings", recordings.recording_cases, recordings.run_case, "recordings"),
        Experiment("arena", arena.arena_cases, arena.run_case, "arena"),
        Experiment("arrive", random_cases.random_cases, random_cases.run_case, "arrive"),
        Experiment(
            tasks.LOTKA_VOLTERRA, tasks.lotka_volterra_cases, tasks.run_lotka_volterra, "arrive"
        ),
        Experiment(tasks.NOISY, tasks.noisy_cases, tasks.run_noisy, "arrive"),
        Experiment("uneven", uneven.uneven_cases, uneven.run_case, "uneven"),
        Experiment("positions", positions.position_cases, positions.run_case, "positions"),
        Experiment(
            "positions-speed",
            position_speed.speed_cases,
            position_speed.run_case,
            "positions-speed",
        ),
        Experiment("orders", orders.order_cases, orders.run_case, "orders"),
        Experiment("missing", missing.missing_cases, missing.run_case, "missing"),
        Experiment("verdicts", verdicts.verdict_cases, verdicts.run_case, "verdicts"),
        Experiment(
            "zoo-verdicts", zoo_verdicts.zoo_verdict_cases, zoo_verdicts.run_case, "zoo-verdicts"
        ),
        Experiment(
            "linear-forms", linear_forms.linear_cases, linear_forms.run_case, "linear-forms"
        ),
        Experiment("gallery", gallery.gallery_cases, gallery.run_case, "gallery"),
        Experiment(
            "generator-readouts",
            generator_readouts.readout_cases,
            generator_readouts.run_case,
            "generator-readouts",
        ),
        Experiment(
            "readout-intervals",
            generator_readouts.interval_cases,
            generator_readouts.run_intervals,
            "readout-intervals",
        ),
        Experiment("errata", errata.errata_cases, errata.run_case, "errata"),
    )
}
