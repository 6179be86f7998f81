"""Many trials on one machine, in processes of their own."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Sequence
from multiprocessing.connection import Connection, wait

from musclesolve.errors import MuscleSolveError
from musclesolve.studies.many_trials.one_trial import Job
from musclesolve.studies.many_trials.trial_record import Outcome, TrialRecord
from musclesolve.studies.many_trials.worker import Worker

MOST_DEATHS = 2
"""A trial that so many processes died of is given up."""

Report = Callable[[list[str], float], None]


def compute_here(jobs: Sequence[Job], workers: int, report: Report) -> Generator[TrialRecord]:
    """Compute trials side by side, each record as soon as it is there; ends its processes whatever happens.

    A process that dies takes its own trial with it and no other: that one is tried once more, after all others, when
    memory may be less scarce.

    Args:
        jobs: the trials.
        workers: number of processes.
        report: called with the names of the trials that are being computed, and how much of them is done in sum.

    Raises:
        MuscleSolveError: no process can be started.
    """
    team = _Team(jobs)
    try:
        while team.waiting or team.workers:
            team.fill(workers)
            report(*team.state)
            for worker in team.speaking():
                record = team.hear(worker)
                if record is not None:
                    yield record
    finally:
        _end(team.workers.values())


class _Team:
    """Processes at work, and the trials that wait for them."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self.waiting = deque(jobs)
        self.workers: dict[Connection, Worker] = {}
        self.deaths = Counter[str]()
        self.heard = False

    def fill(self, most: int) -> None:
        """Start processes for waiting trials."""
        while self.waiting and len(self.workers) < most:
            worker = Worker(self.waiting.popleft())
            self.workers[worker.connection] = worker

    @property
    def state(self) -> tuple[list[str], float]:
        """What is being computed, and how much of that is done in sum."""
        running = list(self.workers.values())
        return [worker.job.name for worker in running if worker.job], sum(each.fraction for each in running)

    def speaking(self) -> list[Worker]:
        """Wait until a process has something to say or is dead."""
        ready = wait(list(self.workers))
        return [worker for connection, worker in self.workers.items() if connection in ready]

    def hear(self, worker: Worker) -> TrialRecord | None:
        """Take a message; give a process that is idle its next trial, or end it."""
        try:
            record = worker.hear()
        except EOFError:
            del self.workers[worker.connection]
            return self._bury(worker)
        self.heard = True
        if record is not None and self.waiting:
            worker.give(self.waiting.popleft())
        elif record is not None:
            del self.workers[worker.connection]
            _end([worker])
        return record

    def _bury(self, worker: Worker) -> TrialRecord | None:
        """Put the trial of a dead process behind the others, or give it up."""
        death = worker.death
        if not self.heard:
            raise MuscleSolveError(
                f"processes for the trials cannot be started: {death}\n"
                '  remedy: in a script of your own, call run_many below `if __name__ == "__main__":`, '
                "for every process reads the script"
            )
        self.deaths[worker.job.name] += 1
        if self.deaths[worker.job.name] < MOST_DEATHS:
            self.waiting.append(worker.job)
            return None
        remedy = "remedy: compute fewer trials at a time, with --jobs"
        return worker.job.record(Outcome.FAILED, f"{death}, {MOST_DEATHS} times\n  {remedy}")


def _end(workers: Iterable[Worker]) -> None:
    """End processes, all at the same time."""
    ending = list(workers)
    for worker in ending:
        worker.end()
    for worker in ending:
        worker.join()
