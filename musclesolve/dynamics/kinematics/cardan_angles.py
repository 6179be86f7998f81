"""Orientation of the base body: Cardan angles, angular velocity and acceleration.

R = Rz(rotation) Rx(list) Ry(tilt): pelvis turned left, left side raised, tilted forward.
"""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import AnyArray

_X, _Y, _Z = np.eye(3)


def rotation_about(axis: AnyArray, angle: AnyArray) -> AnyArray:
    """Rotation matrices (..., 3, 3) about unit axes (3,) or (K, 3) by angles (...) or (..., K) (Rodrigues)."""
    skew = np.cross(np.eye(3), axis[..., None, :])
    sine, cosine = np.sin(angle)[..., None, None], np.cos(angle)[..., None, None]
    return np.eye(3) + sine * skew + (1.0 - cosine) * (skew @ skew)


def from_cardan(tilt: AnyArray, list_: AnyArray, rotation: AnyArray) -> AnyArray:
    """Rotation matrices (T, 3, 3) of the three angles (T,) [rad]."""
    return rotation_about(_Z, rotation) @ rotation_about(_X, list_) @ rotation_about(_Y, tilt)


def to_cardan(matrix: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Tilt, list and rotation (T,) [rad] of rotation matrices; continuous in time (unwrapped)."""
    list_ = np.arcsin(np.clip(matrix[:, 2, 1], -1.0, 1.0))
    tilt = np.arctan2(-matrix[:, 2, 0], matrix[:, 2, 2])
    rotation = np.arctan2(-matrix[:, 0, 1], matrix[:, 1, 1])
    return np.unwrap(tilt), list_, np.unwrap(rotation)


def cardan_rates(angles: AnyArray, rates: AnyArray, second: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Angular velocity and acceleration (T, 3), global axes.

    Args:
        angles: (T, 3) tilt, list, rotation [rad].
        rates: (T, 3) their first derivatives [rad/s].
        second: (T, 3) their second derivatives [rad/s2].
    """
    tilt_rate, list_rate, turn_rate = (rate[:, None] for rate in rates.T)
    turn = rotation_about(_Z, angles[:, 2])
    list_axis = turn @ _X
    tilt_axis = (turn @ rotation_about(_X, angles[:, 1])) @ _Y
    list_axis_rate = np.cross(turn_rate * _Z, list_axis)
    tilt_axis_rate = np.cross(turn_rate * _Z + list_rate * list_axis, tilt_axis)
    velocity = turn_rate * _Z + list_rate * list_axis + tilt_rate * tilt_axis
    acceleration = (
        second[:, 2:3] * _Z
        + second[:, 1:2] * list_axis
        + second[:, 0:1] * tilt_axis
        + list_rate * list_axis_rate
        + tilt_rate * tilt_axis_rate
    )
    return velocity, acceleration


def best_rotation(standing: AnyArray, measured: AnyArray) -> AnyArray:
    """Rotations (T, 3, 3) that bring directions (n, 3) nearest to measured ones (T, n, 3) (Kabsch)."""
    return nearest_rotation(np.einsum("tnx,ny->txy", measured, standing))


def nearest_rotation(matrices: AnyArray) -> AnyArray:
    """Rotations nearest to matrices, (T, 3, 3) both; never mirror images."""
    left, _, right = np.linalg.svd(matrices)
    left[:, :, 2] *= np.linalg.det(left @ right)[:, None]
    return left @ right


def angle_between(one: AnyArray, other: AnyArray) -> AnyArray:
    """Angles (...) [rad], 0 to pi, of the turns from rotations (..., 3, 3) to others."""
    # |one - other|_F = 2 sqrt(2) sin(angle / 2): exact where angles are small, as the trace is not.
    apart = np.linalg.norm(one - other, axis=(-2, -1)) / np.sqrt(8.0)
    return 2.0 * np.arcsin(np.minimum(apart, 1.0))
