"""A pool whose workers need not be started, for tests of campaigns that are not about processes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor


class InThreads(ThreadPoolExecutor):
    """Stands in for the ``ProcessPoolExecutor`` of a campaign."""

    def __init__(self, jobs: int, **settings: object) -> None:
        super().__init__(jobs)
