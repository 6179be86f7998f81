"""Many trials in one call: finding the trials, naming their folders, and computing them here or on a cluster."""

import os
import pickle
import threading
import unicodedata
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import islice
from math import inf
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from muscle_db.parsed_toml import toml_table
from muscle_db.regular_file import SETTINGS, read_regular
from musclesolve._util.checks import check_integer, one_or_several
from musclesolve._util.messages import Progress, check_keywords, no_progress
from musclesolve._util.processes import cores, end_inside_script
from musclesolve._util.worker_pool import Lost, Pool
from musclesolve._util.written_files import number_of, safe
from musclesolve.errors import InputError, file_error, input_error, not_installed
from musclesolve.laboratory.plotting.page.page_style import current_style
from musclesolve.laboratory.recording.trial_settings import run_arguments
from musclesolve.laboratory.results.files.atomic_writing import reserved, write_files
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.solver.solver_registry import Solver
from musclesolve.studies.many_trials.one_trial import Further, Job, attempt, known_record, leave_message
from musclesolve.studies.many_trials.trial_record import CSV, Outcome, TrialRecord, check_table, csv_bytes
from musclesolve.tables.text_file import file_path
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


def _client(address: str) -> "Client":
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


def _check_workers(client: "Client", address: str, jobs: Sequence[Job]) -> None:
    try:
        client.wait_for_workers(1, timeout=WORKERS_S)
    except TimeoutError as error:
        raise _refused(f"the scheduler at {address} has no workers", "", START) from error
    paths = [*[str(job.trial) for job in jobs if job.trial.is_file()][:1], str(jobs[0].folder.parent)]
    try:
        states = client.run(_known, paths)
    except ImportError as error:
        raise _refused(
            f"a worker lacks a package: {error}",
            f"musclesolve {__version__} on every worker",
            "install it there and start the workers again",
        ) from error
    for worker, (version, unseen) in states.items():
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


MOST_NAMES, LONGEST_NAME = 2, 18
"""Largest number of running trials in the line of progress, and largest length of their names."""
WRITTEN, WRITING = 2.0, 0.01
"""Least time between two writings of the table of all trials [s], and largest share of the time that they take."""


@dataclass(frozen=True)
class ManyOptions:
    """Options of the computation of many trials.

    jobs: how many trials at a time; as many as there are cores unless given.
    scheduler: address of a scheduler of dask.distributed, such as "tcp://host:8786": its workers compute. They need the
    same version of musclesolve, and have to see all files under the same paths. Extra `cluster`.
    again: compute all trials, whatever results there are.
    figures: draw the figures of every trial as files.
    further: what makes the content of files beside each result, by their name, as `report.page.trial_report`.
    questions: answered for every trial beside the questions of its file, such as "margins": margins.nc.
    progress: called with the names of running trials, and the share of the work that is done.
    """

    jobs: int | None = None
    scheduler: str | None = None
    again: bool = False
    figures: bool = True
    further: Mapping[str, Further | None] | None = None
    questions: Sequence[str] = ()
    progress: Progress | None = None


def run_many(
    trials: str | Path | Iterable[str | Path],
    output: str | Path,
    cost: str | Cost | None = None,
    solver: str | Solver | None = None,
    side: str = "both",
    **how: Any,
) -> list[TrialRecord]:
    """Compute many trials side by side; none stops the others.

    Every trial gets a folder in `output` with result.nc and its figures, or error.txt where it has no result: "walk"
    for walk.toml, "subject1-walk" where several have this name. A result of the same version, options and contents of
    all input files is kept. A table of all trials is written to trials.csv.

    On one machine this starts processes: in a script, call it below ``if __name__ == "__main__":``.

    Args:
        trials: trial files; a folder means the trial files in it.
        output: folder for the folders of the trials; made when it is missing.
        cost, solver, side: as in `run`, for all trials.
        **how: see `ManyOptions`, and settings of `run`, such as emg_weight.

    Returns:
        The record of each trial, in the order of their names in `trials`; nothing is raised for a trial that fails.

    Raises:
        InputError: no trials, an unknown cost, solver or side, no scheduler, or an output that cannot be written.
        KeyboardInterrupt: after Ctrl-C, when the running trials have ended; its text has the number of those done.

    Examples:
        >>> records = ms.run_many([ms.data.reference_stride()], "results", jobs=1, figures=False)
        >>> records[0].measures.solved
        132
    """
    settings = {name: how.pop(name) for name in run_arguments().keys() & how.keys()}
    check_keywords(how, [*ManyOptions.__annotations__, *run_arguments()], "run_many()")
    chosen = ManyOptions(**how)
    options = {"cost": cost, "solver": solver, "side": side, **settings}
    check_for_all(options, chosen.jobs)
    paths = find_trials(one_or_several(trials))
    output = Path(os.path.realpath(file_path(output, "output")))
    stated = {name: option for name, option in options.items() if option is not None}
    common: dict[str, Any] = {
        "figures": chosen.figures,
        "again": chosen.again,
        "style": current_style(),
        "further": chosen.further or {},
        "questions": tuple(chosen.questions),
    }
    todo = [
        Job(name, path, output / name, stated, **common)
        for name, path in zip(folder_names(paths), paths, strict=True)
    ]
    with reserved(output):
        check_table(output / CSV)
        write = partial(write_table, output=output)
        return compute(todo, write, chosen.jobs, chosen.scheduler, chosen.progress)


