"""Force sharing with constraints of your own, beside the moments: CasADi expressions of the activations.

In every frame, with the moments, bounds and reserves of `Problem`,

    minimize f(a) + 1/2 sum_k w_k s_k^2   subject to   A a + s = b,  lower <= a <= upper,  l_j <= c_j(a) <= u_j.

Linear constraints become moments of further muscles (linear_constraints.py), which every solver takes. Convex quadratic
constraints beside convex costs are solved by Newton's method (solver/newton.py). Ipopt, through CasADi or through
cyipopt, takes any constraint with the exact derivatives of its expression. The certificate is as in
`certificate.py`, with multipliers mu_j of the constraints, mu_j >= 0 at a lower bound of c_j and <= 0 at an upper one:
the pull on a muscle is (A^T lambda + J^T mu)_i, J = dc/da, and G is larger by

    mu_j^+ (c_j - l_j)^+ + mu_j^- (u_j - c_j)^+,

the multiplier times the distance of the constraint from the bound that the multiplier belongs to. This bounds the
excess over the least cost where every c_j is linear, or convex with an upper or concave with a lower bound alone, as
c_j then lies on one side of its tangent. A violation v_j counts twice: it is at most 1e-6 of |l_j| or |u_j|, or of the
sum of the terms |J_ji| a_i of c_j where that is more (or round-off where both are zero), and its cost |mu_j| v_j, with
the cost of missed moments, is at most 1e-6 W. A constraint is known to be convex or concave where its second
derivatives are constant, as of squares; of another one the certificate shows a stationary point.

A frame is infeasible where multipliers y of the moments and mu of such constraints prove it (Farkas), with tangents
C a + d of the constraints where the solver ended: they require more than the activations reach within their bounds,

    y . b + sum_j min(mu_j l_j, mu_j u_j) - mu . d  >  sum_i max(p_i lower_i, p_i upper_i),   p = A^T y + C^T mu,

where a product with an infinite bound counts as minus infinity unless mu_j = 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve._util.checks import check_real_array, check_type
from musclesolve._util.locks import CASADI
from musclesolve._util.messages import enumerated
from musclesolve.constants import USUAL_COST, USUAL_SOLVER
from musclesolve.errors import input_error
from musclesolve.sharing.arguments import check_problem, check_smooth_cost
from musclesolve.sharing.certificate import (
    Certificate,
    ConstraintParts,
    certify,
    empty_box,
    needs_reserve,
    within_domain,
)
from musclesolve.sharing.cost.casadi_expression import ExpressionCost, Formula, named_expression
from musclesolve.sharing.cost.cost_base import SLACK, Cost
from musclesolve.sharing.cost.cost_check import check_cost, check_solution
from musclesolve.sharing.kernel.constants import ROUNDED, TOLERANCE, UNIT_ROUNDING
from musclesolve.sharing.linear_constraints import CostBeside, with_constraints
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_scale import exact_moments
from musclesolve.sharing.solution import Solution, SolutionArrays
from musclesolve.sharing.solver.endings import ending_notes, reasons
from musclesolve.sharing.solver.newton import newton_within
from musclesolve.sharing.solver.solver_registry import Attempt, Solver, able_solver, find_solver
from musclesolve.sharing.solving import OPEN, label_frames, solve_part
from musclesolve.sharing.status import Status, is_solved

if TYPE_CHECKING:
    import xarray as xr

SOLVERS = ("ipopt", "cyipopt")
"""Solvers that take constraints that are not linear."""
NEAR = 1e-6  # distance from a bound, in changes of the constraint by a whole activation, from which it does not bind
OF_TANGENTS = (
    16.0 * UNIT_ROUNDING
)  # share of value, terms and bound of a constraint that its tangent may be off
LEAST_SHARE = 1e-3  # of the largest multiplier of a proof, above which its moment is named


@dataclass(frozen=True, eq=False)
class ExpressionConstraint:
    """A constraint written as a CasADi expression; `expression_constraint` makes it.

    body: the expression, with its value (T,), gradient (T, n) and second derivatives (T, n, n); lower and upper: the
    bounds of its value, a number or (T,).
    """

    body: ExpressionCost
    lower: Array
    upper: Array

    @property
    def name(self) -> str:
        """The name of the constraint in messages and solutions."""
        return self.body.name

    @property
    def linear(self) -> bool:
        """Whether the expression is linear in the activations, so that the set that it allows is convex."""
        return self.body.linear

    def bends(self, problem: Problem) -> tuple[bool, bool]:
        """Return whether it surely bends nowhere downward, and nowhere upward, by constant second derivatives."""
        if self.linear:
            return True, True
        if self.body.in_pieces or self.body._functions["hessian"].jac_sparsity(0, 0).nnz():
            return False, False
        hessian = self.body.term_hessian(problem, problem.lower)
        alike = hessian.strides[0] == 0 or bool((hessian == hessian[:1]).all())
        curvature = np.linalg.eigvalsh(hessian[:1] if alike else hessian)
        rounding = SLACK * np.abs(curvature).max(initial=0.0)
        return bool((curvature >= -rounding).all()), bool((curvature <= rounding).all())

    def bounds(self, problem: Problem) -> tuple[Array, Array]:
        """Lower and upper bounds in the frames of a problem, (T,) each; refuse bounds of another number of frames."""
        whole, frames = problem.whole_frames, problem.n_frames
        for bound in (self.lower, self.upper):
            if bound.ndim and len(bound) not in (whole, frames):
                of_whole = "" if whole == frames else f", or of all {whole} of the whole problem"
                expected = f"a number, or one for each of {frames} frames{of_whole}"
                name = f"a bound of the constraint {self.name}"
                raise input_error("bad_shape", expected=expected, name=name, shape=bound.shape)
        lower, upper = (
            bound[problem.frame_number] if bound.shape == (whole,) else np.broadcast_to(bound, frames)
            for bound in (self.lower, self.upper)
        )
        return lower, upper


def expression_constraint(
    name: str,
    expression: Formula,
    lower: ArrayLike = -np.inf,
    upper: ArrayLike = np.inf,
    *,
    uses: tuple[str, ...] = (),
    constants: Mapping[str, ArrayLike] | None = None,
    frame_constants: Mapping[str, ArrayLike] | None = None,
) -> ExpressionConstraint:
    """A constraint lower <= c(a) <= upper from a CasADi expression c of activations and forces.

    Args:
        name: in messages and solutions.
        expression: `expression(activation, force, data)` gives the value of one frame; arguments as for
            `expression_cost`. A muscle is picked by its number, `problem.muscle.index("soleus_r")`.
        lower: of the value, in its own unit; a number, or (T,) numbers: of all frames of the problem also
            where a part of it is solved (`Problem.frames`), or of the frames of this part.
        upper: the upper bound; equal to lower for an equation.
        uses: fields of Problem that become attributes of data, see `expression_cost`.
        constants: further attributes of data.
        frame_constants: further attributes of data with an axis of frames in front.

    Raises:
        InputError: the expression cannot be evaluated or is not a single number; there is no bound; a bound is no
            number; lower exceeds upper.

    Examples:
        >>> held = ms.sharing.expression_constraint("first", lambda a, force, data: a[0], upper=0.2)
        >>> held.name, float(held.upper)
        ('first', 0.2)
    """
    body = named_expression(name, expression, uses, constants, frame_constants)
    where = f"expression_constraint {name!r}"
    low, high = (
        np.array(check_real_array(bound, word, "a number, or one for each frame", where=where))
        for word, bound in (("lower", lower), ("upper", upper))
    )
    of_frames = [bound.shape for bound in (low, high) if bound.ndim]
    fitting = len(set(of_frames)) < 2 and all(len(shape) < 2 for shape in of_frames)
    if not (fitting and np.all((low <= high) & (low < np.inf) & (high > -np.inf))):
        fault = f"the bounds of the constraint {name} are not in order, no numbers, or of other shapes"
        expected = "lower <= upper, a number or (T,) numbers each, lower below +inf and upper above -inf"
        remedy = "leave out a bound that does not bind"
        raise input_error("bad_value", problem=fault, expected=expected, remedy=remedy)
    if not (np.isfinite(low).any() or np.isfinite(high).any()):
        fault = f"the constraint {name} has no finite bound"
        raise input_error("missing_argument", problem=fault, expected="lower, upper, or both")
    return ExpressionConstraint(body, low, high)


@dataclass(frozen=True, eq=False, repr=False)
class ConstrainedSolution(Solution):
    """A `Solution` whose certificate includes constraints.

    Attributes:
        constraint: names of the j constraints.
        constraint_value: (T, j) c_j(a), each in its own unit; NaN in frames that are not solved.
        constraint_multiplier: (T, j) mu_j [cost per unit of c_j], the change of the least cost with the active bound:
            positive at a lower bound, negative at an upper one, 0 between them. In an infeasible frame the constraints'
            part of the proof, beside `infeasibility_proof`; NaN where the moments alone are out of reach.
        missing_moment: (T,) [N m] what the moments of the proof lack together, at the least, within the constraints;
            infinite where the constraints contradict each other, NaN in other frames.
    """

    constraint: tuple[str, ...] = ()
    constraint_value: Array = field(default_factory=lambda: np.zeros((0, 0)))
    constraint_multiplier: Array = field(default_factory=lambda: np.zeros((0, 0)))
    missing_moment: Array = field(default_factory=lambda: np.zeros(0))

    def summary(self) -> str:
        """See `Solution.summary`; names the constraints that proofs of infeasibility rest on."""
        infeasible = np.atleast_1d(self.status) == Status.INFEASIBLE
        # NaN: no constraint is needed
        proofs = np.abs(np.atleast_2d(self.constraint_multiplier)[infeasible]) > 0.0
        if not proofs.any():
            return super().summary()
        names = ", ".join(np.array(self.constraint)[proofs.any(axis=0)])
        frames = int(proofs.any(axis=1).sum())
        both = "No muscle forces within their limits produce these moments and meet the constraints; this is proved."
        ended = super().summary().replace(Status.INFEASIBLE.sentence, both)
        ended += f"\n{frames} x constraints contradict moments, limits of activations or each other: {names}"
        missing = np.atleast_1d(self.missing_moment)
        if not (lacking := np.isfinite(missing)).any():
            return ended
        worst = int(np.where(lacking, missing, 0.0).argmax())
        y = np.abs(np.atleast_2d(self.infeasibility_proof)[worst])
        at = enumerated([(self.dof or ())[k] for k in np.flatnonzero(y > LEAST_SHARE * y.max())])
        return f"{ended}\nat least {missing[worst]:.3g} N m are missing at {at} in frame {worst}"

    def to_dataset(self, problem: Problem | None = None, time: ArrayLike | None = None) -> "xr.Dataset":
        """See `Solution.to_dataset`; adds constraint_value and constraint_multiplier over `constraint`."""
        data = super().to_dataset(problem, time).assign_coords(constraint=list(self.constraint))
        axes = (*data["status"].dims, "constraint")
        unit = "unit of the constraint"
        data["constraint_value"] = axes, self.constraint_value, {"units": unit}
        data["constraint_multiplier"] = axes, self.constraint_multiplier, {"units": f"cost / {unit}"}
        return data


def solve_constrained(
    problem: Problem,
    cost: str | Cost = USUAL_COST,
    constraints: ExpressionConstraint | Sequence[ExpressionConstraint] = (),
    solver: str | Solver | None = None,
) -> ConstrainedSolution:
    """Find the activations of least cost that produce the moments and satisfy constraints, with a certificate.

    A frame is SOLVED (with reserves where `problem.reserve_weight` allows them and one is needed) only if its
    certificate holds. It is INFEASIBLE only with a proof: the moments are out of reach, or linear constraints
    and convex quadratic ones contradict them or each other. A contradiction that needs another constraint ends as
    SOLVER_FAILED, with a sentence in `notes`.

    Args:
        problem: a leg or a body; the solution of a frame starts the next one.
        cost: a name or a Cost with smooth terms.
        constraints: of `expression_constraint`, one or a list.
        solver: a name or a solver object. None: the solver that `solve` takes for the cost if all constraints are
            linear, "batch" for convex costs within linear and convex quadratic constraints, with "ipopt" for frames
            that it leaves, else "ipopt". Other constraints need "ipopt" (CasADi) or "cyipopt".

    Raises:
        InputError: unknown cost or solver, a solver that does not take the cost or the constraints, a cost with levels
            or kinks, an object that is no constraint, two constraints of one name, an expression of more muscles than
            there are, bounds of another number of frames.

    Examples:
        >>> held = ms.sharing.expression_constraint("first", lambda a, force, data: a[0], upper=0.2)
        >>> problem = ms.Problem([[0.05, 0.05]], [30.0], [1000.0, 1000.0], [1000.0, 1000.0])
        >>> ms.sharing.solve_constrained(problem, "force_squared", [held]).activation.round(6).tolist()
        [0.2, 0.4]
    """
    problem = check_problem(problem, "solve_constrained")
    chosen = check_smooth_cost(cost, problem, "minimized within constraints")
    chosen.check_names(*problem.names)
    listed = checked_constraints(constraints, problem)
    curved = [constraint.name for constraint in listed if not constraint.linear]
    original, problem = problem, within_domain(problem, chosen)
    held = Constraints.of(problem, chosen, listed)
    held = held.frames(np.flatnonzero(problem.valid & ~empty_box(problem)))
    newton_first = bool(curved) and "nonconvex" not in chosen.needs and solver in (None, USUAL_SOLVER)
    newton_first = newton_first and held.surely_convex
    usual = USUAL_SOLVER if newton_first else SOLVERS[0]
    method = find_solver(solver or (usual if curved else able_solver(chosen)))
    if curved and not newton_first and method.name not in SOLVERS:
        fault = f"{method.name} takes linear constraints and convex quadratic ones; {', '.join(curved)} is neither"
        expected = f"one of {', '.join(map(str, SOLVERS))}"
        raise input_error("unfit_solver", problem=fault, expected=expected, remedy="solver='ipopt'")
    if problem.reserve_weight is not None and method.name not in (*SOLVERS, USUAL_SOLVER):
        fault = f"{method.name} takes no constraints beside reserves"
        expected = f"one of {', '.join((USUAL_SOLVER, *SOLVERS))}"
        raise input_error("unfit_solver", problem=fault, expected=expected)
    arrays, empty = SolutionArrays.empty(problem), problem.valid & empty_box(problem)
    arrays.status[empty] = Status.INFEASIBLE
    value, multiplier = np.full((2, problem.n_frames, len(listed)), np.nan)
    missing, convex = np.full(problem.n_frames, np.nan), not curved
    notes: tuple[str, ...] = ()
    which = np.flatnonzero(problem.valid & ~empty)
    check_cost(problem, chosen, problem.valid & ~empty)
    if which.size:
        frames = held
        for t, j in np.argwhere(~np.isfinite(frames.value(frames.middle)))[:1]:
            where, expected = f"the constraint {listed[j].name}", "a finite value between the bounds"
            fault = f"it has no value halfway between the bounds of frame {which[t]}"
            raise input_error("bad_cost", where=where, problem=fault, expected=expected)
        if newton_first:
            attempt, further = newton_within(frames)
        elif curved or method.name == "ipopt" or (method.name in SOLVERS and chosen.symbolic):
            attempt, further = frames.by_ipopt(method)
        else:
            attempt, further = frames.minimize(method)
        further, certificate = frames.certified(attempt, further)
        if newton_first and chosen.symbolic and (left := np.flatnonzero(~certificate.holds)).size:
            again, further[left] = frames.frames(left).by_ipopt(find_solver(SOLVERS[0]))
            attempt.store(left, again)
            further, certificate = frames.certified(attempt, further)
        convex = frames.surely_convex
        claims, notes = store_claims(arrays, which, attempt, certificate, frames, further, method.name)
        value[which], multiplier[which], missing[which] = claims
    solution = arrays.to_solution(chosen, method, problem)
    less = {"stationary_only": solution.stationary_only or not convex, "notes": (*solution.notes, *notes)}
    whole = ConstrainedSolution(
        **vars(solution) | less,
        constraint=tuple(constraint.name for constraint in listed),
        constraint_value=value,
        constraint_multiplier=multiplier,
        missing_moment=missing,
    )
    return whole.drop_frame_axis() if original.single_frame else whole  # type: ignore[return-value]


def checked_constraints(
    constraints: ExpressionConstraint | Sequence[ExpressionConstraint], problem: Problem
) -> tuple[ExpressionConstraint, ...]:
    """The constraints for a problem, as a tuple; refuses other objects, and two of one name."""
    listed = tuple(
        check_type(
            constraint, ExpressionConstraint, "constraints", "constraints, from `expression_constraint`"
        )
        for constraint in (constraints if isinstance(constraints, Sequence) else [constraints])
    )
    names = tuple(constraint.name for constraint in listed)
    if len(set(names)) < len(names):
        alike = f"two constraints have one name ({', '.join(names)})"
        raise input_error("duplicate_name", problem=alike, expected="different names")
    return tuple(replace(constraint, body=constraint.body.fitted(problem)) for constraint in listed)


def store_claims(
    arrays: SolutionArrays,
    which: Indices,
    attempt: Attempt,
    certificate: Certificate,
    frames: "Constraints",
    further: Array,
    solver: str,
) -> tuple[tuple[Array, Array, Array], tuple[str, ...]]:
    """Store what a solver claims for some frames by its certificate; NaN where it is not solved.

    Returns:
        Values and multipliers (T, j) of the constraints, of a proof in infeasible frames; the missing moment (T,). And
        sentences on frames that ended neither solved nor with a proof: what the first that misses moments or
        constraints misses, and why the solver ended.
    """
    part = frames.problem
    status, proof = label_frames(part, attempt.reserve, attempt.multiplier, certificate, attempt.claim)
    against, missing = np.full(further.shape, np.nan), np.full(len(further), np.nan)
    if (failed := np.flatnonzero(np.isin(status, OPEN))).size and frames.constraints:
        proofs = frames.frames(failed).contradiction(attempt.activation[failed])
        proof[failed], against[failed], missing[failed] = proofs
        status[np.isfinite(against).any(axis=1)] = Status.INFEASIBLE
    solved = is_solved(status)
    arrays.record(which, attempt, status, certificate)
    arrays.infeasibility_proof[which] = proof
    arrays.cost[which[solved]] = check_solution(part.frames(solved), frames.cost, attempt.activation[solved])
    arrays.force[which] = arrays.activation[which] * part.force_capacity
    value = np.where(solved[:, None], frames.value(attempt.activation), np.nan)
    left = np.isin(status, OPEN)
    ended = ending_notes(solver, reasons(part, frames.cost, attempt), left, which) if left.any() else ()
    notes = (*ended, *frames.missed(attempt, left, which))
    return (value, np.where(solved[:, None], further, against), missing), notes


@dataclass(frozen=True, eq=False)
class Constraints:
    """Frames of a problem with a cost, constraints and their bounds (T, j)."""

    problem: Problem
    cost: Cost
    constraints: tuple[ExpressionConstraint, ...]
    lower: Array
    upper: Array

    @classmethod
    def of(cls, problem: Problem, cost: Cost, constraints: tuple[ExpressionConstraint, ...]) -> "Constraints":
        """The constraints with their bounds in the frames of a problem."""
        bounds = [constraint.bounds(problem) for constraint in constraints]
        low, high = (
            np.array([pair[k] for pair in bounds]).reshape(len(bounds), problem.n_frames).T for k in (0, 1)
        )
        return cls(problem, cost, constraints, low, high)

    def frames(self, which: Indices) -> "Constraints":
        """Some frames, by number."""
        some = replace(
            self, problem=self.problem.frames(which), lower=self.lower[which], upper=self.upper[which]
        )
        some.__dict__.update({name: self.__dict__[name] for name in ("convex",) if name in self.__dict__})
        return some

    def value(self, activation: Array) -> Array:
        """Values of the constraints, (T, j)."""
        values = [constraint.body.value(self.problem, activation) for constraint in self.constraints]
        return np.array(values).reshape(len(values), len(activation)).T

    def jacobian(self, activation: Array) -> Array:
        """Slopes of the constraints by the activations, (T, j, n)."""
        slopes = [constraint.body.gradient(self.problem, activation) for constraint in self.constraints]
        return np.array(slopes).reshape(len(slopes), *activation.shape).transpose(1, 0, 2)

    def size(self, jacobian: Array) -> Array:
        """Change h of each constraint by the muscle that moves it most, (T, j); 1 where none does."""
        room = np.minimum(self.problem.upper - self.problem.lower, 1.0)
        size = (np.abs(jacobian) * room[:, None]).max(axis=2, initial=0.0)
        return np.where(size > 0.0, size, 1.0)

    @property
    def middle(self) -> Array:
        """Activations (T, n) halfway between the bounds, at most 0.5 above the lower ones."""
        return self.problem.lower + 0.5 * np.minimum(self.problem.upper - self.problem.lower, 1.0)

    def size_at_rest(self) -> Array:
        """The change h halfway between the bounds, (T, j), by which values and bounds are divided."""
        return self.size(self.jacobian(self.middle))

    @cached_property
    def convex(self) -> Mask:
        """Whether the upper and the lower bound of each constraint surely allow a convex set, (2, 1, j)."""
        known = [constraint.bends(self.problem) for constraint in self.constraints]
        return np.array(known, bool).reshape(-1, 2).T[:, None]

    @property
    def surely_convex(self) -> bool:
        """Whether all bounds together surely allow a convex set."""
        return bool((self.convex | np.isinf([self.upper, self.lower])).all())

    def contradiction(self, at: Array) -> tuple[Array, Array, Array]:
        """Multipliers y (T, m) and mu (T, j) that prove a frame infeasible, and the missing moment (T,); else NaN.

        They are the proofs of `diagnose`, with the tangents of the constraints at activations (T, n) as moments;
        moments with reserves are left out. By duality y . (b - A a) is at least the shortage of `diagnose` wherever the
        constraints hold.
        """
        from musclesolve.sharing.analysis.diagnosis import diagnose

        problem, count = self.problem, len(self.constraints)
        proof, against = np.full_like(problem.moment, np.nan), np.full((problem.n_frames, count), np.nan)
        missing = np.full(problem.n_frames, np.nan)
        at = np.where(np.isfinite(at), at, self.middle)
        program, size = self.as_moments(at)
        program = exact_moments(program)
        bounds = [np.where(np.isfinite(bound), np.abs(bound), 0.0) for bound in (self.lower, self.upper)]
        terms = (np.abs(self.jacobian(at)) * np.abs(at)[:, None]).sum(axis=2)
        error = OF_TANGENTS * (np.abs(self.value(at)) + terms + np.maximum(*bounds)) / size
        error = np.concatenate([np.zeros_like(problem.moment), error], axis=1)
        # the constraints by themselves come last: where they contradict each other or the bounds, no moment is to blame
        for first in (0, problem.n_dof):
            arm, moment = program.moment_arm[:, first:], program.moment[:, first:]
            scale = np.maximum(1.0, np.abs(moment))
            rows = {"moment_arm": arm / scale[:, :, None], "moment": moment / scale}
            why = diagnose(program.with_arrays(**rows))
            # a proof by constraints has to exceed the round-off of their tangents, too
            y = np.abs(why.proof)
            rounded = (y * (error[:, first:] / scale)[why.frame]).sum(axis=1) / y.max(axis=1, initial=0.0)
            sure = why.proved > rounded
            frame, values = why.frame[sure], why.proof[sure] / scale[why.frame[sure]]
            proof[frame] = 0.0 if first else values[:, : problem.n_dof]
            against[frame] = values[:, problem.n_dof - first :] / size[frame]
            with np.errstate(divide="ignore"):
                missing[frame] = why.total[sure] / np.abs(proof[frame]).max(axis=1)
        return proof, against, missing

    def missed(self, attempt: Attempt, left: Mask, number: Indices) -> tuple[str, ...]:
        """A sentence on what the first of the frames `left` (T,) that misses anything misses where the solver ended."""
        from musclesolve.sharing.analysis.diagnosis import moment_text

        problem, a = self.problem, attempt.activation
        lacks = problem.moment - problem.produced(a) - attempt.reserve
        beyond, limit = self.violation(a, self.value(a), self.jacobian(a))
        short, off = needs_reserve(lacks, problem.moment), beyond > limit
        for t in np.flatnonzero(left & (short.any(axis=1) | off.any(axis=1)))[:1]:
            of_moments = zip(problem.dof or (), lacks[t], short[t], strict=True)
            parts = [f"{dof} lacks {moment_text(moment, dof, {})}" for dof, moment, yes in of_moments if yes]
            for j in np.flatnonzero(off[t]):
                parts.append(f"{self.constraints[j].name} is {beyond[t, j]:.3g} beyond its bound")
            unknown = "that no activations do better is not proved"
            return (f"Where the solver ended in frame {number[t]}, {enumerated(parts)}; {unknown}.",)
        return ()

    def as_moments(
        self, at: Array, jacobian: Array | None = None, value: Array | None = None
    ) -> tuple[Problem, Array]:
        """The problem with tangents of constraints at activations (T, n) as further moments, and their sizes h (T, j).

        Only bounds that surely allow a convex set count: their tangents exclude nothing of it. `jacobian` (T, j, n) and
        `value` (T, j) are those at these activations, if computed already.
        """
        above, below = self.convex
        jacobian = self.jacobian(at) if jacobian is None else jacobian
        value = self.value(at) if value is None else value
        slope = np.where((above | below)[:, :, None], jacobian, 0.0)
        offset = np.where(above | below, value, 0.0) - np.einsum("tjn,tn->tj", slope, at)
        bounds = np.where(below, self.lower, -np.inf), np.where(above, self.upper, np.inf)
        size = self.size(slope)
        return with_constraints(self.problem, slope, offset, *bounds, size), size

    def by_ipopt(self, method: Solver) -> tuple[Attempt, Array]:
        """Minimize with the expressions of the constraints: the attempt, and the multipliers mu (T, j)."""
        from musclesolve.sharing.solver.ipopt import minimize_frames

        with CASADI:
            bodies = tuple(constraint.body for constraint in self.constraints)
            limits = self.size_at_rest(), self.lower, self.upper
            return minimize_frames(self.problem, self.cost, method, None, bodies, limits)

    def minimize(self, method: Solver) -> tuple[Attempt, Array]:
        """Minimize with linear constraints as further moments: the attempt, and the multipliers mu (T, j)."""
        problem = self.problem
        program, size = self.as_moments(self.middle)
        solved = solve_part(program, CostBeside(self.cost, problem), method)
        dofs, activation = problem.n_dof, solved.activation[:, : problem.n_muscles]
        of_moments = solved.reserve[:, :dofs], solved.multiplier[:, :dofs]
        attempt = Attempt(activation, *of_moments, solved.iterations, solved.status)
        return attempt, solved.multiplier[:, dofs:] / size

    def certificate(
        self, activation: Array, reserve: Array, multiplier: Array, further: Array, slope: Array | float = 0.0
    ) -> Certificate:
        """The certificate of activations, reserves and multipliers of moments and constraints (T, j).

        `slope` (T, n) is added to the marginal costs: of costs over several frames.
        """
        jacobian, value = self.jacobian(activation), self.value(activation)
        with np.errstate(invalid="ignore", over="ignore"):
            own = np.einsum("tj,tjn->tn", further, jacobian)
            size = np.einsum("tj,tjn->tn", np.abs(further), np.abs(jacobian)) + np.abs(slope)
            above, below = np.maximum(value - self.lower, 0.0), np.maximum(self.upper - value, 0.0)
            room = np.where(further > 0.0, above, np.where(further < 0.0, below, 0.0))
            violation, limit = self.violation(activation, value, jacobian)
            parts = ConstraintParts(
                pull=own,
                slope=slope,
                size=size,
                excess=(np.abs(further) * room).sum(axis=1),
                miss_cost=(np.abs(further) * violation).sum(axis=1),
                miss=TOLERANCE * _over(violation, limit).max(axis=1, initial=0.0),
            )
        return certify(self.problem, self.cost, activation, reserve, multiplier, constraint_parts=parts)

    def of_active(self, activation: Array, further: Array) -> Array:
        """The multipliers (T, j), zero where a constraint is away from the bound that its multiplier is for."""
        value, near = self.value(activation), NEAR * self.size(self.jacobian(activation))
        away = np.where(further > 0.0, value - self.lower > near, self.upper - value > near)
        return np.where(away, 0.0, further)

    def certified(self, attempt: Attempt, further: Array) -> tuple[Array, Certificate]:
        """The multipliers of `of_active`, and the certificate of an attempt with them."""
        further = self.of_active(attempt.activation, further)
        return further, self.certificate(attempt.activation, attempt.reserve, attempt.multiplier, further)

    def violation(self, activation: Array, value: Array, jacobian: Array) -> tuple[Array, Array]:
        """How far values (T, j) are beyond their bounds, and how far they may be (module docstring), (T, j) each."""
        nearest = np.clip(value, self.lower, self.upper)
        terms = (np.abs(jacobian) * np.abs(activation)[:, None]).sum(axis=2)
        limit = np.maximum(TOLERANCE * np.maximum(np.abs(nearest), terms), ROUNDED * self.size(jacobian))
        return np.abs(value - nearest), limit


def _over(violation: Array, limit: Array) -> Array:
    """Violations (T, j) over their limits; zero where there is none."""
    return np.where(violation > 0.0, violation / limit, violation)
