"""Mass matrices of rigid bodies in natural coordinates (Silva 2003, 2.51-2.55, 2.62, 2.70).

In all functions q (T, N, 3) are natural coordinates [m, vectors 1], qd and qdd (T, N, 3) their derivatives,
and `basic` (B, 4, 4) the mass matrices of the basic bodies.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_array
from musclesolve.dynamics.model.rigid_body import PLACES, RigidBodies
from musclesolve.errors import input_error

_SKEW = 1e-9  # Largest difference across the diagonal of an inertia, as a share of its trace


@dataclass(frozen=True)
class MassProperties:
    """Mass (B,) [kg], center of mass (B, 3) [m] in the standing pose and inertia (B, 3, 3) [kg m2] about it, global
    axes.

    allow_impossible: accept inertias that no body can have, such as printed ones; for inverse dynamics only.
    names: of the bodies of the model, in its order, for messages.
    """

    mass: Array
    center: Array
    inertia: Array
    allow_impossible: bool = False
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse impossible values: negative mass, skew inertia, a principal moment above the sum of the others."""
        names, count = self.names, np.size(self.mass)
        shapes = {"mass": (count,), "center": (count, 3), "inertia": (count, 3, 3)}
        for field, shape in shapes.items():
            array = check_array(getattr(self, field), f"the {field} of the bodies", shape, names, axis=0)
            object.__setattr__(self, field, array)
        if names and len(names) != count:
            raise input_error(
                "bad_shape",
                problem=f"{len(names)} names of {count} bodies",
                expected="one name for each body, or none",
            )
        if (self.mass < 0).any():
            body = int(np.argmin(self.mass))
            raise input_error(
                "bad_model", problem=f"{self._body_name(body)} has a negative mass ({self.mass[body]:g} kg)"
            )
        size = np.maximum(1e-12, np.trace(self.inertia, axis1=1, axis2=2))
        skew = np.abs(self.inertia - np.swapaxes(self.inertia, 1, 2)).max(axis=(1, 2), initial=0.0) / size
        if (skew > _SKEW).any():
            called = self._body_name(int(np.argmax(skew)))
            raise input_error(
                "bad_model",
                problem=f"the inertia of {called} is not symmetric",
                expected="the same product of inertia on both sides of the diagonal",
            )
        if self.allow_impossible:
            return
        smallest = np.linalg.eigvalsh(second_moment(self.inertia))[:, 0]
        if (smallest < -1e-9 * size).any():
            body = int(np.argmin(smallest + 1e-9 * size))
            raise input_error(
                "bad_model",
                problem=f"the inertia of {self._body_name(body)} is one that no rigid body can have",
                expected="each principal moment at most the sum of the other two",
            )

    def _body_name(self, body: int) -> str:
        return f"body {self.names[body]!r}" if self.names else f"the body at index {body}"

    def scaled(self, factor: Array | float) -> MassProperties:
        """Masses and inertias times factors (B,) or one factor, 0 or more, which make no possible body impossible."""
        other, by = copy(self), np.broadcast_to(factor, self.mass.shape)
        vars(other).update(mass=by * self.mass, inertia=by[:, None, None] * self.inertia)
        return other

    @property
    def total(self) -> float:
        """Mass of the whole model [kg]."""
        return float(self.mass.sum())


def second_moment(inertia: Array) -> Array:
    """Integral of r r^T dm from the inertia tensor: 1/2 tr(I) 1 - I (2.53)."""
    trace = np.trace(inertia, axis1=-2, axis2=-1)[..., None, None]
    return 0.5 * trace * np.eye(3) - inertia


def basic_mass_matrix(rigid_bodies: RigidBodies, mass: MassProperties) -> Array:
    """Mass matrices M_e (B, 4, 4) of basic bodies; each entry is a factor on the 3 x 3 unit matrix (2.55)."""
    arm = mass.center - rigid_bodies.origin
    about_i = second_moment(mass.inertia) + mass.mass[:, None, None] * arm[:, :, None] * arm[:, None, :]
    z = rigid_bodies.inverse @ about_i @ np.swapaxes(rigid_bodies.inverse, 1, 2)
    ma = mass.mass[:, None] * np.einsum("bij,bj->bi", rigid_bodies.inverse, arm)
    matrix = np.empty((len(mass.mass), 4, 4))
    matrix[:, 1:, 1:] = z
    matrix[:, 0, 1:] = matrix[:, 1:, 0] = ma - z[:, 0]
    matrix[:, 0, 0] = mass.mass - 2.0 * ma[:, 0] + z[:, 0, 0]
    return matrix


