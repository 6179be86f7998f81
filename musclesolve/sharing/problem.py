"""The force-sharing problem of many frames, as arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array, Indices, Mask, unchangeable
from musclesolve._util.checks import check_increasing, check_real_array
from musclesolve.errors import InputError, input_error
from musclesolve.sharing.kernel.constants import HUGE

ARRAY_AXES = {
    "moment_arm": "Tmn",
    "moment": "Tm",
    "force_capacity": "Tn",
    "max_isometric_force": "n",
    "lower": "Tn",
    "upper": "Tn",
    "reserve_weight": "Tm",
    "fiber_velocity": "Tn",
    "optimal_fiber_length": "n",
    "joints_crossed": "n",
    "reaction_matrix": "Tkn",
    "reaction_offset": "Tk",
    "emg": "Tn",
    "passive_force": "Tn",
    "fiber_force_capacity": "Tn",
    "fiber_length": "Tn",
    "joint_angle": "Tm",
    "joint_rate": "Tm",
    "time": "T",
}
"""The axes of every array: T frames, m degrees of freedom, n muscles, k joint reactions."""

PER_FRAME = tuple(name for name, axes in ARRAY_AXES.items() if axes[0] == "T")

_LEADING = {
    "moment_arm": "(frames, degrees of freedom, muscles)",
    "moment": "(frames, degrees of freedom)",
    "force_capacity": "(frames, muscles)",
}
"""Arrays that define the numbers of frames, degrees of freedom and muscles, with the words for them in messages."""

_METERS = (
    "no human muscle has more than {:g} m: meters are expected. "
    "Multiply it by 0.001 if it is in mm, by 0.01 if in cm."
)
_LARGEST = {
    "moment_arm": (10.0, " m", _METERS),
    "optimal_fiber_length": (1.0, " m", _METERS),
    "emg": (
        5.0,
        "",
        "activations are 0 to 1. Multiply it by 0.01 if it is in percent, divide volts by their maximum.",
    ),
}
"""Array -> largest value that its unit explains, the unit, and what the warning of a larger one says.