def write_table(records: Sequence[TrialRecord], output: Path) -> None:
    """Write the table of all trials into a folder."""
    write_files(output, {CSV: csv_bytes(records)})


def check_for_all(options: Mapping[str, Any], jobs: int | None) -> None:
    """Refuse options that would fail for every trial, before any computation."""
    from musclesolve.laboratory.bodies.run_options import check_choices

    end_inside_script()
    check_choices(options.get("cost"), options.get("solver"), options.get("side", "both"))
    if jobs is not None:
        check_integer(jobs, "the number of trials at a time", 1, where="--jobs")
    try:
        pickle.dumps(dict(options))
    except (pickle.PicklingError, AttributeError, TypeError, NotImplementedError) as error:
        raise input_error(
            "bad_type",
            problem=f"the cost or solver cannot be sent to another process: {error}",
            expected="a name, or an object of a class defined in a module",
            remedy="compute the trials one by one with ms.run",
        ) from error


def compute(
    todo: Sequence[Job],
    write: Callable[[Sequence[TrialRecord]], None],
    jobs: int | None,
    scheduler: str | None,
    progress: Progress | None,
) -> list[TrialRecord]:
    """Compute trials side by side, and return their records in the same order.

    Args:
        todo: the trials, of different names.
        write: called with the records whenever a trial has ended, at most every `WRITTEN` seconds, and at the end, also
            when it was stopped, unless nothing was done.
        jobs, scheduler, progress: see `ManyOptions`.

    Raises:
        InputError: no scheduler, or a folder that cannot be written.
        KeyboardInterrupt: after Ctrl-C, when the running trials have ended.
    """
    report = TrialsProgress(len(todo), progress or no_progress)
    records = {job.name: job.record(Outcome.STOPPED) for job in todo}
    written, took = -inf, 0.0
    try:
        try:
            with closing(_found(todo, jobs or cores(), scheduler, report)) as done:
                for record in done:
                    records[record.name] = record
                    report.done += 1
                    if not record.outcome.has_result:
                        leave_message(record)
                    if (start := monotonic()) - written > max(WRITTEN, took / WRITING):
                        write(list(records.values()))
                        written = monotonic()
                        took = written - start
        finally:
            if report.done:
                write(list(records.values()))
    except KeyboardInterrupt:
        # A trial can have been completed just before its process was ended.
        stopped = [job for job in todo if records[job.name].outcome is Outcome.STOPPED]
        count = len(todo) - sum(known_record(job) is None for job in stopped)
        raise KeyboardInterrupt(
            f"stopped by Ctrl-C: {count} of the {len(todo)} trials to compute are done; the same command goes on with "
            "the others"
        ) from None
    return list(records.values())


def _found(
    todo: Sequence[Job], workers: int, scheduler: str | None, report: "TrialsProgress"
) -> Generator[TrialRecord]:
    """Yield the records of trials with nothing left to do, then of the others, each as soon as it is ready."""
    left = list[Job]()
    for job in todo:
        report([job.name], 0.0)
        if (record := known_record(job)) is not None:
            yield record
        else:
            left.append(job)
    if left and scheduler is not None:
        yield from compute_on_cluster(left, scheduler, report)
    elif left:
        yield from _compute_here(left, workers, report)


def _compute_here(todo: Sequence[Job], workers: int, report: "TrialsProgress") -> Generator[TrialRecord]:
    """Yield the records from processes on this machine, each as soon as it is ready."""
    with closing(in_processes(attempt_task, todo, workers, report)) as results:
        for job, outcome in results:
            if isinstance(outcome, Lost):
                message = f"{outcome.reason}\n  remedy: compute fewer trials at a time, with --jobs"
                outcome = job.record(Outcome.FAILED, message)
            yield outcome


