"""The cost of a study of many trials: frames per second, memory over time, bytes, and the plan for a hundred thousand.

    python -m benchmarks.study_scale [TRIALS] [SELECTED]

TRIALS (1000) trials of `examples/study/make_study.py`, a stride each, are computed without figures and reports by
`compute_trials` with one process, with one for each core, and on a dask cluster of this machine; `write_study_data`
collects them. Each way is a process of its own, whose memory, with the processes it starts, is read four times
a second. A study.nc of SELECTED (10 000) trials repeats these cycles; from it curves are selected. Ratios within one
run may be compared; the load of the machine is printed beside them.
"""

from __future__ import annotations

import os
import runpy
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from rich.table import Table

from benchmarks.timing import console
from musclesolve import open_study, read_study
from musclesolve._util.processes import cores
from musclesolve.sharing import compile_kernel
from musclesolve.studies.benchmark.measure import machine
from musclesolve.studies.study.run_study import ComputedStudy, compute_trials, prepared
from musclesolve.studies.study.study_data import DATA, write_study_data

TRIALS, SELECTED, PLAN = 1000, 10_000, 100_000
OF_SUBJECT = 10
"""Trials of a subject, of two conditions."""
INTERVAL = 0.25
"""Between two looks at the memory [s]."""
MB = 1e6
EARLY, LATE = (0.1, 0.2), (0.9, 1.0)
"""Shares of the time between which the memory is compared."""
MAKE = Path(__file__).parents[1] / "examples" / "study" / "make_study.py"


