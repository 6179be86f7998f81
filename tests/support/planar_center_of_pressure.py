"""Center of pressure of a planar body after Hof (1992, 9 and 10), signed (correction E1)."""

from __future__ import annotations

import numpy as np

from musclesolve.constants import LOADED_FROM_N, STANDARD_GRAVITY


def planar_center_of_pressure(force: np.ndarray, moment: np.ndarray) -> np.ndarray:
    """Where a planar force meets the ground, y_r = (r_r x F_r)_x / F_r^z (9), signed (correction E1).

    Args:
        force: (T, 2) horizontal and vertical [N].
        moment: (T,) about the origin, positive from the horizontal axis toward the vertical one [N m].

    Returns:
        (T,) [m] along the horizontal axis; NaN where the vertical force is below 20 N.
    """
    loaded = np.where(np.abs(force[:, 1]) < LOADED_FROM_N, np.nan, force[:, 1])
    return moment / loaded


def planar_center_of_pressure_from_motion(
    mass: np.ndarray,
    inertia: np.ndarray,
    center: np.ndarray,
    acceleration: np.ndarray,
    angular_acceleration: np.ndarray,
    gravity: float = STANDARD_GRAVITY,
) -> np.ndarray:
    """Center of pressure of a planar body of n segments from its motion alone (10).

    y_r = [-(r_c x M g)_x + sum (r_i x m_i a_i)_x + sum I_i alpha_i] / (M g + sum m_i a_i^z)

    Args:
        mass: (n,) [kg].
        inertia: (n,) about the mass centers [kg m2].
        center: (T, n, 2) mass centers, horizontal and vertical [m].
        acceleration: (T, n, 2) their accelerations [m/s2].
        angular_acceleration: (T, n), positive from the horizontal axis toward the vertical one [rad/s2].
        gravity: magnitude [m/s2].
    """
    push = mass[:, None] * (acceleration + np.array([0.0, gravity]))
    turned = center[..., 0] * push[..., 1] - center[..., 1] * push[..., 0]
    moment = (turned + inertia * angular_acceleration).sum(axis=1)
    return planar_center_of_pressure(push.sum(axis=1), moment)
