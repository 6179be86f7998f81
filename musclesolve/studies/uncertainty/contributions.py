"""First-order contributions of the sources of error.

Var F = sum_j (dF/dtheta_j sigma_j)^2 over the parameters j, which are independent; a source's part is the sum over its
own. dF/dtheta_j chains differences of the mechanics, which are smooth, with the derivatives of the forces of a leg by
small changes of its problem, exact for the solution. An error of muscle parameters changes that muscle's columns alone,
so that one difference serves all muscles.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from musclesolve._util.arrays import AnyArray, Array
from musclesolve.errors import InputError
from musclesolve.pipeline.share import sharing_problem
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.derivatives.solution_derivatives import SolutionDerivatives, solution_derivatives
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solution import Solution
from musclesolve.sharing.solving import solve
from musclesolve.studies.uncertainty.replay import Body, Errors, Replay, leg_dofs

STEP = 0.01
"""Step of the differences [standard deviations]: fits to 1e-8 m resolve it, the mechanics are nearly linear in it."""

OF_MUSCLES = ("max_isometric_force", "optimal_fiber_length", "tendon_slack_length", "muscle_path")
"""Sources whose errors belong to single muscles."""


@dataclass(frozen=True)
class Task:
    """Some parameters of a source: one by its number, or one of every muscle of a leg."""

    source: str  # its name
    # of the parameter among those of the source; of a muscle's source the place (.., axis) of the point
    number: tuple[int, ...]
    leg: int | None = None  # of a muscle's source


@dataclass(frozen=True)
class Linear:
    """The pipeline at its nominal point, and its derivatives there."""

    replay: Replay

    @cached_property
    def _no_errors(self) -> Errors:
        return self.replay.parameters.errors(np.zeros(self.replay.parameters.count))

    @cached_property
    def _body(self) -> Body:
        return self.replay.body(self._no_errors)

    @cached_property
    def responses(self) -> list[Response]:
        """The derivatives of each leg."""
        options, sharing, found = self.replay.options, self.replay.options.sharing, []
        if sharing.tendon == "elastic":
            raise InputError(
                "forces of elastic tendons have no derivatives here: frames depend on each other",
                code="unsupported",
                remedy='choose tendon = "rigid"',
            )
        for leg in range(len(options.sides)):
            point = self._point(self._body, self._no_errors, leg)
            solution = solve(point.problem, sharing.cost, sharing.solver, on_infeasible="reserve")
            found.append(Response.of(point, solution, sharing.cost))
        return found

    def differentiate(self) -> None:
        """Compute the derivatives now; InputError for a cost that has none, and for elastic tendons."""
        assert self.responses

    @property
    def unique(self) -> AnyArray:
        """(T, legs) where the derivatives are defined, and the same to both sides."""
        return np.stack([response.derivatives.unique for response in self.responses], axis=1)

    def tasks(self) -> list[Task]:
        """Every parameter of the sources that are not switched off, those of all muscles of a leg together."""
        parameters = self.replay.parameters
        found = []
        for source, shape in parameters.shapes.items():
            if parameters.sd[source] == 0.0:
                continue
            if source in OF_MUSCLES:
                per_point = (int(self._rank().max()) + 1, 3)  # number of the point within its muscle, axis
                inner = np.ndindex(per_point) if source == "muscle_path" else [()]
                found += [Task(source, place, leg) for leg, place in product(range(shape[0]), inner)]
            else:
                found += [Task(source, place) for place in np.ndindex(*shape)]
        return found

    def _rank(self) -> AnyArray:
        """(P,) number of each path point within its muscle."""
        counts = [len(muscle.path) for muscle in self.replay.options.database]
        return np.concatenate([np.arange(count) for count in counts])

    def squares(self, task: Task) -> dict[str, AnyArray]:
        """Sums over the parameters of (dF/dtheta sigma)^2, of all analysed legs.

        muscle_force (T, n), contact_force (T, J) [N2] and joint_moment (T, K) [N2 m2].
        """
        return self._of_muscles(task) if task.leg is not None else self._of_body(task)

    def _of_body(self, task: Task) -> dict[str, AnyArray]:
        errors = self._one_step(task.source, task.number)
        # Strength does not change the mechanics of the body.
        body = self._body if task.source == "strength" else self.replay.body(errors)
        pairs = [
            response.to_one(self._point(body, errors, leg), STEP)
            for leg, response in enumerate(self.responses)
        ]
        dofs = [body.model.dof(dof) for dof in leg_dofs(self.replay.options)]
        return {
            "muscle_force": np.concatenate([force[0] for force, _ in pairs], axis=1) ** 2,
            "contact_force": np.concatenate([contact[0] for _, contact in pairs], axis=1) ** 2,
            "joint_moment": ((body.moments - self._body.moments)[:, dofs] / STEP) ** 2,
        }

    def _of_muscles(self, task: Task) -> dict[str, AnyArray]:
        """Of one leg; they do not change the other one."""
        assert task.leg is not None
        if task.source == "muscle_path":
            rank, axis = task.number
            places = np.flatnonzero(self._rank() == rank)
            errors = self._one_step(task.source, (task.leg, places, axis))
        else:
            errors = self._one_step(task.source, (task.leg,))
        response = self.responses[task.leg]
        pairs = response.to_each(self._point(self._body, errors, task.leg), STEP)
        parts = [tuple((derivative**2).sum(axis=0) for derivative in pair) for pair in pairs]
        legs, found = range(len(self.responses)), {}
        for place, name in enumerate(("muscle_force", "contact_force")):
            own = sum(part[place] for part in parts)
            found[name] = np.concatenate(
                [own if leg == task.leg else np.zeros_like(own) for leg in legs], axis=1
            )
        dofs = len(leg_dofs(self.replay.options))
        return found | {"joint_moment": np.zeros((len(self.replay.time), dofs))}

    def _one_step(self, source: str, place: tuple[int | AnyArray, ...]) -> Errors:
        """No errors but one step in some parameters of a source."""
        error = np.zeros_like(self._no_errors[source])
        error[place] = STEP * self.replay.parameters.sd[source]
        return self._no_errors | {source: error}

    def _point(self, body: Body, errors: Errors, leg: int) -> LegPoint:
        found = self.replay.leg(body, errors, leg)
        return LegPoint(sharing_problem(found, self.replay.options.sharing), found.state.passive_force)


def summed(sources: Iterable[str], parts: Iterator[tuple[Task, dict[str, AnyArray]]]) -> dict[str, AnyArray]:
    """Quantity -> (source, T, k) first-order variance by source, from the parts in the order of the tasks."""
    order, total = list(sources), {}
    for task, squares in parts:
        for name, values in squares.items():
            if name not in total:
                total[name] = np.zeros((len(order), *values.shape))
            total[name][order.index(task.source)] += values
    return total


Changes = dict[str, Array]

AT_ONCE = 4_000_000
"""Numbers of the largest array of changes at most."""

ARRAYS = (
    *("moment", "moment_arm", "force_capacity", "max_isometric_force", "fiber_velocity"),
    *("optimal_fiber_length", "reaction_matrix", "reaction_offset"),
)
"""What errors change of a problem."""


@dataclass(frozen=True)
class LegPoint:
    """The problem of a leg and its passive forces (T, n) [N]: what its forces depend on."""

    problem: Problem
    passive: Array


@dataclass(frozen=True)
class Response:
    """The forces of a leg and their derivatives."""

    base: LegPoint  # the leg without errors
    solution: Solution  # its forces
    derivatives: SolutionDerivatives  # of the solution

    @classmethod
    def of(cls, base: LegPoint, solution: Solution, cost: Cost) -> Response:
        """Differentiate the forces of a leg; InputError for a cost that has no derivatives."""
        return cls(base, solution, solution_derivatives(base.problem, solution, cost))

    def to_one(self, moved: LegPoint, step: float) -> tuple[Array, Array]:
        """Derivatives along an error that moves the leg by a step: muscle forces (1, T, n), contact (1, T, J) [N]."""
        before, after = self.base.problem, moved.problem
        changes = {name: (getattr(after, name) - getattr(before, name))[None] / step for name in ARRAYS}
        return self._along(changes, (moved.passive - self.base.passive)[None] / step)

    def to_each(self, moved: LegPoint, step: float) -> Iterator[tuple[Array, Array]]:
        """The same for an error of each muscle, some muscles at a time, given the leg with the errors of all.

        An error of one muscle changes only its own columns.
        """
        frames, moments, muscles = self.base.problem.moment_arm.shape
        some = max(1, AT_ONCE // (frames * moments * muscles))
        for first in range(0, muscles, some):
            yield self._of_muscles(moved, step, np.arange(first, min(first + some, muscles)))

    def _of_muscles(self, moved: LegPoint, step: float, chosen: Array) -> tuple[Array, Array]:
        before, after = self.base.problem, moved.problem

        def alone(difference: Array) -> Array:
            """(K, ..., n) with the column of one muscle each."""
            parts = np.zeros((len(chosen), *difference.shape))
            for k, muscle in enumerate(chosen):
                parts[k, ..., muscle] = difference[..., muscle] / step
            return parts

        def passive_part(name: str) -> Array:
            """(K, T, m): what the passive force of each muscle contributes to moments or contact forces."""
            old = getattr(before, name) * self.base.passive[:, None]
            part = getattr(after, name) * moved.passive[:, None] - old
            return np.moveaxis(part[:, :, chosen], 2, 0) / step

        own = [name for name in ARRAYS if name not in ("moment", "reaction_offset")]
        changes = {name: alone(getattr(after, name) - getattr(before, name)) for name in own}
        changes["moment"] = -passive_part("moment_arm")
        changes["reaction_offset"] = passive_part("reaction_matrix")
        return self._along(changes, alone(moved.passive - self.base.passive))

    def _along(self, changes: Changes, passive: Array) -> tuple[Array, Array]:
        """Derivatives of muscle forces (K, T, n) and sizes of contact forces (K, T, J) along K changes."""
        named = {f"d_{name}": change for name, change in changes.items()}
        force = self.derivatives.along(**named).force
        matrix, offset = self.base.problem.reaction_matrix, self.base.problem.reaction_offset
        assert matrix is not None and offset is not None  # every problem of the pipeline has them
        active = self.solution.force
        contact = offset + np.einsum("tcn,tn->tc", matrix, active)
        moved = (
            changes["reaction_offset"]
            + np.einsum("ktcn,tn->ktc", changes["reaction_matrix"], active)
            + np.einsum("tcn,ktn->ktc", matrix, force)
        )
        joints = contact.reshape(len(contact), -1, 3)
        size = np.linalg.norm(joints, axis=2)
        along = np.einsum("tjx,ktjx->ktj", joints, moved.reshape(len(moved), *joints.shape))
        return force + passive, along / np.where(size > 0.0, size, 1.0)
