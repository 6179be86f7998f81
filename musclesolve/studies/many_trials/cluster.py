"""Many trials on a cluster, through the scheduler of dask.distributed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from musclesolve.errors import InputError, input_error, not_installed
from musclesolve.studies.many_trials.one_trial import Job, attempt
from musclesolve.studies.many_trials.trial_record import Outcome, TrialRecord
from musclesolve.version import __version__

if TYPE_CHECKING:
    from distributed import Client

CONNECT_S, WORKERS_S = 10.0, 30.0
"""Time to wait for a scheduler, and for the first worker [s]."""
AT_ONCE = 4000
"""Number of trials given to the scheduler at the same time, so that its memory does not grow."""
START = "start one with `dask scheduler`, and workers with `dask worker ADDRESS --nworkers 4 --nthreads 1`"

_one_at_a_time = threading.Lock()


def compute_on_cluster(
    jobs: Sequence[Job], address: str, report: Callable[[list[str], float], None]
) -> Generator[TrialRecord]:
    """Compute trials on the workers of a scheduler; yield each record as soon as it is ready.

    The scheduler gives the trial of a lost worker to another one, and stops after several losses. It does not report
    which trials are being computed: `report` is called without names, and 0.
    """
    with _client(address) as client, client.as_current():
        _check_workers(client, address, jobs)
        from distributed import Future, as_completed

        submitted, waiting = dict[Future, Job](), iter(jobs)
        done = as_completed()

        def submit(most: int) -> None:
            for job in islice(waiting, most):
                future = client.submit(_attempt, job, pure=False)
                submitted[future] = job
                done.add(future)

        try:
            submit(AT_ONCE)
            report([], 0.0)
            for future in done:
                job = submitted.pop(future)
                submit(1)
                if future.status == "finished":
                    yield future.result()
                else:
                    fault = future.exception() if future.status == "error" else "the scheduler dropped it"
                    yield job.record(Outcome.FAILED, f"lost on the cluster: {fault}")
                report([], 0.0)
        finally:
            client.cancel(list(submitted))


def _attempt(job: Job) -> TrialRecord:
    """Compute one trial at a time in each process: the compiled kernel uses the threads of the worker."""
    with _one_at_a_time:
        return attempt(job)


def _client(address: str) -> Client:
    try:
        from distributed import Client
        from distributed.comm import resolve_address
    except ImportError as error:
        raise not_installed("a cluster needs", "distributed", "cluster", where="--scheduler") from error
    try:
        resolve_address(address)  # a Client of an invalid address would print a traceback when it is deleted
        return Client(address, timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        raise _refused(
            f"there is no scheduler at {address!r}",
            "the address of a scheduler of dask.distributed, such as tcp://host:8786",
            START,
        ) from error


def _check_workers(client: Client, address: str, jobs: Sequence[Job]) -> None:
    try:
        client.wait_for_workers(1, timeout=WORKERS_S)
    except TimeoutError as error:
        raise _refused(f"the scheduler at {address} has no workers", "", START) from error
    paths = [*[str(job.trial) for job in jobs if job.trial.is_file()][:1], str(jobs[0].folder.parent)]
    try:
        found = client.run(_known, paths)
    except ImportError as error:
        raise _refused(
            f"a worker lacks a package: {error}",
            f"musclesolve {__version__} on every worker",
            "install it there and start the workers again",
        ) from error
    for worker, (version, unseen) in found.items():
        if version != __version__:
            raise _refused(
                f"the worker {worker} has musclesolve {version}",
                f"{__version__}, as here: results of different versions are not comparable",
                "install the same version there and start the worker again",
            )
        if unseen:
            raise _refused(
                f"the worker {worker} does not see {unseen[0]}",
                "trials and output on a file system that all workers share, under the same path",
                "put them there, or compute on one machine, without --scheduler",
                "missing_file",
            )


def _refused(problem: str, expected: str, remedy: str, code: str = "bad_environment") -> InputError:
    return input_error(code, where="--scheduler", problem=problem, expected=expected, remedy=remedy)


def _known(paths: list[str]) -> tuple[str, list[str]]:
    """Return, on a worker, its version of musclesolve and the paths that it cannot see."""
    return __version__, [path for path in paths if not Path(path).exists()]
