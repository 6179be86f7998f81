"""Checks whether the loads carry the body: mass, scale of each plate, contacts without a load, points of application.

Where one plate alone carries the body, f = k F with the scale k of this plate. With the right scale the remaining
moment about the root shows the place of the loads: a displacement e leaves e x F.

A load must act on the right body: a center of pressure lies under the sole of the loaded foot.

The balance of all six components shows small errors of plates: displaced points, reversed free moments. The statistics
are the same as for recordings (`forces/plate_balance.py`); here the residual is about the root of the model, and each
of its bodies may have an error of its mass.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array, Mask, time_spans, true_runs
from musclesolve._util.messages import few
from musclesolve._util.sides import SIDES
from musclesolve.laboratory.checks.case import SERIOUS
from musclesolve.laboratory.checks.files.times_units_axes import FAR_MASS, MASS
from musclesolve.laboratory.checks.forces import plate_balance as balance
from musclesolve.laboratory.checks.forces import plate_zero_and_saturation as channels
from musclesolve.laboratory.checks.forces.newtons_law import eroded
from musclesolve.laboratory.checks.forces.plate_axes import DEAD, LEAST_HORIZONTAL
from musclesolve.laboratory.checks.model import load_units_and_axes as units
from musclesolve.laboratory.checks.model import posture
from musclesolve.laboratory.checks.model.given_moments import likeness_of
from musclesolve.laboratory.checks.model.model_case import (
    CAP,
    LOADED,
    MEMORY,
    PASSES,
    SCALED,
    ModelCase,
    Sole,
    known_times,
    standard_errors,
    wrench_cost,
)
from musclesolve.laboratory.checks.model.muscles import size_of
from musclesolve.laboratory.checks.model.posture import lasts_a_stride, walks
from musclesolve.laboratory.motion.events.foot_events import FALLS, SHORTEST_FLIGHT, UNLOADED_WEIGHTS
from musclesolve.laboratory.motion.motion_plausibility import CUTOFF_WITH_FLIGHT_HZ
from musclesolve.laboratory.results.finding import Finding, Severity, Where, error_if, finding
from musclesolve.models.opensim.external_loads import ExternalLoad, load_force, side_in
from musclesolve.models.opensim.load_dynamics import MISSING, LoadDynamics
from musclesolve.models.opensim.model import GROUND

BESIDE, OUTWARD = 0.009, 0.01
"""Displacement of all points or of those of one foot to one side that no walk of an adult has, the mean of what the
feet and the moments about the root show, and usual difference of both, outward [m]: sound walks have up to 0.0057 of
all points and 0.0068 of one foot over the size of the model; displaced by 0.02 they have 0.0103 and more."""
USUAL_SHARE, AHEAD_BOTH = 0.69, 0.013
"""Mean place of the pressure in a step, from heel to toe over this length, and displacement of all points along the
walk that no walk of an adult has, the mean of what both feet and the moments about the root show [m]: sound walks have
-0.007 to 0.010 over the size of the model; displaced by 0.03 they have 0.0155 and more."""
SURE = 2.0
"""Standard error of the displacement that the moments about the root show, over these limits, from which they show
none: 0.2 to 1.0 in sound walks and in walks with displaced points, 2.9 and more beside wrong angles of the pelvis."""
WAYS = 0.92, 1.5
"""Way of the pressure under the feet in a step, over their length: sound walks have 1.02 to 1.27, ways times 0.7 or 1.5
0.67 to 0.81 and 1.67 to 1.88."""
NEEDED = 0.95, 2.0
"""The same, divided by the factor on all ways with which the moments about the root are in balance: sound walks have
1.1 to 1.7, ways times 0.7 or 1.5 0.5 to 0.75 and 2.4 to 3.5."""
WAYS_ALIKE, ROLLED = 0.8, (0.5, 0.6)
"""Way of the pressure under one foot over the way under the other, and least time [s] from the begin and to the end of
a step that shows it: sound walks have 0.97 to 1.14 and 0.86 to 1.18, in 0.4 s 0.71 to 1.76; ways times 0.7 0.6 to 0.79,
or 1.3 and more."""
SWAYS, ALIKE = 0.15, 0.7
"""Difference from 1 of the factor with which loads accelerate the body to the side, and correlation that shows it:
sound strides have 0.95 to 1.08, times 0.8 or 1.25 0.76 to 0.82 and 1.22 to 1.25; less than a stride has 0.78."""
FEWEST_CUT, FEWEST_HELD, CLIFF_N = 4, 2, 60.0
"""Samples for which a force that is cut off keeps its greatest value, and after which a load that is held keeps all its
values; force at the ends of all contacts [N], usually 5 to 25 N."""
STATED = 0.9
"""Share of the loaded samples in which a load rests from which it was stated as constant, and not held."""
SHEARS = 0.3, 0.4
"""Difference from 1 of the scale of horizontal forces under a foot, below and above: sound walks have 0.82 to 1.03 of
forward and 0.7 to 1.1 of sideward forces, forward ones times 1.5 and 0.5 0.55 to 0.63 and 1.6 to 1.9."""
SHEAR_LATE = 0.02
"""Time between forward and vertical forces [s] that no sound walk shows: they have up to 0.01, and 0.018 with raw
angles; 0.04 shows as 0.029 to 0.045."""
SHORTEST_SHEAR = 0.6
"""Duration from which the scale of horizontal forces is known [s]: about a stance."""
LEANS = 0.025
"""Horizontal share of the vertical force, of all plates or of one, that no acceleration needs: sound walks have up to
0.009 (standard error 0.01), or 0.027 of a plate whose standard error is 0.02."""
ALONE = 0.1
"""A plate carries the body alone where all others together carry less than this share of its greatest force."""
UNEQUAL = 0.08
"""Difference of the scales of two plates that is reported; sound recordings come to 0.02."""
MISPLACED, MISPLACED_ALONE = 0.03, 0.04
"""Reported distance of all points of force from the places that balance the motion, and of the points of one plate [m];
sound walks come to 0.01 and 0.023."""
OTHER_ORIGIN = 0.08
"""Distance [m] from which another origin is the cause, and no error of a calibration."""
INNER = 0.05
"""Margin to the ends of a single support in which plates are not compared [s]."""
FLAT = 0.3
"""Force from which the pressure rolls from heel to toe [body weights]."""
IN_AIR = 0.02
"""Mean load on a foot that swings [body weights]: sound walks have up to 0.01, filtered at 3 Hz 0.026 and more."""
RESTS, LONG = 0.01, 0.3
"""Way of the pressure under a walking foot in a contact of this duration [m, s]: public walks have 0.19 m and more."""
ASTRAY = 0.05
"""Moment over the mass by which a pressure leaves its foot for a while in a walk [N m/kg]; sound walks have none."""
UNMEASURED_S = 0.1
"""Duration below which a standing foot without a load is the edge of a contact [s]."""


def plate_units(case: ModelCase) -> Iterator[Finding]:
    """Find a plate with another sign or unit than the others, before shifts and axes are checked."""
    yield from plate_scales(case, np.log(units.OTHER_UNIT))


def plate_scales(case: ModelCase, limit: float = UNEQUAL) -> Iterator[Finding]:
    """Find a plate that shows more or less than the others while each carries the body alone; limit: of logarithms."""
    due = case.fixed.due[:, 3:]
    plates = np.array([case.force([load]) for load in case.loads])
    size = np.linalg.norm(plates, axis=2)
    most = np.quantile(size, 0.95, axis=1, keepdims=True)
    # each as a share of its own greatest force: one of them may be in another unit
    carries, free = (size > SCALED * most) & (most > 0.0), size < ALONE * most
    scales: dict[str, float] = {}
    for k, load in enumerate(case.loads):
        alone = carries[k] & np.delete(free, k, axis=0).all(axis=0)
        for sole in case.fixed.soles:
            if case.sole_of(load) is not sole:
                alone &= case.fixed.foot_speed(sole) > PASSES
        # loads that are late begin and end at other times
        alone = eroded(alone, round(INNER * case.fixed.rate)) & case.inside
        if np.sum(alone) >= case.fixed.fewest:
            force, needed = plates[k][alone], due[alone]
            scale = float(np.median((force * needed).sum(axis=1) / (force**2).sum(axis=1)))
            # a plate in other axes, or on which another foot stands, has no scale
            left = np.linalg.norm(scale * force - needed, axis=1) / np.linalg.norm(needed, axis=1)
            if np.median(left) < CAP:
                scales[load.name] = scale
    if len(scales) < 2 or not any(scale > 0.0 for scale in scales.values()):
        return
    # the plate that is right is the one whose scale is nearest to that of the model
    sound = min((scale for scale in scales.values() if scale > 0.0), key=lambda scale: abs(np.log(scale)))
    for name, scale in scales.items():
        ratio = scale / sound
        if ratio > 0.0 and abs(np.log(ratio)) < limit:
            continue
        repair = units.scaled(ratio, units.roles_of_unit(case, [name]), [name])
        values = {"load": name, "share": 1.0 / ratio, "limit": UNEQUAL, "factor": ratio}
        yield case.fault("plate_scale.loads", error_if(not 0.8 < ratio < 1.25), values, repair)


def dead_channels(case: ModelCase) -> Iterator[Finding]:
    """Find horizontal components that a load never has, while the body needs them."""
    weight, known = case.fixed.model.weight, case.inside & case.covered(case.loads, case.time)
    left = case.fixed.due[:, 3:] - case.force(case.loads)
    upward = {load.name: case.force([load]) @ case.fixed.model.up for load in case.loads}
    carries = {name: known & (force > SCALED * weight) for name, force in upward.items()}
    for load in [load for load in case.loads if carries[load.name].sum() >= case.fixed.fewest]:
        most, needed = np.abs(load.force).max(axis=0), np.sqrt(np.mean(left[carries[load.name]] ** 2, axis=0))
        for axis in np.flatnonzero((most < DEAD * weight) & (needed > LEAST_HORIZONTAL * weight)):
            values = {"axis": "xyz"[axis], "load": load.name, "most": most[axis], "needed": needed[axis]}
            yield case.fault("plate_channel.loads", "error", values)


def shear_of_loads(case: ModelCase) -> Iterator[Finding]:
    """Find horizontal forces of another scale, ahead or to the side: of both feet together, or of one of them.

    What the loads leave of the force along an axis, and of the moment of this force about the root over its height, is
    the sum over the feet of (g - 1) times force and moment of their loads, a displacement of all points and a lean.
    """
    fixed, (scale, acting, left, kept) = case.fixed, _residual(case, np.inf)
    feet = {sole.body: [load for load in case.loads if case.sole_of(load) is sole] for sole in fixed.soles}
    lasts = kept.sum() >= fixed.fewest and np.ptp(case.time[kept]) > SHORTEST_SHEAR
    if not lasts or len(feet) != 2 or not all(feet.values()) or len(flight_spans(case)):
        return  # the filter of the motion takes away a part of a landing
    if case.found(*"plates_swapped time_offset load_body plate_channel segment_mass foot_slides".split()):
        return
    up, side, memory = fixed.model.up, fixed.sideward, round(MEMORY * fixed.rate)
    for channel, axis, across in (("forward", ahead := np.cross(up, side), side), ("sideward", side, ahead)):

        def shown(wrench: Array, axis: Array = axis, across: Array = across) -> Array:
            return np.stack([wrench[kept, :3] @ across / fixed.height, wrench[kept, 3:] @ axis], axis=1)

        along = np.outer(axis, axis)
        across_axis = units.turned(np.eye(3) - along, ["force"])
        of_feet = [case.acting(loads) - case.acting(across_axis(tuple(loads))) for loads in feet.values()]
        moved = np.hstack([np.cross(axis, acting[:, 3:]), 0.0 * acting[:, 3:]])
        leant = acting @ np.kron(np.eye(2), np.outer(up, axis))
        rest, others = shown(left), [shown(moved), shown(leant)]
        one_by_one = [scale * shown(wrench) for wrench in of_feet]
        both, of_both = standard_errors(np.stack([sum(one_by_one), *others], axis=2), rest, memory)
        single, of_single = standard_errors(np.stack([*one_by_one, *others], axis=2), rest, memory)
        apart = abs(single[0] - single[1]) > units.CLEAR * np.hypot(*of_single[:2])
        alone = [*zip(feet, single, of_single, strict=False)]
        for foot, by, error in alone if apart else [("both feet", both[0], of_both[0]), *alone]:
            names = [load.name for load in feet.get(foot, ())]
            repair = units.turned(np.eye(3) + by * along, ["force"], names)
            if units.exceeds(by, SHEARS[int(by > 0.0)], error) and _residual(case.repaired(repair))[3].any():
                values = {"channel": channel, "foot": foot, "gain": 1.0 + by, "error": error}
                values |= {"low": 1.0 - SHEARS[0], "high": 1.0 + SHEARS[1]}
                yield case.fault("plate_scale.channel", "warning", values, repair)
                if foot not in feet:
                    break


def delay_of_shear(case: ModelCase) -> Iterator[Finding]:
    """Find forward forces that are late or early against the vertical ones, by the forces that the motion needs.

    What loads F(t) leave of a force F(t + d) is d F', beside a scale of F and, forward, a lean.
    """
    fixed, (_, acting, left, kept) = case.fixed, _residual(case)
    up, memory, delays = fixed.model.up, round(MEMORY * fixed.rate), list[tuple[float, float]]()
    moves = case.found(
        "foot_slides", "foot_height", "angle_offset", "angle_sign", "angle_scale", "joint_center"
    )
    if kept.sum() < fixed.fewest or not walks(fixed) or flight_spans(case).size or moves:
        return
    for axis in (np.cross(up, fixed.sideward), up):
        along, upward = acting[:, 3:] @ axis, acting[:, 3:] @ up
        patterns = np.stack([np.gradient(along, case.time), along, upward][: 2 + (axis is not up)], axis=1)
        by, errors = standard_errors(patterns[kept, None], (left[:, 3:] @ axis)[kept, None], memory)
        delays.append((float(by[0]), float(errors[0])))
    (forward, error), (vertical, other) = delays
    apart, error = forward - vertical, float(np.hypot(error, other))
    if units.exceeds(apart, SHEAR_LATE, error):
        values = {"size": abs(apart), "late": "late" if apart > 0.0 else "early", "limit": SHEAR_LATE}
        yield case.fault("time_offset.shear", "warning", values | {"error": error})


def mass_of_model(case: ModelCase) -> Iterator[Finding]:
    """Compare the mass of the model with the mass that the loads carry and accelerate."""
    fit = units.best_fit(case)
    if fit is None:
        return
    fitting, error, mass = 1.0 / fit.scale, fit.errors[2] / fit.scale**2, case.fixed.model.mass
    if abs(fitting - 1.0) < MASS + units.CLEAR * error:
        return
    plates = case.cost(units.scaled(fit.scale, ["force", "moment"]))
    values = {"fitting": fitting * mass, "given": mass, "error": error * mass, "off": fitting - 1.0}
    values |= {"limit": MASS, "factor": fitting, "plates": 0.0 if plates is None else plates.size}
    cost = wrench_cost(case, (fitting - 1.0) * case.fixed.need)
    is_far = abs(fitting - 1.0) > FAR_MASS and (cost is None or cost.size > SERIOUS * mass)
    yield finding("mass.model", error_if(is_far), values, Where(case.fixed.model.file), cost=cost)


def balance_of_loads(case: ModelCase) -> Iterator[Finding]:
    """Find feet that stand without a load, and frames in which loads and motion do not balance."""
    time = case.time
    # inverse dynamics with the repaired loads
    assert case.body.dynamics is not None
    whole = case.body.dynamics.dynamics
    motion = replace(case.fixed.motion, time=known_times(case.loads, time))
    dynamics = LoadDynamics(case.fixed.model, motion, whole, case.loads)
    dynamics = replace(dynamics, dynamics=replace(whole, wrench=case.fixed.need - dynamics.body_wrench))
    for foot, standing in dynamics.unmeasured_feet.items():
        standing = standing & case.covered(case.loads, time)
        if standing.sum() / case.fixed.rate >= UNMEASURED_S:
            values = {"foot": foot, "count": int(standing.sum()), "frames": len(time), "limit": MISSING}
            times, side = time_spans(standing, time), side_in(foot) or ""
            yield case.fault("contact_without_force.model", "warning", values, None, side, times)
    kept, limit, residual = dynamics.balanced, dynamics.balance_limit, dynamics.root_residual
    if kept is None or limit is None or residual is None:
        return
    kept = kept | ~case.covered(case.loads, time)
    valid = case.body.dynamics.balanced if case.body.dynamics and case.loads is case.given else None
    valid = kept if valid is None else valid
    force = np.linalg.norm(dynamics.supplied, axis=1)
    acting = np.isfinite(residual) & (force > SCALED * case.fixed.model.weight) & case.inside
    if (kept & valid)[case.inside].all():
        return
    lost = float(np.mean(~kept[acting])) if acting.sum() >= case.fixed.fewest else 0.0
    values = {"count": int(np.sum(~valid)), "frames": int(kept.size), "limit": limit, "share": lost}
    values |= {"most": float(np.nanmax(residual))}
    code = "unbalanced.filter" if kept[case.inside].all() else "unbalanced"
    code = "another_trial.loads" if lost > 0.5 else code
    yield case.fault(code, error_if(lost > 0.5), values, times=time_spans(~valid, time))


def flight_spans(case: ModelCase) -> Array:
    """Beginning and end of every flight, (k, 2) [s]: no load carries the body, and the whole body falls.

    A body falls if it needs less than 1 - FALLS of its weight from the ground, as for the pelvis of a recording
    (`foot_events.flights`). Missing loads alone are no flight: a person may walk beside the plates.
    """
    fixed, up = case.fixed, case.fixed.model.up
    acting = load_force(fixed.model, case.loads, known_times(case.loads, case.time), fixed.bodies.pose)
    carried, needed = np.nan_to_num(acting) @ up, fixed.due[:, 3:] @ up
    flying = (carried < UNLOADED_WEIGHTS * fixed.model.weight) & (needed < (1.0 - FALLS) * fixed.model.weight)
    spans = time_spans(flying & case.covered(case.loads, case.time), case.time)
    return np.array([span for span in spans if span[1] - span[0] >= SHORTEST_FLIGHT]).reshape(-1, 2)


def cutoff_of_flight(case: ModelCase) -> Iterator[Finding]:
    """Find a cut-off for walking where the body is in flight: the filter takes away part of the accelerations."""
    cutoff, (low, high) = case.body.motion.cutoff_hz, CUTOFF_WITH_FLIGHT_HZ
    if cutoff is None or cutoff >= low or not len(flying := flight_spans(case)):
        return
    values = {"cutoff": cutoff, "count": len(flying), "low": low, "high": high}
    times = tuple((float(first), float(last)) for first, last in flying)
    place = Where(case.body.motion.file, field="cutoff_hz", times=times)
    yield finding("cutoff.flight", "warning", values, place)


def _residual(case: ModelCase, most: float = units.UNCLEAR) -> tuple[float, Array, Array, Mask]:
    """The scale of the loads, their wrench and what it leaves (T, 6), and frames that show it; none without a fit."""
    fit = units.best_fit(case)
    if fit is None or fit.misfit > most:
        return 1.0, *np.zeros((2, len(case.time), 6)), np.zeros(len(case.time), bool)
    acting = fit.scale * case.acting(case.loads)
    left, kept = case.left_by(case.loads, acting, 1.0)
    kept &= np.linalg.norm(left[:, 3:], axis=1) < CAP * case.fixed.model.weight
    return fit.scale, acting, left, kept


def lean_of_loads(case: ModelCase) -> Iterator[Finding]:
    """Find a horizontal share c of the vertical force R that accelerates nothing: m a = R - c (R . up) e.

    Plates, or coordinates, that are tilted show it, and vertical forces that leak into horizontal channels.
    """
    if case.found("time_offset", "plate_axes", "force_sign"):
        return
    (scale, _, left, kept), up, tried = _residual(case), case.fixed.model.up, []
    across, memory = np.abs(case.fixed.sideward).argmax(), round(MEMORY * case.fixed.rate)
    for names, axis in product(units.groups(case), (0, 2)):
        upward, beside = scale * case.force(units.named(case, names))[kept] @ up, left[kept, 3 + axis]
        # one force to the side that is too great leans, too
        shown = len(names) == len(case.loads) or axis != across
        if shown and (upward > SCALED * case.fixed.model.weight).sum() >= case.fixed.fewest:
            (by,), (error,) = standard_errors(upward[:, None, None], beside[:, None], memory)
            rest = float(np.linalg.norm(beside - by * upward) / np.linalg.norm(beside))
            tried.append((rest, names, axis, float(by), float(error)))
    _, names, axis, by, error = min(tried, default=(1.0, list[str](), 0, 0.0, 0.0))
    if abs(by) > max(LEANS, units.CLEAR * error):
        values = {"loads": few(names), "share": -by, "error": error, "axis": "xyz"[axis], "limit": LEANS}
        values |= {"angle": float(np.degrees(np.arctan(abs(by))))}
        lean = by * np.eye(3)[axis]
        upright = np.eye(3) + np.outer(up, lean)
        repair = units.each_load(lambda load: replace(load, force=load.force @ upright), names)
        yield case.fault("leaning_force.loads", "warning", values, repair)


def _levers(force: Array) -> Array:
    """Moments (T, 3, 2) of forces (T, 3) displaced by a meter along x and along z of the ground."""
    return np.stack([np.cross(axis, force) for axis in np.eye(3)[[0, 2]]], axis=2)


def place_of_points(case: ModelCase) -> Iterator[Finding]:
    """Find points of force away from the places that balance the motion, of all plates and of each plate."""
    (scale, acting, left, kept), weight = _residual(case), case.fixed.model.weight
    kept = kept & (np.linalg.norm(acting[:, 3:], axis=1) > SCALED * weight)
    if kept.sum() < case.fixed.fewest or case.found("plate_baseline"):  # wrong forces turn the root, too
        return
    left, memory = left[kept, :3], round(MEMORY * case.fixed.rate)
    forces = [scale * case.force([load])[kept] for load in case.loads]
    impulses = np.array([np.linalg.norm(force, axis=1).sum() for force in forces]) / case.fixed.rate
    shows = impulses > balance.CARRIED * weight

    def fitted(patterns: Array, *names: str) -> tuple[float, tuple[str, ...], Array, Array]:
        offset, error = standard_errors(patterns, left, memory)
        return float(np.linalg.norm(left - patterns @ offset)), names, offset, error

    levers = [_levers(force) for force in forces]
    tried, limit = [fitted(_levers(acting[kept, 3:]))], MISPLACED
    _, names, offset, error = tried[0]
    if np.linalg.norm(offset) > max(limit, units.CLEAR * float(np.linalg.norm(error))):
        # one load that is displaced farther may explain more
        if len(levers) > 1:
            tried += [fitted(levers[k], case.loads[k].name) for k in np.flatnonzero(shows)]
        _, names, offset, error = min(tried, key=lambda one: one[0])
    else:
        offsets, errors = standard_errors(np.concatenate(levers, axis=2), left, memory)
        sizes = np.linalg.norm(offsets.reshape(-1, 2), axis=1) * shows
        worst, limit = int(sizes.argmax()), MISPLACED_ALONE
        here = slice(2 * worst, 2 * worst + 2)
        offset, error = offsets[here], errors[here]
        if not sizes[worst] > max(limit, units.CLEAR * float(np.linalg.norm(error))):
            yield from _under_both_feet(case, acting, kept)
            return
        names = (case.loads[worst].name,)
    of_ground, is_far = np.eye(3)[[0, 2]], np.linalg.norm(offset) > OTHER_ORIGIN
    yield displaced(case, names, offset @ of_ground, error @ of_ground, limit, error_if(is_far))


def _under_both_feet(case: ModelCase, acting: Array, kept: Mask) -> Iterator[Finding]:
    """Find pressures beside both feet, or of another way under them.

    The moments that `acting` (T, 6) leaves are e x F + c sum (p - m) x F, with a displacement e of all points and the
    scale 1 + c of their ways about the mean m of each contact. The feet show both, too.
    """
    fixed, memory = case.fixed, round(MEMORY * case.fixed.rate)
    borne = [case.sole_of(load) for load in case.loads]
    both = len(fixed.soles) == len(SIDES) and all(sole in borne for sole in fixed.soles)
    if case.body.moment_table is not None or not both or not walks(fixed) or np.ptp(fixed.time) < units.CYCLE:
        return
    turning, beside, ahead, ways = np.zeros((len(case.time), 3)), list[float](), list[float](), list[float]()
    levers, loads = list[Array](), list[tuple[str, ...]]()
    for sole, point, loaded in pressure_on_feet(case):
        (along, right, long), speed = sole.place(point), fixed.foot_speed(sole)
        under = [load for load in case.loads if case.sole_of(load) is sole]
        force = case.force(under)
        for run in (slice(*run) for run in true_runs(loaded)):
            turning[run] = np.cross((point[run] - point[run].mean(axis=0)) * [1.0, 0.0, 1.0], force[run])
        for step, *whole in long_steps(case, loaded):
            if all(whole) and np.median(speed[step]) < posture.SPEED:
                ways.append(float(np.ptp(along[step] / long[step])))
                ahead.append(float((along - USUAL_SHARE * long)[step].mean()))
        beside.append(float(right[loaded].mean()) if loaded.sum() >= fixed.fewest else np.nan)
        levers.append(_levers(force))
        loads.append(tuple(load.name for load in under))

    def fitted(*moved: Array) -> tuple[Array, Array]:
        patterns = np.concatenate([*moved, fixed.smooth(turning)[:, :, None]], axis=2)
        return standard_errors(patterns[kept][:, [0, 2]], (fixed.due - acting)[kept][:, [0, 2]], memory)

    size, error = fitted(_levers(acting[:, 3:]))
    apart, errors = (part[:-1].reshape(len(levers), 2) for part in fitted(*levers))
    to_side, forward = fixed.sideward, np.cross(fixed.model.up, fixed.sideward)
    outward = np.array([OUTWARD if sole.side == "r" else -OUTWARD for sole in fixed.soles])
    single = np.stack([np.array(beside) - outward, outward - apart @ to_side[[0, 2]]], axis=1)
    one = int(np.abs(single.mean(axis=1)).argmax())
    left_right, back = ("to the left", "to the right"), ("backward", "forward")
    judged = [
        (loads[one], to_side, BESIDE, left_right, single[one], errors[one]),
        ((), to_side, BESIDE, left_right, [np.mean(beside), -size[:2] @ to_side[[0, 2]]], error[:2]),
        ((), forward, AHEAD_BOTH, back, [np.mean(ahead or np.nan), -size[:2] @ forward[[0, 2]]], error[:2]),
    ]  # points that are displaced under both feet show alike
    alike = not np.ptp(single.mean(axis=1)) > BESIDE * size_of(fixed.model)
    for names, level, limit, words, (feet, root), chances in judged[int(alike) :]:
        least, chance = limit * size_of(fixed.model), float(np.hypot(*chances * level[[0, 2]]))
        by = 0.5 * float(feet + root)
        # a body that leans has other moments; of one foot feet and moments vary more, so both must show it
        shown = min(abs(feet), abs(root)) if names else abs(by)
        if shown > least and abs(by) > abs(feet - root) and chance < SURE * least:
            values = {"loads": few(names) or "all loads", "size": abs(by), "way": words[by > 0.0]}
            values |= {"feet": np.sign(by) * feet, "root": np.sign(by) * root}
            values |= {"error": chance, "limit": least}
            yield case.fault("pressure_offset.feet", "warning", values, units.moved(-by * level, names))
            if names:
                return
    way, needed = float(np.mean(ways)) if ways else 1.0, 1.0 + float(size[2])
    due = way / needed
    if (way < WAYS[0] and due < NEEDED[0]) or (way > WAYS[1] and due > NEEDED[1]):
        values = {"way": way, "needed": needed, "low": NEEDED[0], "high": NEEDED[1]}
        yield case.fault("pressure_way.loads", "warning", values)


def way_of_body(case: ModelCase) -> Iterator[Finding]:
    """Find bodies that sway farther, or less far, than the loads accelerate them to the side."""
    fixed, (_, acting, _, kept) = case.fixed, _residual(case)
    if case.found("plate_scale") or not kept.any() or not walks(fixed) or not lasts_a_stride(fixed):
        return
    loads, due = (wrench[kept, 3:] @ fixed.sideward for wrench in (acting, fixed.due))
    (gain,), (error,) = standard_errors(loads[:, None, None], due[:, None], round(MEMORY * fixed.rate))
    if likeness_of(loads, due) > ALIKE and abs(gain - 1.0) > SWAYS:
        values = {"gain": gain, "error": error, "low": 1.0 - SWAYS, "high": 1.0 + SWAYS}
        yield finding("foot_slides.sway", "warning", values, Where(case.body.motion.file))


def displaced(
    case: ModelCase, names: tuple[str, ...], offset: Array, error: Array, limit: float, severity: Severity
) -> Finding:
    """Points of force of some loads, or of all, that an offset (3,) with an error (3,) [m] brings to their places."""
    values = {"loads": ", ".join(names) if names else "all loads", "size": float(np.linalg.norm(offset))}
    values |= {"along_x": -offset[0], "along_z": -offset[2], "error_x": error[0], "error_z": error[2]}
    values |= {"limit": limit}
    return case.fault("pressure_offset.loads", severity, values, units.moved(offset, names))


def loads_in_swing(case: ModelCase) -> Iterator[Finding]:
    """Find loads on feet that swing, where these move as feet do: a foot in the air carries nothing."""
    fixed, known = case.fixed, case.covered(case.loads, case.time)
    moves = case.found("foot_slides", "foot_height", "angle_offset", "angle_sign", "angle_scale")
    for sole in fixed.soles if walks(fixed) and posture.knows_the_ground(fixed) and not moves else ():
        under = [load for load in case.loads if case.sole_of(load) is sole]
        swings = known & (fixed.foot_speed(sole) > PASSES)
        if under and swings.sum() >= case.fixed.fewest:
            share = float(np.linalg.norm(case.force(under)[swings], axis=1).mean()) / fixed.model.weight
            if share > IN_AIR:
                values = {"foot": sole.body, "share": share, "limit": IN_AIR, "speed": PASSES}
                yield case.fault("plate_baseline.swing", "warning", values, side=sole.side)


def points_under_feet(case: ModelCase) -> Iterator[Finding]:
    """Find centers of pressure that rest while a foot rolls, or lie beside their own foot and under no other one."""
    for load in case.loads:
        sole, (force, point, loaded) = case.sole_of(load), case.point(load)
        if sole is None or loaded.sum() < case.fixed.fewest:
            continue
        ends = np.quantile(point[loaded][:, [0, 2]], (0.1, 0.9), axis=0)  # a small force has any center
        way = float((ends[1] - ends[0]).max())
        if way < RESTS and loaded.sum() > LONG * case.fixed.rate and walks(case.fixed):
            values = {"load": load.name, "foot": sole.body, "way": way}
            yield case.fault("frozen.pressure", "error", values, side=sole.side)
        away, size, limit = sole.distance(point), np.linalg.norm(force, axis=1), units.BELOW
        far, astray = float(np.median(away[loaded])), loaded & (away > limit)
        values = {"load": load.name, "foot": sole.body, "far": far, "limit": limit}
        if far > limit and not case.found("pressure_offset", "point_units"):
            yield case.fault("pressure_outside.loads", "error", values)
        lost = (size * astray * (away - limit)).max() > ASTRAY * case.fixed.model.mass
        if far < 0.5 * limit and lost and case.body.moment_table is None and walks(case.fixed):
            values |= {"farthest": away[astray].max(), "force": size[astray].max()}
            yield case.fault("pressure_outside.edges", "warning", values, times=time_spans(astray, case.time))


def cut_loads(case: ModelCase) -> Iterator[Finding]:
    """Find loads whose peaks are cut off, which were held or are noise, or whose small forces were set to zero."""
    for load in case.loads:
        upward, rate = load.force @ case.fixed.model.up, 1.0 / float(np.diff(load.time).mean())
        most, least = float(upward.max(initial=0.0)), max(FEWEST_CUT, channels.FLAT_PEAK_S * rate)
        rests = (np.diff(np.hstack([load.force, load.point]), axis=0) == 0.0).all(axis=1)
        loaded = upward > LOADED * case.fixed.model.weight
        still = np.append(False, rests) & loaded
        held = still & (still.sum() < STATED * loaded.sum())
        highest = (upward == most) & (most > SCALED * case.fixed.model.weight) & ~still
        shortest = max(FEWEST_HELD, channels.FLAT_PEAK_S * rate)
        cut = [
            ("plate_clipped", highest, least, ""),
            ("plate_clipped.held", held, shortest, f"load {load.name}"),
        ]
        for axis, column in zip("xyz", load.point.T, strict=True):
            if channels.step_of(column[loaded]) <= channels.FINE:
                alone = channels.resting(column[:, None], upward > SCALED * case.fixed.model.weight) & ~still
                what = f"{axis} coordinate of the points of {load.name}"
                cut.append(("plate_clipped.held", alone, max(shortest, channels.RESTS_S * rate), what))
        for code, samples, fewest, what in cut:
            spans = [(first, stop - 1) for first, stop in true_runs(samples) if stop - first > fewest]
            if spans:
                times = tuple((float(load.time[first]), float(load.time[last])) for first, last in spans)
                duration = sum(end - begin for begin, end in times)
                values = {"way": "vertical", "what": what, "peak": most, "duration": duration}
                yield case.fault(code, "error", values | {"late": ""}, times=times)
        if loaded.sum() > least:
            yield from channels.resolution(load.name, load.force[loaded], case.where)
        if (edge := channels.least_cliff(upward, least)) > CLIFF_N:
            values = {"load": load.name, "edge": edge, "limit": CLIFF_N}
            yield case.fault("plate_clipped.edges", "warning", values)


NEARER = 0.5
"""Share of the distance from its own foot below which a point lies under the other foot."""
FOOT_HALF_WIDTH = 0.1
"""Half the width of a foot plus the error of coordinates from video [m]."""
IN_GROUND = 0.5
"""Share of the misfit of a load in the axes of a body that the axes of the ground leave where it is stated in these."""
PLACES = {"point": "mm beside the nearest foot", "force": "N rms from what the motion needs of all loads"}
"""What of a load is stated in the axes of a body -> words of its misfit."""
NO_MATTER = 1.0
"""Negligible change of a moment [N m]."""
ON_SOLE = 0.2
"""Largest vertical distance of a center of pressure from heel and toe [m]; a brace on a shank is farther away."""
SHORTEST_LOAD_CONTACT = 0.03
"""Shortest contact that is examined [s]."""


def _contacts(case: ModelCase, load: ExternalLoad) -> tuple[list[tuple[float, float]], Array, Array]:
    """First and last time of each of k contacts of a load, their shares (k,) of its impulse, and far (k, S).

    far: from each sole [m], the median over the loaded frames of the contact.
    """
    force, point, loaded = case.point(load)
    impulse = np.linalg.norm(force, axis=1)
    runs = [slice(*run) for run in true_runs(loaded)]
    least = max(2.0, SHORTEST_LOAD_CONTACT * case.fixed.rate)
    runs = [run for run in runs if run.stop - run.start >= least]
    far = [[np.median(sole.distance(point[run], run)) for sole in case.fixed.soles] for run in runs]
    times = [(float(case.time[run.start]), float(case.time[run.stop - 1])) for run in runs]
    shape = len(runs), len(case.fixed.soles)
    return times, np.array([impulse[run].sum() for run in runs]), np.array(far).reshape(shape)


def frames_of_loads(case: ModelCase) -> Iterator[Finding]:
    """Find points and forces stated in the axes of a body that fit feet and motion in the axes of the ground."""
    known, soles = case.inside & case.covered(case.loads, case.time), case.fixed.soles

    def misfit(loads: list[ExternalLoad], what: str) -> float:
        """Distance of the points of a load from the nearest foot [mm], or of all forces from the motion's [N rms]."""
        if what == "force":
            others = [load for load in case.loads if load.name not in {load.name for load in loads}]
            left = (case.fixed.due[:, 3:] - case.force([*loads, *others]))[known]
            return float(np.linalg.norm(left) / np.sqrt(max(known.sum(), 1)))
        _, point, loaded = case.point(loads[0])
        far = [float(np.median(sole.distance(point[loaded], loaded))) for sole in soles if loaded.any()]
        return 1000.0 * min(far, default=np.nan)

    bent = [load for load in case.loads if load.force_frame != GROUND]
    moved = [[load] for load in case.loads if load.point_frame != GROUND]
    for what, loads in [*(("point", one) for one in moved), *[("force", bent)] * bool(bent)]:
        ground: dict[str, Any] = {f"{what}_frame": GROUND}
        now, then = misfit(loads, what), misfit([replace(load, **ground) for load in loads], what)
        if then < IN_GROUND * now:
            names = [load.name for load in loads]
            repair = units.each_load(partial(replace, **ground), names)
            bodies = dict.fromkeys(getattr(load, f"{what}_frame") for load in loads)
            values = {"what": what, "loads": few(names), "frame": " and ".join(bodies), "place": PLACES[what]}
            yield case.fault("load_body.frame", "error", values | {"now": now, "then": then}, repair)


