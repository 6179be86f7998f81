"""Cycles of a result over 0 to 100 %: from heel strike to heel strike, or of another movement.

Each cycle states how much of its motion, moments and muscle forces was measured, and what is missing, in words.

A curve has values between two neighboring frames that both have one. The share of the cycle that lies between such
frames is its coverage, of three kinds: of the motion every frame counts; of moments and ground forces those whose
forces were measured and balance a plausible motion; of muscle forces those with a valid solution.

A cycle counts from 95 % of its motion on. In eight complete strides of seven recorded walks of four persons, leaving
out the first or the last 5 % leaves 93 % of the greatest and least angles and moments of hip, knee and ankle where they
are and moves 95 % of them by at most 0.1 degrees and 0.013 N m/kg, less than what strides differ by; without 8 % that
is 0.3 degrees and 0.09 N m/kg, without 15 % 0.7 degrees and 0.23 N m/kg.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array, Indices, Mask, stretch, true_runs
from musclesolve._util.checks import check_integer
from musclesolve._util.messages import as_text, count_of, enumerated
from musclesolve._util.sides import OTHER, SIDE_NAMES, side_of, split_side
from musclesolve._util.splines import MonotoneCubic
from musclesolve.constants import LOADED_FROM_N
from musclesolve.errors import file_error
from musclesolve.laboratory.results import movement as movements
from musclesolve.laboratory.results.cycles.movement_landmarks import (
    Interval,
    Intervals,
    intervals,
    is_leg,
    stride_intervals,
)
from musclesolve.laboratory.results.dataset import frame_validity as frames
from musclesolve.laboratory.results.dataset.checked import checked_result
from musclesolve.laboratory.results.dataset.quantities import QUANTITIES, following, in_set
from musclesolve.laboratory.results.dataset.result_quantities import (
    along_heading,
    is_moment,
    texts,
    walks_backward,
)

NEARLY = 95
"""Percentage of a cycle that the frames have to cover, as printed: the recording may end before the last strike."""
Run = tuple[float, float]
"""Part of a cycle: first and last percentage."""


@dataclass(frozen=True, eq=False)
class CoveredCycle:
    """A cycle, and the parts of it that were measured."""

    start: float  # [s]
    end: float  # [s]
    landmarks: dict[str, float]  # [%]
    index: Indices  # (K,) the frames in it
    reach: float  # tolerance beyond the frames in which an end still counts as reached [s]
    coverage: float  # of the motion, 0 to 1
    coverage_moment: float
    coverage_muscle: float
    coverage_stance: float  # of moments, over the stance; NaN where the toe-off is not known
    stance: float  # toe-off by the ground force [%]; NaN where not known
    missing: str  # description of the missing parts; "" if complete

    @property
    def counts(self) -> bool:
        """Return whether enough of the motion was measured."""
        return round(100.0 * self.coverage) >= NEARLY


def covered_cycles(result: xr.Dataset, side: str, intervals: list[Interval]) -> list[CoveredCycle]:
    """The cycles of a leg that contain two frames or more."""
    time = np.asarray(result["time"].values, dtype=float)
    period = float(np.median(np.diff(time))) if time.size > 1 else 0.0
    slack = 1e-9 * max(1.0, float(np.abs(time).max()))
    lost, credible, valid = (
        rule(result, side) for rule in (frames.not_measured, frames.credible, frames.valid)
    )
    reasons = {
        "moments and muscle forces are not measured": ~lost,
        "moments and muscle forces are not known: implausible motion, or forces that do not balance it": lost
        | credible,
        "there are no valid muscle forces": lost | ~credible | valid,
    }
    masks = {"recorded": np.ones(time.size, bool), "credible": credible, "valid": valid, **reasons}
    spans = {name: np.reshape(true_runs(good), (-1, 2)).T.astype(np.intp) for name, good in masks.items()}
    covered = []
    for interval in intervals:
        start, length = interval.start, interval.end - interval.start
        index = np.flatnonzero((time >= start - slack) & (time <= interval.end + slack))
        if index.size < 2:
            continue
        near = max(frames.NEAR * length, period)
        reach = near if time[0] <= start + near and time[-1] >= interval.end - near else 0.0
        runs = partial(_runs, time, start=start, length=length, reach=reach)
        motion, moment = runs(spans["recorded"]), runs(spans["credible"])
        toe_off = _toe_off(result, side, index, time, start, length)
        stated = _stance_of(result, side, start)
        stance = stated if np.isfinite(stated) else toe_off
        words = [f"{_listed(_gaps([(0.0, 100.0)], motion))} not recorded"] if _share(motion) < 1.0 else []
        for why in reasons:
            if gaps := _gaps(motion, runs(spans[why])):
                words.append(f"{_listed(gaps, verb=False)}: {why}")
        covered.append(
            CoveredCycle(
                start=start,
                end=interval.end,
                landmarks=interval.landmarks,
                index=index,
                reach=reach,
                coverage=_share(motion),
                coverage_moment=_share(moment),
                coverage_muscle=_share(runs(spans["valid"])),
                coverage_stance=_share(moment, stance) if np.isfinite(stance) else np.nan,
                stance=toe_off,
                missing="; ".join(words),
            )
        )
    return covered


def _runs(time: Array, spans: Indices, start: float, length: float, reach: float) -> list[Run]:
    """Parts of a cycle [%] in spans (2, n) of frames, extended by `reach` beyond the ends of the recording."""
    first, stop = spans
    ends = time[first] - reach * (first == 0), time[stop - 1] + reach * (stop == time.size)
    low, high = (np.clip(100.0 * (at - start) / length, 0.0, 100.0) for at in ends)
    part = (stop - first > 1) & (high > low)
    low, high = np.where(low > TINY, low, 0.0)[part], np.where(high < 100.0 - TINY, high, 100.0)[part]
    return list(zip(low.tolist(), high.tolist(), strict=True))


TINY = 1e-6
"""Difference below which two percentages are equal."""


def _share(runs: list[Run], end: float = 100.0) -> float:
    """Share of the cycle up to a percentage that lies in runs, 0 to 1."""
    return sum(max(min(high, end) - low, 0.0) for low, high in runs) / end


def _gaps(whole: list[Run], runs: list[Run]) -> list[Run]:
    """Return the spans of some parts of a cycle that lie outside all runs."""
    gaps = []
    for first, last in whole:
        at = first
        for low, high in [*runs, (last, last)]:
            if (stop := min(low, last)) - at > TINY:
                gaps.append((at, stop))
            at = max(at, high)
    return gaps


def _listed(gaps: list[Run], verb: bool = True) -> str:
    """List gaps in words: "the first 4 %, 31 to 35 % and the last 3 % are"."""

    def words(low: float, high: float) -> str:
        size = high - low
        part = f"{size:.0f} %" if size >= 1.0 else f"{size:.1f} %"
        if low == 0.0:
            return "all of it" if high == 100.0 else f"the first {part}"
        return f"the last {part}" if high == 100.0 else f"{low:.0f} to {high:.0f} %"

    parts = [words(*gap) for gap in gaps]
    text = enumerated(parts)
    return f"{text} {'is' if parts == ['all of it'] else 'are'}" if verb else text


def _toe_off(
    result: xr.Dataset, side: str, index: Indices, time: Array, start: float, length: float
) -> float:
    """Return the time at which the ground force of a leg falls below the threshold, in percent of the cycle."""
    if "ground_reaction_force" not in result or side not in result["side"].values:
        return np.nan
    force = result["ground_reaction_force"].sel(side=side, axis="z").values[index]
    off = np.flatnonzero(~(force > LOADED_FROM_N))
    late = off[time[index[off]] > start + EARLY * length]
    if not late.size or late[0] == 0 or not np.isfinite(force[late[0]]):
        return np.nan
    return float(100.0 * (time[index[late[0]]] - start) / length)


EARLY = 0.1
"""Share of a stride in which a foot cannot leave the ground yet."""


def _stance_of(result: xr.Dataset, side: str, start: float) -> float:
    """Stance of the recorded stride that begins at a time [%]; NaN without."""
    if "stance_percent" not in result or "stride_side" not in result.coords:
        return np.nan
    same = (result["stride_side"].values == side) & (np.abs(result["stride_start"].values - start) < 1e-6)
    return float(result["stance_percent"].values[same][0]) if same.any() else np.nan


POINTS = 101
STRENGTH = "max_isometric_force"
LANDING = "landing"
WITHOUT_STRIDES = (movements.JUMP, movements.CHAIR, movements.SQUAT, LANDING)
"""Movements whose cycles are no strides."""
SPREAD = "_uncertainty_sd"
"""Suffix of the names of standard deviations from the uncertainty of a quantity."""
COVERAGE = {
    "coverage": "share of the cycle with frames",
    "coverage_moment": "share of the cycle with moments: ground forces are known and the motion is plausible",
    "coverage_muscle": "share of the cycle with muscle forces",
    "coverage_stance": "share of the stance with moments; NaN where the toe-off is not known",
}
"""Coordinates over cycle."""
LABELS = ("dof", "muscle", "joint", "part", "place")
"""Dimensions whose names end in the side they belong to."""
SUBJECT_ATTRIBUTES = ("subject", "subject_mass_kg", "subject_stature_m")
METHODS = (
    *("musclesolve_version", "cost", "solver", "filter_method", "filter_order", "cutoff_hz", "cutoff_choice"),
    *("hip_method", "knee_method", "ankle_method"),
    *("consistency_method", "consistency_derivatives", "consistency_weights", "consistency_residual"),
    *("muscle_database", "muscle_parameters", "muscle_person", "passive", "strength", "fiber_lengths"),
    *("shared_dofs", "extension_positive", "tendon", "tendon_strain", "curves"),
)
"""Attributes that state the method, as far as it is one choice for many recordings."""
RESERVES = "with_reserve"
"""Name of the mask of values from frames that needed a reserve."""
ROUND_OFF = 1e-6
PERCENT = "percent"
OF_MEANS = ("cycle", "subject", "group", "condition", "leg", PERCENT)
"""Dimensions of a curve itself; further dimensions distinguish the curves of a variable."""


def cycles(
    result: xr.Dataset,
    side: Literal["r", "l", "other"],
    *,
    points: int = POINTS,
    strides: bool = False,
    partial: bool = False,
    without_side: bool = False,
) -> xr.Dataset:
    """Cut the movement of a result into the cycles of one leg, at the same percentages.

    The movement defines the cycle: a stride from heel strike to heel strike, the contact of a jump, the rise from a
    seat, a squat (module ``movement_landmarks``). The trial file states the movement (``movement``, ``cycles_s`` of
    [time]), or motion and forces show it. Between the frames the curves are interpolated by `sampled`, but not next to
    a frame without a valid value. An end up to 1 % of the cycle, or less than a frame, beyond the first or last frame
    counts as reached.

    A cycle counts if 95 % of it or more lie between frames, with or without forces. Values that were not measured, or
    have no valid solution, are NaN: with a single plate in the laboratory the stance counts, and the swing has angles
    alone.

    Args:
        result: what ``musclesolve.run`` returns or ``result.nc`` holds.
        side: "r" or "l"; "other" of a model without legs, whose cycles are stated.
        points: number of percentages from 0 to 100.
        strides: cut from heel strike to heel strike in every movement.
        partial: also include cycles of which the frames cover less than 95 %.
        without_side: name degrees of freedom, muscles and joints without their side, so that the legs can be compared
            or joined. Labels without a side are left out; x of forces points along the walking direction, y from either
            leg to the median plane.

    Returns:
        Dataset over cycle, percent, dof, muscle, joint and axis with every quantity of this leg over time, except
        places in the laboratory, without side the angles of the pelvis as seen from this leg; over cycle the measures
        of the stride, and landmarks as ``deepest_percent``.
        with_reserve marks values with a reserve: muscle forces are a lower bound there. Coordinates over cycle:
        cycle_start, cycle_end [s], cycle_trial, cycle_side, cycle_movement; coverage, coverage_moment,
        coverage_muscle: share of the cycle with frames, with moments, with muscle forces, 0 to 1; coverage_stance:
        of the stance with moments, NaN where its end is not known; missing: what is missing in words; over cycle and
        muscle max_isometric_force [N]. The attributes left_out, invalid and reserves list cycles that are left out,
        that have frames without a valid solution, or reserves.

    Raises:
        InputError: no result (``checked.checked_result``), no such leg in it, or fewer than two points.

    Examples:
        >>> strides = ms.laboratory.cycles(ms.run(ms.data.reference_stride()), "r")
        >>> strides.sizes["percent"]
        101
    """
    if side not in (sides := frames.sides(checked_result(result))):
        raise file_error(
            "bad_result",
            result.encoding.get("source"),
            f"the leg {as_text(side)} is not in this result",
            f"one of its legs: {', '.join(map(str, sides))}",
            'compute both legs: musclesolve run --side both, or ms.run(..., side="both")',
        )
    check_integer(points, "points", 2)
    cut = (stride_intervals if strides else intervals)(result, side)
    percent = np.linspace(0.0, 100.0, points)
    every = covered_cycles(result, side, cut.cycles)
    used = [cycle for cycle in every if partial or cycle.counts]
    leg = of_leg(result, side, without_side)
    coords = {str(name): coord.variable for name, coord in leg.coords.items() if "time" not in coord.dims}
    walks = _has_strides(result, side, cut.movement)
    kind = "gait" if walks else "" if cut.movement == movements.UNKNOWN else cut.movement
    about = {"units": "%", "long_name": f"{kind} cycle".strip()}
    coords["percent"] = xr.Variable("percent", percent, about)
    source = str(result.attrs.get("trial_file", result.encoding.get("source", "")))
    for name, text in {"side": side, "trial": source, "movement": cut.movement}.items():
        coords[f"cycle_{name}"] = xr.Variable("cycle", np.array([text] * len(used), np.str_))
    for name in ("start", "end"):
        times = np.array([getattr(cycle, name) for cycle in used], float)
        coords[f"cycle_{name}"] = xr.Variable("cycle", times, {"units": "s"})
    for name, meaning in COVERAGE.items():
        shares = np.array([getattr(cycle, name) for cycle in used], float)
        coords[name] = xr.Variable("cycle", shares, {"units": "1", "long_name": meaning})
    coords["missing"] = xr.Variable("cycle", np.array([cycle.missing for cycle in used], np.str_))
    if (strength := coords.pop(STRENGTH, None)) is not None:
        coords[STRENGTH] = strength.set_dims({"cycle": len(used), "muscle": strength.size})
    variables = _curves(result, side, leg, used, percent) | _measures(result, side, used, walks)
    data = xr.Dataset(variables, coords, _attributes(result, side, cut, every, used))
    # chunks and types of the file of the result do not fit its cycles
    data = frames.with_word_variables(data).drop_encoding()
    data.encoding["source"] = result.encoding.get("source")
    return data


def curves_of(variable: xr.DataArray) -> Iterator[tuple[str, xr.DataArray]]:
    """Yield the curves of a variable with names: "knee_flexion", "knee z", "soleus r"; dimensions from `OF_MEANS`.

    A variable without further dimensions is one curve, named like the variable.
    """
    others = [str(dim) for dim in variable.dims if dim not in OF_MEANS]
    if not others:
        yield str(variable.name), variable
        return
    for labels in itertools.product(*(variable[dim].values.tolist() for dim in others)):
        yield " ".join(map(str, labels)), variable.sel(dict(zip(others, labels, strict=True)), drop=True)


def _curves(
    result: xr.Dataset, side: str, leg: xr.Dataset, used: list[CoveredCycle], percent: Array
) -> dict[str, xr.Variable]:
    """The quantities of a leg over cycle and percent, and the mask of values from frames with a reserve."""
    time = np.asarray(result["time"].values, dtype=float)

    def cut(values: Array, straight: bool) -> Array:
        cube = np.empty((len(used), percent.size, *values.shape[1:]))
        for place, cycle in enumerate(used):
            at = cycle.start + 0.01 * percent * (cycle.end - cycle.start)
            cube[place] = sampled(time, values, at, cycle.reach, straight=straight)
        return cube

    failed, credible = frames.failed(result, side), frames.credible(result, side)
    of_sharing, of_forces = following("solution"), following("forces")
    reserve = np.where(failed, np.nan, frames.solved_with_reserve(result, side).astype(float))
    arrays = {str(name): variable.values for name, variable in leg.data_vars.items()} | {RESERVES: reserve}
    cubes: dict[str, Array] = {}
    for straight in (True, False):  # all curves at once, each a column
        names = [name for name in arrays if straight == (name not in of_sharing and name != RESERVES)]
        ends = np.cumsum([0, *(arrays[name][0].size for name in names)]).tolist()
        columns = np.empty((time.size, ends[-1]))
        for name, *place in zip(names, ends, ends[1:], strict=False):
            some = columns[:, slice(*place)]
            some[:] = arrays[name].reshape(time.size, -1)
            if name in of_sharing:
                some[failed] = np.nan
            if name in of_forces:
                some[~credible] = np.nan
        if names:
            cubes |= dict(zip(names, np.split(cut(columns, straight), ends[1:-1], axis=2), strict=True))
    variables = {
        str(name): xr.Variable(
            ("cycle", "percent", *variable.dims[1:]),
            cubes[str(name)].reshape(len(used), percent.size, *variable.shape[1:]),
            variable.attrs,
        )
        for name, variable in leg.data_vars.items()
    }
    # The curve leaves 0 only between frames of which one or both needed a reserve.
    needed = cubes[RESERVES][..., 0] > ROUND_OFF
    variables[RESERVES] = xr.Variable(("cycle", "percent"), needed, {"long_name": "reserve was needed"})
    return variables


def of_leg(result: xr.Dataset, side: str, without_side: bool) -> xr.Dataset:
    """The variables over time of one leg, time first."""
    uncut = in_set("uncut")
    names = [
        str(name)
        for name in result.data_vars
        if "time" in (variable := result.variables[name]).dims
        and {*LABELS, "side"} & set(variable.dims)
        and np.issubdtype(variable.dtype, np.floating)
        and name not in uncut
    ]
    kept_too = [name for name in (STRENGTH, "group", "short_name") if name in result]
    leg = result[[*names, *kept_too]].set_coords(kept_too).transpose("time", ..., missing_dims="ignore")
    for label in LABELS:
        if label in leg.dims:
            # names of this side and, unless the side is dropped, names without a side
            sides = [side_of(str(name)) for name in leg[label].values]
            kept = (side,) if without_side else (side, OTHER)
            places = np.array([place for place, of in enumerate(sides) if of in kept], np.intp)
            leg = _named(leg, label, stretch(places))
    if without_side:
        names_of = [name for name in (*LABELS, "short_name") if name in leg.coords]
        plain = {name: [str(value)[:-2] for value in leg[name].values] for name in names_of}
        leg = leg.assign_coords({name: (leg[name].dims, labels) for name, labels in plain.items()})
        if "joint_axis_words" in leg.coords:  # "x of talus_r"
            words = leg["joint_axis_words"]
            without = [[split_side(text)[0] for text in row] for row in words.values.tolist()]
            leg = leg.assign_coords(joint_axis_words=(words.dims, np.array(without, str)))
    leg = leg.sel(side=side).drop_vars("side") if "side" in leg.dims else leg
    if without_side and "heading" in result:
        seen = [name for name in ("pelvis_angle", "trunk_angle") if name in result]
        leg = leg.assign({name: _seen_from_leg(result, name, side) for name in seen})
    if without_side and "axis" in leg.dims:
        # The mirror image of a left leg, of which moments are opposite.
        toward = xr.Variable(
            "axis", [-1.0 if side == "l" and axis == "y" else 1.0 for axis in leg["axis"].values]
        )
        inward = -toward if side == "l" else toward
        for name, vector in leg.data_vars.items():
            if "axis" in vector.dims:
                spread = str(name).endswith(SPREAD)
                along = along_heading(result, vector, spread=spread)
                mirror = 1.0 if spread else inward if is_moment(along) else toward
                leg = leg.assign({name: (along.dims, (along.variable * mirror).values, along.attrs)})
        about = (
            "x along the walking direction, y from either leg to the median plane, z up; a left leg mirrored"
        )
        leg["axis"].attrs["long_name"] = about
    return leg


def _named(leg: xr.Dataset, label: str, places: slice | Indices) -> xr.Dataset:
    """Some names of a label of variables over time first; numbers that have to be copied are copied in blocks."""
    if isinstance(places, slice):
        return leg.isel({label: places})
    whole = [name for name, array in leg.data_vars.items() if array.dims[0] == "time" and label in array.dims]
    some = leg.drop_vars(whole).isel({label: places})
    for name in whole:
        variable = leg.variables[name]
        copied = np.take(variable.values, places, axis=variable.dims.index(label))
        some[name] = variable.dims, copied, variable.attrs
    return some[[*leg.data_vars]]


def _seen_from_leg(result: xr.Dataset, name: str, side: str) -> xr.DataArray:
    """Angles of pelvis or trunk as seen from a leg, (time, rotation) [rad].

    Tilted forward; the side of the leg raised (obliquity); the side of the leg rotated forward, from the walking
    direction or, of a subject who walks backward, from the opposite direction. List and rotation of a result are
    positive with the left side up and to the left.
    """
    angle = result[name].transpose("time", ...)
    tilt, list_, rotation = angle.values.T
    sign = 1.0 if side == "r" else -1.0
    heading, backward = result["heading"].values, walks_backward(result)
    heading = heading if backward is None else np.where(backward.values, heading + np.pi, heading)
    turned = np.angle(np.exp(1j * (rotation - heading)))  # within half a turn
    seen = np.stack([tilt, -sign * list_, sign * turned], axis=1)
    segment = name.partition("_")[0]
    about = f"{segment} as seen from a leg: tilted forward, the side of the leg raised, the side of the leg forward"
    return angle.copy(data=seen).assign_attrs(long_name=about, description=about)


def short_path(path: str) -> str:
    """Name of a file with its folder, because many trials are called trial.toml."""
    return "/".join(Path(path).parts[-2:])


def cycle_names(cycles: xr.Dataset) -> list[str]:
    """Trial, leg and time of each cycle."""
    columns = (cycles[f"cycle_{name}"].values for name in ("trial", "side", "start", "end"))
    return [
        _cycle_name(_of_leg(str(trial), str(side)), start, end)
        for trial, side, start, end in zip(*columns, strict=True)
    ]


def _of_leg(trial: str, side: str, limb: str = "leg") -> str:
    """A trial and a leg in words; the trial alone of a model without sides."""
    return f"{short_path(trial)}, {SIDE_NAMES[side]} {limb}" if side in SIDE_NAMES else short_path(trial)


def _cycle_name(leg: str, start: float, end: float) -> str:
    return f"{leg}, {start:.3f} to {end:.3f} s"


def _has_strides(result: xr.Dataset, side: str, movement: str) -> bool:
    """Whether the cycles of a movement are strides of a leg."""
    return movement not in WITHOUT_STRIDES and is_leg(result, side)


def _measures(result: xr.Dataset, side: str, used: list[CoveredCycle], walks: bool) -> dict[str, xr.Variable]:
    """Measures of strides such as cadence and stance for these cycles, and landmarks of other movements.

    NaN where a strike was not recorded. Results without strides, such as of an OpenSim model, have the times of the
    cycles, length and speed of cycles over the ground, and the stance of strides by the ground force.
    """
    names = dict.fromkeys(name for cycle in used for name in cycle.landmarks)
    values = {name: np.array([cycle.landmarks.get(name, np.nan) for cycle in used]) for name in names}
    times = np.array([cycle.end - cycle.start for cycle in used], float)
    if not walks:
        values["cycle_time"] = times
    elif "stride" not in result.dims:
        values |= {"stride_time": times, "cadence": 120.0 / times} | _way_of_cycles(result, used)
        stances = np.array([cycle.stance for cycle in used])
        if np.isfinite(stances).any():
            values["stance_percent"] = stances
    measures = {name: xr.Variable("cycle", of, QUANTITIES[name].attrs) for name, of in values.items()}
    if not walks or "stride" not in result.dims:
        return measures
    rows = np.flatnonzero(result["stride_side"].values == side)
    starts = result["stride_start"].values[rows]
    for measure, variable in result.data_vars.items():
        if variable.dims == ("stride",):
            numbers = np.full(len(used), np.nan)
            for place, cycle in enumerate(used):
                same = rows[np.abs(starts - cycle.start) < 1e-6]
                numbers[place] = variable.values[same[0]] if same.size else np.nan
            measures[str(measure)] = xr.Variable("cycle", numbers, variable.attrs)
    return measures


def stride_measures(result: xr.Dataset, side: str) -> list[tuple[float, float, dict[str, float]]]:
    """Start and end [s] and the measures of the strides of a leg of which 95 % or more were recorded.

    Heel strikes come from the forces of the foot and, where no force shows them, from the motion. Empty for movements
    without strides.
    """
    cut = intervals(result, side)
    used = [cycle for cycle in covered_cycles(result, side, cut.cycles) if cycle.counts]
    if not used or not _has_strides(result, side, cut.movement):
        return []
    measures = {name: variable.values for name, variable in _measures(result, side, used, True).items()}
    return [
        (cycle.start, cycle.end, {name: float(values[k]) for name, values in measures.items()})
        for k, cycle in enumerate(used)
    ]


LEAST_WAY = 0.2
"""Least length of a stride over the ground; on a belt the body stays in its place [m]."""


def _way_of_cycles(result: xr.Dataset, used: list[CoveredCycle]) -> dict[str, Array]:
    """Length and speed of cycles from the displacement of the skeleton over the ground; empty if it stays in place."""
    if "skeleton_position" not in result or not used:
        return {}
    place = result["skeleton_position"].sel(axis=["x", "y"]).mean("skeleton_point").transpose("time", "axis")
    time = np.asarray(result["time"].values, float)
    ends = np.array([[cycle.start, cycle.end] for cycle in used])
    at = np.stack([np.interp(ends, time, row) for row in place.values.T.astype(float)])
    way = np.linalg.norm(at[:, :, 1] - at[:, :, 0], axis=0)
    if np.median(way) < LEAST_WAY:
        return {}
    return {"stride_length": way, "walking_speed": way / (ends[:, 1] - ends[:, 0])}


def _attributes(
    result: xr.Dataset, side: str, cut: Intervals, every: list[CoveredCycle], used: list[CoveredCycle]
) -> dict[str, object]:
    kept = {
        key: result.attrs[key] for key in (*SUBJECT_ATTRIBUTES, *METHODS, "inputs") if key in result.attrs
    }
    for key in {"shared_dofs", "extension_positive"} & set(kept):
        kept[key] = [stem for stem, its in map(split_side, texts(kept[key])) if its == side]
    leg = _of_leg(str(result.attrs.get("trial_file", "result")), side, frames.limb_name(result))
    unused = [
        (cycle.start, cycle.end, f"the frames cover {100.0 * cycle.coverage:.0f} % of it")
        for cycle in every
        if cycle not in used
    ]
    unused = sorted([*unused, *cut.left_out])
    left_out = [f"{_cycle_name(leg, start, end)}: {why}" for start, end, why in unused]

    def frames_of_cycles(mask: Mask, what: str) -> list[str]:
        """A sentence for every cycle with frames of the mask."""
        return [
            f"{_cycle_name(leg, cycle.start, cycle.end)}: {count_of(count, 'frame')} {what}"
            for cycle in used
            if (count := int(mask[cycle.index].sum()))
        ]

    return {
        **kept,
        "side": side,
        "normalization": "piecewise cubic Hermite interpolation (Fritsch and Butland 1984), not across invalid frames",
        "left_out": left_out or ([] if every else [f"{leg}: {cut.why_none}"]),
        "invalid": frames_of_cycles(frames.unsolved(result, side), "without a valid solution"),
        "reserves": frames_of_cycles(frames.solved_with_reserve(result, side), "with a reserve"),
    }


NO_TIME = 1e-9
"""Difference below which two times are equal [s]."""
NEIGHBORS = 3
"""Largest number of frames that determine the slope at a frame: three at an end, one to either side elsewhere."""


def sampled(time: Array, values: Array, at: Array, reach: float = 0.0, *, straight: bool = True) -> Array:
    """Interpolate values to other times by a cubic that does not overshoot and keeps straight lines straight.

    Piecewise cubic Hermite interpolation with the slopes of Fritsch and Butland (1984, SIAM J Sci Stat Comput
    5:300-304): a value between two frames lies between their values, and a linear function of time stays linear.

    Values (T, ...) at times (T,) are NaN in frames without a valid value, and the result (P, ...) at times (P,) [s]
    between two frames if one of them has no value, and outside of the frames. `reach` [s] beyond the first and the last
    frame the curve is extended: along its tangent if `straight`, but never below zero if no value is negative;
    otherwise with the value of this frame.
    """
    flat = values.reshape(time.size, -1)
    result = np.full((at.size, flat.shape[1]), np.nan)
    # The slopes are local: the frames around the wanted times give the same curve as all of them.
    start = max(int(np.searchsorted(time, at.min())) - NEIGHBORS, 0)
    stop = int(np.searchsorted(time, at.max())) + NEIGHBORS + 1
    patterns, which = np.unique(np.isfinite(flat[start:stop]), axis=1, return_inverse=True)
    for number, pattern in enumerate(patterns.T):
        columns = np.flatnonzero(which.ravel() == number)
        for first, end in [(start + a, start + b) for a, b in true_runs(pattern)]:
            early, late = (reach if first == 0 else 0.0), (reach if end == time.size else 0.0)
            inside = (at >= time[first] - early - NO_TIME) & (at <= time[end - 1] + late + ROUND_OFF)
            if end - first > 1 and inside.any():
                # the cubic through the frames and, beyond its ends, its tangents or the values there
                cubic = MonotoneCubic.through(time[first:end], flat[first:end, columns])
                nearest = np.clip(at[inside], time[first], time[end - 1])
                curve = cubic(nearest)
                if straight:
                    curve = curve + (at[inside] - nearest)[:, None] * cubic(nearest, 1)
                result[np.ix_(inside, columns)] = curve
    beyond = (at < time[0]) | (at > time[-1])
    if beyond.any():
        result[beyond] = np.maximum(result[beyond], np.where((flat < 0.0).any(axis=0), -np.inf, 0.0))
    return result.reshape(at.size, *values.shape[1:])
