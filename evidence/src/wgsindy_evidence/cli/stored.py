"""Commands that work on stored lines: documents made from them, their stamps, their size."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wgsindy_evidence.cli.console import say
from wgsindy_evidence.cli.options import PythonOption
from wgsindy_evidence.errors import CampaignError

ResultsOption = Annotated[Path, typer.Option(help="Folder of the stored lines.")]
RESULTS = Path("benchmarks/results")


def bench_report(
    results: ResultsOption = RESULTS,
    root: Annotated[Path, typer.Option(help="Folder of README.md and docs/.")] = Path("."),
    check: Annotated[bool, typer.Option("--check", help="Fail if anything would change.")] = False,
) -> None:
    """Rebuild tables, figures and datasheets of the documents from stored lines.

    Example: `wgsindy bench report --check`
    """
    from wgsindy_evidence.documents import built, comparable, differing, write_changed

    docs = root / "docs"
    texts = [root / "README.md", *sorted(docs.glob("*.md")), *sorted(docs.glob("evidence/*.md"))]
    files = built(results, docs, texts)
    changed = differing(comparable(files, docs)) if check else write_changed(files)
    for path in changed:
        say(f"{'differs' if check else 'wrote'}: {path}")
    if check and changed:
        raise CampaignError(
            f"{len(changed)} files differ from what the lines in {results} say; run "
            "`wgsindy bench report` and look at the changes."
        )
    say(f"{len(files)} documents, figures and datasheets; {len(changed)} changed.")


def bench_restamp(
    experiments: Annotated[
        list[str] | None, typer.Option("--experiment", help="Only this one; repeat for more.")
    ] = None,
    python: PythonOption = None,
    results: ResultsOption = RESULTS,
) -> None:
    """Stamp stored lines with this code, where it reproduces them digit by digit.

    Runs two quick cases of each experiment again, minutes for all. Where a figure differs, the
    lines keep their stamp, and a campaign makes them anew. `wgsindy bench report` afterwards.

    Example: `wgsindy bench restamp --experiment table`
    """
    from wgsindy_evidence.peers.comparison import interpreters
    from wgsindy_evidence.restamp import chosen, repeatable, restamp

    failed = []
    for name in chosen(experiments):
        experiment = repeatable(name, results, interpreters(python or []))
        if isinstance(experiment, str):
            say(experiment)
            continue
        found = restamp(experiment, results)
        say(found.sentence)
        failed += [name] if found.differences else []
    if failed:
        raise CampaignError(
            f"this code does not reproduce {', '.join(failed)}; `wgsindy bench NAME --out "
            f"{results}` makes the lines anew."
        )


def bench_compact(results: ResultsOption = RESULTS) -> None:
    """Keep the last line of each case only, in a fixed order.

    Not while a campaign writes.

    Example: `wgsindy bench compact --results results`
    """
    from wgsindy_evidence.campaign import Store

    for path in sorted(results.glob("*.jsonl")):
        before = path.stat().st_size
        Store(path).compact()
        say(f"{path}: {before / 1e6:.2f} MB -> {path.stat().st_size / 1e6:.2f} MB")


def add_stored(bench: typer.Typer) -> None:
    """Add these commands to those of the evidence."""
    bench.command("report")(bench_report)
    bench.command("restamp")(bench_restamp)
    bench.command("compact")(bench_compact)
