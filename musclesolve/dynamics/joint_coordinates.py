"""Back from natural coordinates to joint coordinates: angles, speeds and their derivatives of a motion."""

from __future__ import annotations

import numpy as np

from musclesolve.dynamics.model import Model
from musclesolve.dynamics.motion import Motion
from musclesolve.dynamics.rotation_vector import to_vector
from musclesolve.dynamics.rotations import cardan_rates, rotation_about, to_cardan

Array = np.ndarray


def motion_of(model: Model, time: Array, q: Array, qd: Array, qdd: Array) -> Motion:
    """The motion of natural coordinates (T, N, 3) that satisfy the constraints, with its joint coordinates.

    Speeds solve D s = qd and D ds/dt = qdd - Ddot s, both consistent. The Cardan rates of the base are not defined
    where it is listed by 90 degrees.
    """
    tree, joints = model.tree, model.tree.joint_count
    rotation = model.elements.rotation(q)
    base = rotation[:, tree.root]
    origin = q[:, model.elements.slots[tree.root, 0]] - base @ model.elements.origin[tree.root]
    directions = tree.allowed(q, origin).reshape(len(q), -1, joints + 6)
    orthogonal, triangle = np.linalg.qr(directions)
    speeds = _solve(orthogonal, triangle, qd)
    still = np.zeros_like(speeds)
    bias = tree.acceleration(q, qd, speeds, still, origin, speeds[:, joints : joints + 3])
    speed_rates = _solve(orthogonal, triangle, qdd - bias)

    angles = tree.unwrapped(joint_angles(model, rotation))
    rates, second = tree.rates(angles, speeds[:, :joints], speed_rates[:, :joints])
    cardan = np.stack(to_cardan(base), axis=1)
    cardan_rate, cardan_second = _cardan_derivatives(
        cardan, speeds[:, joints + 3 :], speed_rates[:, joints + 3 :]
    )
    shift = slice(joints, joints + 3)
    return Motion(
        time,
        np.column_stack([angles, origin, cardan]),
        np.column_stack([rates, speeds[:, shift], cardan_rate]),
        np.column_stack([second, speed_rates[:, shift], cardan_second]),
        speeds,
        speed_rates,
        q,
        qd,
        qdd,
    )


def joint_angles(model: Model, rotation: Array) -> Array:
    """Joint coordinates (T, K) [rad] from the rotations of all bodies (T, B, 3, 3).

    For two perpendicular axes a, b with a cross between them, R = R_a R_b, so R b = R_a b shows the first angle.
    """
    tree, topology = model.tree, model.topology
    bodies = len(topology.bodies)
    axes = tree.axes(model.standing[None])[0]
    angles = np.zeros((len(rotation), tree.joint_count))
    across = {int(p): k for k, p in enumerate(tree.parent) if p >= bodies}
    single = np.ones(tree.joint_count, dtype=bool)
    for joints in tree.spherical:
        single[joints] = False
        parent, child = tree.parent[joints[0]], tree.child[joints[0]]
        angles[:, joints] = to_vector(_relative(rotation, parent, child)) @ axes[joints].T
    for k in np.flatnonzero(single & (tree.parent < bodies)):
        parent, child = tree.parent[k], tree.child[k]
        if child < bodies:
            angles[:, k] = _about(axes[k], _relative(rotation, parent, child))
        else:
            second = across[int(child)]
            relative = _relative(rotation, parent, tree.child[second])
            a, b = axes[k], axes[second]
            turned = relative @ b
            angles[:, k] = np.arctan2(np.cross(b, turned) @ a, turned @ b)
            first = rotation_about(a, angles[:, k])
            angles[:, second] = _about(b, np.swapaxes(first, 1, 2) @ relative)
    return angles


def _relative(rotation: Array, parent: int, child: int) -> Array:
    return np.swapaxes(rotation[:, parent], 1, 2) @ rotation[:, child]


def _about(axis: Array, turn: Array) -> Array:
    """Signed angle (T,) of rotations about a known axis."""
    odd = np.stack(
        [turn[:, 2, 1] - turn[:, 1, 2], turn[:, 0, 2] - turn[:, 2, 0], turn[:, 1, 0] - turn[:, 0, 1]], 1
    )
    return np.arctan2(odd @ axis, np.trace(turn, axis1=1, axis2=2) - 1.0)


def _solve(orthogonal: Array, triangle: Array, right: Array) -> Array:
    projected = np.swapaxes(orthogonal, 1, 2) @ right.reshape(len(right), -1, 1)
    return np.linalg.solve(triangle, projected)[..., 0]


def _cardan_derivatives(cardan: Array, spin: Array, twist: Array) -> tuple[Array, Array]:
    """First and second derivatives (T, 3) of Cardan angles from angular velocity and acceleration (T, 3)."""
    still = np.zeros_like(cardan)
    columns = [cardan_rates(cardan, np.broadcast_to(unit, cardan.shape), still)[0] for unit in np.eye(3)]
    matrix = np.stack(columns, axis=2)
    rates = np.linalg.solve(matrix, spin[..., None])[..., 0]
    bias = cardan_rates(cardan, rates, still)[1]
    return rates, np.linalg.solve(matrix, (twist - bias)[..., None])[..., 0]
