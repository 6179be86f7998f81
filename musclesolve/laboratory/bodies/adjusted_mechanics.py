"""Mechanics beside the measured ones: predicted ground reactions, and a motion changed for a smaller residual."""

from dataclasses import replace
from functools import partial

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.center_of_pressure import center_of_pressure
from musclesolve.constants import PREDICTED, STANDARD_GRAVITY
from musclesolve.dynamics.inverse.newton_euler import net_moments
from musclesolve.dynamics.inverse.predicted_reactions import predicted_reactions
from musclesolve.dynamics.inverse.residual_reduction import MotionChange, NaturalBody, ResidualReduction
from musclesolve.dynamics.kinematics.measured_targets import Targets
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.model import Model
from musclesolve.errors import InputError
from musclesolve.laboratory.bodies.mechanics import Mechanics
from musclesolve.laboratory.motion.ground_reaction import GroundReaction, ground_reactions
from musclesolve.laboratory.motion.signals.filter_choice import FilterChoice
from musclesolve.laboratory.recording.data import SIDES, Trial


def check_reduction(trial: Trial) -> None:
    """Refuse to reduce the residual of a motion that is not made consistent or of forces that are predicted."""
    settings, consistency = trial.settings, trial.settings.consistency
    if settings.files.predicted or settings.plates.unmeasured_steps == PREDICTED or not trial.forces:
        raise trial.document.error("dynamics.residual_of_predicted_forces", "consistency", "residual")
    if consistency.method == "none" or consistency.derivatives != "constraints":
        raise trial.document.fault(
            "conflict",
            ("consistency", "residual"),
            'residual = "reduced" of a motion that the model does not follow',
            'method = "nearest" or "joint_angles", with derivatives = "constraints"',
            "leave out residual, or the other keys of [consistency]",
        )


def changed_motion(trial: Trial, recorded: Mechanics, targets: Targets, motion: Motion) -> Mechanics:
    """Compute the mechanics after the smallest change of a motion that reduces the residual at the pelvis.

    recorded: mechanics before the change; targets: measured points of the body; motion: over all frames with margins.
    """
    model, measured, fit, time = recorded.model, recorded.measured, recorded.fit, motion.time
    wrenches = replace(recorded, reactions=ground_reactions(trial.forces, time, measured.filter)).wrenches
    residual = net_moments(model, motion, wrenches)[:, model.tree.joint_count :]
    limit = recorded.balance_limit * model.mass.total * STANDARD_GRAVITY
    balanced = np.linalg.norm(residual[:, :3], axis=1) <= limit
    balanced[list(fit.unfitted)] = False
    for side in SIDES:
        balanced &= trial.known(side, time)
    for plate in trial.forces:
        balanced &= (time >= plate.time[0]) & (time <= plate.time[-1])
    if not balanced.any():
        raise trial.document.error("dynamics.residual_not_known", "consistency", "residual")
    try:
        body = NaturalBody(model, motion, wrenches)
        cutoff, locked = float(measured.filter.cutoff_hz.min()), [model.dof(name) for name in fit.locked]
        prepared = ResidualReduction.at(body, balanced, cutoff, locked)
        reduction, reduced = prepared.bounded(body, 1e-3 * trial.settings.consistency.largest_change_mm)
    except InputError as error:
        raise trial.document.placed(error, "consistency", "residual") from None
    inside = np.isin(time, recorded.motion.time)
    carried = reduced.mass * model.mass.total
    change = MotionChange(recorded.motion, reduced.change[inside], carried, reduction)
    seen = targets.slots < model.topology.point_count
    moved = reduced.body.motion
    shift = np.linalg.norm((moved.q[:, targets.slots] - targets.values)[:, seen], axis=2)
    fit = replace(fit, coordinates=moved.coordinates, placed=partial(getattr, moved, "q"), residual=shift)
    return replace(recorded, fit=fit, motion=moved.frames(inside), change=change)


def completed_reactions(
    trial: Trial, model: Model, motion: Motion, chosen: FilterChoice
) -> list[GroundReaction]:
    """Collect the ground reactions on both feet: measured by plates, or predicted where no plate measured."""
    plates = {one.side: one for one in ground_reactions(trial.forces, motion.time, chosen)}
    measured = np.zeros((len(motion.time), len(SIDES), 6))
    for number, side in enumerate(SIDES):
        if side in plates:
            measured[:, number] = np.concatenate([plates[side].force, plates[side].moment], axis=1)
        measured[trial.predicted(side, motion.time), number] = np.nan
    reactions = reactions_of_motion(model, motion, measured)
    for place, (side, reaction) in enumerate(zip(SIDES, reactions, strict=True)):
        if side in plates:
            point = np.where(
                trial.predicted(side, motion.time)[:, None],
                reaction.center_of_pressure,
                plates[side].center_of_pressure,
            )
            reactions[place] = replace(reaction, center_of_pressure=point)
    return reactions


def reactions_of_motion(model: Model, motion: Motion, measured: Array | None = None) -> list[GroundReaction]:
    """Predict the ground reactions on both feet from the motion; measured as in `predicted_reactions`."""
    predicted = predicted_reactions(model, motion, measured)
    return [
        GroundReaction(
            side,
            wrench.force,
            wrench.moment,
            center_of_pressure(wrench.force, wrench.moment, predicted.level),
        )
        for side, wrench in zip(SIDES, predicted.wrenches, strict=True)
    ]
