"""The reference stride: a periodic stride of level walking, known at any time, in exact balance.

Motion and ground reaction are the coefficients of musclesolve/data/reference_stride/coefficients.toml, found by
tools/reference_stride. Right heel strike is at time 0; before and after the first stride others of the same follow.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.data import bundled
from musclesolve.dynamics.inverse.external_wrenches import Wrench
from musclesolve.dynamics.inverse.inverse_dynamics import projected_moments
from musclesolve.dynamics.kinematics.motion_derivatives import Motion, motion_from
from musclesolve.dynamics.model.model import Model
from musclesolve.recording.data import SIDES, Event, Side
from musclesolve.synthetic.stride.stride_series import MIRROR, WRENCH, Layout
from musclesolve.synthetic.stride.stride_subject import StrideSubject, carried

COEFFICIENTS = bundled.reference_stride().with_name("coefficients.toml")


@dataclass(frozen=True)
class GroundForce:
    """What the ground does to one foot, as a plate measures it, global frame, T instants."""

    force: Array  # (T, 3) [N]
    point: Array  # (T, 3) center of pressure on the ground [m], NaN where the foot is not loaded
    free_moment: Array  # (T,) about the vertical through it [N m], zero where the foot is not loaded


@dataclass(frozen=True)
class Stride:
    """A periodic stride of one subject."""

    layout: Layout  # which coefficients there are
    coefficients: Array  # (P,) their values

    # What it follows from, besides the laws of motion; the table [muscles] of its trial file.
    source: ClassVar[str] = "normative curves"
    muscles: ClassVar[str] = ""

    @property
    def about(self) -> str:
        """What it is, in a line."""
        return f"A stride of level walking at natural cadence ({120.0 / self.period:.0f} steps a minute)"

    @property
    def person(self) -> StrideSubject:
        """The subject."""
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
        """Names of the landmarks that `markers` gives."""
        return self.person.markers[0]

    def motion(self, time: Array) -> Motion:
        """The motion at times (T,) [s], derivatives exact."""
        time = np.asarray(time, float)
        return motion_from(self.model, time, *(self.coordinates(time, order) for order in range(3)))

    def coordinates(self, time: Array, order: int = 0) -> Array:
        """Joint and base coordinates (T, 44), or their derivatives, at times (T,) [s]."""
        return self.layout.coordinates(self.coefficients, np.asarray(time, float) / self.period, order)

    def wrenches(self, time: Array) -> list[Wrench]:
        """What the ground does to right and left foot at times (T,) [s]; nothing is left for the pelvis to be held by.

        The splines miss the balance by a little; that remainder goes to the feet in proportion to the vertical force
        they carry, so that it vanishes with it.
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
        """Any points that ride on bodies, (T, n, 3) [m], from their standing positions (n, 3) [m]."""
        return carried(self.person, self.coordinates(time), places, bodies)

    @property
    def standing_origin(self) -> Array:
        """Where the middle of the hips is while the subject stands upright, soles on the ground (3,) [m]."""
        return np.array([0.0, 0.0, -self.model.standing[self.person.slot("heel_r"), 2]])

    @property
    def standing(self) -> Array:
        """Landmarks (n, 3) [m] of the subject standing upright, soles on the ground."""
        return self.person.markers[1] + self.standing_origin

    def ground(self, time: Array, loaded_above: float = 20.0) -> dict[Side, GroundForce]:
        """Ground reactions at times (T,) [s] by side; no center of pressure below a vertical force [N]."""
        return {
            side: ground_force(wrench, loaded_above)
            for side, wrench in zip(SIDES, self.wrenches(time), strict=True)
        }

    def events(self, start: float = 0.0, end: float | None = None) -> tuple[Event, ...]:
        """Heel strikes and toe-offs from start to before end [s]; of the first stride by default."""
        end = self.period if end is None else end
        found = []
        for side, lag in (("r", 0.0), ("l", 0.5)):
            for kind, phase in (("heel_strike", lag), ("toe_off", lag + self.person.toe_off)):
                first = int(np.ceil(start / self.period - phase - 1e-12))
                times = (phase + np.arange(first, first + 2 + int((end - start) / self.period))) * self.period
                found += [Event(kind, side, float(t), "stated") for t in times if t < end]  # type: ignore[arg-type]
        return tuple(sorted(found, key=lambda event: event.time))

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
            Wrench(
                wrench.body,
                wrench.force + part[:, None] * remainder[:, :3],
                wrench.moment + part[:, None] * moment,
            )
            for wrench, part in zip(fitted, share, strict=True)
        ]

    def fitted(self, motion: Motion, side: int) -> Wrench:
        """The wrench of the splines alone on the right foot (0) or the left one (1), without the remainder."""
        phase = motion.time / self.period + 0.5 * side
        wrench = self.person.weight * self.layout.wrench(self.coefficients, phase)
        wrench = wrench * (MIRROR if side else 1.0)
        ball = motion.q[:, self.person.slot(f"toe_{SIDES[side]}")]
        return Wrench(f"foot_{SIDES[side]}", wrench[:, :3], np.cross(ball, wrench[:, :3]) + wrench[:, 3:])


def ground_force(wrench: Wrench, loaded_above: float) -> GroundForce:
    """A wrench as a plate on the ground measures it: x = -My / Fz, y = Mx / Fz, and what moment is left."""
    loaded = wrench.force[:, 2] >= loaded_above
    vertical = np.where(loaded, wrench.force[:, 2], np.nan)
    point = np.stack(
        [-wrench.moment[:, 1] / vertical, wrench.moment[:, 0] / vertical, 0.0 * vertical], axis=1
    )
    left = wrench.moment - np.cross(np.nan_to_num(point), wrench.force)
    return GroundForce(wrench.force, point, np.where(loaded, left[:, 2], 0.0))


def reference_stride() -> Stride:
    """The bundled stride."""
    return read_stride(COEFFICIENTS)


def read_stride(path: Path) -> Stride:
    """A stride from a file of coefficients."""
    content: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    ground = content["ground"]
    layout = Layout(
        StrideSubject.load(), content["series"], content["head"], len(ground[WRENCH[0]]), ground["onset"]
    )
    parts = [entry["coefficients"] for entry in content["series"].values()]
    parts += [[content["speed_m_s"]], content["right_ball_m"], *(ground[name] for name in WRENCH)]
    return Stride(layout, np.concatenate([np.asarray(part, float) for part in parts]))
