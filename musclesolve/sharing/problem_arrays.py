"""The arrays of a force-sharing problem: their axes, and what is checked before a problem is made.

Shapes, bounds and names that cannot be right are errors; numbers that another unit explains are a warning.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from warnings import warn

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask, unchangeable
from musclesolve._util.checks import check_increasing, check_real_array
from musclesolve._util.messages import NameTuple, count_of, unknown_name
from musclesolve.errors import InputError, input_error
from musclesolve.sharing.kernel.constants import HUGE

_ARRAYS = {
    "moment_arm": ("Tmn", None),
    "moment": ("Tm", None),
    "force_capacity": ("Tn", None),
    "max_isometric_force": ("n", None),
    "lower": ("Tn", None),
    "upper": ("Tn", None),
    "reserve_weight": ("Tm", None),
    "fiber_velocity": ("Tn", "(T, n) [m/s], negative where fibers shorten"),
    "optimal_fiber_length": ("n", "(n,) [m]"),
    "joints_crossed": ("n", "(n,), how many joints each muscle crosses"),
    "reaction_matrix": ("Tkn", "(T, k, n), newtons of each joint reaction for one newton of muscle force"),
    "reaction_offset": ("Tk", "(T, k) [N], the joint reactions without contractile forces"),
    "emg": ("Tn", "(T, n) measured activations, NaN where not measured"),
    "passive_force": ("Tn", "(T, n) [N], passive tendon forces, whose moments `moment` has no part of"),
    "fiber_force_capacity": ("Tn", "(T, n) [N], active force along the fibers at activation 1"),
    "fiber_length": ("Tn", "(T, n) [m]"),
    "joint_angle": ("Tm", "(T, m) [rad]"),
    "joint_rate": ("Tm", "(T, m) [rad/s]"),
    "time": ("T", "(T,) [s], increasing"),
}
ARRAY_AXES = {name: axes for name, (axes, _) in _ARRAYS.items()}
"""The axes of every array: T frames, m degrees of freedom, n muscles, k joint reactions."""
OPTIONAL = {name: about for name, (_, about) in _ARRAYS.items() if about is not None}
"""Optional fields, which only some costs or the diagnosis need."""
PER_FRAME = tuple(name for name, axes in ARRAY_AXES.items() if axes[0] == "T")

SourceFrames = tuple[Indices, int]
"""Numbers (T,) of frames in a whole motion, and how many frames that has."""


def chosen_frames(source: SourceFrames | None, frames: int, which: Any) -> SourceFrames:
    """The numbers of some of T frames in the whole motion; without a source the T frames are the whole."""
    number, count = (np.arange(frames), frames) if source is None else source
    return number[which], count


_LEADING = {
    "moment_arm": "(frames, degrees of freedom, muscles)",
    "moment": "(frames, degrees of freedom)",
    "force_capacity": "(frames, muscles)",
}
"""Arrays that define the numbers of frames, degrees of freedom and muscles, with the words for them in messages."""

_METERS = (
    "no human muscle has more than {:g}{}: meters are expected. "
    "Multiply it by 0.001 if it is in mm, by 0.01 if in cm."
)
_SHARES = "activations are 0 to 1. Multiply it by 0.01 if it is in percent, divide volts by their maximum."
LARGEST = {
    "moment_arm": (2.0, " m", _METERS),
    "optimal_fiber_length": (1.0, " m", _METERS),
    "joint_rate": (150.0, " rad/s", "radians/s are expected. Multiply it by pi / 180 if it is in degrees/s."),
    "fiber_velocity": (10.0, " m/s", _METERS),
    "joint_angle": (6.3, " rad", "radians are expected. Multiply it by pi / 180 if it is in degrees."),
    "emg": (5.0, "", _SHARES),
}
"""Array -> largest value that its unit explains, the unit, and what the warning of a larger one says.