def bodies_of_loads(case: ModelCase) -> Iterator[Finding]:
    """Find loads on bodies that are no feet, while the center of pressure lies under a foot, and loads of no point."""
    soles = case.fixed.soles
    for load in case.loads:
        carries = (load.force @ case.fixed.model.up).max(initial=0.0) > MISSING * case.fixed.model.weight
        if carries and load.point_frame == load.body and not load.point.any() and case.sole_of(load):
            yield case.fault("load_body.origin", "error", {"load": load.name, "body": load.body})
    for load in [load for load in case.loads if soles and case.sole_of(load) is None]:
        times, _, far = _contacts(case, load)
        if not times or (far.min(axis=1) >= units.BELOW).any():
            continue  # possibly a seat, a handle or an exoskeleton
        _, point, loaded = case.point(load)
        above = [float(np.median(np.abs(sole.lowest - point[:, 1])[loaded])) for sole in soles]
        if min(above) > ON_SOLE:
            continue
        near = [soles[k].body for k in far.argmin(axis=1)]
        repair = units.contacts_on(load.name, [(*ends, body) for ends, body in zip(times, near, strict=True)])
        least = min(float(np.median(sole.distance(point[loaded], loaded))) for sole in soles)
        values = {"load": load.name, "body": load.body, "far": least}
        values |= {"foot": " and ".join(dict.fromkeys(near))}
        sides = {side_in(body) or "" for body in near}
        yield case.fault("load_body", "error", values, repair, sides.pop() if len(sides) == 1 else "")


