"""Optimal fiber and tendon slack lengths of a subject, by one of two rules.

"standing": both grow with the musculotendon length of the standing subject (correction A4). "operating_range": each
muscle keeps its normalized fiber lengths from the model of the set over the range of motion, after Modenese et al.
(2016).

In the model of the set a muscle works at certain normalized fiber lengths. Its two lengths on another skeleton are
chosen so that it keeps them as nearly as possible: over poses p of the whole range of motion

    L0 l(p) cos a(p) + L_T = L_MT(p),        sin a(p) = sin a0 / l(p)

holds in the sense of least squares, where l(p) is the normalized fiber length in the model of the set, and L_MT(p) the
musculotendon length on the new skeleton (J Biomech 49:141-148; with a tendon that does not stretch). Muscles whose
length hardly changes do not determine two lengths: L0 is therefore also drawn toward L0', which is in proportion to the
mean length of the muscle, so that

    mean_p (L0 l cos a + L_T - L_MT)^2 / e^2 + ((L0 / L0' - 1) / d)^2

is least: e is the error of a path, also in proportion to the muscle; d is the error of L0'.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np

from muscle_db import MuscleDatabase
from muscle_db.model import FIBER_LENGTHS, LEG_DOFS, standing_length
from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_choice
from musclesolve.dynamics.kinematics.pose_fit import Pose
from musclesolve.dynamics.model.model import Model
from musclesolve.errors import input_error
from musclesolve.muscles.muscle_parameters import load_muscle_set
from musclesolve.muscles.paths.paths import Paths
from musclesolve.muscles.scaling.scaled_paths import frame_maps, reference_model, scaled_paths


def fiber_and_tendon_lengths(
    model: Model, database: MuscleDatabase, side: str, paths: Paths, rule: str | None = None
) -> tuple[Array, Array]:
    """Optimal fiber and tendon slack length (n,) [m] of the placed muscles, by the rule of the set unless given."""
    rule = database.fiber_lengths if rule is None else rule
    check_choice(rule, "rule for fiber lengths", FIBER_LENGTHS)
    if rule == "operating_range":
        return operating_range(database).fitted(paths.lengths(*sampled_poses(model, side, database.dofs)))
    # both times L_MT(subject) / L_MT(source), standing: normalized fiber length then does not depend on body size
    coordinates = np.zeros((1, len(model.topology.dof_names)))
    standing = paths.lengths(model.standing[None], coordinates)[0]
    if database.frames or database.wrap_objects:  # parts that `standing_length` does not contain
        source = _own_lengths(database)[0]
    else:
        source = np.array([standing_length(muscle, database.reference, unscaled=True) for muscle in database])
    scale = standing / source
    optimal = np.array([muscle.optimal_fiber_length for muscle in database])
    return scale * optimal, scale * np.array([muscle.tendon_slack_length for muscle in database])


@lru_cache(maxsize=8)
def operating_range(database: MuscleDatabase) -> "OperatingRange":
    """The normalized fiber lengths of the muscles of a set over the range of motion, in the model of the set."""
    source = load_muscle_set(database.operating_range_of) if database.operating_range_of else database
    names = [muscle.name for muscle in source]
    if missing := [muscle.name for muscle in database if muscle.name not in names]:
        raise input_error(
            "bad_muscle_set",
            problem=f"{source.name} has no {missing[0]}, whose operating range {database.name} takes from it",
            expected="the same muscles in both sets",
            remedy='write fiber_lengths = "standing", or leave operating_range_of out',
        )
    order = [names.index(muscle.name) for muscle in database]
    chosen = [source.muscles[k] for k in order]
    optimal, slack, pennation = np.array(
        [(m.optimal_fiber_length, m.tendon_slack_length, m.pennation_angle) for m in chosen]
    ).T
    chosen_names = tuple(muscle.name for muscle in chosen)
    return OperatingRange.from_lengths(
        chosen_names, _own_lengths(source)[:, order], optimal, slack, pennation
    )


def _own_lengths(database: MuscleDatabase) -> Array:
    """Musculotendon lengths (P, n) [m] of the right side on the set's own skeleton over `sampled_poses`."""
    model = reference_model(database.reference)
    paths = scaled_paths(model, database, "r", frame_maps(model, database, "r"))
    return paths.lengths(*sampled_poses(model, "r", database.dofs))


USABLE = (0.4, 1.6)
"""Range of normalized fiber lengths that enter the fit: sarcomeres do not work beyond it."""

RANGE_OF_MOTION_DEG = {
    "hip_flexion": (-25.0, 100.0),
    "hip_adduction": (-25.0, 20.0),
    "hip_internal_rotation": (-25.0, 25.0),
    "knee_flexion": (0.0, 110.0),
    "ankle_dorsiflexion": (-40.0, 25.0),
    "ankle_inversion": (-15.0, 15.0),
    "shoulder_flexion": (-40.0, 120.0),
    "elbow_flexion": (0.0, 130.0),
}
"""Range of sampled angles [deg], as in daily activities (walking, stairs, a chair, squats, running; a shelf, a cup
to the mouth).
"""

