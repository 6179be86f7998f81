"""Filtering within the reconstruction, beside the filter before it (Silva 2003, 7.2).

    python -m benchmarks.filter_within [--trial TRIAL.toml] [--draws 2] [--cutoff 6]

The source hopes for a filter that is a part of the reconstruction, in place of two steps: filtered points, then the
consistent pose nearest to them. Of measured points m_t both are least squares with the same penalty on second
differences, L,

    two steps: y = argmin |y - m|^2 + lambda |L y|^2 over free points, then x_t = the consistent points nearest to y_t,
    one step:  x = argmin |x - m|^2 + lambda |L x|^2 over consistent points x_t of all frames together,

with lambda so that a sine of the cut-off frequency keeps half of its size, and little of any higher one: 1 / (1 +
(f / f_c)^4), the gain of two passes of a Butterworth filter of order two. If the directions D_t in which consistent
points can move were constant, filter and projection would commute and both would be the same to first order. One step
is solved by Gauss-Newton: steps s_t in the speeds, x_t + D_t s_t in the place of x_t, one banded system of all frames.

The consistent motion of a trial is the truth; the points of the model are measured with the errors that the source
reports. Third is the other order: the pose nearest to raw points, then the filter on joint angles.
"""

from pathlib import Path

import numpy as np
from rich.table import Table
from scipy.linalg import solveh_banded

import musclesolve as ms
from benchmarks.arguments import command_line, input_file
from benchmarks.thesis_figures.study import DIGITIZING_MM, SAGITTAL, SEED
from benchmarks.timing import console
from musclesolve._util.arrays import Array
from musclesolve.data.bundled import reference_stride
from musclesolve.dynamics.kinematics.measured_targets import Targets
from musclesolve.dynamics.kinematics.pose_fit import Pose, fit_pose
from musclesolve.dynamics.model.model import Model
from musclesolve.forces import mechanics
from musclesolve.recording.data import Trial

STEPS, DONE = 20, 1e-9
"""Most steps of Gauss-Newton, and the share of the cost that the last one saves."""
UNSEEN = 1e-6
"""Weight [m^2] that keeps rotations that the points do not show where they are."""


def penalty(frames: int, step: float, cutoff: float) -> Array:
    """Matrix lambda L^T L (T, T) of frames this far apart [s], which leaves half of a sine of the cut-off [Hz]."""
    second = np.diff(np.eye(frames), 2, axis=0)
    return np.asarray(second.T @ second / (2.0 * np.sin(np.pi * cutoff * step)) ** 4)


def smoothed(values: Array, rough: Array) -> Array:
    """The values (T, ...) nearest to these, with the penalty."""
    flat = values.reshape(len(values), -1)
    return np.asarray(np.linalg.solve(np.eye(len(flat)) + rough, flat).reshape(values.shape))


def cost(points: Array, measured: Array, rough: Array) -> float:
    """|x - m|^2 + lambda |L x|^2 of points (T, n, 3) [m^2]."""
    x = points.reshape(len(points), -1)
    return float(((points - measured) ** 2).sum() + np.einsum("ti,tu,ui->", x, rough, x))


def in_one_step(model: Model, targets: Targets, start: Pose, rough: Array) -> tuple[Pose, int]:
    """The consistent motion with the least cost, and the steps of Gauss-Newton from a motion near it."""
    pose, tree, frames, after = start, model.tree, len(targets.values), np.inf
    within = [np.diagonal(np.eye(frames) + rough, k) for k in range(3)]
    for number in range(1, STEPS + 1):  # noqa: B007  (returned)
        q = pose.q(tree)
        x = q[:, targets.slots]
        directions = tree.allowed(q, pose.position, targets.slots).reshape(frames, -1, tree.joint_count + 6)
        residual = (targets.values - x).reshape(frames, -1) - rough @ x.reshape(frames, -1)
        speeds = directions.shape[2]
        band = np.zeros((3 * speeds, frames * speeds))  # lower diagonals
        for k, weight in enumerate(within):
            ahead, behind = directions[k:], directions[: frames - k]
            blocks = np.einsum("t,tia,tib->tab", weight, ahead, behind)
            for a in range(speeds):
                for b in range(speeds):
                    if k or a >= b:
                        band[k * speeds + a - b, b : (frames - k) * speeds : speeds] = blocks[:, a, b]
        band[0] += UNSEEN
        right = np.einsum("tia,ti->ta", directions, residual).ravel()
        step = solveh_banded(band, right, lower=True).reshape(frames, speeds)
        pose, before = pose.moved(tree, step), after
        after = cost(pose.q(tree)[:, targets.slots], targets.values, rough)
        if before - after < DONE * after:
            break
    return pose, number


