"""The balance of tendon and fiber with its derivatives, compiled: one pass over frames and muscles.

With u = L_MT - l_T(z), l_T = r + s z, and the share w of L0 (elastic_muscles.py) the fiber along the tendon is

    x = (u + R) / 2,   R = sqrt(u^2 + w^2),      x_z = -s x / R,   x_zz = s^2 w^2 / (2 R^3),

and with the thickness h of the muscle l = sqrt(x^2 + h^2), c = cos(alpha) = x / l,

    l_z = c x_z,   l_zz = k x_z^2 + c x_zz,   c_z = k x_z,   c_zz = k x_zz - 3 k c / l x_z^2,   k = h^2 / l^3.

The fiber velocity is v = (dL_MT/dt - s y) c. Capacity g = f_l f_v c and passive force p = F_p / F0 f_p c follow by the
product rule (motion_problem.py). Each cubic of a curve lies in one cache line.
"""

from pathlib import Path
from typing import Any

import numpy as np

from musclesolve._util.compiled_code import compiled, on_disk
from musclesolve.trajectory.chain_kernel import MESSAGE

FIELDS = 18
"""Tendon force, passive force by z; capacity with z, y, zz, zy, yy; l, l_z, v; cosine by z."""
QUANTITIES = 9
"""Of a muscle: rest and stretch of the tendon, width, thickness, L0, fastest velocity, zero and span of the passive
curve over L0, F_p / F0.
"""


@compiled
def curve_at(grid: Any, cubic: Any, x: float) -> tuple[float, float, float]:
    """Value, slope and curvature of the cubics (steps, 4) over a grid: first, last, step and number of steps."""
    first, last, steps = grid[0], grid[1], cubic.shape[0]
    if not (x > first or x < last):  # NaN
        return x, x, x
    inside = min(max(x, first), last)
    place = min(int((inside - first) / grid[2]), steps - 1)
    u, c = inside - (first + place * grid[2]), cubic[place]
    slope = c[1] + u * (2.0 * c[2] + 3.0 * u * c[3])
    value = c[0] + u * (c[1] + u * (c[2] + u * c[3])) + slope * (x - inside)
    return value, slope, 2.0 * c[2] + 6.0 * u * c[3] if x == inside else 0.0


def balance(muscle, column, grids, active, velocity, passive, tendon, length, rate, z, y, out):
    """The 18 numbers of `FIELDS` of each muscle and frame, (18, T, n).

    muscle (n, 9): of `QUANTITIES`; column (4, n): the curves of a muscle, (curves, steps, 4) each over its grid (4,);
    length, rate, z, y (T, n): musculotendon length and its rate, tendon coordinate and its rate.
    """
    frames, muscles = z.shape
    for t in range(frames):
        for i in range(muscles):
            m = muscle[i]
            stretch, width, thick, optimal, fastest = m[1], m[2], m[3], m[4], m[5]
            free = length[t, i] - m[0] - stretch * z[t, i]
            root = np.sqrt(free * free + width * width)
            along = 0.5 * (free + root) if free > 0.0 else 0.5 * width * width / (root - free)
            x_z = -stretch * along / root
            x_zz = 0.5 * (stretch * width) ** 2 / (root * root * root)
            fiber = np.sqrt(along * along + thick * thick)
            c = along / fiber
            bend = thick * thick / (fiber * fiber * fiber)
            l_z, l_zz = c * x_z, bend * x_z * x_z + c * x_zz
            c_z, c_zz = bend * x_z, bend * x_zz - 3.0 * bend * c / fiber * x_z * x_z

            speed, by_y = (rate[t, i] - stretch * y[t, i]) / fastest, -stretch / fastest
            v = speed * c
            factor, slope, curvature = curve_at(grids[1], velocity[column[1, i]], v)
            v_z, v_y = speed * c_z, by_y * c
            f_z, f_y = slope * v_z, slope * v_y
            f_zz = curvature * v_z * v_z + slope * speed * c_zz
            f_zy = curvature * v_z * v_y + slope * by_y * c_z

            a, d, dd = curve_at(grids[0], active[column[0, i]], fiber / optimal)
            first, second = l_z / optimal, l_zz / optimal
            a_z, a_zz = d * first, dd * first * first + d * second
            g, g_z, g_zz = a * c, a_z * c + a * c_z, a_zz * c + 2.0 * a_z * c_z + a * c_zz
            out[6, t, i] = g * factor
            out[7, t, i] = g_z * factor + g * f_z
            out[8, t, i] = g * f_y
            out[9, t, i] = g_zz * factor + 2.0 * g_z * f_z + g * f_zz
            out[10, t, i] = g_z * f_y + g * f_zy
            out[11, t, i] = g * curvature * v_y * v_y

            span = m[7] * optimal
            p, d, dd = curve_at(grids[2], passive[column[2, i]], (fiber - m[6] * optimal) / span)
            first, second = l_z / span, l_zz / span
            p_z, p_zz = d * first, dd * first * first + d * second
            out[3, t, i] = m[8] * p * c
            out[4, t, i] = m[8] * (p_z * c + p * c_z)
            out[5, t, i] = m[8] * (p_zz * c + 2.0 * p_z * c_z + p * c_zz)

            f, d, dd = curve_at(grids[3], tendon[column[3, i]], z[t, i])
            out[0, t, i], out[1, t, i], out[2, t, i] = f, d, dd
            out[12, t, i], out[13, t, i], out[14, t, i] = fiber, l_z, v * fastest
            out[15, t, i], out[16, t, i], out[17, t, i] = c, c_z, c_zz


BALANCE = on_disk(MESSAGE, Path(__file__))(balance, "r2 i2 r2 r3 r3 r3 r3 r2? r2? r2? r2? r3")
