"""Geodesics of an ellipsoid.

On the surface q.Dq = 1, D = diag(1 / a_i^2), a curve of unit speed without lateral acceleration follows

    q'' = -(q'.Dq') / (q.D^2 q) Dq

(do Carmo, Differential Geometry of Curves and Surfaces, 4-4: the acceleration is along the normal Dq; its size follows
from differentiating q.Dq = 1 twice).
"""

from __future__ import annotations

from musclesolve.muscles.paths.kernel.arrays import HEADING, INVERSE, POINT
from musclesolve.muscles.paths.kernel.compile import compiled

STEPS = 48
"""Runge-Kutta steps of a geodesic; the step is a fraction of its length, so that the end depends smoothly on it."""


@compiled
def follow(work, length):
    """Move POINT and HEADING of the work array along the geodesic; INVERSE is the diagonal of D."""
    step = length / STEPS
    for _ in range(STEPS):
        advance(work, step)


@compiled
def advance(work, step):
    """One step of the classical fourth-order method for q'' = f(q, q')."""
    x, y, z = work[POINT], work[POINT + 1], work[POINT + 2]
    u, v, w = work[HEADING], work[HEADING + 1], work[HEADING + 2]
    diagonal = work[INVERSE], work[INVERSE + 1], work[INVERSE + 2]
    half = 0.5 * step
    k1 = _bend(diagonal, x, y, z, u, v, w)
    u2, v2, w2 = u + half * k1[0], v + half * k1[1], w + half * k1[2]
    k2 = _bend(diagonal, x + half * u, y + half * v, z + half * w, u2, v2, w2)
    u3, v3, w3 = u + half * k2[0], v + half * k2[1], w + half * k2[2]
    k3 = _bend(diagonal, x + half * u2, y + half * v2, z + half * w2, u3, v3, w3)
    u4, v4, w4 = u + step * k3[0], v + step * k3[1], w + step * k3[2]
    k4 = _bend(diagonal, x + step * u3, y + step * v3, z + step * w3, u4, v4, w4)
    sixth = step / 6.0
    work[POINT] = x + sixth * (u + 2.0 * (u2 + u3) + u4)
    work[POINT + 1] = y + sixth * (v + 2.0 * (v2 + v3) + v4)
    work[POINT + 2] = z + sixth * (w + 2.0 * (w2 + w3) + w4)
    work[HEADING] = u + sixth * (k1[0] + 2.0 * (k2[0] + k3[0]) + k4[0])
    work[HEADING + 1] = v + sixth * (k1[1] + 2.0 * (k2[1] + k3[1]) + k4[1])
    work[HEADING + 2] = w + sixth * (k1[2] + 2.0 * (k2[2] + k3[2]) + k4[2])


@compiled
def _bend(diagonal, x, y, z, u, v, w):
    """Acceleration of a curve at x, y, z with the direction u, v, w."""
    d, e, f = diagonal
    nx, ny, nz = d * x, e * y, f * z
    size = -(d * u * u + e * v * v + f * w * w) / (nx * nx + ny * ny + nz * nz)
    return size * nx, size * ny, size * nz
