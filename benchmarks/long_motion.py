"""Processor time and memory of `musclesolve run` by the length of a recording: minutes on a treadmill.

    python -m benchmarks.long_motion TRIAL.toml [--minutes M ...] [--turn SECONDS SECONDS] [--folder FOLDER]

The recording (TRC and MOT) is a stretch of the trial between two heel strikes of a foot, again and again: where two
stretches meet they are blended over a tenth of a second. Every run is a process of its own, without the page; memory
is its largest resident size. --turn: begin and end of the stretch [s]; --folder: keep recordings and results there.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

import numpy as np

from benchmarks.arguments import command_line, input_file
from musclesolve._util.arrays import Array

BLEND = 0.1
"""Seconds over which two stretches are blended where they meet."""


def repeated(values: Array, rate: float, period: int, count: int) -> Array:
    """Rows of a stretch of `period` rows, `count` rows of it; its last rows lead over to the row before the first."""
    over = round(BLEND * rate)
    weight = np.linspace(0.0, 1.0, over + 2)[1:-1, None]
    one = values[over : over + period].copy()
    one[-over:] = (1.0 - weight) * one[-over:] + weight * values[:over]
    return np.resize(one, (count, values.shape[1]))


def long_table(source: Path, target: Path, begin: float, turn: float, seconds: float, header: int) -> float:
    """Write the rows of a table of numbers again and again, `header` columns first; returns the stretch [s]."""
    lines = source.read_text().splitlines()
    first = next(
        k for k, line in enumerate(lines) if re.match(r"\s*-?\d+(\.\d*)?(\s+-?\d\S*)+\s*$", line) and k > 3
    )
    rows = np.array([line.split() for line in lines[first:] if line.strip()], dtype=float)
    times = rows[:, header - 1]
    rate = round((len(times) - 1) / (times[-1] - times[0]))
    start, period, count = (
        np.searchsorted(times, begin - BLEND - 1e-6),
        round(turn * rate),
        round(seconds * rate),
    )
    values = repeated(rows[start:, header:], rate, period, count)
    clock = np.arange(count)[:, None] / rate
    numbers = [np.arange(1, count + 1)[:, None], clock] if header == 2 else [clock]
    top = "\n".join(lines[:first]) + "\n"
    top = re.sub(r"nRows=\d+", f"nRows={count}", top)
    if header == 2:
        top = re.sub(rf"\t{len(rows)}\t", f"\t{count}\t", top)
    with target.open("w") as file:
        file.write(top)
        np.savetxt(
            file,
            np.hstack([*numbers, values]),
            fmt=["%d", "%.6f"][2 - header :] + ["%.6g"] * values.shape[1],
            delimiter="\t",
        )
    return period / rate


def long_trial(trial: Path, folder: Path, begin: float, end: float, minutes: float) -> Path:
    """Write a trial of so many minutes into a folder and return its trial file."""
    text = trial.read_text()
    files = tomllib.loads(text)["files"]
    folder.mkdir(parents=True, exist_ok=True)
    turn = end - begin
    for name, header in ((files["markers"], 2), (files["forces"], 1)):  # whole frames of the markers in both
        turn = long_table(trial.parent / name, folder / name, begin, turn, 60.0 * minutes, header)
    made = folder / trial.name
    whole = f"[time]\nstart_s = {BLEND}\nend_s = {60.0 * minutes - BLEND}\n"
    made.write_text(re.sub(r"\[time\]\n(\w+ *=.*\n)*", whole, text))
    return made


def measured(trial: Path, output: Path) -> tuple[float, float, float]:
    """Seconds of processor and clock, and the largest resident size [MB] of a run."""
    words = [sys.executable, "-m", "musclesolve", "run", str(trial), "-o", str(output), "--no-figures"]
    start = time.perf_counter()
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert child.stderr is not None
    said = child.stderr.read().decode()
    _, status, used = os.wait4(child.pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 3):
        sys.exit(said)
    return used.ru_utime + used.ru_stime, time.perf_counter() - start, used.ru_maxrss * 1024.0 / 1e6


def main() -> None:
    """Measure and print."""
    parser = command_line(__doc__)
    parser.add_argument("trial", type=input_file)
    parser.add_argument("--minutes", type=float, nargs="+", default=[1.0, 3.0, 10.0])
    parser.add_argument("--turn", type=float, nargs=2, default=[1.663, 3.935], metavar="SECONDS")
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        place = given.folder or Path(name)
        print(f"{'minutes':>8}{'CPU [s]':>10}{'clock [s]':>11}{'peak [MB]':>11}{'result [MB]':>13}")
        for minutes in given.minutes:
            folder = place / f"{minutes:g}"
            trial = folder / given.trial.name
            if not trial.is_file():
                long_trial(given.trial, folder, given.turn[0], given.turn[1], minutes)
            cpu, clock, peak = measured(trial, folder / "result")
            size = (folder / "result" / "result.nc").stat().st_size / 1e6
            print(f"{minutes:8g}{cpu:10.1f}{clock:11.1f}{peak:11.0f}{size:13.1f}", flush=True)


if __name__ == "__main__":
    main()
