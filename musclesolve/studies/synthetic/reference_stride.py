"""The reference stride: a periodic stride of level walking, known at any time, in exact balance, straight or curved.

Motion and ground reaction are the coefficients of musclesolve/data/reference_stride/coefficients.toml, found by
tools/reference_stride, of which the stride is a linear function: Fourier series of the motion, splines of the ground's
wrench. The left side mirrors the right side half a stride later. Right heel strike is at time 0; the stride is repeated
before and after.

On a curved path the whole straight walk is carried along it, and leans into the curve. At time t the subject has gone
s = v t. A point at x in the straight walk is at P(s) + R(s) (x - (s, 0, 0)): R is the heading phi(s) = phi_0 +
curvature * s about the vertical and a lean of atan(v^2 curvature / g) about the path, so that the sum of gravity and
centripetal force acts along the body's long axis. Joint angles do not change; the ground forces follow from the laws of
motion without a residual at the pelvis. The feet on the ground rotate with the subject, by some degrees in a stance.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from scipy.interpolate import BSpline

from musclesolve._util.arrays import Array
from musclesolve._util.messages import with_sizes
from musclesolve.constants import LOADED_FROM_N, STANDARD_GRAVITY
from musclesolve.data import bundled
from musclesolve.dynamics.inverse.inverse_dynamics import projected_moments
from musclesolve.dynamics.kinematics.motion_derivatives import Motion, cardan_derivatives, motion_from
from musclesolve.dynamics.model.human_model import human_model
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.model.rigid_body import Wrench
from musclesolve.dynamics.rotations import from_cardan, rotation_about, to_cardan
from musclesolve.laboratory.recording.data import SIDES, Event, Side, Subject

COEFFICIENTS = bundled.reference_stride().with_name("coefficients.toml")


@dataclass(frozen=True)
class GroundForce:
    """Ground reaction on one foot as from a plate, global frame, T instants."""

    force: Array  # (T, 3) [N]
    point: Array  # (T, 3) center of pressure on the ground [m], NaN where the foot is not loaded
    free_moment: Array  # (T,) about the vertical through it [N m], zero where the foot is not loaded


@dataclass(frozen=True)
class ReferenceStride:
    """A periodic stride of one subject."""

    layout: "StrideLayout"  # the layout of the coefficients
    coefficients: Array  # (P,) their values

    # Its data besides the laws of motion; the table [muscles] of its trial file.
    source: ClassVar[str] = "normative curves"
    muscles: ClassVar[str] = ""

    __repr__ = with_sizes

    @property
    def about(self) -> str:
        """Description of the stride in a line."""
        return f"A stride of level walking at natural cadence ({120.0 / self.period:.0f} steps a minute)"

    @property
    def person(self) -> "StrideSubject":
        """The subject of the stride."""
        return self.layout.person

    @property
    def model(self) -> Model:
        """The model of the subject, standing."""
        return self.person.model

    @property
    def period(self) -> float:
        """Time of a stride [s]."""
        return self.person.period

    @property
    def speed(self) -> float:
        """Mean speed [m/s]."""
        return float(self.coefficients[self.layout.slices["speed"]][0])

    @property
    def length(self) -> float:
        """Stride length [m]."""
        return self.speed * self.period

    @property
    def dof_names(self) -> tuple[str, ...]:
        """Names of the joint angles and moments, in the order of their columns."""
        return tuple(self.model.topology.dof_names[: self.model.tree.joint_count])

    @property
    def marker_names(self) -> tuple[str, ...]:
        """Names of the landmarks of `markers`."""
        return self.person.markers[0]

    def motion(self, time: Array) -> Motion:
        """The motion at times (T,) [s], derivatives exact."""
        time = np.asarray(time, float)
        return motion_from(self.model, time, *(self.coordinates(time, order) for order in range(3)))

    def coordinates(self, time: Array, order: int = 0) -> Array:
        """Joint and base coordinates (T, 44), or their derivatives, at times (T,) [s]."""
        return self.layout.coordinates(self.coefficients, np.asarray(time, float) / self.period, order)

    def wrenches(self, time: Array) -> list[Wrench]:
        """Return the ground reactions on the right and left foot at times (T,) [s]; no residual is left at the pelvis.

        The splines leave a small residual, which is distributed to the feet in proportion to their vertical forces.
        """
        return self._balanced(self.motion(time))

    def joint_moments(self, time: Array) -> Array:
        """Joint moments (T, K) [N m] at times (T,) [s], columns `dof_names`."""
        return self._loads(time)[:, : self.model.tree.joint_count]

    def pelvis_residual(self, time: Array) -> Array:
        """Force [N] and moment [N m] (T, 6) that the pelvis would need from outside: zero to round-off."""
        return self._loads(time)[:, self.model.tree.joint_count :]

    def joint_angles(self, time: Array) -> Array:
        """Joint angles (T, K) [rad] at times (T,) [s], columns `dof_names`."""
        return self.coordinates(time)[:, : self.model.tree.joint_count]

    def markers(self, time: Array) -> Array:
        """Landmarks (T, n, 3) [m] at times (T,) [s], carried rigidly by their bodies, in the order of their names."""
        _, places, bodies = self.person.markers
        return self.carried(time, places, bodies)

    def carried(self, time: Array, places: Array, bodies: tuple[str, ...]) -> Array:
        """Points (T, n, 3) [m] that move rigidly with bodies, n by name, at times (T,) [s].

        places: standing positions (n, 3) of the points from the middle of the hips [m].
        """
        return self.posed(self.coordinates(time), places, bodies)

    def posed(self, coordinates: Array, places: Array, bodies: tuple[str, ...]) -> Array:
        """Points (T, n, 3) [m] as `carried`, at coordinates (T, K + 6): joint angles [rad], place [m], angles [rad]."""
        tree = self.model.tree
        joints = tree.joint_count
        rotation = from_cardan(*coordinates[:, joints + 3 :].T)
        rotations, shifts = tree.frames(
            coordinates[:, :joints], coordinates[:, joints : joints + 3], rotation
        )
        index = [self.model.body(body) for body in bodies]
        return np.asarray(np.einsum("tnxy,ny->tnx", rotations[:, index], places) + shifts[:, index])

    @property
    def standing_origin(self) -> Array:
        """Middle of the hips while the subject stands upright, soles on the ground (3,) [m]."""
        return np.array([0.0, 0.0, -self.model.standing[self.person.slot("heel_r"), 2]])

    @property
    def standing(self) -> Array:
        """Landmarks (n, 3) [m] of the subject standing upright, soles on the ground."""
        return self.person.markers[1] + self.standing_origin

    def ground(self, time: Array, loaded_above: float = LOADED_FROM_N) -> dict[Side, GroundForce]:
        """Ground reactions at times (T,) [s] by side; no center of pressure below a vertical force [N]."""
        ground = {}
        for side, wrench in zip(SIDES, self.wrenches(time), strict=True):
            point, free = pressure(wrench.force, wrench.moment, loaded_above)
            loaded = wrench.force[:, 2:] >= loaded_above
            ground[side] = GroundForce(wrench.force, np.where(loaded, point, np.nan), free[:, 2])
        return ground

    def events(self, start: float = 0.0, end: float | None = None) -> tuple[Event, ...]:
        """Heel strikes and toe-offs from start to before end [s]; of the first stride by default."""
        end = self.period if end is None else end
        events = []
        for side, lag in (("r", 0.0), ("l", 0.5)):
            for kind, phase in (("heel_strike", lag), ("toe_off", lag + self.person.toe_off)):
                first = int(np.ceil(start / self.period - phase - 1e-12))
                times = (phase + np.arange(first, first + 2 + int((end - start) / self.period))) * self.period
                events += [Event(kind, side, float(t), "stated") for t in times if t < end]  # type: ignore[arg-type]
        return tuple(sorted(events, key=lambda event: event.time))

    def _loads(self, time: Array) -> Array:
        motion = self.motion(time)
        return projected_moments(self.model, motion, self._balanced(motion))

    def _balanced(self, motion: Motion) -> list[Wrench]:
        joints = self.model.tree.joint_count
        fitted = [self.fitted(motion, side) for side in range(2)]
        remainder = projected_moments(self.model, motion, fitted)[:, joints:]
        middle = motion.origin
        moment = remainder[:, 3:] + np.cross(middle, remainder[:, :3])
        load = np.stack([wrench.force[:, 2] for wrench in fitted])
        share = load / load.sum(axis=0)
        return [
            Wrench(wrench.body, wrench.force + part * remainder[:, :3], wrench.moment + part * moment)
            for wrench, part in zip(fitted, share[..., None], strict=True)
        ]

    def fitted(self, motion: Motion, side: int) -> Wrench:
        """The wrench of the splines alone on the right foot (0) or the left one (1), without the remainder."""
        force, moment = self._ground(motion.time, side)
        ball = motion.q[:, self.person.slot(f"toe_{SIDES[side]}")]
        return Wrench(f"foot_{SIDES[side]}", force, np.cross(ball, force) + moment)

    def _ground(self, time: Array, side: int) -> tuple[Array, Array]:
        """Force on a foot [N] and moment about its ball [N m] by the splines, (T, 3) each."""
        wrench = self.person.weight * self.layout.wrench(self.coefficients, time / self.period + 0.5 * side)
        wrench = wrench * (MIRROR if side else 1.0)
        return wrench[:, :3], wrench[:, 3:]


def pressure(force: Array, moment: Array, unloaded_below: float) -> tuple[Array, Array]:
    """Center of pressure on the ground [m] and moment about it [N m], (T, 3) each, zero while unloaded.

    x = -My / Fz and y = Mx / Fz of the force (T, 3) [N] and its moment (T, 3) [N m] about the origin.
    """
    loaded = force[:, 2] >= unloaded_below
    vertical = np.where(loaded, force[:, 2], np.inf)
    point = np.stack([-moment[:, 1] / vertical, moment[:, 0] / vertical, np.zeros(len(force))], axis=1)
    free = np.where(loaded[:, None], moment - np.cross(point, force), 0.0)
    return point, free


@cache
def reference_stride() -> ReferenceStride:
    """The bundled stride: joint angles over time [s], ground forces [N] and markers [m] that agree exactly."""
    return read_stride(COEFFICIENTS)


def read_stride(path: Path) -> ReferenceStride:
    """A stride from a file of coefficients."""
    content: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    ground = content["ground"]
    layout = StrideLayout(
        StrideSubject.load(), content["series"], content["head"], len(ground[WRENCH[0]]), ground["onset"]
    )
    parts = [entry["coefficients"] for entry in content["series"].values()]
    parts += [[content["speed_m_s"]], content["right_ball_m"], *(ground[name] for name in WRENCH)]
    return ReferenceStride(layout, np.concatenate([np.asarray(part, float) for part in parts]))


# Mirrors force and moment of the left foot to the right: y of the force, x and z of the moment change sign.
MIRROR = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])

WRENCH = ("force_forward", "force_left", "force_up", "moment_forward", "moment_left", "moment_up")
"""Components of the wrench on the right foot, about its ball: [body weight], [body weight meter]."""


@dataclass(frozen=True)
class StrideLayout:
    """Coefficients of a stride, and their places in the vector of all coefficients."""

    person: "StrideSubject"  # the subject
    # the Fourier series of the motion by name: harmonics, and sided or moves (see series.toml)
    series: Mapping[str, Mapping[str, Any]]
    # counter-rotation of the joints of the neck, degree of freedom -> series -> factor
    head: Mapping[str, Mapping[str, float]]
    splines: int  # how many cubic B-splines describe a component of the wrench over a stance
    onset: int  # knots at heel strike: 3 lets the force start with a slope, 2 with a curvature only

    @cached_property
    def slices(self) -> dict[str, slice]:
        """Place of each group of coefficients in the vector."""
        sizes = {name: sum(2 if k else 1 for k in entry["harmonics"]) for name, entry in self.series.items()}
        sizes |= {"speed": 1, "place": 2} | dict.fromkeys(WRENCH, self.splines)
        ends = np.cumsum(list(sizes.values())).tolist()
        return {name: slice(end - size, end) for (name, size), end in zip(sizes.items(), ends, strict=True)}

    @cached_property
    def size(self) -> int:
        """Number of coefficients."""
        return max(part.stop for part in self.slices.values())

    @cached_property
    def links(self) -> list[tuple[int, str, float, float]]:
        """(degree of freedom, series, factor, lead in phase) for every moving degree of freedom."""
        dof = self.person.model.dof
        links = []
        for name, entry in self.series.items():
            if entry.get("sided"):
                links += [(dof(f"{name}_r"), name, 1.0, 0.0), (dof(f"{name}_l"), name, 1.0, 0.5)]
            else:
                links += [(dof(d), name, by, 0.0) for d, by in entry.get("moves", {name: 1.0}).items()]
        for name, sources in self.head.items():
            links += [(dof(name), source, factor, 0.0) for source, factor in sources.items()]
        return links

    def basis(self, name: str, phase: Array, order: int = 0) -> Array:
        """Factors (T, size of the series) of the coefficients in a series, or in its derivative in time."""
        columns = []
        for k in self.series[name]["harmonics"]:
            rate = 2.0 * np.pi * k / self.person.period
            angle = 2.0 * np.pi * k * phase + 0.5 * np.pi * order
            waves = [np.cos(angle)] if k == 0 else [np.cos(angle), np.sin(angle)]
            columns += [rate**order * wave for wave in waves]
        return np.stack(columns, axis=1)

    def contact_basis(self, phase: Array) -> Array:
        """Cubic B-splines (T, splines) over the stance, zero in swing.

        They vanish with their slope at heel strike (for two knots there), with two derivatives at toe-off.
        """
        stance, count, onset = self.person.toe_off, self.splines, self.onset
        knots = np.concatenate([np.zeros(onset - 1), np.linspace(0.0, stance, count + 5 - onset)])
        wrapped = np.mod(phase, 1.0)
        values = [BSpline.basis_element(knots[j : j + 5], extrapolate=False)(wrapped) for j in range(count)]
        return np.nan_to_num(np.stack(values, axis=1))

    def coordinates(self, coefficients: Array, phase: Array, order: int = 0) -> Array:
        """Joint and base coordinates (T, 44), or their derivatives in time, at phases of the stride."""
        full = np.zeros((phase.size, len(self.person.model.topology.dof_names)))
        for dof, name, factor, lead in self.links:
            full[:, dof] += factor * (self.basis(name, phase + lead, order) @ coefficients[self.slices[name]])
        full[:, self.person.model.dof("pelvis_tx")] += coefficients[self.slices["speed"]] * self.advance(
            phase, order
        )
        return full

    def advance(self, phase: Array, order: int) -> Array:
        """Return the forward position (T,), or its derivative of an order, per unit of mean speed."""
        return {0: phase * self.person.period, 1: np.ones_like(phase)}.get(order, np.zeros_like(phase))

    def wrench(self, coefficients: Array, phase: Array) -> Array:
        """Force and moment about its ball (T, 6) of the ground on the right foot [body weights, times m]."""
        start, stop = self.slices[WRENCH[0]].start, self.slices[WRENCH[-1]].stop
        return np.asarray(
            self.contact_basis(phase) @ coefficients[start:stop].reshape(len(WRENCH), self.splines).T
        )


SETTINGS = Path(__file__).with_name("stride_subject.toml")


@dataclass(frozen=True)
class StrideSubject:
    """Model and settings of the subject."""

    model: Model  # the standing model, feet turned out
    settings: dict[str, Any]  # the tables of stride_subject.toml

    @classmethod
    def load(cls) -> Self:
        """Build the subject of stride_subject.toml."""
        settings = tomllib.loads(SETTINGS.read_text(encoding="utf-8"))
        subject = settings["subject"]
        offsets = foot_offsets(settings["foot"])
        return cls(human_model(subject["mass_kg"], subject["stature_m"], subject["sex"], offsets), settings)

    @cached_property
    def subject(self) -> Subject:
        """Name, mass, stature and sex."""
        entry = self.settings["subject"]
        return Subject(entry["name"], entry["mass_kg"], entry["stature_m"], entry["sex"])

    @cached_property
    def weight(self) -> float:
        """Body weight [N]."""
        return self.subject.mass * -float(self.model.gravity[2])

    @property
    def period(self) -> float:
        """Time of a stride [s]."""
        timing = self.settings["timing"]
        return float(timing["frames"] / timing["marker_rate_hz"])

    @property
    def toe_off(self) -> float:
        """Phase at which a foot leaves the ground."""
        return float(self.settings["timing"]["toe_off"])

    @property
    def toe_out(self) -> float:
        """Angle by which the foot on the ground is turned out [rad]."""
        return float(np.deg2rad(self.settings["foot"]["toe_out_deg"]))

    @property
    def sole_length(self) -> float:
        """Distance from heel to ball [m]."""
        foot = self.settings["foot"]
        return float(foot["ball"][0] - foot["heel"][0])

    def slot(self, name: str) -> int:
        """Index of a point among the generalized coordinates."""
        return self.model.slot(name)

    @cached_property
    def markers(self) -> tuple[tuple[str, ...], Array, tuple[str, ...]]:
        """Names of the markers, their standing positions (n, 3) from the middle of the hips [m], and their bodies."""
        places = []
        for table, sides in (("marker", {"_r": 1.0, "_l": -1.0}), ("middle_marker", {"": 1.0})):
            for name, place in self.settings[table].items():
                for side, mirror in sides.items():
                    body = place["body"] if place["body"] == "pelvis" else place["body"] + side
                    origin = place["from"]
                    at = np.zeros(3) if origin == "mid_hip" else self.model.standing[self.slot(origin + side)]
                    offset = np.array(place["offset"]) * [1.0, mirror, 1.0]
                    places.append((name + side, at + offset, body))
        names, positions, bodies = zip(*places, strict=True)
        return names, np.array(positions), bodies


def foot_offsets(foot: dict[str, Any]) -> dict[str, Array]:
    """Standing offsets of heel, toe and ankle axes for feet that stand toe-out."""
    offsets = {}
    for side, sign in (("r", -1.0), ("l", 1.0)):
        rotation = from_cardan(*np.array([[0.0], [0.0], [sign * np.deg2rad(foot["toe_out_deg"])]]))[0]
        offsets[f"heel_{side}"] = rotation @ np.array(foot["heel"])
        offsets[f"toe_{side}"] = rotation @ np.array(foot["ball"])
        offsets[f"ankle_axis_{side}"] = rotation[:, 1]
        offsets[f"shank_forward_{side}"] = rotation[:, 0]
    return offsets


_FORWARD, _, _UP = np.eye(3)


@dataclass(frozen=True)
class CurvedStride(ReferenceStride):
    """A stride whose path is an arc of a circle, or straight in any direction."""

    heading: float = 0.0  # direction of walking at time 0, to the left of x [rad]
    curvature: float = 0.0  # one over the radius, positive to the left [1/m]

    @classmethod
    def from_stride(cls, stride: ReferenceStride, heading: float = 0.0, curvature: float = 0.0) -> Self:
        """A stride on a straight path in any direction [rad], or on an arc of a curvature [1/m]."""
        return cls(stride.layout, stride.coefficients, heading, curvature)

    @property
    def angular_velocity(self) -> float:
        """Angular velocity about the vertical [rad/s]."""
        return self.curvature * self.speed

    def frame(self, time: Array) -> tuple[Array, Array]:
        """Rotations R (T, 3, 3) and places P (T, 3) [m] of the path at times (T,) [s]."""
        angle = self.heading + self.angular_velocity * time
        lean = np.arctan(self.curvature * self.speed**2 / STANDARD_GRAVITY)
        rotation = rotation_about(_UP, angle) @ rotation_about(_FORWARD, np.array(-lean))
        # A chord of the arc: its length, and its direction at half the arc.
        chord = self.speed * time * np.sinc(0.5 * self.angular_velocity * time / np.pi)
        middle = self.heading + 0.5 * self.angular_velocity * time
        return rotation, chord[:, None] * np.stack([np.cos(middle), np.sin(middle), 0.0 * time], axis=1)

    def coordinates(self, time: Array, order: int = 0) -> Array:
        """Joint and base coordinates (T, 44) at times (T,) [s]; derivatives: the columns of the joint angles only."""
        time = np.asarray(time, float)
        coordinates = super().coordinates(time, order)
        if order == 0:
            base, (rotation, place) = coordinates[:, -6:], self.frame(time)
            position = base[:, :3] - (self.speed * time)[:, None] * _FORWARD
            rotated = rotation @ from_cardan(*base[:, 3:].T)
            there = place + np.einsum("txy,ty->tx", rotation, position)
            coordinates[:, -6:] = np.column_stack([there, *to_cardan(rotated)])
        return coordinates

    def motion(self, time: Array) -> Motion:
        """The motion at times (T,) [s], derivatives exact."""
        time = np.asarray(time, float)
        along = super().coordinates
        straight = motion_from(self.model, time, *(along(time, order) for order in range(3)))
        rotation, _ = self.frame(time)
        joints = slice(self.model.tree.joint_count)
        shift, spin = slice(joints.stop, joints.stop + 3), slice(joints.stop + 3, joints.stop + 6)
        # The base: y = x - (s, 0, 0) lies at P + R y, where dR/dt = turn x R with a constant turn, and dP/dt = v R e_x.
        turn, forward = self.angular_velocity * _UP, self.speed * rotation[..., 0]
        y, yd, ydd, twist, twist_rate = (
            np.einsum("txy,ty->tx", rotation, part)
            for part in (
                straight.coordinates[:, shift] - (self.speed * time)[:, None] * _FORWARD,
                straight.rates[:, shift] - self.speed * _FORWARD,
                straight.second[:, shift],
                straight.speeds[:, spin],
                straight.speed_rates[:, spin],
            )
        )
        carried = forward + np.cross(turn, y)
        velocity = carried + yd
        acceleration = np.cross(turn, carried + 2.0 * yd) + ydd
        coordinates = self.coordinates(time)
        angles = cardan_derivatives(coordinates[:, spin], twist + turn, twist_rate + np.cross(turn, twist))
        rates = np.column_stack([straight.rates[:, joints], velocity, angles[0]])
        second = np.column_stack([straight.second[:, joints], acceleration, angles[1]])
        return motion_from(self.model, time, coordinates, rates, second)

    def _ground(self, time: Array, side: int) -> tuple[Array, Array]:
        """Force and moment on the straight path, carried along the curve."""
        rotation, _ = self.frame(time)
        force, moment = (np.einsum("txy,ty->tx", rotation, part) for part in super()._ground(time, side))
        return force, moment
