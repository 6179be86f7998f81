"""The compiled functions that Python calls, kept in numba's cache."""

from pathlib import Path

import numpy as np
from numba import types

from musclesolve._util.compiled_code import on_disk, tuple_of, types_of
from musclesolve.dynamics.kernel.arrays import (
    BodyArrays,
    BodyMotions,
    Cones,
    JointArrays,
    MassArrays,
    MovingTree,
    PairArrays,
    PlacedSurfaces,
    PoseWork,
    RowArrays,
    SegmentArrays,
    Solved,
    State,
    Stops,
    SurfaceArrays,
    TargetArrays,
    Touches,
    TreeArrays,
)
from musclesolve.dynamics.kernel.bodies import move_body, push_body
from musclesolve.dynamics.kernel.contact import (
    damp_joints,
    find_gap,
    find_slip,
    limit_cones,
    place_surfaces,
    stop_joints,
)
from musclesolve.dynamics.kernel.equations import constrained
from musclesolve.dynamics.kernel.nearest_pose import MOST_CARRIED, carry, find_nearest, place_frames
from musclesolve.dynamics.kernel.tree_motion import (
    move_frames,
    move_slots,
    place_slots,
    set_accelerated,
    set_base,
    sum_loads,
)


def move(q, qd, bodies, motions, first):
    """Store rotations, places and twists of all bodies of a model from the number `first` on."""
    for b in range(bodies.crossed.size):
        move_body(q, qd, bodies, b, motions, first + b)


def move_all(q, qd, bodies, motions):
    """Rotations, places and twists of all bodies in every frame; q, qd (T, N, 3); motions: with frames first."""
    for t in range(q.shape[0]):
        frame = BodyMotions(motions.rotation[t], motions.place[t], motions.twist[t], motions.work)
        for b in range(bodies.crossed.size):
            move_body(q[t], qd[t], bodies, b, frame, b)


def touch(motions, shapes, pairs, placed, touches):
    """Gaps, normals, points and relative velocities of all pairs."""
    place_surfaces(motions, shapes, placed)
    for pair in range(pairs.first.size):
        find_gap(shapes, placed, pairs, pair, touches)
        find_slip(motions, shapes, pairs, pair, touches)


def push(state, bodies, motions, first, wrench, force):
    """Add the generalized force (N, 3) of wrenches on the bodies of a model; state: positions and velocities."""
    for b in range(bodies.crossed.size):
        push_body(state[0], state[1], bodies, b, motions, first + b, wrench, force)


def resist(state, bodies, motions, axes, joints, limits, wrench, force):
    """Add the generalized force (N, 3) of joint resistance, and set its couples in `wrench` (B, 6).

    state: positions, velocities; axes (K, 3): of the couples of the joints; limits: stops and cones.
    """
    q, qd = state
    for b in range(bodies.crossed.size):
        move_body(q, qd, bodies, b, motions, b)
    wrench[:, :] = 0.0
    damp_joints(axes, joints, motions, wrench)
    stop_joints(axes, joints, limits[0], motions, wrench)
    limit_cones(q, limits[1], motions, wrench)
    # the couples of `add_couple` are the first three of a wrench
    for b in range(bodies.crossed.size):
        push_body(q, qd, bodies, b, motions, b, wrench, force)


def solve(state, rows, out, kind):
    """Solve M x + Phi_q^T lambda = force, Phi_q x = right for one state: `constrained`."""
    return constrained(state, rows, out, kind)


def nearest(tree, targets, values, rests, starts, poses, limits, work, largest):
    """Steps to the nearest pose of every frame: `find_nearest`; poses: angles, positions and rotations of the base.

    With starts (else they are empty), where the poses begin, every frame starts from where the frames before it were
    moved.
    """
    angles, position, base = poses
    found = 0  # number of frames before this one, without a gap, whose poses are known
    for t in range(largest.size):
        pose, rest = (angles[t], position[t], base[t]), (rests[0][t], rests[1][t])
        limits[2] = np.inf
        if starts[0].size > 0 and found > 0:
            carry(starts, poses, t, min(found, MOST_CARRIED), work)
            limits[2] = 0.0
        largest[t] = find_nearest(tree, targets, values[t], rest, *pose, limits, work)
        found = found + 1 if largest[t] < limits[0] else 0


def place_tree(tree, poses, points, q, rotation, work):
    """Natural coordinates (T, N, 3) and rotations of the bodies (T, B, 3, 3); poses as in `nearest`.

    points: number of slots that are points.
    """
    angles, position, base = poses
    for t in range(q.shape[0]):
        place_frames(tree, angles[t], position[t], base[t], work)
        place_slots(tree, points, q[t], work)
        for b in range(rotation.shape[1]):
            for x in range(3):
                for y in range(3):
                    rotation[t, b, x, y] = work.rotation[b, x, y]


