"""A movement in exact balance, of a posture over time that is chosen; `sound_movements` records them.

A posture over time is where the balls of the feet are, how high the pelvis is, angles of trunk and arms, and which part
of the load each support bears. Feet at their places determine the joint angles of the legs. The pelvis is displaced
until the force that Newton and Euler demand acts at the middle of the supports, weighted with their parts; what is left
of the distance moves the centers of pressure of all of them. In a jump the force is given instead: the center of mass
follows from it, and the trunk turns so that the angular momentum about the center of mass is zero. Each support then
has its wrench, without a residual, and the moments of the joints are known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy.interpolate import BSpline, make_interp_spline
from scipy.linalg import solve_banded

from musclesolve._util.arrays import Array
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.dynamics import Wrench, projected_moments
from musclesolve.dynamics.kinematics.motion_derivatives import Motion, motion_from
from musclesolve.dynamics.model.model import mass_center
from musclesolve.dynamics.rotations import rotation_about
from musclesolve.laboratory.recording.data import SIDES
from musclesolve.studies.synthetic.reference_stride import ReferenceStride, reference_stride

Curve = Callable[[Array], Array]
LEG = (
    *("hip_flexion", "hip_adduction", "hip_internal_rotation", "knee_flexion"),
    *("ankle_dorsiflexion", "ankle_inversion", "ankle_adduction"),
)
FOOT = ("heel", "toe", "metatarsal_5")
DENSE_HZ = 100.0
BENT = 0.03  # how much lower than with straight knees the pelvis is [m]
TRUNK_INERTIA = 8.0  # that turns with the pelvis [kg m2]
LEAST_N = 10.0  # force from which a center of pressure means something [N]


def rise(t: Array, first: float, last: float) -> Array:
    """Curve from 0 to 1 between two times, with four derivatives that are zero at both [s]."""
    u = np.clip((t - first) / (last - first), 0.0, 1.0)
    return np.asarray(u**5 * (126.0 + u * (-420.0 + u * (540.0 + u * (-315.0 + 70.0 * u)))))


def bump(t: Array, first: float, last: float) -> Array:
    """Curve from 0 to 1 and back."""
    middle = 0.5 * (first + last)
    return rise(t, first, middle) - rise(t, middle, last)


def zero(t: Array) -> Array:
    return np.zeros(t.shape)


def nowhere(t: Array) -> Array:
    return np.zeros((*t.shape, 3))


@dataclass(frozen=True)
class Support:
    """A body that bears a part of the load, and where."""

    body: str  # such as foot_r
    part: Curve  # of the load, over time
    place: Array  # (3,) middle of the center of pressure [m]
    measured: bool = True


@dataclass(frozen=True)
class Posture:
    """A movement as it is chosen, over times (T,)."""

    duration: float  # [s]
    supports: tuple[Support, ...]
    height: Curve = zero  # of the pelvis above that of standing [m]
    balls: Mapping[str, Curve] = field(default_factory=dict)  # side -> (T, 3) way of the ball of the foot [m]
    heels: Mapping[str, Curve] = field(
        default_factory=dict
    )  # side -> (T,) rise of the heel about the ball [rad]
    angles: Mapping[str, Curve] = field(default_factory=dict)  # (T,) of trunk, arms and pelvis [rad]
    cutoff: float = 6.0  # of the filter [Hz]
    force: Curve | None = None  # (T,) vertical force of a jump [body weights]


class Movement:
    """A movement in exact balance."""

    def __init__(self, posture: Posture, stride: ReferenceStride | None = None) -> None:
        """Find the motion of legs and pelvis."""
        self.posture, self.stride = posture, stride or reference_stride()
        self.model = self.stride.model
        self.time = np.linspace(0.0, posture.duration, round(DENSE_HZ * posture.duration) + 1)
        self.frames = np.zeros((self.time.size, self.model.tree.joint_count + 6))
        for name, curve in posture.angles.items():
            self.frames[:, self.model.dof(name)] = curve(self.time)
        self.base = self.model.dof("pelvis_tx")
        self.frames[:, self.base : self.base + 3] = self.stride.standing_origin
        self.frames[:, self.base + 2] += posture.height(self.time) - BENT
        self.frames[:, self.base : self.base + 2] += self.middle(self.time)[:, :2] - [0.05, 0.0]
        for name in ("knee_flexion_r", "knee_flexion_l"):
            self.frames[:, self.model.dof(name)] = 0.5
        (self._fall if posture.force else self._balance)()

    def middle(self, time: Array) -> Array:
        """Middle of the supports (T, 3) [m]."""
        return np.asarray(sum(s.part(time)[:, None] * s.place for s in self.posture.supports))

    def _legs(self) -> None:
        """Angles of the legs that bring the feet to their places."""
        names, places, bodies = self.stride.person.markers
        standing = dict(zip(names, self.stride.standing, strict=True))
        seen, turn = [names.index(f"{part}_{side}") for side in SIDES for part in FOOT], np.eye(3)[1]
        targets = []
        for side in SIDES:
            ball = standing[f"toe_{side}"]
            pitch = rotation_about(turn, self.posture.heels.get(side, zero)(self.time))
            way = self.posture.balls.get(side, nowhere)(self.time)
            targets += [ball + way + pitch @ (standing[f"{part}_{side}"] - ball) for part in FOOT]
        target, small = np.stack(targets, axis=1), 1e-6
        columns = [[self.model.dof(f"{name}_{side}") for side in SIDES] for name in LEG]
        some = places[seen], tuple(bodies[k] for k in seen)
        for _ in range(12):
            now, slopes = self.stride.posed(self.frames, *some), []
            for column in columns:
                moved = self.frames.copy()
                moved[:, column] += small
                slopes.append((self.stride.posed(moved, *some) - now) / small)
            slope, miss = np.stack(slopes, axis=-1), target - now
            largest = 0.0
            for k in range(2):
                own = slice(3 * k, 3 * k + 3)
                rows, right = slope[:, own].reshape(len(now), 9, 7), miss[:, own].reshape(len(now), 9, 1)
                inner = np.array([column[k] for column in columns])
                keep = 1e-4 * np.diag([0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0])  # the knees point forward
                normal = rows.swapaxes(1, 2) @ rows + keep + 1e-9 * np.eye(7)
                pull = rows.swapaxes(1, 2) @ right - keep @ self.frames[:, inner, None]
                change = np.linalg.solve(normal, pull)[..., 0]
                self.frames[:, inner] += np.clip(change, -0.3, 0.3)
                largest = max(largest, float(np.abs(change).max()))
            if largest < 1e-8:
                return

    def _demand(self) -> tuple[Array, Array]:
        """Force (T, 3) [N] and moment (T, 3) [N m] about the origin that the supports together have to give."""
        motion = self.motion(self.time)
        needed = projected_moments(self.model, motion, [])[:, self.base :]
        return needed[:, :3], needed[:, 3:] + np.cross(motion.origin, needed[:, :3])

    def beside(self, time: Array, force: Array, moment: Array) -> Array:
        """How far the centers of pressure are beside the middles of the supports (T, 2) [m]."""
        place = sum(s.part(time)[:, None] * np.cross(s.place, force) for s in self.posture.supports)
        left, up = moment - place, np.where(force[:, 2] > LEAST_N, force[:, 2], np.inf)
        return np.stack([-left[:, 1] / up, left[:, 0] / up], axis=1)

    def _balance(self) -> None:
        """Displace the pelvis: x - (h / g) x'' of the center of mass is the center of pressure."""
        stiff = 0.9 / STANDARD_GRAVITY * DENSE_HZ**2
        bands = np.zeros((3, self.time.size))
        bands[0, 2:], bands[1], bands[2, :-2] = -stiff, 1.0 + 2.0 * stiff, -stiff
        bands[1, [0, -1]] = 1.0
        for _ in range(12):
            self._legs()
            away = self.beside(self.time, *self._demand())
            self.frames[:, self.base : self.base + 2] -= 0.8 * solve_banded((1, 1), bands, away)
        self._legs()

    def _fall(self) -> None:
        """Let the center of mass follow from the force, and turn the trunk."""
        assert self.posture.force is not None

        def twice(values: Array) -> Array:
            return np.asarray(make_interp_spline(self.time, values, k=5).antiderivative(2)(self.time))

        path = STANDARD_GRAVITY * twice(self.posture.force(self.time) - 1.0)[:, None] * np.eye(3)[2]
        tilt, origin = self.model.dof("pelvis_tilt"), slice(self.base, self.base + 3)
        start = self.middle(self.time[:1])[0] + [0.0, 0.0, self._center()[0, 2]]
        for _ in range(40):
            self.frames[:, origin] += start + path - self._center()
            self._legs()
            force, moment = self._demand()
            turned = twice((moment - np.cross(self._center(), force))[:, 1]) / TRUNK_INERTIA
            middle = (len(turned) + 1) // 2  # the second half is the first one, reversed
            self.frames[:, tilt] -= np.concatenate([turned[:middle], turned[: len(turned) - middle][::-1]])

    def _center(self) -> Array:
        self._legs()
        return mass_center(self.model, self.motion(self.time).q)

    @property
    def curve(self) -> BSpline:
        """The coordinates as a spline of time."""
        return make_interp_spline(self.time, self.frames, k=5)

    def motion(self, time: Array) -> Motion:
        """The motion at times (T,) [s]."""
        curve = self.curve
        return motion_from(
            self.model, time, *(curve.derivative(k)(time) if k else curve(time) for k in range(3))
        )

    def wrenches(self, time: Array) -> list[Wrench]:
        """Wrench of each support (T, 3); no residual is left at the pelvis."""
        motion = self.motion(time)
        needed = projected_moments(self.model, motion, [])[:, self.base :]
        force, moment = needed[:, :3], needed[:, 3:] + np.cross(motion.origin, needed[:, :3])
        beside = np.column_stack([self.beside(time, force, moment), zero(time)])
        borne = [np.cross(s.place + beside, s.part(time)[:, None] * force) for s in self.posture.supports]
        free = moment - sum(borne)
        return [
            Wrench(s.body, s.part(time)[:, None] * force, own + s.part(time)[:, None] * free)
            for s, own in zip(self.posture.supports, borne, strict=True)
        ]

    def moments(self, time: Array) -> Array:
        """Moments of the joints (T, K) and the residual (T, 6) [N m, N]."""
        return projected_moments(self.model, self.motion(time), self.wrenches(time))
