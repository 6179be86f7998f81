"""From the numbers of an attempt to a solution: forces, fibers, tendons, statuses and notes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.muscles.elastic.tendon_energy import tendon_energy
from musclesolve.sharing.certificate import needs_reserve
from musclesolve.sharing.kernel.constants import TOLERANCE
from musclesolve.sharing.status import Status
from musclesolve.trajectory.attempt import MotionAttempt
from musclesolve.trajectory.certificate import Certifier
from musclesolve.trajectory.local_equilibrium import Equilibrium, equilibrium
from musclesolve.trajectory.motion_cost import MotionCost
from musclesolve.trajectory.motion_problem import MotionProblem
from musclesolve.trajectory.motion_solution import MotionSolution

_LEAST_CAPACITY = 0.05


def label_solution(
    problem: MotionProblem, cost: MotionCost, found: MotionAttempt, notes: tuple[str, ...] = ()
) -> MotionSolution:
    """Certify an attempt; a motion is solved as a whole, or not at all."""
    certifier, muscles = Certifier(problem, cost), problem.muscles
    state = problem.state(found.coordinate, certifier.rate(found.coordinate))
    residual = certifier.misses(found).residual
    strongest, weight = muscles.max_isometric_force, problem.weight[:, None]
    reserve = problem.compliance * found.multiplier
    if not (residual <= TOLERANCE).all():
        notes = (*notes, found.message) if found.message else notes
        failed = unsolved(problem, cost.cost.label, Status.SOLVER_FAILED, notes)
        return replace(failed, kkt_residual=residual, solver=found.method, iterations=found.iterations)
    helped = needs_reserve(reserve, problem.moment).any(axis=1)
    fall, rise = found.limit_multiplier
    return MotionSolution(
        time=problem.time,
        status=np.where(helped, Status.SOLVED_WITH_RESERVE, Status.SOLVED).astype(np.int8),
        kkt_residual=residual,
        cost=cost.value(state.active.value, found.activation),
        activation=found.activation,
        force=strongest * found.activation * state.capacity.value,
        passive_force=strongest * state.passive.value,
        force_capacity=strongest * state.capacity.value,
        fiber_length=state.fiber_length,
        fiber_velocity=state.fiber_velocity,
        cos_pennation=state.cos_pennation,
        tendon_length=_tendon_length(problem, found.coordinate, state),
        tendon_strain=np.where(muscles.elastic, muscles.strain(found.coordinate), 0.0),
        tendon_energy=tendon_energy(muscles, found.coordinate),
        reserve=reserve,
        multiplier=found.multiplier / weight,
        falling_multiplier=fall,
        rising_multiplier=rise,
        defect=defects(problem, certifier, found),
        cost_name=cost.cost.label,
        solver=found.method,
        iterations=found.iterations,
        notes=notes,
    )


def _tendon_length(problem: MotionProblem, z: Array, state: Equilibrium) -> Array:
    """(T, n) [m]; where it is slack and longer than the path, what the fiber leaves of the path."""
    taut, path = problem.muscles.rest + problem.muscles.stretch * z, problem.musculotendon_length
    return np.where(taut < path, taut, path - state.fiber_length * state.cos_pennation)


def defects(problem: MotionProblem, certifier: Certifier, found: MotionAttempt) -> Array:
    """By how much the balance of tendon and fiber is missed midway between frames, (T-1, n), as an activation.

    Lengths run between frames as the cubic with their values and rates; activations straight. Where a fiber could bear
    less than a twentieth of F0, the miss counts over that.
    """
    from scipy.interpolate import CubicHermiteSpline

    middle = 0.5 * (problem.time[1:] + problem.time[:-1])
    course = CubicHermiteSpline(problem.time, problem.musculotendon_length, problem.musculotendon_velocity)
    z, y = certifier.basis.between(certifier.basis.coefficients(found.coordinate), middle)
    state = equilibrium(problem.muscles, course(middle), course(middle, 1), z, y)
    activation = 0.5 * (found.activation[1:] + found.activation[:-1])
    return np.asarray(state.imbalance(activation) / np.maximum(state.capacity.value, _LEAST_CAPACITY))


def unsolved(
    problem: MotionProblem, cost_name: str, status: Status, notes: tuple[str, ...], *, lacks: bool = False
) -> MotionSolution:
    """A motion that was not solved: no numbers. lacks: because the muscles cannot produce the moments."""
    shape, moments = problem.musculotendon_length.shape, problem.moment.shape
    nothing = np.full(shape, np.nan)
    fields = (
        *("activation", "force", "passive_force", "force_capacity", "fiber_length", "fiber_velocity"),
        *("cos_pennation", "tendon_length", "tendon_strain", "tendon_energy"),
    )
    return MotionSolution(
        time=problem.time,
        status=np.full(shape[0], status, dtype=np.int8),
        kkt_residual=np.full(shape[0], np.inf),
        cost=np.full(shape[0], np.nan),
        **{name: nothing for name in fields},
        reserve=np.full(moments, np.nan),
        multiplier=np.full(moments, np.nan),
        falling_multiplier=nothing[1:],
        rising_multiplier=nothing[1:],
        defect=nothing[1:],
        cost_name=cost_name,
        solver="",
        iterations=0,
        notes=notes,
        lacks=lacks,
    )
