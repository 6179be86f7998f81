"""Optimal torques of an orthosis or exoskeleton at the joints of a part, chosen together with the activations.

A torque acts on the distal segment of a degree of freedom, positive as the joint moment, and its reaction on the
proximal one, so the muscles produce the rest:

    A a + sum_d e_d t_d = b,    low_d <= t_d <= high_d.

The optimal torques minimize the cost of the muscles: each is a column of the problem with a moment arm about its degree
of freedom alone and the cost EFFORT times the square of its share of the largest allowed torque, which decides where
the muscles do not. The frame is solved once with these columns, and once more with fixed torques, so that the
certificate of a result belongs to its muscles.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.models.body import Sharing, SharingGroup, SolvedGroup
from musclesolve.models.body_sharing import refuse_actuators, sharing_problem
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_terms import Parameters, Power, SoftRows, Term
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_arrays import ARRAY_AXES, OPTIONAL
from musclesolve.sharing.solution import Solution
from musclesolve.sharing.solving import solve_part

EFFORT = 1e-6
"""Cost of a column that is no muscle, such as a torque, at its limit."""
Limits = Mapping[str, tuple[float, float]]
"""Degree of freedom -> least and greatest torque [N m]."""


PADDING = {"optimal_fiber_length": 1.0, "joints_crossed": 1.0, "emg": np.nan}
"""Values of optional arrays of a problem for a column that is no muscle; zero where absent."""


def padded(problem: Problem, columns: Array, capacity: Array, **bounds: Array) -> dict[str, Any]:
    """The arrays of a problem with k further columns that are no muscles.

    Args:
        problem: of n muscles and m moments.
        columns: (T, m, k) moment arms.
        capacity: (k,) or (T, k) force of a column at activation 1.
        bounds: lower and upper (k,), 0 and 1 unless given.
    """
    frames, count = len(problem.moment), columns.shape[2]

    def wider(name: str, filled: Array | float) -> Array | None:
        array = getattr(problem, name)
        if array is None:
            return None
        return np.concatenate([array, np.broadcast_to(filled, (*array.shape[:-1], count))], axis=-1)

    filled = PADDING | {"fiber_force_capacity": np.broadcast_to(capacity, (frames, count))}
    optional = {
        name: wider(name, filled.get(name, 0.0)) if ARRAY_AXES[name][-1] == "n" else getattr(problem, name)
        for name in OPTIONAL
    }
    return {
        "moment_arm": np.concatenate([problem.moment_arm, columns], axis=2),
        "moment": problem.moment,
        "force_capacity": wider("force_capacity", np.broadcast_to(capacity, (frames, count))),
        "max_isometric_force": wider("max_isometric_force", np.max(np.atleast_2d(capacity), axis=0)),
        "lower": wider("lower", bounds.get("lower", np.zeros(count))),
        "upper": wider("upper", bounds.get("upper", np.ones(count))),
        "reserve_weight": problem.reserve_weight,
        "dof": problem.dof,
        "source_frames": problem.source_frames,
        **optional,
    }


def contact_along(part: SharingGroup, reaction: Mapping[str, Array], joint: str) -> tuple[Array, Array]:
    """The contact force of a joint along its present direction, row . F + offset.

    Args:
        part: with its loads.
        reaction: joint -> contact force now (T, 3) [N].
        joint: its name.

    Returns:
        row (T, n) over the forces F of the contractile elements [1], and offset (T,) [N], the force without them.
    """
    loads, force = part.loads, reaction[joint]
    assert loads is not None
    k = loads.joints.index(joint)
    direction = np.nan_to_num(force / np.linalg.norm(force, axis=1, keepdims=True))
    row = np.einsum("tnx,tx->tn", loads.all_pulls.force[:, k], direction)
    offset = (loads.net[:, k] * direction).sum(axis=1) + (row * part.state.passive_force).sum(axis=1)
    return row, offset


@dataclass(frozen=True)
class MusclesAlone(Cost):
    """The cost of the first n - count columns of a problem; the last columns, no muscles, cost EFFORT a^2 each."""

    base: Cost
    count: int
    target_weight: float = 0.0
    """Weight w of 1/2 w R^2 of the last joint reaction R of the problem, which is a target; 0: there is none."""

    name = "muscles_alone"

    @property
    def label(self) -> str:
        """The label of the cost of the muscles."""
        return self.base.label

    @property
    def needs(self) -> frozenset[str]:
        """Abilities that a solver must have: those for the cost of the muscles, and rows for a target."""
        return self.base.needs | ({"rows"} if self.target_weight else frozenset())

    @property
    def data(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the problem's fields that the cost of the muscles needs."""
        return self.base.data

    @property
    def quadratic(self) -> bool:
        """Whether the cost of the muscles has no term of a higher degree than the second."""
        return self.base.quadratic or self.base.linear

    def fitted(self, problem: Problem) -> Cost:
        """See Cost."""
        return replace(self, base=self.base.fitted(self.muscles(problem)))

    def muscles(self, problem: Problem) -> Problem:
        """The problem without the columns of the torques."""
        count = problem.n_muscles - self.count
        of_muscles: dict[str, Any] = {
            name: array[..., :count]
            for name, axes in ARRAY_AXES.items()
            if axes[-1] == "n" and (array := getattr(problem, name)) is not None
        }
        if self.target_weight and problem.reaction_offset is not None:  # without the target, the last one
            names = (problem.reaction or ())[:-1]
            matrix, offset = of_muscles["reaction_matrix"][:, :-1], problem.reaction_offset[:, :-1]
            reactions = (matrix, offset, names) if names else (None, None, None)
            of_muscles |= zip(("reaction_matrix", "reaction_offset", "reaction"), reactions, strict=True)
        muscles = replace(problem, muscle=(problem.muscle or ())[:count], **of_muscles)
        return muscles.with_arrays(largest_arm=problem.largest_arm[:, :count])

    def term_value(self, problem: Problem, activation: Array) -> Array:
        """See Cost."""
        of_muscles, torque = activation[:, : -self.count], activation[:, -self.count :]
        return self.base.term_value(self.muscles(problem), of_muscles) + EFFORT * (torque**2).sum(axis=1)

    def term_gradient(self, problem: Problem, activation: Array) -> Array:
        """See Cost."""
        of_muscles, torque = activation[:, : -self.count], activation[:, -self.count :]
        return np.hstack([self.base.term_gradient(self.muscles(problem), of_muscles), 2.0 * EFFORT * torque])

    def term_hessian_diagonal(self, problem: Problem, activation: Array) -> Array:
        """See Cost."""
        of_muscles, torque = activation[:, : -self.count], activation[:, -self.count :]
        curved = self.base.term_hessian_diagonal(self.muscles(problem), of_muscles)
        return np.hstack([curved, np.full_like(torque, 2.0 * EFFORT)])

    def terms(self, problem: Problem) -> tuple[Term, ...] | None:
        """See Cost."""
        base_terms = self.base.terms(self.muscles(problem))
        if base_terms is None:
            return None
        blank = np.zeros((problem.n_frames, self.count))
        padded = [
            replace(
                term,
                coefficient=np.hstack([term.coefficient, blank]),
                target=None if term.target is None else np.hstack([term.target, blank]),
            )
            for term in base_terms
        ]
        torque = np.zeros(problem.force_capacity.shape)
        torque[:, -self.count :] = np.sqrt(EFFORT)
        return (*padded, Term(Power(2.0), torque))

    def soft_rows(self, problem: Problem) -> SoftRows | None:
        """See Cost."""
        rows = self.base.soft_rows(self.muscles(problem))
        if rows is not None:
            blank = np.zeros((*rows.matrix.shape[:2], self.count))
            rows = replace(rows, matrix=np.concatenate([rows.matrix, blank], axis=2))
        if not self.target_weight:
            return rows
        assert problem.reaction_matrix is not None and problem.reaction_offset is not None
        target = SoftRows(
            problem.reaction_matrix[:, -1:] * problem.force_capacity[:, None, :],
            -problem.reaction_offset[:, -1:],
            np.full((problem.n_frames, 1), self.target_weight),
        )
        if rows is None:
            return target
        pairs = ((getattr(rows, name), getattr(target, name)) for name in ("matrix", "target", "weight"))
        return SoftRows(*(np.concatenate(pair, axis=1) for pair in pairs))

    def largest_activation(self, problem: Problem) -> Array:
        """See Cost."""
        largest = self.base.largest_activation(self.muscles(problem))
        return np.hstack([largest, np.full((len(largest), self.count), np.inf)])

    def term_parameters(self, problem: Problem) -> Parameters:
        """See Cost."""
        return self.base.term_parameters(self.muscles(problem))

    def term_expression(self, casadi: Any, activation: Any, parameters: Any) -> Any:
        """See Cost."""
        count = activation.shape[0] - self.count
        of_muscles = self.base.term_expression(casadi, activation[:count], parameters)
        return of_muscles + EFFORT * casadi.sumsqr(activation[count:])