PATH_ERROR = 0.003
"""Error e of musculotendon lengths in the model of the set, the part that differs between poses [m]."""
GROWTH_ERROR = 0.5
"""Relative error d of optimal fiber lengths in proportion to the muscle."""

SHORTEST_TENDON = 0.1
"""Share of the optimal fiber length up to which a negative slack length is set to zero."""

POSES = 128
LEAST_POSES = 8


def sampled_poses(model: Model, side: str, dofs: Sequence[str] = LEG_DOFS) -> tuple[Array, Array]:
    """Natural coordinates (P, N, 3) and joint coordinates (P, K+6) of poses, spread evenly over the range of one side.

    The first is the standing pose; the others are a Kronecker sequence, evenly spread for any number of angles.
    """
    moving = {dof: span for dof, span in RANGE_OF_MOTION_DEG.items() if dof in dofs}
    low, high = np.radians(list(moving.values())).reshape(-1, 2).T
    phi = 2.0  # phi^(angles + 1) = phi + 1: the golden ratio for one angle
    for _ in range(40):
        phi = (1.0 + phi) ** (1.0 / (len(low) + 1))
    share = (0.5 + np.arange(1, POSES)[:, None] * phi ** -np.arange(1.0, len(low) + 1.0)) % 1.0
    coordinates = np.zeros((POSES, len(model.topology.dof_names)))
    coordinates[1:, [model.dof(f"{dof}_{side}") for dof in moving]] = low + share * (high - low)
    angles, upright = coordinates[:, : model.tree.joint_count], np.broadcast_to(np.eye(3), (POSES, 3, 3))
    return Pose(angles, np.zeros((POSES, 3)), upright).placed(model)[0], coordinates


@dataclass(frozen=True)
class OperatingRange:
    """Normalized fiber lengths (P, n) in the model of the set over `sampled_poses`, with lengths and parameters."""

    names: tuple[str, ...]  # without side
    normalized_length: Array
    pennation_angle: Array
    length: Array  # (P, n) musculotendon lengths in the model of the set [m]
    optimal_fiber_length: Array  # (n,) in the model of the set [m]

    @classmethod
    def from_lengths(
        cls, names: tuple[str, ...], length: Array, optimal: Array, slack: Array, pennation: Array
    ) -> Self:
        """Range from musculotendon lengths (P, n) [m] and parameters in the model of the set; NaN for slack tendons."""
        along = np.where(length > slack, length - slack, np.nan)
        return cls(names, np.hypot(along / optimal, np.sin(pennation)), pennation, length, optimal)

    def fitted(self, length: Array) -> tuple[Array, Array]:
        """Optimal fiber and tendon slack lengths (n,) [m] for musculotendon lengths (P, n) on another skeleton."""
        normal = self.normalized_length
        counts = (normal > USABLE[0]) & (normal < USABLE[1])
        along = np.sqrt(np.maximum(normal**2 - np.sin(self.pennation_angle) ** 2, 0.0))
        weight = counts / np.maximum(counts.sum(axis=0), 1)
        x, y = np.where(counts, along, 0.0), np.where(counts, length, 0.0)
        x_mean, y_mean = (weight * x).sum(axis=0), (weight * y).sum(axis=0)
        dx, dy = (x - x_mean) * counts, (y - y_mean) * counts
        grown = self.optimal_fiber_length * length.mean(axis=0) / self.length.mean(axis=0)
        trust = (PATH_ERROR / (GROWTH_ERROR * self.optimal_fiber_length)) ** 2
        optimal = ((weight * dx * dy).sum(axis=0) + trust * grown) / ((weight * dx**2).sum(axis=0) + trust)
        slack = y_mean - optimal * x_mean
        # The fit with a tendon of no length, where the best one would be a little shorter than that.
        through = ((weight * x * y).sum(axis=0) + trust * grown) / ((weight * x**2).sum(axis=0) + trust)
        short = (slack < 0.0) & (slack > -SHORTEST_TENDON * optimal)
        optimal, slack = np.where(short, through, optimal), np.where(short, 0.0, slack)
        used = counts.sum(axis=0)
        failed = np.flatnonzero((used < LEAST_POSES) | ~(optimal > 0.0) | ~(slack >= 0.0))
        if failed.size:
            k, name = failed[0], self.names[failed[0]]
            if used[k] < LEAST_POSES:
                problem = (
                    f"the fibers of {name} are {USABLE[0]} to {USABLE[1]} optimal lengths long in only {used[k]} of "
                    f"{len(counts)} poses over the range of motion"
                )
            else:
                problem = (
                    f"the operating range of {name} would need optimal fiber and tendon slack lengths of "
                    f"{1e3 * optimal[k]:.0f} mm and {1e3 * slack[k]:.0f} mm"
                )
            raise input_error(
                "bad_muscle_set",
                where=name,
                problem=problem,
                expected="fiber and tendon lengths that fit the path of the muscle",
                remedy="check optimal_fiber_length, tendon_slack_length and path of the muscle in "
                'its set, or write fiber_lengths = "standing"',
            )
        return optimal, slack
