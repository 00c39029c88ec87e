"""A real cluster of two worker processes: the local answer, also when a worker is killed."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import cloudpickle
import dask
import dask.array
import dask.dataframe
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from on_workers import DeadlyPass, SpyPass, forbidden, overflow, refuse, square
from sklearn.base import clone

import wgsindy
from wgsindy import WGSINDy, cli, recipes, stream, zoo
from wgsindy.data import Dataset, Trajectories
from wgsindy.errors import DataError, EngineError
from wgsindy.files import csv_text
from wgsindy.passes import (
    SERIAL,
    Pass,
    as_engine,
    connected,
    dask_cluster,
    reduce,
    reporting_progress,
)
from wgsindy.passes.dask_cluster import Cluster
from wgsindy.passes.engine import SHARES, Threads
from wgsindy.passes.summary import MomentPass
from wgsindy_evidence.campaign import Case, Store, rounded, run_campaign
from wgsindy_evidence.experiments.paper import table

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="workers are killed")

LEAST = 2500  # samples of a part, so that small data have parts
RECIPES: list[recipes.Recipe] = [
    replace(recipes.PAPER, name="paper", n_centres=16),
    replace(recipes.PAPER, name="crossed", n_centres=9, cross_fit=True, noise_correction=True),
    recipes.SHARP,
    replace(recipes.SHARP, name="sharp-noise", noise_correction=True),
]


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    # Otherwise a worker that is not there 15 s after it died, since it has died again, is given up.
    patient = dask.config.set({"distributed.deploy.lost-worker-timeout": "1 h"})
    with (
        patient,
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as started,
    ):
        yield started


@pytest.fixture(scope="module")
def shared(cluster: LocalCluster) -> Iterator[Client]:
    with Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture
def client(shared: Client, cluster: LocalCluster) -> Client:
    """Wait for the replacement of a worker that the test before has killed."""
    shared.wait_for_workers(2, timeout=60)
    deadline = time.monotonic() + 60
    # A nanny replaces no worker that dies while the nanny still counts it as starting.
    while any(nanny.status.name != "running" for nanny in cluster.workers.values()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return shared


@pytest.fixture
def engine(client: Client) -> Cluster:
    return Cluster(client, least=LEAST)


def simulated() -> Trajectories:
    """Sample paths of unequal length; no part ends where a path does."""
    paths = list(zoo.get("duffing").simulate(seed=3, trajectories=4, steps=7000))
    return Trajectories([path[: 5000 + 390 * k] for k, path in enumerate(paths)], 0.01)


DATA = simulated()
STACK = np.stack([path[:5000] for path in DATA])


def rows() -> pd.DataFrame:
    lengths = DATA.lengths
    return pd.DataFrame(
        {
            "run": np.repeat(list("abcd"), lengths),
            "t": np.concatenate([np.arange(n) * 0.01 for n in lengths]),
            "x": DATA.states[:, 0],
            "y": DATA.states[:, 1],
        }
    )


def found_by(fitted: WGSINDy) -> dict[str, Any]:
    """Return coefficients, error bars and every fact of the diagnostics, by name."""
    generator = fitted.generator_
    return {
        "coefficients": generator.drift_coefficients,
        "tensor": generator.tensor_field.coefficients,
        **(vars(generator.uncertainty) if generator.uncertainty else {}),
        **{f"fact {name}": value for name, value in vars(fitted.diagnostics_).items()},
    }


def assert_close(found: dict[str, Any], expected: dict[str, Any], tolerance: float) -> None:
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        if name == "fact findings":  # sentences, with rounded figures in them
            assert [one.limitation for one in found[name]] == [one.limitation for one in value]
        elif value is None or "str" in np.asarray(value).dtype.name:
            assert found[name] == value, name
        else:
            scale = float(np.max(np.abs(value), initial=0.0))
            np.testing.assert_allclose(
                found[name], value, rtol=tolerance, atol=tolerance * scale, err_msg=name
            )


# ------------------------------------------------------------------- passes travel light


class Parcel:
    """Runs passes here, on what is left of them after a journey."""

    def __init__(self) -> None:
        self.sizes: dict[str, int] = {}

    def reduce(self, step: Pass[Any], data: Dataset, **settings: Any) -> Any:
        sent = cloudpickle.dumps(step)
        name = type(step).__name__
        self.sizes[name] = max(len(sent), self.sizes.get(name, 0))
        total = SERIAL.reduce(cloudpickle.loads(sent), data, **settings)
        return cloudpickle.loads(cloudpickle.dumps(total))


def test_every_pass_can_be_sent_and_takes_no_data_along() -> None:
    data = zoo.get("duffing").simulate(seed=0, trajectories=6)
    engine = Parcel()
    for recipe in RECIPES:
        here = WGSINDy("poly2", recipe).fit(data)
        there = WGSINDy("poly2", recipe, engine=engine).fit(data)
        assert_close(found_by(there), found_by(here), tolerance=0.0)
    chosen = WGSINDy("auto", "sharp", engine=engine).fit(data)
    assert chosen.generator_.info["library"] == "poly3"
    assert len(engine.sizes) >= 7  # all passes of both recipes; some come in pairs
    assert data.states.nbytes > 100_000
    assert max(engine.sizes.values()) < 40_000, engine.sizes


# ------------------------------------------------------------------- the same answer


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_a_fit_on_a_cluster_is_the_local_fit(engine: Cluster, recipe: recipes.Recipe) -> None:
    local = found_by(WGSINDy("poly2", recipe).fit(DATA))
    found = found_by(WGSINDy("poly2", recipe, engine=engine).fit(DATA))
    assert_close(found, local, tolerance=1e-9)


def chunked_anywhere(folder: Path) -> Any:
    return stream(dask.array.from_array(STACK, chunks=(3, 1301, 1)), dt=0.01)


def partitioned(folder: Path) -> Any:
    return stream(dask.dataframe.from_pandas(rows(), npartitions=7, sort=False))


def on_disk(folder: Path) -> Any:
    rows().to_parquet(folder / "runs.parquet", row_group_size=1311)
    return stream(folder / "runs.parquet")


def on_disk_by_dask(folder: Path) -> Any:
    rows().to_parquet(folder / "runs.parquet", row_group_size=1311)
    return stream(dask.dataframe.read_parquet(folder / "runs.parquet", split_row_groups=True))


SOURCES = [chunked_anywhere, partitioned, on_disk, on_disk_by_dask]


@pytest.mark.parametrize("source", SOURCES)
def test_partitions_may_cut_trajectories(
    engine: Cluster, source: Callable[[Path], Any], tmp_path: Path
) -> None:
    data = source(tmp_path)
    expected = Trajectories(STACK, 0.01) if source is chunked_anywhere else DATA
    assert data.lengths.tolist() == expected.lengths.tolist()
    here = WGSINDy("poly3", "sharp").fit(expected).generator_
    there = WGSINDy("poly3", "sharp", engine=engine).fit(data).generator_
    np.testing.assert_allclose(
        there.drift_coefficients, here.drift_coefficients, rtol=1e-9, atol=1e-9
    )


def test_what_was_persisted_is_read_here_and_not_by_workers(engine: Cluster) -> None:
    frame = dask.dataframe.from_pandas(rows(), npartitions=7, sort=False)
    data = stream(engine.client.persist(frame))
    here = reduce(MomentPass(data), data)
    np.testing.assert_array_equal(here.second, reduce(MomentPass(DATA), DATA).second)
    with pytest.raises(DataError, match=r"as it was before persist\(\)"):
        reduce(MomentPass(data), data, engine=engine)


def test_the_result_does_not_depend_on_who_finishes_when(engine: Cluster) -> None:
    first, second = (reduce(MomentPass(DATA), DATA, engine=engine) for _ in range(2))
    np.testing.assert_equal(vars(second), vars(first))
    # Negative control: rounding shows whether the parts are others.
    other = reduce(MomentPass(DATA), DATA, engine=Cluster(engine.client, least=6000))
    np.testing.assert_allclose(other.second, first.second, rtol=1e-12)
    assert (other.second != first.second).any()


def test_data_in_memory_are_sent_once_and_forgotten_with_them(engine: Cluster) -> None:
    data = simulated()
    for _ in range(2):
        reduce(MomentPass(data), data, engine=engine)
        (sent,) = engine._sent.values()
    keys = {task.key for task in sent.partitions}
    assert len(keys) == SHARES * 2
    longer = reduce(MomentPass(data), data, engine=engine, chunk_size=10**6)
    assert longer.count == data.n_increments  # one chunk begins in the first part and has all
    del data, sent
    assert len(engine._sent) == 0


# ------------------------------------------------------------------- workers die


def test_a_worker_that_dies_in_a_pass_is_survived(engine: Cluster, tmp_path: Path) -> None:
    expected = reduce(MomentPass(DATA), DATA, engine=engine, chunk_size=64)
    step = DeadlyPass(MomentPass(DATA), 11_000, tmp_path, lives=1)
    found = reduce(step, DATA, engine=engine, chunk_size=64)
    assert len(list(tmp_path.iterdir())) == 1
    np.testing.assert_equal(vars(found), vars(expected))


def test_a_merge_that_has_to_run_again_finds_what_it_found() -> None:
    step = MomentPass(DATA)
    job = dask_cluster._Job(step, 512, False, np.geterr(), wgsindy.__version__)
    totals = [dask_cluster._summed(job, part) for part in DATA.partitions(3)]
    first, second = (dask_cluster._merged(job, *totals).total for _ in range(2))
    np.testing.assert_equal(vars(second), vars(first))
    assert first.count == DATA.n_increments


def test_a_cluster_that_forgives_nothing_fails(
    engine: Cluster, cluster: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 0)
    step = DeadlyPass(MomentPass(DATA), 11_000, tmp_path, lives=1)
    with pytest.raises(EngineError, match="took down 1 workers"):
        reduce(step, DATA, engine=engine, chunk_size=64)


@pytest.mark.parametrize("recipe", [RECIPES[0], recipes.SHARP], ids=lambda recipe: recipe.name)
def test_a_worker_killed_from_outside_changes_nothing(
    engine: Cluster, recipe: recipes.Recipe
) -> None:
    expected = WGSINDy("poly2", recipe, engine=Cluster(engine.client, least=LEAST)).fit(DATA)
    victims = sorted(engine.client.run(os.getpid).values())[:1]
    calls = 0

    def kill(done: int, total: int) -> None:
        nonlocal calls
        calls += 1
        if calls > 10 and done < total and victims:
            os.kill(victims.pop(), signal.SIGKILL)

    with reporting_progress(kill):
        found = WGSINDy("poly2", recipe, engine=engine).fit(DATA)
    assert not victims
    assert json.dumps(found.generator_.to_dict()) == json.dumps(expected.generator_.to_dict())


# ------------------------------------------------------------------- as in one process


def test_an_error_in_a_pass_is_that_of_the_earliest_chunk(engine: Cluster) -> None:
    with pytest.raises(DataError) as here:
        reduce(SpyPass(refuse), DATA, chunk_size=64)
    with pytest.raises(DataError) as there:
        reduce(SpyPass(refuse), DATA, engine=engine, chunk_size=64)
    assert str(there.value) == str(here.value) == "increment 640 is not welcome."


def test_floating_point_errors_are_treated_as_here(engine: Cluster) -> None:
    step = SpyPass(overflow)
    with np.errstate(over="ignore"):
        assert reduce(step, DATA, engine=engine) == DATA.n_increments
    with np.errstate(over="raise"), pytest.raises(FloatingPointError, match="overflow"):
        reduce(step, DATA, engine=engine)
    with np.errstate(over="warn"), pytest.warns(RuntimeWarning, match="overflow") as caught:
        assert reduce(step, DATA, engine=engine) == DATA.n_increments
    assert len(caught) == 1


def test_progress_goes_up_to_the_number_of_increments(engine: Cluster) -> None:
    seen: list[tuple[int, int]] = []
    with reporting_progress(lambda done, total: seen.append((done, total))):
        reduce(MomentPass(DATA), DATA, engine=engine)
    done = [pair[0] for pair in seen]
    assert done == sorted(set(done))
    assert len(done) == SHARES * 2
    assert seen[-1] == (DATA.n_increments, DATA.n_increments)


# ------------------------------------------------------------------- which engine


def test_a_client_is_an_engine_and_a_clone_shares_it(client: Client) -> None:
    here, there = WGSINDy("poly1", "sharp"), WGSINDy("poly1", "sharp", engine=client)
    copy = clone(there)
    assert copy.engine is client
    # Few samples are one part, so not even the rounding differs.
    assert copy.fit(DATA).generator_.to_dict() == here.fit(DATA).generator_.to_dict()
    assert copy.diagnostics_.summary == here.diagnostics_.summary


def test_engines_are_told_apart(client: Client, cluster: LocalCluster) -> None:
    assert as_engine(None, 3) == Threads(3)
    assert isinstance(as_engine(client, 1), Cluster)
    assert as_engine(SERIAL, 2) is SERIAL
    with pytest.raises(EngineError, match=r"LocalCluster .*engine=cluster.get_client\(\)"):
        as_engine(cluster, 1)
    closed = Client(cluster, set_as_default=False)
    closed.close()
    with pytest.raises(EngineError, match="the Dask client is closed"):
        as_engine(closed, 1)


def test_other_versions_are_refused(engine: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "__version__", "0.0.0")
    with pytest.raises(EngineError, match=r"a worker has wgsindy .*, this program 0.0.0"):
        reduce(MomentPass(DATA), DATA, engine=engine)


def test_a_cluster_without_workers_is_not_waited_for_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dask_cluster, "WAIT_FOR_WORKERS", 0.2)
    with (
        LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as empty,
        Client(empty, set_as_default=False) as client,
    ):
        with pytest.raises(EngineError, match=r"has had no worker .* dask worker"):
            WGSINDy("poly1", "paper", engine=client).fit(DATA)
        # The same if all of them go in the middle of a pass.
        with pytest.raises(EngineError, match="has had no worker"):
            next(dask_cluster.completed(client, [client.submit(abs, -1)]))


def test_no_scheduler_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "WAIT_FOR_SCHEDULER", 0.3)
    for address in ("tcp://127.0.0.1:1", "nowhere", "carrier://pigeon:1"):
        with pytest.raises(EngineError, match=f"no Dask scheduler answers at {address}"):
            connected(address).__enter__()
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(EngineError, match=r'pip install "dask\[array,dataframe\]" distributed'):
        connected("tcp://127.0.0.1:1").__enter__()
    with connected(None) as nobody:
        assert nobody is None


# ------------------------------------------------------------------- campaigns


def test_a_campaign_survives_a_worker_and_goes_on_where_it_was(
    client: Client, tmp_path: Path
) -> None:
    cases = [Case("test", str(tmp_path), "paper", seed) for seed in range(6)]
    (tmp_path / "store").mkdir()
    store = Store(tmp_path / "store" / "r.jsonl")
    seen: list[int] = []
    lines = run_campaign(
        cases, square, store, client=client, progress=lambda done, total: seen.append(done)
    )
    assert (tmp_path / "marker").exists()
    local = run_campaign(cases, square, Store(tmp_path / "store" / "local.jsonl"), jobs=1)
    assert lines == local
    assert lines[3].error == "DataError: three is not welcome."
    assert seen == list(range(7))
    done = [case for case in cases if case.seed != 3]
    assert run_campaign(done, forbidden, store, client=client) == [
        line for line in lines if line.case.seed != 3
    ]


def test_a_case_that_kills_every_worker_is_stored_as_failed(
    client: Client, cluster: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 0)
    cases = [Case("test", str(tmp_path), "paper", seed) for seed in (2, 4)]
    lines = run_campaign(cases, square, Store(tmp_path / "r.jsonl"), client=client)
    assert lines[0].error == "CampaignError: took down 1 workers, one after the other."
    assert lines[1].result == {"square": 16}


# ------------------------------------------------------------------- the command line


def command(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["wgsindy", *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return int(ended.value.code or 0)


def test_the_command_line_fits_on_a_scheduler(
    client: Client,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text(csv_text(DATA))

    def page(path: Path, *_: object, **__: object) -> list[str]:
        path.write_text("a page")
        return []

    monkeypatch.setattr("wgsindy.report.write_report", page)
    monkeypatch.setattr(dask_cluster, "LEAST_SAMPLES", LEAST)
    found = []
    for where in ([], ["--scheduler", client.scheduler.address]):
        asked = ["fit", "data.csv", "--library", "poly3", "--out", f"out{len(where)}", "--json"]
        assert command(monkeypatch, *asked, *where) == 0
        found.append(json.loads(capsys.readouterr().out))
    here, there = (json.dumps(answer["equations"]) for answer in found)
    assert here == there


def test_the_command_line_says_that_nobody_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(dask_cluster, "WAIT_FOR_SCHEDULER", 0.3)
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text(csv_text(DATA))
    assert command(monkeypatch, "fit", "data.csv", "--scheduler", "tcp://127.0.0.1:1") != 0
    assert "no Dask scheduler answers at tcp://127.0.0.1:1" in " ".join(
        capsys.readouterr().err.split()
    )
    assert not list(tmp_path.glob("*-wgsindy"))


def test_the_command_line_runs_a_campaign_on_a_scheduler(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ["bench", "table", "--system", "rotational_ou", "--seeds", "0:1", "--trajectories", "2"]
    where = ["--scheduler", client.scheduler.address, "--out", str(tmp_path)]
    assert command(monkeypatch, *asked, *where) == 0
    (line,) = Store(tmp_path / "table.jsonl").lines()
    expected = rounded(table.run_case(line.case))
    assert line.error is None
    assert line.result is not None
    timings = {"seconds_simulate", "seconds_fit"}
    assert line.result.keys() == expected.keys() > timings
    for key in expected.keys() - timings:
        np.testing.assert_equal(line.result[key], expected[key], err_msg=key)


@pytest.mark.parametrize("greeting", [b"", b"SSH-2.0-OpenSSH_9.2\r\n", b"HTTP/1.1 400 Bad\r\n\r\n"])
def test_a_port_where_something_else_listens_is_one_sentence(
    greeting: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_cluster, "WAIT_FOR_SCHEDULER", 0.5)
    monkeypatch.setattr(dask_cluster, "LONGEST_GREETING", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            with suppress(OSError):  # closed below
                while True:
                    callers.append(server.accept()[0])
                    callers[-1].sendall(greeting)

        callers: list[socket.socket] = []
        threading.Thread(target=answer, daemon=True).start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(EngineError, match=r"answers at tcp.*(says a word|is no Dask)"):
            connected(address).__enter__()
        server.shutdown(socket.SHUT_RDWR)
        for caller in callers:
            caller.close()


def test_a_scheduler_that_is_killed_in_the_middle_of_a_fit_is_one_sentence(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    where = tmp_path / "scheduler.json"
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = subprocess.Popen(
        [*command, "--port", "0", "--no-dashboard", "--scheduler-file", str(where)], **quiet
    )
    workers = []
    try:
        deadline = time.monotonic() + 60
        while not where.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--no-dashboard"]
        workers.append(
            subprocess.Popen([*worker, "--scheduler-file", str(where), "--no-nanny"], **quiet)
        )
        address = json.loads(where.read_text())["address"]
        with connected(address) as client:
            client.wait_for_workers(1, timeout=60)

            def kill(done: int, total: int) -> None:
                if scheduler.poll() is None:
                    scheduler.kill()
                    scheduler.wait()

            with reporting_progress(kill), pytest.raises(EngineError, match="is it still there"):
                WGSINDy("poly2", engine=Cluster(client, least=LEAST)).fit(DATA)
    finally:
        for process in (scheduler, *workers):
            process.kill()
            process.wait()
