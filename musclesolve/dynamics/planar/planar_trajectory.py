"""Motion of a planar tree in independent coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_array, check_increasing
from musclesolve.dynamics.planar.planar_joints import allowed, bias, place
from musclesolve.dynamics.planar.planar_tree import PlanarTree


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