def feet_of_loads(case: ModelCase) -> Iterator[Finding]:
    """Find contacts whose center of pressure lies under the other foot than the loaded one."""
    soles = case.fixed.soles
    for load in case.loads if len(soles) == 2 and not case.found("plates_swapped") else ():
        if (sole := case.sole_of(load)) is None:
            continue
        here, other = (1, 0) if sole is soles[1] else (0, 1)
        times, shares, far = _contacts(case, load)
        wrong = far[:, other] < np.minimum(NEARER * far[:, here], units.BELOW)
        wrong &= far[:, here] > FOOT_HALF_WIDTH
        if not wrong.any():
            continue
        body_of = [soles[other].body if bad else load.body for bad in wrong]
        bodies = [(*ends, body) for ends, body in zip(times, body_of, strict=True)]
        code, repair = "plates_swapped.loads", units.on_bodies({load.name: body_of[0]})
        if not wrong.all():
            code, repair = "plates_swapped.load_contacts", units.contacts_on(load.name, bodies)
        mean = np.average(far[wrong], axis=0, weights=shares[wrong])
        values: dict[str, object] = {"load": load.name, "body": load.body, "other": soles[other].body}
        values |= {"own_distance": float(mean[here]), "other_distance": float(mean[other])}
        there = tuple(ends for ends, bad in zip(times, wrong, strict=True) if bad)
        yield case.fault(code, "error", values, repair, times=there)


