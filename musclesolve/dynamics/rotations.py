"""Rotations: matrices about an axis, Cardan angles of the base body, rotation vectors, nearest rotations.

Cardan angles: R = Rz(rotation) Rx(list) Ry(tilt): pelvis rotated to the left, left side raised, tilted forward.

Rotation vectors p (axis times angle) are the coordinates of spherical joints. With S the skew matrix of p, x = |p|^2:

    R = exp(S) = 1 + a S + b S^2,   a = sin|p| / |p|,  b = (1 - cos|p|) / x,  c = (|p| - sin|p|) / |p|^3
    w = J dp/dt,   J = 1 + b S + c S^2      (angular velocity, in the axes that p is given in)

All but `to_vector` and the nearest rotations accept complex steps.
"""

from math import factorial

import numpy as np

from musclesolve._util.arrays import Array, vector_product

_X, _Y, _Z = np.eye(3)

_SMALL = 0.05  # Below this |p|^2 the coefficients come from their power series

_TERMS = 8


def rotation_about(axis: Array, angle: Array) -> Array:
    """Rotation matrices (..., 3, 3) about unit axes (3,) or (K, 3) by angles (...) or (..., K) (Rodrigues)."""
    skew = vector_product(np.eye(3), axis[..., None, :])
    sine, cosine = np.sin(angle)[..., None, None], np.cos(angle)[..., None, None]
    return np.eye(3) + sine * skew + (1.0 - cosine) * (skew @ skew)


def from_cardan(tilt: Array, list_: Array, rotation: Array) -> Array:
    """Rotation matrices (T, 3, 3) of the three angles (T,) [rad]."""
    return rotation_about(_Z, rotation) @ rotation_about(_X, list_) @ rotation_about(_Y, tilt)


def to_cardan(matrix: Array) -> tuple[Array, Array, Array]:
    """Tilt, list and rotation (T,) [rad] of rotation matrices; continuous in time (unwrapped)."""
    list_ = np.arcsin(np.minimum(np.maximum(matrix[:, 2, 1], -1.0), 1.0))
    tilt = np.arctan2(-matrix[:, 2, 0], matrix[:, 2, 2])
    rotation = np.arctan2(-matrix[:, 0, 1], matrix[:, 1, 1])
    # a single matrix needs no unwrapping
    return (np.unwrap(tilt), list_, np.unwrap(rotation)) if len(matrix) > 1 else (tilt, list_, rotation)


def cardan_rates(angles: Array, rates: Array, second: Array) -> tuple[Array, Array]:
    """Angular velocity and acceleration (T, 3), global axes, of (T, 3) tilt, list, rotation and their derivatives."""
    tilt_rate, list_rate, turn_rate = (rate[:, None] for rate in rates.T)
    about_z = rotation_about(_Z, angles[:, 2])
    list_axis = about_z @ _X
    tilt_axis = (about_z @ rotation_about(_X, angles[:, 1])) @ _Y
    list_axis_rate = vector_product(turn_rate * _Z, list_axis)
    tilt_axis_rate = vector_product(turn_rate * _Z + list_rate * list_axis, tilt_axis)
    velocity = turn_rate * _Z + list_rate * list_axis + tilt_rate * tilt_axis
    acceleration = (
        second[:, 2:3] * _Z
        + second[:, 1:2] * list_axis
        + second[:, 0:1] * tilt_axis
        + list_rate * list_axis_rate
        + tilt_rate * tilt_axis_rate
    )
    return velocity, acceleration


def best_rotation(standing: Array, measured: Array) -> Array:
    """Rotations (T, 3, 3) that bring directions (n, 3) nearest to measured ones (T, n, 3) (Kabsch)."""
    return nearest_rotation(np.einsum("tnx,ny->txy", measured, standing))


def nearest_rotation(matrices: Array) -> Array:
    """Rotations (T, 3, 3) nearest to matrices (T, 3, 3), never mirror images."""
    left, _, right = np.linalg.svd(matrices)
    left[:, :, 2] *= np.linalg.det(left @ right)[:, None]
    return left @ right


def angle_between(one: Array, other: Array) -> Array:
    """Angles (...) [rad], 0 to pi, between rotations (..., 3, 3)."""
    # |one - other|_F = 2 sqrt(2) sin(angle / 2): exact where angles are small, as the trace is not.
    apart = (one - other).reshape(*one.shape[:-2], 9)
    return np.asarray(2.0 * np.arcsin(np.minimum(np.sqrt(np.vecdot(apart, apart) / 8.0), 1.0)))


def wrapped(angle: Array) -> Array:
    """Angles (...) [rad] between -pi and pi."""
    return np.asarray((angle + np.pi) % (2.0 * np.pi) - np.pi)


def from_vector(vector: Array) -> Array:
    """Rotation matrices (T, 3, 3) of rotation vectors (T, 3) [rad] (exponential map)."""
    a, b = _coefficients(vector, 2)
    skew = _skew(vector)
    return np.eye(3) + a * skew + b * (skew @ skew)


