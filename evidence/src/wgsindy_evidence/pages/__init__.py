"""The pages of the evidence: lines in, tables and figures out; one module an experiment."""

from __future__ import annotations

from wgsindy_evidence.pages import hidden, peers_measured, peers_positions, speed, trust
from wgsindy_evidence.pages import peers as rivals
from wgsindy_evidence.pages.judged import identified, linear_forms, zoo_verdicts
from wgsindy_evidence.pages.ours import (
    arena,
    arrive,
    calibration,
    gallery,
    generator_readouts,
    measured,
    readout_intervals,
    recordings,
    steps,
    uneven,
    verdicts,
)
from wgsindy_evidence.pages.ours import observation_noise as noise
from wgsindy_evidence.pages.page import Build, Content
from wgsindy_evidence.pages.paper import (
    ablation,
    baselines,
    circulation,
    coefficients,
    convergence,
    departures,
    errata,
    ladder,
    leverage,
    naive,
    nulls,
    table,
)

PAGES: dict[str, Build] = {
    "table": table.build,
    "ledger": table.build_ledger,
    "further-seeds": table.build_further,
    "ladder": ladder.build,
    "ablation": ablation.build,
    "baselines": baselines.build,
    "naive": naive.build,
    "weak-rows": naive.build_rows,
    "departures": departures.build,
    "coefficients": coefficients.build,
    "convergence": convergence.build,
    "nulls": nulls.build,
    "leverage": leverage.build,
    "circulation": circulation.build,
    "noise": noise.build,
    "errata": errata.build,
    "calibration": calibration.build,
    "steps": steps.build,
    "measured": measured.build,
    "recordings": recordings.build,
    "arena": arena.build,
    "arrive": arrive.build,
    "arrive-lotka-volterra": arrive.build_lotka_volterra,
    "arrive-noisy": arrive.build_noisy,
    "uneven": uneven.build,
    "positions": hidden.build_positions,
    "positions-speed": hidden.build_speed,
    "orders": hidden.build_orders,
    "missing": hidden.build_missing,
    "verdicts": verdicts.build,
    "zoo-verdicts": zoo_verdicts.build,
    "linear-forms": linear_forms.build,
    "gallery": gallery.build,
    "identified": identified.build,
    "generator-readouts": generator_readouts.build,
    "readout-intervals": readout_intervals.build,
    "peers": rivals.build_peers,
    "peers-measured": peers_measured.build,
    "peers-positions": peers_positions.build,
    "match": rivals.build_match,
    "speed": speed.build,
    "trust": trust.build,
}

# Pages that are about the lines of several experiments.
JOINT: dict[str, tuple[str, ...]] = {"identified": ("zoo-verdicts", "gallery", "measured")}

__all__ = ["JOINT", "PAGES", "Build", "Content"]
