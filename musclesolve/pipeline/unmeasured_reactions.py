"""Ground reactions on both feet: measured by plates, or predicted from the motion where no plate measured."""

from dataclasses import replace

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.center_of_pressure import center_of_pressure
from musclesolve.dynamics.inverse.predicted_reactions import predicted_reactions
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.model import Model
from musclesolve.motion.ground_reaction import GroundReaction, ground_reactions
from musclesolve.motion.signals.filter_choice import FilterChoice
from musclesolve.recording.data import SIDES, Trial


def completed_reactions(
    trial: Trial, model: Model, motion: Motion, chosen: FilterChoice
) -> list[GroundReaction]:
    """Collect the ground reactions on both feet: measured by plates, or predicted where no plate measured."""
    plates = {each.side: each for each in ground_reactions(trial.forces, motion.time, chosen)}
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
