"""Exports of a recording as Qualisys, Motive, D-Flow and Vicon Nexus write them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from musclesolve.tables import Markers


def cell(number: float, decimals: int = 6) -> str:
    return "" if np.isnan(number) else f"{number:.{decimals}f}"


def lines(rows: np.ndarray, separator: str, lead: Sequence[Sequence[str]] = ()) -> list[str]:
    texts = [[cell(number) for number in row] for row in rows]
    return [
        separator.join([*first, *row]) for first, row in zip(lead or [()] * len(rows), texts, strict=True)
    ]


def flat(markers: Markers) -> np.ndarray:
    return markers.position.reshape(len(markers.time), -1)


def written(path: Path, text: Sequence[str], encoding: str = "utf-8") -> Path:
    path.write_text("\n".join(text) + "\n", encoding=encoding)
    return path


def qualisys(
    path: Path, markers: Markers, titles: bool, clock: bool, types: bool = False, end: str = ""
) -> Path:
    head = [
        f"NO_OF_FRAMES\t{len(markers.time)}",
        "NO_OF_CAMERAS\t8",
        f"NO_OF_MARKERS\t{len(markers.names)}",
        f"FREQUENCY\t{markers.rate:.0f}",
        "NO_OF_ANALOG\t0",
        "ANALOG_FREQUENCY\t0",
        "DESCRIPTION\t--",
        "TIME_STAMP\t2020-01-01, 10:00:00.000\t1234.5",
        "DATA_INCLUDED\t3D",
        "MARKER_NAMES\t" + "\t".join(markers.names),
    ]
    if types:
        head.append("TRAJECTORY_TYPES\t" + "\t".join(["Measured"] * len(markers.names)))
    if titles:
        head.append(
            "\t".join([*["Frame", "Time"] * clock, *(f"{n} {a}" for n in markers.names for a in "XYZ")])
        )
    lead = [(str(k), f"{t:.5f}") for k, t in enumerate(markers.time, start=1)] if clock else ()
    return written(path, [*head, *(line + end for line in lines(1000.0 * flat(markers), "\t", lead))])


def qualisys_plate(
    path: Path, time: np.ndarray, force: np.ndarray, moment: np.ndarray, point: np.ndarray
) -> Path:
    head = [
        f"NO_OF_SAMPLES\t{len(time)}",
        f"FREQUENCY\t{1.0 / (time[1] - time[0]):.0f}",
        "TIME_STAMP\t2020-01-01, 10:00:00.000",
        "FIRST_SAMPLE\t1",
        "DESCRIPTION\tForce data in world",
        "FORCE_PLATE_TYPE\tBertec",
        "FORCE_PLATE_NAME\tBERTEC 1",
        "FORCE_PLATE_CORNER_POSX_POSY_X\t600.0",
        "FORCE_PLATE_LENGTH\t600.0",
    ]
    return written(path, [*head, *lines(np.hstack([force, 1000.0 * moment, 1000.0 * point]), "\t")])


def motive(path: Path, markers: Markers, unit: str, version: str = "1.23", subject: str = "S1") -> Path:
    """A rigid body with its expected markers stands before the markers."""
    size = {"Meters": 1.0, "Millimeters": 1000.0}[unit]
    settings = ["Format Version", version, "Take Name", "Take, 1", "Export Frame Rate", "100.000000"]
    settings += ["Rotation Type", "Quaternion", "Length Units", unit, "Coordinate Space", "Global"]
    settings[3] = f'"{settings[3]}"'
    body = ["Rigid Body"] * 8 + ["Rigid Body Marker"] * 4
    count, frames = len(markers.names), len(markers.time)
    seen = [name for name in markers.names for _ in range(3)]
    rows = [["", "Type", *body, *["Marker"] * (3 * count + 3)]]
    rows += [["", "Name", *["Hip"] * 8, *[f"{subject}:{markers.names[0]}"] * 4]]
    rows[-1] += [*(f"{subject}:{name}" for name in seen), *["Unlabeled 1234"] * 3]
    rows += [["", "ID", *["0"] * (12 + 3 * count + 3)]]
    if version.startswith("1.24"):
        rows += [["", "Parent", *[""] * (12 + 3 * count + 3)]]
    kinds = (
        ["Rotation"] * 4 + ["Position"] * 3 + ["Mean Marker Error"] + ["Position"] * 3 + ["Marker Quality"]
    )
    rows += [["", "", *kinds, *["Position"] * (3 * count + 3)]]
    rows += [["Frame", "Time (Seconds)", *"XYZWXYZ", "", *"XYZ", "", *["X", "Y", "Z"] * (count + 1)]]
    lead = [(str(k), f"{t:.6f}") for k, t in enumerate(markers.time)]
    numbers = np.hstack([np.full((frames, 12), 0.5), size * flat(markers), np.full((frames, 3), np.nan)])
    return written(path, [",".join(settings), "", *map(",".join, rows), *lines(numbers, ",", lead)])


def dflow(path: Path, markers: Markers, forces: np.ndarray) -> Path:
    """`forces` (T, 18): center of pressure, force, moment of two plates."""
    names = [f"{name}.Pos{axis}" for name in markers.names for axis in "XYZ"]
    names += [f"FP{k}.{part}{axis}" for k in (1, 2) for part in ("Cop", "For", "Mom") for axis in "XYZ"]
    lead = [(f"{t:.6f}", str(k)) for k, t in enumerate(markers.time, start=100)]
    rows = lines(np.hstack([flat(markers), forces, forces[:, :1]]), "\t", lead)
    return written(path, ["\t".join(["TimeStamp", "FrameNumber", *names, "Channel16.Anlg"]), *rows])


def nexus(
    path: Path,
    markers: Markers | None,
    plates: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]],
    emg: dict[str, np.ndarray],
    samples: int,
    order: Sequence[str] = ("devices", "joints", "model outputs", "trajectories"),
    separator: str = ",",
    encoding: str = "utf-8",
) -> Path:
    """`plates` of force, moment and center of pressure (S, 3) on the feet, which Nexus turns to push on the plates."""
    numbers = [part for f, m, p in plates for part in (-f, -1000.0 * m, 1000.0 * p)]
    values = np.hstack([*numbers, *(signal[:, None] for signal in emg.values())])
    over = ["", ""]
    for k in range(1, len(plates) + 1):
        over += [
            t for kind in ("Force", "Moment", "CoP") for t in (f"Imported AMTI OR6 #{k} - {kind}", "", "")
        ]
    over += ["Imported EMG - Voltage", *[""] * (len(emg) - 1)] if emg else []
    axes = ["Frame", "Sub Frame", *["Fx", "Fy", "Fz", "Mx", "My", "Mz", "Cx", "Cy", "Cz"] * len(plates), *emg]
    units = ["", "", *(["N"] * 3 + ["N.mm"] * 3 + ["mm"] * 3) * len(plates), *["V"] * len(emg)]
    lead = [(str(k // samples + 1), str(k % samples)) for k in range(len(values))]
    sections = {"devices": ["Devices", "1000", over, axes, units, *lines(values, "\t", lead)]}
    angles = ["", "", "S1:LHipAngles", "", ""], ["Frame", "Sub Frame", "X", "Y", "Z"], ["", "", *["deg"] * 3]
    some = ["1\t0\t1.5\t2.5\t3.5", "2\t0\t1.5\t2.5\t3.5"]
    sections["joints"] = ["Joints", "100", *angles, *some]
    sections["model outputs"] = ["Model Outputs", "100", *angles, *some]
    if markers is not None:
        over = ["", "", *(text for name in markers.names for text in (f"S1:{name}", "", ""))]
        axes = ["Frame", "Sub Frame", *["X", "Y", "Z"] * len(markers.names)]
        frames = [(str(k + 1), "0") for k in range(len(markers.time))]
        head = ["Trajectories", f"{markers.rate:.0f}", over, axes, ["", "", *["mm"] * 3 * len(markers.names)]]
        sections["trajectories"] = [*head, *lines(1000.0 * flat(markers), "\t", frames)]
    text = []
    for name in order:
        text += [("\t".join(line) if isinstance(line, list) else line) for line in sections[name]] + [""]
    joined = [line.replace(".", ",") if separator == ";" and line[:1].isdigit() else line for line in text]
    return written(path, [line.replace("\t", separator) for line in joined], encoding)