PRIORITY = 100.0
"""Weight of the square of a target beside the cost of the muscles, both relative to their present means."""


@dataclass(frozen=True, eq=False)
class Target:
    """A force that torques minimize: row . F + offset, row (T, n) over the muscles of a part, offset (T,) [N].

    The force is at least zero, as at a contact that lifts off.
    """

    row: Array
    offset: Array

    def value(self, force: Array) -> Array:
        """The target (T,) [N] with forces of the contractile elements (T, n) [N], not below zero."""
        return np.maximum((self.row * force).sum(axis=1) + self.offset, 0.0)


def muscle_target(part: SharingGroup, muscles: Sequence[str]) -> Target:
    """The summed tension of some muscles of a part."""
    mask = np.isin(part.state.parameters.names, list(muscles)).astype(float)
    return Target(np.broadcast_to(mask, part.state.passive_force.shape), part.state.passive_force @ mask)


def contact_target(
    now: SolvedGroup, joint: str, axes: Array | None, spacing: float | None, place: str
) -> Target:
    """A contact force of a joint, as a function of the forces of the contractile elements.

    Args:
        now: the part with its present sharing.
        joint: its name.
        axes, spacing: of a knee, as in `knee.compartments`.
        place: "medial" or "lateral" contact of the knee; "": the force along the direction that it has now.
    """
    if not place or axes is None or spacing is None:
        return Target(*contact_along(now.part, now.contact_force, joint))
    loads, passive = now.part.loads, now.state.passive_force
    assert loads is not None
    k = loads.joints.index(joint)
    down, _, medial = np.moveaxis(axes, 1, 0)
    sign = -1.0 if place == "medial" else 1.0
    force, about = 0.5 * down, sign * np.cross(down, medial) / spacing
    row = np.einsum("tnx,tx->tn", loads.all_pulls.force[:, k], force)
    row = row + np.einsum("tnx,tx->tn", loads.all_pulls.moment[:, k], about)
    offset = (loads.net[:, k] * force).sum(axis=1) + (loads.net_moment[:, k] * about).sum(axis=1)
    return Target(row, offset + (row * passive).sum(axis=1))


