"""Optimal fiber and tendon slack lengths of a subject, by one of two rules.

"standing": both grow with the musculotendon length of the standing subject (correction A4). "operating_range": each
muscle keeps the normalised fiber lengths of its own model over the range of motion (operating_range.py).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from muscle_db import MuscleDatabase
from muscle_db.model import FIBER_LENGTHS
from muscle_db.standing import standing_length
from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_choice
from musclesolve.dynamics.model.model import Model
from musclesolve.errors import InputError
from musclesolve.muscles.muscle_set import load_muscle_set
from musclesolve.muscles.paths.paths import Paths
from musclesolve.muscles.placing.frame_maps import frame_maps, reference_model
from musclesolve.muscles.placing.operating_range import OperatingRange, sampled_poses
from musclesolve.muscles.placing.placed_paths import placed_paths


def fiber_and_tendon_lengths(
    model: Model, database: MuscleDatabase, side: str, paths: Paths, rule: str | None = None
) -> tuple[Array, Array]:
    """Optimal fiber and tendon slack length (n,) [m] of the placed muscles, by the rule of the set unless one is given.

    Raises:
        InputError: an unknown rule; a muscle whose operating range cannot be kept.
    """
    rule = rule or database.fiber_lengths
    check_choice(rule, "rule for fiber lengths", FIBER_LENGTHS)
    if rule == "standing":
        return _by_standing_length(model, database, paths)
    q, coordinates = sampled_poses(model, side)
    return operating_range(database).fitted(paths.evaluate(q, coordinates).length)


def _by_standing_length(model: Model, database: MuscleDatabase, paths: Paths) -> tuple[Array, Array]:
    """K = L_MT(subject) / L_MT(source), both standing: normalised fiber length does not depend on body size."""
    coordinates = np.zeros((1, len(model.topology.dof_names)))
    standing = paths.evaluate(model.standing[None], coordinates).length[0]
    if database.frames or database.wrap_objects:  # what `standing_length` leaves out
        source = _own_paths(database)[1][0]
    else:
        source = np.array([standing_length(muscle, database.reference, unscaled=True) for muscle in database])
    scale = standing / source
    optimal = np.array([muscle.optimal_fiber_length for muscle in database])
    return scale * optimal, scale * np.array([muscle.tendon_slack_length for muscle in database])


@lru_cache(maxsize=8)
def operating_range(database: MuscleDatabase) -> OperatingRange:
    """The normalised fiber lengths of the muscles of a set over the range of motion, in the model they belong to.

    Raises:
        InputError: the set takes its ranges from another one, which does not exist or lacks a muscle.
    """
    source = load_muscle_set(database.operating_range_of) if database.operating_range_of else database
    names = [muscle.name for muscle in source]
    if missing := [muscle.name for muscle in database if muscle.name not in names]:
        raise InputError(
            f"{source.name} has no {missing[0]}, whose operating range {database.name} takes from it",
            code="bad_muscle_set",
            expected="the same muscles in both sets",
            remedy='write fiber_lengths = "standing", or leave operating_range_of out',
        )
    own = [names.index(muscle.name) for muscle in database]
    length = _own_paths(source)[1][:, own]
    chosen = [source.muscles[k] for k in own]
    optimal, slack, pennation = np.array(
        [(m.optimal_fiber_length, m.tendon_slack_length, m.pennation_angle) for m in chosen]
    ).T
    return OperatingRange.of(tuple(m.name for m in chosen), length, optimal, slack, pennation)


def _own_paths(database: MuscleDatabase) -> tuple[Paths, Array]:
    """The right leg on the set's own skeleton, and its musculotendon lengths (P, n) [m] over `sampled_poses`."""
    model = reference_model(database.reference)
    paths = placed_paths(model, database, "r", frame_maps(model, database, "r"))
    q, coordinates = sampled_poses(model, "r")
    return paths, paths.evaluate(q, coordinates).length
