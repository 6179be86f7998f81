"""The arrays of the compiled parts of a simulation."""

from typing import NamedTuple, Self

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask

WORK = 47
"""Length of the work array of `contact.between`."""
SINGULAR, UNSETTLED = -1, -2
"""Returned in place of the number of iterations: the matrix is not positive definite; the solution still moves."""
ACCELERATE, RETURN, HOLD = 0, 1, 2
"""Right-hand side of the rows Phi_q x: gamma - 2 mu omega Phi_dot - omega^2 Phi, -Phi, or zero."""


class BodyArrays(NamedTuple):
    """The bodies of one model: see `RigidBodies`."""

    slots: Indices  # (B, 6)
    crossed: Mask  # (B,)
    length: Array  # (B, 2) of u and v
    inverse: Array  # (B, 3, 3)
    origin: Array  # (B, 3)


class BodyMotions(NamedTuple):
    """Positions and velocities of bodies."""

    rotation: Array  # (B, 3, 3) from the standing pose
    place: Array  # (B, 3) of the standing origin [m]
    twist: Array  # (B, 6) angular velocity, velocity of the material point at the global origin
    work: Array  # (3, 3, 3)

    @classmethod
    def allocate(cls, count: int) -> Self:
        """Bodies at rest in the standing pose."""
        rotation = np.zeros((count, 3, 3))
        rotation[:, (0, 1, 2), (0, 1, 2)] = 1.0
        return cls(rotation, np.zeros((count, 3)), np.zeros((count, 6)), np.empty((3, 3, 3)))

    @classmethod
    def unset(cls, count: int) -> Self:
        """Arrays for a number of bodies, without values."""
        return cls(np.empty((count, 3, 3)), np.empty((count, 3)), np.empty((count, 6)), np.empty((3, 3, 3)))


class SurfaceArrays(NamedTuple):
    """Surfaces on bodies: see `Surface`."""

    body: Indices  # (S,)
    center: Array  # (S, 3)
    axes: Array  # (S, 3, 3)
    semi_axes: Array  # (S, 3)
    order: Array  # (S,)
    radius: Array  # (S,)
    extent: Array  # (S,) zero for a plane


class PairArrays(NamedTuple):
    """Pairs of surfaces that may touch; the first of a pair may be a plane."""

    first: Indices  # (P,)
    second: Indices  # (P,)
    plane: Mask  # (P,)
    apart: Array  # (P,) gap of the surrounding spheres [m] from which on it is the bound, without a point
    far: Array  # (P,) gap [m] beyond which a lower bound is enough


class PlacedSurfaces(NamedTuple):
    """Surfaces (S) in space: centers [m] and axes as columns."""

    center: Array  # (S, 3)
    axes: Array  # (S, 3, 3)
    work: Array  # (WORK,)


class Touches(NamedTuple):
    """Gaps, points of contact and relative velocities of pairs of surfaces."""

    gap: Array  # (P,) [m]
    rate: Array  # (P,) of the gap [m/s]
    normal: Array  # (P, 3)
    point: Array  # (P, 3) [m]
    slip: Array  # (P, 3) [m/s]

    @classmethod
    def allocate(cls, count: int) -> Self:
        """Arrays of zeros for a number of pairs."""
        return cls(np.zeros(count), np.zeros(count), *np.zeros((3, count, 3)))


class JointArrays(NamedTuple):
    """Bodies and damping of the joints: see `JointResistance`."""

    proximal: Indices  # (K,)
    distal: Indices  # (K,)
    damping: Array  # (K,)


class Stops(NamedTuple):
    """Ends of the range of angles (S), the limits of universal joints too."""

    joint: Indices  # (S,)
    axis: Array  # (S, 3) in the standing pose
    limits: Array  # (S, 4) lower, upper, margin [rad], moment [N m]


class Cones(NamedTuple):
    """Cones of circumduction (C) of a line of the child in the parent."""

    bodies: Indices  # (C, 2) parent, child
    line: Indices  # (C, 2) slots of pivot and tip
    frame: Array  # (C, 3, 3) front, side and axis in the parent as rows
    limits: Array  # (C, 6) front, side, back, opposite, margin [rad], moment [N m]


class RowArrays(NamedTuple):
    """Constraint rows and where the elements of the symmetric matrices of a system lie.

    place (N,): of every slot in the order in which the matrix is factored; begin (3N,): first column of a row that is
    not zero; element (3N,): where that row starts among all elements, less `begin`.
    """

    first: Indices  # (s, 2)
    second: Indices  # (s, 2)
    constant: Array  # (s,)
    start: Indices  # (l + 1,)
    slot: Indices
    weight: Array
    target: Array  # (l, 3)
    place: Indices  # (N,)
    begin: Indices  # (3N,)
    element: Indices  # (3N,)


