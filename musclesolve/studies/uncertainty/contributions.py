"""First-order contributions of the sources of error.

Var F = sum_j (dF/dtheta_j sigma_j)^2 over the parameters j, which are independent; a source's part is the sum over its
own. dF/dtheta_j chains differences of the mechanics, which are smooth, with the derivatives of the forces of a part by
small changes of its problem, exact for the solution. An error of muscle parameters changes that muscle's columns alone,
so that one difference serves all muscles. The weight of a muscle in the cost changes its marginal cost in proportion.
Other errors of the cost, and co-contraction, change the optimum alone: derivatives are differences of solutions.
Errors of the contact model add to the contact forces.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from musclesolve._util.arrays import AnyArray, Array, Indices
from musclesolve.errors import input_error
from musclesolve.models.body import SharingGroup
from musclesolve.models.body_sharing import share_part, sharing_problem
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.sum_of_terms import varied
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solution import Solution
from musclesolve.sharing.solution_derivatives import SolutionDerivatives, solution_derivatives
from musclesolve.sharing.solving import solve_part
from musclesolve.studies.uncertainty.replay import (
    CO_CONTRACTION,
    CONTACT_MODEL,
    MUSCLE_WEIGHT,
    OF_COST,
    PERSON,
    Errors,
    Replay,
    SampleBody,
)

DIFFERENCE_STEP = 0.01
"""Step of the differences [standard deviations]: fits to 1e-8 m resolve it, the mechanics are nearly linear in it."""

SOLUTION_STEP = 0.05
"""Step of the differences of solutions [standard deviations]: certificates of 1e-9 resolve it to five digits."""

OF_MUSCLES = (
    *"max_isometric_force optimal_fiber_length tendon_slack_length muscle_path".split(),
    MUSCLE_WEIGHT,
)
"""Sources whose errors belong to single muscles."""


def size_sd(mean: float) -> float:
    """Standard deviation of the size of a normal number with this mean and the standard deviation 1."""
    mean_size = math.sqrt(2.0 / math.pi) * math.exp(-0.5 * mean**2) + mean * math.erf(mean / math.sqrt(2.0))
    return math.sqrt(1.0 + mean**2 - mean_size**2)


FEW_DIRECTIONS, FEW_PATH_DIRECTIONS = 12, 4
"""Number of directions that represent the parameters of a source, and of the path of each muscle, if few are
requested.
"""


@dataclass(frozen=True)
class Task:
    """A derivative by parameters of a source: one parameter, one of every muscle of a part, or a direction.

    A direction changes several parameters at once, each with a sign.
    """

    source: str  # its name
    # of the parameter among those of the source; of a muscle's source the place (.., axis) of the point
    number: tuple[int | AnyArray, ...]
    part: int | None = None  # of a muscle's source, by its number
    # of each parameter of a direction; number has an array of indices for each axis then
    sign: AnyArray | None = None


@dataclass(frozen=True)
class Linear:
    """The pipeline at its nominal point, and its derivatives there."""

    replay: Replay

    @cached_property
    def _no_errors(self) -> Errors:
        return self.replay.parameters.errors(np.zeros(self.replay.parameters.count))

    @cached_property
    def _body(self) -> SampleBody:
        body: SampleBody = self.replay.body(self._no_errors)
        return body

    @cached_property
    def _parts(self) -> list[SharingGroup]:
        parts = range(len(self.replay.layout.muscles))
        return [self.replay.part(self._body, self._no_errors, number) for number in parts]

    @cached_property
    def responses(self) -> "list[Response]":
        """The derivatives of each part of the body; InputError for a cost that has none, and for elastic tendons."""
        sharing, responses = self.replay.sharing, []
        if sharing.elastic:
            elastic = "forces of elastic tendons have no derivatives here: frames depend on each other"
            raise input_error("unsupported", problem=elastic, remedy='choose tendon = "rigid"')
        for number in range(len(self.replay.layout.muscles)):
            problem = self._problem(self._body, self._no_errors, number)
            solution = solve_part(problem, sharing.cost, sharing.solver, on_infeasible="reserve")
            derivatives = solution_derivatives(problem, sharing.cost, solution)
            responses.append(Response(problem, solution, derivatives))
        return responses

    @property
    def unique(self) -> AnyArray:
        """(T, S) where the derivatives are defined, and the same to both sides, of the parts of each side."""
        unique = np.stack([response.derivatives.unique for response in self.responses], axis=1)
        return np.stack([unique[:, parts].all(axis=1) for parts in self.replay.layout.parts], axis=1)

    def tasks(self, few: bool = False) -> list[Task]:
        """Every parameter of the sources that are not switched off, the parameters of all muscles of a part together.

        few: sources with many parameters get a fixed number of directions, each with a regular subset of parameters
        that move together with random signs: the mean of their squares is the sum over the parameters.
        """
        parameters, parts = self.replay.parameters, range(len(self.replay.layout.muscles))
        random, tasks = np.random.default_rng(0), list[Task]()

        def directions(source: str, places: Sequence[tuple[int, ...]], most: int, part: int | None) -> None:
            for first in range(most):
                chosen = tuple(np.array(places[first::most]).T)
                tasks.append(Task(source, chosen, part, random.choice([-1.0, 1.0], len(chosen[0]))))

        for source, shape in parameters.shapes.items():
            if parameters.sd[source] == 0.0:
                continue
            places = list(np.ndindex(*shape))
            if source == "muscle_path":
                of_part, rank = self.replay.points
                if few:
                    for part in parts:
                        points = np.flatnonzero(of_part == part)
                        points = points[np.argsort(rank[points], kind="stable")]
                        point_axes = [(int(point), axis) for point in points for axis in range(3)]
                        directions(source, point_axes, FEW_PATH_DIRECTIONS, part)
                    continue
                per_point = int(rank.max()) + 1, 3
                tasks += [Task(source, place, part) for part, place in product(parts, np.ndindex(per_point))]
            elif source in OF_MUSCLES:
                tasks += [Task(source, (), part) for part in parts]
            elif few and len(places) > FEW_DIRECTIONS and source != CONTACT_MODEL:
                directions(source, places, FEW_DIRECTIONS, None)
            else:
                tasks += [Task(source, place) for place in places]
        return tasks

    def squares(self, task: Task) -> dict[str, AnyArray]:
        """Sums over the parameters of (dF/dtheta sigma)^2, of all parts of the body.

        muscle_force (T, N), joint_moment (T, M) [N2 m2] and, where the body has joints with loads, contact_force (T, J)
        [N2].
        """
        layout = self.replay.layout
        if task.source in (*OF_COST, CO_CONTRACTION) and task.part is None:
            squares = self._of_sharing(task)
        elif task.source == CONTACT_MODEL:
            squares = self._nothing()
            longer = self.replay.contact_error(self._one_step(task.source, task.number)) / DIFFERENCE_STEP
            squares["contact_force"] = longer**2
        elif task.part is not None:
            squares = self._of_muscles(task)
        else:
            errors = self._one_step(task.source, task.number, sign=task.sign)
            # Strength, and what was calibrated of muscles, does not change the mechanics of the body.
            body = self._body if task.source in ("strength", PERSON) else self.replay.body(errors)
            moved = [
                response.to_one(self._problem(body, errors, number), DIFFERENCE_STEP)
                for number, response in enumerate(self.responses)
            ]
            squares = {
                "muscle_force": layout.over_muscles([force for force, _ in moved]) ** 2,
                "contact_force": layout.over_joints([contact for _, contact in moved]) ** 2,
                "joint_moment": ((body.moment - self._body.moment) / DIFFERENCE_STEP) ** 2,
            }
        if not layout.joint_side.size:
            del squares["contact_force"]
        return squares

    def _of_muscles(self, task: Task) -> dict[str, AnyArray]:
        """Shares of the muscles of one part, which do not change the other parts."""
        assert task.part is not None
        layout, place = self.replay.layout, tuple[Any, ...]()
        if task.sign is not None:
            place = task.number
        elif task.source == "muscle_path":
            (part, rank), (number, axis) = self.replay.points, task.number
            place = np.flatnonzero((part == task.part) & (rank == number)), axis
        else:
            place = (layout.muscles[task.part],)
        errors = self._one_step(task.source, place, sign=task.sign)
        response = self.responses[task.part]
        if task.source == MUSCLE_WEIGHT:
            pairs = response.to_each_weight(self.replay.sharing.cost, self.replay.parameters.sd[task.source])
        else:
            pairs = response.to_each(self._problem(self._body, errors, task.part), DIFFERENCE_STEP)
        parts = [tuple((derivative**2).sum(axis=0) for derivative in pair) for pair in pairs]
        whole = self._nothing()
        for k, name in enumerate(("muscle_force", "contact_force")):
            columns = (layout.muscles if name == "muscle_force" else layout.joints)[task.part]
            whole[name][:, columns] = sum(part[k] for part in parts)
        return whole

    def _of_sharing(self, task: Task) -> dict[str, AnyArray]:
        """Shares of the errors of the sharing: differences to both sides; of the least activation, upward."""
        layout, whole = self.replay.layout, self._nothing()
        ends, scale = (-1.0, 1.0), 1.0
        if task.source == CO_CONTRACTION:
            sd = float(self.replay.parameters.sd[CO_CONTRACTION])
            ends, scale = (0.0, 2.0), size_sd(self.replay.sharing.least_activation / sd)
        for number in range(len(layout.muscles)):
            (first, reached), (last, reached_last) = (
                self._shared(self._one_step(task.source, task.number, end * SOLUTION_STEP), number)
                for end in ends
            )
            width = 2.0 * SOLUTION_STEP / scale
            whole["muscle_force"][:, layout.muscles[number]] += ((last - first) / width) ** 2
            whole["contact_force"][:, layout.joints[number]] += ((reached_last - reached) / width) ** 2
        return whole

    def _shared(self, errors: Errors, number: int) -> tuple[AnyArray, AnyArray]:
        """Muscle forces (T, n) and sizes of contact forces (T, J) of the nominal part, shared with errors [N]."""
        part = self._parts[number]
        shared = share_part(part, self.replay.sharing_with(errors, part, number))
        contact = [np.linalg.norm(force, axis=1) for force in shared.contact_force.values()]
        joints = np.stack(contact, axis=1) if contact else np.zeros((len(part.time), 0))
        return shared.tension, joints

    def _nothing(self) -> dict[str, AnyArray]:
        """Zero of all quantities."""
        layout = self.replay.layout
        sizes = {
            "muscle_force": layout.muscle_side.size,
            "contact_force": layout.joint_side.size,
            "joint_moment": len(layout.dofs),
        }
        return {name: np.zeros((len(layout.time), size)) for name, size in sizes.items()}

    def _one_step(
        self,
        source: str,
        place: tuple[int | AnyArray, ...],
        step: float = DIFFERENCE_STEP,
        sign: AnyArray | None = None,
    ) -> Errors:
        """No errors but one step [standard deviations] in some parameters of a source, each with its sign."""
        error = np.zeros_like(self._no_errors[source])
        error[place] = step * self.replay.parameters.sd[source] * (1.0 if sign is None else sign)
        return self._no_errors | {source: error}

    def _problem(self, body: SampleBody, errors: Errors, number: int) -> Problem:
        part = self.replay.part(body, errors, number)
        return sharing_problem(part, self.replay.sharing, self.replay.problems[number])


def summed(sources: Iterable[str], parts: Iterator[tuple[Task, dict[str, AnyArray]]]) -> dict[str, AnyArray]:
    """Quantity -> (source, T, k) first-order variance by source, from the parts in the order of the tasks."""
    order, total = list(sources), dict[str, AnyArray]()
    for task, squares in parts:
        for name, values in squares.items():
            total.setdefault(name, np.zeros((len(order), *values.shape)))[order.index(task.source)] += values
    return total


LARGEST_ARRAY = 4_000_000
"""Largest size of an array of changes, in numbers."""

ARRAYS = (
    *("moment", "moment_arm", "force_capacity", "max_isometric_force", "fiber_velocity"),
    *("optimal_fiber_length", "reaction_matrix", "reaction_offset", "fiber_force_capacity"),
)
"""Arrays of a problem that errors change."""


@dataclass(frozen=True)
class Response:
    """The forces of a part and their derivatives."""

    problem: Problem  # of the part without errors
    solution: Solution  # its forces
    derivatives: SolutionDerivatives  # of the solution

    def _changes(self, moved: Problem, step: float) -> dict[str, Array]:
        """Changes of the arrays of `ARRAYS` that the problem has: no reactions where no loads are known."""
        before = {name: getattr(self.problem, name) for name in (*ARRAYS, "passive_force")}
        return {name: (getattr(moved, name) - old) / step for name, old in before.items() if old is not None}

    def to_one(self, moved: Problem, step: float) -> tuple[Array, Array]:
        """Derivatives along an error that moves the part by a step: muscle forces (T, n), contact (T, J) [N]."""
        changes = self._changes(moved, step)
        passive = changes.pop("passive_force")
        force = self.derivatives.along(**{f"d_{name}": change for name, change in changes.items()}).force
        moved_contact: Array | float = 0.0
        if "reaction_matrix" in changes:
            reached = np.einsum("tcn,tn->tc", changes["reaction_matrix"], self.solution.force)
            moved_contact = changes["reaction_offset"] + reached
        return force + passive, self._contact(moved_contact, force[None])[0]

    def to_each(self, moved: Problem, step: float) -> Iterator[tuple[Array, Array]]:
        """Derivatives by an error of each muscle: muscle forces (K, T, n) and contact (K, T, J), K muscles at a time.

        moved: the part with the errors of all muscles. An error of one muscle changes only its own columns.
        """
        for chosen in self._some_muscles():
            yield self._of_muscles(moved, step, chosen)

    def to_each_weight(self, cost: Cost, sd: float) -> Iterator[tuple[Array, Array]]:
        """Derivatives by an error of the weight of each muscle in the cost, as `to_each`; sd: of its logarithm.

        The marginal cost of a muscle is proportional to its weight.
        """
        problem, activation = self.problem, self.solution.activation
        once, twice = (
            varied(cost, 1.0, np.full(problem.n_muscles, factor)).term_gradient(problem, activation)
            for factor in (1.0, 2.0)
        )
        for chosen in self._some_muscles():
            force = self.derivatives.of_marginal_costs(chosen, sd * (twice - once))
            yield force, self._contact(0.0, force)

    def _some_muscles(self) -> Iterator[Indices]:
        """Numbers of the muscles, so many at a time that an array of their changes has an allowed size."""
        frames, _, muscles = self.problem.moment_arm.shape
        some = max(1, LARGEST_ARRAY // (frames * muscles))
        for first in range(0, muscles, some):
            yield np.arange(first, min(first + some, muscles))

    def _of_muscles(self, moved: Problem, step: float, chosen: Indices) -> tuple[Array, Array]:
        def passive_part(name: str) -> Array:
            """(K, T, m): what the passive force of each muscle contributes to moments or contact forces."""
            old, new = (
                getattr(of, name)[:, :, chosen] * np.asarray(of.passive_force)[:, None, chosen]
                for of in (self.problem, moved)
            )
            return np.moveaxis(new - old, 2, 0) / step

        columns = self._changes(moved, step)
        passive = columns.pop("passive_force")
        of_columns = {f"d_{of}": columns[of] for of in columns if of not in ("moment", "reaction_offset")}
        force = self.derivatives.of_muscles(chosen, -passive_part("moment_arm"), **of_columns)
        moved_contact: Array | float = 0.0
        if "reaction_matrix" in columns:
            reached = columns["reaction_matrix"][:, :, chosen] * self.solution.force[:, None, chosen]
            moved_contact = passive_part("reaction_matrix") + np.moveaxis(reached, 2, 0)
        contact = self._contact(moved_contact, force)
        force[np.arange(len(chosen)), :, chosen] += passive.T[chosen]
        return force, contact

    def _contact(self, moved: Array | float, force: Array) -> Array:
        """Derivatives of the sizes of the contact forces (K, T, J) [N]; J is zero where no loads are known.

        moved: of the contact forces (K, T, 3 J) with the muscle forces as they are; force: of the muscle forces.
        """
        matrix, offset = self.problem.reaction_matrix, self.problem.reaction_offset
        if matrix is None or offset is None:
            return np.zeros((*force.shape[:2], 0))
        joints = (offset + np.einsum("tcn,tn->tc", matrix, self.solution.force)).reshape(len(offset), -1, 3)
        change = moved + np.matmul(matrix, force[..., None])[..., 0]
        size = np.linalg.norm(joints, axis=2)
        along = np.einsum("tjx,ktjx->ktj", joints, change.reshape(len(change), *joints.shape))
        return along / np.where(size > 0.0, size, 1.0)
