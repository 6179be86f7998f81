"""Independent checks of planar reactions: the classical formula, implicit constraints, and printed closed forms.

Implicit constraints of a planar tree (Blajer & Czaplicki 2005, 2.1): z = Phi(p) = 0, C(p) pd = 0, C pdd = xi(p, pd),
and the reactions that need the inverse of the mass matrix (2.11). Hip, knee and ankle reactions of the seven-segment
body written out (3.1-3.3).
"""

from __future__ import annotations

import numpy as np

from benchmarks.planar.planar_dynamics import mass_diagonal, weight_force
from benchmarks.planar.planar_tree import bias, place, rotated
from musclesolve.errors import InputError

LEG = ("thigh", "shank", "foot")


def lower_limb_reactions(
    tree, motion, ground_force: np.ndarray, leg: tuple[str, str, str] = LEG
) -> np.ndarray:
    """lambda_1 ... lambda_6 in hip, knee and ankle, (T, 6) [N] (3.3), force of the distal on the proximal segment.

    A mass center off the line of its segment is a distance c at a constant angle from it, so that the printed sines
    and cosines stand with phi + that angle; likewise for the lengths l.

    Args:
        tree: a body whose base point is the hip and whose leg hangs from it.
        motion: its motion.
        ground_force: (T, 2) on the foot, R_x and R_y [N].
        leg: names of thigh, shank and foot.

    Raises:
        InputError: these segments are not a leg that ends with the foot and hangs from the base point.
    """
    two, three, four = (tree.segment(name) for name in leg)
    chained = [int(tree.parent[b]) for b in (two, three, four)] == [tree.root, two, three]
    if not chained or tree.mount[two].any() or tree.distal_segments[:, two].sum() != 3.0:
        raise InputError(
            f"{', '.join(leg)} are no leg of three segments on the base point",
            code="conflict",
            expected="thigh mounted at (0, 0) of the base segment, shank on it, foot last",
            remedy="`joint_reactions` takes any body",
        )
    m2, m3, m4 = tree.mass[[two, three, four]]
    c2, c3, c4 = (_arm(tree.center[b], motion, b) for b in (two, three, four))
    l2, l3 = _arm(tree.mount[three], motion, two), _arm(tree.mount[four], motion, three)
    hip = motion.qdd[:, :2]
    thigh, shank, foot = m2 * (hip + c2), m3 * (hip + l2 + c3), m4 * (hip + l2 + l3 + c4)
    down = np.array([0.0, -tree.gravity])
    return np.column_stack(
        [
            ground_force + (m2 + m3 + m4) * down - thigh - shank - foot,
            ground_force + (m3 + m4) * down - shank - foot,
            ground_force + m4 * down - foot,
        ]
    )


def _arm(local: np.ndarray, motion, segment: int) -> np.ndarray:
    """Second derivative of c (sin phi, -cos phi), (T, 2)."""
    c, turn = np.hypot(*local), np.arctan2(local[1], local[0])
    phi = motion.q[:, 2 + segment] + turn
    rate, second = motion.qd[:, 2 + segment], motion.qdd[:, 2 + segment]
    x = c * second * np.cos(phi) - c * rate**2 * np.sin(phi)
    y = c * second * np.sin(phi) + c * rate**2 * np.cos(phi)
    return np.column_stack([x, y])


def joint_reactions_classical(tree, q: np.ndarray, qd: np.ndarray, force: np.ndarray) -> np.ndarray:
    """Joint reactions lambda = (C M^-1 C^T)^-1 C (M^-1 h - gamma), (T, 2J) [N] (2.11).

    Needs no accelerations, hence every applied force and couple in `force` (T, 3B); gravity is added here.
    """
    jacobian, diagonal = constraint_jacobian(tree, place(tree, q)), mass_diagonal(tree)
    free = (force + weight_force(tree)) / diagonal - bias(tree, q, qd)
    light = jacobian / diagonal
    right = np.einsum("tci,ti->tc", jacobian, free)
    return np.linalg.solve(light @ np.swapaxes(jacobian, 1, 2), right[..., None])[..., 0]


def open_coordinates(tree, p: np.ndarray) -> np.ndarray:
    """Openings of the joints z = Phi(p), (T, 2J) (2.1; Blajer et al. 2006, 5 and 7 with the sign of correction E3)."""
    child, parent, near, far = _ends(tree)
    center, angle = _split(p)
    distal = center[:, child] + rotated(near, angle[:, child])
    proximal = center[:, parent] + rotated(far, angle[:, parent])
    return (distal - proximal).reshape(len(p), -1)


def constraint_jacobian(tree, p: np.ndarray) -> np.ndarray:
    """C = dPhi/dp, (T, 2J, 3B) (2.1)."""
    child, parent, near, far = _ends(tree)
    _, angle = _split(p)
    joint = np.arange(len(child))
    jacobian = np.zeros((len(p), len(child), 2, len(tree.names), 3), dtype=p.dtype)
    for axis in range(2):
        jacobian[:, joint, axis, child, axis] = 1.0
        jacobian[:, joint, axis, parent, axis] = -1.0
        jacobian[:, joint, axis, child, 2] = rotated(near, angle[:, child] + 0.5 * np.pi)[..., axis]
        jacobian[:, joint, axis, parent, 2] = -rotated(far, angle[:, parent] + 0.5 * np.pi)[..., axis]
    return jacobian.reshape(len(p), 2 * len(child), -1)


def constraint_bias(tree, p: np.ndarray, pd: np.ndarray) -> np.ndarray:
    """Accelerations xi = -Cd pd that the joints ask for, (T, 2J) (2.1)."""
    child, parent, near, far = _ends(tree)
    (_, angle), (_, rate) = _split(p), _split(pd)
    distal = rotated(near, angle[:, child]) * rate[:, child, None] ** 2
    proximal = rotated(far, angle[:, parent]) * rate[:, parent, None] ** 2
    return (distal - proximal).reshape(len(p), -1)


def _ends(tree):
    """Child and parent of each joint (J,), and the joint as seen from their centers of mass (J, 2)."""
    child = tree.joints
    parent = tree.parent[child]
    return child, parent, -tree.center[child], tree.mount[child] - tree.center[parent]


def _split(p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Centers of mass (T, B, 2) and angles (T, B)."""
    center = p.reshape(len(p), -1, 3)
    return center[..., :2], center[..., 2]
