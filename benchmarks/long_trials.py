"""Memory and processor time of long trials, in fresh processes: `share_model` under loads, or all commands.

    python -m benchmarks.long_trials MODEL.osim IK.mot LOADS.xml [--frames N ...] [--against REVISION]
    python -m benchmarks.long_trials MODEL.osim IK.mot LOADS.xml --commands TRIAL.toml [...]

A trial of so many frames is the motion and the loads (an ExternalLoads file, and its data) forward and backward in time
again and again: they agree in both directions. Each row: the peak of the memory of the process, its processor time,
and the size of the numbers of the result. `--against` computes the same with an earlier revision of git, and compares
the bytes of all numbers and texts of both results. `--commands` does the same with a recording, a trial file beside its
TRC and MOT file, and prints a table: the largest process of each command, its processor time, and what it wrote to the
disk, as the system counts it. Each revision first compiles its code, with `FEW` frames.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from benchmarks.arguments import command_line, input_file
from musclesolve.tables import Markers, read_mot, read_trc, write_trc

ROOT = Path(__file__).resolve().parents[1]
FRAMES = 1000, 6000, 18000, 60000
FEW = 300
"""Frames of the first computation, which compiles code and is not counted."""
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
COMMANDS = {
    "check": "check {trial}",
    "run --no-figures": "run {trial} -o {out}/bare --no-figures",
    "run": "run {trial} -o {out}/run",
    "share --loads": "share --model {model} --coordinates {motion} --loads {loads} --cutoff-hz 6 -o {out}/share",
    "export, CSV": "export {out}/run/result.nc -o {out}/force.csv --variable muscle_force",
    "export, STO": "export {out}/run/result.nc -o {out}/tables.sto",
    "export, MAT": "export {out}/run/result.nc -o {out}/result.mat",
    "export, Parquet": "export {out}/run/result.nc -o {out}/result.parquet",
    "report": "report {out}/run/result.nc -o {out}/page.html",
    "picture": "picture {out}/run/result.nc -o {out}/picture.html",
    "average": "average {out}/run/result.nc -o {out}/mean",
    "dataset": "dataset {folder} -o {out}/data",
    "live --replay": "live {trial} --replay -o {out}/live",
}


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


def environment(source: Path) -> dict[str, str]:
    """The environment in which Python imports musclesolve from a source; its processes start in another folder."""
    return os.environ | {"PYTHONPATH": str(source)}


def check_import(source: Path, folder: Path) -> None:
    """Make sure that processes in a folder import a source."""
    words = [sys.executable, "-c", "import musclesolve; print(musclesolve.__file__)"]
    found = subprocess.run(
        words, env=environment(source), cwd=folder, capture_output=True, text=True, check=True
    ).stdout.strip()
    if not Path(found).resolve().is_relative_to(source.resolve()):
        raise SystemExit(f"{found} would be measured in place of {source}")


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
    if data is None:
        raise SystemExit(f"{loads} names no <datafile>: name the XML file of the external loads")
    motion, forces = read_mot(coordinates), read_mot(loads.parent / data[1].strip())
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


def lengthen_recording(trial: Path, frames: int, folder: Path) -> Path:
    """Write a trial file and its recording, a TRC and a MOT file, of so many frames."""
    whole = trial.read_text(encoding="utf-8")
    text = re.sub(r"^\[(?:time|emg[.\w]*)\][^\n]*\n(?:[^[\n].*\n|\n)*", "", whole, flags=re.MULTILINE)
    names = [re.search(f'^{kind} = "(.*)"', text, re.MULTILINE) for kind in ("markers", "forces")]
    assert all(names)
    markers, forces = (trial.parent / name[1] for name in names if name)
    seen, measured = read_trc(markers), read_mot(forces)
    index = np.concatenate([np.arange(len(seen.time)), np.arange(len(seen.time) - 2, 0, -1)])
    index = index[np.arange(frames) % len(index)]
    time = np.arange(frames) * float(np.diff(seen.time).mean())
    sampled = np.stack([np.interp(seen.time, measured.time, column) for column in measured.values.T], axis=1)
    folder.mkdir(exist_ok=True)
    write_trc(folder / markers.name, Markers(time, seen.names, seen.position[index], markers))
    write(folder / forces.name, measured.names, time, sampled[index], False)
    for kind, path in re.findall('^(markers|static|forces) = "(.*)"', text, re.MULTILINE):
        file = (trial.parent / path).resolve() if kind == "static" else Path(path).name
        text = text.replace(f'{kind} = "{path}"', f'{kind} = "{file}"')
    (folder / trial.name).write_text(text, encoding="utf-8")
    return folder / trial.name


def used_by(name: str, places: dict[str, Path], out: Path, source: Path) -> resource.struct_rusage:
    """The count of the system of memory, time and writing of a command of a source."""
    words = COMMANDS[name].format(**places, out=out).split()
    with subprocess.Popen(
        [sys.executable, "-m", "musclesolve", *words],
        env=environment(source),
        cwd=out.parent,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        said = process.stderr.read().decode() if process.stderr else ""
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 2 if name == "check" else 0, 3):  # faults of the recording
        raise SystemExit(f"{name} ended with {process.returncode}: {said}")
    return used


def table_of_commands(
    names: list[str], places: dict[str, Path], sources: list[Path], counted: bool = True
) -> None:
    """Print the peak of the memory, the processor time and the bytes written of each command, in each source.

    counted: whether anything is printed; the first time commands compile their code.
    """
    for name in names:
        cells = [f"{name:16}"]
        for number, source in enumerate(sources):
            used = used_by(name, places, places["folder"].parent / f"out{number}", source)
            spent, written = used.ru_utime + used.ru_stime, 512e-6 * used.ru_oublock
            cells.append(f"{used.ru_maxrss / 976.5625:6.0f} MB {spent:6.1f} s {written:6.0f} MB written")
        if counted:
            print("  ".join(cells), flush=True)


def main() -> None:
    parser = command_line(__doc__)
    for name in ("model", "coordinates", "loads"):
        parser.add_argument(name, type=input_file)
    parser.add_argument("--frames", type=int, nargs="+", default=FRAMES)
    parser.add_argument("--against", metavar="REVISION", help="an earlier revision of git")
    parser.add_argument("--commands", metavar="TRIAL", type=input_file, help="all commands, with a recording")
    parser.add_argument(
        "--only", metavar="COMMAND", nargs="+", default=list(COMMANDS), choices=list(COMMANDS)
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, revision(given.against) as earlier:
        every = [each for each in (earlier, ROOT) if each]
        for source in every:
            check_import(source, Path(name))
        for frames in (FEW, *given.frames):
            files = [
                str(path.resolve()) for path in lengthen(given.coordinates, given.loads, frames, Path(name))
            ]
            codes = set()
            if given.commands:
                if frames != FEW:
                    print(f"{frames} frames" + (f": {given.against}, now" if earlier else ""))
                trial = lengthen_recording(given.commands, frames, Path(name) / "recording")
                places = {
                    "model": given.model.resolve(),
                    "motion": files[0],
                    "loads": files[1],
                    "trial": trial,
                }
                table_of_commands(given.only, places | {"folder": trial.parent}, every, frames != FEW)
                continue
            for source in every:
                words = [sys.executable, "-c", ONE, str(given.model.resolve()), *files]
                done = subprocess.run(
                    words, env=environment(source), cwd=name, capture_output=True, text=True, check=True
                )
                peak, spent, size, code = done.stdout.split()[-4:]
                codes.add(code)
                if frames == FEW:
                    continue
                print(
                    f"{'before' if source == earlier else 'now':6} {frames:6d} frames: {float(peak):5.0f} MB at most, "
                    f"{float(spent):5.1f} s of the processor, result {float(size):5.0f} MB"
                )
            if earlier and frames != FEW:
                print("equal bytes" if len(codes) == 1 else "the results differ")


if __name__ == "__main__":
    main()