def pressure_on_feet(case: ModelCase) -> Iterator[tuple[Sole, Array, Mask]]:
    """Each foot, the pressure (T, 3) [m] of all its loads, and when it carries a part of the body."""
    for sole in case.fixed.soles:
        parts = [case.point(load) for load in case.loads if case.sole_of(load) is sole]
        force = np.array([np.linalg.norm(push, axis=1) * loaded for push, _, loaded in parts])
        size = force.sum(axis=0) if parts else np.zeros(len(case.time))
        pairs = zip(force, parts, strict=True)
        points = sum((share[:, None] * point for share, (_, point, _) in pairs), np.zeros(3))
        yield sole, points / np.maximum(size, 1e-9)[:, None], size > FLAT * case.fixed.model.weight


def long_steps(case: ModelCase, loaded: Mask) -> Iterator[tuple[slice, bool, bool]]:
    """Steps of a foot in which it carries the body for long, and whether their begin and end are known, too.

    loaded: frames (T,) in which the foot carries a part of the body.
    """
    known = case.inside if case.body.moment_table is not None else case.covered(case.loads, case.time)
    first, last = np.flatnonzero(known)[[0, -1]] if known.any() else (0, 0)
    for begin, stop in true_runs(loaded):
        if stop - begin > posture.STANCE * case.fixed.rate:
            yield slice(begin, stop), begin > first, stop <= last


