"""A model trial under examination: the wrenches that its bodies need, its feet, and its loads.

Bodies that move freely need the force f(t) from the ground; the loads give F(t). Motion and loads are compared below
one cut-off frequency, because accelerations have no true parts above it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from musclesolve._util.arrays import Array, Mask, within
from musclesolve._util.center_of_pressure import center_of_pressure
from musclesolve._util.sides import SIDES
from musclesolve.dynamics.kinematics.low_pass import low_pass, lowest_carried
from musclesolve.laboratory.results.finding import Cost, Finding, Severity, Where, finding
from musclesolve.models.opensim.coordinate_motion import CoordinateMotion
from musclesolve.models.opensim.external_loads import ExternalLoad, foot_of_side, load_force, load_wrench
from musclesolve.models.opensim.inverse_dynamics import (
    BodyDynamics,
    ModelMotion,
    body_dynamics,
    coupled_forces,
    inertial_wrench,
    joint_forces,
)
from musclesolve.models.opensim.kinematics import body_motion
from musclesolve.models.opensim.load_dynamics import FREE, foot_bodies, reached, whole_motion
from musclesolve.models.opensim.loads_without_plates import sole_points
from musclesolve.models.opensim.model import TO_GLOBAL, OpenSimModel
from musclesolve.models.opensim.model_body import ModelBody

Loads = tuple[ExternalLoad, ...]
Change = Callable[[ExternalLoad], ExternalLoad]

CUTOFF_HZ = 6.0
"""Frequency below which motion and loads are compared [Hz]: the usual one of walking."""
EDGE_S = 0.15
"""Time at both ends of a motion in which its accelerations are wrong [s]: about the period of the usual cut-off."""
GREAT = 0.5
"""Share of the 0.9 quantile of the loads from which a frame shows their size."""


@dataclass(frozen=True, eq=False)
class Foot:
    """A foot: its side, the body that usually carries the load, all its bodies, heel and tip of its sole (T, 3) [m]."""

    side: str
    body: str
    bodies: tuple[str, ...]
    heel: Array
    tip: Array

    def distance(self, point: Array) -> Array:
        """Horizontal distance (T,) [m] of points (T, 3) from the line between heel and tip; y points up."""
        heel = self.heel[:, [0, 2]]
        along, away = self.tip[:, [0, 2]] - heel, point[:, [0, 2]] - heel
        share = np.vecdot(away, along) / np.maximum(np.vecdot(along, along), 1e-12)
        return np.asarray(np.linalg.norm(away - np.clip(share, 0.0, 1.0)[:, None] * along, axis=1))

    @property
    def height(self) -> Array:
        """Height (T,) [m] of the lower one of heel and tip."""
        return np.minimum(self.heel[:, 1], self.tip[:, 1])


@dataclass(frozen=True, eq=False)
class ModelCase:
    """The motion of a model below `CUTOFF_HZ`, the wrenches that its bodies need beside loads, and its loads.

    need: (T, B, 6), moment about the origin of the ground [N m] and force [N]. feet: the right one first.
    """

    body: ModelBody
    motion: ModelMotion
    cutoff_hz: float | None
    bodies: BodyDynamics
    need: Array
    feet: tuple[Foot, ...]
    loads: Loads

    @classmethod
    def from_body(cls, body: ModelBody) -> Self:
        """The case of a prepared body.

        Raises:
            InputError: a free coordinate is not given, or a body has no joint.
        """
        motion, model = below_cutoff(body.motion), body.model
        whole = whole_motion(model, motion)
        bodies = body_dynamics(model, whole)
        loads = () if body.dynamics is None or body.moment_table is not None else body.dynamics.loads
        need = inertial_wrench(model, bodies)
        return cls(body, whole, motion.cutoff_hz, bodies, need, feet_of_model(model, bodies), loads)

    @property
    def model(self) -> OpenSimModel:
        """The model."""
        return self.body.model

    @property
    def time(self) -> Array:
        """Times (T,) [s]."""
        return self.motion.time

    @property
    def rate(self) -> float:
        """Frames a second."""
        return float(1.0 / np.diff(self.time).mean())

    @property
    def stands_free(self) -> bool:
        """Whether the body moves freely under gravity with known masses, so that loads must carry it."""
        roots = self.model.roots
        free = bool(roots) and all(len(joint.coordinates) >= FREE for joint in roots)
        return free and self.model.weight > 0.0 and bool(np.isfinite(self.need).all())

    @property
    def loads_beside_moments(self) -> Loads:
        """The loads that are given beside moments; empty where one of them is not given, or no load acts."""
        body = self.body
        if body.dynamics is None or body.moment_table is None or body.settings.files.loads is None:
            return ()
        return body.dynamics.loads

    @property
    def unloaded(self) -> bool:
        """Whether the settings state that no external load acts."""
        return self.body.settings.files.unloaded

    @property
    def ground_counts(self) -> bool:
        """Whether ground reactions change moments of shared coordinates: not of trunk or arms alone."""
        bodies = {*(load.body for load in self.loads), *(foot.body for foot in self.feet)}
        return bool(reached(self.model, bodies, self.body.dofs))

    @cached_property
    def due(self) -> Array:
        """Force (T, 3) [N] that the whole body needs."""
        return np.asarray(self.need[:, :, 3:].sum(axis=1))

    @cached_property
    def inside(self) -> Mask:
        """Frames (T,) away from the ends of the file of coordinates."""
        first, last = self.body.every_motion.time[[0, -1]]
        return within(self.time, first + EDGE_S, last - EDGE_S)

    def covered(self, time: Array, loads: Sequence[ExternalLoad] = ()) -> Mask:
        """The times (T,) at which all loads, or some others, are known."""
        return within(time, *_span(loads or self.loads))

    def clipped(self, time: Array, loads: Sequence[ExternalLoad] = ()) -> Array:
        """Times (T,) moved to the ends of the span in which all loads, or some others, are known."""
        return np.clip(time, *_span(loads or self.loads))

    def force(self, later: float = 0.0, loads: Loads | None = None) -> Array:
        """Force (T, 3) [N] of all loads, or of some, at the frames or later by a time [s]; filtered as the motion."""
        loads, time = self.loads if loads is None else loads, self.clipped(self.time + later)
        force = np.nan_to_num(load_force(self.model, loads, time, self.bodies.pose))
        usable = self.cutoff_hz is not None and lowest_carried(len(force), self.rate) < self.cutoff_hz
        if self.cutoff_hz is None or not usable or self.cutoff_hz > 0.4 * self.rate:
            return force
        return low_pass(force, self.rate, self.cutoff_hz)

    def great(self, force: Array) -> Mask:
        """Frames (T,) away from the ends in which forces (T, 3) are great."""
        size = np.linalg.norm(force, axis=1)
        return (size > GREAT * np.quantile(size, 0.9)) & self.inside & self.covered(self.time) & (size > 0.0)

    def foot_of(self, load: ExternalLoad) -> Foot | None:
        """The foot on which a load acts."""
        return next((foot for foot in self.feet if load.body in foot.bodies), None)

    def pressure(self, load: ExternalLoad) -> Array:
        """Center of pressure (T, 3) [m] of a load in the plane of the lower sole; NaN below 20 N.

        It follows from the whole wrench, whatever the point is to which the file refers.
        """
        wrench = load_wrench(self.model, [load], self.clipped(self.time), self.bodies.pose).sum(axis=1)
        moment, force = (part @ TO_GLOBAL.T for part in np.hsplit(np.nan_to_num(wrench), 2))
        level = np.min([foot.height for foot in self.feet], axis=0)
        return center_of_pressure(force, moment, level) @ TO_GLOBAL

    def cost(self, loads: Sequence[ExternalLoad]) -> Cost | None:
        """The largest change of a moment of the shared coordinates [N m] with other loads, where both are known."""
        both = self.covered(self.time) & self.covered(self.time, loads)
        now, then = (
            load_wrench(self.model, some, self.clipped(self.time, some), self.bodies.pose)
            for some in (self.loads, loads)
        )
        return self.cost_of_wrench(np.where(both[:, None, None], np.nan_to_num(then - now), 0.0))

    def cost_of_wrench(self, wrench: Array) -> Cost | None:
        """The largest moment of the shared coordinates [N m] by wrenches (T, B, 6) on the bodies."""
        model, value = self.model, self.motion.value
        force = coupled_forces(model, value, joint_forces(model, body_motion(model, value), wrench))
        return largest(self.body, force[:, [model.coordinate_number[name] for name in self.body.dofs]])

    def cost_of(self, change: Change) -> Cost | None:
        """The cost of a change of every load."""
        return self.cost([change(load) for load in self.loads])

    def fault(
        self,
        name: str,
        severity: Severity,
        values: Mapping[str, object],
        cost: Cost | None = None,
        times: tuple[tuple[float, float], ...] = (),
        side: str = "",
    ) -> Finding:
        """A finding on the file of the loads."""
        file = next((load.file for load in self.loads if load.file), None)
        return finding(name, severity, values, Where(file, times=times), cost=cost, side=side)


def _span(loads: Sequence[ExternalLoad]) -> tuple[float, float]:
    """First and last time [s] at which all of some loads are known; without a load, all times are."""
    return max((load.time[0] for load in loads), default=-np.inf), min(
        (load.time[-1] for load in loads), default=np.inf
    )


def scaled(load: ExternalLoad, factor: float, *parts: str) -> ExternalLoad:
    """The load with force, point or moment times a factor."""
    return replace(load, **{part: factor * getattr(load, part) for part in parts})


def below_cutoff(motion: CoordinateMotion) -> CoordinateMotion:
    """The motion below `CUTOFF_HZ`, where its rate allows a filter; filter and derivatives by time commute."""
    rate = 1.0 / float(np.diff(motion.time).mean())
    filtered = motion.cutoff_hz is not None and motion.cutoff_hz <= CUTOFF_HZ
    if filtered or rate <= 4.0 * CUTOFF_HZ or lowest_carried(len(motion.time), rate) >= CUTOFF_HZ:
        return motion
    names = "value", "speed", "acceleration"
    parts: dict[str, Any] = {name: low_pass(getattr(motion, name), rate, CUTOFF_HZ) for name in names}
    return replace(motion, **parts, cutoff_hz=CUTOFF_HZ)


def feet_of_model(model: OpenSimModel, bodies: BodyDynamics) -> tuple[Foot, ...]:
    """The feet of usual names, the right one first, with the soles of the prediction of loads."""
    feet = []
    for side in SIDES:
        if body := foot_of_side(model, side):
            sole = sole_points(model, bodies, side)
            heel, tip = sole[:, :2].mean(axis=1), sole[:, -2:].mean(axis=1)
            feet.append(Foot(side, body, foot_bodies(model, body), heel, tip))
    return tuple(feet)


def largest(body: ModelBody, change: Array) -> Cost | None:
    """The largest of changes (T, m) of the moments of the shared angles where these are known [N m]."""
    angles = np.array([body.model.coordinates[name].rotational for name in body.dofs])
    known = np.isfinite(body.moment)
    most = np.abs(np.where(known, np.nan_to_num(change), 0.0)).max(axis=0, initial=0.0) * angles
    if not most.size or not most.max() > 0.0:
        return None
    return moment_cost(float(most.max()), body.dofs[int(most.argmax())], body.model.mass)


SERIOUS = 0.2
"""Change of a moment below which a fault is a warning instead of an error [N m/kg]: a tenth of the peak moment of the
ankle in walking. Two programs differ by up to 0.14 on the moments of one recording."""


def moment_cost(change: float, of: str, mass: float) -> Cost:
    """Return the cost of a change of a moment [N m] of a body of a mass [kg]."""
    return Cost(change, "N m", of, SERIOUS * mass)
