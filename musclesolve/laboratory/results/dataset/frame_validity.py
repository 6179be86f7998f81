"""Validity of each frame of a result: solved or not, foot on the ground or not, place in the gait cycle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import AnyArray, Array, Mask
from musclesolve._util.sides import ALL_SIDES, LEG_JOINTS, OTHER, SIDE_NAMES, SIDES, joint_kind, side_of
from musclesolve.constants import LOADED_FROM_N

if TYPE_CHECKING:
    import xarray as xr

GOOD = "solved"
WITH_RESERVE = "solved_with_reserve"
NOT_MEASURED = "not_measured"
VALID = (GOOD, WITH_RESERVE)
INVALID_MOTION = "invalid_motion"
TOO_FEW_FRAMES = "too_few_frames"
JOINT_ANGLE_JUMP, DISPLACED, UNBALANCED = "joint_angle_jump", "foot_displaced", "unbalanced"
INCONSISTENT = "inconsistent"
MOTION_FAULTS = {
    "consistent": INCONSISTENT,
    "steady": JOINT_ANGLE_JUMP,
    "foot_in_place": DISPLACED,
    "balanced": UNBALANCED,
}
"""Variables that mark a fault in the motion of a frame, with the name of the fault; causes first."""
MUSCLE_SIDE = "muscle_side"
"""Variable of the muscles of a model: the side whose verdict holds for the muscle."""
MUSCLE_WORDS = ("short_name", "group", MUSCLE_SIDE)
"""Words on each muscle of a result: variables, because coordinates would be in the title of each plot of xarray."""


def with_word_coordinates(data: xr.Dataset) -> xr.Dataset:
    """A dataset whose words on muscles are coordinates, which arithmetic leaves alone."""
    return data.set_coords([name for name in MUSCLE_WORDS if name in data.data_vars])


def with_word_variables(data: xr.Dataset) -> xr.Dataset:
    """A dataset whose words on muscles are variables, as in a result."""
    return data.reset_coords([name for name in MUSCLE_WORDS if name in data.coords])


NEAR = 0.01
"""A strike counts as reached up to this share of the cycle, or one frame, beyond the frames."""
LONGEST_INTERVAL = 1.5
"""Ratio to the usual interval between strikes above which an interval lacks a strike in its middle."""


@dataclass(frozen=True, eq=False)
class Cycle:
    """A gait cycle, or the part of it that was recorded."""

    start: float  # heel strike [s]
    end: float  # next heel strike of the same foot [s]
    index: NDArray[np.intp]  # (K,) the frames in it
    percent: Array  # (K,) their place in the cycle, 0 to 100
    complete: bool  # whether the frames reach both strikes, to 1 % of the cycle or to one frame


def status_names(result: xr.Dataset, side: str) -> NDArray[np.str_]:
    """Name of the status of every frame of one side, in lower case, shape (T,).

    The names come from the flags that the result carries (CF: ``flag_values``, ``flag_meanings``).
    """
    status = result.variables["status"]
    values = np.atleast_1d(status.attrs["flag_values"])
    meaning = dict(zip(map(int, values), str(status.attrs["flag_meanings"]).lower().split(), strict=True))
    codes, place = np.unique(_of_leg(result, "status", side), return_inverse=True)
    return np.array([meaning[int(code)] for code in codes], dtype=np.str_)[place]


def reason_names(result: xr.Dataset, side: str) -> NDArray[np.str_]:
    """Status names (T,) of a side; for an invalid motion the name of its fault.

    A frame in which a joint of the leg jumps is "joint_angle_jump", one with the foot far from where it was measured
    "foot_displaced", one whose ground forces do not balance the motion "unbalanced", one that does not satisfy the
    model's constraints "inconsistent".
    """
    names = status_names(result, side)
    for name, fault in MOTION_FAULTS.items():
        if name in result:
            names = np.where((names == INVALID_MOTION) & ~mask_of_leg(result, name, side), fault, names)
    return names


def mask_of_leg(result: xr.Dataset, name: str, side: str) -> Mask:
    """Select one leg of a mask over time, or over time and side, shape (T,)."""
    return np.asarray(_of_leg(result, name, side), dtype=bool)


def _of_leg(result: xr.Dataset, name: str, side: str) -> AnyArray:
    """The values of a variable, of one side if it has sides; xarray takes ten times as long, for hundreds of them."""
    values, sides = result.variables[name], result.variables["side"].values.tolist()
    if "side" not in values.dims:
        return np.asarray(values.values)
    if side not in sides:
        raise KeyError(side)
    place = (slice(None),) * values.dims.index("side") + (sides.index(side),)
    return np.asarray(values.values[place])


def valid(result: xr.Dataset, side: str) -> Mask:
    """Frames that may be used: solved, with or without a reserve, shape (T,)."""
    return mask_of_leg(result, "valid", side)


def credible(result: xr.Dataset, side: str) -> Mask:
    """Frames of a leg whose motion and ground forces were measured and are plausible, shape (T,)."""
    return ~np.isin(status_names(result, side), (INVALID_MOTION, NOT_MEASURED))


def sides(result: xr.Dataset) -> list[str]:
    """The legs whose muscles were analyzed, right before left; last `other`, where it is a side of the result."""
    present = set(muscle_sides(result).values())
    if OTHER not in result["side"].values:
        present.discard(OTHER)
    return [side for side in ALL_SIDES if side in present]


def cut_sides(result: xr.Dataset) -> Sequence[Literal["r", "l", "other"]]:
    """The sides that have cycles: the legs, or `other` of a result whose muscles have no side."""
    every = sides(result)
    return [side for side in SIDES if side in every] or ["other"]


def part_names(result: xr.Dataset) -> dict[str, str]:
    """The sides of `sides` in words: right leg, left leg (right side for an arm), and a word for muscles of no side."""
    parts = sides(result)
    other = "other muscles" if len(parts) > 1 else "muscles"
    limb = limb_name(result)
    return {side: f"{SIDE_NAMES[side]} {limb}" if side in SIDE_NAMES else other for side in parts}


def frames_word(result: xr.Dataset) -> str:
    """Return the words for frames that count once for each of `sides`: leg-frames where these are two legs."""
    parts, limb = part_names(result), limb_name(result)
    if len(parts) < 2:
        return "frames"
    if set(parts) == set(SIDES) and limb == "leg":
        return "leg-frames"
    others = " and other muscles" if OTHER in parts else ""
    of = f"both {limb}s" if set(SIDES) <= set(parts) else f"the {next(iter(parts.values()))}"
    return f"frames of {of}{others}"


def limb_name(result: xr.Dataset) -> str:
    """The word for the limb of a side: "leg" where muscles act on a leg or nothing is known, else "side"."""
    joints = [str(name) for name in result["joint"].values] if "joint" in result.coords else []
    return "leg" if not joints or any(joint_kind(name) in LEG_JOINTS for name in joints) else "side"


def muscle_sides(result: xr.Dataset) -> dict[str, str]:
    """Muscle -> side whose status holds for it: the side in its name, unless the result states another.

    Muscles that act on coordinates of no side alone, as in the trunk, have the status of `other`.
    """
    names = [str(name) for name in result.variables["muscle"].values]
    if MUSCLE_SIDE in result.variables:
        return dict(zip(names, map(str, result.variables[MUSCLE_SIDE].values), strict=True))
    return {name: side_of(name) for name in names}


def solved(result: xr.Dataset, side: str) -> Mask:
    """Frames whose muscle forces meet the joint moments exactly, shape (T,)."""
    return status_names(result, side) == GOOD


def solved_with_reserve(result: xr.Dataset, side: str) -> Mask:
    """Frames in which the muscles cannot produce the moments and a reserve produces the rest, shape (T,)."""
    return status_names(result, side) == WITH_RESERVE


def failed(result: xr.Dataset, side: str) -> Mask:
    """Frames without a valid solution, shape (T,)."""
    return ~valid(result, side)


def not_measured(result: xr.Dataset, side: str) -> Mask:
    """Frames that were not analyzed for a leg, because the forces on it were not all measured, shape (T,)."""
    return np.asarray(status_names(result, side) == NOT_MEASURED)


def unsolved(result: xr.Dataset, side: str) -> Mask:
    """Frames that were analyzed and have no valid solution, shape (T,)."""
    return failed(result, side) & ~not_measured(result, side)


def stance(result: xr.Dataset, side: str) -> Mask:
    """Frames with the foot on the ground: vertical ground reaction above 20 N, shape (T,)."""
    return np.asarray(result["ground_reaction_force"].sel(side=side, axis="z").values > LOADED_FROM_N)


def predicted(result: xr.Dataset, side: str) -> Mask:
    """Frames in which the ground reaction of a foot is predicted from the motion, not measured, shape (T,)."""
    if "ground_predicted" not in result:
        return np.zeros(result.sizes["time"], bool)
    return mask_of_leg(result, "ground_predicted", side)


def heel_strikes(result: xr.Dataset, side: str) -> Array:
    """Times [s] at which a foot strikes the ground.

    Taken from the attribute ``heel_strike_times_r`` (or ``_l``) where the result has it, otherwise the
    beginnings of stance. A foot that is on the ground in the first frame has struck before it: not counted.
    """
    named = result.attrs.get(f"heel_strike_times_{side}")
    if named is not None:
        return np.atleast_1d(np.asarray(named, dtype=float))
    if "ground_reaction_force" not in result:
        return np.empty(0)
    on_ground = stance(result, side)
    beginnings = np.flatnonzero(~on_ground[:-1] & on_ground[1:]) + 1
    return np.asarray(result["time"].values, dtype=float)[beginnings]


def cycles(result: xr.Dataset, side: str, *, of_motion: bool = False) -> list[Cycle]:
    """Gait cycles of a leg, from heel strike to the next heel strike of the same foot, with two frames or more.

    With frames whose forces were measured, or `of_motion` with all frames. An interval that takes much longer than the
    others lacks a heel strike in its middle and is none.
    """
    time = np.asarray(result["time"].values, dtype=float)
    # Heel strikes are often computed from sample times: a frame must not fall out by round-off.
    slack = 1e-9 * max(1.0, float(np.abs(time).max()))
    strikes = heel_strikes(result, side)
    usual = float(np.median(np.diff(strikes))) if strikes.size > 1 else 0.0
    # One frame after the last frame is the limit of the recording.
    period = float(np.median(np.diff(time)))
    spans = []
    measured = np.ones(time.size, dtype=bool) if of_motion else ~not_measured(result, side)
    first, last = time[measured][[0, -1]] if measured.any() else (np.inf, -np.inf)
    for start, end in pairwise(strikes.tolist()):
        inside = np.flatnonzero((time >= start - slack) & (time <= end + slack) & measured)
        if inside.size > 1 and end - start <= LONGEST_INTERVAL * usual:
            near, percent = max(NEAR * (end - start), period), 100.0 * (time[inside] - start) / (end - start)
            complete = bool(first <= start + near and last >= end - near)
            spans.append(Cycle(start, end, inside, percent, complete))
    return spans
