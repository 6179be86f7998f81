"""The force-sharing problem of many frames, as arrays."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array, Indices, Mask, largest_size
from musclesolve._util.checks import check_type
from musclesolve.errors import input_error
from musclesolve.sharing.problem_arrays import (
    ARRAY_AXES,
    NAME_AXES,
    PER_FRAME,
    SourceFrames,
    check_replaced,
    checked,
    chosen_frames,
    counts_of,
    misshapen,
    range_of,
    usable_frames,
)

_NUMBERS_IN_USE = (
    *("fiber_velocity", "reaction_matrix", "reaction_offset", "fiber_force_capacity", "fiber_length"),
    *("joint_angle", "joint_rate"),
)
"""Optional arrays whose numbers have to be finite in a frame that is solved."""


@dataclass(frozen=True, eq=False, repr=False)
class Problem:
    """A force-sharing problem: activations that produce the joint moments of each frame at the least cost.

    Per frame: minimize sum_i f_i(a_i) + 1/2 sum_k w_k s_k^2 subject to A a + s = b and lower <= a <= upper,
    where A = moment_arm * force_capacity and b = moment. Without a reserve weight there is no s.

    An array that lacks the frame axis holds for every frame. If moment_arm, moment and force_capacity all lack
    it, there is a single frame, and the solution has no frame axis either; `dataclasses.replace` keeps it so. A frame
    with a number that is not finite (or beyond 1e100), or is masked, is not an error: it is marked in `valid` and ends
    as INVALID_INPUT.

    Args:
        moment_arm: (T, m, n) [m], positive when tension increases the coordinate.
        moment: (T, m) [N m], moments that the contractile elements must produce.
        force_capacity: (T, n) [N], tendon force of the contractile element at activation 1.
        max_isometric_force: (n,) [N].
        lower: smallest activation, a number, (n,) or (T, n); never negative.
        upper: largest activation, a number, (n,) or (T, n).
        reserve_weight: cost of a reserve, a number, (m,) or (T, m) [cost per (N m)^2]; None: moments are met exactly,
            inf: this moment is met exactly, and a frame in which it cannot be is INFEASIBLE, with a proof. A cost of
            levels (min/max) has no such weighting: its reserves come first, as small as possible. The weights
            of `solve(on_infeasible="reserve")` are stiff enough. With weights from ten times as much on, double
            precision may not certify a frame whose moments are far beyond reach: it stays without solution.
        muscle: n names.
        dof: m names.
        fiber_velocity: (T, n) [m/s], negative where fibers shorten. This field and the next ones serve the costs
            that need them.
        optimal_fiber_length: (n,) [m].
        joints_crossed: (n,) number of joints that each muscle crosses; `crossed` counts them by default.
        reaction_matrix: (T, k, n) [N per N of muscle force], of joint reactions R = reaction_matrix F +
            reaction_offset.
        reaction_offset: (T, k) [N].
        emg: (T, n) measured activations, NaN where not measured.
        reaction: k names.
        passive_force: (T, n) [N] passive tendon forces, whose moments are already subtracted from `moment`. They
            change no solution; `diagnose` needs them, because they may cause infeasibility.
        fiber_force_capacity: (T, n) [N] force of the contractile element along the fibers at activation 1, which is
            force_capacity over the cosine of pennation; force_capacity unless given.
        fiber_length: (T, n) [m].
        joint_angle: (T, m) [rad] (a coordinate without joint: its own unit).
        joint_rate: (T, m) [rad/s].
        time: (T,) [s], increasing.
        source_frames: numbers (T,) of the frames in the problem that `frames` took them from, and how many that has.
            None: the frames are a problem of their own.
        single_frame: whether the solution of one frame has no frame axis. None: as the arrays say. The
            solution of several frames always has the axis.

    Raises:
        InputError: a shape, a bound, a capacity, a weight or a name is wrong, or numbers are complex; the message
            names the array.

    Warns:
        UserWarning: moment arms beyond 10 m, fiber lengths beyond 1 m, EMG beyond 5, or moments far beyond the
            muscles that forces in kN or moments in N mm explain.

    Examples:
        >>> elbow = ms.Problem(
        ...     moment_arm=[[0.05, 0.03]],              # (m, n) [m]: one moment, two muscles
        ...     moment=[20.0],                          # (m,) [N m]
        ...     force_capacity=[1000.0, 400.0],         # (n,) [N]
        ...     max_isometric_force=[1000.0, 400.0],    # (n,) [N]
        ... )
        >>> elbow.n_frames, elbow.n_dof, elbow.n_muscles
        (1, 1, 2)
    """

    moment_arm: Array
    moment: Array
    force_capacity: Array
    max_isometric_force: Array
    lower: Array = 0.0  # type: ignore[assignment]
    upper: Array = 1.0  # type: ignore[assignment]
    reserve_weight: Array | None = None
    muscle: tuple[str, ...] | None = None
    dof: tuple[str, ...] | None = None
    fiber_velocity: Array | None = None
    optimal_fiber_length: Array | None = None
    joints_crossed: Array | None = None
    reaction_matrix: Array | None = None
    reaction_offset: Array | None = None
    emg: Array | None = None
    reaction: tuple[str, ...] | None = None
    passive_force: Array | None = None
    fiber_force_capacity: Array | None = None
    fiber_length: Array | None = None
    joint_angle: Array | None = None
    joint_rate: Array | None = None
    time: Array | None = None
    source_frames: SourceFrames | None = None
    single_frame: bool = field(default=None, repr=False)  # type: ignore[assignment]

    def __repr__(self) -> str:
        """The sizes in one line, and the ranges of the leading arrays with their units."""
        frames, dofs, muscles = self.moment_arm.shape
        ranges = (
            f"{name} {low:.3g} to {high:.3g} {unit}"
            for name, unit in (("moment_arm", "m"), ("moment", "N m"), ("force_capacity", "N"))
            for low, high in [range_of(getattr(self, name))]
        )
        return f"<Problem of {counts_of(frames, muscles, dofs)}: {', '.join(ranges)}>"

    def __post_init__(self) -> None:
        stated = self.single_frame
        self.__dict__.update(checked({name: getattr(self, name) for name in (*ARRAY_AXES, *NAME_AXES)}))
        if stated is not None:
            check_type(stated, bool, "Problem.single_frame", "True or False")
            self.__dict__["single_frame"] = stated and self.n_frames == 1
        if self.source_frames is not None and (shape := np.shape(self.source_frames[0])) != (self.n_frames,):
            expected = f"({self.n_frames},) numbers; source_frames=None for a problem of its own"
            raise misshapen("source_frames", shape, "Problem.source_frames", expected)

    @property
    def n_frames(self) -> int:
        """The number T of frames."""
        return self.moment_arm.shape[0]

    @property
    def n_dof(self) -> int:
        """The number m of degrees of freedom."""
        return self.moment_arm.shape[1]

    @property
    def n_muscles(self) -> int:
        """The number n of muscles."""
        return self.moment_arm.shape[2]

    @property
    def frame_number(self) -> Indices:
        """Numbers (T,) of the frames in the whole problem; a cost with an array w of all frames takes w of these."""
        return np.arange(self.n_frames) if self.source_frames is None else self.source_frames[0]

    @property
    def whole_frames(self) -> int:
        """The number of frames of the whole problem, of which this one may have a part (`frames`)."""
        return self.n_frames if self.source_frames is None else self.source_frames[1]

    @property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """Names of degrees of freedom, muscles and joint reactions; empty where they have none."""
        return self.dof or (), self.muscle or (), self.reaction or ()

    @cached_property
    def moment_matrix(self) -> Array:
        """The matrix A = moment_arm * force_capacity, (T, m, n) [N m per unit of activation]."""
        with np.errstate(invalid="ignore", over="ignore"):
            return self.moment_arm * self.force_capacity[:, None, :]

    def produced(self, activation: Array) -> Array:
        """The moments A a, (T, m) [N m], that the contractile elements produce at activations (T, n)."""
        return np.matmul(self.moment_matrix, activation[:, :, None])[:, :, 0]

    def pull(self, multiplier: Array) -> Array:
        """The pull A^T lambda, (T, n), of multipliers of the moments (T, m) on each activation."""
        return np.matmul(multiplier[:, None, :], self.moment_matrix)[:, 0, :]

    @cached_property
    def crossed(self) -> Array:
        """Number of joints that each muscle crosses, (n,): `joints_crossed`, or the count from the moment arms.

        Without `joints_crossed` every degree of freedom counts as one joint, and a muscle crosses the joints about
        which it has a moment arm in some frame.
        """
        if self.joints_crossed is not None:
            return self.joints_crossed
        return np.maximum((self.largest_arm > 0.0).sum(axis=0), 1.0)

    @cached_property
    def largest_arm(self) -> Array:
        """Largest size of each moment arm over all frames, (m, n) [m]; some of the frames (`frames`) have the same."""
        return largest_size(self.moment_arm)

    @cached_property
    def valid(self) -> Mask:
        """Mask of the frames whose numbers are finite and below 1e100 (whose cube is finite too), (T,)."""
        rows = (self.moment, self.force_capacity, self.lower, self.upper)
        return usable_frames(*rows, self.moment_arm, self.moment_matrix) & self.finite_options

    @property
    def finite_options(self) -> Mask:
        """Mask of the frames whose optional arrays in use are finite and below 1e100, (T,)."""
        optional = (getattr(self, name) for name in _NUMBERS_IN_USE)
        return usable_frames(
            np.empty((self.n_frames, 0)), *(array for array in optional if array is not None)
        )

    def frames(self, which: slice | NDArray[Any]) -> "Problem":
        """The problem of some frames only; without time where they are not in order.

        The frames keep the numbers that they have in the whole problem (`frame_number`), also in a part of a part. So a
        cost with numbers of every frame, such as `frame_constants`, is made for the whole problem, and holds for its
        parts. `replace(part, source_frames=None)` is a problem of its own, whose frames count from 0.

        Args:
            which: (T,) booleans or frame numbers, in any order.

        Raises:
            InputError: there is no such frame, or `which` is a single number.
        """
        if not isinstance(which, slice) and np.ndim(which) != 1:
            expected = "(T,) booleans, or a list of frame numbers: problem.frames([3])"
            raise misshapen("which", np.shape(which), "Problem.frames", expected)
        arrays = {name: getattr(self, name) for name in PER_FRAME}
        try:
            source = chosen_frames(self.source_frames, self.n_frames, which)
            if np.array_equal(source[0], self.frame_number):
                return self
            chosen = {name: None if x is None else x[which] for name, x in arrays.items()}
        except IndexError as reason:
            raise input_error("bad_range", where="Problem.frames", problem=str(reason)) from None
        time = chosen["time"]
        if time is not None and (np.diff(time) <= 0.0).any():
            chosen["time"] = None
        return self._with(chosen | {"source_frames": source, "largest_arm": self.largest_arm})

    def with_arrays(self, **arrays: Any) -> "Problem":
        """The problem with some whole arrays replaced, such as `upper`; `dataclasses.replace` checks all numbers anew.

        Raises:
            InputError: an unknown name, an array of another shape, or a strength that is not positive.
        """
        changed = self._with(arrays)
        check_replaced(changed.__dict__, arrays)
        return changed

    def _with(self, arrays: Mapping[str, Any]) -> "Problem":
        changed: Problem = object.__new__(type(self))
        changed.__dict__.update(self.__dict__)
        outdated = (
            ["valid", "moment_matrix"] if arrays.keys() & {"moment_arm", "force_capacity"} else ["valid"]
        )
        if "moment_arm" in arrays:
            outdated += ["largest_arm", "crossed"]
        for cached in outdated:
            changed.__dict__.pop(cached, None)
        changed.__dict__.update(arrays)
        return changed
