"""Do coordinates fit this model on these loads? Units, rest, direction of walking, feet on the plates, single leaps.

Moments leap like coordinates in single frames. The sample x_k differs from the cubic through two samples on either side
of it by

    r_k = x_k - (4 (x_{k-1} + x_{k+1}) - x_{k-2} - x_{k+2}) / 6.

Where one sample alone is wrong by s, r is s there and -2/3 s in the frames beside it. Where a signal steps by s, r is
s/2 and -s/2 in two frames. So the three values differ between a leap and a step, and their size beside all other r of
the column separates a leap from noise. Later checks see the cubic in place of the leap. In walks of public models no
other r is 8 times the usual size; a column with an r of 20 times steps, or leaps for several frames.

A leap is an error from a change of a moment of `SERIOUS` on. What a leap of a coordinate changes depends on the mass
that it moves and on the filter: 15 degrees of an ankle change 1 N m, of a hip 66.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve._util.messages import count_of, few
from musclesolve._util.sides import twin
from musclesolve.errors import InputError
from musclesolve.laboratory.checks.case import SERIOUS
from musclesolve.laboratory.checks.files.times_units_axes import MOST_SKIPS, SLOWEST_STEP, skips
from musclesolve.laboratory.checks.forces.newtons_law import eroded
from musclesolve.laboratory.checks.forces.plate_zero_and_saturation import beside_cubic
from musclesolve.laboratory.checks.model.given_moments import LEAST_MOMENT_RMS, MomentCase
from musclesolve.laboratory.checks.model.load_units_and_axes import moved, on_bodies, sliding
from musclesolve.laboratory.checks.model.model_case import (
    SCALED,
    ModelCase,
    Motion,
    largest,
    loads_on,
    shared_forces,
)
from musclesolve.laboratory.checks.model.posture import STANDS, knows_the_ground, repeated_rows, walks
from musclesolve.laboratory.results.finding import Finding, Where, error_if, finding
from musclesolve.models.opensim.coordinate_motion import FEW_DEGREES, coordinate_motion
from musclesolve.models.opensim.inverse_dynamics import inverse_dynamics
from musclesolve.models.opensim.load_dynamics import COLUMN_ENDINGS, whole_motion
from musclesolve.models.opensim.model_body import ModelBody
from musclesolve.tables.sampled import Table

LOCKED = (2.5, "degrees", 180.0 / np.pi), (5.0, "mm", 1000.0)
"""Distance of a locked angle or way in the file from where the model locks it; 13 sound walks have exactly zero."""
DRIVEN = 0.1
"""Distance of a coordinate in the file from the constraint that determines it, as a share of its range: sound walks
have less than 0.001, in one of three units."""
FASTEST = 50.0
"""Median speed of the root that no person reaches [m/s]; in millimeters, walking has 300 (on a belt) to 1300."""
TRAVELS = 0.3
"""Displacement from which the body walks [m]."""
MOVING_RANGE = 5.0
"""Range of other angles from which an angle without any range is frozen [degrees]."""
CONSTANT = 1e-6
"""Range of a coordinate that is constant [rad or m]: the rounding of files."""
SOLE = (-0.03, 0.09)
"""Height of the lower one of heel and toe of the model above the center of pressure [m]: models of sound walks have
-0.005 to 0.056, by where their bodies have their origins and how thick the shoes are."""
STANDING = 0.6
"""Sides are exchanged if the exchange reduces the speed of loaded feet below this share."""
SLIDES, INNER = 0.4, 0.1
"""Speed [m/s] of the slower one of heel and toe while the foot carries the body, that far from the ends of the contact
[s]: sound walks have less than 0.12."""


def _joint_angles(model_body: ModelBody, fixed: Motion) -> dict[str, Array]:
    """The free angles (T,) of hips, knees and ankles that are shared, without joints within a foot [degrees]."""
    model = model_body.model
    beyond = {body for sole in fixed.soles for body in sole.bodies[1:]}
    inside = {name for joint in model.joints if joint.outboard.body in beyond for name in joint.coordinates}
    values = model_body.motion.by_name(model_body.motion.value)
    known = {
        name: model.coordinates[name] for name in model_body.dofs if name in values and name not in inside
    }
    angles = [name for name, one in known.items() if one.rotational and not one.locked]
    return {name: np.degrees(values[name]) for name in angles}


def locked_coordinates(body: ModelBody) -> Iterator[Finding]:
    """Find coordinates that the model locks, or determines by a constraint, with other values in the file.

    Files have coordinates of constraints in several units, or constant: only a motion of another shape counts.
    """
    moved, driven, stated = list[str](), list[str](), body.motion.by_name(body.motion.value)
    crossed = frozenset().union(*body.model.crossing.values()) if body.model.crossing else frozenset()
    for name, value in stated.items():
        coordinate = body.model.coordinates[name]
        size = float(np.abs(value - coordinate.default).max())
        limit, unit, factor = LOCKED[0 if coordinate.rotational else 1]
        if coordinate.locked and name in crossed and factor * size > limit:
            moved.append(f"{name} (up to {factor * size:.0f} {unit} away)")
        for coupler in body.model.couplers:
            if coupler.dependent == name and not coupler.closes_loop and {*coupler.independent} <= {*stated}:
                rule = coupler.function.value(np.stack([stated[by] for by in coupler.independent], axis=1))
                units = 1.0, np.pi / 180.0, 180.0 / np.pi
                apart = min(np.abs(value - scale * rule).max() for scale in units)
                if np.ptp(value) > limit / factor and apart > DRIVEN * np.ptp(value):
                    driven.append(name)
    for code, names in (("locked_moved", moved), ("locked_moved.driven", driven)):
        if names:
            yield finding(code, "error", {"moved": few(names, 6)}, Where(body.motion.file))


def angle_units(body: ModelBody, fixed: Motion) -> Iterator[Finding]:
    """Find angles that are radians read as degrees: an error where the body goes, or where it walks in radians."""
    angles = _joint_angles(body, fixed)
    most = max((float(np.abs(values).max()) for values in angles.values()), default=np.nan)
    if not most < FEW_DEGREES:
        return
    motion, known = body.motion, body.model.coordinates
    factor = np.where([known[name].rotational for name in motion.names], 180.0 / np.pi, 1.0)
    parts: dict[str, Any] = {key: factor * getattr(motion, key) for key in ("value", "speed", "acceleration")}
    turned = Motion.from_body(replace(body, motion=replace(motion, **parts), dynamics=None))
    traveled = float(np.linalg.norm(np.ptp(fixed.origin[:, [0, 2]], axis=0)))
    values = {"most": most, "limit": FEW_DEGREES, "radians": np.degrees(most), "way": traveled}
    goes = traveled > TRAVELS or walks(turned)
    yield finding("angle_units", error_if(goes), values, Where(body.motion.file))


def length_units(body: ModelBody, fixed: Motion) -> Iterator[Finding]:
    """Find translations of the root that are millimeters or centimeters read as meters."""
    speed = float(np.median(np.linalg.norm(np.gradient(fixed.origin, fixed.time, axis=0), axis=1)))
    if speed > FASTEST:
        values = {"speed": speed, "limit": FASTEST}
        yield finding("angle_units.lengths", "error", values, Where(body.motion.file))


def frozen_coordinates(body: ModelBody, fixed: Motion) -> Iterator[Finding]:
    """Find coordinates without any motion beside others that move, and angles of a walk that are copies of others."""
    angles = _joint_angles(body, fixed)
    copies = [
        f"{one} and {two}" for one, two in combinations(angles, 2)
        if np.ptp(angles[one]) > MOVING_RANGE and np.abs(angles[one] - angles[two]).max() < np.degrees(CONSTANT)
    ]  # fmt: skip
    if copies and walks(fixed):
        yield finding("angle_copied", "error", {"pairs": few(copies, 4)}, Where(body.motion.file))
    ranges = {name: float(np.ptp(values)) for name, values in angles.items()}
    if not any(size > MOVING_RANGE for size in ranges.values()):
        return
    angle, known = body.motion.by_name(body.motion.value), body.model.coordinates
    free = [name for joint in body.model.roots for name in joint.coordinates if name in angle]
    still = [name for name in free if not known[name].locked and np.ptp(angle[name]) < CONSTANT]
    # a planar motion in space has two angles and a way of the root at rest
    planar = len(still) > 2 and not all(known[name].rotational for name in still)
    frozen = [name for name, size in ranges.items() if np.radians(size) < CONSTANT]
    for name in (*frozen, *(() if planar else still)):
        unit, factor = ("degrees", 180.0 / np.pi) if known[name].rotational else ("m", 1.0)
        mean, moves = factor * float(angle[name].mean()), max(ranges.values())
        values = {"name": name, "value": mean, "unit": unit, "moves": moves}
        yield finding("frozen.coordinate", "warning", values, Where(body.motion.file))


def sides_of_coordinates(case: ModelCase) -> Iterator[Finding]:
    """Find coordinates of the right and the left leg that are exchanged: then loaded feet move, exchanged they stand.

    Exchanged loads would also let the feet stand, but not with exchanged legs.
    """
    motion, model, soles = case.body.motion, case.fixed.model, case.fixed.soles
    now = sliding(case)
    other = tuple(map(twin, motion.names))
    if now < SLIDES or len(soles) != 2 or not set(other) <= set(model.coordinates):
        return
    exchanged = Motion.from_body(replace(case.body, motion=replace(motion, names=other), dynamics=None))
    of_loads = {load.name: sole.body for load in case.loads for sole in soles if load.body not in sole.bodies}
    then = sliding(replace(case, fixed=exchanged, known={}))
    if then < STANDING * min(now, sliding(replace(case, loads=on_bodies(of_loads)(case.loads), known={}))):
        both = case.fixed, exchanged
        needs = (fixed.need - loads_on(fixed, case.loads, case.time) for fixed in both)
        moments = [shared_forces(case, *pair) for pair in zip(both, map(np.nan_to_num, needs), strict=True)]
        cost, values = largest(case.body, moments[1] - moments[0]), {"now": now, "then": then}
        yield finding("sides_swapped.coordinates", "error", values, Where(motion.file), cost=cost)


def feet_on_plates(case: ModelCase) -> Iterator[Finding]:
    """Find feet above or below the plates that carry them, and feet that slide while they carry the body."""
    count, where = max(1, round(INNER * case.fixed.rate)), Where(case.body.motion.file)
    off: dict[str, float] = {}
    for sole in case.fixed.soles:
        under = [case.point(load) for load in case.loads if case.sole_of(load) is sole]
        heights = ((sole.lowest - point[:, 1])[loaded] for _, point, loaded in under)
        height = np.concatenate([np.zeros(0), *heights])
        carried = sum((np.nan_to_num(force) for force, *_ in under), np.zeros((len(case.time), 3)))
        # a heel strike or a push-off alone has other heights than a stance
        if len(height) >= STANDS * case.fixed.rate and not SOLE[0] < float(np.median(height)) < SOLE[1]:
            off[sole.body] = float(np.median(height))
        carries = np.linalg.norm(carried, axis=1) > SCALED * case.fixed.model.weight
        standing = case.covered(case.loads, case.time) & eroded(carries, count)
        if standing.sum() >= case.fixed.fewest and knows_the_ground(case.fixed):
            speed = float(np.median(case.fixed.foot_speed(sole)[standing]))
            if speed > SLIDES:
                values = {"foot": sole.body, "speed": speed, "limit": SLIDES}
                yield finding("foot_slides", "warning", values, where, side=sole.side)
    if off:
        mean = float(np.mean(list(off.values())))
        repair = moved(np.array([0.0, mean - 0.5 * sum(SOLE), 0.0]))
        side = "above" if mean > 0.0 else "below"
        values = {"feet": " and ".join(off), "height": mean, "low": SOLE[0], "high": SOLE[1], "side": side}
        yield finding("foot_height", "warning", values, where, repair, cost=case.cost(repair))


USUAL, TIMES = 0.9, 20.0
"""Quantile of |r| that is usual in a column, and how many times this a leap exceeds."""
BESIDE = 0.5, 0.85
"""Share of a leap that r has beside it, of the opposite sign: 2/3, and noise."""
LEAST = np.radians(2.0), 0.02
"""Least leap of an angle [rad] and of a translation [m]; of a moment `LEAST_MOMENT_RMS`."""
OF_USUAL, BENT = 8.0, 2.0
"""Part of its usual step, one in so many, from which a coordinate shows lost frames, and how many times as usual half
of them bend there. 28 sound files have none, also with every third row or 2 degrees of noise."""
LARGE = 12.5
"""Leap of a coordinate, as a multiple of the least one, that is an error where no masses show what it changes."""
FEWEST = 20
"""Fewest frames that show what is usual."""


def single_leaps(values: Array, least: Array) -> Mask:
    """Samples (T, K) of columns that leap alone, by more than `least` (K,)."""
    if len(values) < FEWEST:
        return np.zeros(values.shape, bool)
    rest = beside_cubic(values)
    share = np.zeros_like(rest)
    large = np.abs(rest) > np.maximum(least, TIMES * np.quantile(np.abs(rest), USUAL, axis=0))
    beside = np.ones(values.shape, bool)
    for by in (-1, 1):
        np.divide(-np.roll(rest, by, axis=0), rest, out=share, where=large)
        beside &= (share > BESIDE[0]) & (share < BESIDE[1])
    return large & beside


def _without(values: Array, leaps: Mask) -> Array:
    """Columns (T, K) with the cubic in place of leaps."""
    return np.where(leaps, values - beside_cubic(values), values)


Leaps = tuple[list[int], dict[str, object], float, tuple[tuple[float, float], ...]]
"""Columns that leap in the same frames: their places, fields of the finding, how many times the least, and times."""


def _together(table: Table, leaps: Mask, units: Array, least: Array) -> Iterator[Leaps]:
    """Collect the leaps (T, K) of columns in some units (K,) that share their frames; the largest one is shown."""
    size, columns_of = beside_cubic(table.values), defaultdict[bytes, list[int]](list)
    for k in np.flatnonzero(leaps.any(axis=0)).tolist():
        columns_of[leaps[:, k].tobytes()].append(k)
    for columns in columns_of.values():
        frames = np.flatnonzero(leaps[:, columns[0]])
        share = np.abs(size[frames][:, columns]) / least[columns]
        row, column = np.unravel_index(int(share.argmax()), share.shape)
        at, shown = frames[row], columns[column]
        others = [table.names[k] for k in columns if k != shown]
        more = f", and in {count_of(len(frames) - 1, 'more frame')}" if len(frames) > 1 else ""
        more += f"; {few(others, 3)} leap{'s' * (len(others) == 1)} there, too" if others else ""
        said: dict[str, object] = {"name": table.names[shown], "unit": units[shown], "more": more}
        said |= {"time": table.time[at], "value": table.values[at, shown], "size": size[at, shown]}
        times = tuple((time, time) for time in table.time[frames].tolist())
        yield columns, said, float(share.max()), times


def _angles(body: ModelBody) -> Mask:
    """Coordinates of the motion that are angles; of a spline that turns a joint OpenSim counts them as parameters."""
    model, names = body.model, body.every_motion.names
    return np.array([model.coordinates[name].rotational or name in model.turning for name in names])


def _in_degrees(body: ModelBody, values: Array, leaps: Mask) -> Iterator[Leaps]:
    """Collect the leaps (T, K) of coordinates, whose angles are said in degrees."""
    angles = _angles(body)
    units, factor = np.where(angles, "degrees", "m"), np.where(angles, 180.0 / np.pi, 1.0)
    shown = Table(body.every_motion.time, body.every_motion.names, values * factor, None, Path())
    return _together(shown, leaps, units, factor * np.where(angles, *LEAST))


def leaps_of_coordinates(body: ModelBody) -> Iterator[Finding]:
    """Find coordinates that leap in single frames of the file, before any filter."""
    motion = body.every_motion
    if motion.measured is None:
        return
    leaps = list(_in_degrees(body, motion.measured, _leaps_of(body, motion.measured)))
    now = _moments(body) if leaps else None
    for places, said, size, times in leaps:
        cost, grave = None, size > LARGE
        if now is not None and (then := _moments(without_leaps(body, places))) is not None:
            cost = largest(body, now - then)
            grave = cost is not None and cost.size > SERIOUS * body.mass
        yield finding("single_leap", error_if(grave), said, Where(motion.file, times=times), cost=cost)


def steps_of_coordinates(body: ModelBody, fixed: Motion) -> Iterator[Finding]:
    """Find coordinates that step, or leap for several frames: they leave their curve as far as a leap does."""
    motion = body.every_motion
    if motion.measured is None or len(motion.time) < FEWEST:
        return
    values = _without(motion.measured, _leaps_of(body, motion.measured))
    rest = np.abs(beside_cubic(values))
    steps = rest > np.maximum(np.where(_angles(body), *LEAST), TIMES * np.quantile(rest, USUAL, axis=0))
    leaps = sorted(_in_degrees(body, values, steps & _is_free(body)), key=lambda entry: -entry[2])
    for _, said, size, times in leaps[:1]:
        others = f"; {count_of(len(leaps) - 1, 'other leap')} of other columns" * bool(leaps[1:])
        said["more"] = f"{said['more']}{others}"
        yield finding("single_leap.step", error_if(size > LARGE), said, Where(motion.file, times=times))


def _skips_of(columns: Array) -> tuple[Indices, Array]:
    """See `skips`, of columns (T, K) in units of their usual steps; white noise jumps, and bends no more than usual."""
    columns = columns[:, np.ptp(columns, axis=0) > CONSTANT]
    step = np.diff(columns, axis=0)
    if not step.size:
        return np.zeros(0, int), np.zeros(0)
    bend = np.abs(step[1:-1] - 0.5 * (step[:-2] + step[2:]))
    bent = np.median(bend / np.maximum(np.quantile(bend, USUAL, axis=0), 1e-12), axis=1)
    unit = np.sqrt(np.mean(step**2, axis=0)) / (OF_USUAL * SLOWEST_STEP)
    at, ratio = skips((columns / unit)[:, :, None])
    return at[bent[at - 1] > BENT], ratio[bent[at - 1] > BENT]


def skipped_frames(body: ModelBody) -> Iterator[Finding]:
    """Find rows of the file that repeat earlier ones, or else instants at which all coordinates jump together."""
    motion = body.every_motion
    if motion.measured is None or len(motion.time) < FEWEST:
        return
    if repeated := list(repeated_rows(motion.measured, motion.time, "coordinates", Where(motion.file))):
        yield from repeated
        return
    at, ratio = _skips_of(motion.measured[:, _is_free(body)])
    if 0 < at.size <= MOST_SKIPS:
        lost = count_of(sum(max(1, round(times) - 1) for times in ratio.tolist()), "frame")
        where = Where(motion.file, times=tuple((motion.time[k], motion.time[k + 1]) for k in at.tolist()))
        values = {"points": "coordinates", "ratio": ratio[0], "lost": lost}
        yield finding("frames_skipped", "error", values, where)


def _moments(body: ModelBody) -> Array | None:
    """Moments (T, m) of the shared coordinates by inverse dynamics [N m].

    None where masses or free angles lack, and with predicted loads, which change with the motion.
    """
    model, loads = body.model, body.dynamics.loads if body.dynamics and body.moment_table is None else ()
    if model.mass_faults or not model.mass > 0.0 or body.settings.files.predicted:
        return None
    try:
        dynamics = inverse_dynamics(model, whole_motion(model, body.motion), loads)
    except InputError:
        return None
    return np.stack([dynamics.column(name) for name in body.dofs], axis=1)


def _is_free(body: ModelBody) -> Mask:
    """Coordinates of the motion that follow from no other."""
    return ~np.isin(body.every_motion.names, [coupler.dependent for coupler in body.model.couplers])


def _leaps_of(body: ModelBody, measured: Array) -> Mask:
    """Samples (T, K) of the coordinates that leap alone; what follows from others is not read from the file."""
    return single_leaps(measured, np.where(_angles(body), *LEAST)) & _is_free(body)


def without_leaps(body: ModelBody, places: Sequence[int] = ()) -> ModelBody:
    """The body along its coordinates without single leaps, of all columns or some; its loads act as they did."""
    motion, measured = body.every_motion, body.every_motion.measured
    assert measured is not None
    leaps = _leaps_of(body, measured) & (np.isin(np.arange(len(motion.names)), places) if places else True)
    values = motion.by_name(_without(measured, leaps))
    every = coordinate_motion(body.model, {"time": motion.time, **values}, motion.cutoff_hz)
    every = replace(every, file=motion.file)
    return replace(body, motion=every.frames(np.isin(every.time, body.motion.time)), every_motion=every)


def leaps_of_moments(case: MomentCase) -> Iterator[Finding]:
    """Find moments that leap in single frames."""
    table = case.table
    columns = np.array([name.endswith(COLUMN_ENDINGS) for name in table.names])
    leaps = single_leaps(table.values, np.full(len(columns), LEAST_MOMENT_RMS)) & columns
    units = np.array(["N m" if name.endswith("_moment") else "N" for name in table.names])
    for places, said, size, times in _together(table, leaps, units, np.ones(len(columns))):
        cells = leaps & np.isin(np.arange(len(columns)), places)

        def repair(of: Table, cells: Mask = cells) -> Table:
            return replace(of, values=_without(of.values, cells))

        grave = size > SERIOUS * case.fixed.model.mass
        yield case.fault("single_leap", error_if(grave), said, repair, times=times)
