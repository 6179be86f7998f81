"""Compiled kinematics of OpenSim models: poses and twists of bodies, points of paths, the effect of their tension.

Axes (A) of all joints stand one after the other, the axes of a joint from its parent on, translations first. A term (E)
is the rate of an axis by a coordinate. Twists and wrenches are about the origin of the ground (`kinematics`).
"""

from math import cos, sin
from pathlib import Path
from typing import NamedTuple

from numba import types

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve._util.compiled_code import IN_ORDER, OPTIONS, compiled_in_order, on_disk, tuple_of, types_of


class JointArrays(NamedTuple):
    """The joints (J) of a model, from the ground outward, and their axes (A)."""

    inner: Indices  # (J,) body on which the joint stands
    outer: Indices  # (J,) body that it moves
    backward: Mask  # (J,) the body that it moves is its parent
    rotation: Array  # (J, 2, 3, 3) of its frames on both bodies
    position: Array  # (J, 2, 3) [m]
    first: Indices  # (J+1,) first axis of each joint
    axis: Array  # (A, 3) unit vectors
    turns: Mask  # (A,) a rotation, no translation


class Terms(NamedTuple):
    """Rates of axes by coordinates (E), ordered by axes."""

    first: Indices  # (J+1,) first term of each joint
    axis: Indices  # (E,)
    column: Indices  # (E,) of the coordinate
    slope: Array  # (T, E)


class MuscleGroups(NamedTuple):
    """Groups (G) of the nodes of n muscles, each of a muscle on one body, and the joints that move these bodies."""

    first_group: Indices  # (n+1,)
    body: Indices  # (G,) one muscle after the other
    first_joint: Indices  # (n+1,)
    joint: Indices  # joints that move some of them, one muscle after the other


@compiled_in_order
def follow_axes(joints, j, value, frame, unit):
    """Move the frame (4, 3) of a joint, three rows of its rotation and its origin, along its axes; fill `unit`."""
    place = frame[3]
    for a in range(joints.first[j], joints.first[j + 1]):
        axis = joints.axis[a]
        sine, rest = 0.0, 0.0
        if joints.turns[a]:
            sine, rest = sin(value[a]), 1.0 - cos(value[a])
        for x in range(3):
            r = frame[x]
            along = r[0] * axis[0] + r[1] * axis[1] + r[2] * axis[2]
            if joints.turns[a]:
                unit[a, x] = along
                u = r[1] * axis[2] - r[2] * axis[1]
                v = r[2] * axis[0] - r[0] * axis[2]
                w = r[0] * axis[1] - r[1] * axis[0]
                r[0] += sine * u + rest * (v * axis[2] - w * axis[1])
                r[1] += sine * v + rest * (w * axis[0] - u * axis[2])
                r[2] += sine * w + rest * (u * axis[1] - v * axis[0])
            else:
                unit[a, x], unit[a, 3 + x] = 0.0, along
                place[x] += value[a] * along
    for a in range(joints.first[j], joints.first[j + 1]):
        if joints.turns[a]:  # all axes of rotation go through the moved origin
            for x in range(3):
                y, z = (x + 1) % 3, (x + 2) % 3
                unit[a, 3 + x] = place[y] * unit[a, z] - place[z] * unit[a, y]


