"""The solution of a force-sharing problem, and its arrays while they are filled in."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from musclesolve._util.arrays import AnyArray, Array, Mask
from musclesolve._util.checks import check_increasing, check_real_array, check_type
from musclesolve.sharing.certificate import Certificate
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_arrays import counts_of, misshapen
from musclesolve.sharing.solver.solver_registry import Attempt, Solver
from musclesolve.sharing.status import Status, is_solved, status_flags

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """Activations and muscle forces of each frame with their certificate; NaN in a frame that is not solved.

    Attributes:
        activation: (T, n).
        force: (T, n) [N], force capacity times activation, without the passive force.
        reserve: (T, m) [N m], moments added to the moments of the muscles; zero where the muscles suffice.
        multiplier: (T, m) [cost per N m], derivative of the least cost by each moment, d cost / d moment.
        status: (T,) members of Status, as integers.
        gap: (T,) proved excess over the least cost of the moments that the sharing produces, relative, recomputed from
            the problem whatever the solver (certificate.py): at most 1e-9 in a solved frame; NaN where there was
            nothing to certify (INVALID_INPUT, INFEASIBLE). With elastic tendons it is what changes of first order could
            save (trajectory/certificate.py), at most 1e-7.
        cost_bound: (T,) the least cost of the given moments, with the cost of reserves, is proved to be no lower.
        moment_error: (T,) largest miss of a moment over max(1 N m, |b|), at most 1e-6 in a solved frame.
        cost: (T,) the least cost, without the cost of the reserves.
        iterations: (T,).
        infeasibility_proof: (T, m) for an INFEASIBLE frame a combination y of the moments such that no admissible
            activation reaches y . b; its large entries mark the joints with too large moments. A frame that was then
            solved with reserves keeps its proof; NaN elsewhere.
        reserve_weight: (T, m) the weight of the reserves [cost per (N m)^2]; infinite where there were none.
        solver: name of the solver.
        cost_name: name of the cost.
        level_multiplier: (T, L, m) for a cost of levels (min/max): from the highest level down, the combination of
            moments that proves the level; NaN below the last level and where nothing is solved.
        muscle: n names, of the problem.
        dof: m names, of the problem.
        time: (T,) [s], where the problem states it.
        stationary_only: True where the cost, or a term or constraint of a program, is not known to be convex: the
            certificate then proves a stationary point, which may be a local optimum.
        notes: sentences on what the cost is for this problem, where that is not what its name says, and on what
            constraints and moments miss where a solver failed.

    Examples:
        >>> problem = ms.Problem([[0.05, 0.05]], [20.0], [1000.0, 1000.0], [1000.0, 1000.0])
        >>> solution = ms.solve(problem)
        >>> solution.force.round(1).tolist(), bool(solution.gap <= 1e-9)
        ([200.0, 200.0], True)
    """

    activation: Array
    force: Array
    reserve: Array
    multiplier: Array
    status: NDArray[np.int8]
    gap: Array
    cost_bound: Array
    moment_error: Array
    cost: Array
    iterations: NDArray[np.int64]
    infeasibility_proof: Array
    reserve_weight: Array
    solver: str
    cost_name: str
    level_multiplier: Array | None = None
    muscle: tuple[str, ...] | None = None
    dof: tuple[str, ...] | None = None
    time: Array | None = None
    stationary_only: bool = False
    notes: tuple[str, ...] = ()

    @property
    def solved(self) -> Mask:
        """Mask of the frames with a solution, with or without reserve, (T,)."""
        return is_solved(self.status)

    def __repr__(self) -> str:
        """A description in one line; `summary` has more."""
        muscles, dofs = np.shape(self.activation)[-1], np.shape(self.reserve)[-1]
        exact, helped = (
            np.count_nonzero(self.status == s) for s in (Status.SOLVED, Status.SOLVED_WITH_RESERVE)
        )
        frames = np.size(self.status)
        counts = {"solved": exact, "with reserve": helped, "not solved": frames - exact - helped}
        counted = ", ".join(
            f"{count} {label}" for label, count in counts.items() if count or label == "solved"
        )
        return f"<Solution of {counts_of(frames, muscles, dofs)} by {self.solver!r} for {self.cost_name!r}: {counted}>"

    def summary(self) -> str:
        """Return the number of frames of each status that occurs, one line for each; and what is not certified."""
        codes, counts = np.unique(np.atleast_1d(self.status), return_counts=True)
        ends = [status for status in Status if status in codes]
        lines = [f"{n} x {s.name}: {s.sentence}" for s, n in zip(ends, counts, strict=True)]
        if self.stationary_only and self.solved.any():
            lines.append(
                "The cost or a constraint is not known to be convex: a solved frame is stationary, perhaps not of "
                "least cost."
            )
        return "\n".join([*lines, *(self.notes if lines else ())])

    def to_dataset(self, problem: Problem | None = None, time: ArrayLike | None = None) -> xr.Dataset:
        """The arrays with names and units, under the names of the variables of a result.

            muscle_force = force + passive_force

        Without a problem, or without passive forces in it, muscle_force is the force of the contractile element.

        Args:
            problem: the solved problem; adds its arrays over frames, such as moment_arm and force_capacity. Its joint
                moment is the whole one, with the moments of the passive forces.
            time: (T,) [s], increasing; by default the time of the solution or problem. Without it the coordinate
                `time` has the numbers of the frames (units "1").

        Returns:
            Dataset over time, muscle and dof: activation, muscle_force, reserve_moment [N m], multiplier [cost per
            N m], status, valid, gap, cost_bound, moment_error, cost. A single frame has no axis time.

        Raises:
            InputError: a problem of another shape; times that do not increase, or of another number.

        Examples:
            >>> problem = ms.Problem([[0.05, 0.05]], [20.0], [1000.0, 1000.0], [1000.0, 1000.0], muscle=["a", "b"])
            >>> ms.solve(problem).to_dataset()["muscle_force"].sel(muscle="b").round(3).item()
            200.0
        """
        import xarray as xr

        shape, single = np.shape(self.reserve) + np.shape(self.activation)[-1:], np.ndim(self.status) == 0
        muscle, dof, known = self.muscle, self.dof, self.time
        arrays: dict[str, tuple[str, Any, str, str]] = {
            name: (axes, getattr(self, attribute), unit, text)
            for name, (attribute, axes, unit, text) in _OWN.items()
        }
        if problem is not None:
            check_type(problem, Problem, "problem", "the solved Problem")
            sizes = problem.moment.shape[problem.single_frame :] + problem.force_capacity.shape[-1:]
            if sizes != shape:
                expected = f"the solved problem, of so many frames, degrees of freedom and muscles: {shape}"
                raise misshapen("problem", sizes, "problem", expected)
            muscle, dof = problem.muscle, problem.dof
            known = problem.time if known is None else known
            moment = problem.moment
            if problem.passive_force is not None:
                passive = problem.passive_force[0] if single else problem.passive_force
                arrays["muscle_force"] = ("tn", self.force + passive, "N", "tendon force, active and passive")
                moment = moment + np.einsum("tmn,tn->tm", problem.moment_arm, problem.passive_force)
            arrays["joint_moment"] = ("tm", moment[0] if single else moment, "N m", "internal joint moment")
            for name, (axes, unit, text) in _OF_PROBLEM.items():
                if (values := getattr(problem, name)) is not None:
                    arrays[name] = (axes, values[0] if single and axes[0] == "t" else values, unit, text)
        if time is not None:
            known = check_real_array(time, "time", "a time [s] for each frame", shapes=(shape[:-2],))
            known = known if single else check_increasing(known)
        dims = {"t": () if single else ("time",), "n": ("muscle",), "m": ("dof",)}
        data = xr.Dataset(
            {
                name: (
                    sum((dims[axis] for axis in axes), ()),
                    values,
                    {"units": unit, "long_name": name.replace("_", " "), "description": text},
                )
                for name, (axes, values, unit, text) in arrays.items()
            },
            coords={
                "muscle": list(muscle or (f"muscle_{i}" for i in range(shape[-1]))),
                "dof": list(dof or (f"dof_{i}" for i in range(shape[-2]))),
            },
            attrs={"cost": self.cost_name, "solver": self.solver},
        )
        data["status"].attrs |= status_flags()
        if known is not None:
            return data.assign_coords(time=(dims["t"], known, {"units": "s"}))
        if single:
            return data
        return data.assign_coords(time=("time", np.arange(shape[0]), {"units": "1", "long_name": "frame"}))

    def drop_frame_axis(self) -> Solution:
        """The solution of a single frame, without the first axis of every array."""
        arrays = {f.name: getattr(self, f.name) for f in fields(self)}
        return replace(self, **{name: x[0] for name, x in arrays.items() if isinstance(x, np.ndarray)})


_OWN = {
    "activation": ("activation", "tn", "1", "muscle activation"),
    "muscle_force": ("force", "tn", "N", "tendon force of the contractile element"),
    "reserve_moment": ("reserve", "tm", "N m", "joint moment that the muscles lack"),
    "multiplier": ("multiplier", "tm", "cost / (N m)", "derivative of the least cost by the moment"),
    "status": ("status", "t", "1", "status of the frame"),
    "valid": ("solved", "t", "1", "whether the frame is solved, with or without a reserve"),
    "gap": ("gap", "t", "1", "certificate: proved excess over the least cost, relative"),
    "cost_bound": ("cost_bound", "t", "unit of the cost", "proved lower bound of the least cost"),
    "moment_error": ("moment_error", "t", "1", "largest relative miss of a moment"),
    "cost": ("cost", "t", "unit of the cost", "least cost, without the cost of the reserves"),
}
"""Variable -> attribute of a solution, axes, unit and meaning."""

_OF_PROBLEM = {
    "moment_arm": ("tmn", "m", "moment arm, positive when tension increases the degree of freedom"),
    "force_capacity": ("tn", "N", "tendon force of the contractile element at activation 1"),
    "passive_force": ("tn", "N", "passive tendon force"),
    "fiber_length": ("tn", "m", "fiber length"),
    "fiber_velocity": ("tn", "m/s", "fiber velocity, negative where fibers shorten"),
    "joint_angle": ("tm", "rad", "joint angle"),
    "joint_rate": ("tm", "rad/s", "rate of the joint angle"),
    "max_isometric_force": ("n", "N", "maximum isometric force"),
    "optimal_fiber_length": ("n", "m", "optimal fiber length"),
}
"""Array of a problem -> axes, unit and meaning of the variable of this name."""


@dataclass
class SolutionArrays:
    """The arrays of a Solution while they are filled, by the same names."""

    activation: Array
    force: Array
    reserve: Array
    multiplier: Array
    status: AnyArray
    gap: Array
    cost_bound: Array
    moment_error: Array
    cost: Array
    iterations: AnyArray
    infeasibility_proof: Array
    reserve_weight: Array
    level_multiplier: Array | None = None

    @classmethod
    def unfilled(cls, frames: int, dofs: int, muscles: int) -> SolutionArrays:
        """Arrays without values, for code that fills all of them."""
        by_muscle, by_dof = (frames, muscles), (frames, dofs)
        status, iterations = np.empty(frames, np.int8), np.empty(frames, np.int64)
        return cls(
            *(np.empty(by_muscle), np.empty(by_muscle), np.empty(by_dof), np.empty(by_dof)),
            status,
            *(np.empty(frames), np.empty(frames), np.empty(frames), np.empty(frames)),
            iterations,
            *(np.empty(by_dof), np.empty(by_dof)),
        )

    @classmethod
    def empty(cls, problem: Problem) -> SolutionArrays:
        """`blank` arrays for a problem."""
        frames, dofs, muscles = problem.moment_arm.shape
        return cls.blank(frames, dofs, muscles, problem.reserve_weight)

    @classmethod
    def blank(cls, frames: int, dofs: int, muscles: int, weight: Array | float | None) -> SolutionArrays:
        """Arrays of NaN in which every frame is INVALID_INPUT after no iterations."""
        arrays = cls.unfilled(frames, dofs, muscles)
        for field in fields(arrays)[:-1]:
            getattr(arrays, field.name).fill(np.nan if field.type == "Array" else 0)
        arrays.status.fill(Status.INVALID_INPUT)
        arrays.reserve_weight[:] = np.inf if weight is None else weight
        return arrays

    @classmethod
    def from_solution(cls, solution: Solution) -> SolutionArrays:
        """The arrays of a solution that has a frame axis."""
        return cls(*(getattr(solution, field.name) for field in fields(cls)))

    def to_solution(self, cost: Cost, solver: Solver, problem: Problem) -> Solution:
        """The Solution with these arrays, and the names and times of the problem."""
        return Solution(
            **vars(self),
            solver=solver.name,
            cost_name=cost.label,
            stationary_only="nonconvex" in cost.needs,
            notes=cost.remarks(problem),
            muscle=problem.muscle,
            dof=problem.dof,
            time=problem.time,
        )

    @property
    def solved(self) -> Mask:
        """Mask of the solved frames, (T,)."""
        return is_solved(self.status)

    def store(self, which: AnyArray | slice, other: SolutionArrays) -> None:
        """Store the arrays of some frames, a mask (T,), numbers or consecutive ones, among the arrays of all frames."""
        for field in fields(self)[:-1]:
            getattr(self, field.name)[which] = getattr(other, field.name)
        if other.level_multiplier is not None:
            self.store_levels(which, other.level_multiplier)

    def record(self, which: AnyArray, attempt: Attempt, status: AnyArray, certificate: Certificate) -> None:
        """Record an attempt at some frames, a mask (T,) or numbers, with their statuses (T',) and certificates."""
        solved = is_solved(status)[:, None]
        for name in ("activation", "reserve", "multiplier"):
            getattr(self, name)[which] = np.where(solved, getattr(attempt, name), np.nan)
        self.status[which], self.iterations[which] = status, self.iterations[which] + attempt.iterations
        for name in ("gap", "cost_bound", "moment_error"):
            getattr(self, name)[which] = np.where(
                status == Status.INFEASIBLE, np.nan, getattr(certificate, name)
            )

    def store_levels(self, which: AnyArray | slice, levels: Array) -> None:
        """Store the level multipliers (T', L, m) of some frames (T,), with L as large as needed."""
        before = self.level_multiplier
        none = np.empty((len(self.status), 0, levels.shape[2]))
        self.level_multiplier = with_levels(none if before is None else before, which, levels)


def with_levels(table: Array, which: AnyArray | slice, levels: Array) -> Array:
    """A table of level multipliers (T, L, m) with other ones (T', L', m) in some frames (T,); NaN below the last."""
    deeper = np.full((len(table), max(table.shape[1], levels.shape[1]), levels.shape[2]), np.nan)
    deeper[:, : table.shape[1]] = table
    deeper[which] = np.nan
    deeper[which, : levels.shape[1]] = levels
    return deeper
