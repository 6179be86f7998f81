"""Equations of motion of a planar tree by projection, joint torques, and joint reactions by two formulas.

M pdd = h - C^T lambda in absolute coordinates (Blajer & Czaplicki 2005, 2.2). Projection on the columns of D gives the
equations in q (2.9), projection on those of E the reactions without any inversion (2.10). lambda_j is the force that
the distal segment of joint j exerts on the proximal one (z points from proximal to distal): a net intersegmental
force, and the contact of the bones only where h holds the muscle forces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_array
from musclesolve.dynamics.planar.planar_kinematics import PlanarMotion, allowed, bias, open_directions
from musclesolve.dynamics.planar.planar_tree import PlanarTree


@dataclass(frozen=True)
class Load:
    """A force (T, 2) [N] from outside on one segment, and its moment about the global origin (T,) [N m].

    Moment = x f_y - y f_x of the point of application, plus a free couple: an unloaded plate, whose center of
    pressure is meaningless, is simply zero.
    """

    segment: str
    force: Array
    moment: Array

    @classmethod
    def at(cls, segment: str, force: Array, point: Array) -> Load:
        """A force (T, 2) at a point (T, 2)."""
        return cls(segment, force, point[:, 0] * force[:, 1] - point[:, 1] * force[:, 0])


def mass_diagonal(tree: PlanarTree) -> Array:
    """Diagonal of M, (3B,): m, m, J of every segment."""
    return np.column_stack([tree.mass, tree.mass, tree.inertia]).ravel()


def weight_force(tree: PlanarTree) -> Array:
    """f_g (3B,) (Blajer et al. 2006, 1)."""
    return np.column_stack([0.0 * tree.mass, -tree.gravity * tree.mass, 0.0 * tree.mass]).ravel()


def torque_matrix(tree: PlanarTree) -> Array:
    """Columns of B for joint torques, (3B, J): +1 on the distal segment's angle, -1 on the proximal one's."""
    matrix = np.zeros((len(tree.names), 3, len(tree.joints)))
    joint = np.arange(len(tree.joints))
    matrix[tree.joints, 2, joint] = 1.0
    matrix[tree.parent[tree.joints], 2, joint] = -1.0
    return matrix.reshape(-1, len(tree.joints))


def load_force(tree: PlanarTree, p: Array, loads: Sequence[Load]) -> Array:
    """Generalized force (T, 3B) of outside loads."""
    center = p.reshape(len(p), -1, 3)
    force = np.zeros_like(center)
    for load in loads:
        b = tree.segment(load.segment)
        check_array(load.force, f"the force on {load.segment!r}", (len(p), 2))
        check_array(load.moment, f"the moment on {load.segment!r}", (len(p),))
        arm = center[:, b]
        force[:, b, :2] += load.force
        force[:, b, 2] += load.moment - arm[:, 0] * load.force[:, 1] + arm[:, 1] * load.force[:, 0]
    return force.reshape(len(p), -1)


@dataclass(frozen=True)
class Equations:
    """Mbar qdd + dbar = hbar, (2.9) = (13) of the 2006 paper: matrices at each frame.

    directions D (T, 3B, n); mass Mbar (T, n, n); bias dbar (T, n); weight fbar_g (T, n), n = B + 2.
    """

    directions: Array
    mass: Array
    bias: Array
    weight: Array

    def project(self, force: Array) -> Array:
        """D^T h, (T, n), of a force (T, 3B) in absolute coordinates."""
        return np.einsum("tik,ti->tk", self.directions, force)


def equations(tree: PlanarTree, q: Array, qd: Array) -> Equations:
    """Projected equations of motion at q, qd (T, n)."""
    directions, diagonal = allowed(tree, q), mass_diagonal(tree)
    heavy = diagonal[:, None] * directions
    return Equations(
        directions=directions,
        mass=np.swapaxes(directions, 1, 2) @ heavy,
        bias=np.einsum("tik,ti->tk", heavy, bias(tree, q, qd)),
        weight=np.einsum("tik,i->tk", directions, weight_force(tree)),
    )


def accelerate(tree: PlanarTree, q: Array, qd: Array, force: Array) -> Array:
    """Forward dynamics: qdd (T, n) of applied forces h (T, 3B), gravity not included in them (2.9)."""
    system = equations(tree, q, qd)
    right = system.project(force) + system.weight - system.bias
    return np.asarray(np.linalg.solve(system.mass, right[..., None])[..., 0], right.dtype)


@dataclass(frozen=True)
class PlanarMoments:
    """Joint torques (T, J) [N m], distal segment counter-clockwise positive, and what the base would need.

    residual (T, 3): force [N] and moment about H [N m] on the base segment that no joint, weight or load supplies:
    zero in free flight, the ground reaction where its load is not given.
    """

    torque: Array
    residual: Array


def inverse_dynamics(tree: PlanarTree, motion: PlanarMotion, loads: Sequence[Load] = ()) -> PlanarMoments:
    """Joint torques of a motion under known outside loads: n equations (2.9) for J torques and three residuals.

    The torque of a joint is the sum of the angle equations of all that is distal to it, for the torques in between
    cancel there.
    """
    p, _, pdd = motion.absolute(tree)
    needed = mass_diagonal(tree) * pdd - weight_force(tree) - load_force(tree, p, loads)
    along = np.einsum("tik,ti->tk", allowed(tree, motion.q), needed)
    summed = along[:, 2:] @ tree.distal_segments
    return PlanarMoments(summed[:, tree.joints], np.column_stack([along[:, :2], summed[:, tree.root]]))


def base_load(tree: PlanarTree, motion: PlanarMotion, residual: Array) -> Load:
    """The residual (T, 3) as a load on the base segment."""
    force, point = residual[:, :2], motion.q[:, :2]
    about_origin = residual[:, 2] + point[:, 0] * force[:, 1] - point[:, 1] * force[:, 0]
    return Load(tree.names[tree.root], force, about_origin)


def joint_reactions(tree: PlanarTree, motion: PlanarMotion, force: Array) -> Array:
    """Joint reactions lambda = E^T (h - M (D qdd + gamma)), (T, 2J) [N] (2.10): no matrix is inverted.

    force (T, 3B): applied forces without gravity. Couples make no difference.
    """
    _, _, pdd = motion.absolute(tree)
    return (force + weight_force(tree) - mass_diagonal(tree) * pdd) @ open_directions(tree)
