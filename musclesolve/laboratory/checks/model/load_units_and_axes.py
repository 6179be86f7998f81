"""Checks of loads: units, axes of the model, and synchrony with the motion.

A body needs the force f of all loads F. Their sizes are compared where F is great, |f| / |F|, which is independent of
the axes of the loads. The axes follow from the one of 48 signed permutations Q of x, y and z with which k Q F is
nearest to f, each component over its own variation. Points are compared with the feet: a center of pressure lies under
a sole.

Synchrony is the shift with which the loads best carry and accelerate the body.

With f(t) the force that the body needs and g(t) the loads, k g(t + d + b (t - t_m)) = f(t) + e: a shift d, a drift b
where one of both clocks runs at another rate, and a scale k, so that a wrong mass does not count as a shift. From the
best shift of a search, all three follow by Gauss and Newton; their standard errors from the curvature of the misfit and
the correlation of what is left over time (`covariance`).

A second route: a loaded foot stands. A shift with which loads act on moving feet is rejected.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from typing import cast

import numpy as np

from musclesolve._util.arrays import Array, Mask, vector_product
from musclesolve._util.messages import few
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.laboratory.checks.forces.newtons_law import (
    EARLY_S,
    FARTHEST,
    SERIOUS,
    SMALLEST_S,
    shift_values,
)
from musclesolve.laboratory.checks.model.model_case import (
    CAP,
    LOADED,
    MEMORY,
    SCALED,
    Change,
    Fit,
    Loads,
    ModelCase,
    standard_errors,
)
from musclesolve.laboratory.checks.model.posture import FEW, walks
from musclesolve.laboratory.results.finding import Finding, error_if
from musclesolve.laboratory.trial.plates.foot_contacts import to_center_of_pressure
from musclesolve.models.opensim.external_loads import POINT_UNITS, SIGNED_AXES, ExternalLoad, axes_in_words
from musclesolve.models.opensim.model import GROUND, TO_GLOBAL
from musclesolve.tables.cells import free_moment


def each_load(change: Callable[[ExternalLoad], ExternalLoad], names: Sequence[str] = ()) -> Change:
    """Change every load, or the loads of some names."""
    return lambda loads: tuple(change(load) if not names or load.name in names else load for load in loads)


def scaled(factor: float | Array, roles: Sequence[str], names: Sequence[str] = ()) -> Change:
    """Multiply force, point or moment of all loads, or of some, by a factor, or by one for each axis (3,)."""
    return each_load(lambda one: replace(one, **{role: factor * getattr(one, role) for role in roles}), names)


def delayed(shift: float, drift: float = 0.0, middle: float = 0.0) -> Change:
    """Take loads that act at t + shift + drift (t - middle) as the loads at the time t [s]."""
    return each_load(lambda load: replace(load, time=(load.time - shift + drift * middle) / (1.0 + drift)))


def turned(axes: Array, roles: Sequence[str], names: Sequence[str] = ()) -> Change:
    """Turn or mirror force, point and moment of loads, or of some, by a signed permutation (3, 3) of their axes."""
    of_role = {"force": axes, "point": axes, "moment": np.linalg.det(axes) * axes}
    parts = {role: of_role[role].T for role in roles}
    return each_load(lambda one: replace(one, **{x: getattr(one, x) @ parts[x] for x in parts}), names)


def moved(offset: Array, names: Sequence[str] = ()) -> Change:
    """Add an offset (3,) [m] to the points of all loads, or of some."""
    return each_load(lambda load: replace(load, point=load.point + offset), names)


def on_bodies(body_of: dict[str, str]) -> Change:
    """Let loads act on other bodies, by the names of the loads."""
    return each_load(lambda load: replace(load, body=body_of.get(load.name, load.body)), tuple(body_of))


def contacts_on(name: str, body_of_contact: Sequence[tuple[float, float, str]]) -> Change:
    """Let a load act on one body after another: from the middle of one pause between contacts to the middle of the
    next.

    body_of_contact: first and last time [s] of each contact of the load, and the body that it acts on.
    """
    spans = sorted(body_of_contact)
    ends = np.array([0.5 * (before[1] + after[0]) for before, after in pairwise(spans)])
    bodies = np.array([body for _, _, body in spans])

    def parts(load: ExternalLoad) -> Iterator[ExternalLoad]:
        for body in dict.fromkeys(bodies.tolist()):
            mine = (bodies[np.searchsorted(ends, load.time)] == body)[:, None]
            force, moment = (np.where(mine, values, 0.0) for values in (load.force, load.moment))
            yield replace(load, body=body, force=force, moment=moment)

    return lambda loads: tuple(part for one in loads for part in (parts(one) if one.name == name else (one,)))


HUMAN = 2.0, 640.0
"""Least and greatest mass of a person [kg]."""
OTHER_UNIT = 1.6
"""Factor from which loads are in another unit, or halved: no error of a body mass is so large."""
NEAR = 1.3
"""Factor within which a unit is named as the cause."""
BELOW, AWAY = 0.12, 0.4
"""Distance from a sole within which a point can be its center of pressure, and distance from which it cannot [m]."""
NEARER = 0.25
"""Share of their distance from the feet within which other axes bring points that lie below a foot: an offset of a
plate is brought there by chance alone."""
THICK = 0.1
"""Heel and toe lie no more than this above the ground when the foot carries the body [m]."""
TWISTED, TURNS = 0.15, 0.018
"""Limits of the greatest free moment over the greatest force [m], larger than half the width of a foot, and of a foot
that walks: sound walks have up to 0.011."""
AGAIN = ", and compute the moments again", ""
"""The end of a remedy of loads that were found in moments, and of others."""
BETTER, UNLIKE, FOREIGN = 0.6, 0.35, 0.6
"""Share of the misfit after a change of axes from which the axes are wrong, if the loads do not fit the body; misfit in
the best axes from which loads on feet that go are of another time: sound walks have 0.3, loads 0.4 s away 1.1."""


def roles_of_unit(case: ModelCase, names: Sequence[str] = ()) -> list[str]:
    """Force and moment where moments are small relative to the forces of loads; else they have another unit."""
    loads = [load for load in case.loads if not names or load.name in names]
    twist = max((float(np.abs(load.moment).max(initial=0.0)) for load in loads), default=0.0)
    force = max((float(np.linalg.norm(load.force, axis=1).max(initial=0.0)) for load in loads), default=0.0)
    return ["force", "moment"] if twist < TWISTED * force else ["force"]


def named_unit(units: Mapping[str, float], factor: float) -> tuple[str, float]:
    """The unit with the nearest factor and this factor; no name and the factor itself where none is near."""
    unit, right = min(units.items(), key=lambda pair: abs(np.log(pair[1] / factor)))
    return (unit, right) if abs(np.log(right / factor)) < np.log(NEAR) else ("", factor)


def force_unit(case: ModelCase) -> Iterator[Finding]:
    """Compare the sizes of loads with the force that the body needs."""
    force, needed = case.force(case.loads), case.fixed.due[:, 3:]
    size, due = np.linalg.norm([force, needed], axis=2)
    great = (size > SCALED * np.quantile(size, 0.9)) & case.inside
    if great.sum() < case.fixed.fewest or not size.max() > 0.0:
        return
    if np.median((force * needed).sum(axis=1)[great]) < 0.0:  # a weight in a hand, or another sign
        return
    factor, mass = float(np.median(due[great] / size[great])), case.fixed.model.mass
    if 1.0 / OTHER_UNIT < factor < OTHER_UNIT:
        return
    if not HUMAN[0] < mass < HUMAN[1] and HUMAN[0] < mass / factor < HUMAN[1]:
        masses = {"given": round(mass, 3), "fitting": mass / factor, "factor": 1.0 / factor}
        yield case.fault("mass.unit", "error", masses)
        return
    units = {"kilonewtons": 1000.0, "newtons per kilogram": mass, "body weights": mass * STANDARD_GRAVITY}
    units |= {"pounds": 4.448, "kilograms": STANDARD_GRAVITY, "millinewtons": 0.001}
    unit, used = named_unit(units, factor)
    said = unit if "newtons" in unit else f"in {unit or 'no known unit, or masses of the model are wrong'}"
    of_person = f"; or correct the masses of the model, if the person has {mass / factor:.0f} kg"
    values = {"share": 1.0 / factor, "unit": said, "factor": used, "mass": mass}
    values["or_mass"] = of_person if 0.25 < factor < 4.0 else ""
    yield case.fault("force_units.loads", "error", values, scaled(used, roles_of_unit(case)))


def nearness(case: ModelCase, loads: Sequence[ExternalLoad]) -> float:
    """Return the distance of loads from the nearer sole [m]: the median over their loaded frames, of the farthest load.

    NaN where no load carries anything, or there are no feet.
    """
    far = []
    for load in loads:
        _, point, loaded = case.point(load)
        if loaded.sum() >= case.fixed.fewest and case.fixed.soles:
            above = [np.abs(sole.lowest - point[:, 1])[loaded] - THICK for sole in case.fixed.soles]
            beside = [sole.distance(point[loaded], loaded) for sole in case.fixed.soles]
            far.append(float(np.median(np.hypot(beside, np.maximum(above, 0.0)).min(axis=0))))
    return max(far, default=np.nan)


def about_point(load: ExternalLoad) -> ExternalLoad:
    """Return a load whose moments about a fixed point are free moments at its points of force; others as they are."""
    up = int(np.abs(load.force.sum(axis=0)).argmax())
    free = free_moment(load.force, load.point, load.moment, up)
    return load if free is None else replace(load, moment=free)


def at_soles(case: ModelCase) -> ModelCase:
    """Return the case with the loads on feet at their centers of pressure, in the plane of the sole: the same wrenches.

    A center of pressure is unchanged, and a point within `THICK` of the height of a sole keeps its height. Loads whose
    moments lead to no foot are unchanged: their moments are in another unit, or their axes are others.
    """

    def at_sole(load: ExternalLoad) -> ExternalLoad:
        sole, (_, point, loaded) = case.sole_of(load), case.point(load)
        in_ground = (load.force_frame, load.point_frame) == (GROUND, GROUND)
        if sole is None or not in_ground or not loaded.any() or not load.moment[:, [0, 2]].any():
            return load
        if about_point(load) is not load:  # another wrench, which is reported
            return load
        above = float(np.median(point[loaded, 1] - sole.lowest[loaded]))
        lower = np.array([0.0, above if THICK < abs(above) < AWAY else 0.0, 0.0])
        moment = load.moment + vector_product(np.broadcast_to(lower, load.force.shape), load.force)
        parts = (part @ TO_GLOBAL.T for part in (load.force, load.point - lower, moment))
        at, free = (part @ TO_GLOBAL for part in to_center_of_pressure(*parts))
        return replace(load, point=at, moment=free)

    loads = tuple(at_sole(load) for load in case.loads)
    pairs = zip(loads, case.loads, strict=True)
    if any(nearness(case, [load]) > max(AWAY, nearness(case, [stated])) for load, stated in pairs):
        return case
    return replace(case, loads=loads, given=loads)


def groups(case: ModelCase) -> list[list[str]]:
    """Names of the loads that may have a fault in common: of all loads, then of each one."""
    names = [load.name for load in case.loads]
    return [names, *([name] for name in names if len(names) > 1)]


def named(case: ModelCase, names: Sequence[str]) -> Loads:
    """The loads of some names."""
    return tuple(load for load in case.loads if load.name in names)


def exchanged_plates(case: ModelCase) -> Iterator[Finding]:
    """Find copies of loads, and points that lie under the foot of the other load while both carry, not at all times."""

    def far(load: ExternalLoad, foot: ExternalLoad, some: Mask) -> float:
        """Median distance of the point of a load in some frames from the foot of a load [m]; NaN without one."""
        sole = case.sole_of(foot)
        return float(np.median(sole.distance(case.point(load)[1][some], some))) if sole else np.nan

    for one, other in combinations(case.loads, 2):
        values: dict[str, object] = {"one": one.name, "other": other.name}
        if one.force.any() and np.array_equal(one.force, other.force) and walks(case.fixed):
            yield case.fault("plates_swapped.copy", "error", values)
            return
        (*_, here), (*_, there) = case.point(one), case.point(other)
        if (both := here & there).sum() < FEW:
            continue
        now = min(far(one, one, both), far(other, other, both))
        then = max(far(one, other, both), far(other, one, both))
        if now > BELOW > then and max(far(one, other, here), far(other, one, there)) > BELOW:
            yield case.fault("plates_swapped.load_points", "error", values | {"now": now, "then": then})
            return


def point_unit(case: ModelCase) -> Iterator[Finding]:
    """Compare the points of all loads, or of one, with the feet."""
    for names in groups(case):
        loads = named(case, names)
        now = nearness(case, loads)
        for unit, factor in list(POINT_UNITS.items())[1:]:
            points = scaled(factor, ["point"])(loads)
            # points in a greater unit all lie at the origin of the laboratory, where a foot may stand
            if now > (AWAY if factor < 1.0 else BELOW) and any(
                nearness(case, turned(axes, ["point"])(points)) < BELOW for axes in SIGNED_AXES
            ):
                values = {"load": few(names), "now": now, "unit": unit, "factor": factor, "limit": BELOW}
                yield case.fault("point_units.loads", "error", values, scaled(factor, ["point"], names))
                return


def moment_unit(case: ModelCase) -> Iterator[Finding]:
    """Compare free moments with forces, and find free moments that are zero in a walk."""
    walking, zero = walks(case.fixed), list[str]()
    force = max(float(np.linalg.norm(load.force, axis=1).max(initial=0.0)) for load in case.loads)
    for load in case.loads:
        most = float(np.quantile(np.linalg.norm(load.moment, axis=1), 0.99))
        if about_point(load) is not load:
            values = {"load": load.name, "moment": most}
            yield case.fault("free_moment.origin", "error", values, each_load(about_point, [load.name]))
        elif most > TWISTED * force > 0.0 and load.force.any():
            values = {"load": load.name, "moment": most, "limit": TWISTED * force}
            yield case.fault("moment_units.loads", "error", values, scaled(0.001, ["moment"], [load.name]))
        elif walking and case.sole_of(load) and load.force.any():
            zero += [load.name] * (not load.moment.any())
            if most > TURNS * force:
                values = {"moment": most, "arm": most / force, "limit": TURNS}
                yield case.fault("free_moment.large", "warning", values)
    if zero:
        yield case.fault("free_moment.zero", "warning", {"loads": few(zero)})


def axes_of_loads(case: ModelCase) -> Iterator[Finding]:
    """Find the axes in which forces accelerate the body and points lie under its feet: of all loads, or of one."""

    def left(fault: Finding) -> tuple[float, float]:
        assert fault.repair is not None
        loads = fault.repair(case.loads)
        force = case.force(loads)
        return case.misfit(force, case.scale(force)), nearness(case, loads)

    if faults := [fault for names in groups(case) for fault in _axes_of(case, names)]:
        yield min(faults, key=left)


def _axes_of(case: ModelCase, names: Sequence[str]) -> Iterator[Finding]:
    """Find the axes of the loads of some names."""
    loads, force, due = named(case, names), case.force(case.loads), case.fixed.due[:, 3:]
    spread = np.maximum(due.std(axis=0), 0.02 * case.fixed.model.weight)
    great = np.linalg.norm(force, axis=1) > SCALED * np.quantile(np.linalg.norm(force, axis=1), 0.9)
    if great.sum() < case.fixed.fewest:
        return
    size = float(np.median(np.linalg.norm(due[great], axis=1) / np.linalg.norm(force[great], axis=1)))

    # misfits (48, T) of forces in all axes, each component over its spread
    turning = size * case.force(loads)
    off = (turning @ np.transpose(SIGNED_AXES, (0, 2, 1)) + size * force - turning - due) / spread
    # frames in which some axes fit: not those in which a foot stands beside the plates
    fitting = np.linalg.norm(turning, axis=1) > SCALED * np.linalg.norm(due, axis=1)
    if fitting.sum() < case.fixed.fewest:
        return
    scores = np.minimum((off**2).mean(axis=2), 4.0)[:, fitting].mean(axis=1)
    if scores.min() > FOREIGN and sliding(case) >= GOES:
        return  # loads of another time
    same = int(scores.argmin()) if scores.min() < BETTER * scores[0] and scores[0] > UNLIKE else 0
    force_axes, now = SIGNED_AXES[same], nearness(case, loads)
    if np.array_equal(force_axes, -np.eye(3)):
        repair = turned(-np.eye(3), ["force"], names)
        share = float((due[:, 1] * force[:, 1]).sum() / (due[:, 1] ** 2).sum())
        yield case.fault("force_sign.loads", "error", {"share": share}, repair)
        return
    if same:
        # points are turned with the forces, unless they already lie under the feet
        near = nearness(case, turned(force_axes, ["point"])(loads))
        together = near < max(BELOW, 0.5 * now)
        roles, axes = ["force", "point", "moment"] if together else ["force", "moment"], force_axes
    elif now > BELOW:
        points = [nearness(case, turned(axes, ["point"])(loads)) for axes in SIGNED_AXES]
        roles, axes, near = ["point"], SIGNED_AXES[int(np.nanargmin(points))], min(points)
        if not near < min(BELOW, NEARER * now):
            return
    else:
        return
    repair = turned(axes, roles, names)
    of_roles = {3: "forces and points", 2: "forces", 1: "points"}[len(roles)]
    values = {"roles": of_roles, "loads": few(names), "axes": axes_in_words(axes), "far": now}
    values |= {"now": scores[0] ** 0.5, "near": near if "point" in roles else now}
    values |= {"then": scores[same] ** 0.5, "again": AGAIN[case.body.moment_table is None]}
    name = "plate_axes.points" if roles == ["point"] else "plate_axes.loads"
    yield case.fault(name, "error", values, repair)


SHIFT_STEP = 0.01
"""Step of the search [s]: the misfit is smooth over a tenth of the period of the usual cut-off."""
CLEAR = 2.5
"""Number of standard errors from which a shift or drift is reported."""


def exceeds(value: float, limit: float, error: float) -> bool:
    """Whether a value is beyond the errors of models (limit) and chance (`CLEAR` standard errors), added as squares."""
    return bool(abs(value) > np.hypot(limit, CLEAR * error))


LARGE_CHANGE = 1.0
"""Change of a moment over the mass [N m/kg] from which any delay is an error, about as much as hips have in walking."""
DRIFTS, SERIOUS_DRIFT = 0.035, 0.06
"""Difference of the rates of two clocks that is reported, and that is an error. Rates in use differ by 4 % and more (50
and 48, 120 and 125 Hz); sound recordings of one cycle show up to 0.024. In longer recordings a smaller difference is
reported: one that shifts the ends by `SERIOUS` against the middle; sound recordings come to 0.021 s."""
AT_RATE = 0.9
"""Share of the misfit that remains at a rate that is an error: 0.34 to 0.62 of such clocks, 0.97 where a contact is
missing."""
WINDOW = 4.0
"""Span about the middle from which shift and drift are followed outward [s]: clocks that differ by a few per cent shift
its ends by less than a step."""
CYCLE = 1.0
"""Approximate duration of a cycle [s]: in a shorter recording errors of the body model, which vary with the cycle,
imitate a shift of up to `SERIOUS`, and no drift is measured; in less than half of it any shift."""
LEAST_OVERLAP = 0.7
"""Least share of the frames within the loads at a shift that is examined."""
EXPLAINED = 0.5
"""Least share of the misfit that loads must explain to be judged."""
UNCLEAR = 0.3
"""Misfit from which the best shift is rejected: sound walks come to 0.19, walks with a missing plate to 0.42."""
UNBALANCED = 0.15
"""Residual moment, over the weight times the height of the root, from which no shift or clock is the cause: right ones
leave up to 0.05, with a reversed tilt or list of the pelvis 0.24 and more are left."""
STANDS = 0.05
"""Allowed increase of the speed of loaded feet at the best shift [m/s]: sound recordings come to 0.01, recordings with
a missing plate to 0.15."""


def best_fit(case: ModelCase, farthest: float = 0.0) -> Fit | None:
    """The shift, drift and scale with which the loads fit best; None where they do not fit at any.

    farthest: shifts up to this one [s] are tried; without, the best one near zero is found.
    """
    shift = _nearest_shift(case, farthest)
    key = f"fit from {shift}"
    if key not in case.known:  # searches with the same best shift end at the same fit
        case.known[key] = None if shift is None else _fit_from(case, shift)
    return cast(Fit | None, case.known[key])


def _followed(time: Array) -> tuple[list[float], Array]:
    """Spans about the middle, each twice the one before, up to all times (T,), and how far each time is from it."""
    spans = [float(np.ptp(time))]
    while spans[0] > WINDOW:
        spans.insert(0, 0.5 * spans[0])
    return spans, np.abs(time - 0.5 * (time[0] + time[-1]))


def _nearest_shift(case: ModelCase, farthest: float) -> float | None:
    """The shift up to the farthest one [s] with the least misfit in the first span; None where no loads fit."""
    loads, time, (spans, from_middle) = case.loads, case.time, _followed(case.time)
    misfits, tried = list[tuple[float, float]](), dict[float, Mask]()
    for shift in np.arange(-farthest, farthest + SHIFT_STEP / 2, SHIFT_STEP).tolist():
        inside = case.covered(loads, time + shift)
        if inside.mean() >= LEAST_OVERLAP and inside.sum() >= case.fixed.fewest:
            tried[shift] = inside & (from_middle <= 0.5 * spans[0] + 1e-9)
    forces = case.forces(loads, [time + shift for shift in tried])
    for (shift, inside), force in zip(tried.items(), forces, strict=True):
        if (scale := case.scale(force, inside)) > 0.0:
            misfits.append((case.misfit(force, scale, inside), shift))
    return min(misfits)[1] + 0.0 if misfits else None


def _fit_from(case: ModelCase, shift: float) -> Fit | None:
    """Newton's steps from a shift [s], in one span after the other."""
    loads, time, due = case.loads, case.time, case.fixed.due[:, 3:]
    middle, (spans, from_middle) = float(time.mean()), _followed(time)
    drift, memory = 0.0, round(MEMORY * case.fixed.rate)
    for span in np.repeat(spans, 6):
        now = time + shift + drift * (time - middle)
        force = case.force(loads, now)
        inside = case.covered(loads, now) & (from_middle <= 0.5 * span + 1e-9)
        scale = case.scale(force, inside)
        if not scale > 0.0:
            return None
        left = due - scale * force
        # frames in which the loads carry the body and no foot stands beside the plates
        kept = inside & (np.linalg.norm(left, axis=1) < CAP * case.fixed.model.weight)
        kept &= (np.linalg.norm(force, axis=1) > LOADED * case.fixed.model.weight) & case.inside
        if kept.sum() < case.fixed.fewest:
            return None
        rate = np.gradient(force, time, axis=0) / (1.0 + drift)
        patterns = np.stack([scale * rate, scale * (time - middle)[:, None] * rate, force], axis=2)
        used = [0, 2] if np.ptp(time[kept]) < CYCLE else [0, 1, 2]
        change, errors = np.zeros((2, 3))
        change[used], errors[used] = standard_errors(patterns[kept][:, :, used], left[kept], memory)
        shift += float(np.clip(change[0], -SHIFT_STEP, SHIFT_STEP))
        drift = float(np.clip(drift + change[1], -0.2, 0.2)) if 1 in used else 0.0
    now = time + shift + drift * (time - middle)
    inside = case.covered(loads, now)
    force = case.force(loads, now)
    inside &= np.linalg.norm(force, axis=1) > LOADED * case.fixed.model.weight
    if not inside.any():
        return None
    misfit = case.misfit(force, scale, inside)
    if misfit > (1.0 - EXPLAINED) * case.misfit(0.0 * force, 1.0, inside):
        return None
    return Fit(shift, drift, float(scale), errors, misfit)


