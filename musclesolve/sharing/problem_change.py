"""Directions in which the arrays of a problem change, many at a time, and finite differences along them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_real_array
from musclesolve._util.names import unknown_name
from musclesolve.errors import InputError
from musclesolve.sharing.problem import PER_FRAME, Problem, misshapen


@dataclass(frozen=True, eq=False)
class ProblemChange:
    """K directions: the derivative of every array of a problem along each; None where an array stays."""

    moment: Array | None = None  # (K, T, m). An axis K or T of length one stands for all.
    moment_arm: Array | None = None  # (K, T, m, n)
    force_capacity: Array | None = None  # (K, T, n)
    max_isometric_force: Array | None = None  # (K, 1, n)
    lower: Array | None = None  # (K, T, n)
    upper: Array | None = None  # (K, T, n)
    reserve_weight: Array | None = None  # (K, T, m)
    fiber_velocity: Array | None = None  # (K, T, n)
    optimal_fiber_length: Array | None = None  # (K, 1, n)
    reaction_matrix: Array | None = None  # (K, T, k, n)
    reaction_offset: Array | None = None  # (K, T, k)
    emg: Array | None = None  # (K, T, n)

    @classmethod
    def of(cls, problem: Problem, given: Mapping[str, ArrayLike | None]) -> ProblemChange:
        """Changes of a problem, each with the shape of its array or with one axis K more in front.

        The names are those of the arrays with "d_" before them; None is no change.
        """
        names = [field.name for field in fields(cls)]
        changes = {}
        for key, value in given.items():
            name = key.removeprefix("d_")
            if key != f"d_{name}" or name not in names:
                raise unknown_name(key, "change", [f"d_{known}" for known in names], where="along")
            if value is not None:
                changes[name] = _axes(problem, name, value)
        change = cls(**changes)
        if len({x.shape[0] for x in change.given().values()} - {1}) > 1:
            sizes = ", ".join(f"d_{name} {x.shape[0]}" for name, x in change.given().items())
            fault = f"numbers of directions that differ: {sizes}"
            raise InputError(fault, code="bad_shape", where="along", expected="one K")
        return change

    def given(self) -> dict[str, Array]:
        """The changes that are there, by the name of the array."""
        each = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: x for name, x in each.items() if x is not None}

    @property
    def directions(self) -> int:
        """K."""
        return max((x.shape[0] for x in self.given().values()), default=1)

    def get(self, name: str) -> Array | float:
        """The change of an array, zero where there is none."""
        there: Array | None = getattr(self, name)
        return 0.0 if there is None else there

    def frames(self, which: NDArray[Any]) -> ProblemChange:
        """The same for some frames only."""
        return ProblemChange(
            **{
                name: x[:, which] if name in PER_FRAME and x.shape[1] > 1 else x
                for name, x in self.given().items()
            }
        )

    def part(self, directions: slice) -> ProblemChange:
        """The same for some directions only."""
        return ProblemChange(
            **{name: x[directions] if x.shape[0] > 1 else x for name, x in self.given().items()}
        )

    def moved(self, problem: Problem, step: float) -> Problem:
        """The problem after a step along the single direction."""
        fields = {name: getattr(problem, name) for name in self.given()}
        return problem._changed(
            **{name: (x + step * getattr(self, name)[0]).reshape(x.shape) for name, x in fields.items()}
        )


def _axes(problem: Problem, name: str, value: ArrayLike) -> Array:
    """A change with all its axes."""
    array, own = check_real_array(value, f"d_{name}", "numbers"), getattr(problem, name)
    if own is None:
        fault = f"the problem has no {name} that could change"
        remedy = f"Problem(..., {name}=...)"
        raise InputError(fault, code="missing_argument", where=f"along(d_{name}=...)", remedy=remedy)
    per_frame = name in PER_FRAME
    shape = own.shape[1:] if per_frame and problem.single_frame else own.shape
    full = array if array.ndim == len(shape) + 1 else array[None]
    short = 1 if per_frame and not problem.single_frame else 0  # the axis of frames may have the length one
    fits = full.shape[1:] == shape or (short and full.shape[1:] == (1, *shape[1:]))
    if array.ndim not in (len(shape), len(shape) + 1) or not fits:
        expected = f"{shape}, or ({', '.join(['K', *map(str, shape)])}) for K directions"
        raise misshapen(f"d_{name}", array.shape, "along", expected)
    return full if short else full[:, None]


STEP = 1e-3
POSITIVE = ("force_capacity", "max_isometric_force", "optimal_fiber_length")
INSIDE = 0.4  # largest half width of the stencil, as a share of a number that must stay positive


def difference(of: Callable[[Problem], Array], problem: Problem, change: ProblemChange) -> Array:
    """The derivative of arrays (T, n), given as a function of the problem, along K directions, (K, T, n).

    With the step h, of the order of a thousandth of the arrays that change, and f_j = f(problem + j h d),

        df = (8 (f_1 - f_-1) - (f_2 - f_-2)) / (12 h),

    with an error of about h^4 f^(5) / 30: eight digits and more are right.
    """
    found = []
    for number in range(change.directions):
        one = change.part(slice(number, number + 1))
        step = _step(problem, one)
        near, far = (
            np.asarray(of(one.moved(problem, j * step))) - np.asarray(of(one.moved(problem, -j * step)))
            for j in (1, 2)
        )
        found.append((8.0 * near - far) / (12.0 * step))
    return np.stack(found)


def _step(problem: Problem, change: ProblemChange) -> float:
    step = np.inf
    for name, direction in change.given().items():
        own, along = np.broadcast_arrays(getattr(problem, name), direction[0])
        own, along = np.abs(np.nan_to_num(own)), np.abs(np.nan_to_num(along))
        largest = along.max(initial=0.0)
        if largest == 0.0:
            continue
        step = min(step, STEP * (own.max(initial=0.0) or 1.0) / largest)
        if name in POSITIVE:
            moving = (own > 0) & (along > 0)
            step = min(step, 0.5 * INSIDE * (own[moving] / along[moving]).min(initial=np.inf))
    return float(step) if np.isfinite(step) else STEP