def mass_matrix(rigid_bodies: RigidBodies, basic: Array, q: Array) -> Array:
    """Mass matrix of the whole system in natural coordinates (Silva 2003, 2.62, 2.70).

    Constant where a body has three points and a vector (2.62); V(q)^T M_e V(q) where a body has two (2.70).

    Args:
        rigid_bodies: `Model.rigid_bodies`.
        basic: `Model.basic_mass`, the matrices of the bodies in their basic coordinates [kg].
        q: (T, N, 3) [m] poses.

    Returns:
        (T, 3N, 3N) [kg].

    Examples:
        >>> model = ms.dynamics.human_model()
        >>> mass = ms.dynamics.mass_matrix(model.rigid_bodies, model.basic_mass, model.standing[None])[0]
        >>> qd = np.zeros_like(model.standing)
        >>> qd[: model.topology.point_count, 0] = 1.0     # all points forward at 1 m/s: kinetic energy m / 2
        >>> float(0.5 * qd.ravel() @ mass @ qd.ravel()), 0.5 * model.mass.total
        (35.125, 35.125)
    """
    frames, slots = q.shape[:2]
    size = 3 * (slots + 1)
    # V: derivative of (r_i, r_j, u, v) by the coordinates in the six slots, (T, B, 4, 3, 18)
    bodies = len(rigid_bodies.slots)
    unit = np.broadcast_to(np.eye(12).reshape(12, 1, 1, 4, 3), (12, frames, bodies, 4, 3))
    poses = np.broadcast_to(q, (12, *q.shape)).reshape(-1, *q.shape[1:])
    forces = rigid_bodies.slot_forces(poses, unit.reshape(-1, bodies, 4, 3))
    transform = forces.reshape(12, frames, bodies, 3 * PLACES).transpose(1, 2, 0, 3)
    transform = transform.reshape(frames, bodies, 4, 3, 3 * PLACES)
    moved = np.einsum("bef,tbfxc->tbexc", basic, transform)
    rows, columns = (part.reshape(*part.shape[:2], 12, 18) for part in (transform, moved))
    blocks = np.swapaxes(rows, 2, 3) @ columns
    place = (3 * rigid_bodies.slots[:, :, None] + np.arange(3)).reshape(-1, 18)
    cell = place[:, :, None] * size + place[:, None, :]
    cell = cell + size**2 * np.arange(frames)[:, None, None, None]
    entries: Array = np.bincount(cell.ravel(), blocks.ravel(), frames * size**2).astype(float, copy=False)
    return entries.reshape(frames, size, size)[:, : 3 * slots, : 3 * slots]


def inertia_force(rigid_bodies: RigidBodies, basic: Array, q: Array, qd: Array, qdd: Array) -> Array:
    """Generalized force M qdd - g_v (T, N, 3) that accelerates the masses."""
    return rigid_bodies.generalized(q, inertia_on_bodies(rigid_bodies, basic, q, qd, qdd))


def inertia_on_bodies(rigid_bodies: RigidBodies, basic: Array, q: Array, qd: Array, qdd: Array) -> Array:
    """The force that accelerates the masses, on the basic coordinates of the bodies (T, B, 4, 3).

    Includes the velocity-dependent part of the two-point bodies, V^T M_e Vdot qd (2.71, sign of correction B1).
    """
    return np.einsum("bef,tbfx->tbex", basic, rigid_bodies.basic(q, qd, qdd))


def weight_force(rigid_bodies: RigidBodies, mass: MassProperties, q: Array, gravity: Array) -> Array:
    """Generalized force of gravity (T, N, 3); gravity is (3,) [m/s2]."""
    force = weight_on_bodies(rigid_bodies, mass, gravity)
    return rigid_bodies.generalized(q, np.broadcast_to(force, (len(q), *force.shape)))


def weight_on_bodies(rigid_bodies: RigidBodies, mass: MassProperties, gravity: Array) -> Array:
    """Gravity (3,) [m/s2] as forces on the basic coordinates of the bodies (B, 4, 3), the same in every pose."""
    weight = mass.mass[:, None] * rigid_bodies.coordinates(mass.center)
    return weight[:, :, None] * gravity
