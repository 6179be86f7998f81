"""A run with flight, periodic and in exact balance: the ground forces are given, and the body moves as they ask.

The joint angles are Fourier series that put the feet where runner_feet.py has them; the pelvis follows from the joint
angles and the ground forces by the conservation of momentum (runner_pelvis.py). As the pelvis moves, the legs have to
move otherwise to reach the same places: a few rounds suffice. Whatever the series miss of the wanted places, the
balance is exact, and in flight nothing acts but gravity.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar

import numpy as np
from scipy.interpolate import CubicSpline

from musclesolve._util.arrays import AnyArray, Array
from musclesolve.dynamics.inverse.external_wrenches import Wrench
from musclesolve.dynamics.inverse.inverse_dynamics import projected_moments
from musclesolve.dynamics.kinematics.measured_targets import Targets
from musclesolve.dynamics.kinematics.motion_derivatives import Motion, cardan_derivatives
from musclesolve.dynamics.kinematics.pose_fit import fit_pose
from musclesolve.dynamics.rotations import to_cardan
from musclesolve.errors import InputError, MuscleSolveError
from musclesolve.muscles.placing.place_muscles import LEG_DOFS
from musclesolve.recording.data import SIDES
from musclesolve.synthetic.reference_stride import Layout, Stride, StrideSubject
from musclesolve.synthetic.runner_balance import MIRROR, Base, Carried, RunGround, running_base

HARMONICS = list(range(13))
ARMS = {
    # mean and first harmonic (cosine) [rad]: the arm swings against the leg of its side
    "shoulder_flexion": (-0.25, -0.45),
    "elbow_flexion": (1.45, -0.15),
    "shoulder_adduction": (-0.2, 0.0),
}
BENT = {"hip_flexion": 0.5, "knee_flexion": 1.0, "ankle_dorsiflexion": 0.2}
"""Where the search for the leg angles begins [rad]: a straight knee may bend either way."""
TILT = 0.0
"""Of the pelvis at foot strike [rad]."""
KNEE = np.deg2rad([-8.0, 140.0])
"""Where a knee may go [rad]: straight, and some noise of the series about it."""
ROUNDS, FRAMES = 8, 96
PRESSURE_TRAVEL = 0.16
"""How far the center of pressure travels under the foot [m]."""
HEIGHT = 0.545
"""Mean height of the center of mass in statures."""


@dataclass(frozen=True)
class RunningStride(Stride):
    """A periodic stride of a run."""

    contact: RunGround  # what the ground does to the feet
    base: Base  # how the pelvis rotates

    source: ClassVar[str] = "plausible ground forces and paths of the feet"
    muscles: ClassVar[str] = (
        "# The run asks in mid-stance for up to 1.6 times the strength of the muscles of gait2392, not for more than\n"
        "# people of this mass and stature have.\n"
        '[muscles]\nstrength = "handsfield_2014"\n\n'
    )

    @property
    def about(self) -> str:
        """What it is, in a line."""
        return f"A run of {self.speed:g} m/s with flight ({120.0 / self.period:.0f} steps a minute)"

    def joints(self, time: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray]:
        """Joint angles (T, K) [rad] and their two derivatives at times (T,) [s]."""
        return _joints(self.layout, self.coefficients, time)

    def coordinates(self, time: AnyArray, order: int = 0) -> AnyArray:
        """Joint and base coordinates (T, 44) at times (T,) [s]; of their derivatives only those of the joint angles."""
        time = np.asarray(time, float)
        angles = self.joints(time)[order]
        base = np.zeros((time.size, 6))
        if order == 0:
            rotation = self.base.rotation(time)
            body = Carried.of(self.model, self.joints(time))
            place = self.contact.center(time)[0] - _rotated(rotation, body.center)
            base = np.column_stack([place, *to_cardan(rotation)])
        return np.column_stack([angles, base])

    def motion(self, time: AnyArray) -> Motion:
        """The motion at times (T,) [s]; its accelerations are those that the ground forces cause."""
        time = np.asarray(time, float)
        joints, tree = self.joints(time), self.model.tree
        body, rotation = Carried.of(self.model, joints), self.base.rotation(time)
        momentum, _ = self.base.angular_momentum(time)
        spin = body.angular_velocity(rotation, momentum)
        center, drift = self.contact.center(time)
        place = center - _rotated(rotation, body.center)
        velocity = drift - _rotated(rotation, body.drift + np.cross(spin, body.center))
        rates, rate_rates = tree.speeds(*joints)
        speeds = np.column_stack([rates, velocity, _rotated(rotation, spin)])
        q = tree.pose(joints[0], place, rotation)
        qd = tree.velocity(q, speeds, place)
        cardan = np.column_stack(to_cardan(rotation))

        def moving(base: AnyArray) -> Motion:
            """The motion with some acceleration (T, 6) of the base."""
            second = np.column_stack([rate_rates, base])
            cardan_rates = cardan_derivatives(cardan, speeds[:, -3:], base[:, 3:])
            return Motion(
                time,
                np.column_stack([joints[0], place, cardan]),
                np.column_stack([joints[1], velocity, cardan_rates[0]]),
                np.column_stack([joints[2], base[:, :3], cardan_rates[1]]),
                speeds,
                second,
                q,
                qd,
                tree.acceleration(q, qd, speeds, second, place, velocity),
            )

        return moving(self._base_acceleration(moving, time))

    def _base_acceleration(self, moving: Any, time: AnyArray) -> AnyArray:
        """(T, 6) with which nothing is left for the pelvis to be held by; what is left is linear in it."""
        wrenches = self.wrenches(time)

        def missing(base: AnyArray) -> AnyArray:
            return projected_moments(self.model, moving(base), wrenches)[:, -6:]

        still = np.zeros((time.size, 6))
        first = missing(still)
        slope = np.stack([missing(still + unit) - first for unit in np.eye(6)], axis=2)
        return -np.linalg.solve(slope, first[..., None])[..., 0]

    def wrenches(self, time: AnyArray) -> list[Wrench]:
        """What the ground does to right and left foot at times (T,) [s]: the given forces, zero in flight."""
        time = np.asarray(time, float)
        center, moment = self.contact.center(time)[0], self.base.angular_momentum(time)[1]
        found = []
        for number, side in enumerate(SIDES):
            force = self.contact.force(time, number)
            loaded = force[:, 2:] > 0.0
            found.append(
                Wrench(f"foot_{side}", force, np.cross(center, force) + np.where(loaded, moment, 0.0))
            )
        return found

    def _balanced(self, motion: Motion) -> list[Wrench]:
        return self.wrenches(motion.time)


@cache
def running_stride(speed: float = 2.5, period: float = 0.70, stance: float = 0.36) -> RunningStride:
    """A run of the subject of the reference stride at a mean speed [m/s]; period of a stride [s].

    stance: share of the stride in which a foot is on the ground, below one half. A run that the legs of this subject
    cannot perform is an InputError.
    """
    given = f"{speed:g} m/s with {period:g} s a stride, {100.0 * stance:g} % of it stance"
    if not (0.0 < stance < 0.5 and 0.3 < period < 2.0 and 0.5 < speed < 8.0):
        raise _no_run(given)
    person = _runner(period, stance)
    subject = person.subject
    ground = RunGround(subject.mass, speed, period, stance, HEIGHT * subject.stature, PRESSURE_TRAVEL)
    leg = {name: {"sided": True, "harmonics": HARMONICS} for name in LEG_DOFS}
    arm = {name: {"sided": True, "harmonics": [0, 1]} for name in ARMS}
    layout = Layout(person, leg | arm, {}, 0, 0)
    coefficients = np.zeros(layout.size)
    for name, (mean, wave) in ARMS.items():
        coefficients[layout.slices[name]] = [mean, wave, 0.0]
    for name, mean in BENT.items():
        coefficients[layout.slices[name].start] = mean
    coefficients[layout.slices["speed"]] = speed
    stride = _stride(layout, coefficients, ground)
    try:
        for _ in range(ROUNDS):
            stride = _stride(layout, _reaching(stride), ground)
    except MuscleSolveError:
        raise _no_run(given) from None
    knee = stride.coordinates(np.linspace(0.0, period, FRAMES))[:, person.model.dof("knee_flexion_r")]
    if not (KNEE[0] < knee.min() and knee.max() < KNEE[1]):
        raise _no_run(given)
    return stride


def _no_run(given: str) -> InputError:
    return InputError(
        f"no run of {given} is found",
        code="bad_number",
        where="running_stride",
        expected="a stance that the legs can reach over: 1.8 to 3.5 m/s, 0.3 to 0.4 of 0.65 to 0.75 s",
        remedy="take a lower speed, or a shorter stance",
    )


def _stride(layout: Layout, coefficients: AnyArray, ground: RunGround) -> RunningStride:
    base = running_base(layout.person.model, ground, lambda time: _joints(layout, coefficients, time), TILT)
    return RunningStride(layout, coefficients, ground, base)


def _reaching(stride: RunningStride) -> AnyArray:
    """Coefficients with which the legs reach the wanted places from where the pelvis is now."""
    layout, ground, model = stride.layout, stride.contact, stride.model
    time = np.arange(FRAMES) * ground.period / FRAMES
    coordinates = stride.coordinates(time)
    q = model.tree.pose(coordinates[:, :-6], coordinates[:, -6:-3], stride.base.rotation(time))
    pelvis = {name: q[:, model.slot(name)] for name in ("hip_r", "hip_l", "back")}
    path, feet = foot_path(layout.person, ground), {}
    right, left = (
        foot_points(layout.person, ground, path, time - shift) for shift in (0.0, 0.5 * ground.period)
    )
    gone = np.array([0.5 * ground.period * ground.speed, 0.0, 0.0])
    for name in right:
        feet[f"{name}_r"], feet[f"{name}_l"] = right[name], left[name] * MIRROR + gone
    forward = {"pelvis_forward": q[:, model.slot("pelvis_forward")]}
    targets = Targets.build(model, pelvis | feet, forward, dict.fromkeys([*pelvis, *forward], 100.0))
    angles = fit_pose(model, targets, max_iterations=400, start=coordinates).coordinates
    found = stride.coefficients.copy()
    for name in LEG_DOFS:
        basis = layout.basis(name, time / ground.period)
        found[layout.slices[name]] = np.linalg.lstsq(basis, angles[:, model.dof(f"{name}_r")], rcond=None)[0]
    return found


def _joints(layout: Layout, coefficients: AnyArray, time: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray]:
    phase, count = np.asarray(time, float) / layout.person.period, layout.person.model.tree.joint_count
    angles, rates, second = (layout.coordinates(coefficients, phase, order)[:, :count] for order in range(3))
    return angles, rates, second


def _runner(period: float, stance: float) -> StrideSubject:
    """The subject of the reference stride, with the timing of a run."""
    person = StrideSubject.load()
    rate = person.settings["timing"]["marker_rate_hz"]
    timing = person.settings["timing"] | {"frames": period * rate, "toe_off": stance}
    return replace(person, settings=person.settings | {"timing": timing})


def _rotated(rotation: AnyArray, vectors: AnyArray) -> AnyArray:
    return np.einsum("txy,ty->tx", rotation, vectors)


BESIDE = 0.05
"""Distance of the planted foot from the line of progression [m]."""
MIDDLE = 0.09
"""The middle of the center of pressure ahead of the ankle [m]."""
HEEL_OFF, LIFTED = -0.3, np.deg2rad(50.0)
"""Where in the stance (u) the heel begins to rise, and how far the foot is pitched at its end [rad]."""
SWING = (
    # share of the swing, ankle ahead of the pelvis as a share of the way in a stance, height [m], pitch [rad]
    (0.22, -0.78, 0.25, 0.95),
    (0.45, -0.20, 0.27, 0.75),
    (0.65, 0.40, 0.20, 0.28),
    (0.82, 0.76, 0.13, 0.0),
    (0.93, 0.78, 0.09, -0.05),
)
PLANTED = np.linspace(-1.0, 1.0, 15)


def foot_path(person: StrideSubject, ground: RunGround) -> CubicSpline:
    """Ankle ahead of where the mean speed has led [m], its height [m], and the pitch of the foot [rad] over a stride.

    A spline (3,) over the time from right foot strike to the next one [s].
    """
    middle, reach = 0.5 * ground.contact, ground.speed * ground.contact
    center = float(ground.center(np.array([middle]))[0][0, 0])
    time, places = [], []
    for u in PLANTED:
        at = middle * (1.0 + u)
        # The cube begins with two derivatives zero.
        pitch = LIFTED * max((u - HEEL_OFF) / (1.0 - HEEL_OFF), 0.0) ** 3
        ahead, height = _over_ball(person, pitch)
        time.append(at)
        places.append((center - MIDDLE + ahead - ground.speed * at, height, pitch))
    for share, ahead, height, pitch in SWING:
        time.append(ground.contact + share * (ground.period - ground.contact))
        places.append((0.5 * ahead * reach, height, pitch))
    # The moving point starts level with the center of mass.
    return CubicSpline([*time, ground.period], [*places, places[0]], bc_type="periodic")


def _over_ball(person: StrideSubject, pitch: float) -> tuple[float, float]:
    """How far the ankle has moved ahead, and its height, once the foot is pitched over its ball [m]."""
    ball = np.array(person.settings["foot"]["ball"])
    sine, cosine = np.sin(pitch), np.cos(pitch)
    # From the ball to the ankle, pitched forward.
    x = -ball[0] * cosine - ball[2] * sine
    z = ball[0] * sine - ball[2] * cosine
    return float(ball[0] + x), float(z)


def foot_points(person: StrideSubject, ground: RunGround, path: CubicSpline, time: Array) -> dict[str, Array]:
    """Ankle, heel and toe of the right foot (T, 3) [m] at times (T,) [s]."""
    ahead, height, pitch = path(np.mod(time, ground.period)).T
    ankle = np.stack([ahead + ground.speed * time, np.full(time.size, -BESIDE), height], axis=1)
    points = {"ankle": ankle}
    out = person.toe_out
    for name, key in (("heel", "heel"), ("toe", "ball")):
        x, _, z = person.settings["foot"][key]
        along, up = x * np.cos(pitch) + z * np.sin(pitch), z * np.cos(pitch) - x * np.sin(pitch)
        points[name] = ankle + np.stack([along * np.cos(out), -along * np.sin(out), up], axis=1)
    return points