def in_processes(
    function: Callable[[None, Job, Progress], Any],
    todo: Sequence[Job],
    workers: int,
    report: "TrialsProgress",
) -> Generator[tuple[Job, Any]]:
    """Yield each trial with what a function of a module makes of it, or `Lost`, as soon as it is ready."""
    from musclesolve.sharing.solver.kernel_problem import compile_kernel

    def running(numbers: list[int], done: float) -> None:
        report([todo[number].name for number in numbers], done)

    pool = Pool(function, None, todo, min(workers, len(todo)))
    pool.beside = compile_kernel  # once, and not in every process
    with closing(pool.results(running)) as results:
        for number, outcome in results:
            yield todo[number], outcome


def attempt_task(shared: None, job: Job, progress: Progress) -> TrialRecord:
    """Run `attempt` in a process of its own."""
    return attempt(job, progress)


class TrialsProgress:
    """Progress of all trials, from the progress of each."""

    def __init__(self, total: int, progress: Progress) -> None:
        self.total, self.progress, self.done = total, progress, 0

    def __call__(self, running: list[str], fraction: float) -> None:
        """Report the names of the running trials, and the sum of their shares that are done.

        Only the end of a long name is shown: the progress bar has to fit on the terminal.
        """
        more = [f"+{len(running) - MOST_NAMES}"] if len(running) > MOST_NAMES else []
        shown = [
            name if len(name) <= LONGEST_NAME else f"…{name[1 - LONGEST_NAME :]}"
            for name in running[:MOST_NAMES]
        ]
        names = ", ".join([*shown, *more])
        self.progress(f"{self.done}/{self.total} {names}", (self.done + fraction) / self.total)


TAKEN = (CSV, "average")
"""Names that no trial may have: the table, and the folder proposed for an average."""


def find_trials(arguments: Iterable[str | Path]) -> list[Path]:
    """Find trial files, and the trial files in folders; absolute, in the given order, without repetition.

    A file that does not exist is kept: that trial alone fails.
    """
    paths: list[Path] = []
    for argument in (file_path(name, "trials") for name in arguments):
        if not os.path.isdir(argument):
            paths.append(argument)
            continue
        try:
            inside = sorted(
                path for path in argument.iterdir() if path.suffix == ".toml" and _may_be_trial(path)
            )
        except OSError as error:
            raise file_error(
                "unreadable_file", argument, f"the folder cannot be read: {error.strerror or error}"
            ) from error
        if not inside:
            raise input_error("studies.no_trial_file", file=argument)
        paths += inside
    if not paths:
        expected = "trial files, or folders with trial files"
        raise input_error("missing_argument", problem="no trial is named", expected=expected)
    return list(dict.fromkeys(Path(os.path.realpath(path)) for path in paths))


def _may_be_trial(path: Path) -> bool:
    """Return whether a TOML file has the table [files]; an unreadable file may be a trial."""
    try:
        return "files" in toml_table(read_regular(path, SETTINGS).decode("utf-8"))
    except (OSError, ValueError, RecursionError):
        return path.is_file()


def folder_names(trials: list[Path]) -> list[str]:
    """A name (`safe`) for the folder of every trial: its stem, with folders above it where stems repeat: "s1-walk".

    Names that are the same on some file system, such as those that differ only in capital letters, count as the same;
    so do the names in `TAKEN`. The trials are absolute paths, all different.
    """
    depth = dict.fromkeys(trials, 0)
    numbered: set[Path] = set()
    while True:
        names = [_name(path, depth[path], path in numbered) for path in trials]
        count = Counter(map(_folded, names)) + Counter(map(_folded, TAKEN))
        same = [path for path, name in zip(trials, names, strict=True) if count[_folded(name)] > 1]
        if not same:
            return names
        changed = {path for path in same if safe(path.stem) != path.stem} - numbered
        longer = [path for path in same if depth[path] < len(path.parent.parts)]
        if not changed and not longer:
            both = " and ".join(map(str, same[:2]))
            how = "the name of another file" if len(same) == 1 else "the same name"
            problem = f"the results of {both} would have {how}"
            raise input_error("duplicate_name", problem=problem, remedy="rename one of them")
        numbered |= changed
        for path in longer if not changed else ():
            depth[path] += 1


def _name(path: Path, depth: int, numbered: bool) -> str:
    """Stem of a file after the names of `depth` folders; numbered where the name had to be changed."""
    above = path.parent.parts[-depth:] if depth else ()
    name = safe("-".join([*(part.strip("/\\:") for part in above if part.strip("/\\:")), path.stem]))
    return f"{name}-{number_of(path.stem)}" if numbered else name


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
