"""A walk with impacts whose truth is known.

Right after heel strike the ground pushes the heel forward and upward for 40 ms, as on a treadmill where the foot lands
faster than the belt. Hip and knee answer as free hinges, so that their true moments hardly change, while the foot is
stopped. With q0(t) the bundled stride, s its reaction to the push and g'' a bump of 40 ms, less two slow ones that
bring velocity and place back to zero,

    q(t) = q0(t) + s g(t),

exact in all derivatives; the ground force of the striking foot follows from Newton's law, nothing being left at the
pelvis. Both legs alike, half a stride apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from musclesolve.dynamics import Wrench, projected_moments
from musclesolve.dynamics.kinematics.motion_derivatives import Motion, motion_from
from musclesolve.laboratory import Trial
from musclesolve.laboratory.analysis.mechanics import Mechanics, measured_moments
from musclesolve.laboratory.forces import mechanics
from musclesolve.studies.synthetic.reference_stride import ReferenceStride

Array = NDArray[np.float64]

PUSH = (0.1, 0.0, 0.15)
"""Peak of the impact, forward, left and up [body weights]: what two people on a treadmill show."""
IMPACT = (0.0, 0.04)
RETURN = ((0.0, 0.3), (0.08, 0.42))
"""When the impact begins and ends, and the slow bumps that take its motion back [s]."""
FREE = ("hip_flexion", "knee_flexion")
"""Joints of the leg that give way; the ankle is held."""


def bump(time: Array, first: float, last: float, order: int) -> Array:
    """sin^2 from `first` to `last`, or its first (order 1) or second (order 0) integral from the beginning."""
    rate, within = 2.0 * np.pi / (last - first), np.clip(time - first, 0.0, last - first)
    if order == 2:
        return 0.5 - 0.5 * np.cos(rate * within)
    if order == 1:
        return 0.5 * within - np.sin(rate * within) / (2.0 * rate)
    after = 0.5 * (last - first) * np.maximum(time - last, 0.0)
    return after + 0.25 * within**2 + (np.cos(rate * within) - 1.0) / (2.0 * rate**2)


def course(time: Array, order: int) -> Array:
    """g, its first or its second derivative (order 0, 1, 2) at times (T,) after heel strike [s]."""
    end = 1.0  # after all of it
    left = np.array([[bump(np.array(end), *slow, k) for slow in RETURN] for k in (1, 0)])
    factors = np.linalg.solve(left, [bump(np.array(end), *IMPACT, k) for k in (1, 0)])
    slow = sum(factor * bump(time, *each, order) for factor, each in zip(factors, RETURN, strict=True))
    return bump(time, *IMPACT, order) - slow


@dataclass(frozen=True)
class ImpactStride(ReferenceStride):
    """The bundled stride with an impact at every heel strike, `size` times `PUSH`."""

    size: float = 1.0

    @cached_property
    def base(self) -> ReferenceStride:
        """The stride without impacts."""
        return ReferenceStride(self.layout, self.coefficients)

    @cached_property
    def reactions(self) -> dict[str, Array]:
        """Acceleration (K + 6,) of the coordinates by the peak of the push on each foot, the other joints held."""
        found: dict[str, Array] = {}
        for side, lag in zip("rl", (0.0, 0.5 * self.period), strict=True):
            time = np.array([lag + 0.5 * sum(IMPACT)])
            place, rate, second = (self.base.coordinates(time, order) for order in range(3))
            model, joints = self.model, self.model.tree.joint_count
            free = [
                model.dof(name) for name in (*(f"{dof}_{side}" for dof in FREE), "pelvis_tx", "pelvis_tz")
            ]
            # Generalized forces of the hinges, and what is left at the pelvis, forward and up.
            rows = [*free[:2], joints, joints + 2]

            def needed(
                second: Array, *push: Wrench, place: Array = place, rate: Array = rate, time: Array = time
            ) -> Array:
                return projected_moments(
                    self.model, motion_from(self.model, time, place, rate, second), [*push]
                )[0]

            still = needed(second)
            unit = np.eye(len(still))[free]
            inertia = np.stack([(needed(second + each) - still)[rows] for each in unit], axis=1)
            force = self.size * self.person.weight * np.array([PUSH])
            heel = self.base.motion(time).q[:, self.person.slot(f"heel_{side}")]
            push = (needed(second, Wrench(f"foot_{side}", force, np.cross(heel, force))) - still)[rows]
            found[side] = np.zeros(len(still))
            found[side][free] = np.linalg.solve(inertia, -push)
        return found

    def _since_strike(self, time: Array) -> list[Array]:
        return [np.mod(time - lag, self.period) for lag in (0.0, 0.5 * self.period)]

    def coordinates(self, time: Array, order: int = 0) -> Array:
        """Joint and base coordinates (T, K + 6), or their derivatives, at times (T,) [s]."""
        time = np.asarray(time, float)
        moved = super().coordinates(time, order)
        for side, since in zip("rl", self._since_strike(time), strict=True):
            moved = moved + course(since, order)[:, None] * self.reactions[side]
        return moved

    def _balanced(self, motion: Motion) -> list[Wrench]:
        """Return the forces of the ground on both feet: the impact belongs to the foot that struck last."""
        wrenches = self.base.wrenches(motion.time)
        rest = projected_moments(self.model, motion, wrenches)[:, self.model.tree.joint_count :]
        moment = rest[:, 3:] + np.cross(motion.origin, rest[:, :3])
        found = []
        for wrench, since in zip(wrenches, self._since_strike(motion.time), strict=True):
            on = (since < 0.5 * self.period)[:, None]
            found.append(Wrench(wrench.body, wrench.force + on * rest[:, :3], wrench.moment + on * moment))
        return found


def moments(trial: Trial, markers: float | str, forces: float | None) -> tuple[Mechanics, Array]:
    """Mechanics and generalized forces (T, K + 6) [N m, N] of a trial with such cut-offs."""
    how = {"cutoff_hz": markers} | ({} if forces is None else {"force_cutoff_hz": forces})
    found = mechanics(trial.with_settings(filter=how))
    return found, measured_moments(trial, found.model, found.motion, found.wrenches)
