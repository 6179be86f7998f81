"""Ground reactions predicted frame by frame, from the present motion alone.

The program of `predicted_reactions` without its smoothness in time: 18 unknowns x of one frame,

    minimize 1/2 x^T H x - g^T x  subject to  C x >= 0.

With H = L L^T its dual is a non-negative least-squares problem, min |L^-1 C^T y + L^-1 g| over y >= 0, and
x = L^-T (L^-1 C^T y + L^-1 g). Its active-set method (Lawson & Hanson 1974) ends at the exact solution.

Smoothness couples a frame with later ones, which are not known. Without it forces differ from the prediction by the
whole motion where load passes from one foot to the other: on four recorded walks by 1.0 to 1.8 % of body weight forward
and 2.6 to 4.6 % upward (rms). A window of past frames does not reduce the difference; 30 ms of later frames reduce it
by a fifth.
"""

import numpy as np

from musclesolve._util.arrays import Array, vector_product
from musclesolve.dynamics.inverse.predicted_reactions import (
    Ground,
    about_center,
    acting_forces,
    frame_terms,
    ground_velocity,
    points_of_soles,
    push_limits,
    sole_places,
)
from musclesolve.dynamics.kernel.arrays import SegmentArrays
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.model import Model

REMEMBERED, EVERY = 2.0, 0.0625
"""The velocity of the ground is the velocity of the soles in the last 2 s, looked at 16 times a second [s]."""
TRIED = 20
"""Velocities of soles that are tried as the velocity of the ground."""


class FrameReactions:
    """Ground reactions of a body that touches only the ground, frame after frame.

    Args:
        model: with the points `heel`, `toe` and `ankle` of both feet.
        motion: recorded motion of T frames on the same floor. It shows the level of the floor, and the velocity of a
            belt until the soles of later frames show it.
    """

    def __init__(self, model: Model, motion: Motion) -> None:
        self._model, self._points = model, points_of_soles(model)
        self._slots, self._bodies = sole_places(model)
        self._limits = push_limits(self._points.shape[1])
        self._weight = model.weight
        spin = model.rigid_bodies.subset(self._bodies).twists(motion.q, motion.qd)[..., :3]
        rotation = model.rigid_bodies.subset(self._bodies).rotation(motion.q)
        points, velocity = self._soles(motion, rotation, spin)
        self._recorded = Ground.from_motion(points, velocity)
        shown = np.linspace(0, len(points) - 1, round(REMEMBERED / EVERY)).round().astype(int)
        self._shown = points[shown, ..., 2] - self._recorded.lowest, velocity[shown]
        self.clear()

    def clear(self) -> None:
        """Forget all frames."""
        self._ground, self._looked, self._place = self._recorded, -np.inf, 0
        self._height, self._velocity = (each.copy() for each in self._shown)

    def wrenches(self, motion: Motion, bodies: SegmentArrays, required: Array) -> Array:
        """Force [N] and moment about the global origin [N m] on the right and the left foot, (2, 6).

        Args:
            motion: of one frame.
            bodies: their motion.
            required: (6,) force [N] and moment about the global origin [N m] that the ground must apply in total.
        """
        from scipy.optimize import nnls

        points, velocity = self._soles(
            motion, bodies.rotation[:, self._bodies], bodies.velocity[:, self._bodies]
        )
        self._look(float(motion.time[0]), points[0], velocity[0])
        mass = self._model.mass
        center = mass.mass @ bodies.center / mass.total
        needed = about_center(required[None], center) / self._weight
        acting = acting_forces(points - center[:, None, None])
        square, linear = frame_terms(needed, acting, self._ground.cost(points, velocity))
        inverse = np.linalg.inv(np.linalg.cholesky(square[0]))
        rows, free = inverse @ self._limits.T, inverse @ linear[0]
        multiplier, _ = nnls(rows, -free)
        unknowns = inverse.T @ (rows @ multiplier + free)
        feet = self._weight * (acting[0] @ unknowns).reshape(2, 6)
        feet[:, 3:] += vector_product(center, feet[:, :3])
        return np.asarray(feet)

    def _soles(self, motion: Motion, rotation: Array, spin: Array) -> tuple[Array, Array]:
        """Positions [m] and velocities [m/s] (T, 2, P, 3) of the points of both soles.

        rotation (T, 2, 3, 3), spin (T, 2, 3) [rad/s]: of the feet.
        """
        arm = np.einsum("tsij,spj->tspi", rotation, self._points)
        turning = vector_product(spin[:, :, None], arm)
        return motion.q[:, self._slots, None] + arm, motion.qd[:, self._slots, None] + turning

    def _look(self, time: float, points: Array, velocity: Array) -> None:
        """Take the velocity of the soles (2, P, 3) into account for the velocity of the ground."""
        if 0.0 <= time - self._looked < EVERY:
            return
        self._looked = time
        self._height[self._place] = points[..., 2] - self._recorded.lowest
        self._velocity[self._place] = velocity
        self._place = (self._place + 1) % len(self._height)
        moving = ground_velocity(self._height, self._velocity, TRIED)
        self._ground = Ground(self._recorded.lowest, moving)
