"""A run with flight, periodic and in exact balance: ground forces are prescribed, and the body's motion follows.

In a stance of duration t_s, with u from -1 to 1 over it and tau the time from its middle, the right foot is pushed by

    F_z = A (1 - u^2)^2 (1 + u^2),  F_x = k tau F_z,  F_y = b F_z,

zero with its slope at both ends. A follows from the body weight as mean force, k from the speed of the center of
pressure under the foot: with the center of pressure at C_x - C_z F_x / F_z there is no moment about the left axis
through the center of mass C. The left foot mirrors the right one half a stride later. The angular momentum about the
center of mass is constant in flight; about the forward and the upward axis it changes to its opposite in proportion to
the impulse, which requires the moment M = dH/dt.

The feet follow from the ground forces: at mid-stance the center of pressure and the middle of the foot are below the
center of mass. The swing is a periodic cubic spline through a few plausible places, relative to a point that moves at
the mean speed. The path of the foot in swing is only plausible and smooth.

The joint angles are Fourier series with the feet at these places. With joint angles as functions of time, the momentum
of the whole body about its center of mass is H = R (I w + h): R rotates the pelvis, I is the inertia of the body and h
the momentum of the joints' motion, both in the axes of the pelvis, w its angular velocity there. H is known from the
ground forces, so dR/dt = R [w] follows. After half a stride the pelvis has to be its mirror image: that determines the
three unknown amounts of H. A changed motion of the pelvis requires another motion of the legs to reach the same places:
a few rounds suffice. The balance is exact also where the series miss the places, and in flight only gravity acts.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import ClassVar, Self

import numpy as np
from numpy.polynomial import Polynomial
from scipy.interpolate import CubicSpline, PPoly, make_interp_spline

from muscle_db.model import LEG_DOFS
from musclesolve._util.arrays import AnyArray, Array, vector_product
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.dynamics.forward.simulate import momentum
from musclesolve.dynamics.inverse.newton_euler import net_moments
from musclesolve.dynamics.kinematics.measured_targets import Targets
from musclesolve.dynamics.kinematics.motion_derivatives import Motion, cardan_derivatives, motion_from
from musclesolve.dynamics.kinematics.pose_fit import fit_pose
from musclesolve.dynamics.model.model import Model, mass_center
from musclesolve.dynamics.model.rigid_body import Wrench
from musclesolve.dynamics.rotations import from_vector, nearest_rotation, to_cardan, to_vector
from musclesolve.errors import MuscleSolveError, input_error
from musclesolve.laboratory.recording.data import SIDES
from musclesolve.studies.synthetic.reference_stride import ReferenceStride, StrideLayout, StrideSubject

HARMONICS = list(range(13))
ARMS = {
    # mean and first harmonic (cosine) [rad]: the arm swings against the leg of its side
    "shoulder_flexion": (-0.25, -0.45),
    "elbow_flexion": (1.45, -0.15),
    "shoulder_adduction": (-0.2, 0.0),
}
BENT = {"hip_flexion": 0.5, "knee_flexion": 1.0, "ankle_dorsiflexion": 0.2}
"""Start of the search for the leg angles [rad]: a straight knee could bend in either direction."""
KNEE = np.deg2rad([-8.0, 140.0])
"""Least flexion of a knee [rad]: straight, with some noise of the series."""
ROUNDS, FRAMES = 8, 96
PRESSURE_TRAVEL = 0.16
"""Travel of the center of pressure under the foot [m]."""
HEIGHT = 0.545
"""Mean height of the center of mass in statures."""


@dataclass(frozen=True)
class RunningStride(ReferenceStride):
    """A periodic stride of a run."""

    contact: "RunGround"  # the ground forces on the feet
    base: "Base"  # how the pelvis rotates

    source: ClassVar[str] = "plausible ground forces and paths of the feet"
    muscles: ClassVar[str] = (
        "# The run asks in mid-stance for up to 1.6 times the strength of the muscles of gait2392, not for more than\n"
        "# people of this mass and stature have.\n"
        '[muscles]\nstrength = "handsfield_2014"\n\n'
    )

    @property
    def about(self) -> str:
        """Description of the run in a line."""
        return f"A run of {self.speed:g} m/s with flight ({120.0 / self.period:.0f} steps a minute)"

    def joints(self, time: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray]:
        """Joint angles (T, K) [rad] and their two derivatives at times (T,) [s]."""
        return _joints(self.layout, self.coefficients, time)

    def coordinates(self, time: AnyArray, order: int = 0) -> AnyArray:
        """Joint and base coordinates (T, 44) at times (T,) [s]; derivatives: the columns of the joint angles only."""
        time = np.asarray(time, float)
        angles = self.joints(time)[order]
        base = np.zeros((time.size, 6))
        if order == 0:
            rotation = self.base.rotation(time)
            body = Carried.from_joints(self.model, self.joints(time))
            place = self.contact.center(time)[0] - _rotated(rotation, body.center)
            base = np.column_stack([place, *to_cardan(rotation)])
        return np.column_stack([angles, base])

    def motion(self, time: AnyArray) -> Motion:
        """The motion at times (T,) [s]; the ground forces cause its accelerations."""
        time = np.asarray(time, float)
        joints, rotation = self.joints(time), self.base.rotation(time)
        body = Carried.from_joints(self.model, joints)
        momentum, _ = self.base.angular_momentum(time)
        spin = body.angular_velocity(rotation, momentum)
        center, drift = self.contact.center(time)
        place = center - _rotated(rotation, body.center)
        velocity = drift - _rotated(rotation, body.drift + np.cross(spin, body.center))
        cardan, turning = np.column_stack(to_cardan(rotation)), _rotated(rotation, spin)

        def moving(base: AnyArray) -> Motion:
            """The motion with some acceleration (T, 6) of the base."""
            cardan_rates = cardan_derivatives(cardan, turning, base[:, 3:])
            orders = (place, cardan), (velocity, cardan_rates[0]), (base[:, :3], cardan_rates[1])
            columns = (
                np.column_stack([angles, *of_base]) for angles, of_base in zip(joints, orders, strict=True)
            )
            return motion_from(self.model, time, *columns)

        def missing(base: AnyArray) -> AnyArray:
            return net_moments(self.model, moving(base), wrenches)[:, -6:]

        # The residual at the pelvis is linear in the acceleration, and zero for the right one.
        wrenches, still = self.wrenches(time), np.zeros((time.size, 6))
        first = missing(still)
        slope = np.stack([missing(still + unit) - first for unit in np.eye(6)], axis=2)
        return moving(-np.linalg.solve(slope, first[..., None])[..., 0])

    def wrenches(self, time: AnyArray) -> list[Wrench]:
        """Ground reactions on the right and left foot at times (T,) [s]: the prescribed forces, zero in flight."""
        time = np.asarray(time, float)
        center, moment = self.contact.center(time)[0], self.base.angular_momentum(time)[1]
        forces = {side: self.contact.force(time, number) for number, side in enumerate(SIDES)}
        return [
            Wrench(f"foot_{side}", force, np.cross(center, force) + np.where(force[:, 2:] > 0.0, moment, 0.0))
            for side, force in forces.items()
        ]

    def _balanced(self, motion: Motion) -> list[Wrench]:
        return self.wrenches(motion.time)


@cache
def running_stride(speed: float = 2.5, period: float = 0.70, stance: float = 0.36) -> RunningStride:
    """A run of the subject of the reference stride at a mean speed [m/s]; period of a stride [s].

    stance: share of the stride in which a foot is on the ground, below one half. A run that the legs of this subject
    cannot perform is an InputError.
    """
    no_run = input_error(
        "bad_number",
        where="running_stride",
        problem=f"no run of {speed:g} m/s with {period:g} s a stride, {100.0 * stance:g} % of it stance is found",
        expected="a stance that the legs can reach over: 1.8 to 3.5 m/s, 0.3 to 0.4 of 0.65 to 0.75 s",
        remedy="take a lower speed, or a shorter stance",
    )
    if not (0.0 < stance < 0.5 and 0.3 < period < 2.0 and 0.5 < speed < 8.0):
        raise no_run
    # The subject of the reference stride, with the timing of a run.
    person = StrideSubject.load()
    rate = person.settings["timing"]["marker_rate_hz"]
    timing = person.settings["timing"] | {"frames": period * rate, "toe_off": stance}
    person = replace(person, settings=person.settings | {"timing": timing})
    subject = person.subject
    ground = RunGround(subject.mass, speed, period, stance, HEIGHT * subject.stature, PRESSURE_TRAVEL)
    leg = {name: {"sided": True, "harmonics": HARMONICS} for name in LEG_DOFS}
    arm = {name: {"sided": True, "harmonics": [0, 1]} for name in ARMS}
    layout = StrideLayout(person, leg | arm, {}, 0, 0)
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
        raise no_run from None
    knee = stride.coordinates(np.linspace(0.0, period, FRAMES))[:, person.model.dof("knee_flexion_r")]
    if not (KNEE[0] < knee.min() and knee.max() < KNEE[1]):
        raise no_run
    return stride


def _stride(layout: StrideLayout, coefficients: AnyArray, ground: "RunGround") -> RunningStride:
    base = running_base(layout.person.model, ground, lambda time: _joints(layout, coefficients, time))
    return RunningStride(layout, coefficients, ground, base)


def _reaching(stride: RunningStride) -> AnyArray:
    """Coefficients with which the legs reach the prescribed places from the present motion of the pelvis."""
    layout, ground, model = stride.layout, stride.contact, stride.model
    time = np.arange(FRAMES) * ground.period / FRAMES
    coordinates = stride.coordinates(time)
    q = model.tree.pose(coordinates[:, :-6], coordinates[:, -6:-3], stride.base.rotation(time))
    pelvis = {name: q[:, model.slot(name)] for name in ("hip_r", "hip_l", "back")}
    path, feet = foot_path(layout.person, ground), {}
    right, left = (
        foot_points(layout.person, ground, path, time - shift) for shift in (0.0, 0.5 * ground.period)
    )
    half_stride = np.array([0.5 * ground.period * ground.speed, 0.0, 0.0])
    for name in right:
        feet[f"{name}_r"], feet[f"{name}_l"] = right[name], left[name] * MIRROR + half_stride
    forward = {"pelvis_forward": q[:, model.slot("pelvis_forward")]}
    targets = Targets.build(model, pelvis | feet, forward, dict.fromkeys([*pelvis, *forward], 100.0))
    angles = fit_pose(model, targets, max_iterations=400, start=coordinates).coordinates
    coefficients = stride.coefficients.copy()
    for name in LEG_DOFS:
        basis, angle = layout.basis(name, time / ground.period), angles[:, model.dof(f"{name}_r")]
        coefficients[layout.slices[name]] = np.linalg.lstsq(basis, angle, rcond=None)[0]
    return coefficients


def _joints(
    layout: StrideLayout, coefficients: AnyArray, time: AnyArray
) -> tuple[AnyArray, AnyArray, AnyArray]:
    phase, count = np.asarray(time, float) / layout.person.period, layout.person.model.tree.joint_count
    angles, rates, second = (layout.coordinates(coefficients, phase, order)[:, :count] for order in range(3))
    return angles, rates, second


def _rotated(rotation: AnyArray, vectors: AnyArray) -> AnyArray:
    return np.einsum("txy,ty->tx", rotation, vectors)


FOOT_OFFSET = 0.05
"""Distance of the planted foot from the line of progression [m]."""
MIDDLE = 0.09
"""The middle of the center of pressure ahead of the ankle [m]."""
HEEL_OFF, LIFTED = -0.3, np.deg2rad(50.0)
"""Place in the stance (u) at which the heel begins to rise, and pitch of the foot at its end [rad]."""
SWING = (
    # share of the swing, ankle ahead of the pelvis as a share of the travel in a stance, height [m], pitch [rad]
    (0.22, -0.78, 0.25, 0.95),
    (0.45, -0.20, 0.27, 0.75),
    (0.65, 0.40, 0.20, 0.28),
    (0.82, 0.76, 0.13, 0.0),
    (0.93, 0.78, 0.09, -0.05),
)
PLANTED = np.linspace(-1.0, 1.0, 15)


def foot_path(person: StrideSubject, ground: "RunGround") -> CubicSpline:
    """Spline (3,) over a stride of the ankle's place ahead of a point at mean speed [m], its height [m], and foot pitch
    [rad].

    Its time [s] is from right heel strike to the next one.
    """
    middle, reach = 0.5 * ground.contact, ground.speed * ground.contact
    center = float(ground.center(np.array([middle]))[0][0, 0])
    ball = np.array(person.settings["foot"]["ball"])
    time, places = [], []
    for u in PLANTED:
        at = middle * (1.0 + u)
        # The cube begins with two derivatives zero.
        pitch = LIFTED * max((u - HEEL_OFF) / (1.0 - HEEL_OFF), 0.0) ** 3
        # The foot pitches forward over its ball: how far the ankle has moved ahead, and its height.
        sine, cosine = np.sin(pitch), np.cos(pitch)
        ahead, height = ball[0] + (-ball[0] * cosine - ball[2] * sine), ball[0] * sine - ball[2] * cosine
        time.append(at)
        places.append((center - MIDDLE + ahead - ground.speed * at, height, pitch))
    for share, ahead, height, pitch in SWING:
        time.append(ground.contact + share * (ground.period - ground.contact))
        places.append((0.5 * ahead * reach, height, pitch))
    # The moving point starts level with the center of mass.
    return CubicSpline([*time, ground.period], [*places, places[0]], bc_type="periodic")


def foot_points(
    person: StrideSubject, ground: "RunGround", path: CubicSpline, time: Array
) -> dict[str, Array]:
    """Ankle, heel and toe of the right foot (T, 3) [m] at times (T,) [s]."""
    ahead, height, pitch = path(np.mod(time, ground.period)).T
    ankle = np.stack([ahead + ground.speed * time, np.full(time.size, -FOOT_OFFSET), height], axis=1)
    points = {"ankle": ankle}
    out = person.toe_out
    for name, key in (("heel", "heel"), ("toe", "ball")):
        x, _, z = person.settings["foot"][key]
        along, up = x * np.cos(pitch) + z * np.sin(pitch), z * np.cos(pitch) - x * np.sin(pitch)
        points[name] = ankle + np.stack([along * np.cos(out), -along * np.sin(out), up], axis=1)
    return points


SIDEWAYS = 0.035
"""b: horizontal force toward the other foot over the vertical one."""
MIRROR = np.array([1.0, -1.0, 1.0])
"""Signs that mirror a vector to the other side; a moment changes its other two signs."""


@dataclass(frozen=True)
class RunGround:
    """Ground forces and path of the center of mass of a run."""

    mass: float  # of the runner [kg]
    speed: float  # mean speed [m/s]
    period: float  # of a stride [s]
    stance: float  # share of the stride in which a foot is on the ground, below one half
    height: float  # mean height of the center of mass [m]
    pressure_travel: float  # how far the center of pressure travels under the foot [m]

    @property
    def contact(self) -> float:
        """Duration of a stance [s]."""
        return self.stance * self.period

    @property
    def drive(self) -> float:
        """The factor k of the forward force [1/s]."""
        return (self.speed - self.pressure_travel / self.contact) / self.height

    @cached_property
    def _bell(self) -> Polynomial:
        u = Polynomial([-1.0, 2.0 / self.contact])
        bell: Polynomial = (1.0 - u**2) ** 2 * (1.0 + u**2)
        return bell

    @cached_property
    def peak(self) -> float:
        """Peak A of the vertical force [N]."""
        impulse = float(self._bell.integ()(self.contact))
        return 0.5 * self.mass * STANDARD_GRAVITY * self.period / impulse

    def force(self, time: Array, side: int) -> Array:
        """Force on the right (0) or the left foot (1), (T, 3) [N], at times (T,) [s]; right heel strike is at 0."""
        _, since = _periods(time - 0.5 * side * self.period, self.period)
        up = np.where(since < self.contact, self.peak * self._bell(since), 0.0)
        tau = since - 0.5 * self.contact
        force = up[:, None] * np.stack([self.drive * tau, 0.0 * tau + SIDEWAYS, 0.0 * tau + 1.0], axis=1)
        return force * (MIRROR if side else 1.0)

    def alternation(self, time: Array) -> tuple[Array, Array]:
        """Return the factor (T,) of the alternating angular momentum, from 1 to -1, and its rate (T,) [1/s]."""
        step, since = _periods(time, 0.5 * self.period)
        sign = 1.0 - 2.0 * (step % 2)
        total = self._bell.integ()
        done = np.where(since < self.contact, total(np.minimum(since, self.contact)), total(self.contact))
        rate = np.where(since < self.contact, self._bell(since), 0.0)
        scale = total(self.contact)
        return sign * (1.0 - 2.0 * done / scale), -2.0 * sign * rate / scale

    def center(self, time: Array) -> tuple[Array, Array]:
        """Position (T, 3) [m] and velocity (T, 3) [m/s] of the center of mass."""
        half = 0.5 * self.period
        step, since = _periods(time, half)
        sign = 1.0 - 2.0 * (step % 2)
        x, y, z, vx, vy, vz = (curve(since) for curve in self._step)
        place = np.stack([x + step * half * self.speed, sign * y, z], axis=1)
        return place, np.stack([vx, sign * vy, vz], axis=1)

    @cached_property
    def _step(self) -> list[PPoly]:
        """Position and velocity of the center of mass over a step, in contact and then in flight: x, y, z and rates."""
        half, up = 0.5 * self.period, self._bell * (self.peak / self.mass)
        tau = Polynomial([-0.5 * self.contact, 1.0])

        def integral(contact: Polynomial, flying: float) -> PPoly:
            coefficients = np.zeros((contact.coef.size, 2))
            coefficients[:, 0], coefficients[-1, 1] = contact.coef[::-1], flying
            return PPoly(coefficients, [0.0, self.contact, half]).antiderivative()

        def raised(curve: PPoly, by: float) -> PPoly:
            coefficients = curve.c.copy()
            coefficients[-1] += by
            return PPoly(coefficients, curve.x)

        vx, vy = integral(self.drive * tau * up, 0.0), integral(SIDEWAYS * up, 0.0)
        vz = integral(up - STANDARD_GRAVITY, -STANDARD_GRAVITY)
        # The mean is the speed forward, zero vertically; sideways the velocity is opposite after a step.
        vx = raised(vx, self.speed - vx.integrate(0.0, half) / half)
        vy = raised(vy, -0.5 * vy(half))
        vz = raised(vz, -vz.integrate(0.0, half) / half)
        x, y, z = (velocity.antiderivative() for velocity in (vx, vy, vz))
        y, z = raised(y, -0.5 * y(half)), raised(z, self.height - z.integrate(0.0, half) / half)
        return [x, y, z, vx, vy, vz]


def _periods(time: Array, period: float) -> tuple[Array, Array]:
    """The number of whole periods that have passed (T,) and the time since the last, consistent to round-off."""
    count = np.floor(time / period)
    return count, np.clip(time - count * period, 0.0, period)


Joints = Callable[[Array], tuple[Array, Array, Array]]
"""A function from times (T,) to joint angles and their two derivatives, (T, K) each."""

INTEGRATION_STEPS = 80
"""Steps of the integration in half a stride."""
PRECISE, NEARBY = 1e-11, 1e-3
"""Negligible misfit after half a stride [rad], and step of the momentum for its slope [kg m2/s]."""


@dataclass(frozen=True)
class Carried:
    """Inertia and momentum of a body in the axes of its pelvis while the joints move, T instants."""

    center: Array  # (T, 3) center of mass from mid-hip [m]
    drift: Array  # (T, 3) its rate [m/s]
    inertia: Array  # (T, 3, 3) about it [kg m2]
    spin: Array  # (T, 3) angular momentum of the joints' motion about it [kg m2/s]

    @classmethod
    def from_joints(cls, model: Model, joints: tuple[Array, Array, Array]) -> Self:
        """Inertia and momentum from joint angles and their two derivatives (T, K)."""
        base = np.zeros((len(joints[0]), 6))
        still = motion_from(model, base[:, 0], *(np.column_stack([part, base]) for part in joints))
        linear, spin = momentum(model, still.q, still.qd)
        columns = [momentum(model, still.q, np.cross(axis, still.q))[1] for axis in np.eye(3)]
        center = mass_center(model, still.q)
        return cls(center, linear / model.mass.total, np.stack(columns, axis=2), spin)

    def angular_velocity(self, rotation: Array, angular_momentum: Array) -> Array:
        """Angular velocity w (T, 3) in the axes of the pelvis."""
        of_body = np.einsum("tyx,ty->tx", rotation, angular_momentum) - self.spin
        return np.linalg.solve(self.inertia, of_body[..., None])[..., 0]


@dataclass(frozen=True)
class Base:
    """Rotation of the pelvis over a stride, and the angular momentum of the body."""

    ground: RunGround  # the ground forces
    amount: Array  # (3,) angular momentum in the flight before the right foot strikes [kg m2/s]
    rotations: Callable[[Array], Array]  # spline of the rotation matrices (9,) over a stride

    def rotation(self, time: Array) -> Array:
        """Rotations R (T, 3, 3) of the pelvis at times (T,) [s]."""
        matrices = self.rotations(np.mod(time, self.ground.period)).reshape(-1, 3, 3)
        return nearest_rotation(matrices)

    def angular_momentum(self, time: Array) -> tuple[Array, Array]:
        """Angular momentum H (T, 3) about the center of mass [kg m2/s], and dH/dt (T, 3) [N m], at times (T,) [s]."""
        left, rate = self.ground.alternation(time)
        alternating = self.amount * [1.0, 0.0, 1.0]
        return left[:, None] * alternating + self.amount * [0.0, 1.0, 0.0], rate[:, None] * alternating


def running_base(model: Model, ground: RunGround, joints: Joints) -> Base:
    """The motion of the pelvis for joint angles; it is upright at right heel strike."""
    half = 0.5 * ground.period
    # Middles of the steps as well, for the Runge-Kutta method.
    fine = np.linspace(0.0, half, 2 * INTEGRATION_STEPS + 1)
    body, left = Carried.from_joints(model, joints(fine)), ground.alternation(fine)[0]
    left[-1] = -1.0

    def rotations(amounts: Array) -> Array:
        return _integrated(body, left, amounts, half / INTEGRATION_STEPS)

    def misfit(amounts: Array) -> Array:
        return to_vector(MIRROR[:, None] * rotations(amounts)[-1] * MIRROR)

    amount = np.zeros(3)
    for _ in range(20):
        off = misfit(np.concatenate([amount[None], amount + NEARBY * np.eye(3)]))
        if np.abs(off[0]).max() < PRECISE:
            break
        amount = amount - np.linalg.solve((off[1:] - off[0]).T / NEARBY, off[0])
    first = rotations(amount[None])[:, 0]
    second = MIRROR[:, None] * first * MIRROR
    matrices = np.concatenate([first[:-1], second]).reshape(-1, 9)
    matrices[-1] = matrices[0]
    time = np.linspace(0.0, ground.period, 2 * INTEGRATION_STEPS + 1)
    return Base(ground, amount, make_interp_spline(time, matrices, k=5, bc_type="periodic"))


def _integrated(body: Carried, left: Array, amounts: Array, step: float) -> Array:
    """Rotations R (INTEGRATION_STEPS + 1, n, 3, 3) for n amounts of momentum (n, 3), by Runge-Kutta of fourth order.

    With R = R_n exp(p) the rate of p is w + p x w / 2 + p x (p x w) / 12, up to the fourth power of p.
    """
    inverse = np.linalg.inv(body.inertia)
    steady, alternating = amounts * [0.0, 1.0, 0.0], amounts * [1.0, 0.0, 1.0]
    rotations = [np.repeat(np.eye(3)[None], len(amounts), axis=0)]
    for n in range(INTEGRATION_STEPS):
        here, vector = rotations[-1], np.zeros_like(amounts)
        rates: list[Array] = []
        for k, share in ((2 * n, 0.0), (2 * n + 1, 0.5), (2 * n + 1, 0.5), (2 * n + 2, 1.0)):
            vector = share * step * rates[-1] if rates else vector
            rotation = here @ from_vector(vector)
            momenta = steady + left[k] * alternating
            spin = (np.einsum("nyx,ny->nx", rotation, momenta) - body.spin[k]) @ inverse[k].T
            half = 0.5 * vector_product(vector, spin)
            rates.append(spin + half + vector_product(vector, half) / 6.0)
        mean = (rates[0] + 2.0 * rates[1] + 2.0 * rates[2] + rates[3]) / 6.0
        rotations.append(here @ from_vector(step * mean))
    return np.array(rotations)
