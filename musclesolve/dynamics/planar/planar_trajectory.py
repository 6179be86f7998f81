"""Motion of a planar tree in independent coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.dynamics.planar.planar_joints import allowed, bias, place
from musclesolve.dynamics.planar.planar_tree import PlanarTree
from musclesolve.errors import InputError


@dataclass(frozen=True)
class PlanarMotion:
    """q, qd, qdd (T, B+2): base point H [m], then the angle of every segment [rad], and derivatives."""

    q: Array
    qd: Array
    qdd: Array

    def __post_init__(self) -> None:
        for name in ("q", "qd", "qdd"):
            value = getattr(self, name)
            if value.shape != self.q.shape or value.ndim != 2:
                raise InputError(
                    f"{name} of shape {value.shape}", expected=f"frames x coordinates as q, {self.q.shape}"
                )
            bad = ~np.isfinite(value).all(axis=1)
            if bad.any():
                raise InputError(
                    f"{name} has a value that is not finite", where=f"frame {int(np.argmax(bad))}"
                )

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

    if q.shape != (len(time), len(tree.names) + 2):
        raise InputError(f"coordinates of shape {q.shape}", expected=f"({len(time)}, {len(tree.names) + 2})")
    if len(time) < 6 or not (np.diff(time) > 0.0).all():
        raise InputError(f"{len(time)} frames", expected="at least six, at increasing times")
    bad = ~np.isfinite(q).all(axis=1)
    if bad.any():
        raise InputError("q has a value that is not finite", where=f"frame {int(np.argmax(bad))}")
    spline = make_interp_spline(time, q, k=5)
    return PlanarMotion(q, spline(time, 1), spline(time, 2))


def angles_between(start: Array, end: Array) -> Array:
    """Segment angle (T,) [rad] from the vertical, with xi along start -> end (T, 2); continuous in time."""
    along = end - start
    return np.unwrap(np.arctan2(along[:, 0], -along[:, 1]))
