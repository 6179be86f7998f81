"""Is every column of a file of moments the moment of its coordinate?

While one foot alone carries the body, the forces of the root in the file and the motion give the wrench on this foot,

    w = J_root^-T (tau_0,root - tau_root),      tau = tau_0 - J^T w,

and with it the moments of all joints (`due_with_root`), to 1 to 3 N m rms where model, motion and moments belong
together. Each column is compared with its moment by the robust line tau_file = k tau + b. For moments of another model
(arms, other coordinates) k is 0.5 to 1 in all columns, the same on both sides within 20 %, and b up to 3 N m.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from musclesolve._util.arrays import Array, at_times, true_runs
from musclesolve._util.message_text import few
from musclesolve._util.sides import has_side, split_side, with_side
from musclesolve.checking.forces.newtons_law import eroded
from musclesolve.checking.model.given_moments import (
    LEAST_MOMENT_RMS,
    MomentCase,
    changed_columns,
    foreign_columns,
)
from musclesolve.checking.model.load_units_and_axes import CLEAR
from musclesolve.checking.model.model_case import FEWEST_FRAMES, MEMORY, single_supports, standard_errors
from musclesolve.checking.model.posture import ANGLES, held_stretches, walks
from musclesolve.motion.signals.low_pass import f90
from musclesolve.opensim.inverse_dynamics import device_forces, joint_forces
from musclesolve.opensim.kinematics import body_motion
from musclesolve.opensim.model import GROUND
from musclesolve.pipeline.opensim.found_loads import coordinate_columns, foot_pushes
from musclesolve.results.finding import Finding, Severity, finding

LARGE, SMALL = 8.0, 3.0
"""Least rms of a moment that shows its column [N m]; of moments of this model and motion."""
BELONGS = 0.996
"""Median correlation of the columns from which moments, model and motion belong together."""
UNEVEN = 1.6
"""Ratio of the factor k of a column to the median that is another scale where its twin has the scale of the others."""
TWIN = 1.25
"""Ratio of the factors k of both sides from which one of them has another scale."""
UNLIKE = 2.0
"""Ratio of the factor k of a column to the median of the legs from which it has another scale on both sides."""
OWN = 1.13
"""Ratio of the factor k of a column to the median where moments belong together, which have 0.94 to 1.06. It grows by
1 N m over the rms of the moment."""
LEFT, LEFT_AT_MOST = (2.5, 0.15), (8.0, 0.25)
"""Rms and greatest distance from the line, in N m and as a share of the rms and of the peak of the moment, that columns
which belong do not have: they come to half of it, at most 0.65."""
LEAKS, LEAKED = 3.2, 0.6
"""Rms [N m] of the distance that another column explains, and its share of the power; sound ones have 2.6 and 0.4."""
LEGS, KNEES = 1.13, 1.22
"""Ratios of the scales of both legs, and of their knees, that no body has: six walks come to 1.07 and 1.12."""
CUT = 4, 5.0
"""Steps during which a moment keeps its greatest value where its peak is cut, and the change beside them over the
rounding."""
OFFSET = 6.0
"""Constant b that no moment has [N m]."""
LIKE = 0.85
"""Correlation from which a column follows a moment."""
SINGLE_S = 0.05
"""Margin to the ends of a single support, in which the other foot may still touch the ground [s]."""
LOST = 0.3
"""Share of the frames with a foot beside the plates from which the root shows no moment: filters spread its load."""
KEPT = 0.8
"""Share of the frames that the robust line keeps, those nearest to it."""
LOWEST_F90 = 4.2
"""Least f90 of the rates of moments of a walking person [Hz]; public files have 6.3 to 7.5, filtered at 2.5 Hz 2.9 to
3.6."""


@dataclass(frozen=True)
class Line:
    """The robust line of a column over a moment: slope k, constant b [N m], correlation r over the frames kept."""

    slope: float
    constant: float
    correlation: float


def line(due: Array, given: Array) -> Line:
    """Fit given = k due + b to the frames (F,) nearest to the line."""
    kept = np.ones(len(due), bool)
    slope = constant = 0.0
    for _ in range(8):
        slope, constant = np.polyfit(due[kept], given[kept], 1)
        off = np.abs(given - slope * due - constant)
        kept = off <= np.quantile(off, KEPT)
    (of_due, both), (_, of_given) = np.cov(due[kept], given[kept])
    return Line(float(slope), float(constant), float(both / (np.sqrt(of_due * of_given) + 1e-12)))


def due_with_root(case: MomentCase) -> Array | None:
    """Moments (T, K) of all coordinates by motion and forces of the root in the file; NaN but in single support.

    None where the file lacks forces of the root, or states them of angular velocities.
    """
    fixed, table = case.fixed, case.table
    model = fixed.model
    root = next(joint for joint in model.joints if joint.inboard.body == GROUND)
    columns = coordinate_columns(model, table)
    if len(root.coordinates) != 6 or not columns.keys() >= {*root.coordinates} or root.speeds_are_angular:
        return None
    values = table.values[:, [columns[name] for name in root.coordinates]]
    inside = np.clip(fixed.time, table.time[0], table.time[-1])
    given = fixed.smooth(np.nan_to_num(at_times(table.time, values, inside)))
    numbers = [model.coordinate_number[name] for name in root.coordinates]
    pose = body_motion(model, fixed.motion.value)
    of_devices, on_coordinates = device_forces(model, fixed.motion, fixed.bodies)
    alone = joint_forces(model, pose, fixed.need - of_devices) - on_coordinates
    due = np.full(alone.shape, np.nan)
    for foot, swings in single_supports(fixed):
        single = eroded(swings, round(SINGLE_S * fixed.rate))
        push = foot_pushes(model, pose, [foot])
        of_root = np.linalg.pinv(push[:, numbers], rcond=1e-9)
        amount = np.einsum("tcr,tr->tc", of_root, given - alone[:, numbers])
        due[single] = (alone + np.einsum("tkc,tc->tk", push, amount))[single]
    return due


def held_moments(case: MomentCase) -> Iterator[Finding]:
    """Find moments that keep exactly one value, zero or another, or one rate, for a part of the motion."""
    table, shared = case.table, {f"{name}_moment" for name in case.body.dofs}
    columns = [k for k, name in enumerate(table.names) if name in shared]
    first, last = case.body.time[[0, -1]]
    inside = (table.time >= first - 1e-6) & (table.time <= last + 1e-6)
    if inside.sum() < FEWEST_FRAMES:
        return
    names = [table.names[k] for k in columns]
    size = np.nanmax(np.abs(table.values[:, columns]), axis=0, initial=0.0) > LEAST_MOMENT_RMS
    time, moments = table.time[inside], table.values[inside][:, columns]
    for name, begin, end, value, rate in held_stretches(moments, time, names):
        k = names.index(name)
        if size[k] and _is_apart(time, moments[:, k], begin, end, rate):
            said = {"name": name.removesuffix("_moment"), "first": begin, "last": end, "value": value + 0.0}
            severity: Severity = "warning" if rate else "error"
            code = "moment_zero.line" if rate else "moment_zero.stretch"
            yield case.fault(code, severity, said, times=((begin, end),))
    for name, moment in zip(names, moments.T, strict=True):
        steps = np.abs(np.diff(moment))
        rounding = float(steps.min(where=steps > 0.0, initial=np.inf))
        for most in (np.nanmax(moment), np.nanmin(moment)):
            for first, stop in true_runs(moment == most):
                beside = min(steps[first - 1], steps[stop - 1]) if 0 < first and stop < len(moment) else 0.0
                if stop - first > CUT[0] and beside > CUT[1] * rounding and abs(most) > LEAST_MOMENT_RMS:
                    begin, end = time[[first, stop - 1]]
                    said = {"name": name.removesuffix("_moment"), "first": begin, "last": end, "value": most}
                    yield case.fault("moment_unlike.cut", "warning", said, times=((begin, end),))


def _is_apart(time: Array, moment: Array, first: float, last: float, rate: float) -> bool:
    """Return whether a stretch of a moment (T,) is no effect of rounding, nor of a moment that vanishes.

    Rounded moments keep a value where they are small or change slowly. In flight they vanish smoothly, and jump where
    the foot lands.
    """
    steps = np.abs(np.diff(moment))
    moved = steps[steps > 0.0]
    least, usual = CUT[1] * float(moved.min()), float(np.median(moved))
    begin, stop = np.searchsorted(time, [first - 1e-9, last - 1e-9])
    if rate:
        return bool(np.median(steps[begin:stop]) > least)
    before, after = (steps[k] if 0 <= k < len(steps) else 0.0 for k in (begin - 1, stop))
    value = abs(moment[begin])
    vanishes = begin > 0 and max(before, value) <= least
    moves = usual > least and (max(before, after) > least or value > LEAST_MOMENT_RMS)
    return bool(before > max(least, usual) or (moves and not vanishes))


def copied_moments(case: MomentCase) -> Iterator[Finding]:
    """Find columns that are copies of each other, of either sign."""
    table = case.table
    names = [f"{name}_moment" for name in case.body.dofs if f"{name}_moment" in table.names]
    values = {name: table.values[:, table.names.index(name)] for name in names}
    pairs = []
    for k, one in enumerate(names):
        for two in names[:k]:
            size = float(np.nanmax(np.abs(values[one]), initial=0.0))
            if size > LEAST_MOMENT_RMS and any(
                np.nanmax(np.abs(values[one] - sign * values[two])) < 1e-6 * size for sign in (1.0, -1.0)
            ):
                pairs.append(f"{two.removesuffix('_moment')} and {one.removesuffix('_moment')}")
    if pairs:
        yield case.fault("moment_copied", "error", {"pairs": few(pairs, 4)})


def columns_of_moments(case: MomentCase) -> Iterator[Finding]:
    """Find columns that are exchanged, of another scale, with an offset, or that are no moments of this motion."""
    unmeasured = float(np.isnan(case.body.moment).any(axis=1).mean())
    due_of_root = None if case.found("moment_zero", "moment_copied") else due_with_root(case)
    if due_of_root is None or unmeasured > LOST:
        return
    case = replace(case, due=due_of_root)
    if not case.on_both_feet:
        return
    names = [name for name in case.names if has_side(name) and split_side(name)[0] in ANGLES]
    if not names or case.frames.sum() < 2 * FEWEST_FRAMES:
        return
    due, given = case.expected(names), case.given(names)
    size = np.sqrt((due**2).mean(axis=0))
    lines = {k: line(due[:, k], given[:, k]) for k in range(len(names))}
    great = [lines[k].correlation for k in lines if size[k] > LARGE]
    belongs = len(great) > 2 and float(np.median(great)) > BELONGS
    belongs &= not foreign_columns(case.table, case.fixed.model)
    large = [k for k in lines if size[k] > (SMALL if belongs else LARGE)]
    wrong = set[int]()
    across = {(k, j): line(due[:, j], given[:, k]).correlation for k in lines for j in large if k != j}
    for k in large:
        for j in range(k):
            if (j, k) not in across:
                continue
            # the smaller moment of a pair may be too small to be recognized
            then = across[j, k] if j not in large else min(across[k, j], across[j, k])
            now = max(lines[k].correlation, lines[j].correlation if j in large else -1.0)
            if then > LIKE and then > now + 0.2:
                wrong |= {k, j}
                said = {"names": f"{names[j]} and {names[k]}", "then": then, "now": now}
                yield case.fault("columns_exchanged.moments", "error", said)
    if not belongs and not wrong:
        yield from _legs_apart(case, names)
    sound = [k for k in large if k not in wrong and lines[k].correlation > LIKE]
    if len(sound) < 3:
        return
    factors = np.log([max(lines[k].slope, 1e-3) for k in sound])
    middle = float(np.exp(np.median(factors)))
    for k in sound:
        stem, side = split_side(names[k])
        twin = with_side(stem, "l" if side == "r" else "r")
        other = names.index(twin) if twin in names else k
        own, of_twin = lines[k].slope, lines[other].slope
        uneven = other in sound and not 1.0 / TWIN < own / of_twin < TWIN
        apart = abs(np.log(abs(own / middle)))
        limit = OWN + 1.0 / size[k] if belongs else UNEVEN if uneven else UNLIKE
        patterns = np.stack([due[:, k], np.ones(len(due))], axis=1)[:, None]
        error = standard_errors(patterns, given[:, [k]], round(MEMORY * case.fixed.rate))[1][0]
        if apart > max(np.log(limit), CLEAR * error / abs(own)):
            factor = middle / own if not uneven else of_twin / own
            repair = changed_columns([f"{names[k]}_moment"], factor)
            said = {"name": names[k], "slope": own, "others": of_twin if uneven else middle}
            yield finding("moment_scale", "error", said, case.where, cost=case.cost(repair))
        elif abs(lines[k].constant) > OFFSET:
            said = {"name": names[k], "offset": lines[k].constant, "limit": OFFSET}
            repair = changed_columns([f"{names[k]}_moment"], 1.0, -lines[k].constant)
            yield finding("moment_offset", "warning", said, case.where, cost=case.cost(repair))
        elif belongs:
            yield from _beside_the_line(
                case, names, k, due, given[:, k] - own * due[:, k] - lines[k].constant
            )
    lost = [names[k] for k in large if k not in wrong and lines[k].correlation <= LIKE]
    agree = len(sound) >= 0.6 * len(large) and np.median([lines[k].correlation for k in sound]) > 0.95
    for name in lost if agree else ():
        said = {"name": name, "likeness": lines[names.index(name)].correlation, "limit": LIKE}
        yield case.fault("moment_unlike", "warning", said)


def _legs_apart(case: MomentCase, names: list[str]) -> Iterator[Finding]:
    """Find the ankle or knee of one leg with another scale, of moments of another model.

    Moments of the pressure about the standing foot are unknowns of each frame: the rest of the moments of a leg is the
    force on the foot times the lengths of the leg, tau = c tau_due, or with another scale g of the knee.
    """
    fixed, memory = case.fixed, round(MEMORY * case.fixed.rate)
    pose, scales = body_motion(fixed.model, fixed.motion.value), dict[str, list[tuple[float, float]]]()
    for foot, swings in single_supports(fixed):
        side = next(sole.side for sole in fixed.soles if sole.body == foot)
        leg = [name for name in names if split_side(name)[1] == side]
        alone = (swings & case.frames)[case.frames]
        if f"knee_angle_{side}" not in leg or f"ankle_angle_{side}" not in leg:
            return
        numbers = [fixed.model.coordinate_number[name] for name in leg]
        push = foot_pushes(fixed.model, pose, [foot])[case.frames][alone][:, numbers, :3]
        basis = np.linalg.qr(push)[0]
        given, due = case.given(leg)[alone], case.expected(leg)[alone]
        knee = given * (np.array(leg) == f"knee_angle_{side}")
        rest, of_due, of_knee = (
            each - np.einsum("tik,tjk,tj->ti", basis, basis, each) for each in (given, due, knee)
        )
        (ankle,), (error,) = standard_errors(of_due[:, :, None], rest, memory)
        (_, change), (_, error_of_knee) = standard_errors(np.stack([of_due, of_knee], axis=2), rest, memory)
        part = max(1.0 - change, 0.1)
        scales[side] = [(ankle, error / (ankle or 1.0)), (1.0 / part, error_of_knee / part)]
    both = (scales.get(side, []) for side in "rl")
    for (right, of_right), (left, of_left), stem, least in zip(
        *both, ("ankle_angle", "knee_angle"), (LEGS, KNEES), strict=False
    ):
        limit = max(np.log(least), CLEAR * np.hypot(of_right, of_left))
        if min(right, left) > 0.0 and abs(np.log(right / left)) > limit:
            said = {"name": stem, "right": right, "left": left, "limit": np.exp(limit)}
            yield case.fault("moment_scale.legs", "warning", said)
            return


def _beside_the_line(
    case: MomentCase, names: list[str], k: int, due: Array, left: Array
) -> Iterator[Finding]:
    """Find a column k whose distance (F,) from its line is another moment (F, n), or large in some frames."""
    line_of_due = np.stack([due[:, k], np.ones(len(due))], axis=1)

    def beyond(values: Array) -> Array:
        return np.asarray(values - line_of_due @ np.linalg.lstsq(line_of_due, values, rcond=None)[0])

    rest, of_others = beyond(left), beyond(due)
    of_others[:, k] = 0.0
    share = of_others.T @ rest / np.maximum((of_others**2).sum(axis=0), 1e-9 * len(due))
    explained = share**2 * (of_others**2).mean(axis=0)
    other, rms, most = int(explained.argmax()), float(np.sqrt(np.mean(left**2))), float(np.abs(left).max())
    ends = float(np.sqrt(np.mean(due[:, k] ** 2))), float(np.abs(due[:, k]).max())
    least, at_most = (
        constant + part * end for (constant, part), end in zip((LEFT, LEFT_AT_MOST), ends, strict=True)
    )
    said = {"name": names[k], "rms": rms, "most": most, "limit": least, "at_most": at_most}
    if explained[other] > max(LEAKS**2, LEAKED * float(np.mean(rest**2))):
        mixed = share[other] * case.table.values[:, case.table.names.index(f"{names[other]}_moment")]
        repair = changed_columns([f"{names[k]}_moment"], 1.0, -mixed[:, None])
        leak = {"other": names[other], "share": float(share[other])}
        yield finding("moment_unlike.leak", "warning", said | leak, case.where, cost=case.cost(repair))
    elif rms > least or most > at_most:
        when = float(case.fixed.time[case.frames][int(np.abs(left).argmax())])
        yield case.fault("moment_unlike.part", "warning", said | {"when": when})


def spectra_of_moments(case: MomentCase) -> Iterator[Finding]:
    """Find moments that were filtered too much."""
    table, time = case.table, case.fixed.time
    inside = (table.time >= time[0] - 1e-6) & (table.time <= time[-1] + 1e-6)
    names = [name for name in case.body.dofs if split_side(name)[0] in ANGLES[:2] + ANGLES[3:]]
    columns = [table.names.index(f"{name}_moment") for name in names if f"{name}_moment" in table.names]
    values, own = table.values[inside][:, columns], table.time[inside]
    if not walks(case.fixed) or len(columns) < 4 or np.isnan(values).any() or np.ptp(own) < 1.0:
        return
    highest = max(f90(column, 1.0 / float(np.diff(own).mean()), 2) for column in values.T)
    if highest < LOWEST_F90:
        said = {"frequency": highest, "least": LOWEST_F90}
        yield case.fault("over_filtered.moments", "warning", said)
