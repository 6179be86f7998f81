"""How well control points tell where a camera stands."""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array


def distance_and_error(coefficients: Array, slopes: Array) -> tuple[float, float]:
    """Return the distance of a camera from the origin, and the standard deviation of its center for pixel errors of
    one.

    The center C solves M (C, 1) = 0, M = [A | b] the projection matrix (3, 4), so that A dC = -dM (C, 1). With the
    covariance (J^T J)^-1 of the coefficients (11,), J their slopes (2n, 11) in the least-squares problem, the root of
    the trace of the covariance of C follows, to first order. Both are infinite for a parallel projection.
    """
    matrix = np.append(coefficients, 1.0).reshape(3, 4)
    if np.linalg.cond(matrix[:, :3]) > 1e12:
        return np.inf, np.inf
    inverse = np.linalg.inv(matrix[:, :3])
    place = np.append(-inverse @ matrix[:, 3], 1.0)
    # dC by the eleven coefficients, row after row of M; its last element is one and has none.
    by_coefficient = -np.kron(inverse, place)[:, :11]
    triangle = np.linalg.qr(slopes)[1]
    error = np.linalg.norm(np.linalg.solve(triangle.T, by_coefficient.T))
    return float(np.linalg.norm(place[:3])), float(error)
