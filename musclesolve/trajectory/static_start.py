"""Where a motion begins: tendon forces of single frames behind rigid tendons."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solving import solve
from musclesolve.sharing.status import Status
from musclesolve.trajectory.local_equilibrium import equilibrium
from musclesolve.trajectory.motion_problem import MotionProblem


def static_problem(problem: MotionProblem) -> tuple[Problem, Array]:
    """The force-sharing problem of single frames behind rigid tendons, and their passive forces (T, n) [N]."""
    rigid, strongest = problem.muscles.rigid(), problem.muscles.max_isometric_force
    nothing = np.zeros_like(problem.musculotendon_length)
    lengths = problem.musculotendon_length, problem.musculotendon_velocity
    state = equilibrium(rigid, *lengths, nothing, nothing)
    passive = strongest * state.passive.value
    needed = problem.moment - np.einsum("tkn,tn->tk", problem.moment_arm, passive)
    return problem.isometric._changed(force_capacity=strongest * state.capacity.value, moment=needed), passive


class StaticStart(NamedTuple):
    """Tendon coordinate and activation (T, n); lacks: whether some frames needed a reserve."""

    coordinate: Array
    activation: Array
    lacks: bool


def static_start(problem: MotionProblem, cost: Cost) -> StaticStart:
    """The static optimum, with reserves where muscles do not suffice."""
    static, passive = static_problem(problem)
    found = solve(static, cost, on_infeasible="reserve")
    force = (np.nan_to_num(found.force) + passive) / problem.muscles.max_isometric_force
    return StaticStart(
        problem.muscles.curves.tendon.inverse(force),
        np.nan_to_num(found.activation),
        bool((found.status != Status.SOLVED).any()),
    )
