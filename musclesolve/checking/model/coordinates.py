"""Do coordinates fit this model on these loads? Units, rest, direction of walking, feet on the plates."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.message_text import few
from musclesolve._util.sides import twin
from musclesolve.checking.forces.newtons_law import eroded
from musclesolve.checking.model.load_units_and_axes import moved, on_bodies, sliding
from musclesolve.checking.model.model_case import (
    FEWEST_FRAMES,
    SCALED,
    ModelCase,
    Motion,
    largest,
    loads_on,
    shared_forces,
)
from musclesolve.checking.model.posture import walks
from musclesolve.opensim.model import GROUND
from musclesolve.pipeline.opensim.coordinate_motion import FEW_DEGREES
from musclesolve.pipeline.opensim.model_body import ModelBody
from musclesolve.results.finding import Finding, Severity, Where, finding

LOCKED = 5.0
"""Range of a locked angle in the file [degrees] from which its motion is lost."""
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
    given = model_body.motion.by_name(model_body.motion.value)
    return {
        name: np.degrees(given[name])
        for name in model_body.dofs
        if name in given
        and name not in inside
        and not model.coordinates[name].locked
        and model.coordinates[name].rotational
    }


def locked_coordinates(body: ModelBody) -> Iterator[Finding]:
    """Find locked angles that the file moves: the model stays where it locks them, and their muscles share nothing."""
    values, moved = body.motion.by_name(body.motion.value), {}
    crossed = frozenset().union(*body.model.crossing.values()) if body.model.crossing else frozenset()
    for name, value in values.items():
        coordinate = body.model.coordinates[name]
        size = float(np.degrees(np.ptp(value)))
        if coordinate.locked and coordinate.rotational and name in crossed and size > LOCKED:
            moved[name] = size
    if moved:
        said = few((f"{name} by {size:.0f} degrees" for name, size in moved.items()), 6)
        yield finding("locked_moved", "error", {"moved": said}, Where(body.motion.file))


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
    severity: Severity = "error" if traveled > TRAVELS or walks(turned) else "warning"
    yield finding("angle_units", severity, values, Where(body.motion.file))


def length_units(body: ModelBody, fixed: Motion) -> Iterator[Finding]:
    """Find translations of the root that are millimeters or centimeters read as meters."""
    speed = float(np.median(np.linalg.norm(np.gradient(fixed.origin, fixed.time, axis=0), axis=1)))
    if speed > FASTEST:
        values = {"speed": speed, "limit": FASTEST}
        yield finding("angle_units.lengths", "error", values, Where(body.motion.file))


def frozen_coordinates(body: ModelBody, fixed: Motion) -> Iterator[Finding]:
    """Find coordinates without any motion beside others that move."""
    angles = _joint_angles(body, fixed)
    ranges = {name: float(np.ptp(values)) for name, values in angles.items()}
    if not any(size > MOVING_RANGE for size in ranges.values()):
        return
    given, known = body.motion.by_name(body.motion.value), body.model.coordinates
    roots = [joint for joint in body.model.joints if joint.inboard.body == GROUND]
    free = [name for joint in roots for name in joint.coordinates if name in given and not known[name].locked]
    still = [name for name in free if np.ptp(given[name]) < CONSTANT]
    # a planar motion in space has three coordinates of the root at rest
    frozen = [name for name, size in ranges.items() if np.radians(size) < CONSTANT]
    for name in (*frozen, *(still if len(still) < 3 else ())):
        unit, factor = ("degrees", 180.0 / np.pi) if known[name].rotational else ("m", 1.0)
        mean, moves = factor * float(given[name].mean()), max(ranges.values())
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
        moments = [
            shared_forces(case, each, np.nan_to_num(each.need - loads_on(each, case.loads, case.time)))
            for each in (case.fixed, exchanged)
        ]
        values = {"now": now, "then": then}
        where = Where(motion.file)
        yield finding(
            "sides_swapped.coordinates",
            "error",
            values,
            where,
            cost=largest(case.body, moments[1] - moments[0]),
        )


def feet_on_plates(case: ModelCase) -> Iterator[Finding]:
    """Find feet above or below the plates that carry them, and feet that slide while they carry the body."""
    count = max(1, round(INNER * case.fixed.rate))
    where = Where(case.body.motion.file)
    off: dict[str, float] = {}
    for sole in case.fixed.soles:
        heights, carried = [], np.zeros((len(case.time), 3))
        for load in [load for load in case.loads if case.sole_of(load) is sole]:
            force, point, loaded = case.point(load)
            heights.append((sole.lowest - point[:, 1])[loaded])
            carried += np.nan_to_num(force)
        height = np.concatenate(heights) if heights else np.zeros(0)
        if len(height) >= FEWEST_FRAMES and not SOLE[0] < float(np.median(height)) < SOLE[1]:
            off[sole.body] = float(np.median(height))
        standing = case.covered(case.loads, case.time) & eroded(
            np.linalg.norm(carried, axis=1) > SCALED * case.fixed.weight, count
        )
        if standing.sum() >= FEWEST_FRAMES:
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