def ways_of_feet(case: ModelCase) -> Iterator[Finding]:
    """Find pressures that go from toe to heel; compare their ways under both feet in the same part of a step."""
    fixed, steps = case.fixed, list[list[tuple[Array, bool, bool]]]()
    under = walks(fixed) and not case.found("pressure_outside")
    for sole, point, loaded in pressure_on_feet(case) if under else ():
        along, _, long = sole.place(point)
        share = along / long
        steps.append([(share[step], first, last) for step, first, last in long_steps(case, loaded)])
    rolls = [np.polyfit(np.linspace(0.0, 1.0, len(way)), way, 1)[0] for foot in steps for way, *_ in foot]
    if rolls and (rolled := float(np.mean(rolls))) < 0.0 and not case.found("walking_direction"):
        yield case.fault("pressure_way.backward", "error", {"rolled": -rolled})
        return
    ratios = list[float]()
    for (one, *begins), (other, *ends) in product(*steps) if len(steps) == 2 else ():
        from_begin, to_end = map(all, zip(begins, ends, strict=True))
        count = min(len(one), len(other))
        if (from_begin or to_end) and count >= ROLLED[not from_begin] * fixed.rate:
            part = slice(count) if from_begin else slice(-count, None)
            ratios.append(float(np.ptp(one[part]) / max(np.ptp(other[part]), 1e-9)))
    ratio = float(np.median(ratios)) if ratios else 1.0
    if not WAYS_ALIKE < ratio < 1.0 / WAYS_ALIKE:
        foot, beside = (sole.body for sole in fixed.soles)
        values = {"ratio": ratio, "foot": foot, "other": beside, "low": WAYS_ALIKE, "high": 1.0 / WAYS_ALIKE}
        yield case.fault("pressure_way.feet", "warning", values)


