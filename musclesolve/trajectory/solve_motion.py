"""Solve a whole motion and certify the result."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.checks import check_choice, check_type
from musclesolve.constants import USUAL_COST
from musclesolve.errors import input_error
from musclesolve.muscles.elastic.elastic_muscles import tendon_energy
from musclesolve.sharing.certificate import needs_reserve
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_scale import fallback_weight
from musclesolve.sharing.solving import ON_INFEASIBLE, solve_part
from musclesolve.sharing.status import Status, is_solved
from musclesolve.trajectory.banded_interior_point import BandedInteriorPoint
from musclesolve.trajectory.certificate import Certifier, MotionAttempt
from musclesolve.trajectory.motion_problem import MotionCost, MotionProblem, equilibrium

if TYPE_CHECKING:
    from musclesolve.trajectory.collocation import Collocation

    Method: TypeAlias = BandedInteriorPoint | Collocation


@dataclass(frozen=True, eq=False)
class MotionSolution:
    """Frames (T), muscles (n), moments (m).

    Attributes:
        time: (T,) [s].
        status: (T,) of `Status`.
        gap: (T,) of the whole motion, the same number in every frame, recomputed (certificate.py): the share of W that
            changes of first order could save, at most 1e-7 if solved. It shows a stationary point; another optimum may
            cost less.
        moment_error: (T,) largest miss: of a moment over max(1 N m, |M|), of the balance of tendon and fiber over F0,
            of a limit of activation, of a bound; at most 1e-6 if solved.
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
    gap: Array
    moment_error: Array
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
    certificate = certifier.certificate(attempt)
    strongest, weight = muscles.parameters.max_isometric_force, problem.weight[:, None]
    reserve = problem.compliance * attempt.multiplier
    if not certificate.holds.all():
        notes = (*notes, attempt.message) if attempt.message else notes
        failed = unsolved(problem, cost.cost.label, Status.SOLVER_FAILED, notes)
        ended = replace(failed, solver=attempt.method, iterations=attempt.iterations)
        return replace(ended, gap=certificate.gap, moment_error=certificate.moment_error)
    helped = needs_reserve(reserve, problem.moment).any(axis=1)
    fall, rise = attempt.limit_multiplier
    taut, path = muscles.rest + muscles.stretch * attempt.coordinate, problem.musculotendon_length
    return MotionSolution(
        time=problem.time,
        status=np.where(helped, Status.SOLVED_WITH_RESERVE, Status.SOLVED).astype(np.int8),
        gap=certificate.gap,
        moment_error=certificate.moment_error,
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
    frames, nothing = problem.n_frames, np.full(problem.musculotendon_length.shape, np.nan)
    by_moment = np.full(problem.moment.shape, np.nan)
    other: dict[str, Any] = {"time": problem.time, "status": np.full(frames, status, dtype=np.int8)}
    other |= dict.fromkeys(("gap", "moment_error"), np.full(frames, np.inf)) | {
        "cost": np.full(frames, np.nan)
    }
    other |= dict.fromkeys(("reserve", "multiplier"), by_moment)
    other |= dict.fromkeys(("falling_multiplier", "rising_multiplier", "defect"), nothing[1:])
    other |= {"cost_name": cost_name, "solver": "", "iterations": 0, "notes": notes, "lacks": lacks}
    return MotionSolution(**{field.name: nothing for field in fields(MotionSolution)} | other)


SOFT, STIFF = (1e-3, 1e-5), (1e6, 1e5, 1e4)
"""Factors, tried in order, on the usual weight of reserves: where muscles are too weak, and where they are not."""
MAX_ITERATIONS, MAX_SECONDS = 200, 60.0
"""Limits of Ipopt: an iteration on the leg of a walk takes a fifth of a second; it needs fewer than a hundred."""
# Reserves beyond which muscles lack something [N m]: soft ones bear a little everywhere.
LARGEST_SOFT_RESERVE = 0.05


METHODS = ("structured", "collocation")
REFERENCE = "collocation"
_NO_SOLUTION = "The {} method found no solution; this is the reference, collocation with Ipopt."


def find_method(name: str) -> Method:
    """The method of a name, with default options."""
    check_choice(name, "the method", METHODS, where="method")
    if name == "structured":
        return BandedInteriorPoint()
    from musclesolve.trajectory.collocation import Collocation  # CasADi, which few motions need

    return Collocation(max_iterations=MAX_ITERATIONS, max_seconds=MAX_SECONDS)


def solve_motion(
    problem: MotionProblem,
    cost: str | Cost = USUAL_COST,
    method: str | Method = "structured",
    on_infeasible: str = "report",
) -> MotionSolution:
    """Activations of least cost for a motion with elastic tendons and activation dynamics.

    If the structured method does not solve a motion, the reference method is used, collocation with Ipopt; `solver` and
    `notes` of the solution state it. A solution with reserves shows moments that the muscles cannot produce.

    Args:
        problem: the motion.
        cost: a name or a Cost: smooth, convex, a sum over muscles of functions of force or of activation.
        method: "structured" (`BandedInteriorPoint`), "collocation" (the reference), or one of these with options.
        on_infeasible: "report": a motion that needs reserves is not solved, and `notes` name the missing moments.
            "reserve": the motion is solved with reserves where the muscles cannot produce the moments.

    Returns:
        Activations [1], forces [N], fiber and tendon lengths [m], with status and certificate of every frame.

    Raises:
        InputError: an unknown method, or a cost that cannot be used.
    """
    check_type(problem, MotionProblem, "problem", "a MotionProblem")
    check_choice(on_infeasible, "on_infeasible", ON_INFEASIBLE)
    if isinstance(method, str):
        method = find_method(method)
    elif getattr(method, "name", None) not in METHODS:
        expected = "'structured', 'collocation', or one of these with options"
        raise input_error("wrong_type", where="method", expected=expected, given=type(method).__name__)
    chosen, muscles, notes = MotionCost.from_cost(problem, cost), problem.muscles, tuple[str, ...]()
    slack = np.sum(problem.musculotendon_length <= muscles.parameters.tendon_slack_length, axis=0)
    if slack.any():
        names = ", ".join(f"{muscles.names[k]} ({slack[k]} frames)" for k in np.flatnonzero(slack))
        notes = (f"The tendon is longer than the path, so that there is no force: {names}.",)
    case = _Case(problem, chosen, static_start(problem, chosen.cost), notes)
    solution = case.solve(method, on_infeasible)
    if solution.solved.any() or solution.lacks or method.name == REFERENCE:
        return solution
    again = case.solve(find_method(REFERENCE), on_infeasible)
    return replace(again, notes=(_NO_SOLUTION.format(method.name), *again.notes))


@dataclass(frozen=True, eq=False)
class _Case:
    """A motion with its cost, its start and notes on its muscles."""

    problem: MotionProblem
    cost: MotionCost
    start: tuple[Array, Array, bool]  # from `static_start`
    notes: tuple[str, ...]

    def solve(self, method: Method, on_infeasible: str) -> MotionSolution:
        """The motion solved without reserves if possible, else with reserves.

        If single frames have no solution without reserves, the reference method does not search for one, because this
        takes long.
        """
        problem, exact = self.problem, None
        if problem.reserve_weight is not None or method.name != REFERENCE or not self.start[2]:
            exact = self._solved(problem, method)
            if exact.solved.all() or problem.reserve_weight is not None:
                return exact
        helped = self._with_reserves(method)
        if not helped.solved.all():
            return helped if exact is None else exact
        if (helped.status == Status.SOLVED).all():
            return helped  # no moment lacks: to the tolerance of the certificate it is the optimum without reserves
        if method.name != REFERENCE and (again := self._from_reserves(method, helped)).solved.all():
            return again
        # the largest reserve of each moment
        needed, parts = needs_reserve(helped.reserve, problem.moment), []
        for k in np.flatnonzero(needed.any(axis=0)):
            t = int(np.abs(helped.reserve[:, k]).argmax())
            largest = f"{abs(helped.reserve[t, k]):.3g} N m at {problem.time[t]:.2f} s"
            parts.append(f"{problem.dof[k]} {largest} ({needed[:, k].sum()} frames)")
        lack = f"The muscles with elastic tendons lack: {', '.join(parts)}."
        if on_infeasible == "reserve":
            return replace(helped, notes=(*helped.notes, lack))
        label = self.cost.cost.label
        return unsolved(problem, label, Status.SOLVER_FAILED, (*self.notes, lack), lacks=True)

    def _solved(self, problem: MotionProblem, method: Method) -> MotionSolution:
        attempt = method.solve(problem, self.cost, self.start[:2])
        return label_solution(problem, self.cost, attempt, self.notes)

    def _with_reserves(self, method: Method) -> MotionSolution:
        """The motion solved with soft reserves, then with stiff ones where the muscles are strong enough."""
        usual = fallback_weight(self.problem.isometric, self.cost.cost)
        for share in SOFT:
            soft = share * usual
            softened = replace(self.problem, reserve_weight=soft)
            first = self._solved(softened, method)
            if not first.solved.all() and method.name == REFERENCE:
                first = replace(self, start=static_start(softened, self.cost.cost))._solved(softened, method)
            if first.solved.all():
                break
        if not first.solved.all():
            return first
        lacking = (np.abs(first.reserve) > LARGEST_SOFT_RESERVE).any(axis=1, keepdims=True)
        for stiff in STIFF:
            weight = soft * np.where(lacking, 1.0, stiff)
            second = self._solved(replace(self.problem, reserve_weight=weight), method)
            if second.solved.all():
                return second
        return first

    def _from_reserves(self, method: Method, helped: MotionSolution) -> MotionSolution:
        """The motion solved without reserves from the solution with reserves: methods solve some motions from some
        starts only.

        If reserves were small, and single frames need none, the reference method is tried, too.
        """
        force = (helped.force + helped.passive_force) / self.problem.muscles.parameters.max_isometric_force
        near = self.problem.muscles.curves.tendon.inverse(force)
        start = near, helped.activation, self.start[2]
        again = replace(self, start=start)._solved(self.problem, method)
        if again.solved.all() or self.start[2] or (np.abs(helped.reserve) > LARGEST_SOFT_RESERVE).any():
            return again
        reference = self._solved(self.problem, find_method(REFERENCE))
        return replace(reference, notes=(_NO_SOLUTION.format(method.name), *reference.notes))


def static_problem(problem: MotionProblem) -> tuple[Problem, Array]:
    """The force-sharing problem of single frames behind rigid tendons, and their passive forces (T, n) [N]."""
    rigid, strongest = problem.muscles.rigid(), problem.muscles.parameters.max_isometric_force
    nothing = np.zeros_like(problem.musculotendon_length)
    lengths = problem.musculotendon_length, problem.musculotendon_velocity
    state = equilibrium(rigid, *lengths, nothing, nothing)
    passive = strongest * state.passive.value
    needed = problem.moment - np.einsum("tkn,tn->tk", problem.moment_arm, passive)
    capacity = strongest * state.capacity.value
    along_fibers = capacity / state.cosine.value
    arrays = {"force_capacity": capacity, "fiber_force_capacity": along_fibers, "moment": needed}
    return problem.isometric.with_arrays(**arrays), passive


def static_start(problem: MotionProblem, cost: Cost) -> tuple[Array, Array, bool]:
    """Tendon coordinate and activation (T, n) of the static optimum, and whether some frames needed a reserve."""
    static, passive = static_problem(problem)
    optimum = solve_part(static, cost, on_infeasible="reserve")
    force = (np.nan_to_num(optimum.force) + passive) / problem.muscles.parameters.max_isometric_force
    coordinate = problem.muscles.curves.tendon.inverse(force)
    lacks = bool((optimum.status != Status.SOLVED).any())
    return coordinate, np.nan_to_num(optimum.activation), lacks
