"""Six rows that drive the base body through a given motion, whatever points and vectors it has.

Its first point follows its path, and two of its directions keep to prescribed axes: with a along the line between its
first two points, b across it towards its vector (or third point), c = a x b, and E the same axes prescribed,

    b . E_c = 0,   -a . E_c = 0,   a . E_b = 0

hold where the base is where it should be, and respond to a rotation about E_a, E_b and E_c, each to its own angle.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.rotations import from_cardan, from_vector, to_vector


@dataclass(frozen=True)
class BaseDriver:
    """Where the base is held: slot of its point, directions a and b as combinations of slots (2, N), axes (3, 3).

    The columns of `triad` are a, b, c in the standing pose.
    """

    point: int
    combinations: Array
    triad: Array

    @classmethod
    def of(cls, model: Model) -> BaseDriver:
        """From the first two points of the base body and its first vector or third point."""
        topology, standing = model.topology, model.standing
        base = topology.bodies[topology.body_index[topology.root]]
        first, second = (topology.slot[name] for name in base.points[:2])
        line = np.zeros(len(standing))
        line[second], line[first] = 1.0, -1.0
        line /= np.linalg.norm(line @ standing)
        across = np.zeros(len(standing))
        if base.vectors:
            across[topology.slot[base.vectors[0]]] = 1.0
        else:
            across[topology.slot[base.points[2]]], across[first] = 1.0, -1.0
        a = line @ standing
        across = across - (a @ (across @ standing)) * line
        across /= np.linalg.norm(across @ standing)
        b = across @ standing
        return cls(first, np.stack([line, across]), np.column_stack([a, b, np.cross(a, b)]))


def base_rows(model: Model, motion: Motion, q: Array, qd: Array) -> tuple[Array, ...]:
    """Value (T, 6), Jacobian (T, 6, N, 3), nu, gamma and moment factor (T, 6) of the rows of the base."""
    base, joints = BaseDriver.of(model), model.tree.joint_count
    rotation = from_cardan(*motion.coordinates[:, joints + 3 :].T)
    spin, spin_rate = motion.speeds[:, joints + 3 :], motion.speed_rates[:, joints + 3 :]
    arm = rotation @ model.standing[base.point]
    shift = slice(joints, joints + 3)
    value = [q[:, base.point] - motion.coordinates[:, shift] - arm]
    nu = [motion.speeds[:, shift] + np.cross(spin, arm)]
    gamma = [motion.speed_rates[:, shift] + _carried(spin, spin_rate, arm)]
    jacobian = np.zeros((len(q), 6, *q.shape[1:]))
    jacobian[:, range(3), base.point, range(3)] = 1.0
    axes = rotation @ base.triad
    for row, (direction, against, sign) in enumerate(((1, 2, 1.0), (0, 2, -1.0), (0, 1, 1.0)), start=3):
        weights, fixed = base.combinations[direction], sign * axes[:, :, against]
        now, rate = (np.einsum("n,tnx->tx", weights, x) for x in (q, qd))
        moved, moved_twice = np.cross(spin, fixed), _carried(spin, spin_rate, fixed)
        value.append(_dot(now, fixed))
        nu.append(-_dot(now, moved))
        gamma.append(-2.0 * _dot(rate, moved) - _dot(now, moved_twice))
        jacobian[:, row] = weights[:, None] * fixed[:, None]
    return np.hstack(value), jacobian, np.hstack(nu), np.hstack(gamma), -np.ones((len(q), 6))


def base_closure_errors(model: Model, motion: Motion, q: Array, largest: float) -> tuple[Array, Array, Array]:
    """How far the base's point and its directions a and b are from where they should be.

    Unlike the rows above not zero where the base is rotated by 180 degrees about one of its axes. Returns the errors
    (T, 9), their Jacobian (T, 9, N, 3), and the part of them that a rotation by at most `largest` [rad] closes.
    """
    base, joints = BaseDriver.of(model), model.tree.joint_count
    rotation = from_cardan(*motion.coordinates[:, joints + 3 :].T)
    place = motion.origin + rotation @ model.standing[base.point]
    weights = np.vstack([np.eye(q.shape[1])[base.point], base.combinations])
    now, axes = weights @ q, rotation @ base.triad
    present = _triad(now[:, 1], now[:, 2])
    rest = to_vector(axes @ np.swapaxes(present, 1, 2))
    share = np.minimum(1.0, largest / np.maximum(np.linalg.norm(rest, axis=1, keepdims=True), 1e-12))
    near = from_vector(share * rest) @ present
    error, part = (
        (now - np.stack([place, goal[..., 0], goal[..., 1]], axis=1)).reshape(len(q), 9)
        for goal in (axes, near)
    )
    jacobian = np.einsum("rn,xy->rxny", weights, np.eye(3)).reshape(9, -1, 3)
    return error, np.broadcast_to(jacobian, (len(q), *jacobian.shape)), part


def _triad(line: Array, across: Array) -> Array:
    """Square unit axes as columns (T, 3, 3), the first along the line, the second towards `across`."""
    a = line / np.linalg.norm(line, axis=1, keepdims=True)
    b = across - _dot(a, across) * a
    b = b / np.linalg.norm(b, axis=1, keepdims=True)
    return np.stack([a, b, np.cross(a, b)], axis=-1)


def residual_about_origin(model: Model, motion: Motion, forces: Array) -> Array:
    """Force and moment (T, 6) of the rows, from their point and axes to the layout's origin and global axes."""
    base, joints = BaseDriver.of(model), model.tree.joint_count
    rotation = from_cardan(*motion.coordinates[:, joints + 3 :].T)
    force, moment = forces[:, :3], np.einsum("txy,ty->tx", rotation @ base.triad, forces[:, 3:])
    return np.hstack([force, moment + np.cross(rotation @ model.standing[base.point], force)])


def _carried(spin: Array, spin_rate: Array, vector: Array) -> Array:
    """Acceleration of a vector that rotates with the base."""
    return np.cross(spin_rate, vector) + np.cross(spin, np.cross(spin, vector))


def _dot(a: Array, b: Array) -> Array:
    """(T, 1), to stand as a column."""
    return np.einsum("tx,tx->t", a, b)[:, None]