def move_tree(tree, masses, given, out, segments, work, points):
    """Natural coordinates, speeds and bodies of every frame from joint coordinates and their derivatives (T, K+6).

    given: coordinates, rates, second derivatives; out: speeds and their rates, already filled for the joints, then q,
    qd, qdd, axes of the joints; segments: `SegmentArrays`; points: number of slots that are points.
    """
    coordinates, rates, second = given
    speeds, speed_rates, q, qd, qdd, axes = out
    for t in range(coordinates.shape[0]):
        set_base(tree, coordinates[t], rates[t], second[t], speeds[t], speed_rates[t], work)
        move_frames(tree, coordinates[t], speeds[t], speed_rates[t], axes[t], work)
        move_slots(tree, points, q[t], qd[t], qdd[t], work)
        for b in range(masses.mass.size):
            center = segments.center[t, b]
            for x in range(3):
                center[x] = work.shift[b, x]
                segments.velocity[t, b, x], segments.acceleration[t, b, x] = work.spin[b, x], work.twist[b, x]
                for y in range(3):
                    center[x] += work.rotation[b, x, y] * masses.center[b, y]
                    segments.rotation[t, b, x, y] = work.rotation[b, x, y]
            set_accelerated(center, b, work, work.axes[0], segments.center_acceleration[t, b])


def load_tree(tree, masses, segments, wrench, sums, work):
    """Loads beyond every frame of the tree: `sum_loads`; wrench (T, B, 6); sums: forces and moments (T, F, 3)."""
    for t in range(wrench.shape[0]):
        sum_loads(tree, masses, segments, t, wrench[t], sums[0][t], sums[1][t], work)


_BODIES = tuple_of(BodyArrays, "i2 b1 r2 r3 r2")
_MOTIONS = tuple_of(BodyMotions, "r3 r2 r2 r3")
_SHAPES = tuple_of(SurfaceArrays, "i1 r2 r3 r2 r1 r1 r1")
_PAIRS = tuple_of(PairArrays, "i1 i1 b1 r1 r1")
_PLACED = tuple_of(PlacedSurfaces, "r2 r3 r1")
_TOUCHES = tuple_of(Touches, "r1 r1 r2 r2 r2")
_JOINTS = tuple_of(JointArrays, "i1 i1 r1")
_STOPS = tuple_of(Stops, "i1 r2 r2")
_CONES = tuple_of(Cones, "i2 i2 r3 r2")
_ROWS = tuple_of(RowArrays, "i2 i2 r1 i1 i1 r1 r2 i1 i1 i1")
_STATE = tuple_of(State, "r2 r2 r2 r1 r1")
_SOLVED = tuple_of(Solved, "r2 r1 r1 r3 r1 r1 r1 r1 r1 r2")
_TREE = tuple_of(TreeArrays, "i1 i1 i1 i1 i2 r2 r2 r2 i1 r2 r2")
_TARGETS = tuple_of(TargetArrays, "i1 b1 r1 i1")
_POSE_WORK = tuple_of(PoseWork, "r3 r2 r2 r2 r2 r2 r2 r2 r1 r1 r2 r2 r1 r1 r1 r1 r2")
_MOVING = tuple_of(MovingTree, "r3 r2 r2 r2 r2 r2 r2 r2 r2 r2")
_MASSES = tuple_of(MassArrays, "r1 r2 r3 r1")
_SEGMENTS = tuple_of(SegmentArrays, "r4 r3 r3 r3 r3")
_MOVED = types.Tuple(types_of("r2 r2 r3 r3 r3 r3"))
_TABLES, _CUBES = types.UniTuple(types_of("r2")[0], 2), types.UniTuple(types_of("r3")[0], 2)
_GIVEN, _POSES = types.UniTuple(types_of("r2")[0], 3), types.Tuple(types_of("r2 r2 r3"))

_on_disk = on_disk("compiling the dynamics for this machine, once (some ten seconds)", Path(__file__).parent)
MOVE = _on_disk(move, "r2 r2", _BODIES, _MOTIONS, "i")
TOUCH = _on_disk(touch, _MOTIONS, _SHAPES, _PAIRS, _PLACED, _TOUCHES)
PUSH = _on_disk(push, _TABLES, _BODIES, _MOTIONS, "i r2 r2")
RESIST = _on_disk(resist, _TABLES, _BODIES, _MOTIONS, "r2", _JOINTS, types.Tuple([_STOPS, _CONES]), "r2 r2")
SOLVE = _on_disk(solve, _STATE, _ROWS, _SOLVED, "i")
NEAREST = _on_disk(nearest, _TREE, _TARGETS, "r3", _TABLES, _POSES, _POSES, "r1", _POSE_WORK, "r1")
PLACE_TREE = _on_disk(place_tree, _TREE, _POSES, "i r3 r4", _MOVING)
MOVE_TREE = _on_disk(move_tree, _TREE, _MASSES, _GIVEN, _MOVED, _SEGMENTS, _MOVING, "i")
LOAD_TREE = _on_disk(load_tree, _TREE, _MASSES, _SEGMENTS, "r3", _CUBES, _MOVING)
MOVE_ALL = _on_disk(move_all, "r3 r3", _BODIES, tuple_of(BodyMotions, "r4 r3 r3 r3"))