def feet_along_pressure(case: ModelCase) -> Iterator[Finding]:
    """Compare the direction of the feet with the way of the pressure under them."""
    yield from posture.pressure_along_feet(case.body, case.fixed, pressure_on_feet(case))


def parts_of_feet(case: ModelCase) -> Iterator[Finding]:
    """Find loads on the talus or the toes where that changes moments of joints within the foot."""
    parts = {load: sole for load in case.loads if (sole := case.sole_of(load)) and load.body != sole.body}
    repair = units.on_bodies({load.name: sole.body for load, sole in parts.items()})
    cost = case.cost(repair) if parts else None
    if cost is not None and cost.size > NO_MATTER:
        values = {"loads": ", ".join(load.name for load in parts)}
        values |= {"bodies": ", ".join(sorted({load.body for load in parts}))}
        values |= {"foot": ", ".join(sorted({sole.body for sole in parts.values()}))}
        yield case.fault("load_body.part", "warning", values, repair)


ROOT_HEIGHT = 0.55
"""Height of the pelvis over the floor, as a share of the stature."""
UNLOADED = ("contact_without_force", "unbalanced")
"""Findings on frames that this check leaves out."""
SMALLEST_BODY = 0.01
"""Share of the mass of the model from which an error of the mass of a body counts."""