class State(NamedTuple):
    """Positions and velocities, the force on them, the mass matrix and the numbers of the stabilization."""

    q: Array  # (N, 3)
    qd: Array  # (N, 3)
    force: Array  # (N, 3)
    mass: Array  # (elements,) of the mass matrix
    numbers: (
        Array  # (4,) penalty; of the stabilization: 2 mu omega, omega^2; how often multipliers are polished
    )


class Solved(NamedTuple):
    """Results of a solution of the equations of motion, and its work arrays."""

    qdd: Array  # (N, 3)
    multipliers: Array  # (c,)
    factor: Array  # (elements,)
    lines: Array  # (s, 2, 3)
    right: Array  # (c,)
    off: Array  # (c,)
    pushed: Array  # (c,)
    step: Array  # (3N,)
    flat: Array  # (3N,)
    missing: Array  # (N, 3)


class TreeArrays(NamedTuple):
    """The joints (K), frames (F) and slots (N) of one model: see `Tree`.

    kind (K,): see `nearest_pose`; triple (K, 3): the joints of its spherical joint, three times itself where it is
    single. axis, center (K, 3): in the standing layout; pivot (K, 3): the center, zero for the further joints of a
    spherical one.
    """

    root: Indices  # (1,)
    parent: Indices  # (K,)
    child: Indices  # (K,)
    kind: Indices  # (K,)
    triple: Indices  # (K, 3)
    axis: Array  # (K, 3)
    center: Array  # (K, 3)
    pivot: Array  # (K, 3)
    owner: Indices  # (N,)
    standing: Array  # (N, 3)
    share: Array  # (K+6, K+6)


class TargetArrays(NamedTuple):
    """Targets (n) of a pose, and the speeds that are free (f): see `NearestPose`."""

    slot: Indices  # (n,)
    point: Mask  # (n,)
    weight: Array  # (n,)
    free: Indices  # (f,)


class PoseWork(NamedTuple):
    """Work arrays of the steps to a nearest pose."""

    rotation: Array  # (F, 3, 3)
    shift: Array  # (F, 3)
    turn: Array  # (3, 3)
    place: Array  # (n, 3) of the targets
    axis: Array  # (K+6, 3)
    offset: Array  # (K+6, 3)
    angular: Array  # (f, 3)
    linear: Array  # (f, 3)
    arm: Array  # (3,)
    pull: Array  # (3,)
    sums: Array  # (F, SUMS)
    hessian: Array  # (f, f)
    gradient: Array  # (f,)
    step: Array  # (K+6,)
    angles: Array  # (K,) of a pose that is tried
    position: Array  # (3,)
    base: Array  # (3, 3)

    @classmethod
    def allocate(cls, frames: int, joints: int, targets: int, free: int) -> Self:
        """Arrays for a tree and targets of these sizes."""
        speeds = joints + 6
        return cls(
            *(np.empty((frames, 3, 3)), np.empty((frames, 3)), np.empty((3, 3)), np.empty((targets, 3))),
            *(np.zeros((speeds, 3)), np.zeros((speeds, 3)), np.empty((free, 3)), np.empty((free, 3))),
            *(np.empty(3), np.empty(3), np.empty((frames, 22)), np.empty((free, free)), np.empty(free)),
            *(np.empty(speeds), np.empty(joints), np.empty(3), np.empty((3, 3))),
        )


class MovingTree(NamedTuple):
    """The frames (F) of a tree in motion, and work arrays: see `tree_motion`."""

    rotation: Array  # (F, 3, 3)
    shift: Array  # (F, 3)
    spin: Array  # (F, 3)
    flow: Array  # (F, 3)
    twist: Array  # (F, 3)
    drift: Array  # (F, 3)
    base: Array  # (3, 3)
    turn: Array  # (3, 3)
    product: Array  # (3, 3)
    axes: Array  # (5, 3)

    @classmethod
    def allocate(cls, frames: int) -> Self:
        """Arrays for a number of frames."""
        return cls(
            *(np.empty((frames, 3, 3)), *np.empty((5, frames, 3))), *(*np.empty((3, 3, 3)), np.empty((5, 3)))
        )


class MassArrays(NamedTuple):
    """Masses of the bodies (B): see `MassProperties`, and gravity."""

    mass: Array  # (B,)
    center: Array  # (B, 3) in the standing layout
    inertia: Array  # (B, 3, 3)
    gravity: Array  # (3,)


class SegmentArrays(NamedTuple):
    """Bodies (B) along T frames as rigid segments."""

    rotation: Array  # (T, B, 3, 3) from the standing pose
    velocity: Array  # (T, B, 3) angular [rad/s]
    acceleration: Array  # (T, B, 3) angular [rad/s2]
    center: Array  # (T, B, 3) of mass [m]
    center_acceleration: Array  # (T, B, 3) [m/s2]

    @classmethod
    def allocate(cls, frames: int, bodies: int) -> Self:
        """Arrays for numbers of frames and bodies."""
        return cls(np.empty((frames, bodies, 3, 3)), *np.empty((4, frames, bodies, 3)))
