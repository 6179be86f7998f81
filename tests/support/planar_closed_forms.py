"""Hip, knee and ankle reactions of the seven-segment body written out (Blajer & Czaplicki 2005, 3.1-3.3)."""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.dynamics.planar.planar_trajectory import PlanarMotion
from musclesolve.dynamics.planar.planar_tree import PlanarTree
from musclesolve.errors import InputError

LEG = ("thigh", "shank", "foot")


def lower_limb_reactions(
    tree: PlanarTree, motion: PlanarMotion, ground_force: Array, leg: tuple[str, str, str] = LEG
) -> Array:
    """lambda_1 ... lambda_6 in hip, knee and ankle, (T, 6) [N] (3.3), force of the distal on the proximal segment.

    A mass centre off the line of its segment is a distance c at a constant angle from it, so that the printed sines
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


def _arm(local: Array, motion: PlanarMotion, segment: int) -> Array:
    """Second derivative of c (sin phi, -cos phi), (T, 2)."""
    c, turn = np.hypot(*local), np.arctan2(local[1], local[0])
    phi = motion.q[:, 2 + segment] + turn
    rate, second = motion.qd[:, 2 + segment], motion.qdd[:, 2 + segment]
    x = c * second * np.cos(phi) - c * rate**2 * np.sin(phi)
    y = c * second * np.sin(phi) + c * rate**2 * np.cos(phi)
    return np.column_stack([x, y])