def place_bodies(joints, value, rotation, position, unit, work):
    """Poses of bodies and unit twists (T, A, 6) of axes at the values (T, A) of the axes; work: (3, 4, 3)."""
    frame, moved, start = work[0], work[1], work[2]
    for t in range(value.shape[0]):
        for b in range(rotation.shape[1]):
            for x in range(3):
                position[t, b, x] = 0.0
                for y in range(3):
                    rotation[t, b, x, y] = 1.0 if x == y else 0.0
        for j in range(joints.inner.size):
            ends, offset, base = joints.rotation[j], joints.position[j], rotation[t, joints.inner[j]]
            for x in range(3):
                frame[3, x] = position[t, joints.inner[j], x]
                for k in range(3):
                    frame[3, x] += base[x, k] * offset[0, k]
                    frame[x, k] = base[x, 0] * ends[0, 0, k] + base[x, 1] * ends[0, 1, k]
                    frame[x, k] += base[x, 2] * ends[0, 2, k]
            if joints.backward[j]:  # the parent's frame from the child's: X_M X(q)^-1
                for x in range(4):
                    for k in range(3):
                        moved[x, k] = 1.0 if x == k else 0.0
                        start[x, k] = frame[x, k]
                follow_axes(joints, j, value[t], moved, unit[t])
                for x in range(3):
                    for k in range(3):
                        frame[x, k] = 0.0
                        for i in range(3):
                            frame[x, k] += start[x, i] * moved[k, i]
                for x in range(3):
                    for k in range(3):
                        frame[3, x] -= frame[x, k] * moved[3, k]
                for x in range(4):
                    for k in range(3):
                        moved[x, k] = frame[x, k]
                follow_axes(joints, j, value[t], moved, unit[t])
            else:
                follow_axes(joints, j, value[t], frame, unit[t])
            turned, place = rotation[t, joints.outer[j]], position[t, joints.outer[j]]
            for x in range(3):
                place[x] = frame[3, x]
                for k in range(3):
                    turned[x, k] = frame[x, 0] * ends[1, k, 0] + frame[x, 1] * ends[1, k, 1]
                    turned[x, k] += frame[x, 2] * ends[1, k, 2]
                for k in range(3):
                    place[x] -= turned[x, k] * offset[1, k]


def add_twists(joints, terms, unit, twist):
    """Twists (T, m, B, 6) of the bodies by m coordinates."""
    for t in range(twist.shape[0]):
        twist[t] = 0.0
        for j in range(joints.inner.size):
            inner, outer = joints.inner[j], joints.outer[j]
            for c in range(twist.shape[1]):
                for k in range(6):
                    twist[t, c, outer, k] = twist[t, c, inner, k]
            for e in range(terms.first[j], terms.first[j + 1]):
                rate = -terms.slope[t, e] if joints.backward[j] else terms.slope[t, e]
                for k in range(6):
                    twist[t, terms.column[e], outer, k] += rate * unit[t, terms.axis[e], k]


def move_bodies(joints, unit, rate, change, twist, acceleration, work):
    """Twists and accelerations (T, B, 6) by two time derivatives (T, A) of the values of axes (`body_dynamics`)."""
    v, gained = work[0], work[1]
    for t in range(twist.shape[0]):
        twist[t], acceleration[t] = 0.0, 0.0
        for j in range(joints.inner.size):
            inner, outer, start, stop = joints.inner[j], joints.outer[j], joints.first[j], joints.first[j + 1]
            for k in range(6):
                v[k], gained[k] = twist[t, inner, k], 0.0
            if joints.backward[j]:
                for a in range(start, stop):
                    for k in range(6):
                        v[k] -= unit[t, a, k] * rate[t, a]
                for k in range(6):
                    twist[t, outer, k] = v[k]
            for a in range(start, stop):
                s = unit[t, a]
                for x in range(3):  # V x s
                    y, z = (x + 1) % 3, (x + 2) % 3
                    turned = v[y] * s[3 + z] - v[z] * s[3 + y] + v[3 + y] * s[z] - v[3 + z] * s[y]
                    gained[x] += s[x] * change[t, a] + (v[y] * s[z] - v[z] * s[y]) * rate[t, a]
                    gained[3 + x] += s[3 + x] * change[t, a] + turned * rate[t, a]
                for k in range(6):
                    v[k] += s[k] * rate[t, a]
            for k in range(6):
                if joints.backward[j]:
                    acceleration[t, outer, k] = acceleration[t, inner, k] - gained[k]
                else:
                    twist[t, outer, k] = v[k]
                    acceleration[t, outer, k] = acceleration[t, inner, k] + gained[k]


