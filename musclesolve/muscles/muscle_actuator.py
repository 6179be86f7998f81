"""Muscles as driver constraints of a mechanism (Silva 2003, section 6.3): the path has a prescribed length.

The source constrains the square of the distance of two points r_n and r_m on their bodies (6.1 to 6.3),

    Phi = (r_m - r_n)^T (r_m - r_n) - L(t)^2 ,     row 2 L u^T d(r_m - r_n)/dq ,     multiplier F / (2 L),

and adds the rows of the segments of a longer path with one multiplier (6.7, 6.8). The tensions 2 L_k lambda of the
segments are then not equal (correction A1). A tendon has the same tension F in every segment, so segment k needs the
multiplier F / (2 L_k), and the sum of the rows becomes dL/dq. The row of the constraint

    Phi = L(q) - L(t) = 0 ,     Phi_q = dL/dq = sum_k 1 / (2 L_k) dPhi_k/dq

is this sum, whatever the number of points. Its derivatives by time give the right-hand sides of Phi_q qd = nu and
Phi_q qdd = gamma,

    nu = dL(t)/dt ,     gamma = d2L(t)/dt2 - qd^T (d2L/dq2) qd ,

with plus signs before the derivatives of L(t) (corrections A13 and A14 of 6.4 and 6.5). For two points the corrected
(6.5) is 2 L gamma + 2 nu^2 - 2 (Phi_q qd)^2, which is 2 L gamma where the velocities satisfy the row. No block of (6.2
to 6.6) is used (corrections A15, A16): points and rows follow from the bodies by virtual power. In M qdd + Phi_q^T
lambda = g the multiplier lambda is the tendon force, positive in tension, in newtons.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import Array, Indices
from musclesolve._util.checks import check_array
from musclesolve._util.messages import check_known
from musclesolve.dynamics.kinematics.joint_drivers import ConstraintRows, DrivenAngles
from musclesolve.dynamics.mechanism.constraint_rows import ClosureErrors, DrivenCourse, course_values
from musclesolve.dynamics.model.model import Model
from musclesolve.errors import input_error
from musclesolve.muscles.paths.engine import PathLayout
from musclesolve.muscles.paths.length_acceleration import Course, length_acceleration
from musclesolve.muscles.paths.paths import MovingFrames, Paths, WrapObjects
from musclesolve.muscles.scaling.scale_muscles import ScaledMuscles

_LENGTH_STEP = 0.01  # Largest change of a length in one step of the assembly [m]


@dataclass(frozen=True)
class MuscleActuator:
    """The length of a muscle follows a course: L(q) - L(t) = 0 (Silva 2003, 6.1 to 6.8; corrections A1, A13 to A16).

    A constraint for `ms.dynamics.assemble`, `consistent_rates` and `mechanism_forces`, in place of the drivers of the
    joints that the muscle crosses. Paths may have via points, conditional points, points on moving frames, and wraps
    over cylinders, spheres and ellipsoids. The multiplier is the tendon force [N], positive in tension;
    `MechanismForces.of` returns it. A muscle also pushes if the motion needs it: a negative force says that the muscle
    cannot make this motion.

    Most lengths belong to two poses, before and after the longest or shortest one. `assemble` finds the pose near its
    start and follows it. At the extreme length the row vanishes on the allowed directions and drives nothing.

    dL/dq and gamma are closed forms; along the geodesic of an ellipsoid one equation is integrated, with a measured
    error of 3e-10 of the largest second derivative (length_acceleration.py). Where a path begins to touch an object,
    and where a conditional point switches, gamma is the one of the side on which the pose lies. Poses that violate the
    constraints of the bodies deform wrap objects, so that gamma holds only in poses that `assemble` has closed.
    """

    name: str
    paths: Paths
    course: DrivenCourse
    _angles: "_JointAngles | None" = None

    @classmethod
    def from_muscles(cls, model: Model, muscles: ScaledMuscles, name: str, course: DrivenCourse) -> Self:
        """The actuator of one muscle of a set on a model.

        Args:
            model: the model with a tree of joints, on which the muscles were placed.
            muscles: muscles on the model, see `scale_muscles`.
            name: the muscle ("soleus_r").
            course: function of time (T,) [s] that returns L [m], dL/dt [m/s] and d2L/dt2 [m/s^2], (T,) each.

        Raises:
            InputError: an unknown muscle; a path that depends on the angle of a spherical joint.

        Examples:
            >>> import muscle_db
            >>> model = ms.dynamics.human_model()
            >>> muscles = ms.muscles.scale_muscles(model, muscle_db.load("silva_2003"), "r")
            >>> soleus = ms.muscles.MuscleActuator.from_muscles(model, muscles, "soleus_r", lambda t: (0.3, 0.0, 0.0))
            >>> soleus.name
            'soleus_r'
        """
        check_known([name], "muscle", muscles.names)
        paths = muscles.paths.subset(np.array([muscles.names.index(name)]))
        return cls(name, paths, course, _JointAngles.of_path(model, paths))

    @classmethod
    def through_points(
        cls, model: Model, points: Sequence[tuple[str, ArrayLike]], course: DrivenCourse, name: str = "muscle"
    ) -> Self:
        """The actuator of a muscle through points that are fixed on bodies, from origin to insertion.

        Args:
            model: the model or mechanism.
            points: body and place (3,) [m] in the standing layout of each point, two or more.
            course: function of time (T,) [s] that returns L [m], dL/dt [m/s] and d2L/dt2 [m/s^2], (T,) each.
            name: name of the row.

        Raises:
            InputError: fewer than two points, an unknown body, a place that is not finite.

        Examples:
            >>> model = ms.dynamics.human_model()
            >>> hip = model.standing[model.slot("hip_r")]
            >>> points = [("pelvis", hip + [0.05, 0.0, 0.08]), ("thigh_r", hip + [0.02, 0.0, -0.3])]
            >>> flexor = ms.muscles.MuscleActuator.through_points(model, points, lambda t: (0.38, 0.0, 0.0))
            >>> rows = flexor.rows(np.zeros(1), model.standing[None], 0.0 * model.standing[None])
            >>> float(rows.value[0, 0].round(4))
            0.0012
        """
        if len(points) < 2:
            raise input_error(
                "missing_argument",
                where="points",
                problem=f"the muscle {name!r} has {len(points)} points",
                expected="two points or more, from origin to insertion",
                remedy="add the bodies and places of the other points",
            )
        places = check_array(
            np.array([place for _, place in points], dtype=float), f"points of {name!r}", (len(points), 3)
        )
        none = np.zeros(0, dtype=np.intp)
        paths = Paths(
            rigid_bodies=model.rigid_bodies,
            layout=PathLayout(np.zeros(len(points), dtype=np.intp)),
            point_body=np.array([model.body(body) for body, _ in points]),
            standing=places,
            switched=none,
            switch_dof=none,
            switch_lower=np.zeros(0),
            switch_upper=np.zeros(0),
            objects=WrapObjects(),
            frames=MovingFrames(),
            point_frame=np.full(len(points), -1),
        )
        return cls(name, paths, course)

    def rows(self, time: Array, q: Array, qd: Array) -> ConstraintRows:
        """The one row of the muscle at times (T,) [s], poses q (T, N, 3) [m] and velocities qd (T, N, 3) [m/s]."""
        length, rate, second = course_values(self.course, time, self.name)
        angles = Course(*np.zeros((3, len(q), 0))) if self._angles is None else self._angles.along(q, qd)
        state = self.paths.evaluate(q, angles.value)
        row = state.rows  # (6.8) with each segment by 1 / (2 L_k), correction A1
        if self._angles is not None and len(state.paths.moving_dofs):
            gradient = self._angles.gradient(q, state.paths.moving_dofs)
            row = row + np.einsum("tnd,tdkx->tnkx", state.explicit, gradient)
        bend = length_acceleration(self.paths, q, qd, angles) if qd.any() else np.zeros(len(q))
        return ConstraintRows(
            (self.name,),
            state.length - length[:, None],  # (6.1), as a length
            row,
            rate[:, None],  # (6.4), correction A13
            (second - bend)[:, None],  # (6.5), correction A14
        )

    def closure_errors(self, time: Array, q: Array) -> ClosureErrors:
        """Return the difference of the lengths [m], closed in steps so that the pose is followed to the next one."""
        rows = self.rows(time, q, np.zeros_like(q))
        part = np.clip(rows.value, -_LENGTH_STEP, _LENGTH_STEP)
        return ClosureErrors(rows.names, rows.value, rows.jacobian, part)

    def tension(self, time: Array, multiplier: Array) -> Array:
        """Tendon force (T,) [N], positive in tension: the multiplier (T,) itself."""
        return multiplier


@dataclass(frozen=True)
class _JointAngles:
    """Angles (K) of the joints that move frames or switch points, as functions of the natural coordinates.

    dofs (K,): their places among the coordinates of the model; start, sign (K,): angle = sign (driven angle - start).
    """

    dofs: Indices
    count: int
    driven: DrivenAngles
    start: Array
    sign: Array

    @classmethod
    def of_path(cls, model: Model, paths: Paths) -> "_JointAngles | None":
        """The angles on which a path depends, None if it depends on none."""
        some = np.unique(np.concatenate([paths.frames.dof, paths.switch_dof]))
        if not some.size:
            return None
        if len(model.tree.spherical) and np.isin(some, model.tree.spherical).any():
            raise input_error("dynamics.no_angle_drivers", topology=model.topology.name)
        topology = model.topology
        v, u = (
            np.array([topology.slots_of(getattr(topology.dofs[k], end)) for k in some])
            for end in ("reference", "follower")
        )
        driven = DrivenAngles.build(model.standing, model.tree.axis[some], v, u)
        start = driven.errors(np.zeros((1, len(some))), model.standing[None])[0][0]
        return cls(some, len(topology.dof_names), driven, start, model.tree.sign[some])

    def along(self, q: Array, qd: Array) -> Course:
        """Coordinates (T, K+6) of the model with these angles [rad], and their derivatives along q + t qd."""
        error, gradient = self.driven.errors(np.broadcast_to(self.start, (len(q), len(self.start))), q)
        angles = error, np.einsum("tknx,tnx->tk", gradient, qd), self.driven.bend(q, qd)
        coordinates = np.zeros((3, len(q), self.count))
        coordinates[:, :, self.dofs] = self.sign * np.stack(angles)
        return Course(*coordinates)

    def gradient(self, q: Array, dofs: Indices) -> Array:
        """dtheta/dq (T, D, N, 3) of some coordinates (D,)."""
        _, gradient = self.driven.errors(np.zeros((len(q), len(self.start))), q)
        full = np.zeros((len(q), self.count, *q.shape[1:]))
        full[:, self.dofs] = self.sign[:, None, None] * gradient
        return np.asarray(full[:, dofs])
