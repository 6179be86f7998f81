"""Times that a person waits for: commands as whole processes, in seconds and as ratios to `musclesolve run
--no-figures`.

    python -m benchmarks.felt [TRIAL.toml] [--repeat N] [--samples N] [--cold] [--against REVISION]

Ratios are ratios of processor time, which other work on the machine hardly changes. Warm: the compiled code is on
disk; the median of the repeats. Cold: the first use on a machine, everything compiled (demo and run; with --cold every
command). The page of a study is what `study` takes when all its trials are computed already, shared among its trials.
The verdict at the desk is what its process does between the sharing of forces and the verdict. `aim`: the ratio, or
the seconds of the processor, that a command should not exceed. A command that fails is printed with its last line.
`--against` runs every command of an earlier revision of git as well, in turn with today's commands. The last columns
have the earlier processor time, and today's time over it.
"""

from __future__ import annotations

import atexit
import functools
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.arguments import command_line, input_file
from musclesolve.data import reference_stride

ROOT = Path(__file__).resolve().parents[1]
SUBJECTS, TRIALS = 4, 2
"""Size of the study: subjects, and trials of each in each of two conditions."""


@dataclass(frozen=True)
class Command:
    """A command line; shares: by how many its time is divided; once: not repeated, since it takes long."""

    name: str
    words: tuple[str, ...]
    aim: str = ""
    shares: int = 1
    cold: bool = False
    once: bool = False


@dataclass(frozen=True)
class Taken:
    """Seconds on the clock and of the processor, or why there are none."""

    clock: float
    processor: float
    failure: str = ""


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("trial", type=input_file, nargs="?", default=reference_stride())
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--samples", type=int, default=1000, help="of Monte Carlo")
    parser.add_argument("--cold", action="store_true", help="every command on an empty cache, too")
    parser.add_argument("--against", metavar="REVISION", help="an earlier revision of git")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, revision(given.against) as earlier:
        place = Path(name)
        commands = commands_of(given.trial.resolve(), given.samples, place)
        timed(commands[0])  # everything is compiled
        first = {each: timed(each) for each in commands}  # and what later commands read is made
        warm, before = {}, {}
        for each in commands:
            taken, ago = (
                [],
                [timed(each, source=earlier)] if earlier else [],
            )  # the first of a revision compiles
            for _ in range(0 if each.once else given.repeat):
                ago += [timed(each, source=earlier)] if earlier else []
                taken.append(timed(each))  # the last to write what later commands read
            warm[each] = median(taken) if taken else first[each]
            if earlier:
                before[each] = median(ago[1:] or ago)
        verdict = Command("verdict at the desk", (), "1 s")
        warm[verdict] = median([verdict_at_desk(given.trial, place / "desk") for _ in range(given.repeat)])
        cold = {
            each: timed(each, place / f"cache {number}")
            for number, each in enumerate(commands)
            if each.cold or given.cold
        }
    print(table(warm, cold, before))


def commands_of(trial: Path, samples: int, place: Path) -> tuple[Command, ...]:
    """The commands, in an order in which each finds what it reads; the first is the one to compare with."""
    make = [sys.executable, str(ROOT / "examples" / "study" / "make_study.py"), str(place / "study")]
    made = subprocess.run(
        [*make, str(SUBJECTS), str(TRIALS)], cwd=place, env=environment(), capture_output=True, check=False
    )
    study, result = str(place / "study" / "study.toml"), str(place / "run" / "result.nc")

    def run(*more: str, into: str = "run") -> tuple[str, ...]:
        return "run", str(trial), "-o", str(place / into), *more

    errors = run("--no-figures", "--uncertainty", into="errors")
    commands = [
        Command("run --no-figures", run("--no-figures"), cold=True),
        Command("run", run(into="page"), "1.3"),
        Command("run --figures", run("--figures", into="drawn")),
        Command("report", ("report", result, "-o", str(place / "report.html")), "0.6"),
        Command("run --uncertainty fast", (*errors, "fast"), "1.5"),
        Command(f"run --uncertainty {samples}", (*errors, str(samples)), f"{samples * 0.015:g}", once=True),
        Command("check", ("check", str(trial))),
        Command(
            "compare, two costs",
            (
                *("compare", str(trial), "-o", str(place / "compared")),
                *("--cost", "stress_cubed", "--cost", "force_squared"),
            ),
        ),
        Command("picture", ("picture", result, "-o", str(place / "picture.html"))),
        Command("demo", ("demo", "-o", str(place / "demo")), "25 s cold", cold=True),
        Command(
            "calibrate-muscles", ("calibrate-muscles", str(trial), "-o", str(place / "me.toml")), once=True
        ),
        Command("--help", ("--help",), "0.2 s"),
    ]
    if made.returncode == 0:
        words = ("study", study, "-o", str(place / "results"), "--no-reports")
        trials = 2 * SUBJECTS * TRIALS
        of_study = [
            Command("page of a study, a trial", words, "1.0", shares=trials),
            Command("check of a study, a trial", ("check", study), shares=trials),
        ]
        commands[4:4] = of_study
    return tuple(commands)