def to_quaternion(rotation: Array) -> Array:
    """Quaternions (T, 4) w, x, y, z with w >= 0 of rotation matrices (T, 3, 3), accurate up to 180 degrees."""
    quaternion = np.empty((len(rotation), 4))
    trace = np.trace(rotation, axis1=1, axis2=2)
    symmetric = rotation + np.swapaxes(rotation, 1, 2)
    # 4 w^2 and 4 (x^2, y^2, z^2): start from the largest, so that nothing is divided by a small number.
    squares = np.column_stack([1.0 + trace, 1.0 - trace[:, None] + np.einsum("tii->ti", symmetric)])
    largest = np.argmax(squares, axis=1)
    skew = rotation - np.swapaxes(rotation, 1, 2)
    odd = np.stack([skew[:, 2, 1], skew[:, 0, 2], skew[:, 1, 0]], axis=1)
    table = np.empty((len(rotation), 4, 4))
    table[:, 0, 0], table[:, 0, 1:], table[:, 1:, 0] = squares[:, 0], odd, odd
    table[:, 1:, 1:] = symmetric
    table[:, (1, 2, 3), (1, 2, 3)] = squares[:, 1:]
    quaternion = table[np.arange(len(rotation)), largest]
    quaternion /= np.linalg.norm(quaternion, axis=1)[:, None]
    return np.asarray(quaternion * np.where(quaternion[:, :1] < 0.0, -1.0, 1.0))


def to_vector(rotation: Array) -> Array:
    """Rotation vectors (T, 3) of at most 180 degrees, from rotation matrices (T, 3, 3), accurate up to 180 degrees."""
    quaternion = to_quaternion(rotation)
    sine = np.linalg.norm(quaternion[:, 1:], axis=1)
    angle = 2.0 * np.arctan2(sine, quaternion[:, 0])
    factor = np.where(sine > 0.0, angle / np.where(sine > 0.0, sine, 1.0), 2.0)
    return factor[:, None] * quaternion[:, 1:]


def continuous(vectors: Array) -> Array:
    """Rotation vectors over time (T, 3) without jumps at 180 degrees, up to a full rotation."""
    jump = np.linalg.norm(np.diff(vectors, axis=0, prepend=vectors[:1]), axis=1) > np.pi
    beyond = np.cumsum(jump) % 2 == 1
    angle = np.linalg.norm(vectors, axis=1)
    return np.where(
        beyond[:, None], vectors * (1.0 - 2.0 * np.pi / np.where(beyond, angle, 1.0))[:, None], vectors
    )


def vector_jacobian(vector: Array) -> Array:
    """Jacobian J (T, 3, 3): angular velocity per unit rate of the rotation vector."""
    _, b, c = _coefficients(vector, 3)
    skew = _skew(vector)
    return np.eye(3) + b * skew + c * (skew @ skew)


def vector_jacobian_rate(vector: Array, rate: Array) -> Array:
    """Time derivative of J (T, 3, 3)."""
    _, b, c, b_slope, c_slope = _coefficients(vector)
    skew, skew_rate = _skew(vector), _skew(rate)
    growth = 2.0 * np.sum(vector * rate, axis=1)[:, None, None]
    square_rate = skew_rate @ skew + skew @ skew_rate
    return growth * (b_slope * skew + c_slope * (skew @ skew)) + b * skew_rate + c * square_rate


def _coefficients(vector: Array, count: int = 5) -> tuple[Array, ...]:
    """The first `count` of a, b, c and the slopes of b and c by |p|^2, each (T, 1, 1)."""
    x = np.sum(vector * vector, axis=1)[:, None, None]
    small = np.abs(x) < _SMALL
    safe = np.where(small, 1.0, x)
    angle = np.sqrt(safe)
    a, b = np.sin(angle) / angle, (1.0 - np.cos(angle)) / safe
    c = (1.0 - a) / safe
    far = (a, b, c, (a - 2.0 * b) / (2.0 * safe), (b - 3.0 * c) / (2.0 * safe))[:count]
    powers = [(-x) ** k for k in range(_TERMS)]
    near = [sum(powers[k] / factorial(2 * k + order) for k in range(_TERMS)) for order in (1, 2, 3)[:count]]
    near += [
        sum(-k * powers[k - 1] / factorial(2 * k + order) for k in range(1, _TERMS))
        for order in (2, 3)[: max(count - 3, 0)]
    ]
    return tuple(np.where(small, close, distant) for close, distant in zip(near, far, strict=True))


def _skew(vector: Array) -> Array:
    skew = np.zeros((len(vector), 3, 3), dtype=vector.dtype)
    skew[:, 0, 1], skew[:, 0, 2], skew[:, 1, 2] = -vector[:, 2], vector[:, 1], -vector[:, 0]
    return skew - np.swapaxes(skew, 1, 2)