The largest moment arm of the bundled OpenSim models is 0.14 m (external oblique, gait2392), the longest fiber 0.58 m
(sartorius, silva_2003), which shortens at 5.8 m/s at most, ten lengths a second. The arm of a translation is at most 1,
at a pulley 2. In cm most joints have arms beyond 2, in mm even fingers. An angle of a joint is less than one turn, and
a pitcher's shoulder turns at 7500 degrees/s, 131 rad/s. EMG in shares of a maximum is at most some times the maximum.
"""

WEAK = 30.0
"""Ratio of moments to the moments that muscles produce at most beyond which the units are looked at."""
KILONEWTONS = 10.0
"""Maximum isometric force [N] that the strongest muscle of a limb exceeds; in kN the soleus has 3 to 8."""
NEWTON_MILLIMETERS = 1e4
"""Moment [N m] that no joint of a person has; in N mm the moments of a step have up to 200 000."""

NAME_AXES = {"muscle": "n", "dof": "m", "reaction": "k"}
"""The axis of every list of names."""
BESIDE = ("single_frame", "source_frames", "largest_arm")
"""What else a problem has."""
_DIMENSIONS = {"T": "time"} | {axis: name for name, axis in NAME_AXES.items()}
"""The dimension of every axis in a result."""


def checked(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a problem from what a user gives: whole arrays, names, and whether there is a single frame.

    Raises:
        InputError: see `Problem`.
    """
    labels = {name: _labels(name, given.get(name)) for name in ARRAY_AXES}
    # in double precision, copied where they might change; masked numbers become NaN
    arrays = {
        name: unchangeable(check_real_array(array, name, "real numbers", where=f"Problem.{name}"))
        for name in ARRAY_AXES
        if (array := given.get(name)) is not None or name not in ("reserve_weight", *OPTIONAL)
    }
    frames = set()
    for name, axes in _LEADING.items():
        rank, shape = len(ARRAY_AXES[name]) - 1, arrays[name].shape
        if len(shape) not in (rank, rank + 1) or 0 in shape[-rank:]:
            expected = f"{axes}, no axis but the first empty; a single frame may drop the first axis"
            raise misshapen(name, shape, f"Problem.{name}", expected)
        frames |= set(shape[:-rank])
    arm = arrays["moment_arm"].shape
    fitting = (arrays["moment"].shape[-1], arrays["force_capacity"].shape[-1])
    if arm[-2:] == fitting[::-1] != fitting:
        expected = f"{(*arm[:-2], *fitting)}: the degrees of freedom before the muscles"
        raise misshapen("moment_arm", arm, "Problem.moment_arm", expected)
    values: dict[str, Any] = {"single_frame": not frames}

    lacking = [name for name in ("reaction_matrix", "reaction_offset") if name not in arrays]
    if len(lacking) == 1:
        fault = "joint reactions need both a matrix and an offset"
        raise input_error(
            "missing_argument", where=f"Problem.{lacking[0]}", problem=fault, expected=OPTIONAL[lacking[0]]
        )
    if lacking and given.get("reaction") is not None:
        raise input_error("conflict", where="Problem.reaction", problem="there are names, but no reactions")
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
            if len(arm) == 2 and arm[0] > 1:
                expected += f"; moment_arm {arm} is read as {arm[0]} degrees of freedom in every frame"
            raise misshapen(name, array.shape, f"Problem.{name}", expected)
        if array.shape != shape or not array.flags.c_contiguous:
            arrays[name] = np.ascontiguousarray(np.broadcast_to(array, shape))
            arrays[name].flags.writeable = False
    for kind, axis in NAME_AXES.items():
        if kind == "reaction" and lacking:
            continue
        names = values[kind] = _names(kind, given.get(kind), size[axis])
        stated = {name: of_axes for name, of_axes in labels.items() if axis in ARRAY_AXES[name]}
        # without names the labels of one array are the names for the others
        known = next((of_axes[axis] for of_axes in stated.values() if axis in of_axes), names)
        known = names if given.get(kind) is not None else known
        for name, of_axes in stated.items():
            alike = {at for at, words in of_axes.items() if sorted(words) == sorted(known)}
            if alike and (axis not in alike or of_axes[axis] != known):
                fault = f"its labels are the names of `{kind}`, or the labels of another array, "
                fault += "in another order" if axis in alike else "along another axis"
                remedy = (
                    f"sort it: frame[names] in pandas, array.sel({kind}=names) in xarray; or transpose it"
                )
                expected = "one order, because the labels are not read"
                where = f"Problem.{name}"
                raise input_error("conflict", where=where, problem=fault, expected=expected, remedy=remedy)
    values |= arrays
    _check_numbers(values)
    if np.isposinf(values.get("reserve_weight", 0.0)).all():
        values["reserve_weight"] = None
    _warn_of_units(values)
    _warn_of_weak_muscles(values)
    return values


