"""What acted besides the muscles: moments of the joints, ground reactions and the pelvis residual, through time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve.dynamics.inverse.external_wrenches import Wrench
from musclesolve.dynamics.inverse.joint_couples import Couples
from musclesolve.dynamics.model.model import Model
from musclesolve.errors import InputError


@dataclass(frozen=True, eq=False)
class RecordedLoads:
    """Joint moments and wrenches on bodies as one force of a simulation.

    bodies (W,): those with wrenches; onto (B, W): one where a wrench acts on a body. course: at times (T,), moments of
    all joints (K) [N m], then force [N] and moment about the global origin [N m] of each wrench, (T, K + 6 W).
    """

    couples: Couples
    bodies: Indices
    onto: Array
    time: Array
    course: Callable[[Array], Array]

    @classmethod
    def build(
        cls, model: Model, time: Array, moments: Array, wrenches: list[Wrench], between: str = "spline"
    ) -> RecordedLoads:
        """Loads sampled at times (T,) [s]: moments (T, K), wrenches; "linear" or "spline" between the samples."""
        from scipy.interpolate import make_interp_spline

        samples = np.hstack([moments, *(np.hstack([each.force, each.moment]) for each in wrenches)])
        bodies = np.array([model.body(wrench.body) for wrench in wrenches], dtype=np.intp)
        spline = make_interp_spline(time, samples, k=3 if between == "spline" else 1)
        onto = (np.arange(len(model.topology.bodies))[:, None] == bodies).astype(float)
        return cls(Couples.build(model), bodies, onto, time, spline)

    def joint_moments(self, time: Array) -> Array:
        """The moments (T, K) [N m] at times (T,) [s]."""
        return self.course(time)[:, : len(self.couples.distal)]

    def __call__(self, time: Array, q: Array, qd: Array) -> Array:
        """Generalized force (T, N, 3)."""
        first, last = float(self.time[0]), float(self.time[-1])
        if time.min() < first - 1e-12 or time.max() > last + 1e-12:
            raise InputError(
                f"loads are known from {first:g} to {last:g} s, but wanted at {float(time.max()):g} s",
                code="bad_range",
                remedy="simulate within the recording",
            )
        values = self.course(np.clip(time, first, last))
        joints, rigid_bodies = len(self.couples.distal), self.couples.model.rigid_bodies
        couple = self.couples.spread @ (self.couples.axes(q) * values[:, :joints, None])
        wrench = values[:, joints:].reshape(len(q), -1, 2, 3)
        at = q[:, rigid_bodies.slots[self.bodies, 0]]
        couple = couple + self.onto @ (wrench[:, :, 1] - np.cross(at, wrench[:, :, 0]))
        force = rigid_bodies.moment_forces(q, couple)
        force[:, :, 0] += self.onto @ wrench[:, :, 0]
        return rigid_bodies.generalized(q, force)