def place_points(rotation, position, body, local, placed):
    """Points (T, P, 3) [m] in the ground of points (P, 3) in frames of bodies (P,)."""
    for t in range(placed.shape[0]):
        for p in range(body.size):
            turned, place = rotation[t, body[p]], local[p]
            for x in range(3):
                along = turned[x, 0] * place[0] + turned[x, 1] * place[1] + turned[x, 2] * place[2]
                placed[t, p, x] = along + position[t, body[p], x]


@compiled_in_order
def weigh(muscles, n, weight, wrench, total):
    """Sum (6,) of the wrenches (G, 6) of muscle n on its bodies with weights (B,)."""
    total[:] = 0.0
    for g in range(muscles.first_group[n], muscles.first_group[n + 1]):
        if weight[muscles.body[g]] != 0.0:
            for k in range(6):
                total[k] += weight[muscles.body[g]] * wrench[g, k]


def sum_sets(muscles, on, wrench, sums):
    """Sums (T, n, S, 6) of the wrenches (T, G, 6) on sets (S, B) of bodies."""
    for t in range(wrench.shape[0]):
        for n in range(sums.shape[1]):
            for s in range(on.shape[0]):
                weigh(muscles, n, on[s], wrench[t], sums[t, n, s])


def sum_tensions(muscles, wrench, tension, sums):
    """Sums (T, H, B, 6) of the wrenches (T, G, 6) on each body, with H choices of tensions (T, H, n)."""
    for t in range(wrench.shape[0]):
        sums[t] = 0.0
        for n in range(tension.shape[2]):
            for g in range(muscles.first_group[n], muscles.first_group[n + 1]):
                for h in range(tension.shape[1]):
                    for k in range(6):
                        sums[t, h, muscles.body[g], k] += tension[t, h, n] * wrench[t, g, k]


def moment_arms(muscles, beyond, wrench, terms, unit, arm, total):
    """Moment arms -dL/dq (T, m, n) of nodes that are fixed to their bodies; beyond (J, B): see `PathSystem`."""
    for t in range(arm.shape[0]):
        arm[t] = 0.0
        for n in range(arm.shape[2]):
            for i in range(muscles.first_joint[n], muscles.first_joint[n + 1]):
                j = muscles.joint[i]
                weigh(muscles, n, beyond[j], wrench[t], total)
                for e in range(terms.first[j], terms.first[j + 1]):
                    along = 0.0
                    for k in range(6):
                        along += unit[t, terms.axis[e], k] * total[k]
                    arm[t, terms.column[e], n] -= terms.slope[t, e] * along


_JOINTS = tuple_of(JointArrays, "i1 i1 b1 r4 r3 i1 r2 b1")
_TERMS = tuple_of(Terms, "i1 i1 i1 r2")
_MUSCLES = types.NamedUniTuple(types_of("i1")[0], 4, MuscleGroups)

_on_disk = on_disk(
    "compiling the joints of OpenSim models for this machine, once (a few seconds)",
    Path(__file__),
    options=OPTIONS | IN_ORDER,
)
POSES = _on_disk(place_bodies, _JOINTS, "r2 r4 r3 r3 r3")
TWISTS = _on_disk(add_twists, _JOINTS, _TERMS, "r3 r4")
MOTIONS = _on_disk(move_bodies, _JOINTS, "r3 r2 r2 r3 r3 r2")
POINTS = _on_disk(place_points, "r4 r3 i1 r2 r3")
SUMS = _on_disk(sum_sets, _MUSCLES, "r2 r3 r4")
TENSIONS = _on_disk(sum_tensions, _MUSCLES, "r3 r3 r4")
ARMS = _on_disk(moment_arms, _MUSCLES, "r2 r3", _TERMS, "r3 r3 r1")