AGAINST = -0.5
"""Factor of a free moment below which it acts against the motion: without arms, which carry a part of the moment about
the vertical axis, a sound model may need none of it."""


def balance_of_model(case: ModelCase) -> tuple[balance.BalanceFit, Array] | None:
    """The balance of a model, and the axes (3, 3) forward, left and up in its ground; None with too little known."""
    fixed = case.fixed
    loads, time = case.loads, case.time
    # a wrong mass, which another check finds, is no error of a plate
    scale, _, left, fits = _residual(case)
    if not fits.any():
        return None
    acting = [scale * case.acting([load]) for load in loads]
    # errors at the ends of the motion are a part of the remainder, by whose size the balance is weighed
    known = case.covered(loads, time) & (np.linalg.norm(left[:, 3:], axis=1) < CAP * fixed.model.weight)
    known &= np.isfinite(left).all(axis=1)
    if not fixed.soles or not lasts_a_stride(fixed) or known.sum() < balance.SHORTEST_BALANCE * fixed.rate:
        return None
    up, side = fixed.model.up, fixed.sideward
    axes = np.stack([np.cross(up, side), -side, up])

    def turned(wrench: Array) -> Array:
        """Moment and force (T, 6) in the ground as force and moment forward, left and up."""
        return np.concatenate([wrench[:, 3:] @ axes.T, wrench[:, :3] @ axes.T], axis=1)

    twists = [scale * case.acting([replace(load, force=np.zeros_like(load.force))]) for load in loads]
    segments = {}
    for name, body in fixed.model.masses.items():
        share = body.mass / fixed.model.mass
        if share > SMALLEST_BODY:
            rate = fixed.about_root(fixed.need[:, fixed.model.body_number[name]])
            segments[name] = turned(rate - share * fixed.due)[known]
    size = fixed.model.weight * np.array([1.0, 1.0, 1.0, *[fixed.height / ROOT_HEIGHT] * 3])
    acts, twisted = ([turned(part)[known] for part in parts] for parts in (acting, twists))
    change = np.gradient(turned(np.sum(acting, axis=0)), time, axis=0)[known]
    return balance.BalanceFit(time[known], turned(left)[known], size, acts, twisted, change, segments), axes


