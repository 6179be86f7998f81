"""Are coordinates in radians and meters, and does a column leap?

The sample x_k of a column differs from the cubic through two samples on either side of it by

    r_k = x_k - (4 (x_{k-1} + x_{k+1}) - x_{k-2} - x_{k+2}) / 6.

Where one sample alone is wrong by s, r is s there; where a column steps by s, r is s/2 and -s/2 in two frames. The size
of r beside all other r of the column separates a leap from noise: public walks have no r of 8 times the usual size.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.messages import count_of, few
from musclesolve.errors import InputError
from musclesolve.laboratory.checks.model.model_case import SERIOUS, ModelCase, largest
from musclesolve.laboratory.results.finding import Cost, Finding, Severity, Where, error_if, finding
from musclesolve.models.opensim.coordinate_motion import FEW_DEGREES, coordinate_motion
from musclesolve.models.opensim.inverse_dynamics import inverse_dynamics
from musclesolve.models.opensim.load_dynamics import whole_motion
from musclesolve.models.opensim.model_body import ModelBody

FASTEST = 50.0
"""Median speed of the root that no person reaches [m/s]; in millimeters, walking has 300 to 1300."""
SWINGS = 1.0
"""Speed of a foot beside the root that shows a motion of the legs [m/s]: their angles are no few degrees."""
LEAPS = 20.0
"""Times the 0.9 quantile of |r| of its column from which r is a leap."""
LEAST = np.radians(2.0), 0.02
"""Least leap of an angle [rad] and of a translation [m]."""


def angle_units(case: ModelCase) -> Iterator[Finding]:
    """Find angles that are radians read as degrees: none moves by a few degrees, and in radians the feet swing."""
    body, motion, known = case.body, case.body.motion, case.model.coordinates
    values = motion.by_name(np.degrees(motion.value))
    angles = [
        name for name in body.dofs if name in values and known[name].rotational and not known[name].locked
    ]
    most = max((float(np.abs(values[name]).max()) for name in angles), default=np.inf)
    if not most < FEW_DEGREES:
        return
    factor = np.where([known[name].rotational for name in motion.names], 180.0 / np.pi, 1.0)
    turned = replace(
        motion,
        value=factor * motion.value,
        speed=factor * motion.speed,
        acceleration=factor * motion.acceleration,
    )
    swinging = ModelCase.from_body(replace(body, motion=turned, dynamics=None))
    beside = [foot.heel - _root(swinging) for foot in swinging.feet]
    speeds = [np.linalg.norm(np.gradient(way, case.time, axis=0), axis=1) for way in beside]
    swings = bool(speeds) and min(float(np.quantile(speed, 0.98)) for speed in speeds) > SWINGS
    said = {"most": most, "limit": FEW_DEGREES, "radians": np.degrees(most)}
    yield finding("angle_units", error_if(swings), said, Where(motion.file))


def length_units(case: ModelCase) -> Iterator[Finding]:
    """Find translations of the root that are millimeters or centimeters read as meters."""
    speed = float(np.median(np.linalg.norm(np.gradient(_root(case), case.time, axis=0), axis=1)))
    if speed > FASTEST:
        values = {"speed": speed, "limit": FASTEST}
        yield finding("angle_units.lengths", "error", values, Where(case.body.motion.file))


def _root(case: ModelCase) -> Array:
    """Origin (T, 3) [m] of the body at the root."""
    return case.bodies.pose.position[:, case.model.body_number[case.model.roots[0].outboard.body]]


def beside_cubic(columns: Array) -> Array:
    """The difference r (T, K) of each sample from the cubic through its neighbors; zero in two frames at both ends."""
    rest = np.zeros_like(columns)
    near = 4.0 * (columns[1:-3] + columns[3:-1]) - columns[:-4] - columns[4:]
    rest[2:-2] = columns[2:-2] - near / 6.0
    return rest


def leaps(columns: Array, least: Array) -> Mask:
    """Samples (T, K) of columns that leap by more than the least leap (K,): the greatest |r| of each five frames."""
    if len(columns) < 20:
        return np.zeros(columns.shape, bool)
    size = np.abs(beside_cubic(columns))
    large = size > np.maximum(least, LEAPS * np.quantile(size, 0.9, axis=0))
    for by in (-2, -1, 1, 2):
        large &= size >= np.roll(size, by, axis=0)
    return large


def leaps_of_coordinates(body: ModelBody) -> Iterator[Finding]:
    """Find coordinates that leap in the file, before any filter; the largest leap stands for all."""
    motion, model = body.every_motion, body.model
    if motion.measured is None:
        return
    angles = np.array([model.coordinates[name].rotational or name in model.turning for name in motion.names])
    least, follow = np.where(angles, *LEAST), [coupler.dependent for coupler in model.couplers]
    found = leaps(motion.measured, least) & ~np.isin(motion.names, follow)
    if not found.any():
        return
    rest, frames = beside_cubic(motion.measured), np.flatnonzero(found.any(axis=1))
    at, k = np.unravel_index(int((np.abs(rest) / least * found).argmax()), found.shape)
    others = [name for j, name in enumerate(motion.names) if found[:, j].any() and j != k]
    more = f"; {few(others, 3)} leap{'s' * (len(others) == 1)}, too" if others else ""
    more += f" ({count_of(len(frames), 'frame')})" if len(frames) > 1 else ""
    unit, factor = ("degrees", 180.0 / np.pi) if angles[k] else ("m", 1.0)
    values: dict[str, object] = {"name": motion.names[k], "unit": unit, "more": more, "time": motion.time[at]}
    values |= {"value": factor * motion.measured[at, k], "size": factor * rest[at, k]}
    times = tuple((time, time) for time in motion.time[frames].tolist())
    cost = _cost(body, found)
    severity: Severity = "note"
    if cost is not None:
        severity = error_if(cost.size > SERIOUS * body.mass)
    yield finding("single_leap", severity, values, Where(motion.file, times=times), cost=cost)


def _cost(body: ModelBody, leap: Mask) -> Cost | None:
    """The change of the moments [N m] without some leaps (T, K); None where masses or free angles are unknown."""
    motion, model = body.every_motion, body.model
    loads = body.dynamics.loads if body.dynamics and body.moment_table is None else ()
    if motion.measured is None or model.mass_faults or not model.mass > 0.0 or body.settings.files.predicted:
        return None
    mended = np.where(leap, motion.measured - beside_cubic(motion.measured), motion.measured)
    without = coordinate_motion(model, {"time": motion.time, **motion.by_name(mended)}, motion.cutoff_hz)
    moments = []
    for one in (motion, without):
        frames = one.frames(np.isin(one.time, body.motion.time))
        try:
            dynamics = inverse_dynamics(model, whole_motion(model, frames), loads)
        except InputError:
            return None
        moments.append(np.stack([dynamics.column(name) for name in body.dofs], axis=1))
    return largest(body, moments[1] - moments[0])
