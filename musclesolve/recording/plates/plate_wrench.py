"""Wrenches of the force plates of a C3D file: force, point and moment in the axes of the file.

A plate has axes of its own: its corners 1 to 4 lie in the quadrants (+x +y), (-x +y), (-x -y), (+x -y), and z = x x y
usually points down (www.c3d.org/HTML/Documents, "FORCE_PLATFORM:CORNERS"). With force f and moment m about the
transducers in these axes, and o the middle of the surface seen from them (ORIGIN), the moment about that middle is

    m' = m + f x o = m - o x f,

the point of the surface about which the horizontal moments vanish is r = (-m'_y, m'_x, 0) / f_z, and the remaining
moment is the free moment T = m' - r x f, square to the surface.

    type 1: f, then x and y of r, then T_z
    type 2: f, then m
    type 3: pairs fx12, fx34, fy14, fy23 and corners fz1 to fz4, whose arms are a and b of ORIGIN = (a, b, z)
    type 4: like type 2, after multiplication with CAL_MATRIX
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from musclesolve._util.arrays import Array, Mask

CHANNELS = {1: 6, 2: 6, 3: 8, 4: 6}
"""Type of a plate -> number of its channels."""
# Below this vertical force the point is a quotient of noise [N].
_NO_LOAD = 1.0
# Samples that are converted together: their vectors stay in the fast memory of the processor.
_BLOCK = 16384


@dataclass(frozen=True)
class Plate:
    """A force plate: its number in the file from 1, its type 1 to 4, corners (4, 3) [m] and ORIGIN (3,) [m].

    `matrix` (6, 6) is CAL_MATRIX, which turns the channels into N and N m; the identity except for type 4.
    """

    number: int
    kind: int
    corners: Array
    origin: Array
    matrix: Array

    @property
    def center(self) -> Array:
        """The middle of the surface, (3,) [m]."""
        return np.asarray(self.corners.mean(axis=0))

    @property
    def axes(self) -> Array:
        """Its axes as columns of a rotation, (3, 3): p_file = axes p_plate."""
        one, two, three, four = self.corners
        x = one - two + four - three
        z = np.cross(x, one - four + two - three)
        x, z = x / np.linalg.norm(x), z / np.linalg.norm(z)
        return np.stack([x, np.cross(z, x), z], axis=1)

    def contains(self, point: Array, margin: float) -> Mask:
        """Return which points (..., 3) lie within its rectangle, widened by a margin [m], seen from above."""
        along = np.abs((point - self.center) @ self.axes[:, :2])
        half = 0.5 * np.ptp((self.corners - self.center) @ self.axes[:, :2], axis=0)
        return np.asarray((along <= half + margin).all(axis=-1))


@dataclass(frozen=True)
class PlateRecording:
    """What one plate measured, S samples, in the axes of its corners.

    Times (S,) [s], forces (S, 3) [N], points (S, 3) [m] on the surface (its middle where there is hardly any force),
    moments about them (S, 3) [N m].
    """

    plate: Plate
    time: Array
    force: Array
    point: Array
    moment: Array
    path: Path


def measured(plate: Plate, channels: Array, down: Array | None = None) -> tuple[Array, Array, Array]:
    """Return force (S, 3) [N], point (S, 3) [m] and the moment about it (S, 3) [N m], in the axes of the corners.

    Channels (S, 6) or (S, 8) in the order of the type, in N, m and N m, as stored for type 4; `down` (3,) is the
    downward direction, the z of the plate unless given.
    """
    force, point, moment = np.empty((3, len(channels), 3))
    surface, axes = _surface(plate, down), plate.axes
    for first in range(0, len(channels), _BLOCK):
        rows = slice(first, first + _BLOCK)
        f, r, free = _at_point(plate, channels[rows], surface)
        force[rows], point[rows], moment[rows] = f @ axes.T, r @ axes.T + plate.center, free @ axes.T
    return force, point, moment


def _at_point(plate: Plate, channels: Array, surface: Array) -> tuple[Array, Array, Array]:
    """Return force, point seen from the middle of the surface, and the moment about it, in plate axes."""
    force, moment = _in_plate(plate, channels, surface)
    if plate.kind == 1:
        point = np.column_stack([channels[:, 3:5], np.zeros(len(channels))])
        return force, point, moment
    vertical = np.where(np.abs(force[:, 2]) > _NO_LOAD, force[:, 2], np.inf)
    point = np.column_stack([-moment[:, 1], moment[:, 0], np.zeros(len(force))]) / vertical[:, None]
    return force, point, moment - np.cross(point, force)


def _in_plate(plate: Plate, channels: Array, surface: Array) -> tuple[Array, Array]:
    """Return force (S, 3) [N] and moment (S, 3) [N m] about the middle of the surface, in plate axes.

    The moment of type 1 is about its point.
    """
    if plate.kind == 1:
        zero = np.zeros(len(channels))
        return channels[:, :3], np.stack([zero, zero, channels[:, 5]], axis=1)
    if plate.kind == 3:
        return _piezoelectric(channels, surface)
    loads = channels @ plate.matrix.T
    force = loads[:, :3]
    return force, loads[:, 3:] + np.cross(force, surface)


def _piezoelectric(channels: Array, surface: Array) -> tuple[Array, Array]:
    """Return force and moment of a plate with a transducer under each corner, arms a and b [m]."""
    x12, x34, y14, y23, z1, z2, z3, z4 = channels.T
    a, b = surface[:2]
    force = np.stack([x12 + x34, y14 + y23, z1 + z2 + z3 + z4], axis=1)
    moment = np.stack(
        [b * (z1 + z2 - z3 - z4), a * (z2 + z3 - z1 - z4), b * (x34 - x12) + a * (y14 - y23)], axis=1
    )
    return force, moment + np.cross(force, [0.0, 0.0, surface[2]])


def _surface(plate: Plate, down: Array | None) -> Array:
    """Return the middle of the surface seen from the transducers, in plate axes; arms a and b for type 3.

    The transducers lie below the surface, so that the third component is negative where z points down; some
    programs store the opposite vector.
    """
    upward = -1.0 if down is None else -float(np.sign(plate.axes[:, 2] @ down) or 1.0)
    if plate.kind == 3:
        return np.array([*np.abs(plate.origin[:2]), upward * abs(plate.origin[2])])
    return plate.origin if plate.origin[2] * upward >= 0.0 else -plate.origin