GRID, FINER, SWEEPS = 25, 9, 2
"""Number of torques in the first search, and in each of two finer searches; number of sweeps over several joints."""


def torque_against(
    part: SharingGroup, sharing: Sharing, limits: Limits, target: Target
) -> tuple[Array, Array]:
    """Find torques within limits that minimize a target while the muscles minimize their own cost.

    Muscles do not serve the target. So torques are searched in every frame: GRID values of each joint, then twice
    around the best one, joint after joint; of equally good torques the smallest is taken. Each value is solved for all
    frames at once. `cooperation` is the convex problem of cooperating muscles, whose target is lower.

    Returns:
        Torques (T, shared) [N m], and the target (T,) [N] that cooperating muscles would reach, NaN without a solution.
    """
    refuse_actuators([part], "the torques of a device")
    problem = sharing_problem(part, sharing)
    frames = problem.n_frames
    torque = np.zeros((frames, problem.n_dof))

    def reached(row: int, tried: Array) -> Array:
        """The target (K, T) with torques (K, T) about one joint; infinite without a solution without reserves."""
        many = problem.frames(np.tile(np.arange(frames), len(tried)))
        moment = np.tile(problem.moment - torque, (len(tried), 1))
        moment[:, row] += np.tile(torque[:, row], len(tried)) - tried.ravel()
        solution = solve_part(many.with_arrays(moment=moment), sharing.cost, sharing.solver)
        force = solution.force.reshape(len(tried), frames, -1)
        torques = np.stack([target.value(wanted) for wanted in force])
        return np.where(np.isfinite(torques), torques, np.inf)

    for _ in range(SWEEPS if len(limits) > 1 else 1):
        for dof, (low, high) in limits.items():
            row, span = part.shared.index(dof), high - low
            tried = np.repeat(np.linspace(low, high, GRID)[:, None], frames, axis=1)
            for points in (FINER, FINER, 0):
                value = reached(row, tried)
                scale = np.nanmax(np.where(np.isfinite(value), value, np.nan), initial=1.0)
                lazy = value + 1e-6 * scale * np.abs(tried) / max(abs(low), abs(high))
                best = np.take_along_axis(tried, lazy.argmin(axis=0)[None], axis=0)[0]
                torque[:, row] = np.where(np.isfinite(value).any(axis=0), best, torque[:, row])
                if points:
                    span /= 0.5 * (len(tried) - 1)
                    around = span * np.linspace(-0.5, 0.5, points)[:, None]
                    tried = np.clip(torque[:, row] + around, low, high)
    return torque, cooperation(part, sharing, limits, target)


