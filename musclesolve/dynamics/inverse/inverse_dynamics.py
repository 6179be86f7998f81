"""Inverse dynamics by projection on the allowed directions of motion: the net moment of every degree of freedom."""

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.dynamics.kinematics.motion_derivatives import Motion, check_fits
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.model.rigid_body import Wrench, check_frames, inertia_on_bodies, weight_on_bodies


def external_force(model: Model, q: Array, wrenches: list[Wrench]) -> Array:
    """Generalized force (T, N, 3) of wrenches on bodies, in the poses q (T, N, 3) [m]."""
    return model.rigid_bodies.generalized(q, external_on_bodies(model, q, wrenches))


def external_on_bodies(model: Model, q: Array, wrenches: list[Wrench]) -> Array:
    """Wrenches as forces (T, B, 4, 3) on the basic coordinates of the bodies, in the poses q (T, N, 3) [m]."""
    check_frames(wrenches, len(q))
    force = np.zeros((len(q), len(model.rigid_bodies.slots), 4, 3), q.dtype)
    for wrench in wrenches:
        body = [model.body(wrench.body)]
        one = model.rigid_bodies.subset(np.array(body))
        force[:, body] += one.wrench_forces(q, wrench.force[:, None], wrench.moment[:, None])
    return force


def required_force(model: Model, q: Array, qd: Array, qdd: Array, wrenches: list[Wrench]) -> Array:
    """Generalized force M qdd - g (T, N, 3) that joints and actuators together must supply.

    From positions, velocities and accelerations (T, N, 3) [m, m/s, m/s2].
    """
    bodies = model.rigid_bodies
    # Summed on the bodies first, then converted to generalized coordinates once.
    force = inertia_on_bodies(bodies, model.basic_mass, q, qd, qdd)
    force = (
        force - weight_on_bodies(bodies, model.mass, model.gravity) - external_on_bodies(model, q, wrenches)
    )
    return bodies.generalized(q, force)


def projected_moments(model: Model, motion: Motion, wrenches: list[Wrench]) -> Array:
    """Generalized forces of all degrees of freedom by projection, tau = D^T (M qdd - g) (Blajer & Czaplicki 2005, 2.9).

    Args:
        motion: its motion over T frames.
        wrenches: external forces on its bodies.

    Returns:
        (T, K+6): joint moments about their axes [N m], then the residual force [N] and moment [N m] that the base
        would need from outside, global axes, about the origin of the layout (mid-hip).

    Examples:
        >>> stride, time = ms.studies.synthetic.reference_stride(), np.linspace(0.0, 0.1, 11)
        >>> moments = ms.dynamics.projected_moments(stride.model, stride.motion(time), stride.wrenches(time))
        >>> np.allclose(moments[:, :38], stride.joint_moments(time), atol=1e-6)
        True
    """
    check_fits(model, motion)
    check_frames(wrenches, len(motion.time))
    parts = []
    for _, some, acting in motion.blocks(wrenches):
        force = required_force(model, some.q, some.qd, some.qdd, acting)
        parts.append(model.tree.project(some.q, some.origin, force))
    return np.concatenate(parts)
