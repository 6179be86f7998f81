"""How joint moments respond to errors of their inputs, differentiated exactly (Silva 2003, section 5.5).

The moments are tau = D^T (M qdd - g). Masses and ground forces enter linearly, the point of application bilinearly,
so their derivatives are closed forms: the moment of a unit force at a point about a degree of freedom is a column of
D. The derivatives by measured points, which pass through the fit and the splines, are in `landmark_sensitivity`.

The thesis differences (5.15). Nothing crosses from one branch of the body to another: those derivatives are zero.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_array
from musclesolve._util.names import unknown_name
from musclesolve.dynamics.inverse.external_wrenches import Wrench, check_frames
from musclesolve.dynamics.inverse.newton_euler import SegmentMotion, angular_momentum_rate
from musclesolve.dynamics.kinematics.motion_derivatives import Motion, check_fits
from musclesolve.dynamics.model.model import Model


@dataclass(frozen=True)
class Sensitivity:
    """Derivative of every generalized force by every source, values (T, K+6, S).

    kind: what the sources are; unit: that of one source. A joint moment is in N m, so its derivative in N m per unit;
    the last six are the force [N] and moment [N m] that the base would need from outside, global axes.
    """

    kind: str
    unit: str
    dofs: tuple[str, ...]
    sources: tuple[str, ...]
    values: Array

    def of(self, dof: str, source: str) -> Array:
        """One derivative over the frames, (T,)."""
        for name, known, what in ((dof, self.dofs, "degree of freedom"), (source, self.sources, "source")):
            if name not in known:
                raise unknown_name(name, what, known)
        return self.values[:, self.dofs.index(dof), self.sources.index(source)]

    def largest(self) -> Array:
        """Largest magnitude over the frames, (K+6, S); frames that have no value do not count."""
        return np.nan_to_num(np.abs(self.values)).max(axis=0)

    def worst_direction(self) -> Sensitivity:
        """Components x, y, z of each source merged: the response to a unit error in the worst direction."""
        frames, dofs, count = self.values.shape
        merged = np.linalg.norm(self.values.reshape(frames, dofs, count // 3, 3), axis=3)
        names = tuple(name.removesuffix(" x") for name in self.sources[::3])
        return replace(self, sources=names, values=merged)


def mass_sensitivity(
    model: Model, motion: Motion, segments: SegmentMotion, inertia_follows: bool = False
) -> Sensitivity:
    """Derivatives by the masses of the anatomical segments, their centers of mass kept [per kg].

    d tau_k / d m = sum over the bodies of the segment of share (a_k x (r - o_k)) . (a - g).
    inertia_follows: whether the moments of inertia grow with the mass; in the thesis they do not.
    """
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
    return Sensitivity("segment mass", "kg", model.topology.dof_names, names, values)


def force_sensitivity(model: Model, motion: Motion, body: str, point: Array) -> Sensitivity:
    """Derivatives by a force on a body at a point (T, 3) [m], which is kept [per N]; NaN where the point is.

    d tau_k / d F = -(a_k x (p - o_k)).
    """
    point = check_array(point, "the point of application", (len(motion.q), 3), finite=False)
    _, reach = body_directions(model, motion, model.body(body), point)
    return Sensitivity("force", "N", model.topology.dof_names, _components(f"{body} force"), -reach)


def application_sensitivity(model: Model, motion: Motion, wrench: Wrench) -> Sensitivity:
    """Derivatives by the place where a force acts, such as a center of pressure, the force kept [per m].

    d tau_k / d p = a_k x F, for the joints between the body and the base.
    """
    check_frames([wrench], len(motion.q))
    spin, _ = body_directions(model, motion, model.body(wrench.body), motion.q[:, 0])
    values = np.cross(spin, wrench.force[:, None])
    return Sensitivity(
        "point of application", "m", model.topology.dof_names, _components(wrench.body), values
    )


def free_moment_sensitivity(model: Model, motion: Motion, body: str) -> Sensitivity:
    """Derivatives by a moment on a body, such as the free moment of a plate [per N m]: -a_k."""
    spin, _ = body_directions(model, motion, model.body(body), motion.q[:, 0])
    return Sensitivity("free moment", "N m", model.topology.dof_names, _components(f"{body} moment"), -spin)


def body_directions(model: Model, motion: Motion, body: int, point: Array) -> tuple[Array, Array]:
    """Angular velocity of a body and velocity of its point (T, 3) [m] per unit speed, (T, K+6, 3) each."""
    check_fits(model, motion)
    one = np.array([body])
    spin, reach = model.tree.body_directions(motion.q, motion.origin, one, point[:, None])
    return spin[:, 0], reach[:, 0]


def _components(name: str) -> tuple[str, ...]:
    return tuple(f"{name} {axis}" for axis in "xyz")
