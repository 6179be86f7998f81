"""Cycles of a result over 0 to 100 %: from heel strike to heel strike, or of another movement."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array, Mask, true_runs
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.checks import check_integer
from musclesolve._util.message_text import as_text
from musclesolve._util.sides import OTHER, SIDE_NAMES, side_of
from musclesolve.errors import InputError
from musclesolve.results import movement as movements
from musclesolve.results.cycles.cycle_coverage import CoveredCycle, covered_cycles
from musclesolve.results.cycles.movement_landmarks import Intervals, intervals, strides
from musclesolve.results.dataset import frame_validity as frames
from musclesolve.results.dataset.checked import checked_result
from musclesolve.results.dataset.result_quantities import BALANCE_ERROR, OF_TENDONS, along_heading

POINTS = 101
STRENGTH = "max_isometric_force"
LANDING = "landing"
COVERAGE = {
    "coverage": "share of the cycle with frames",
    "coverage_moment": "share of the cycle with moments: ground forces are known and the motion is plausible",
    "coverage_muscle": "share of the cycle with muscle forces",
    "coverage_stance": "share of the stance with moments; NaN where the toe-off is not known",
}
"""Coordinates over cycle."""
LABELS = ("dof", "muscle", "joint")
"""Dimensions whose names end in the side they belong to."""
OF_SHARING = {
    *("activation", "muscle_force", "joint_reaction", "joint_reaction_moment", "contact_force_component"),
    *("knee_contact_medial", "knee_contact_lateral", "patellofemoral_force"),
    *("reserve_moment", "unassigned_moment"),
    *OF_TENDONS,
}
"""What has no valid value in a frame without a valid solution."""
OF_FORCES = {
    *("joint_moment", "joint_power", "joint_reaction_net"),
    *("ground_reaction_force", "ground_free_moment"),
}
"""What has no valid value in a frame of an implausible motion, or whose ground forces do not balance it."""
SUBJECT = ("subject", "subject_mass_kg", "subject_stature_m")
METHODS = (
    *("musclesolve_version", "cost", "solver", "filter_method", "filter_order", "cutoff_hz", "cutoff_choice"),
    *("hip_method", "knee_method", "ankle_method"),
    *("consistency_method", "consistency_derivatives", "consistency_weights"),
    *(
        "muscle_database",
        "muscle_parameters",
        "muscle_person",
        "passive",
        "strength",
        "fiber_lengths",
        "shared_dofs",
    ),
    *("tendon", "tendon_strain", "curves"),
)
"""Attributes that say how the numbers were made, as far as it is one choice for many recordings."""
RESERVES = "with_reserve"
"""Where a value comes from a frame that needed a reserve."""
ROUND_OFF = 1e-6
LEFT_OUT = {"center_of_pressure", "cost", "kkt_residual", BALANCE_ERROR}
"""Places in the laboratory, which differ from cycle to cycle, and figures of the solution."""


def cycles(
    result: xr.Dataset,
    side: Literal["r", "l"],
    *,
    points: int = POINTS,
    partial: bool = False,
    without_side: bool = False,
) -> xr.Dataset:
    """Every cycle of the movement of a result, of one leg, at the same percentages.

    What a cycle is depends on the movement, which the trial file states (``movement``, ``cycles_s`` of [time]) or
    motion and forces show: a stride from heel strike to heel strike, the contact of a jump, the rise from a seat, a
    squat (module ``movement_landmarks``). Between the frames the curves are interpolated by `sampled`, but not next to
    a frame without a valid value. An end up to 1 % of the cycle, or less than a frame, beyond the first or last frame
    counts as reached.

    A cycle counts if 95 % of it or more lie between frames, forces or not: what was not measured, and what has no
    valid solution, is NaN, so that a stance on the only plate of a laboratory counts as stance, and its swing for the
    angles alone.

    Args:
        result: what ``musclesolve.run`` returns or ``result.nc`` holds.
        side: "r" or "l".
        points: number of percentages from 0 to 100.
        partial: whether cycles count of which the frames cover less than 95 %, too.
        without_side: name degrees of freedom, muscles and joints without their side, so that the legs can be compared
            or put together. What belongs to no side is left out; of forces x points along the walking direction and
            y from either leg to the median plane.

    Returns:
        Dataset over cycle, percent, dof, muscle, joint and axis with every quantity of this leg over time, except
        places in the laboratory; over cycle the measures of the stride, and landmarks as ``deepest_percent``.
        with_reserve says where a reserve was needed: muscle forces are a lower bound there. Coordinates over cycle:
        cycle_start, cycle_end [s], cycle_trial, cycle_side, cycle_movement; coverage, coverage_moment,
        coverage_muscle: share of the cycle with frames, with moments, with muscle forces, 0 to 1; coverage_stance:
        of the stance with moments, NaN where its end is not known; missing: what is missing in words; over cycle and
        muscle max_isometric_force [N]. The attributes left_out, invalid and reserves list cycles that are left out,
        that have frames without a valid solution, or reserves.

    Raises:
        InputError: no result (``checked.checked_result``), no such leg in it, or fewer than two points.
    """
    _check(result, side, points)
    return _cut(result, side, intervals(result, side), points, partial, without_side)


def gait_cycles(
    result: xr.Dataset,
    side: Literal["r", "l"],
    *,
    points: int = POINTS,
    partial: bool = False,
    without_side: bool = False,
) -> xr.Dataset:
    """Every gait cycle of one leg, from heel strike to heel strike, whatever the movement; otherwise as `cycles`.

    Args:
        result, side, points, partial, without_side: see `cycles`.

    Returns:
        What `cycles` returns.

    Raises:
        InputError: see `cycles`.
    """
    _check(result, side, points)
    return _cut(result, side, strides(result, side), points, partial, without_side)


def _check(result: xr.Dataset, side: str, points: int) -> None:
    if side not in (sides := frames.sides(checked_result(result))):
        raise InputError(
            f"the leg {as_text(side)} is not in this result",
            code="bad_result",
            file=result.encoding.get("source"),
            expected=f"one of its legs: {', '.join(sides)}",
            remedy='compute both legs: musclesolve run --side both, or ms.run(..., side="both")',
        )
    check_integer(points, "points", 2)


def _cut(
    result: xr.Dataset, side: str, found: Intervals, points: int, partial: bool, without_side: bool
) -> xr.Dataset:
    percent = np.linspace(0.0, 100.0, points)
    every = covered_cycles(result, side, found.cycles)
    used = [cycle for cycle in every if partial or cycle.counts]
    own = _own(result, side, without_side)
    coords = {str(name): coord.variable for name, coord in own.coords.items() if "time" not in coord.dims}
    walks = found.movement not in (movements.JUMP, movements.CHAIR, movements.SQUAT, LANDING)
    about = {"units": "%", "long_name": "gait cycle" if walks else f"{found.movement} cycle"}
    coords["percent"] = xr.Variable("percent", percent, about)
    source = str(result.attrs.get("trial_file", result.encoding.get("source", "")))
    for name, text in {"side": side, "trial": source, "movement": found.movement}.items():
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
    variables = _curves(result, side, own, used, percent) | _measures(result, side, used, walks)
    # chunks and types of the file that a result was read from do not fit its cycles
    data = xr.Dataset(variables, coords, _attributes(result, side, found, every, used)).drop_encoding()
    data.encoding["source"] = result.encoding.get("source")
    return data


def _curves(
    result: xr.Dataset, side: str, own: xr.Dataset, used: list[CoveredCycle], percent: Array
) -> dict[str, xr.Variable]:
    """The quantities of a leg, and where they come from frames with a reserve, over cycle and percent."""
    time = np.asarray(result["time"].values, dtype=float)

    def cut(values: Array, straight: bool) -> Array:
        cube = np.zeros((len(used), percent.size, *values.shape[1:]))
        for place, cycle in enumerate(used):
            at = cycle.start + 0.01 * percent * (cycle.end - cycle.start)
            cube[place] = sampled(time, values, at, cycle.reach, straight=straight)
        return cube

    failed, credible = frames.failed(result, side), frames.credible(result, side)
    curves: dict[str, Array] = {}
    for name, variable in own.data_vars.items():
        values = np.array(variable.values, dtype=float)
        if name in OF_SHARING:
            values[failed] = np.nan
        if name in OF_FORCES:
            values[~credible] = np.nan
        curves[str(name)] = values
    curves[RESERVES] = np.where(failed, np.nan, frames.solved_with_reserve(result, side).astype(float))
    cubes: dict[str, Array] = {}
    for straight in (True, False):  # all curves at once, each a column
        flat = {
            name: values.reshape(time.size, -1)
            for name, values in curves.items()
            if straight == (name not in OF_SHARING and name != RESERVES)
        }
        if flat:
            ends = np.cumsum([values.shape[1] for values in flat.values()])[:-1]
            parts = np.split(cut(np.concatenate(list(flat.values()), axis=1), straight), ends, axis=2)
            cubes |= dict(zip(flat, parts, strict=True))
    variables = {
        str(name): xr.Variable(
            ("cycle", "percent", *variable.dims[1:]),
            cubes[str(name)].reshape(len(used), percent.size, *variable.shape[1:]),
            variable.attrs,
        )
        for name, variable in own.data_vars.items()
    }
    # The curve leaves 0 only between frames of which one or both needed a reserve.
    needed = cubes[RESERVES][..., 0] > ROUND_OFF
    variables[RESERVES] = xr.Variable(("cycle", "percent"), needed, {"long_name": "reserve was needed"})
    return variables


def _own(result: xr.Dataset, side: str, without_side: bool) -> xr.Dataset:
    """The variables over time of one leg, time first."""
    names = [
        str(name)
        for name in result.data_vars
        if "time" in (variable := result.variables[name]).dims
        and {*LABELS, "side"} & set(variable.dims)
        and np.issubdtype(variable.dtype, np.floating)
        and name not in LEFT_OUT
    ]
    kept_too = [STRENGTH] if STRENGTH in result else []
    own = result[[*names, *kept_too]].set_coords(kept_too)
    own = own.drop_vars(frames.MUSCLE_SIDE, errors="ignore").transpose("time", ...)
    for label in LABELS:
        if label in own.dims:
            # names of this side and, unless the side is dropped, those that have none
            sides = [side_of(str(name)) for name in own[label].values]
            kept = (side,) if without_side else (side, OTHER)
            own = own.isel({label: [place for place, of in enumerate(sides) if of in kept]})
    if without_side:
        names_of = [name for name in (*LABELS, "short_name") if name in own.coords]
        plain = {name: [str(each)[:-2] for each in own[name].values] for name in names_of}
        own = own.assign_coords({name: (own[name].dims, each) for name, each in plain.items()})
    own = own.sel(side=side).drop_vars("side") if "side" in own.dims else own
    if without_side and "axis" in own.dims:
        toward = xr.Variable(
            "axis", [-1.0 if side == "l" and axis == "y" else 1.0 for axis in own["axis"].values]
        )
        vectors = {
            name: along_heading(result, vector)
            for name, vector in own.data_vars.items()
            if "axis" in vector.dims
        }
        own = own.assign(
            {
                name: (vector.dims, (vector.variable * toward).values, vector.attrs)
                for name, vector in vectors.items()
            }
        )
        about = "x along the walking direction, y from either leg to the median plane, z up"
        own["axis"].attrs["long_name"] = about
    return own


def short_path(path: str) -> str:
    """A file with its folder: trials are often all called trial.toml."""
    return "/".join(Path(path).parts[-2:])


def cycle_names(cycles: xr.Dataset) -> list[str]:
    """Trial, leg and time of each cycle."""
    columns = (cycles[f"cycle_{name}"].values for name in ("trial", "side", "start", "end"))
    return [
        _cycle_name(f"{short_path(str(trial))}, {SIDE_NAMES[str(side)]} leg", start, end)
        for trial, side, start, end in zip(*columns, strict=True)
    ]


def _cycle_name(leg: str, start: float, end: float) -> str:
    return f"{leg}, {start:.3f} to {end:.3f} s"


def _measures(result: xr.Dataset, side: str, used: list[CoveredCycle], walks: bool) -> dict[str, xr.Variable]:
    """Cadence, stance and the like of the strides that are these cycles, and landmarks of other movements.

    NaN where a strike was not recorded. Without strides, as of an OpenSim model, the times of the cycles are known, and
    of strides their stance by the ground force.
    """
    meaning = bundled_toml("musclesolve.results.dataset", "variables.toml")
    measures = dict[str, xr.Variable]()
    for name in dict.fromkeys(name for cycle in used for name in cycle.landmarks):
        values = np.array([cycle.landmarks.get(name, np.nan) for cycle in used])
        measures[name] = xr.Variable("cycle", values, meaning[name])
    if not walks:
        return measures | {"cycle_time": _times(used, meaning["cycle_time"])}
    if "stride" not in result.dims:
        times = _times(used, meaning["stride_time"])
        measures |= {
            "stride_time": times,
            "cadence": xr.Variable("cycle", 120.0 / times.values, meaning["cadence"]),
        }
        stances = np.array([cycle.stance for cycle in used])
        if np.isfinite(stances).any():
            measures["stance_percent"] = xr.Variable("cycle", stances, meaning["stance_percent"])
        return measures
    own = np.flatnonzero(result["stride_side"].values == side)
    starts = result["stride_start"].values[own]
    for measure, variable in result.data_vars.items():
        if variable.dims == ("stride",):
            values = np.full(len(used), np.nan)
            for place, cycle in enumerate(used):
                same = own[np.abs(starts - cycle.start) < 1e-6]
                values[place] = variable.values[same[0]] if same.size else np.nan
            measures[str(measure)] = xr.Variable("cycle", values, variable.attrs)
    return measures


def _times(used: list[CoveredCycle], attrs: dict[str, str]) -> xr.Variable:
    return xr.Variable("cycle", np.array([cycle.end - cycle.start for cycle in used], float), attrs)


def _attributes(
    result: xr.Dataset, side: str, found: Intervals, every: list[CoveredCycle], used: list[CoveredCycle]
) -> dict[str, object]:
    kept = {key: result.attrs[key] for key in (*SUBJECT, *METHODS, "inputs") if key in result.attrs}
    if "shared_dofs" in kept:
        dofs = map(str, np.atleast_1d(kept["shared_dofs"]).tolist())
        kept["shared_dofs"] = [dof[:-2] for dof in dofs if dof.endswith(f"_{side}")]
    leg = f"{short_path(str(result.attrs.get('trial_file', 'result')))}, {SIDE_NAMES[side]} leg"
    unused = [
        (cycle.start, cycle.end, f"the frames cover {100.0 * cycle.coverage:.0f} % of it")
        for cycle in every
        if cycle not in used
    ]
    unused = sorted([*unused, *found.left_out])
    left_out = [f"{_cycle_name(leg, start, end)}: {why}" for start, end, why in unused]

    def counted(mask: Mask, what: str) -> list[str]:
        """A sentence for every cycle with frames of the mask."""
        counts = [(cycle, int(mask[cycle.index].sum())) for cycle in used]
        return [
            f"{_cycle_name(leg, cycle.start, cycle.end)}: {count} frame{'s' if count > 1 else ''} {what}"
            for cycle, count in counts
            if count
        ]

    return {
        **kept,
        "side": side,
        "normalisation": "piecewise cubic Hermite interpolation (Fritsch and Butland 1984), not across invalid frames",
        "left_out": left_out or ([] if every else [f"{leg}: {found.why_none}"]),
        "invalid": counted(frames.unsolved(result, side), "without a valid solution"),
        "reserves": counted(frames.solved_with_reserve(result, side), "with a reserve"),
    }


NO_TIME = 1e-9
"""Times [s] nearer than this are the same."""
NEIGHBOURS = 3
"""The slope at a frame follows from this many frames at most: three at an end, one to either side elsewhere."""


def sampled(time: Array, values: Array, at: Array, reach: float = 0.0, *, straight: bool = True) -> Array:
    """Values at other times, by a cubic through the frames that neither overshoots nor bends what is straight.

    Piecewise cubic Hermite interpolation with the slopes of Fritsch and Butland (1984, SIAM J Sci Stat Comput
    5:300-304): between two frames a value lies between theirs, a linear function of time stays linear.

    Values (T, ...) at times (T,) are NaN in frames without a valid value, and the result (P, ...) at times (P,) [s]
    between two frames of which one has none, and outside of the frames. `reach` [s] beyond the first and the last one
    the curve is extended: along its tangent if `straight`, but what is nowhere negative not below zero; otherwise
    it keeps the value of that frame.
    """
    from scipy.interpolate import PchipInterpolator

    flat = values.reshape(time.size, -1)
    result = np.full((at.size, flat.shape[1]), np.nan)
    # The slopes are local: the frames around the wanted times give the same curve as all of them.
    start = max(int(np.searchsorted(time, at.min())) - NEIGHBOURS, 0)
    stop = int(np.searchsorted(time, at.max())) + NEIGHBOURS + 1
    patterns, which = np.unique(np.isfinite(flat[start:stop]), axis=1, return_inverse=True)
    for number, pattern in enumerate(patterns.T):
        columns = np.flatnonzero(which.ravel() == number)
        for first, end in [(start + a, start + b) for a, b in true_runs(pattern)]:
            early, late = (reach if first == 0 else 0.0), (reach if end == time.size else 0.0)
            inside = (at >= time[first] - early - NO_TIME) & (at <= time[end - 1] + late + ROUND_OFF)
            if end - first > 1 and inside.any():
                # the cubic through the frames and, beyond its ends, its tangents or the values there
                cubic = PchipInterpolator(time[first:end], flat[first:end, columns], axis=0)
                nearest = np.clip(at[inside], time[first], time[end - 1])
                curve = cubic(nearest)
                if straight:
                    curve = curve + (at[inside] - nearest)[:, None] * cubic(nearest, 1)
                result[np.ix_(inside, columns)] = curve
    beyond = (at < time[0]) | (at > time[-1])
    if beyond.any():
        result[beyond] = np.maximum(result[beyond], np.where((flat < 0.0).any(axis=0), -np.inf, 0.0))
    return result.reshape(at.size, *values.shape[1:])
