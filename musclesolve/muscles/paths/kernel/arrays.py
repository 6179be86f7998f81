"""The arrays of the path engine, and its numeric codes."""

from typing import NamedTuple, Self

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask

CYLINDER, SPHERE, ELLIPSOID, TORUS = np.arange(4)
HYBRID, MIDPOINT, AXIAL = np.arange(3)
NONE, INSIDE, POSSIBLE, MANDATORY = np.arange(4)
"""Contact of a segment with an object: none; none, because it ends inside; possible; its straight line cuts the
surface.
"""

HELD = 2.0
"""Size of the sign of a half on which a path is held wherever its straight line passes."""

SHORTEST_PATH, OPENSIM, SEVERAL = np.arange(3)
"""Kind of path: the shortest one, or OpenSim's path over a single object or over several."""

OFF, STAYS_OFF = -1.0, -2.0
"""Codes in place of the arc of a wrap that is not touched."""

ARC, EXTRA = 6, 7
"""Places in a contact (8,) after its two tangent points: length on the surface, and length that the contact adds
[m].
"""


# parts of the work array of spheres and ellipsoids: ends on the scale of the unit sphere; the point of the straight
# line that is nearest to the center; directions across the line from the center to an end; tangent points of both ends
# and the direction at the first; radii and 1 / radii^2; second end; point and direction at the end of a geodesic;
# of the section with a plane: center, direction away from the line, those out and on at the first tangent point, and
# the one out at the second; of OpenSim's plane: a point of the straight line and the one of the surface that it goes
# through, where the line cuts the surface, which become its tangent points, and two points for trials; first end,
# normal of the plane, and a point of it; a contact of 8 numbers
(
    W1, W2, NEAREST, TOWARDS, ACROSS, U1, U2, DIRECTION, RADII, INVERSE, P2, POINT, HEADING,
    CENTER, SIDE, OUT, SLOPE, END, SPARE, MIDDLE, SURFACE, FIRST, LAST, TRIAL, ON_TRIAL,
    P1, NORMAL, PLACE, SAVED, _, _,
    WORK_SIZE,
) = 3 * np.arange(32)  # fmt: skip


class LayoutArrays(NamedTuple):
    """Arrays that do not depend on the pose: see `PathLayout`."""

    first_point: Indices  # (n+1,) first point of each muscle
    first_wrap: Indices  # (n+1,) first path wrap of each muscle
    wrap_object: Indices  # (W,)
    wrap_range: Indices  # (W, 2) first and last point
    kind: Indices  # (O,)
    radii: Array  # (O, 3) [m]; of a torus the ones of tube and ring
    half_length: Array  # (O,) [m]
    side_axis: Indices  # (O,)
    side_sign: Array  # (O,) -1, 0, 1 or HELD
    wrap_method: Indices  # (W,) HYBRID, MIDPOINT or AXIAL, of ellipsoids


class PoseArrays(NamedTuple):
    """Points and objects in T poses."""

    position: Array  # (T, P, 3) [m]
    on: Mask  # (T, P)
    center: Array  # (T, O, 3) [m]
    rotation: Array  # (T, O, 3, 3)

    @classmethod
    def allocate(cls, poses: int, points: int, objects: int) -> Self:
        """Arrays for numbers of poses, points and objects."""
        vectors = (poses, objects, 3)
        on = np.empty((poses, points), bool)
        return cls(np.empty((poses, points, 3)), on, np.empty(vectors), np.empty((*vectors, 3)))


class CarriedArrays(NamedTuple):
    """Points, wrap objects and moving frames, and the bodies that carry them: see `Paths`."""

    carriers: Indices  # numbers of the bodies that carry any of them
    point_body: Indices  # (P,)
    point_frame: Indices  # (P,) -1: none
    standing: Array  # (P, 3) [m]
    switched: Indices  # (C,)
    switch_dof: Indices  # (C,)
    switch_lower: Array  # (C,) [rad]
    switch_upper: Array  # (C,) [rad]
    object_body: Indices  # (O,)
    object_frame: Indices  # (O,) -1: none
    center: Array  # (O, 3) [m]
    axes: Array  # (O, 3, 3)
    frame_body: Indices  # (F,)
    pivot: Array  # (F, 3) [m]


class FrameMotion(NamedTuple):
    """Moving frames (F) in T poses, in space or relative to their bodies in standing.

    origin r (T, F, 3): position of the pivot [m]; rotation R (T, F, 3, 3); velocity of the origin and spin, (T, F, 3),
    relative to the body, per unit rate of the angle [m/rad, rad/rad].
    """

    origin: Array
    rotation: Array
    velocity: Array
    spin: Array

    @classmethod
    def allocate(cls, poses: int, frames: int) -> Self:
        """Arrays for numbers of poses and frames."""
        vectors = (poses, frames, 3)
        return cls(np.empty(vectors), np.empty((*vectors, 3)), np.empty(vectors), np.empty(vectors))


class PathArrays(NamedTuple):
    """Lengths, nodes, gradients and arcs of the paths in T poses."""

    length: Array  # (T, n) [m]
    position: Array  # (T, N, 3) [m]
    gradient: Array  # (T, N, 3)
    arc: Array  # (T, W) [m], negative where the wrap is not touched


class WorkArrays(NamedTuple):
    """Work arrays, shared by all muscles."""

    chain: Indices  # nodes on the path, in order
    local: Array  # (2, 3) ends of a segment in the frame of an object
    contact: Array  # (8,) of the segment at hand
    best: Array  # (8,) of the best segment so far
    step: Array  # (2, N, 3) last two movements of each tangent point [m]
    round: Array  # (WORK_SIZE,) of spheres and ellipsoids
    # (12, 7) of OpenSim's tangent points; None: over cylinders alone, all else is not compiled
    matrix: Array | None
    rules: Indices  # (1,) SHORTEST, or OPENSIM
    # (N, 3) of OpenSim's rounds: where each tangent point was when it was first used [m]; None: these are not compiled
    seen: Array | None


class LineArrays(NamedTuple):
    """Points of the paths for drawing, in slots (S); all arrays are empty unless lines are requested."""

    first: Indices  # (n+1,) first slot of each muscle
    position: Array  # (T, S, 3) [m], single precision; slots that a muscle does not need hold its last point
    used: Indices  # (T, n) how many it needs
