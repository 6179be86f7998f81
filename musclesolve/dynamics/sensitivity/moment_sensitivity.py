"""Derivatives of joint moments by errors of their inputs (Silva 2003, section 5.5).

The moments are tau = D^T (M qdd - g). Masses and ground forces enter linearly, the point of application bilinearly,
so their derivatives are closed forms: the moment of a unit force at a point about a degree of freedom is a column of
D. The thesis uses difference quotients (5.15). Forces on one branch of the body do not change the moments of another
branch: these derivatives are zero.

Measured points pass through fit, splines and inverse dynamics: central differences over 0.02 mm are the derivative to
six digits. The lengths and masses of the subject, and the weights that draw undetermined angles to their values at
rest, are constant: an error of a measured point changes the pose, not the subject.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve._util.checks import check_array, check_type
from musclesolve._util.messages import check_known
from musclesolve.dynamics.inverse.inverse_dynamics import projected_moments
from musclesolve.dynamics.inverse.newton_euler import angular_momentum_rate
from musclesolve.dynamics.kernel.arrays import SegmentArrays
from musclesolve.dynamics.kinematics.consistent_motion import consistent_motion
from musclesolve.dynamics.kinematics.measured_targets import Targets
from musclesolve.dynamics.kinematics.motion_derivatives import Motion, check_fits
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.model.rigid_body import Wrench, check_frames


@dataclass(frozen=True)
class Sensitivity:
    """Derivative of every generalized force by every source, values (T, K+6, S).

    kind: the kind of the sources; unit: the unit of one source. Derivatives of joint moments are in N m per unit. The
    last six generalized forces are the force [N] and moment [N m] that the base would need from outside, global axes.
    """

    kind: str
    unit: str
    dofs: tuple[str, ...]
    sources: tuple[str, ...]
    values: Array

    def of(self, dof: str, source: str) -> Array:
        """One derivative over the frames, (T,)."""
        check_known([dof], "degree of freedom", self.dofs)
        check_known([source], "source", self.sources)
        return self.values[:, self.dofs.index(dof), self.sources.index(source)]

    def largest(self) -> Array:
        """Largest magnitude over the frames, (K+6, S), without frames that have no value."""
        return np.nan_to_num(np.abs(self.values)).max(axis=0)

    def worst_direction(self) -> Self:
        """Components x, y, z of each source merged: the response to a unit error in the worst direction."""
        frames, dofs, count = self.values.shape
        merged = np.linalg.norm(self.values.reshape(frames, dofs, count // 3, 3), axis=3)
        names = tuple(name.removesuffix(" x") for name in self.sources[::3])
        return replace(self, sources=names, values=merged)

    @classmethod
    def by_mass(
        cls, model: Model, motion: Motion, segments: SegmentArrays, inertia_follows: bool = False
    ) -> Self:
        """Derivatives of joint moments by the masses of segments with constant centers of mass (Silva 2003, 5.5).

        d tau_k / d m = sum over the bodies of the segment of share (a_k x (r - o_k)) . (a - g).

        Args:
            motion: its motion over T frames.
            segments: motion of its bodies, from `segment_motion`.
            inertia_follows: whether the moments of inertia grow with the mass; in the thesis they do not.

        Returns:
            Derivatives (T, K+6, S) [N m per kg] by the mass of each segment.

        Examples:
            >>> stride, time = ms.studies.synthetic.reference_stride(), np.linspace(0.0, 0.1, 11)
            >>> motion = stride.motion(time)
            >>> segments = ms.dynamics.segment_motion(stride.model, motion)
            >>> ms.dynamics.Sensitivity.by_mass(stride.model, motion, segments).unit
            'kg'
        """
        check_fits(model, motion)
        check_type(segments, SegmentArrays, "segments", "the motion of the bodies, from segment_motion()")
        names = model.topology.segments
        totals = {name: 0.0 for name in names}
        for body, mass in zip(model.topology.bodies, model.mass.mass, strict=True):
            totals[body.segment] += float(mass)
        push = segments.center_acceleration - model.gravity
        angular = angular_momentum_rate(model, segments, np.arange(len(model.mass.mass)))
        values = np.zeros((len(motion.q), len(model.topology.dof_names), len(names)))
        for index, body in enumerate(model.topology.bodies):
            total = totals[body.segment]
            share = model.mass.mass[index] / total if total > 0.0 else body.share
            if share == 0.0:
                continue
            spin, reach = body_directions(model, motion, index, segments.center[:, index])
            response = share * np.einsum("tkx,tx->tk", reach, push[:, index])
            if inertia_follows and total > 0.0:
                response += np.einsum("tkx,tx->tk", spin, angular[:, index]) / total
            values[:, :, names.index(body.segment)] += response
        return cls("segment mass", "kg", model.topology.dof_names, names, values)

    @classmethod
    def by_force(cls, model: Model, motion: Motion, body: str, point: Array) -> Self:
        """Derivatives of joint moments by a force on a body at a constant point (Silva 2003, 5.5).

        d tau_k / d F = -(a_k x (p - o_k)).

        Args:
            motion: its motion over T frames.
            body: name of the body.
            point: (T, 3) [m] point of application; NaN gives NaN.

        Returns:
            Derivatives (T, K+6, 3) [N m per N] by x, y and z of the force.

        Examples:
            >>> stride, time = ms.studies.synthetic.reference_stride(), np.linspace(0.0, 0.1, 11)
            >>> point = stride.ground(time)["r"].point
            >>> ms.dynamics.Sensitivity.by_force(stride.model, stride.motion(time), "foot_r", point).values.shape
            (11, 44, 3)
        """
        check_fits(model, motion)
        check_known([body], "body", model.topology.body_index, f" in {model.topology.name!r}")
        point = check_array(point, "the point of application", (len(motion.q), 3), finite=False)
        _, reach = body_directions(model, motion, model.body(body), point)
        return cls("force", "N", model.topology.dof_names, _components(f"{body} force"), -reach)

    @classmethod
    def by_point(cls, model: Model, motion: Motion, wrench: Wrench) -> Self:
        """Derivatives of joint moments by the point where a force acts, such as a center of pressure (Silva 2003, 5.5).

        d tau_k / d p = a_k x F, for the joints between the body and the base; the force is constant.

        Args:
            motion: its motion over T frames.
            wrench: the force (T, 3) [N] on a body.

        Returns:
            Derivatives (T, K+6, 3) [N m per m] by x, y and z of the point.

        Examples:
            >>> stride, time = ms.studies.synthetic.reference_stride(), np.linspace(0.0, 0.1, 11)
            >>> right, left = stride.wrenches(time)
            >>> ms.dynamics.Sensitivity.by_point(stride.model, stride.motion(time), right).sources
            ('foot_r x', 'foot_r y', 'foot_r z')
        """
        check_fits(model, motion)
        check_frames([wrench], len(motion.q))
        spin, _ = body_directions(model, motion, model.body(wrench.body), motion.q[:, 0])
        values = np.cross(spin, wrench.force[:, None])
        return cls("point of application", "m", model.topology.dof_names, _components(wrench.body), values)

    @classmethod
    def by_landmark(
        cls,
        model: Model,
        time: Array,
        targets: Targets,
        wrenches: list[Wrench],
        names: list[str] | None = None,
        keep: slice | Indices | Mask = slice(None),
        method: str = "nearest",
        by: float | None = None,
    ) -> Self:
        """Derivatives of joint moments by an error of a measured point that is equal in all frames (Silva 2003, 5.5.3,
        5.5.6).

        Args:
            time: (T,) [s], as many frames as the targets have.
            targets: measured points and directions.
            wrenches: external forces on its bodies in the frames of `keep`.
            names: measured points, or directions, whose derivatives are per unit; all points unless given.
            keep: the frames of the result; the others only support the splines.
            method: of the fit, "nearest" or "joint_angles" (`consistent_motion`).
            by: instead of the derivative the difference quotient (5.15) for an error of this size [m], which differs by
                the nonlinear effect of so large an error: the source takes 1 cm and 1 dm (1 mm at the knee).

        Returns:
            Derivatives (T, K+6, 3 n) [N m per m] by x, y and z of each point.

        Raises:
            InputError: a name that was not measured; an unknown method.

        Examples:
            >>> stride, time = ms.studies.synthetic.reference_stride(), np.linspace(0.0, 0.1, 11)
            >>> model, q = stride.model, stride.motion(time).q
            >>> names = model.topology.coordinate_names[: model.topology.point_count]
            >>> targets = ms.dynamics.Targets.build(model, {name: q[:, k] for k, name in enumerate(names)}, {})
            >>> forces = stride.wrenches(time)
            >>> ms.dynamics.Sensitivity.by_landmark(model, time, targets, forces, ["knee_r"]).values.shape
            (11, 44, 3)
        """
        measured = [model.topology.coordinate_names[slot] for slot in targets.slots]
        if names is None:
            names = [
                name
                for name, slot in zip(measured, targets.slots, strict=True)
                if slot < model.topology.point_count
            ]
        check_known(names, "measured point or direction", measured)
        fit, _ = consistent_motion(model, targets, time, method)

        def moments(name: str, shift: Array) -> Array:
            values = targets.values.copy()
            values[:, measured.index(name)] += shift
            moved = replace(targets, values=values)
            _, motion = consistent_motion(model, moved, time, method, start=fit.coordinates, rest=fit.rest)
            return projected_moments(model, motion.frames(keep), wrenches)

        before, after = (-STEP, STEP) if by is None else (0.0, by)
        values = [
            (moments(name, after * axis) - moments(name, before * axis)) / (after - before)
            for name in names
            for axis in np.eye(3)
        ]
        sources, dofs = _components(*names), model.topology.dof_names
        return cls("measured point", "m", dofs, sources, np.stack(values, axis=2))


def body_directions(model: Model, motion: Motion, body: int, point: Array) -> tuple[Array, Array]:
    """Angular velocity of a body and velocity of its point (T, 3) [m] per unit speed, (T, K+6, 3) each."""
    one = np.array([body])
    spin, reach = model.tree.body_directions(motion.q, motion.origin, one, point[:, None])
    return spin[:, 0], reach[:, 0]


def _components(*names: str) -> tuple[str, ...]:
    return tuple(f"{name} {axis}" for name in names for axis in "xyz")


STEP = 1e-5
"""Error of a measured point on either side, for the derivative [m]."""
