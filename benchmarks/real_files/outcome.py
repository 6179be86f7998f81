"""The outcome of a case: the stage that it reached, its verdict, seconds, memory, and every finding."""

from __future__ import annotations

import re
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

import musclesolve as ms
from benchmarks.real_files.cases import RealCase
from musclesolve.laboratory.draft.draft_folder import TrialDraft, draft_folder, write_drafts

FOUND, DRAFTED, CHECKED, FORCES = STAGES = ("found", "drafted", "checked", "forces")
"""Stages of a case: `init` refuses it, or its draft is there, `check` is through, `run` returned valid frames."""
DEFAULT = {"mass_kg": 70.0, "stature_m": 1.7, "sex": "male"}
"""What is filled in where neither a file, nor a fact, nor the draft states it."""
MEGABYTE = 2**10 if sys.platform == "linux" else 2**20
"""One megabyte in the unit of `ru_maxrss`."""
Outcome = dict[str, str]
"""Column -> text of a case."""
COLUMNS = (
    *("case", "stage", "verdict", "stopped", "mass_kg", "stature_m", "sex", "motions", "open_lines"),
    *("init_s", "check_s", "run_s", "peak_mb", "findings"),
)
"""Columns of a stored outcome.

stopped: why the next stage was not reached. Seconds are those of the processor, which other work on the machine changes
little. findings: a line for each one, which begins with its level and its code.
"""
Report = Callable[[Outcome], None]


def outcome_of(case: RealCase, limit: int, run: bool = True) -> Outcome:
    """Compute a case in a process of its own, which ends after `limit` seconds of its processor.

    run: whether `run` computes it again after `check`, which shares the forces, too, in memory.
    """
    outcome: Outcome = dict.fromkeys(COLUMNS, "") | {"case": case.name, "stage": FOUND}
    processes = get_context("forkserver")
    processes.set_forkserver_preload([__name__])
    mine, other = processes.Pipe(duplex=False)
    with tempfile.TemporaryDirectory() as place:
        process = processes.Process(target=_compute, args=(case, Path(place), limit, run, other))
        process.start()
        other.close()
        with suppress(EOFError):
            while True:
                outcome |= mine.recv()
        process.join()
    if process.exitcode == -signal.SIGXCPU:
        outcome["stopped"] = f"longer than {limit} s"
    elif process.exitcode:
        outcome["stopped"] = f"the process ended with code {process.exitcode}"
    return outcome


def _compute(case: RealCase, place: Path, limit: int, run: bool, connection: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
    try:
        examine(case, place, run, connection.send)
    finally:
        connection.close()


def examine(case: RealCase, place: Path, run: bool, report: Report) -> None:
    """Draft, check and run a case in a folder; report each column as soon as it is known."""
    folder = case.unpack(place)
    try:
        with _timed("init_s", report):
            draft = draft_folder(folder)
            write_drafts(draft)
        first = draft.trials[0]
        report({"stage": DRAFTED, "motions": str(len(draft.trials)), "open_lines": str(len(first.todos))})
        report(fill_in(case, first))
        with _timed("check_s", report):
            checked = ms.check(first.path)
        lines = [
            f"{each.severity} {each.code} {' '.join(each.line.split())}" for each in checked.all_findings
        ]
        report({"stage": CHECKED, "verdict": checked.judgement.verdict, "findings": "\n".join(lines)})
        reached = bool(checked.judgement.legs)
        if run:
            with _timed("run_s", report):
                reached = bool(ms.run(first.path)["valid"].any())
        cause = next((f"{each.code}: {each.sentence}" for each in checked.of("error")), "no valid frame")
        report({"stage": FORCES} if reached else {"stopped": cause})
    except ms.MuscleSolveError as error:
        sentence = " ".join(str(error).split()).replace(str(folder), folder.name)
        report({"stopped": f"{error.code}: {sentence}"})
    except Exception as error:  # a fault of the program: the table has it, and goes on
        report({"stopped": f"{type(error).__name__}: {error}"})


@contextmanager
def _timed(column: str, report: Report) -> Iterator[None]:
    begin = time.process_time()
    try:
        yield
    finally:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MEGABYTE
        report({column: f"{time.process_time() - begin:.1f}", "peak_mb": f"{peak:.0f}"})


def fill_in(case: RealCase, draft: TrialDraft) -> Outcome:
    """Fill in mass, stature and sex in a drafted trial file of a recording; return each value and its source.

    What a file states stays. The mass is what the facts say of the plates, else what the draft suggests; the stature is
    what the draft suggests; the rest is the default.
    """
    text, filled = draft.path.read_text(encoding="utf-8"), {}
    for table in draft.tables:
        for line in table.lines if table.name == "subject" else ():
            if line.key not in DEFAULT:
                continue
            fact = case.carried_mass() if line.key == "mass_kg" else None
            if not line.todo:
                value, source = line.value, "file"
            elif fact is not None:
                value, source = fact, "facts"
            elif line.value is not None:
                value, source = line.value, "draft"
            else:
                value, source = DEFAULT[line.key], "default"
            filled[line.key] = f"{value} ({source})"
            stated = f'{line.key} = "{value}"' if isinstance(value, str) else f"{line.key} = {value}"
            text = re.sub(rf"^(# )?{line.key} =.*$", stated, text, count=1, flags=re.MULTILINE)
    draft.path.write_text(text, encoding="utf-8")
    return filled
