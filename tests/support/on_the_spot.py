"""Movements on the spot with both feet on the ground: standing and squats in exact balance, rising from a seat."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.interpolate import make_interp_spline

from musclesolve.dynamics import Targets, Wrench, fit_pose, projected_moments
from musclesolve.dynamics.kinematics.motion_derivatives import Motion, motion_from
from musclesolve.studies.synthetic import reference_stride
from musclesolve.studies.synthetic.reference_stride import ReferenceStride

Array = np.ndarray
NODES = 60


@dataclass(frozen=True)
class Squat(ReferenceStride):
    """Down and up again in a period; with no depth the subject stands."""

    depth: float = 0.0

    @classmethod
    def to(cls, depth: float) -> Squat:
        stride = reference_stride()
        return cls(stride.layout, 0.0 * stride.coefficients, depth)

    @cached_property
    def _spline(self):
        time = np.linspace(0.0, self.period, NODES + 1)
        down = 0.05 + 0.5 * self.depth * (1.0 - np.cos(2.0 * np.pi * time / self.period))
        standing, back = self.model.standing, 0.3 * down
        sunk = self.standing_origin - np.stack([back, 0.0 * down, down], axis=1)
        points = {name: standing[self.model.slot(name)] + sunk for name in ("hip_r", "hip_l", "back")}
        for name in ("ankle", "heel", "toe"):
            for side in "rl":
                place = standing[self.model.slot(f"{name}_{side}")] + self.standing_origin
                points[f"{name}_{side}"] = np.tile(place, (time.size, 1))
        targets = Targets.build(
            self.model, points, {"pelvis_forward": np.tile([1.0, 0.0, 0.0], (time.size, 1))}
        )
        start = np.zeros((time.size, len(self.model.topology.dof_names)))
        for side in "rl":
            for name, value in {"hip_flexion": 0.4, "knee_flexion": 0.8, "ankle_dorsiflexion": 0.4}.items():
                start[:, self.model.dof(f"{name}_{side}")] = value
        start[:, -6:-3] = sunk
        found = fit_pose(self.model, targets, start=start).coordinates
        found[-1] = found[0]
        return make_interp_spline(time, found, k=5, bc_type="periodic")

    def coordinates(self, time: Array, order: int = 0) -> Array:
        return self._spline(np.mod(np.asarray(time, float), self.period), order)

    def motion(self, time: Array) -> Motion:
        return motion_from(self.model, time, *(self.coordinates(time, order) for order in range(3)))

    def _balanced(self, motion: Motion) -> list[Wrench]:
        needed = projected_moments(self.model, motion, [])[:, -6:]
        force, moment = 0.5 * needed[:, :3], 0.5 * (needed[:, 3:] + np.cross(motion.origin, needed[:, :3]))
        wrenches = []
        for side in "rl":
            foot = motion.q[:, self.model.slot(f"ankle_{side}")] * [0.0, 1.0, 0.0]
            wrenches.append(Wrench(f"foot_{side}", force, moment + np.cross(foot, force)))
        return wrenches


@dataclass(frozen=True)
class Chair(Squat):
    """Rising from a seat and sitting down again: the seat, which no plate measures, carries most of who sits."""

    def coordinates(self, time: Array, order: int = 0) -> Array:
        return super().coordinates(np.asarray(time, float) + 0.5 * self.period, order)

    def _balanced(self, motion: Motion) -> list[Wrench]:
        sunk = 0.5 * (1.0 + np.cos(2.0 * np.pi * motion.time / self.period))
        on_feet = 1.0 - 0.75 * np.clip((sunk - 0.6) / 0.2, 0.0, 1.0)[:, None]
        return [
            Wrench(each.body, on_feet * each.force, on_feet * each.moment)
            for each in super()._balanced(motion)
        ]