def check_replaced(fields: Mapping[str, Any], replaced: Mapping[str, Any]) -> None:
    """Refuse replaced arrays that do not fit the fields of a problem, and strengths that are not positive."""
    size = dict(zip("Tmn", np.shape(fields["moment_arm"]), strict=True))
    if fields["reaction_matrix"] is not None:
        size["k"] = np.shape(fields["reaction_matrix"])[1]
    for name, array in replaced.items():
        if name not in (*ARRAY_AXES, *NAME_AXES, *BESIDE):
            raise unknown_name(name, "field", tuple(ARRAY_AXES), where="Problem.with_arrays")
        if array is None or name not in ARRAY_AXES:
            continue
        shape = tuple(size[axis] for axis in ARRAY_AXES[name])
        if np.shape(array) != shape:
            expected = f"{shape}; dataclasses.replace(problem, {name}=...) takes other shapes, too"
            raise misshapen(name, np.shape(array), "Problem.with_arrays", expected)
    if (strength := replaced.get("max_isometric_force")) is not None:
        where, expected = "Problem.with_arrays", "a positive number [N]"
        refuse_numbers(
            strength, not_positive(strength), "max_isometric_force", fields["muscle"], expected, where
        )


def not_positive(array: Array) -> Mask:
    """Mask of the numbers that are not above zero, or not finite."""
    return ~((array < HUGE) & (array > 0))


def _check_numbers(values: Mapping[str, Any]) -> None:
    """Refuse numbers that no problem can have."""

    def unknown(array: Array) -> Mask:  # in every frame of several
        return np.isnan(array) & np.isnan(array).all(axis=0) & (len(array) > 1)

    rules: list[tuple[str, Callable[[Array], Mask], str]] = [
        ("max_isometric_force", not_positive, "a positive number [N]"),
        ("force_capacity", lambda x: x < 0, "zero or more [N]"),
        ("lower", unknown, "a number"),
        ("upper", unknown, "a number"),
        ("lower", lambda x: x < 0, "zero or more"),
        ("upper", np.isinf, "a finite bound; a large number such as 10 sets it free"),
        ("lower", lambda x: x > values["upper"], "no more than upper"),
        ("optimal_fiber_length", not_positive, "a positive number [m]"),
        ("joints_crossed", lambda x: ~((x >= 1) & (x == np.round(x))), "a whole number, one or more"),
        ("emg", lambda x: (x < 0) | np.isinf(x), "zero or more, or NaN where not measured"),
        ("passive_force", lambda x: (x < 0) | np.isinf(x), "zero or more [N]"),
        (
            "fiber_force_capacity",
            lambda x: x < values["force_capacity"] * (1.0 - 1e-9),
            "no less than force_capacity, its part along the tendon [N]; change both together",
        ),
        ("fiber_length", lambda x: x < 0, "zero or more [m]"),
        ("reserve_weight", lambda x: not_positive(x) & (x != np.inf), "a positive number; inf: no reserve"),
    ]
    for name, is_bad, expected in rules:
        if name in values:
            owners = values["dof" if name == "reserve_weight" else "muscle"]
            refuse_numbers(values[name], is_bad(values[name]), name, owners, expected, f"Problem.{name}")
    if (time := values.get("time")) is not None and len(time) > 1:
        check_increasing(time, where="Problem.time")


def refuse_numbers(
    array: Array,
    bad: Mask,
    name: str,
    owners: Sequence[str],
    expected: str,
    where: str,
    code: str = "bad_number",
) -> None:
    """Refuse numbers (n,) or (T, n) of muscles or (T, m) of degrees of freedom, the `owners`, where they are bad."""
    for index in map(tuple, np.argwhere(bad)[:1].tolist()):
        place = owners[index[-1]] + (f" in frame {index[0]}" if len(index) > 1 else "")
        more = f" (and {int(bad.sum()) - 1} more)" if bad.sum() > 1 else ""
        raise input_error(
            code, where=where, problem=f"{name} is {array[index]:g} for {place}{more}", expected=expected
        )


def _warn_of_units(values: Mapping[str, Any]) -> None:
    """Warn of numbers that only another unit explains; of rates, and not of the fiber velocities that follow."""
    rates_warned = False
    for name, (largest, unit, why) in LARGEST.items():
        if name == "fiber_velocity" and rates_warned:
            continue
        array = values.get(name, np.zeros(0))
        ends = () if not array.size else (np.fmin.reduce(array, None), np.fmax.reduce(array, None))
        if all(abs(end) <= largest for end in ends):
            continue
        array = np.where(np.abs(array) < HUGE, np.abs(array), 0.0)
        if array.max() > largest:
            owner = values["muscle" if ARRAY_AXES[name][-1] == "n" else "dof"][
                int(array.argmax()) % array.shape[-1]
            ]
            text = f"{name} is up to {array.max():.4g}{unit} ({owner}), {why.format(largest, unit)}"
            warn(text, stacklevel=5)
            rates_warned |= name == "joint_rate"


