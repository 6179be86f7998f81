"""Ground reactions predicted from the motion beside those that plates measured, on trials with plates.

python -m benchmarks.predicted_forces TRIAL.toml [TRIAL.toml ...]

The plates are hidden: forces of each foot follow from the motion alone, as with `forces = "predicted"`. Printed are
root mean squares of the difference to the plates over the frames in which the foot was measured, mean of both feet:
forces in per cent of body weight with their Pearson correlation r, and joint moments [N m/kg].
"""

from __future__ import annotations

import sys
from time import perf_counter

import numpy as np
from rich.table import Table

from benchmarks.timing import console
from musclesolve._util.arrays import Array
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.dynamics.inverse.external_wrenches import Wrench
from musclesolve.dynamics.inverse.inverse_dynamics import projected_moments
from musclesolve.motion.ground_reaction import GroundReaction
from musclesolve.pipeline.mechanics import Mechanics, mechanics, reactions_of_motion
from musclesolve.pipeline.run import recording_of
from musclesolve.recording.data import Trial

JOINTS = ("hip_flexion", "hip_adduction", "knee_flexion", "ankle_dorsiflexion")


def differences(trial: Trial, recorded: Mechanics) -> tuple[Array, Array, Array]:
    """Forces forward, sideways, upward: rms difference [body weights] and r, (3,); rms of the moments (4,) [N m/kg]."""
    model, motion, mass = recorded.model, recorded.motion, recorded.model.mass.total
    sides = [ground.side for ground in recorded.reactions]
    hidden = [ground for ground in reactions_of_motion(model, motion) if ground.side in sides]

    def moments_with(reactions: list[GroundReaction]) -> Array:
        wrenches = [Wrench(f"foot_{each.side}", each.force, each.moment) for each in reactions]
        return projected_moments(model, motion, wrenches)

    off = moments_with(hidden) - moments_with(recorded.reactions)
    forces, correlations, moments = [], [], []
    for ours, plates in zip(hidden, recorded.reactions, strict=True):
        seen = trial.measured(plates.side, motion.time)
        one, other = ours.force[seen], plates.force[seen]
        forces.append(((one - other) ** 2).mean(axis=0))
        correlations.append([np.corrcoef(one[:, k], other[:, k])[0, 1] for k in range(3)])
        rows = [model.dof(f"{joint}_{plates.side}") for joint in JOINTS]
        moments.append((off[seen][:, rows] ** 2).mean(axis=0))
    size = np.sqrt(np.mean(forces, axis=0)) / (mass * STANDARD_GRAVITY)
    return size, np.mean(correlations, axis=0), np.sqrt(np.mean(moments, axis=0)) / mass


def main(*files: str) -> None:
    names = ("forward", "sideways", "upward")
    shown = Table(
        "trial", *(f"{name} % BW (r)" for name in names), "hip flexion", "adduction", "knee", "ankle", "s"
    )
    for file in files:
        trial = recording_of(file, "this comparison")
        recorded = mechanics(trial)
        begin = perf_counter()
        reactions_of_motion(recorded.model, recorded.motion)
        taken = perf_counter() - begin
        size, r, moments = differences(trial, recorded)
        cells = [f"{100 * one:.1f} ({two:.2f})" for one, two in zip(size, r, strict=True)]
        shown.add_row(
            f"{trial.path.parent.name}/{trial.path.stem}",
            *cells,
            *(f"{each:.2f}" for each in moments),
            f"{taken:.2f}",
        )
    console.print(shown)


if __name__ == "__main__":
    main(*sys.argv[1:])
