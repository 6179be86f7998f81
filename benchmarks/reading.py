"""How fast text files are read, and how much more memory that takes than the numbers themselves.

python -m benchmarks.reading [MEGABYTES]
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from rich.table import Table

from benchmarks.timing import console
from musclesolve.files import Trial

MEGABYTES = 60
MARKERS, COLUMNS, ROWS = 41, 18, 500

# In a process of its own, so that the peak is that of the reading.
READ = """
import resource, sys, time
from pathlib import Path
from musclesolve.files import read_forces_table, read_markers

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

path = Path(sys.argv[1])
before, start = peak(), time.perf_counter()
found = read_markers(path) if sys.argv[2] == "markers" else read_forces_table(path)
seconds = time.perf_counter() - start
numbers = found.time.nbytes + (found.position if sys.argv[2] == "markers" else found.values).nbytes
print(seconds, numbers, peak() - before)
"""


def report(trial: Trial | None = None, megabytes: int = MEGABYTES) -> None:
    """Print a table: one row per format, each file of so many megabytes, whatever the trial."""
    table = Table(
        "file", "MB", "seconds", "MB/s", "numbers MB", "peak / numbers", title="reading text files, cold"
    )
    with TemporaryDirectory() as folder:
        for name, write in FILES.items():
            path = Path(folder) / name
            write(path, megabytes * 1_000_000)
            kind = "forces" if path.stem.startswith("forces") else "markers"
            done = subprocess.run(
                [sys.executable, "-c", READ, str(path), kind], capture_output=True, text=True, check=True
            )
            seconds, numbers, peak = map(float, done.stdout.split())
            size = path.stat().st_size / 1e6
            path.unlink()
            cells = (f"{size:.0f}", f"{seconds:.2f}", f"{size / seconds:.0f}", f"{numbers / 1e6:.0f}")
            table.add_row(name, *cells, f"{peak / numbers:.2f}")
    console.print(table)


def _trc(path: Path, size: int) -> None:
    lines = _numbers(3 * MARKERS, 3, "\t")
    # A fiftieth of the frames has half of its markers lost.
    lines[::50] = [line[: len(line) // 2].rpartition("\t")[0] for line in lines[::50]]
    lines = [line + "\t" * (3 * MARKERS - 1 - line.count("\t")) for line in lines]
    count = _count(lines, size)
    names = "\t\t\t".join(f"M{k}" for k in range(MARKERS))
    axes = "\t".join(f"{axis}{k + 1}" for k in range(MARKERS) for axis in "XYZ")
    head = (
        "PathFileType\t4\t(X/Y/Z)\tx.trc\nDataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\n"
        f"100\t100\t{count}\t{MARKERS}\tmm\nFrame#\tTime\t{names}\n\t\t{axes}\n"
    )
    _write(path, head, lines, count, lambda k: f"{k + 1}\t{k / 100:.5f}\t")


def _mot(path: Path, size: int) -> None:
    lines = _numbers(COLUMNS, 6, "\t")
    count = _count(lines, size)
    names = "\t".join(["time", *(f"c{k}" for k in range(COLUMNS))])
    head = f"x\nversion=1\nnRows={count}\nnColumns={COLUMNS + 1}\ninDegrees=no\nendheader\n{names}\n"
    _write(path, head, lines, count, lambda k: f"{k / 2000:.6f}\t")


def _csv(path: Path, size: int) -> None:
    lines = _numbers(3 * MARKERS, 3, ",")
    names = ",".join(["time", *(f"M{k}_{axis} [mm]" for k in range(MARKERS) for axis in "xyz")])
    _write(path, names + "\n", lines, _count(lines, size), lambda k: f"{k / 100:.5f},")


def _german(path: Path, size: int) -> None:
    lines = [line.replace(".", ",") for line in _numbers(COLUMNS, 6, ";")]
    names = ";".join(["time", *(f"c{k}" for k in range(COLUMNS))])
    _write(path, names + "\n", lines, _count(lines, size), lambda k: f"{k / 2000:.6f};".replace(".", ","))


def _numbers(columns: int, decimals: int, separator: str) -> list[str]:
    values = 800.0 * np.random.default_rng(0).normal(size=(ROWS, columns))
    return [separator.join(f"{value:.{decimals}f}" for value in row) for row in values]


def _count(lines: list[str], size: int) -> int:
    return size // (sum(map(len, lines)) // len(lines) + 14)


def _write(path: Path, head: str, lines: list[str], count: int, start: Callable[[int], str]) -> None:
    with path.open("w", encoding="utf-8") as stream:
        stream.write(head)
        stream.writelines(f"{start(k)}{lines[k % ROWS]}\n" for k in range(count))


FILES: dict[str, Callable[[Path, int], None]] = {
    "markers.trc": _trc,
    "forces.mot": _mot,
    "markers.csv": _csv,
    "forces with decimal commas.csv": _german,
}


if __name__ == "__main__":
    report(megabytes=int(sys.argv[1]) if len(sys.argv) > 1 else MEGABYTES)
