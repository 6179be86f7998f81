"""Does cross-validation of markers find the expected jerk of a motion program? A table of answers.

python -m benchmarks.smoothness [--noise-mm N] [--skin-mm N] [--seed N] [--jerk J ...]

For each expected jerk a quarter of the markers is left out, four times, until each was left out once; the motion of
the others predicts them. `single`: single frames of single markers. `100 ms`, `170 ms`: all markers in each fourth
block of this length. A column has the root mean square of their coordinates less the predicted ones [mm], and below
the jerk where it is least. Eight frames at each end are never left out and do not count.

The bundled stride has a known truth: errors of the moments of the legs [N m] and of the shared forces [N] show which
jerk is the best one. Its noise is as in `benchmarks.motion_program`. One of six jerks takes half a minute of
processor time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

import musclesolve as ms
from benchmarks.motion_program import INNER, Stride, rms, stride_options
from musclesolve._util.arrays import Array, Indices
from musclesolve.dynamics.kinematics.motion_derivatives import motion_from
from musclesolve.symbolic.motion_program import MotionProgram, ProgramMotion

JERKS = (3200.0, 1600.0, 800.0, 400.0, 200.0, 100.0)
FOLDS = 4
BLOCKS_MS = (100, 170)


class Smoothness(NamedTuple):
    """The motion of an expected jerk [rad/s3, m/s3], and errors of left-out markers [m] by the way of leaving out."""

    jerk: float
    motion: ProgramMotion
    missed: dict[str, float]


def folds(time: Array, markers: int, inner: slice = INNER) -> dict[str, Indices]:
    """Ways of leaving out: number 0 to 3 of the fold of each marker in each frame (T, P); -1 where it is never out."""
    frame, marker = np.indices((len(time), markers))
    ways = {"single": (frame + marker) % FOLDS}
    for length in BLOCKS_MS:
        block = round(1e-3 * length / float(np.diff(time).mean()))
        ways[f"{length} ms"] = frame // max(block, 1) % FOLDS
    ends = np.ones(len(time), dtype=bool)
    ends[inner] = False
    for way in ways.values():
        way[ends] = -1
    return ways


def smoothness(
    program: MotionProgram, jerks: Sequence[float], ways: Mapping[str, Indices], start: Array
) -> Iterator[Smoothness]:
    """Motions of expected jerks, and how well each predicts the markers that it did not have."""
    before: ProgramMotion | Array = start
    for jerk in jerks:
        weights = ms.symbolic.MotionWeights(jerk=jerk)
        before = motion = program.solve(weights, before)
        missed = {}
        for name, fold in ways.items():
            errors = np.full(program.targets.shape, np.nan)
            for k in range(FOLDS):
                predicted = program.solve(weights, motion, without=fold == k)
                errors[fold == k] = (predicted.markers - program.targets)[fold == k]
            missed[name] = rms(errors)
        yield Smoothness(jerk, motion, missed)


def least(jerks: Sequence[float], values: Sequence[float]) -> str:
    """The jerk where values are least: by a parabola over the logarithm of the jerk, or beyond one end of the jerks."""
    order = np.argsort(jerks)
    x, y = np.log(np.array(jerks, float)[order]), np.array(values, float)[order]
    k = int(y.argmin())
    if k in (0, len(y) - 1):
        return f"{'<' if k == 0 else '>'} {np.exp(x[k]):.0f}"
    curve = np.polyfit(x[k - 1 : k + 2], y[k - 1 : k + 2], 2)
    return f"{np.exp(-curve[1] / (2.0 * curve[0])):.0f}"


def report_stride(stride: Stride, jerks: Sequence[float]) -> None:
    """Print the table of the bundled stride, with its errors to the truth."""
    body = ms.symbolic.skeleton(stride.model, tuple(stride.loads))
    program = ms.symbolic.motion_program(body, stride.time, stride.places, stride.measured, stride.loads)
    rows, truth = [], []
    for row in smoothness(program, jerks, folds(stride.time, len(stride.places)), program.nearest_poses()):
        found = row.motion
        moved = motion_from(stride.model, stride.time, found.coordinates, found.rates, found.accelerations)
        moments, forces = (
            (one - true)[INNER] for one, true in zip(stride.with_forces(moved), stride.truth, strict=True)
        )
        truth.append([rms(moments[:, stride.legs]), rms(forces)])
        rows.append(row)
    show(rows, {"moments": [each[0] for each in truth], "forces": [each[1] for each in truth]})


def show(rows: Sequence[Smoothness], further: Mapping[str, Sequence[float]]) -> None:
    """Print one line a jerk, and the jerk where each column is least."""
    missed = {name: [1e3 * row.missed[name] for row in rows] for name in rows[0].missed}
    table = Table("jerk", *further, *missed, title="errors by the expected jerk")
    for k, row in enumerate(rows):
        cells = [f"{values[k]:.2f}" for values in further.values()]
        table.add_row(f"{row.jerk:g}", *cells, *(f"{values[k]:.3f}" for values in missed.values()))
    jerks = [row.jerk for row in rows]
    ends = [least(jerks, values) for values in further.values()]
    table.add_row("least at", *ends, *(least(jerks, values) for values in missed.values()))
    Console(width=100).print(table)


def main() -> None:
    options = stride_options(__doc__, JERKS).parse_args()
    jerks = sorted(options.jerk, reverse=True)
    report_stride(Stride(1e-3 * options.noise_mm, 1e-3 * options.skin_mm, options.seed), jerks)


if __name__ == "__main__":
    main()
