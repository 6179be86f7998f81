"""Explicit and implicit joint constraints of a planar tree, and its motion in independent coordinates.

Explicit (Blajer & Czaplicki 2005, 2.3-2.5), with the open-constraint coordinates z = distal minus proximal point of
each joint:

    p = g(q, z),   pd = D(q) qd + E zd,   pdd = D qdd + gamma(q, qd)

Implicit (2.1): z = Phi(p) = 0, C(p) pd = 0, C pdd = xi(p, pd). C D = 0 and C E = 1 (2.6, 2.7).
Coordinates: p = (x1, y1, theta1, x2, ...) of the centers of mass, (T, 3B); q = (xH, yH, phi1, ..., phiB), (T, B+2);
z = (x, y) joint by joint, (T, 2J). All functions take complex numbers too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve._util.checks import check_array, check_increasing
from musclesolve.dynamics.planar.planar_tree import PlanarTree, rotated


def place(tree: PlanarTree, q: Array, z: Array | None = None) -> Array:
    """Absolute coordinates p = g(q, z), (T, 3B) (2.3; Blajer et al. 2006, 8, 11); z = 0 unless (T, 2J) is given."""
    angle = q[:, 2:]
    center = q[:, None, :2] + rotated(tree.chain, angle[:, None, :]).sum(axis=2)
    p = np.concatenate([center, angle[..., None]], axis=2).reshape(len(q), -1)
    return p if z is None else p + z @ open_directions(tree).T


def allowed(tree: PlanarTree, q: Array) -> Array:
    """D = dg/dq, (T, 3B, B+2) (2.4)."""
    count = len(tree.names)
    directions = np.zeros((len(q), count, 3, count + 2), dtype=q.dtype)
    directions[:, :, 0, 0] = directions[:, :, 1, 1] = 1.0
    directions[:, :, 2, 2:] = np.eye(count)
    # Rotating a frame by 90 degrees brings xi to eta and eta to -xi: the derivative by the angle.
    rotating = rotated(tree.chain, q[:, None, 2:] + 0.5 * np.pi)
    directions[:, :, :2, 2:] = np.swapaxes(rotating, 2, 3)
    return directions.reshape(len(q), 3 * count, count + 2)


def bias(tree: PlanarTree, q: Array, qd: Array) -> Array:
    """Centripetal accelerations gamma = Dd qd, (T, 3B) (2.5)."""
    pull = -rotated(tree.chain, q[:, None, 2:]) * (qd[:, None, 2:, None] ** 2)
    gamma = np.zeros((len(q), len(tree.names), 3), dtype=pull.dtype)
    gamma[:, :, :2] = pull.sum(axis=2)
    return gamma.reshape(len(q), -1)


def open_directions(tree: PlanarTree) -> Array:
    """E = dg/dz, (3B, 2J) (2.4, 3.2): opening a joint moves all that is distal to it. Constant."""
    count, joints = len(tree.names), len(tree.joints)
    directions = np.zeros((count, 3, joints, 2))
    for axis in range(2):
        directions[:, axis, :, axis] = tree.distal_segments[:, tree.joints]
    return directions.reshape(3 * count, 2 * joints)


def material_points(p: Array, segment: Indices, from_center: Array) -> Array:
    """Positions (T, P, 2) of points given in the frames of their segments (P,), from the centers of mass (P, 2)."""
    by_segment = p.reshape(len(p), -1, 3)
    return by_segment[:, segment, :2] + rotated(from_center, by_segment[:, segment, 2])


@dataclass(frozen=True)
class PlanarMotion:
    """q, qd, qdd (T, B+2): base point H [m], then the angle of every segment [rad], and derivatives."""

    q: Array
    qd: Array
    qdd: Array

    def __post_init__(self) -> None:
        q = check_array(self.q, "q", ("T", "B+2"))
        check_array(self.qd, "qd", q.shape)
        check_array(self.qdd, "qdd", q.shape)

    def absolute(self, tree: PlanarTree) -> tuple[Array, Array, Array]:
        """p, pd, pdd (T, 3B) (Blajer et al. 2006, 8-10)."""
        directions = allowed(tree, self.q)
        pdd = np.einsum("tik,tk->ti", directions, self.qdd) + bias(tree, self.q, self.qd)
        return place(tree, self.q), np.einsum("tik,tk->ti", directions, self.qd), pdd


def planar_motion(tree: PlanarTree, time: Array, q: Array) -> PlanarMotion:
    """Velocities and accelerations of coordinates (T, B+2) given over time (T,), by quintic splines.

    Raises:
        InputError: fewer than six frames, times that do not increase, numbers that are not finite.
    """
    from scipy.interpolate import make_interp_spline

    time = check_increasing(time, 6)
    q = check_array(q, "q", (len(time), len(tree.names) + 2))
    spline = make_interp_spline(time, q, k=5)
    return PlanarMotion(q, spline(time, 1), spline(time, 2))


def angles_between(start: Array, end: Array) -> Array:
    """Segment angle (T,) [rad] from the vertical, with xi along start -> end (T, 2); continuous in time."""
    along = end - start
    return np.unwrap(np.arctan2(along[:, 0], -along[:, 1]))
