"""Tasks of a pool in this process: a process takes three seconds of processor time before its first result."""

from __future__ import annotations

import pickle
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from musclesolve._util.worker_pool import Pool, Report

RESULTS = Pool.results


@contextmanager
def computed_here() -> Iterator[None]:
    """Compute the tasks of every pool here, one after the other; all that a process would get or send is pickled."""

    def results(pool: Pool, report: Report = lambda *_: None) -> Generator[tuple[int, Any]]:
        for number, task in enumerate(pool.tasks):
            function, shared = pickle.loads(pool.packed)
            report([number], 0.0)
            found = function(
                shared,
                pickle.loads(pickle.dumps(task)),
                lambda _, share, number=number: report([number], share),
            )
            yield number, pickle.loads(pickle.dumps(found))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Pool, "results", results)
        yield


@contextmanager
def computed_in_processes() -> Iterator[None]:
    """Compute the tasks of every pool in processes of their own, as users do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Pool, "results", RESULTS)
        yield
