"""A model trial under examination: the wrenches that its bodies need, and the loads with the repairs so far.

Bodies that move freely need the wrench w(t) from the ground, about the origin of the body at the root; loads give
g(t). The misfit of the loads is the remaining force,

    J = mean over the frames of min(|k g(t + d) - f(t)|, C)^2 / C^2,

with f the force of w, a scale k and a shift d in time. The loss is capped at C, so that frames in which a foot stands
beside the plates count the same in every hypothesis. w is computed once, g is computed again for every hypothesis.
Loads are filtered like the coordinates, because the accelerations have no parts above the cut-off.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from musclesolve._util.arrays import Array, Mask, covariance, within
from musclesolve._util.long_arrays import in_blocks
from musclesolve._util.sides import SIDES
from musclesolve.dynamics.kinematics.low_pass import low_pass, lowest_carried
from musclesolve.laboratory.checks.case import moment_cost
from musclesolve.laboratory.checks.model.muscles import size_of
from musclesolve.laboratory.results.finding import Cost, Finding, Severity, Where, finding
from musclesolve.models.opensim.coordinate_motion import CoordinateMotion
from musclesolve.models.opensim.external_loads import (
    ExternalLoad,
    foot_of_side,
    load_force,
    load_in_ground,
    load_wrench,
)
from musclesolve.models.opensim.inverse_dynamics import (
    BodyDynamics,
    ModelMotion,
    body_dynamics,
    coupled_forces,
    inertial_wrench,
    joint_forces,
)
from musclesolve.models.opensim.kinematics import BodyMotion, body_motion
from musclesolve.models.opensim.load_dynamics import foot_bodies, whole_motion
from musclesolve.models.opensim.model import OpenSimModel
from musclesolve.models.opensim.model_body import ModelBody
from musclesolve.models.opensim.segments import segments

Loads = tuple[ExternalLoad, ...]
Change = Callable[[Loads], Loads]

CUTOFF_HZ = 6.0
"""Frequency below which motion, loads and moments are compared [Hz]: above it accelerations are noise, or filtered."""
CAP = 0.25
"""Cap C of the residual force [body weights], beyond which a frame only counts as not fitting."""
LOADED = 0.05
"""Force [body weights] from which a foot stands on a plate."""
SCALED = 0.5
"""Share of the 0.9 quantile of the loads from which a frame shows their scale."""
SMOOTHED = 1 << 19
"""Count of numbers that are filtered together."""
FEWEST_FRAMES, SHORTEST_S = 10, 0.1
"""Least number of frames for a check, and their least duration [s]."""
MEMORY = 0.15
"""Correlation time of the errors of accelerations and loads [s]: about the period of the usual cut-off."""
PASSES = 1.0
"""Speed above which both ends of the other foot swing, so that one foot alone carries the body [m/s]. From 0.7 to 1.5
the moments of five sound walks leave the same, or less at a higher speed."""
STILL = 0.3
"""Share of the frames, the slowest ones of a foot, in which it stands."""
BELTS = np.arange(0.7, 1.51, 0.02)
"""Velocities of a belt that are tried, as multiples of the median velocity of the heels: walks have 1.1 to 1.3."""
WALKS = 0.4
"""Least walking speed over the ground [m/s]; a slower body walks on a belt."""


AT_ANKLE, TO_HEEL = 0.02, (0.049, 0.042, 0.0)
"""Distance from its ankle to the origin of a foot that lies in the ankle, and the way back and down to the heel of an
adult [m], as the origin of the calcaneus of the public models has it."""


@dataclass(frozen=True, eq=False)
class Sole:
    """A foot: its bodies and, in every frame, the line from heel to toe (T, 3) [m] under which the pressure acts."""

    side: str
    body: str  # the body that usually carries the load
    bodies: tuple[str, ...]
    heel: Array
    toe: Array

    def place(self, point: Array, frames: Mask | slice = slice(None)) -> tuple[Array, Array, Array]:
        """Way (F,) [m] of points (F, 3) along the line from the heel, their place right of it, and its length."""
        heel = self.heel[frames][:, [0, 2]]
        ahead, away = self.toe[frames][:, [0, 2]] - heel, point[:, [0, 2]] - heel
        long = np.maximum(np.linalg.norm(ahead, axis=1), 1e-9)
        ahead /= long[:, None]
        return (away * ahead).sum(axis=1), ahead[:, 0] * away[:, 1] - ahead[:, 1] * away[:, 0], long

    def distance(self, point: Array, frames: Mask | slice = slice(None)) -> Array:
        """Horizontal distance (F,) [m] of points (F, 3) from the line, extended by a third beyond the toe."""
        along, right, long = self.place(point, frames)
        return np.asarray(np.hypot(along - np.clip(along, 0.0, 4.0 / 3.0 * long), right))

    @property
    def lowest(self) -> Array:
        """Height (T,) [m] of the lower one of heel and toe."""
        return np.minimum(self.heel[:, 1], self.toe[:, 1])


@dataclass(frozen=True, eq=False)
class Fit:
    """Shift d [s], drift of the shift [s/s] and scale k of loads with which they fit best, with standard errors."""

    shift: float
    drift: float
    scale: float
    errors: Array  # (3,) of shift, drift and scale
    misfit: float  # J


@dataclass(frozen=True, eq=False)
class Motion:
    """Motion of a model without its loads: poses, and the wrenches that the bodies need."""

    model: OpenSimModel
    motion: ModelMotion
    cutoff_hz: float | None
    bodies: BodyDynamics
    need: Array  # (T, B, 6) of every body about the origin of the ground, without loads
    soles: tuple[Sole, ...]

    @classmethod
    def from_body(cls, body: ModelBody) -> Self:
        """The motion of a prepared body.

        Raises:
            InputError: a free coordinate is not given, or a body has no joint.
        """
        motion = below(body.motion)
        if body.dynamics is not None and motion is body.motion:
            whole, bodies = body.dynamics.motion, body.dynamics.dynamics.bodies
        else:
            whole = whole_motion(body.model, motion)
            bodies = body_dynamics(body.model, whole)
        need = inertial_wrench(body.model, bodies)
        return cls(body.model, whole, motion.cutoff_hz, bodies, need, soles(body.model, bodies.pose))

    @property
    def time(self) -> Array:
        """Times (T,) [s]."""
        return self.motion.time

    @cached_property
    def rate(self) -> float:
        """Frames a second."""
        return float(1.0 / np.diff(self.time).mean())

    @cached_property
    def fewest(self) -> int:
        """Least number of frames for a check."""
        return max(FEWEST_FRAMES, round(SHORTEST_S * self.rate))

    @cached_property
    def origin(self) -> Array:
        """Origin (T, 3) [m] of the body at the root."""
        return self.bodies.pose.position[:, self.model.body_number[self.model.roots[0].outboard.body]]

    @cached_property
    def height(self) -> float:
        """Height [m] of the root over the lowest heel or toe."""
        return float(np.median(self.origin[:, 1] - np.min([sole.lowest for sole in self.soles], axis=0)))

    @cached_property
    def ahead(self) -> Array:
        """Level direction (T, 3) in which the body at the root faces."""
        root = self.model.roots[0].outboard.body
        along = segments(self.model).axes(self.bodies.pose.rotation, root)[:, :, 0]
        level = along - np.outer(along @ self.model.up, self.model.up)
        return level / np.maximum(np.linalg.norm(level, axis=1, keepdims=True), 1e-9)

    @cached_property
    def sideward(self) -> Array:
        """Direction (3,) to the right of the body."""
        side = np.cross(self.ahead.mean(axis=0), self.model.up)
        return np.asarray(side / max(float(np.linalg.norm(side)), 1e-9))

    def about_root(self, wrench: Array) -> Array:
        """Wrenches (T, 6) about the origin of the ground, about the origin of the root."""
        moment = wrench[:, :3] - np.cross(self.origin, wrench[:, 3:])
        return np.concatenate([moment, wrench[:, 3:]], axis=1)

    @cached_property
    def due(self) -> Array:
        """Moment [N m] about the root and force [N] (T, 6) that the whole body needs."""
        return self.about_root(self.need.sum(axis=1))

    @cached_property
    def belt(self) -> Array:
        """Velocity (3,) [m/s] of the ground: not zero if the subject walks in place, as on a treadmill."""
        traveled = float(np.linalg.norm(np.ptp(self.origin[:, [0, 2]], axis=0)))
        if traveled > WALKS * float(np.ptp(self.time)) or not self.soles:
            return np.zeros(3)
        return belt_under(self.soles, self.time)[0, 0]

    def belt_of(self, feet: Sequence[Sole], time: Array) -> Array:
        """Velocity of the ground under feet in H motions one after another, (H, 1, 3); zero (3,) without a belt."""
        return belt_under(feet, time) if self.belt.any() else self.belt

    def end_speeds(self, sole: Sole, time: Array, belt: Array | None = None) -> Array:
        """Speeds (2, H, T) [m/s] over the ground of heel and toe, the slower one first.

        sole: a foot in H motions of this model one after another, each at the times (T,). belt: of this motion unless
        given.
        """
        ends = [np.gradient(end.reshape(-1, len(time), 3), time, axis=1) for end in (sole.heel, sole.toe)]
        return np.sort(np.linalg.norm(np.array(ends) - (self.belt if belt is None else belt), axis=3), axis=0)

    def foot_speed(self, sole: Sole) -> Array:
        """Speed (T,) [m/s] over the ground of the slower one of heel and toe."""
        return np.asarray(self.end_speeds(sole, self.time)[0, 0])

    def smooth(self, values: Array, wider: float = 1.0) -> Array:
        """Columns (T, n) filtered as the coordinates are, or at a cut-off that is higher by a factor."""
        cutoff = None if self.cutoff_hz is None else wider * self.cutoff_hz
        usable = cutoff is not None and lowest_carried(len(values), self.rate) < cutoff < 0.4 * self.rate
        return low_pass(values, self.rate, cutoff) if usable and cutoff is not None else values


def belt_under(feet: Sequence[Sole], time: Array) -> Array:
    """Velocity (H, 1, 3) [m/s] of a belt under feet in H motions one after another, each at the times (T,).

    It has the direction of the median velocity of the heels, and the size with which both feet stand stillest.
    """
    ends = np.array([[sole.heel, sole.toe] for sole in feet]).reshape(len(feet), 2, -1, len(time), 3)
    speeds = np.gradient(ends, time, axis=3) * [1.0, 0.0, 1.0]
    usual = np.median(np.concatenate([*speeds[:, 0]], axis=1), axis=1, keepdims=True)
    slower = (np.linalg.norm(speeds - share * usual, axis=4).min(axis=1) for share in BELTS)
    slips = [np.quantile(foot, STILL, axis=2).sum(axis=0) for foot in slower]
    return np.asarray(BELTS[np.argmin(slips, axis=0)][:, None, None] * usual)


def with_held(model: OpenSimModel, motion: CoordinateMotion, names: Sequence[str]) -> CoordinateMotion:
    """The motion with further coordinates that stay at their default."""
    default = np.tile([model.coordinates[name].default for name in names], (len(motion.time), 1))
    held = {"value": default, "speed": 0.0 * default, "acceleration": 0.0 * default}
    parts: dict[str, Any] = {key: np.hstack([getattr(motion, key), values]) for key, values in held.items()}
    return replace(motion, names=(*motion.names, *names), **parts, measured=None)


def below(motion: CoordinateMotion) -> CoordinateMotion:
    """The motion below `CUTOFF_HZ`; the filter and the derivatives by time may be exchanged."""
    rate = 1.0 / float(np.diff(motion.time).mean())
    filtered = motion.cutoff_hz is not None and motion.cutoff_hz <= CUTOFF_HZ
    if filtered or rate <= 4.0 * CUTOFF_HZ or lowest_carried(len(motion.time), rate) >= CUTOFF_HZ:
        return motion
    names = "value", "speed", "acceleration"
    parts: dict[str, Any] = {name: low_pass(getattr(motion, name), rate, CUTOFF_HZ) for name in names}
    return replace(motion, **parts, cutoff_hz=CUTOFF_HZ)


def soles(model: OpenSimModel, pose: BodyMotion) -> tuple[Sole, ...]:
    """The feet of a model, the right one first.

    The toe of a foot without toes lies 0.2 m ahead of its origin, of other people by their size. A foot whose origin is
    its ankle has its heel where the skeleton of the public models has it, behind the ankle and below it.
    """
    made, size = [], size_of(model)
    inward = {joint.outboard.body: joint.outboard for joint in model.joints}
    for side in SIDES:
        foot = foot_of_side(model, side)
        if not foot:
            continue
        chain = foot_bodies(model, foot)
        number, axes = model.body_number, segments(model).axes(pose.rotation, foot)
        heel, first = pose.position[:, number[foot]], number[chain[0]]
        ankle = pose.position[:, first] + pose.rotation[:, first] @ inward[chain[0]].position
        ahead = heel + 0.2 * size * axes[:, :, 0]
        if np.linalg.norm(heel - ankle, axis=1).max(initial=0.0) < AT_ANKLE * size:
            heel, ahead = heel - size * axes @ np.array(TO_HEEL), ahead - size * TO_HEEL[1] * axes[:, :, 1]
        beyond = chain[chain.index(foot) + 1 :]
        toe = pose.position[:, number[beyond[0]]] if beyond else ahead
        made.append(Sole(side, foot, chain, heel, toe))
    return tuple(made)


def single_supports(fixed: Motion) -> Iterator[tuple[str, Mask]]:
    """Yield each foot with the frames (T,) in which the other one swings; nothing where the motion does not show it."""
    if len(fixed.soles) != 2 or not fixed.model.weight > 0.0 or not np.isfinite(fixed.need).all():
        return
    # the end of each foot that goes back on the other one, or stands
    ends = np.stack([(sole.heel, sole.toe) for sole in fixed.soles])
    right, left = (np.gradient(ends, fixed.time, axis=2) * fixed.ahead).sum(axis=3).min(axis=1)
    passing = right - left
    for standing, swings in ((1, passing > PASSES), (0, passing < -PASSES)):
        yield fixed.soles[standing].body, np.asarray(swings)


class Examined:
    """A case of checks that see the repairs of earlier findings."""

    findings: tuple[Finding, ...]
    cost: Callable[..., Cost | None]
    repaired: Callable[[Any], Any]

    @property
    @abstractmethod
    def where(self) -> Where:
        """The file of it."""

    def with_findings(self, findings: Iterable[Finding]) -> Self:
        """The case with what a check found, repaired as far as it has repairs."""
        case, added = self, tuple(findings)
        for entry in added:
            case = case if entry.repair is None else case.repaired(entry.repair)
        return replace(case, findings=(*self.findings, *added))  # type: ignore[type-var]

    def found(self, *codes: str) -> bool:
        """Return whether there is a finding of some codes."""
        return any(entry.code in codes for entry in self.findings)

    def fault(
        self,
        name: str,
        severity: Severity,
        values: Mapping[str, object],
        repair: Callable[..., Any] | None = None,
        side: str = "",
        times: tuple[tuple[float, float], ...] = (),
    ) -> Finding:
        """A finding on the file, with what its repair changes."""
        cost, where = None if repair is None else self.cost(repair), replace(self.where, times=times)
        return finding(name, severity, values, where, repair, cost=cost, side=side)


@dataclass(frozen=True, eq=False)
class ModelCase(Examined):
    """The loads for a check, which changes nothing in them."""

    body: ModelBody
    fixed: Motion
    loads: Loads
    given: Loads
    findings: tuple[Finding, ...] = ()
    known: dict[str, object] = field(default_factory=dict, repr=False)  # cached values of these loads

    @property
    def where(self) -> Where:
        """The file of the loads."""
        return Where(next((load.file for load in self.loads if load.file), None))

    def repaired(self, repair: Change) -> Self:
        """The case with repaired loads."""
        return replace(self, loads=repair(self.loads), known={})

    @property
    def time(self) -> Array:
        """Times (T,) [s]."""
        return self.fixed.time

    def sole_of(self, load: ExternalLoad) -> Sole | None:
        """The foot on which a load acts."""
        return next((sole for sole in self.fixed.soles if load.body in sole.bodies), None)

    def acting(self, loads: Sequence[ExternalLoad]) -> Array:
        """Wrench (T, 6) of all loads together about the root, filtered like the coordinates."""
        wrench = loads_on(self.fixed, loads, self.time).sum(axis=1)
        return self.fixed.smooth(np.nan_to_num(self.fixed.about_root(wrench)))

    def force(self, loads: Sequence[ExternalLoad], time: Array | None = None) -> Array:
        """The force (T, 3) of `acting`, at the times of the frames or at others (T,), on the poses of the frames."""
        return next(self.forces(loads, [self.time if time is None else time]))

    def forces(self, loads: Sequence[ExternalLoad], times: Sequence[Array]) -> Iterator[Array]:
        """The forces (T, 3) of `acting` at several times (T,) of the frames; few at once of a long motion."""
        model, pose = self.fixed.model, self.fixed.bodies.pose
        together = max(1, SMOOTHED // (3 * len(self.time)))
        for first in range(0, len(times), together):
            some = times[first : first + together]
            forces = [load_force(model, loads, known_times(loads, time), pose) for time in some]
            yield from np.hsplit(self.fixed.smooth(np.nan_to_num(np.hstack(forces))), len(forces))

    def covered(self, loads: Sequence[ExternalLoad], time: Array) -> Mask:
        """The times (T,) at which all loads are known."""
        return within(time, max(load.time[0] for load in loads), min(load.time[-1] for load in loads))

    @cached_property
    def inside(self) -> Mask:
        """The times (T,) away from the ends of the motion, where accelerations are wrong."""
        first, last = self.body.every_motion.time[[0, -1]]
        return within(self.time, first + MEMORY, last - MEMORY)

    def left_by(self, loads: Sequence[ExternalLoad], whole: Array, scale: float) -> tuple[Array, Mask]:
        """Wrench (T, 6) at the root that a scale of the wrench of loads leaves; frames with every foot on a plate."""
        left = self.fixed.due - scale * whole
        known = self.inside & self.covered(loads, self.time)
        return left, known & (np.abs(left[:, 4]) < CAP * self.fixed.model.weight)

    def scale(self, acting: Array, frames: Mask | slice = slice(None)) -> float:
        """The scale k by which forces (T, 3) carry the body where they are great: the median over these frames."""
        force, due = acting[frames], self.fixed.due[frames, 3:]
        power = (force**2).sum(axis=1)
        great = power > (SCALED**2) * np.quantile(power, 0.9)
        if great.sum() < self.fixed.fewest:
            return np.nan
        return float(np.median((force * due).sum(axis=1)[great] / power[great]))

    def misfit(self, force: Array, scale: float, frames: Mask | slice = slice(None)) -> float:
        """Misfit J of forces (T, 3)."""
        left = np.linalg.norm(scale * force[frames] - self.fixed.due[frames, 3:], axis=1)
        return float(np.mean(np.minimum(left / (CAP * self.fixed.model.weight), 1.0) ** 2))

    def cost(self, repair: Change) -> Cost | None:
        """The largest change of a moment of the shared coordinates by a repair, in frames that loads cover [N m]."""
        loads, repaired, time = self.loads, repair(self.loads), self.time
        both = self.covered(loads, time) & self.covered(repaired, time)
        change = loads_on(self.fixed, loads, time) - loads_on(self.fixed, repaired, time)
        return wrench_cost(self, change * both[:, None, None])

    def point(self, load: ExternalLoad) -> tuple[Array, Array, Mask]:
        """Force [N] and point [m] (T, 3) of a load in the ground, and where it carries more than `LOADED`.

        A load that was found in moments is known where accelerations are.
        """
        force, point = load_in_ground(self.fixed.model, load, self.time, self.fixed.bodies.pose)
        size = np.linalg.norm(np.nan_to_num(force), axis=1)
        loaded = size > max(LOADED * self.fixed.model.weight * self.unit, 1e-12)
        return force, point, loaded if self.body.moment_table is None else loaded & self.inside

    @cached_property
    def unit(self) -> float:
        """Size of the greatest loads in body weights: 1 where they are in newtons."""
        size, weight = np.linalg.norm(self.force(self.loads), axis=1), self.fixed.model.weight
        return float(np.quantile(size, 0.9)) / weight if weight > 0.0 else 1.0


def known_times(loads: Sequence[ExternalLoad], time: Array) -> Array:
    """Times (T,) moved to the ends of the span in which all loads are known."""
    known = max(load.time[0] for load in loads), min(load.time[-1] for load in loads)
    return np.clip(time, *known)


def loads_on(fixed: Motion, loads: Sequence[ExternalLoad], time: Array) -> Array:
    """Wrenches (T, B, 6) of loads at some times (T,) on the bodies in their poses."""
    return load_wrench(fixed.model, loads, known_times(loads, time), fixed.bodies.pose)


def wrench_cost(case: ModelCase, change: Array) -> Cost | None:
    """The largest change of a moment of the shared coordinates by changes (T, B, 6) of the needed wrenches [N m]."""
    return largest(case.body, shared_forces(case, case.fixed, np.nan_to_num(change)))


def shared_forces(case: ModelCase, fixed: Motion, wrench: Array) -> Array:
    """Generalized forces (T, m) of the shared coordinates from the wrenches (T, B, 6) that bodies need of joints."""
    model, columns = fixed.model, [fixed.model.coordinate_number[name] for name in case.body.dofs]

    def of_frames(value: Array, wrench: Array) -> Array:
        force = joint_forces(model, body_motion(model, value), wrench)
        return coupled_forces(model, value, force)[:, columns]

    return in_blocks(of_frames, fixed.motion.value, wrench)


def largest(body: ModelBody, change: Array) -> Cost | None:
    """The largest of changes (T, m) of the moments of the shared coordinates where these are known [N m]."""
    angles = np.array([body.model.coordinates[name].rotational for name in body.dofs])
    known = np.isfinite(body.moment)
    most = np.abs(np.where(known, np.nan_to_num(change), 0.0)).max(axis=0, initial=0.0) * angles
    if not most.size or not most.max() > 0.0:
        return None
    return moment_cost(float(most.max()), body.dofs[int(most.argmax())], body.model.mass)


def standard_errors(patterns: Array, residual: Array, memory: int) -> tuple[Array, Array]:
    """Estimate (p,) of `covariance` and its standard errors (p,), larger where few periods of `memory` show it.

    Each of p unknowns takes one of the periods of the errors; where none is left the errors are beyond all limits.
    """
    estimate, spread = covariance(patterns, residual, memory)
    free = max(len(residual) / memory / len(estimate) - 1.0, 1e-9)
    return estimate, np.sqrt(np.maximum(np.diag(spread), 0.0) * (1.0 + 1.0 / free))
