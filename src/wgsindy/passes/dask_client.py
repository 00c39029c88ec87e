"""The client of a Dask cluster: reach it, wait for it, say in a sentence what failed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from wgsindy.errors import EngineError

WAIT_FOR_WORKERS = 30.0  # seconds without a worker after which a fit gives up
WAIT_FOR_SCHEDULER = 5.0  # seconds in which a scheduler must answer
LONGEST_GREETING = WAIT_FOR_SCHEDULER + 1  # what listens and says nothing does not end the first
INSTALL = 'pip install "dask[array,dataframe]" distributed'


@contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """Give a client of the scheduler at ``address``, or None without one.

    Raises
    ------
    EngineError
        If Dask is not installed, or nothing answers within a few seconds.
    """
    if address is None:
        yield None
        return
    try:
        from distributed import Client
        from distributed.comm import get_address_host_port
    except ImportError:
        raise EngineError(
            f"the scheduler {address} is reached with Dask, which is not installed: {INSTALL}."
        ) from None
    try:
        get_address_host_port(address)  # a client made for a bad address does not end well
        _refuse_stranger(address)
        client = Client(address, timeout=WAIT_FOR_SCHEDULER, set_as_default=False)
    except (OSError, ValueError) as error:
        raise EngineError(
            f"no Dask scheduler answers at {address} ({error}); the address is the one that `dask "
            "scheduler` prints, like tcp://127.0.0.1:8786."
        ) from None
    with client:
        yield client


def _refuse_stranger(address: str) -> None:
    """Shake hands once: a client waits for ever at a port where something else listens.

    Raises
    ------
    OSError
        If what is there is no Dask.
    """
    from distributed.comm import connect

    async def greet() -> None:
        comm = await asyncio.wait_for(
            connect(address, timeout=WAIT_FOR_SCHEDULER), LONGEST_GREETING
        )
        comm.abort()

    try:
        asyncio.run(greet())
    except TimeoutError:
        raise OSError(f"nobody says a word within {LONGEST_GREETING:.0f} s") from None
    except OSError:
        raise
    except Exception as error:  # whatever its first bytes look like to Dask
        raise OSError(f"what listens there is no Dask: {type(error).__name__}") from None


def threads_of(client: Any) -> int:
    """Count the threads of all workers; wait for the first of them.

    Raises
    ------
    EngineError
        If there is none for half a minute, or the scheduler is gone.
    """
    try:
        if not client.nthreads():
            client.wait_for_workers(1, timeout=WAIT_FOR_WORKERS)
        return sum(client.nthreads().values())
    except TimeoutError:
        raise EngineError(
            f"the scheduler {_address(client)} has had no worker for {WAIT_FOR_WORKERS:.0f} s; "
            f"start one: dask worker {_address(client)}"
        ) from None
    except OSError as error:
        raise _gone(client, error) from None


def completed(client: Any, futures: Iterable[Any]) -> Iterator[Any]:
    """Yield futures as they end, well or not.

    Whether there still are workers is asked now and then: without any, nothing ever ends.

    Raises
    ------
    EngineError
        If there is no worker for half a minute, or the scheduler is gone.
    """
    from distributed import as_completed

    waiting = {future.key: future for future in futures}
    while waiting:
        try:
            for future in as_completed(
                list(waiting.values()), loop=client.loop, timeout=WAIT_FOR_WORKERS
            ):
                if future.cancelled():
                    raise _gone(client, "tasks were cancelled")
                del waiting[future.key]
                yield future
        except TimeoutError:
            threads_of(client)


@contextmanager
def as_engine_errors(client: Any) -> Iterator[None]:
    """Turn what Dask raises when a cluster fails into one sentence."""
    from distributed import CancelledError, KilledWorker

    try:
        yield
    except KilledWorker as error:
        raise EngineError(
            f"a task took down {error.allowed_failures + 1} workers, one after the other, most "
            "likely for want of memory; give workers more of it, or stream the data from files."
        ) from None
    except CancelledError as error:
        raise _gone(client, error) from None
    except OSError as error:
        if client.status == "running":  # it is about a file, not about the scheduler
            raise
        raise _gone(client, error) from None


def _address(client: Any) -> str:
    return str(client.scheduler.address) if client.scheduler else "that was there"


def _gone(client: Any, why: object) -> EngineError:
    return EngineError(
        f"the scheduler {_address(client)} has dropped the work ({why}); is it still there?"
    )
