"""The clinical sheet beside what Plug-in Gait wrote into the same recording: r and rms by row.

    python -m benchmarks.plug_in_gait FOLDER...

Every folder holds a trial with its result in `out` (`musclesolve init`, `musclesolve run trial.toml -o out`) and a C3D
file with the outputs of Plug-in Gait. Its angles have the signs of the sheet. Its moments are external, in N mm/kg:
they are turned around, but for the knee adduction moment. All frames are compared; of moments and powers those whose
forces are known. Angles of this package are zero in standing, angles of Plug-in Gait are not: `rms about the mean` is
without the mean difference of each leg.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.table import Table

import musclesolve as ms
from benchmarks.arguments import command_line
from benchmarks.timing import console
from musclesolve import read_trial
from musclesolve._util.arrays import Array
from musclesolve.laboratory import read_c3d
from musclesolve.laboratory.results.cycles.gait_scores import leg_curves, panels
from musclesolve.laboratory.results.dataset import frame_validity as frames

ANGLES = {"pelvis": "PelvisAngles", "hip": "HipAngles", "knee": "KneeAngles", "ankle": "AnkleAngles"}
PLANES = {
    **dict.fromkeys(("tilt", "hip_flexion", "knee_flexion", "ankle_dorsiflexion"), 0),
    **dict.fromkeys(("list", "hip_adduction", "knee_adduction_moment"), 1),
    **dict.fromkeys(("rotation", "hip_internal_rotation", "foot_progression_angle"), 2),
}
"""Component of the output of Plug-in Gait."""


@dataclass(frozen=True)
class Row:
    """Agreement of a curve of both legs."""

    title: str
    unit: str
    r: float
    rms: float
    about_mean: float
    frames: int


def output_of(quantity: str, name: str) -> tuple[str, int, float] | None:
    """Return label without side, component and factor to the sign and unit of the sheet."""
    if quantity == "joint_power":
        return f"{name.title()}Power", 2, 1.0
    if name not in PLANES:
        return None
    joint = name.partition("_")[0]
    if quantity == "foot_progression_angle":
        return "FootProgressAngles", 2, 1.0
    if quantity.endswith("_angle"):
        return ANGLES[joint if quantity == "joint_angle" else "pelvis"], PLANES[name], 1.0
    sign = 1.0 if quantity == "knee_adduction_moment" else -1.0
    return f"{joint.title()}Moment", PLANES[name], 0.001 * sign


def rows(folder: Path) -> list[Row]:
    """The rows of the sheet of a folder that Plug-in Gait has, too."""
    result = ms.read_result(folder / "out" / "result.nc")
    own_time, theirs_by_label = outputs(read_trial(folder / "trial.toml").files["markers"])
    time = np.asarray(result["time"].values, dtype=float)
    found = []
    for panel in (panel for row in panels() for panel in row):
        if (output := output_of(*panel.curve)) is None:
            continue
        pairs = []
        for side in frames.sides(result):
            label = f"{side.upper()}{output[0]}"
            if panel.curve in (curves := leg_curves(result, side)) and label in theirs_by_label:
                values = output[2] * theirs_by_label[label][:, output[1]]
                theirs = np.interp(time, own_time, values)
                of_motion = panel.quantity.endswith("_angle")
                used = np.ones(time.size, bool) if of_motion else frames.credible(result, side)
                both = np.stack([curves[panel.curve], theirs])[:, used]
                pairs.append(both[:, np.isfinite(both).all(axis=0)])
        if pairs and (both := np.concatenate(pairs, axis=1)).shape[1] > 2:
            away = both[0] - both[1]
            # of each leg without its own mean difference
            centered = np.concatenate(
                [pair[0] - pair[1] - (pair[0] - pair[1]).mean() for pair in pairs if pair.size]
            )
            numbers = (float(np.corrcoef(both)[0, 1]), float(np.sqrt(np.mean(away**2))))
            about = float(np.sqrt(np.mean(centered**2)))
            found.append(Row(panel.title, panel.unit, *numbers, about, both.shape[1]))
    return found


def outputs(path: Path) -> tuple[Array, dict[str, Array]]:
    """Times [s] and what the file holds of Plug-in Gait by label, (F, 3), NaN where its residual is negative."""
    file = read_c3d(path)
    stored = np.concatenate([numbers[:, : 4 * file.layout.points] for _, numbers in file._chunks()])
    points = stored.reshape(len(stored), -1, 4).astype(float)
    values = np.where(points[..., 3:] >= 0.0, points[..., :3], np.nan)
    labels = file.description.texts("POINT:LABELS")
    return file.time, {label: values[:, number] for number, label in enumerate(labels)}


def main() -> None:
    """Print a table for every folder."""
    parser = command_line(__doc__)
    parser.add_argument("folder", type=Path, nargs="+", help="folder of a trial with its result in `out`")
    for folder in parser.parse_args().folder:
        table = Table(title=folder.name)
        for column in ("row", "unit", "r", "rms", "rms about the mean", "frames"):
            table.add_column(column)
        for row in rows(folder):
            digits = 1 if row.unit == "deg" else 2
            numbers = (
                f"{row.r:.2f}",
                f"{row.rms:.{digits}f}",
                f"{row.about_mean:.{digits}f}",
                str(row.frames),
            )
            table.add_row(row.title, row.unit, *numbers)
        console.print(table)


if __name__ == "__main__":
    main()