GOES = 0.4
"""Speed of loaded feet [m/s] beyond which any shift is tried, and half of which shows the right one: loads 0.4 s away
give 0.63 and more, right ones 0.14."""


def sliding(case: ModelCase, shift: float = 0.0, drift: float = 0.0) -> float:
    """Speed [m/s] of the feet over the ground, averaged with the force on them, with loads shifted in time."""
    time = case.time
    when = time + shift + drift * (time - time.mean())
    both = case.covered(case.loads, when) & case.covered(case.loads, time)
    moved = total = 0.0
    for load in case.loads:
        if sole := case.sole_of(load):
            force = np.linalg.norm(case.force([load], when), axis=1) * both
            moved += float(force @ case.fixed.foot_speed(sole))
            total += float(force.sum())
    return moved / total if total > 0.0 else 0.0


def shift_of_loads(case: ModelCase) -> Iterator[Finding]:
    """Find a shift in time between loads and motion, or clocks of different rates."""
    speed = sliding(case)
    fit = best_fit(case, FARTHEST if speed < GOES else float(np.ptp(case.time)))
    if fit is None or np.ptp(case.time) < 0.5 * CYCLE or case.found("time_offset"):
        return
    then = sliding(case, fit.shift, fit.drift)
    is_away = speed >= GOES > 2.0 * then
    if not is_away and (fit.misfit > UNCLEAR or then > speed + STANDS):
        return  # with a missing load a shift would put other loads onto swinging feet
    repair = delayed(fit.shift, fit.drift, float(case.time.mean()))
    left, kept = case.left_by(repair(case.loads), case.acting(repair(case.loads)), fit.scale)
    turning = np.linalg.norm(left[kept, :3]) / np.sqrt(max(1, kept.sum()))
    if case.fixed.soles and turning > UNBALANCED * case.fixed.model.weight * case.fixed.height:
        return  # a wrong pose of the trunk has other accelerations
    limit = min(DRIFTS, 2.0 * SERIOUS / float(np.ptp(case.time)))
    if abs(fit.drift) > max(limit, CLEAR * fit.errors[1]):
        as_is, at_rate = (case.force(loads) for loads in (case.loads, repair(case.loads)))
        remains = case.misfit(at_rate, case.scale(at_rate)) / case.misfit(as_is, case.scale(as_is))
        grave = abs(fit.drift) > limit / DRIFTS * SERIOUS_DRIFT
        if grave and remains > AT_RATE:
            return  # a load that is missing has any rate
        values = {"others": "loads", "rate": 1.0 / (1.0 + fit.drift), "error": fit.errors[1], "limit": limit}
        values |= {"from_time": case.time[0], "to_time": case.time[-1]}
        yield case.fault("clock_rate", error_if(grave), values, repair)
        return
    # where the loads last a cycle, the rate of their clock is known, too
    limit = (SMALLEST_S if fit.shift > 0.0 else EARLY_S) if fit.errors[1] > 0.0 else SERIOUS
    if abs(fit.shift) < max(limit, CLEAR * fit.errors[0]):
        return
    values = {"error": fit.errors[0], "again": AGAIN[case.body.moment_table is None]}
    values |= shift_values(fit.shift, limit)
    delay = case.fault("time_offset.loads", "warning", values, delayed(fit.shift))
    changed = 0.0 if delay.cost is None else delay.cost.size
    grave = abs(fit.shift) >= SERIOUS or changed > LARGE_CHANGE * case.fixed.model.mass
    yield replace(delay, severity=error_if(grave))