def compared(path: Path, draw: int, cutoff: float) -> dict[str, Array]:
    """Angles (T, 3) [rad] of the right hip, knee and ankle: as they are, and by each way from points with errors."""
    trial = ms.read_trial(path)
    assert isinstance(trial, Trial), "a recording, no OpenSim model"
    found = mechanics(trial)
    model, motion = found.model, found.motion
    names = [point.name for point in model.topology.points]
    error = np.random.default_rng(SEED + draw).normal(size=(len(motion.time), len(names), 3))
    measured = motion.q[:, [model.slot(name) for name in names]] + 1e-3 * error * np.array(DIGITIZING_MM)
    rough = penalty(len(motion.time), float(np.diff(motion.time).mean()), cutoff)

    def fitted(points: Array) -> tuple[Targets, Array]:
        targets = Targets.build(model, dict(zip(names, np.moveaxis(points, 1, 0), strict=True)), {})
        return targets, fit_pose(model, targets, motion.time, start=motion.coordinates).coordinates

    raw, of_raw = fitted(measured)
    _, of_filtered = fitted(smoothed(measured, rough))
    pose, steps = in_one_step(model, raw, Pose.from_coordinates(of_filtered), rough)
    rows = [model.dof(name) for name in SAGITTAL.values()]
    one, two = (
        cost(each.q(model.tree)[:, raw.slots], raw.values, rough)
        for each in (pose, Pose.from_coordinates(of_filtered))
    )
    return {
        "truth": motion.coordinates[:, rows],
        "two steps": of_filtered[:, rows],
        "one step": pose.angles[:, rows],
        "pose, then filter": smoothed(of_raw[:, rows], rough),
        "costs": np.array([one, two]),
        "steps": np.array([steps]),
        "time": motion.time,
    }


def rms(values: Array) -> Array:
    """Root mean square over frames and draws."""
    return np.asarray(np.sqrt(np.mean(np.square(values), axis=(0, 1))))


def experiment(path: Path, draws: int, cutoff: float) -> dict[str, Array]:
    """Errors of angles [deg] (3,) and of their accelerations [rad/s2] (3,), by way; and one step beside two."""
    runs = [compared(path, draw, cutoff) for draw in range(draws)]
    step = float(np.diff(runs[0]["time"]).mean())
    stacked = {name: np.stack([run[name] for run in runs]) for name in runs[0]}
    pairs = {
        **{name: (name, "truth") for name in ("two steps", "one step", "pose, then filter")},
        "one step - two steps": ("one step", "two steps"),
    }
    found = {"costs": stacked["costs"], "steps": stacked["steps"]}
    for label, (first, second) in pairs.items():
        off = (stacked[first] - stacked[second] + np.pi) % (2.0 * np.pi) - np.pi
        found[label] = np.degrees(rms(off))
        found[f"{label}, acceleration"] = rms(np.diff(off, 2, axis=1) / step**2)
    return found


def main(arguments: list[str] | None = None) -> None:
    """Print how far each way is from the truth, and both from each other."""
    parser = command_line(__doc__)
    parser.add_argument("--trial", type=input_file, default=reference_stride(), metavar="TRIAL.toml")
    parser.add_argument("--draws", type=int, default=2, help="of errors of the points")
    parser.add_argument("--cutoff", type=float, default=6.0, help="[Hz]")
    given = parser.parse_args(arguments)
    found = experiment(given.trial, given.draws, given.cutoff)
    table = Table("", *(f"{name} [deg]" for name in SAGITTAL), *(f"{name} [rad/s2]" for name in SAGITTAL))
    for name, value in found.items():
        if f"{name}, acceleration" in found:
            both = (*value, *found[f"{name}, acceleration"])
            table.add_row(name, *(f"{each:.3f}" for each in both))
    console.print(table)
    least, other = found["costs"].T
    console.print(
        f"One step lowers the cost that both mean by {100.0 * float(np.mean(1.0 - least / other)):.3f} %, "
        f"in at most {int(found['steps'].max())} steps of Gauss-Newton"
    )


if __name__ == "__main__":
    main()
