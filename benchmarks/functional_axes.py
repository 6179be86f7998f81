"""How well functional trials find knee and ankle axes, by range of motion and noise, on synthetic recordings.

    python -m benchmarks.functional_axes [seeds]

For each joint, noise (root mean square of a coordinate) and range: median and 90th percentile over sides and seeds of
the angle between found and true axis and of the distance of the centers; how many trials are refused; and how many
errors stay below what the note on the axis lets skin do, with the median of that.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

import musclesolve as ms
from musclesolve._util.arrays import Array
from musclesolve.errors import InputError
from musclesolve.motion.anatomy.functional_axes import with_functional_axes
from musclesolve.motion.anatomy.landmark_positions import axis_end, standing_trial
from musclesolve.motion.anatomy.standing_posture import foot_left
from musclesolve.motion.anatomy.unit_vectors import unit
from musclesolve.recording.data import Trial
from musclesolve.synthetic.reference_stride import ReferenceStride, reference_stride

NOISES = (("white", 1.0), ("white", 3.0), ("skin", 0.5), ("skin", 1.0), ("skin", 2.0))
RANGES_DEG = (15.0, 22.0, 30.0, 40.0, 60.0, 90.0)
STATED = re.compile(r"turn it by ([\d.]+) degrees and shift it by (\d+) mm")


def errors(trial: Trial, stride: ReferenceStride) -> Iterator[tuple[str, Array]]:
    """Yield joint and angle [deg], distance [mm], and the two that the note states; NaN where the axis is refused."""
    true = dict(zip(stride.marker_names, stride.standing, strict=True))
    standing = standing_trial(trial)
    for key, movement in trial.hinges.items():
        joint, side = movement.joint, movement.side
        center = 0.5 * (true[f"{joint}_lateral_{side}"] + true[f"{joint}_medial_{side}"])
        outward = true[f"{joint}_lateral_{side}"] - center
        if (
            joint == "ankle"
        ):  # the model flexes it about the left of the foot, not about the line of the malleoli
            outward = foot_left(true, side) * (1.0 if side == "l" else -1.0)
        # One joint at a time; above a knee nothing depends on how the ankle was found.
        ankle = f"ankle_center_{side}"
        others = {ankle: 0.5 * (true[f"ankle_lateral_{side}"] + true[f"ankle_medial_{side}"])}
        mapping = {**trial.mapping, ankle: {ankle: 1.0}} if joint == "knee" else trial.mapping
        try:
            points, (note,) = with_functional_axes(
                replace(trial, hinges={key: movement}, mapping=mapping), standing | others
            )
        except InputError:
            yield joint, np.full(4, np.nan)
            continue
        ends = [points[axis_end(f"{joint}_{end}_{side}")] for end in ("lateral", "medial")]
        angle = np.degrees(np.arccos(min(1.0, unit(ends[0] - ends[1]) @ unit(outward))))
        apart = 1000.0 * np.linalg.norm(0.5 * (ends[0] + ends[1]) - center)
        stated = STATED.search(note)
        assert stated is not None
        yield joint, np.array([angle, apart, *map(float, stated.groups())])


def cell(table: Array) -> str:
    """Return what a table (n, 4) of errors comes to."""
    kept = table[np.isfinite(table[:, 0])]
    refused = 100.0 * (1.0 - len(kept) / len(table))
    if not len(kept):
        return "refused"
    (angle, most), (shift, farthest) = np.percentile(kept[:, :2], [50, 90], axis=0).T
    below = 100.0 * np.mean(kept[:, :2] <= kept[:, 2:] + [0.05, 0.5])
    return (
        f"{angle:.1f} / {most:.1f} deg, {shift:.1f} / {farthest:.1f} mm, {below:.0f} % below "
        f"{np.median(kept[:, 2]):.1f} deg, {np.median(kept[:, 3]):.0f} mm"
        + (f", {refused:.0f} % refused" if refused else "")
    )


def main(seeds: int = 10) -> None:
    """Print a line for each joint, noise and range."""
    stride = reference_stride()
    for kind, size in NOISES:
        for deg in RANGES_DEG:
            found: dict[str, list[Array]] = {}
            for seed in range(seeds):
                with tempfile.TemporaryDirectory() as name:
                    options = {"noise": kind, "noise_mm": size, "functional_deg": deg, "seed": seed}
                    trial = ms.read_trial(ms.synthetic_recording(name, stride, truth=False, **options))
                for joint, row in errors(trial, stride):
                    found.setdefault(joint, []).append(row)
            for joint, rows in found.items():
                print(f"{joint:<6} {kind} {size:g} mm, {deg:3g} deg: {cell(np.array(rows))}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
