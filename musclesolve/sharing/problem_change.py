"""Directions in which the arrays of a problem change, many at a time, and the derivatives of functions along them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from musclesolve._util.arrays import COMPLEX_STEP, Array
from musclesolve._util.checks import check_real_array
from musclesolve._util.messages import unknown_name
from musclesolve.errors import input_error
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_arrays import ARRAY_AXES, PER_FRAME, misshapen

OF_COSTS = (
    *("moment_arm", "force_capacity", "max_isometric_force", "fiber_velocity", "optimal_fiber_length"),
    *("emg", "reaction_matrix", "reaction_offset", "fiber_force_capacity"),
)
"""Arrays on which costs of the library depend, beside the activations."""

OF_THE_COST = "marginal_cost"
CHANGEABLE = (
    *("moment", "moment_arm", "force_capacity", "max_isometric_force", "lower", "upper", "reserve_weight"),
    *("fiber_velocity", "optimal_fiber_length", "reaction_matrix", "reaction_offset", "emg"),
    *("fiber_force_capacity", OF_THE_COST),
)
OF_FRAMES = {*PER_FRAME, OF_THE_COST}
POSITIVE = ("force_capacity", "max_isometric_force", "optimal_fiber_length", "fiber_force_capacity")

DIFFERENCE_STEP = 1e-3  # step of differences, as a share of the arrays that change
STENCIL_SHARE = 0.4  # largest half width of the stencil, as a share of a number that must stay positive


@dataclass(frozen=True, eq=False)
class ProblemChange:
    """K directions: the derivative of arrays of a problem along each, (K, ...) before the axes of the array.

    The names are of CHANGEABLE; "marginal_cost" (K, T, n) is the change by parameters of the cost. An axis K or T of
    length one stands for all; an array without frames has an axis T of length one.
    """

    arrays: dict[str, Array]

    @classmethod
    def from_changes(cls, problem: Problem, changes: Mapping[str, ArrayLike | None]) -> Self:
        """Make changes of a problem, each with the shape of its array, or with an axis K in front.

        A name is "d_" and the name of the array; None means no change.
        """
        arrays = {}
        for key, value in changes.items():
            name = key.removeprefix("d_")
            if key != f"d_{name}" or name not in CHANGEABLE:
                raise unknown_name(key, "change", [f"d_{known}" for known in CHANGEABLE], where="along")
            if value is None:
                continue
            array = check_real_array(value, key, "numbers")
            changing = problem.lower if name == OF_THE_COST else getattr(problem, name)
            if changing is None:
                fault, remedy = f"the problem has no {name} that could change", f"Problem(..., {name}=...)"
                raise input_error("missing_argument", where=f"along({key}=...)", problem=fault, remedy=remedy)
            # of several frames the axis of frames may have the length one
            many = name in OF_FRAMES and not problem.single_frame
            shape = changing.shape[1:] if name in OF_FRAMES and problem.single_frame else changing.shape
            full = array if array.ndim == len(shape) + 1 else array[None]
            fits = full.shape[1:] == shape or (many and full.shape[1:] == (1, *shape[1:]))
            if array.ndim not in (len(shape), len(shape) + 1) or not fits:
                expected = f"{shape}, or ({', '.join(['K', *map(str, shape)])}) for K directions"
                raise misshapen(key, array.shape, "along", expected)
            arrays[name] = full if many else full[:, None]
        if len({x.shape[0] for x in arrays.values()} - {1}) > 1:
            sizes = ", ".join(f"d_{name} {x.shape[0]}" for name, x in arrays.items())
            fault = f"numbers of directions that differ: {sizes}"
            raise input_error("bad_shape", where="along", problem=fault, expected="one K")
        return cls(arrays)

    @property
    def directions(self) -> int:
        """The number K of directions."""
        return max((x.shape[0] for x in self.arrays.values()), default=1)

    def get(self, name: str) -> Array | float:
        """The change of an array, zero where there is none."""
        return self.arrays.get(name, 0.0)

    def frames(self, which: NDArray[Any]) -> "ProblemChange":
        """The change of some frames only, by numbers or a mask (T,)."""
        per_frame = {name for name, x in self.arrays.items() if name in OF_FRAMES and x.shape[1] > 1}
        return ProblemChange(
            {name: x[:, which] if name in per_frame else x for name, x in self.arrays.items()}
        )

    def part(self, directions: slice) -> "ProblemChange":
        """The change along some directions only."""
        return ProblemChange({name: x[directions] if len(x) > 1 else x for name, x in self.arrays.items()})

    def moved(self, problem: Problem, step: float, imaginary: bool = False) -> Problem:
        """The problem after a step along the single direction, or along i times that direction."""
        moved = {}
        for name, along in self.arrays.items():
            array, movement = getattr(problem, name), step * along[0]
            if imaginary:
                moved[name] = np.empty(array.shape, np.complex128)
                moved[name].real, moved[name].imag = array, movement.reshape(movement.shape[-array.ndim :])
            else:
                moved[name] = (array + movement).reshape(array.shape)
        return problem.with_arrays(**moved)


def derivative(
    function: Callable[[Problem], Array], problem: Problem, change: ProblemChange, of_library: bool
) -> Array:
    """The derivative of a function f of the problem with values (T, n), along K directions, (K, T, n).

    Functions of the library's costs consist of analytic operations; their derivative is a complex step along each
    direction d,

        df = Im f(problem + i h d) / h,    h = 1e-30,

    exact to round-off: nothing is subtracted (Squire and Trapp 1998). Other functions may not take complex numbers; for
    them, with h of the order of a thousandth of the arrays that change and f_j = f(problem + j h d),

        df = (8 (f_1 - f_-1) - (f_2 - f_-2)) / (12 h),

    with an error of about h^4 f^(5) / 30: eight digits and more are right.
    """
    arrays = {
        name: x for name, x in change.arrays.items() if name in (OF_COSTS if of_library else ARRAY_AXES)
    }
    if not arrays:
        return np.zeros((1, 1, 1))
    change = ProblemChange(arrays)
    slopes = []
    for number in range(change.directions):
        direction_change = change.part(slice(number, number + 1))
        with np.errstate(all="ignore"):
            if of_library:
                slopes.append(
                    np.imag(function(direction_change.moved(problem, COMPLEX_STEP, imaginary=True)))
                    / COMPLEX_STEP
                )
                continue
            h = np.inf
            for name, direction in direction_change.arrays.items():
                array, along = np.broadcast_arrays(getattr(problem, name), direction[0])
                array, along = np.abs(np.nan_to_num(array)), np.abs(np.nan_to_num(along))
                if largest := along.max(initial=0.0):
                    h = min(h, DIFFERENCE_STEP * (array.max(initial=0.0) or 1.0) / largest)
                    moving = (array > 0) & (along > 0) if name in POSITIVE else np.zeros(array.shape, bool)
                    h = min(h, 0.5 * STENCIL_SHARE * (array[moving] / along[moving]).min(initial=np.inf))
            h = float(h) if np.isfinite(h) else DIFFERENCE_STEP
            near, far = (
                np.asarray(function(direction_change.moved(problem, j * h)))
                - np.asarray(function(direction_change.moved(problem, -j * h)))
                for j in (1, 2)
            )
            slopes.append((8.0 * near - far) / (12.0 * h))
    return np.stack(slopes)
