"""The solution of a motion: activations, forces, fibers and tendons, with status and certificate of every frame."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array, Mask
from musclesolve.muscles.elastic.elastic_muscles import tendon_energy
from musclesolve.sharing.certificate import needs_reserve
from musclesolve.sharing.kernel.constants import TOLERANCE
from musclesolve.sharing.status import Status, is_solved
from musclesolve.trajectory.certificate import Certifier, MotionAttempt
from musclesolve.trajectory.local_equilibrium import equilibrium
from musclesolve.trajectory.motion_problem import MotionCost, MotionProblem


@dataclass(frozen=True, eq=False)
class MotionSolution:
    """Frames (T), muscles (n), moments (m).

    Attributes:
        time: (T,) [s].
        status: (T,) of `Status`.
        kkt_residual: (T,) the certificate, recomputed (certificate.py).
        cost: (T,) of each frame.
        activation: (T, n).
        force: (T, n) [N] of the contractile elements at the tendon; with passive_force it is the tendon force.
        passive_force: (T, n) [N] at the tendon.
        force_capacity: (T, n) [N] at activation 1 in this state of the fiber.
        fiber_length: (T, n) [m]; fiber_velocity: (T, n) [m/s], positive when fibers lengthen.
        cos_pennation: (T, n).
        tendon_length: (T, n) [m], between its ends, also where it is slack.
        tendon_strain: (T, n), of its slack length; zero for rigid tendons.
        tendon_energy: (T, n) [J] stored in the tendon.
        reserve: (T, m) [N m]; multiplier: (T, m) [cost per N m].
        falling_multiplier, rising_multiplier: (T-1, n) decrease of the cost of the motion if an activation could fall
            or rise by one unit more between two frames.
        defect: (T-1, n) at the middle between two frames, where the balance of tendon and fiber is not enforced: the
            activation that balances them minus the interpolated activation; an error due to the time between frames.
        solver: the method of the solution; iterations: its steps; notes: sentences for users.
        lacks: whether a motion is not solved because the muscles cannot produce the moments.
    """

    time: Array
    status: NDArray[np.int8]
    kkt_residual: Array
    cost: Array
    activation: Array
    force: Array
    passive_force: Array
    force_capacity: Array
    fiber_length: Array
    fiber_velocity: Array
    cos_pennation: Array
    tendon_length: Array
    tendon_strain: Array
    tendon_energy: Array
    reserve: Array
    multiplier: Array
    falling_multiplier: Array
    rising_multiplier: Array
    defect: Array
    cost_name: str
    solver: str
    iterations: int
    notes: tuple[str, ...] = ()
    lacks: bool = False

    @property
    def solved(self) -> Mask:
        """Mask of the frames with a valid solution, (T,)."""
        return is_solved(self.status)

    @property
    def fiber_power(self) -> Array:
        """The power that the fibers deliver, (T, n) [W], -F_fiber dl/dt with F_fiber = F_T / cos(alpha)."""
        total = self.force + self.passive_force
        cosine = self.cos_pennation
        return -np.divide(total, cosine, out=np.zeros_like(total), where=cosine > 0.0) * self.fiber_velocity


_LEAST_CAPACITY = 0.05


def label_solution(
    problem: MotionProblem, cost: MotionCost, attempt: MotionAttempt, notes: tuple[str, ...] = ()
) -> MotionSolution:
    """Certify an attempt; either all frames of a motion are solved, or none."""
    certifier, muscles = Certifier(problem, cost), problem.muscles
    state = problem.state(attempt.coordinate, certifier.rate(attempt.coordinate))
    residual = certifier.misses(attempt).residual
    strongest, weight = muscles.parameters.max_isometric_force, problem.weight[:, None]
    reserve = problem.compliance * attempt.multiplier
    if not (residual <= TOLERANCE).all():
        notes = (*notes, attempt.message) if attempt.message else notes
        failed = unsolved(problem, cost.cost.label, Status.SOLVER_FAILED, notes)
        return replace(failed, kkt_residual=residual, solver=attempt.method, iterations=attempt.iterations)
    helped = needs_reserve(reserve, problem.moment).any(axis=1)
    fall, rise = attempt.limit_multiplier
    taut, path = muscles.rest + muscles.stretch * attempt.coordinate, problem.musculotendon_length
    return MotionSolution(
        time=problem.time,
        status=np.where(helped, Status.SOLVED_WITH_RESERVE, Status.SOLVED).astype(np.int8),
        kkt_residual=residual,
        cost=cost.value(cost.load(state).value, attempt.activation),
        activation=attempt.activation,
        force=strongest * attempt.activation * state.capacity.value,
        passive_force=strongest * state.passive.value,
        force_capacity=strongest * state.capacity.value,
        fiber_length=state.fiber_length,
        fiber_velocity=state.fiber_velocity,
        cos_pennation=state.cosine.value,
        # if the tendon is slack and longer than the path, the path length minus the fiber
        tendon_length=np.where(taut < path, taut, path - state.fiber_length * state.cosine.value),
        tendon_strain=np.where(muscles.elastic, muscles.strain(attempt.coordinate), 0.0),
        tendon_energy=tendon_energy(muscles, attempt.coordinate),
        reserve=reserve,
        multiplier=attempt.multiplier / weight,
        falling_multiplier=fall,
        rising_multiplier=rise,
        defect=defects(problem, certifier, attempt),
        cost_name=cost.cost.label,
        solver=attempt.method,
        iterations=attempt.iterations,
        notes=notes,
    )


def defects(problem: MotionProblem, certifier: Certifier, attempt: MotionAttempt) -> Array:
    """The misses of the balance of tendon and fiber midway between frames, (T-1, n), as an activation.

    Between frames lengths are cubic by values and rates, activations linear. Misses are divided by the capacity, at
    least a twentieth of F0.
    """
    from scipy.interpolate import CubicHermiteSpline

    middle = 0.5 * (problem.time[1:] + problem.time[:-1])
    course = CubicHermiteSpline(problem.time, problem.musculotendon_length, problem.musculotendon_velocity)
    z, y = certifier.basis.between(certifier.basis.coefficients(attempt.coordinate), middle)
    state = equilibrium(problem.muscles, course(middle), course(middle, 1), z, y)
    activation = 0.5 * (attempt.activation[1:] + attempt.activation[:-1])
    return np.asarray(state.imbalance(activation) / np.maximum(state.capacity.value, _LEAST_CAPACITY))


def unsolved(
    problem: MotionProblem, cost_name: str, status: Status, notes: tuple[str, ...], *, lacks: bool = False
) -> MotionSolution:
    """The solution of a motion that was not solved: NaN. lacks: because the muscles cannot produce the moments."""
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