def _warn_of_weak_muscles(values: Mapping[str, Any]) -> None:
    """Warn where muscles produce so little of every moment that only another unit explains it; of some frames."""
    frames = len(values["moment"])
    if not frames:
        return
    some = slice(None, None, max(1, frames // 100))
    tension = np.abs(values["force_capacity"][some] * values["upper"][some])
    arms, needed = np.abs(values["moment_arm"][some]), np.abs(values["moment"][some])
    tension, arms, needed = (np.where(array < HUGE, array, 0.0) for array in (tension, arms, needed))
    able, most = np.einsum("tmn,tn->tm", arms, tension).max(axis=0), needed.max(axis=0)
    shared = np.flatnonzero((able > 0.0) & (most > 0.0))
    if not len(shared) or (most[shared] < WEAK * able[shared]).any():
        return
    k, strongest = int(shared[np.argmax(most[shared])]), values["max_isometric_force"].max()
    if strongest < KILONEWTONS:
        remedy = "Multiply the forces by 1000 if they are in kN."
    elif most[k] > NEWTON_MILLIMETERS:
        remedy = "Multiply the moments by 0.001 if they are in N mm."
    else:
        return
    warn(
        f"the moment of {values['dof'][k]} is up to {most[k]:.4g} N m, and all muscles together, of at most "
        f"{strongest:.4g} N, produce at most {able[k]:.4g} N m: N and N m are expected. {remedy}",
        stacklevel=5,
    )


def _labels(name: str, given: Any) -> dict[str, tuple[str, ...]]:
    """The labels of every axis of a DataFrame, Series or DataArray; none of other arrays.

    Raises:
        InputError: a DataArray has the dimensions of a result, such as (time, dof, muscle), in another order.
    """
    axes, dims = ARRAY_AXES[name], getattr(given, "dims", ())
    if not isinstance(dims, tuple):  # a Dataset
        return {}
    words = [_DIMENSIONS[axis] for axis in axes]
    if any(a != b and a in _DIMENSIONS.values() for a, b in zip(dims[::-1], words[::-1], strict=False)):
        fault, expected = f"its dimensions are {dims}", f"array.transpose({', '.join(map(repr, words))})"
        raise input_error("conflict", where=f"Problem.{name}", problem=fault, expected=expected)
    indexes = given.axes if hasattr(given, "iloc") else [given.indexes.get(dim, ()) for dim in dims]
    pairs = zip(axes[::-1], indexes[::-1], strict=False)
    return {axis: tuple(map(str, index)) for axis, index in pairs if len(index)}


def usable_frames(*arrays: Array) -> Mask:
    """Mask of the frames (T,) in which all numbers of some arrays (T, ...) are finite and below 1e100."""
    usable = [(np.abs(array) < HUGE).all(axis=tuple(range(1, array.ndim))) for array in arrays]
    return np.logical_and.reduce(usable)


def counts_of(frames: int, muscles: int, dofs: int) -> str:
    """The sizes of a problem or solution in words."""
    return f"{count_of(frames, 'frame')}, {count_of(muscles, 'muscle')}, {count_of(dofs, 'moment')}"


def range_of(array: Array) -> tuple[float, float]:
    """The least and the greatest finite number; NaN where there is none."""
    finite = array[np.isfinite(array)]
    return (float(finite.min()), float(finite.max())) if finite.size else (np.nan, np.nan)


def misshapen(name: str, shape: tuple[int, ...], where: str, expected: str) -> InputError:
    """The error for an array whose shape does not fit."""
    return input_error("bad_shape", where=where, expected=expected, name=name, shape=shape)


def _names(kind: str, names: Sequence[str] | None, count: int) -> tuple[str, ...]:
    if names is None:
        return NameTuple(f"{kind}_{i}" for i in range(count))
    names = NameTuple(str(name) for name in np.asarray(names).reshape(-1).tolist())
    twice = sorted({name for name in names if names.count(name) > 1})
    if len(names) != count or twice:
        fault = f"{twice[0]!r} appears twice" if twice else f"the number of names is {len(names)}"
        raise input_error(
            "duplicate_name" if twice else "bad_shape",
            where=f"Problem.{kind}",
            problem=f"{kind}: {fault}",
            expected=f"{count} different names",
        )
    return names
