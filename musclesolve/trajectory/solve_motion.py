"""Solve a whole motion and certify the result."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_choice, check_type
from musclesolve.constants import USUAL_COST
from musclesolve.errors import input_error
from musclesolve.sharing.certificate import needs_reserve
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_scale import fallback_weight
from musclesolve.sharing.solving import ON_INFEASIBLE, solve_part
from musclesolve.sharing.status import Status
from musclesolve.trajectory.banded_interior_point import BandedInteriorPoint
from musclesolve.trajectory.local_equilibrium import equilibrium
from musclesolve.trajectory.motion_problem import MotionCost, MotionProblem
from musclesolve.trajectory.motion_solution import MotionSolution, label_solution, unsolved

if TYPE_CHECKING:
    from musclesolve.trajectory.collocation import Collocation

    Method = BandedInteriorPoint | Collocation

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
    start: StaticStart
    notes: tuple[str, ...]

    def solve(self, method: Method, on_infeasible: str) -> MotionSolution:
        """The motion solved without reserves if possible, else with reserves.

        If single frames have no solution without reserves, the reference method does not search for one, because this
        takes long.
        """
        problem, exact = self.problem, None
        if problem.reserve_weight is not None or method.name != REFERENCE or not self.start.lacks:
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
        attempt = method.solve(problem, self.cost, (self.start.coordinate, self.start.activation))
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
        start = StaticStart(near, helped.activation, self.start.lacks)
        again = replace(self, start=start)._solved(self.problem, method)
        if again.solved.all() or self.start.lacks or (np.abs(helped.reserve) > LARGEST_SOFT_RESERVE).any():
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


class StaticStart(NamedTuple):
    """Tendon coordinate and activation (T, n); lacks: whether some frames needed a reserve."""

    coordinate: Array
    activation: Array
    lacks: bool


def static_start(problem: MotionProblem, cost: Cost) -> StaticStart:
    """The static optimum, with reserves where muscles are too weak."""
    static, passive = static_problem(problem)
    optimum = solve_part(static, cost, on_infeasible="reserve")
    force = (np.nan_to_num(optimum.force) + passive) / problem.muscles.parameters.max_isometric_force
    coordinate = problem.muscles.curves.tendon.inverse(force)
    lacks = bool((optimum.status != Status.SOLVED).any())
    return StaticStart(coordinate, np.nan_to_num(optimum.activation), lacks)