The largest moment arm of the bundled OpenSim models is 0.14 m (external oblique, gait2392), the longest fiber 0.58 m
(sartorius, silva_2003). Coordinates without a joint, such as the generalized coordinates of a mechanism, may have arms
of some meters. In mm the arms of every joint are beyond 10, even those of fingers. EMG in shares of a maximum is at
most some times the maximum.
"""

WEAK = 30.0
"""Ratio of moments to the moments that muscles produce at most beyond which the units are looked at."""
KILONEWTONS = 10.0
"""Maximum isometric force [N] that the strongest muscle of a limb exceeds; in kN the soleus has 3 to 8."""
NEWTON_MILLIMETERS = 1e4
"""Moment [N m] that no joint of a person has; in N mm the moments of a step have up to 200 000."""

OPTIONAL = {
    "fiber_velocity": "(T, n) [m/s], negative where fibers shorten",
    "optimal_fiber_length": "(n,) [m]",
    "joints_crossed": "(n,), how many joints each muscle crosses",
    "reaction_matrix": "(T, k, n), newtons of each joint reaction for one newton of muscle force",
    "reaction_offset": "(T, k) [N], the joint reactions without contractile forces",
    "passive_force": "(T, n) [N], passive tendon forces, whose moments `moment` has no part of",
    "emg": "(T, n) measured activations, NaN where not measured",
    "fiber_force_capacity": "(T, n) [N], force of the contractile element along the fibers at activation 1",
    "fiber_length": "(T, n) [m]",
    "joint_angle": "(T, m) [rad]",
    "joint_rate": "(T, m) [rad/s]",
    "time": "(T,) [s], increasing",
}
"""Optional fields, which only some costs or the diagnosis need."""


_NUMBERS_IN_USE = (
    *("fiber_velocity", "reaction_matrix", "reaction_offset", "fiber_force_capacity", "fiber_length"),
    *("joint_angle", "joint_rate"),
)
"""Optional arrays whose numbers have to be finite in a frame that is solved."""


def _range_of(array: Array) -> tuple[float, float]:
    """The least and the greatest finite number; NaN where there is none."""
    finite = array[np.isfinite(array)]
    return (float(finite.min()), float(finite.max())) if finite.size else (np.nan, np.nan)


@dataclass(frozen=True, eq=False, repr=False)
class Problem:
    """A force-sharing problem: activations that produce the joint moments of each frame at the least cost.

    Per frame: minimize sum_i f_i(a_i) + 1/2 sum_k w_k s_k^2 subject to A a + s = b and lower <= a <= upper,
    where A = moment_arm * force_capacity and b = moment. Without a reserve weight there is no s.

    An array that lacks the frame axis holds for every frame. If moment_arm, moment and force_capacity all lack
    it, there is a single frame, and the solution has no frame axis either. A frame with a number that is not
    finite (or beyond 1e100), or is masked, is not an error: it is marked in `valid` and ends as INVALID_INPUT.

    Args:
        moment_arm: (T, m, n) [m], positive when tension increases the coordinate.
        moment: (T, m) [N m], moments that the contractile elements must produce.
        force_capacity: (T, n) [N], tendon force of the contractile element at activation 1.
        max_isometric_force: (n,) [N].
        lower: smallest activation, broadcast to (T, n); never negative.
        upper: largest activation, broadcast to (T, n).
        reserve_weight: cost of a reserve, broadcast to (T, m) [cost per (N m)^2]; None: moments are met exactly. A
            cost of levels (min/max) has no such weighting: its reserves come first, as small as possible.
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
    single_frame: bool = field(init=False, repr=False)
    frame_number: Indices | None = field(init=False, repr=False, default=None)  # among `whole_frames`
    whole_frames: int = field(init=False, repr=False, default=0)

    def __repr__(self) -> str:
        """The sizes in one line, and the ranges of the leading arrays with their units."""
        frames, dofs, muscles = self.moment_arm.shape
        ranges = (
            f"{name} {low:.3g} to {high:.3g} {unit}"
            for name, unit in (("moment_arm", "m"), ("moment", "N m"), ("force_capacity", "N"))
            for low, high in [_range_of(getattr(self, name))]
        )
        return f"<Problem of {frames} frames, {muscles} muscles, {dofs} moments: {', '.join(ranges)}>"

    def __post_init__(self) -> None:
        labels = {name: _labels(getattr(self, name)) for name in ARRAY_AXES}
        # in double precision, copied where they might change; masked numbers become NaN
        arrays = {
            name: unchangeable(check_real_array(array, name, "real numbers", where=f"Problem.{name}"))
            for name in ARRAY_AXES
            if (array := getattr(self, name)) is not None or name not in ("reserve_weight", *OPTIONAL)
        }
        frames = set()
        for name, axes in _LEADING.items():
            rank, shape = len(ARRAY_AXES[name]) - 1, arrays[name].shape
            if len(shape) not in (rank, rank + 1) or 0 in shape[-rank:]:
                expected = f"{axes}, none of the last {rank} empty; a single frame may drop the first axis"
                raise misshapen(name, shape, f"Problem.{name}", expected)
            frames |= set(shape[:-rank])
        self._set(single_frame=not frames)

        lacking = [name for name in ("reaction_matrix", "reaction_offset") if name not in arrays]
        if len(lacking) == 1:
            raise input_error(
                "missing_argument",
                where=f"Problem.{lacking[0]}",
                problem="joint reactions need both a matrix and an offset",
                expected=OPTIONAL[lacking[0]],
            )
        if lacking and self.reaction is not None:
            raise input_error(
                "conflict",
                where="Problem.reaction",
                problem="there are names, but no reactions",
            )
        reactions = (0, 0) if lacking else arrays["reaction_matrix"].shape
        if not lacking and (len(reactions) not in (2, 3) or reactions[-2] == 0):
            expected = "(frames, reactions, muscles), at least one reaction"
            raise misshapen("reaction_matrix", reactions, "Problem.reaction_matrix", expected)

        size = dict(zip("mn", arrays["moment_arm"].shape[-2:], strict=True))
        size |= {"T": max(frames, default=1), "k": reactions[-2]}
        for name, array in arrays.items():
            shape = tuple(size[axis] for axis in ARRAY_AXES[name])
            # broadcast over frames only: a stray axis of length one is more likely a mistake
            if not any(array.shape == shape[i:] for i in range(len(shape) + 1)):
                expected = f"{shape} or its last axes, to go with the other arrays"
                raise misshapen(name, array.shape, f"Problem.{name}", expected)
            if array.shape != shape or not array.flags.c_contiguous:
                arrays[name] = np.ascontiguousarray(np.broadcast_to(array, shape))
                arrays[name].flags.writeable = False
        self._set(**arrays)
        for kind, axis in (("muscle", "n"), ("dof", "m"), *(() if lacking else [("reaction", "k")])):
            names = _names(kind, getattr(self, kind), size[axis])
            self._set(**{kind: names})
            for name, given in labels.items():
                if ARRAY_AXES[name][-1] == axis and given != names and sorted(given) == sorted(names):
                    raise input_error(
                        "conflict",
                        where=f"Problem.{name}",
                        problem=f"its labels are the names of `{kind}` in another order",
                        expected="the order of the names, because the labels are not read",
                        remedy=f"sort it: frame[names] in pandas, array.sel({kind}=names) in xarray",
                    )

        def not_positive(array: Array) -> Mask:
            return ~((array < HUGE) & (array > 0))

        rules: list[tuple[str, Callable[[Array], Mask], str]] = [
            ("max_isometric_force", not_positive, "a positive number [N]"),
            ("force_capacity", lambda x: x < 0, "zero or more [N]"),
            ("lower", lambda x: x < 0, "zero or more"),
            ("upper", np.isinf, "a finite bound; a large number such as 10 sets it free"),
            ("lower", lambda x: x > self.upper, "no more than upper"),
            ("optimal_fiber_length", not_positive, "a positive number [m]"),
            ("joints_crossed", lambda x: ~((x >= 1) & (x == np.round(x))), "a whole number, one or more"),
            ("emg", lambda x: (x < 0) | np.isinf(x), "zero or more, or NaN where not measured"),
            ("passive_force", lambda x: (x < 0) | np.isinf(x), "zero or more [N]"),
            (
                "fiber_force_capacity",
                lambda x: x < self.force_capacity * (1.0 - 1e-9),
                "no less than force_capacity, its part along the tendon [N]; change both together",
            ),
            ("fiber_length", lambda x: x < 0, "zero or more [m]"),
            ("reserve_weight", not_positive, "a positive number, or None for no reserves"),
        ]
        for name, is_bad, expected in rules:
            if name not in arrays or not (bad := is_bad(arrays[name])).any():
                continue
            index = tuple(int(i) for i in np.argwhere(bad)[0])
            owner = ((self.dof if name == "reserve_weight" else self.muscle) or ())[index[-1]]
            place = owner if len(index) == 1 else f"{owner} in frame {index[0]}"
            more = f" (and {int(bad.sum()) - 1} more)" if bad.sum() > 1 else ""
            raise input_error(
                "bad_number",
                where=f"Problem.{name}",
                problem=f"{name} is {arrays[name][index]:g} for {place}{more}",
                expected=expected,
            )
        if self.time is not None and size["T"] > 1:
            check_increasing(self.time, where="Problem.time")
        for name, (largest, unit, why) in _LARGEST.items():
            array = arrays.get(name, np.zeros(size["n"]))
            ends = () if not array.size else (np.fmin.reduce(array, None), np.fmax.reduce(array, None))
            if all(abs(end) <= largest for end in ends):
                continue
            array = np.where(np.abs(array) < HUGE, np.abs(array), 0.0)
            if array.max() > largest:
                muscle = (self.muscle or ())[int(np.unravel_index(array.argmax(), array.shape)[-1])]
                warn(
                    f"{name} is up to {array.max():.4g}{unit} ({muscle}), {why.format(largest)}", stacklevel=3
                )

        self._warn_of_weak_muscles()

    def _warn_of_weak_muscles(self) -> None:
        """Warn where muscles produce so little of every moment that only another unit explains it; of some frames."""
        if not self.n_frames:
            return
        some = slice(None, None, max(1, self.n_frames // 100))
        tension = np.abs(self.force_capacity[some] * self.upper[some])
        arms, needed = np.abs(self.moment_arm[some]), np.abs(self.moment[some])
        tension, arms, needed = (np.where(array < HUGE, array, 0.0) for array in (tension, arms, needed))
        able, most = np.einsum("tmn,tn->tm", arms, tension).max(axis=0), needed.max(axis=0)
        shared = np.flatnonzero((able > 0.0) & (most > 0.0))
        if not len(shared) or (most[shared] < WEAK * able[shared]).any():
            return
        k, strongest = int(shared[np.argmax(most[shared])]), self.max_isometric_force.max()
        if strongest < KILONEWTONS:
            remedy = "Multiply the forces by 1000 if they are in kN."
        elif most[k] > NEWTON_MILLIMETERS:
            remedy = "Multiply the moments by 0.001 if they are in N mm."
        else:
            return
        warn(
            f"the moment of {(self.dof or ())[k]} is up to {most[k]:.4g} N m, and all muscles together, of at most "
            f"{strongest:.4g} N, produce at most {able[k]:.4g} N m: N and N m are expected. {remedy}",
            stacklevel=4,
        )

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

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
        return np.maximum((np.abs(self.moment_arm) > 0.0).any(axis=0).sum(axis=0), 1.0)

    @cached_property
    def valid(self) -> Mask:
        """Mask of the frames whose numbers are finite and below 1e100 (whose cube is finite too), (T,)."""
        rows = [self.moment, self.force_capacity, self.lower, self.upper]
        usable = np.logical_and.reduce([(np.abs(row) < HUGE).all(axis=1) for row in rows])
        for array in (self.moment_arm, self.moment_matrix):
            usable &= (np.abs(array) < HUGE).all(axis=(1, 2))
        for name in _NUMBERS_IN_USE:
            if (optional := getattr(self, name)) is not None:
                usable &= (np.abs(optional) < HUGE).reshape(len(usable), -1).all(axis=1)
        return usable

    def frames(self, which: slice | NDArray[Any]) -> Problem:
        """The problem of some frames only; without time where they are not in order.

        Args:
            which: (T,) booleans or frame numbers.
        """
        arrays = {name: getattr(self, name) for name in PER_FRAME}
        chosen = {name: None if x is None else x[which] for name, x in arrays.items()}
        time = chosen["time"]
        if time is not None and (np.diff(time) <= 0.0).any():
            chosen["time"] = None
        part = self.with_arrays(**chosen)
        if self.frame_number is not None:
            part._set(frame_number=self.frame_number[which])
        return part

    def numbered(self) -> Problem:
        """The problem with `frame_number`, so that numbers of every frame that a cost holds follow its frames."""
        if self.frame_number is not None:
            return self
        same = self.with_arrays()
        same._set(frame_number=np.arange(self.n_frames), whole_frames=self.n_frames)
        return same

    def with_arrays(self, **arrays: Array | None) -> Problem:
        """The problem with some arrays replaced by others of the same shapes, such as `upper`, without new checks."""
        changed: Problem = object.__new__(type(self))
        changed.__dict__.update(self.__dict__)
        keep_matrix = arrays.keys() <= {"upper", "reserve_weight"}
        for cached in ("valid",) if keep_matrix else ("valid", "moment_matrix"):
            changed.__dict__.pop(cached, None)
        changed.__dict__.update(arrays)
        return changed


def _labels(given: object) -> tuple[str, ...]:
    """Labels along the last axis of a DataFrame, Series or DataArray; empty for other arrays."""
    if hasattr(given, "iloc"):
        labels = getattr(given, "columns", getattr(given, "index", ()))
    else:
        labels = getattr(given, "indexes", {}).get((None, *getattr(given, "dims", ()))[-1], ())
    return tuple(map(str, labels))


def misshapen(name: str, shape: tuple[int, ...], where: str, expected: str) -> InputError:
    """The error for an array whose shape does not fit."""
    return input_error("bad_shape", where=where, expected=expected, name=name, shape=shape)


def _names(kind: str, names: Sequence[str] | None, count: int) -> tuple[str, ...]:
    if names is None:
        return tuple(f"{kind}_{i}" for i in range(count))
    names = tuple(str(name) for name in np.asarray(names).reshape(-1).tolist())
    twice = sorted({name for name in names if names.count(name) > 1})
    if len(names) != count or twice:
        fault = f"{twice[0]!r} appears twice" if twice else f"there are {len(names)} names"
        raise input_error(
            "duplicate_name" if twice else "bad_shape",
            where=f"Problem.{kind}",
            problem=f"{kind}: {fault}",
            expected=f"{count} different names",
        )
    return names