def whole_wrench(case: ModelCase) -> Iterator[Finding]:
    """Find plates that are displaced, or whose free moment has the wrong sign, where nothing else was found."""
    standing = {entry.code for entry in case.findings if entry.severity != "note" and entry.repair is None}
    if standing - {*balance.HARMLESS, *UNLOADED}:
        return
    sides = [sole.side for load in case.loads if (sole := case.sole_of(load))]
    on_feet = len(sides) == len(case.loads) and not len(flight_spans(case))
    measured = balance_of_model(case) if on_feet else None
    if measured is None:
        return
    fit, axes = measured
    judged = balance.carrying_alone(fit, sides)
    sample = balance.observed(fit, [], sides, judged)
    every = len(judged) == len(case.loads) > 1
    for _ in [] if case.found("pressure_offset") else judged:
        # where mass and loads disagree one plate alone is not accused: what it lacks may be of the mass
        names = [] if case.found("mass") else [f"place {k}" for k in judged]
        names += ["place"] * every
        fits = balance.accusations(sample, names)
        if not fits:
            break
        name = balance.likeliest(fits)
        offset, error = (np.array([*part, 0.0]) @ axes for part in (fits[name].size, fits[name].deviation))
        concerned = (case.loads[int(name.split()[1])].name,) if " " in name else ()
        yield displaced(case, concerned, offset, np.abs(error), balance.DISPLACED, "warning")
        sample = sample.freed(name, balance.FOUND)
    groups = {"twist": judged} if every else {}
    groups |= {f"twist {k}": [k] for k in judged}
    for name, plates in groups.items():
        if not sample.terms[name].effect.any():
            continue
        estimate = sample.fit(name)
        (factor,), (deviation,) = 1.0 + estimate.size, estimate.deviation
        evidence = balance.evidence_of_reversal(estimate)
        if evidence is None or evidence < balance.REVERSED or factor > AGAINST:
            continue
        names = [case.loads[k].name for k in plates]
        repair = units.each_load(lambda load: replace(load, moment=-load.moment), names)
        values = {"loads": ", ".join(names), "factor": factor, "uncertain": deviation}
        values |= {"odds": min(np.exp(evidence), 1000.0)}
        yield case.fault("free_moment.loads", "warning", values, repair)
        return