def make(folder: Path, trials: int) -> Path:
    """Write the files of so many trials; the path of the study file."""
    example = runpy.run_path(str(MAKE))
    masses = example["write_trials"](folder, subjects=trials // OF_SUBJECT, trials=OF_SUBJECT // 2)
    (folder / "study.toml").write_text(example["study_text"](folder, masses), encoding="utf-8")
    return folder / "study.toml"


@contextmanager
def timed(connection: Connection, stage: str) -> Iterator[None]:
    """Send when a stage began and ended."""
    start = time.time()
    yield
    connection.send((stage, start, time.time()))


def work(connection: Connection, path: Path, output: Path, way: str) -> None:
    """Compute and collect a study in this process; sends the time of each stage, then what became of the trials."""
    how: dict[str, Any] = {"jobs": cores() if way == "pool" else 1}
    cluster = None
    if way == "dask":
        import dask
        from distributed import LocalCluster

        dask.config.set(
            {"distributed.worker.profile.enabled": False}
        )  # it keeps the stacks of a thousand seconds
        cluster = LocalCluster(n_workers=cores(), threads_per_worker=1, dashboard_address=None)
        how = {"scheduler": cluster.scheduler_address}
    with timed(connection, "trial files"):
        prepared(read_study(path), output)
    with timed(connection, "compute"):
        computed = compute_trials(path, output, **how)
    with timed(connection, "unchanged"):
        compute_trials(path, output, **how)
    if cluster is not None:
        cluster.close()
    with timed(connection, "collect"):
        write_study_data(computed)
    connection.send(("outcomes", Counter(record.outcome.value for record in computed.records.values())))


def repeat(connection: Connection, path: Path, output: Path, selected: int) -> None:
    """Collect the cycles of a study again and again, as if they were of so many trials, and select from them."""
    study = read_study(path)
    done = {
        trial.name: trial
        for trial in study.trials
        if (output / "trials" / trial.name / "cycles.nc").is_file()
    }
    computed = compute_trials(study, output, jobs=1)
    trials, records, subjects = [], {}, {}
    while len(trials) < selected:
        turn = len(trials) // len(done)
        for trial in list(done.values())[: selected - len(trials)]:
            name, subject = f"{trial.name}_{turn}", f"{trial.subject}_{turn}"
            trials.append(replace(trial, name=name, subject=subject))
            subjects[subject] = study.subjects[trial.subject]
            records[name] = computed.records[trial.name]
    folder = output.with_name("repeated")
    many = replace(study, trials=tuple(trials), subjects=subjects)
    with timed(connection, "collect"):
        write_study_data(ComputedStudy(many, folder, records, ()))
    with timed(connection, "open"):
        cycles = open_study(folder)
    wanted = trials[len(trials) // 2].subject
    with timed(connection, "one subject"):
        curves = cycles["muscle_force"][cycles["subject"].values == wanted].load()
    assert curves.sizes["cycle"] and bool(np.isfinite(curves).all())
    with timed(connection, "one condition, its mean"):
        cycles["muscle_force"][cycles["condition"].values == "loaded"].mean("cycle").load()
    connection.send(("bytes", (folder / DATA).stat().st_size))


def watched(
    target: Any, *arguments: Any
) -> tuple[dict[str, tuple[float, float]], dict[str, Any], np.ndarray]:
    """Run in a fresh process: stage -> begin and end, what else it sent, and samples (S, 4).

    Samples: time, bytes of the process and of the largest of those that it started, processor time of all [s].
    """
    context = get_context("spawn")
    mine, theirs = context.Pipe(duplex=False)
    process = context.Process(target=target, args=(theirs, *arguments))
    process.start()
    theirs.close()
    watched, samples, stages, others, processor = psutil.Process(process.pid), [], {}, {}, {}
    while True:
        try:
            while mine.poll(INTERVAL):
                name, *content = mine.recv()
                if len(content) == 2:
                    stages[name] = (content[0], content[1])
                else:
                    others[name] = content[0]
        except EOFError:
            break
        sizes = [0]
        with suppress(psutil.Error):  # a process has just ended
            for each in (watched, *watched.children(recursive=True)):
                processor[each.pid] = sum(each.cpu_times()[:2])
                sizes.append(each.memory_info().rss)
        if len(sizes) > 1:
            samples.append((time.time(), sizes[1], max([0, *sizes[2:]]), sum(processor.values())))
    process.join()
    if process.exitcode:
        raise SystemExit(f"it ended with exit code {process.exitcode}")
    return stages, others, np.array(samples)


def processor_time(samples: np.ndarray, stage: tuple[float, float]) -> float:
    """Processor time of all processes in a stage [s]."""
    start, end = np.interp(stage, samples[:, 0], samples[:, 3])
    return float(end - start)


def memory(samples: np.ndarray, stage: tuple[float, float], column: int) -> str:
    """Peak, and medians early and late in a stage, in MB."""
    share = (samples[:, 0] - stage[0]) / (stage[1] - stage[0])
    during = samples[(share >= 0.0) & (share <= 1.0)]
    if len(during) < 20 or not during[:, column].any():
        return "-"
    share = share[(share >= 0.0) & (share <= 1.0)]
    early, late = (np.median(during[(share >= a) & (share <= b), column]) for a, b in (EARLY, LATE))
    change = 100.0 * (late / early - 1.0)
    return f"{during[:, column].max() / MB:.0f} ({early / MB:.0f} to {late / MB:.0f}, {change:+.0f} %)"


def on_disk(folder: Path, count: int) -> tuple[float, float, float]:
    """Files, bytes in them and bytes taken on the disk, for each of so many trials."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    sizes = [file.stat() for file in files]
    taken = sum(512 * getattr(each, "st_blocks", each.st_size / 512) for each in sizes)
    return len(files) / count, sum(each.st_size for each in sizes) / count, taken / count


def main() -> None:
    asked = [int(text) for text in sys.argv[1:]]
    count, selected = (asked + [TRIALS, SELECTED][len(asked) :])[:2]
    console.print(", ".join(f"{name} {value}" for name, value in machine().items()))
    compile_kernel()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        path = make(folder / "study", max(count // OF_SUBJECT, 1) * OF_SUBJECT)
        count = len(read_study(path).trials)
        table = Table(
            "", "one process", f"{cores()} processes", f"dask, {cores()} workers", title=f"{count} trials"
        )
        rows: dict[str, list[str]] = {}
        alone, seconds, frames = 0.0, {}, 0
        for way in ("alone", "pool", "dask"):
            stages, others, samples = watched(work, path, folder / way, way)
            seconds = {name: end - start for name, (start, end) in stages.items()}
            frames = count_frames(folder / way)
            each = seconds["compute"] / count
            if way == "alone":
                alone = each
                files_of, computing, collecting = (
                    processor_time(samples, stages[name]) / count
                    for name in ("trial files", "compute", "collect")
                )
            cells = {
                "frames": f"{frames}",
                "trials": ", ".join(f"{number} {name}" for name, number in others["outcomes"].items()),
                "frames/s": f"{frames / seconds['compute']:.0f}",
                "times one process": f"{alone / each:.2f}",
                "ms a trial": f"{1e3 * each:.1f}",
                "of processors, ms a trial": f"{1e3 * processor_time(samples, stages['compute']) / count:.1f}",
                "of these its trial file, ms": f"{1e3 * seconds['trial files'] / count:.1f}",
                "unchanged, ms a trial": f"{1e3 * seconds['unchanged'] / count:.1f}",
                "study.nc, ms a trial": f"{1e3 * seconds['collect'] / count:.1f}",
                "peak of the parent, MB (early to late)": memory(samples, stages["compute"], 1),
                "peak of a worker, MB": memory(samples, stages["compute"], 2),
                "peak while study.nc is written, MB": memory(samples, stages["collect"], 1),
                "load of the machine": f"{os.getloadavg()[0]:.1f}",
            }
            for name, cell in cells.items():
                rows.setdefault(name, []).append(cell)
        for name, row in rows.items():
            table.add_row(name, *row)
        console.print(table)
        files, held, taken = on_disk(folder / "alone" / "trials", count)
        shared = (folder / "alone" / DATA).stat().st_size / count
        stages, others, samples = watched(repeat, path, folder / "alone", selected)
        table = Table("study.nc of repeated cycles", "", title=f"{selected} trials")
        for name, (start, end) in stages.items():
            table.add_row(f"{name} [s]", f"{end - start:.3f}")
        table.add_row("size [MB]", f"{others['bytes'] / MB:.0f}")
        table.add_row("peak while it is written [MB]", memory(samples, stages["collect"], 1))
        console.print(table)
        console.print(
            f"A trial on disk: {files:.0f} files, {held / 1e3:.0f} kB in them, {taken / 1e3:.0f} kB taken; "
            f"{shared / 1e3:.0f} kB in study.nc."
        )
        hours = PLAN * (computing - files_of) / 3600.0
        lone = PLAN * (files_of + collecting) / 3600.0
        plan = ", ".join(f"{hours / many + lone:.2g} h on {many} cores" for many in (1, 16, 64, 256))
        console.print(
            f"{PLAN} such trials: {hours:.2g} core hours, and {lone:.2g} h by one process (trial files, study.nc): "
            f"{plan}; {PLAN * files:.2g} files, {PLAN * taken / 1e9:.3g} GB, study.nc {PLAN * shared / 1e9:.2g} GB."
        )


def count_frames(output: Path) -> int:
    """The frames of all results."""
    import netCDF4

    total = 0
    for file in output.glob("trials/*/result.nc"):
        with netCDF4.Dataset(file) as result:
            total += result.dimensions["time"].size
    return total


if __name__ == "__main__":
    main()
