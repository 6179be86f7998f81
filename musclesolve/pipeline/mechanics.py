"""From the recording to the mechanics: anatomy, model, consistent motion, ground reactions, inverse dynamics."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.names import unknown_name
from musclesolve._util.progress import Progress, no_progress
from musclesolve.dynamics.inverse.external_wrenches import Wrench
from musclesolve.dynamics.inverse.inverse_dynamics import projected_moments
from musclesolve.dynamics.kinematics.consistent_motion import consistent_motion
from musclesolve.dynamics.kinematics.measured_targets import Targets
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.human_model import human_model
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.model.segment_inertia import PLACE, StatedSegment
from musclesolve.errors import InputError
from musclesolve.motion.anatomy.anatomy import Anatomy, anatomy
from musclesolve.motion.ground_reaction import ground_reactions
from musclesolve.muscles.placing.place_muscles import LEG_DOFS
from musclesolve.pipeline.types import Mechanics
from musclesolve.recording.data import SIDES, Recording, Trial
from musclesolve.recording.schema import Document

MARGIN = 0.1
"""Motion kept before and after the time range, so that derivatives are good to its ends [s]."""


def mechanics(trial: Trial, progress: Progress | None = None, start: Array | None = None) -> Mechanics:
    """The measured anatomy, the subject's model, the consistent motion and the ground reactions."""
    report = progress or no_progress
    report("markers", 0.05)
    measured = anatomy(trial, MARGIN)
    report("kinematics", 0.15)
    return mechanics_of(trial, measured, start)


def mechanics_of(trial: Trial, measured: Anatomy, start: Array | None = None) -> Mechanics:
    """The mechanics that follow from the anatomy on a recording.

    The fit starts from coordinates (T, K+6), such as `fit.coordinates` of the same frames with other markers or another
    subject: they save iterations and do not change the result.
    """
    consistency, model = trial.consistency, subject_model(trial, measured.offsets)
    targets = _targets(trial.document, consistency.weights, model, measured)
    fit, motion = consistent_motion(
        model, targets, measured.time, consistency.method, consistency.derivatives, start
    )
    motion = motion.frames(trial.inside(measured.time, *trial.time_range))
    return Mechanics(
        measured, model, fit, motion, ground_reactions(trial.forces, motion.time, measured.filter)
    )


def subject_model(
    trial: Trial, offsets: dict[str, Array], mass_factors: Mapping[str, float] | None = None
) -> Model:
    """The model of the subject of a trial, from the standing geometry that was measured."""
    subject = trial.subject
    segments = {
        name: StatedSegment(each.mass, each.mass_factor, each.center, each.inertia)
        for name, each in subject.segments.items()
    }
    size = subject.mass, subject.stature, subject.sex, offsets, subject.shoe_mass
    try:
        return human_model(*size, mass_factors=mass_factors, segments=segments)
    except InputError as error:
        if error.where != PLACE:
            raise
        raise trial.document.placed(error, "subject", PLACE) from None


def _targets(document: Document, weights: Mapping[str, float], model: Model, measured: Anatomy) -> Targets:
    names = [*measured.points, *measured.directions]
    if unknown := [name for name in weights if name not in names]:
        error = unknown_name(unknown[0], "point or axis", names, " of the model that this recording shows")
        raise document.placed(error, "consistency", "weights")
    return Targets.build(model, measured.points, measured.directions, weights)


def measured_moments(recording: Recording, model: Model, motion: Motion, wrenches: list[Wrench]) -> Array:
    """The generalized forces (T, K+6) of inverse dynamics in the frames that were measured, NaN elsewhere.

    Those of a leg depend on its own foot alone, those of the pelvis on both.
    """
    moments = projected_moments(model, motion, wrenches)
    legs = {side: recording.measured(side, motion.time) for side in SIDES}
    known = np.ones(moments.shape, bool)
    for side, measured in legs.items():
        known[:, [model.dof(f"{dof}_{side}") for dof in LEG_DOFS]] = measured[:, None]
    known[:, model.tree.joint_count :] = np.all(list(legs.values()), axis=0)[:, None]
    return np.where(known, moments, np.nan)
