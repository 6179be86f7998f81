"""The finished stride: the motion at any phase, and forces that balance it exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from series import MIRROR, Plan

from musclesolve.dynamics import Motion, Wrench, projected_moments
from musclesolve.dynamics.motion import motion_from

Array = np.ndarray


@dataclass(frozen=True)
class Stride:
    """The unknowns that were found, and what follows from them."""

    plan: Plan
    unknowns: Array

    @property
    def length(self) -> float:
        """Stride length [m]."""
        return float(self.unknowns[self.plan.slices["speed"]][0] * self.plan.person.period)

    def motion(self, phase: Array) -> Motion:
        """The motion at phases (T,) of the stride, beyond 0 to 1 too."""
        states = [self.plan.coordinate_map(phase, order) @ self.unknowns for order in range(3)]
        return motion_from(self.plan.person.model, phase * self.plan.person.period, *states)

    def wrenches(self, phase: Array) -> list[Wrench]:
        """Wrenches on right and left foot that leave nothing for the pelvis to be held by.

        The splines of the fit miss the balance by a few newtons; that remainder goes to the feet in proportion to the
        vertical force they carry, so that it vanishes with it.
        """
        motion, model, joints = (
            self.motion(phase),
            self.plan.person.model,
            self.plan.person.model.tree.joint_count,
        )
        fitted = [self._fitted(motion, phase, side) for side in range(2)]
        remainder = projected_moments(model, motion, fitted)[:, joints:]
        middle = motion.coordinates[:, joints : joints + 3]
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

    def _fitted(self, motion: Motion, phase: Array, side: int) -> Wrench:
        person = self.plan.person
        wrench = person.weight * (self.plan.force_map(phase + 0.5 * side) @ self.unknowns)
        wrench = wrench * (MIRROR if side else 1.0)
        name = "rl"[side]
        ball = motion.q[:, person.slot(f"toe_{name}")]
        return Wrench(f"foot_{name}", wrench[:, :3], np.cross(ball, wrench[:, :3]) + wrench[:, 3:])
