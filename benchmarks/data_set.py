"""A data set of many trials: frames a second, memory, bytes a frame, and the same numbers after a kill.

    python -m benchmarks.data_set RESULTS.b3d [TRIALS [FRAMES]]

TRIALS (200) trials of about FRAMES (200) frames are made from the trials of a B3D file, ten of a subject: pieces of
them, forward and backward in time (a motion and its ground forces agree in both directions), with another mass, speed
and size of the joint angles; one in ten is broken (no ground forces, all marked as missing, one frame, no number, a
jump of the pelvis), and one file in twenty is cut off. `make_dataset` computes them with one process, with one for each
core, and in a command that is killed twice. Memory is read four times a second. It prints the table of
docs/study.md.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.arguments import command_line, input_file
from benchmarks.timing import console
from benchmarks.validation.page import table
from benchmarks.watched import MB, memory, processor_time, timed, watched
from musclesolve._util.processes import cores
from musclesolve.laboratory import read_b3d
from musclesolve.laboratory.files.b3d import B3DPass, B3DTrial
from musclesolve.sharing import compile_kernel
from musclesolve.studies import make_dataset, open_dataset
from musclesolve.studies.benchmark.measure import machine
from musclesolve.studies.dataset.compute_dataset import estimate_dataset

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
TRIALS, FRAMES, OF_SUBJECT = 200, 200, 10
BROKEN = ("no ground forces", "marked as missing", "one frame", "no number", "a jump of the pelvis")
KILLS = (0.3, 0.6)
"""Shares of the trials after which the command is killed."""


def make(folder: Path, source: Path, trials: int, frames: int, seed: int = 0) -> None:
    """Write the B3D files of so many trials."""
    from b3d_files import TrialOnDisk, write_b3d

    subject, random = read_b3d(source), np.random.default_rng(seed)
    kinds = [trial for trial in subject.trials if trial.passes]
    folder.mkdir(parents=True)
    number = 0
    for person in range(-(-trials // OF_SUBJECT)):
        of_person = []
        for k in range(min(OF_SUBJECT, trials - person * OF_SUBJECT)):
            number += 1
            fault = BROKEN[number // 10 % len(BROKEN)] if number % 10 == 0 else ""
            length = max(int(frames * random.uniform(0.5, 1.5)), 60)
            missing, fields, step = varied(kinds[k % len(kinds)], length, fault, random)
            of_person.append(TrialOnDisk(f"walk_{k + 1}", [one_pass(fields)], missing, step=step))
        path = write_b3d(
            folder / f"S{person + 1:03d}.b3d",
            of_person,
            subject.models,
            subject.coordinate_count,
            subject.contact_bodies,
            mass=subject.mass_kg or 0.0,
            stature=subject.stature_m or 0.0,
            sex=subject.sex or "",
        )
        if person % 20 == 19:
            path.write_bytes(path.read_bytes()[:-2000])


def one_pass(fields: dict[int, np.ndarray]) -> Any:
    from b3d_files import Pass

    return Pass(1, fields)


def varied(
    trial: B3DTrial, length: int, fault: str, random: np.random.Generator
) -> tuple[list[int], dict[int, np.ndarray], float]:
    """The flags of missing forces, the fields of the pass and the step of a trial made of pieces of another."""
    last: B3DPass = trial.passes[-1]
    count = len(trial.time)
    there_and_back = np.concatenate([np.arange(count), np.arange(count - 2, 0, -1)])
    index = there_and_back[(int(random.integers(count)) + np.arange(length)) % len(there_and_back)]
    position, wrench = last.position[index].copy(), last.wrench[index].reshape(length, -1).copy()
    position[:, 6:] *= random.uniform(0.97, 1.03)
    wrench *= random.uniform(0.95, 1.05)
    missing = trial.missing[index].tolist()
    if fault == BROKEN[0]:
        wrench[:] = 0.0
    elif fault == BROKEN[1]:
        missing = [5] * length
    elif fault == BROKEN[2]:
        position, wrench, missing = position[:1], wrench[:1], missing[:1]
    elif fault == BROKEN[3]:
        position[length // 2, 7] = np.nan
    elif fault == BROKEN[4]:
        position[length // 2 :, 3] += 1.0
    kept = len(position)
    none, still = np.zeros((kept, 6)), np.zeros_like(position)
    step = float(trial.time[1] - trial.time[0]) * random.uniform(0.95, 1.05)
    return missing, {1: position, 2: still, 3: still, 4: still, 5: wrench, 6: none, 7: none, 8: none}, step


def work(connection: Connection, folder: Path, output: Path, jobs: int) -> None:
    """Make a data set in this process, and once more when it is up to date."""
    for stage in ("compute", "unchanged"):
        with timed(connection, stage):
            make_dataset(folder, output, jobs=jobs)


def killed(folder: Path, output: Path, trials: int) -> None:
    """Run the command, kill it with all its processes twice, and let it end."""
    command = [sys.executable, "-m", "musclesolve", "dataset", str(folder), "-o", str(output), "--quiet"]
    for share in (*KILLS, None):
        process = subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL)
        while process.poll() is None:
            done = sum(1 for _ in output.glob("trials/*/result.nc"))
            if share is not None and done > share * trials:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            time.sleep(0.25)


def same(one: Path, other: Path) -> bool:
    """Return whether two data sets have the same numbers in the same trials."""
    data = open_dataset(one), open_dataset(other)
    if data[0].computed != data[1].computed:
        return False
    for name in data[0].computed:
        left, right = (each.read(name) for each in data)
        if any(left[key].values.tobytes() != right[key].values.tobytes() for key in left.variables):
            return False
    return (one / "subjects.csv").read_bytes() == (other / "subjects.csv").read_bytes()


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("source", type=input_file, metavar="RESULTS.b3d")
    parser.add_argument("trials", type=int, nargs="?", default=TRIALS, metavar="TRIALS")
    parser.add_argument("frames", type=int, nargs="?", default=FRAMES, metavar="FRAMES")
    given = parser.parse_args()
    console.print(", ".join(f"{name} {value}" for name, value in machine().items()))
    compile_kernel()
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        folder = place / "subjects"
        make(folder, given.source, given.trials, given.frames)
        expected = estimate_dataset(folder, place / "estimated", jobs=1)
        rows: dict[str, list[str]] = {}
        alone = 0.0
        for jobs in (1, cores()):
            output = place / f"processes_{jobs}"
            stages, _, samples = watched(work, folder, output, jobs)
            seconds = {name: end - start for name, (start, end) in stages.items()}
            spent = processor_time(samples, stages["compute"])
            data = open_dataset(output)
            total = int(data.subjects["frames"].sum())
            alone = alone or seconds["compute"]
            files = [data.folder / name for name in data.trials["file"].dropna()]
            first = data.read(data.computed[0])
            kept = sum(each.nbytes for each in first.data_vars.values() if "time" in each.dims)
            cells = {
                "trials with a result": f"{len(data)} of {len(data.trials)}",
                "frames": f"{total}",
                "frames/s": f"{total / seconds['compute']:.0f}",
                "frames a second of processor": f"{total / spent:.0f}",
                "times one process": f"{alone / seconds['compute']:.2f}",
                "estimated [s], of": f"{expected.seconds / jobs:.0f}, {seconds['compute']:.0f}",
                "unchanged, ms a trial": f"{1e3 * seconds['unchanged'] / len(data.trials):.0f}",
                "bytes a frame before compression": f"{kept / first.sizes['time']:.0f}",
                "bytes a frame on disk": f"{sum(file.stat().st_size for file in files) / total:.0f}",
                "peak of the parent, MB": memory(samples, stages["compute"], 1),
                "peak of a worker, MB": memory(samples, stages["compute"], 2),
                "load of the machine": f"{os.getloadavg()[0]:.1f}",
            }
            for name, cell in cells.items():
                rows.setdefault(name, []).append(cell)
        killed(folder, place / "killed", given.trials)
        heads = f"{given.trials} trials of some {given.frames} frames", "one process", f"{cores()} processes"
        console.print(table(heads, ([name, *cells] for name, cells in rows.items())), soft_wrap=True)
        one = place / "processes_1"
        for other in (f"processes_{cores()}", "killed"):
            console.print(
                f"one process and {other.replace('_', ' ')}: equal to the bit: {same(one, place / other)}"
            )
        size = sum(file.stat().st_size for file in folder.iterdir())
        console.print(f"input {size / MB:.0f} MB; broken trials: {', '.join(BROKEN)}")


if __name__ == "__main__":
    main()