def cooperation(part: SharingGroup, sharing: Sharing, limits: Limits, target: Target) -> Array:
    """The target (T,) [N] in the convex problem in which muscles and torques minimize it together.

    With a target R(a) the cost is J(a) + 1/2 w R(a)^2, with w so that the square counts PRIORITY times the cost of the
    muscles, both as means over the frames without torques. It stays one convex problem of each frame.
    """
    problem, solution = _solve_with_torques(part, sharing, limits, target)[:2]
    return np.where(solution.solved, target.value(solution.force[:, : problem.n_muscles]), np.nan)


def optimal_torque(part: SharingGroup, sharing: Sharing, limits: Limits) -> tuple[Array, Array]:
    """Find torques within limits that minimize the cost of the muscles of a part.

    Returns torques (T, shared) [N m], zero about the other degrees of freedom, NaN in frames without a solution; and
    the gap (T,) of each frame, of muscles and torques together.
    """
    _, solution, count, columns, largest = _solve_with_torques(part, sharing, limits, None)
    torque = np.einsum("tmk,tk->tm", columns, solution.activation[:, -count:] * largest)
    return torque, solution.gap


def _solve_with_torques(
    part: SharingGroup, sharing: Sharing, limits: Limits, target: Target | None
) -> tuple[Problem, Solution, int, Array, Array]:
    """The problem of the muscles, the solution with torques, and number, columns and sizes of the torques."""
    refuse_actuators([part], "the torques of a device")
    problem, weight = sharing_problem(part, sharing), 0.0
    if target is not None:
        usual = solve_part(problem, sharing.cost, sharing.solver, on_infeasible="reserve")
        muscle_value = (target.row * usual.force).sum(axis=1) + target.offset
        size, cost = float(np.nanmean(muscle_value**2)), float(np.nanmean(usual.cost))
        weight = 2.0 * PRIORITY * cost / size if size > 0.0 else 0.0
        problem = _with_reaction(problem, target)
    directions = [
        (part.shared.index(dof), sign, largest, max(sign * near, 0.0) / largest)
        for dof, (low, high) in limits.items()
        for sign, near, largest in ((1.0, low, high), (-1.0, high, -low))
        if largest > 0.0
    ]
    rows, signs, largest, least = map(np.array, zip(*directions, strict=True))
    count = len(directions)
    columns = np.zeros((problem.n_frames, problem.n_dof, count))
    columns[:, rows, np.arange(count)] = signs
    helped = Problem(**padded(problem, columns, largest, lower=least))
    cost_of_both = MusclesAlone(sharing.cost, count, weight)
    solution = solve_part(helped, cost_of_both, sharing.solver, on_infeasible="reserve")
    return problem, solution, count, columns, largest


def _with_reaction(problem: Problem, target: Target) -> Problem:
    """The problem with a target as its last joint reaction."""
    matrix, offset = target.row[:, None], target.offset[:, None]
    if problem.reaction_matrix is not None and problem.reaction_offset is not None:
        matrix = np.concatenate([problem.reaction_matrix, matrix], axis=1)
        offset = np.concatenate([problem.reaction_offset, offset], axis=1)
    names: Any = (*(problem.reaction or ()), "target")
    return problem.with_arrays(reaction_matrix=matrix, reaction_offset=offset, reaction=names)
