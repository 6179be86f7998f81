"""Memory and processor time of long trials: `share_model` under loads, and `musclesolve share`, in fresh processes.

    python -m benchmarks.long_trials MODEL.osim IK.mot LOADS.xml [--frames N ...] [--against REVISION]

A trial of so many frames is the motion and the loads (an ExternalLoads file, and its data) forward and backward in time
again and again: they agree in both directions. Each row: the peak of the memory of the process, its processor time,
and the size of the numbers of the result. `--against` computes the same with an earlier revision of git, and compares
the bytes of all numbers and texts of both results.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.arguments import command_line, input_file
from benchmarks.felt import ROOT, revision
from musclesolve.files import read_mot

FRAMES = 1000, 6000, 18000, 60000
ONE = """
import hashlib, resource, sys
import numpy as np
import musclesolve as ms
result = ms.share_model(*sys.argv[1:3], loads=sys.argv[3], cutoff_hz=6.0)
used = resource.getrusage(resource.RUSAGE_SELF)
code = hashlib.sha256()
for name in sorted(map(str, result.variables)):
    values = result[name].values
    code.update(repr(values.tolist()).encode() if values.dtype.kind in "UO" else np.ascontiguousarray(values).data)
code.update(repr(sorted((name, str(value)) for name, value in result.attrs.items())).encode())
print(used.ru_maxrss / 976.5625, used.ru_utime + used.ru_stime, result.nbytes / 1e6, code.hexdigest())
"""


def write(path: Path, names: tuple[str, ...], time: np.ndarray, values: np.ndarray, degrees: bool) -> None:
    """Write a MOT file."""
    unit = "yes" if degrees else "no"
    head = f"long\nversion=1\nnRows={len(time)}\nnColumns={len(names) + 1}\ninDegrees={unit}\nendheader\n"
    with path.open("w", encoding="utf-8") as file:
        file.write(head + "\t".join(("time", *names)) + "\n")
        np.savetxt(file, np.column_stack([time, values]), fmt="%.8f", delimiter="\t")


def lengthen(coordinates: Path, loads: Path, frames: int, folder: Path) -> tuple[Path, Path]:
    """Write a motion and its loads of so many frames."""
    text = loads.read_text(encoding="utf-8")
    data = re.search("<datafile>(.*)</datafile>", text)
    assert data is not None
    motion, forces = read_mot(coordinates), read_mot(loads.parent / data[1])
    count = len(motion.time)
    index = np.concatenate([np.arange(count), np.arange(count - 2, 0, -1)])
    index = index[np.arange(frames) % len(index)]
    time = np.arange(frames) * float(np.diff(motion.time).mean())
    sampled = np.stack([np.interp(motion.time, forces.time, column) for column in forces.values.T], axis=1)
    write(folder / "ik.mot", motion.names, time, motion.values[index], motion.in_degrees)
    write(folder / "grf.mot", forces.names, time, sampled[index], False)
    changed = folder / "loads.xml"
    changed.write_text(text.replace(data[0], "<datafile>grf.mot</datafile>"), encoding="utf-8")
    return folder / "ik.mot", changed


def main() -> None:
    parser = command_line(__doc__)
    for name in ("model", "coordinates", "loads"):
        parser.add_argument(name, type=input_file)
    parser.add_argument("--frames", type=int, nargs="+", default=FRAMES)
    parser.add_argument("--against", metavar="REVISION", help="an earlier revision of git")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, revision(given.against) as earlier:
        for frames in given.frames:
            files = [
                str(path.resolve()) for path in lengthen(given.coordinates, given.loads, frames, Path(name))
            ]
            codes = set()
            for source in [each for each in (earlier, ROOT) if each]:
                words = [sys.executable, "-c", ONE, str(given.model.resolve()), *files]
                environment = os.environ | {"PYTHONPATH": str(source)}
                done = subprocess.run(
                    words, env=environment, cwd=name, capture_output=True, text=True, check=True
                )
                peak, spent, size, code = done.stdout.split()[-4:]
                codes.add(code)
                print(
                    f"{'before' if source == earlier else 'now':6} {frames:6d} frames: {float(peak):5.0f} MB at most, "
                    f"{float(spent):5.1f} s of the processor, result {float(size):5.0f} MB"
                )
            if earlier:
                print("equal bytes" if len(codes) == 1 else "the results differ")


if __name__ == "__main__":
    main()