@contextmanager
def revision(name: str | None) -> Iterator[Path | None]:
    """A folder with the files of a revision, if one is named."""
    if name is None:
        yield None
        return
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "-C", str(ROOT), "archive", name], capture_output=True, check=True)
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        yield Path(folder)


def environment(cache: Path | None = None, source: Path = ROOT) -> dict[str, str]:
    """The environment of a command; cache: an empty folder for compiled code; source: where the package is.

    Bytecode of Python is kept, as in every installation, though not in the folders of the sources.
    """
    own = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    own |= {"PYTHONPATH": str(source), "PYTHONPYCACHEPREFIX": str(bytecode())}
    return own if cache is None else own | {"NUMBA_CACHE_DIR": str(cache)}


@functools.cache
def bytecode() -> Path:
    """A folder of this process for bytecode, removed at its end."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    return Path(folder.name)


def timed(command: Command, cache: Path | None = None, source: Path | None = None) -> Taken:
    """Run a command once; source: the folder of another revision."""
    words = [sys.executable, "-m", "musclesolve", *command.words]
    before, start = _processor(), time.perf_counter()
    own = environment(cache, source or ROOT)
    done = subprocess.run(words, env=own, cwd=source, capture_output=True, check=False)
    clock, processor = time.perf_counter() - start, _processor() - before
    said = [line.strip("│ ") for line in done.stderr.decode().splitlines() if any(map(str.isalpha, line))]
    found = command.words[0] == "check" and done.returncode == 2 and not said  # an error of a trial, reported
    failure = "" if done.returncode in (0, 3) or found else (said or ["failed"])[-1]
    return Taken(clock / command.shares, processor / command.shares, failure)


def verdict_at_desk(trial: Path, output: Path) -> Taken:
    """Run the task of the desk in this process: seconds from the end of the sharing to the verdict."""
    from musclesolve.desk import tasks
    from musclesolve.desk.result_facts import result_facts

    begun: list[tuple[float, float]] = []

    def progress(stage: str, share: float) -> None:
        if stage == "result":  # named when the forces are shared
            begun.append((time.perf_counter(), time.process_time()))

    tasks.run(progress, trial, output, {}, figures=False, samples=None)
    result_facts(output / "result.nc")
    clock, processor = begun[0]
    return Taken(time.perf_counter() - clock, time.process_time() - processor)


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def median(taken: list[Taken]) -> Taken:
    """The median of some runs, or the first failure."""
    failed = [each for each in taken if each.failure]
    middle = (float(np.median([getattr(each, name) for each in taken])) for name in ("clock", "processor"))
    return failed[0] if failed else Taken(*middle)


def table(warm: dict[Command, Taken], cold: dict[Command, Taken], before: dict[Command, Taken]) -> str:
    """Seconds of processor and clock, and the ratio to the first command, warm and cold; before: earlier, warm."""
    first = next(iter(warm.values())).processor
    head = f"{'':<28}{'CPU [s]':>9}{'clock [s]':>11}{'ratio':>8}{'aim':>11}"
    lines = [f"{head}   {'cold CPU':>9}{'clock':>8}{'ratio':>8}   {'earlier':>8}{'ratio':>8}"]
    for command, taken in warm.items():
        line = f"{command.name:<28}"
        if taken.failure:
            lines.append(f"{line}   {taken.failure}")
            continue
        line += f"{taken.processor:9.2f}{taken.clock:11.2f}{taken.processor / first:8.2f}{command.aim:>11}"
        if command in cold and not cold[command].failure:
            one = cold[command]
            line += f"   {one.processor:9.2f}{one.clock:8.2f}{one.processor / first:8.2f}"
        if command in before and not before[command].failure:
            ago = before[command].processor
            line = f"{line:<95}   {ago:8.2f}{taken.processor / ago:8.2f}"
        lines.append(line)
    return "\n".join(lines)


if __name__ == "__main__":
    main()
