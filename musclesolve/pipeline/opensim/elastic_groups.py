"""Sharing on an OpenSim model with elastic tendons: every group of coordinates and muscles is a motion by itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from musclesolve._util.arrays import Indices
from musclesolve.muscles.elastic.elastic_muscles import ElasticMuscles
from musclesolve.muscles.hill_model import FiberState
from musclesolve.pipeline.elastic_choices import motion_method
from musclesolve.pipeline.elastic_motion import MotionFrames, share_motion
from musclesolve.pipeline.opensim.group_result import GroupResult, ModelResult, group_problem
from musclesolve.pipeline.opensim.model_problem import ModelProblem
from musclesolve.pipeline.tendon_states import TendonStates
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.solver.solver_base import Solver


def share_elastic_groups(found: ModelProblem, cost: Cost, solver: Solver) -> ModelResult:
    """Solve each group; the problem of the result is the static one in the solved state of fibers and tendons.

    Raises:
        InputError: see `share_motion`.
    """
    muscles = ElasticMuscles.of(found.muscles)
    tendons = TendonStates.empty(*found.musculotendon_length.shape)
    numbers, motions, method = found.group_numbers, [], motion_method(cost, solver)
    for dofs, own in numbers:
        motions.append(share_motion(_frames(found, muscles, dofs, own), cost, method))
        tendons.store_columns(own, motions[-1].tendons)
    solved = _in_state(found, tendons)
    groups = tuple(
        GroupResult(dofs, own, group_problem(solved.problem, dofs, own), motion.solution)
        for (dofs, own), motion in zip(numbers, motions, strict=True)
    )
    notes = dict.fromkeys(note for motion in motions for note in motion.notes)
    return replace(ModelResult.of(solved, groups), tendons=tendons, notes=tuple(notes))


def _frames(found: ModelProblem, muscles: ElasticMuscles, dofs: Indices, own: Indices) -> MotionFrames:
    moment = found.moment[:, dofs]
    return MotionFrames(
        time=found.motion.time,
        moment_arm=found.problem.moment_arm[:, dofs][:, :, own],
        moment=moment,
        musculotendon_length=found.musculotendon_length[:, own],
        musculotendon_velocity=found.musculotendon_velocity[:, own],
        usable=np.asarray(np.isfinite(moment).all(axis=1)),
        muscles=muscles.muscles(own),
        dof=tuple(found.choice.dofs[k] for k in dofs),
        reserve_weight=found.options.reserve_weight,
    )


def _in_state(found: ModelProblem, tendons: TendonStates) -> ModelProblem:
    """What the contractile elements must produce where fibers and tendons are as solved."""
    passive = tendons.passive_force
    problem = replace(
        found.problem,
        moment=found.moment - np.einsum("tmn,tn->tm", found.problem.moment_arm, passive),
        force_capacity=tendons.force_capacity,
        fiber_velocity=tendons.fiber_velocity,
        passive_force=passive,
    )
    fiber = FiberState(tendons.fiber_length, tendons.fiber_velocity, tendons.cos_pennation)
    return replace(found, problem=problem, fiber=fiber)
