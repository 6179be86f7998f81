"""Sharing the moments of one leg with elastic tendons: whole motions at once.

The result is that of the solved state: fiber lengths and velocities, force capacities and passive forces are those that
the tendons leave, so that force = activation force_capacity + passive_force as behind rigid tendons. The problem of the
result is the static one in this state.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from musclesolve.muscles.elastic.elastic_muscles import ElasticMuscles
from musclesolve.muscles.leg_muscle_state import MuscleState
from musclesolve.pipeline.elastic_choices import motion_method
from musclesolve.pipeline.elastic_motion import MotionFrames, SharedMotion, share_motion
from musclesolve.pipeline.rigid_leg import (
    leg_result,
    measured_frames,
    shared_dofs,
    shared_rows,
    sharing_problem,
)
from musclesolve.pipeline.run_options import Options
from musclesolve.pipeline.types import LegMechanics, LegResult


def share_elastic_leg(leg: LegMechanics, options: Options) -> LegResult:
    """Share the moments of one leg among muscles with elastic tendons.

    Each run of usable frames is a motion by itself; frames of a run too short for one are TOO_FEW_FRAMES.

    Raises:
        InputError: see `share_motion`.
    """
    found = share_motion(_frames(leg, options), options.cost, motion_method(options.cost, options.solver))
    leg = replace(leg, state=_solved_state(leg.state, found))
    result = leg_result(leg, sharing_problem(leg, options), found.solution, options)
    return replace(result, tendons=found.tendons, notes=found.notes)


def _frames(leg: LegMechanics, options: Options) -> MotionFrames:
    state, rows = leg.state, shared_rows(options)
    return MotionFrames(
        time=leg.time,
        moment_arm=state.moment_arm[:, rows],
        moment=leg.moment[:, rows],
        musculotendon_length=state.musculotendon_length,
        musculotendon_velocity=state.musculotendon_velocity,
        usable=np.asarray(leg.usable & measured_frames(leg, options)),
        muscles=ElasticMuscles.of(state.muscles.parameters),
        dof=shared_dofs(leg, options),
        reserve_weight=options.reserve_weight,
        emg=leg.emg,
    )


def _solved_state(state: MuscleState, found: SharedMotion) -> MuscleState:
    """The muscles where their tendons have them; NaN in frames without a solution."""
    tendons = found.tendons
    tension = found.solution.force + tendons.passive_force
    return replace(
        state,
        fiber_length=tendons.fiber_length,
        fiber_velocity=tendons.fiber_velocity,
        force_capacity=tendons.force_capacity,
        passive_force=tendons.passive_force,
        slack=np.asarray(tension <= 0.0),
    )
