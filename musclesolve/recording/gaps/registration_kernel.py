"""Least-squares rigid displacements of shapes, frame by frame, compiled.

With M = sum_k (r_k - r)(p_k - p)^T of a reference shape r_k and measured points p_k about their means, the rotation
that makes sum_k |R (r_k - r) - (p_k - p)|^2 least has for its unit quaternion the eigenvector of the largest eigenvalue
of the symmetric matrix

    N = [ trace M    d^T                   ]      d = (M_yz - M_zy, M_zx - M_xz, M_xy - M_yx)
        [ d          M + M^T - (trace M) 1 ]

(Horn 1987, J Opt Soc Am A 4:629-42), which is never a reflection. The eigenvector is found by Jacobi's rotations.
"""

from math import sqrt
from pathlib import Path

from numba import types

from musclesolve._util.compiled_code import OPTIONS, CompiledFunction, compiled, source_version

SWEEPS = 20
"""Jacobi's method converges quadratically: six sweeps make a matrix of four rows diagonal to round-off."""
NEGLIGIBLE = 1e-30
"""Sum of squares beside the diagonal, as a share of all elements, below which a matrix is diagonal to round-off."""


@compiled
def diagonalise(matrix, vectors):
    """Make a symmetric matrix (4, 4) diagonal in place; vectors (4, 4): its eigenvectors as columns."""
    for i in range(4):
        for j in range(4):
            vectors[i, j] = 1.0 if i == j else 0.0
    for _ in range(SWEEPS):
        beside, all_squares = 0.0, 0.0
        for i in range(4):
            all_squares += matrix[i, i] * matrix[i, i]
            for j in range(i):
                beside += matrix[i, j] * matrix[i, j]
        if not beside > NEGLIGIBLE * (all_squares + beside):
            break
        for i in range(3):
            for j in range(i + 1, 4):
                if matrix[i, j] == 0.0:
                    continue
                theta = 0.5 * (matrix[j, j] - matrix[i, i]) / matrix[i, j]
                tangent = 1.0 / (abs(theta) + sqrt(theta * theta + 1.0))
                if theta < 0.0:
                    tangent = -tangent
                cosine = 1.0 / sqrt(tangent * tangent + 1.0)
                sine = tangent * cosine
                for k in range(4):
                    one, other = matrix[k, i], matrix[k, j]
                    matrix[k, i], matrix[k, j] = cosine * one - sine * other, sine * one + cosine * other
                for k in range(4):
                    one, other = matrix[i, k], matrix[j, k]
                    matrix[i, k], matrix[j, k] = cosine * one - sine * other, sine * one + cosine * other
                    one, other = vectors[k, i], vectors[k, j]
                    vectors[k, i], vectors[k, j] = cosine * one - sine * other, sine * one + cosine * other


@compiled
def set_quaternion(m, work, quaternion):
    """The unit quaternion (4,) of the rotation for a correlation M (3, 3); work (2, 4, 4)."""
    matrix, vectors = work[0], work[1]
    trace = m[0, 0] + m[1, 1] + m[2, 2]
    matrix[0, 0] = trace
    for x in range(3):
        y, z = (x + 1) % 3, (x + 2) % 3
        matrix[0, 1 + x] = matrix[1 + x, 0] = m[y, z] - m[z, y]
        for other in range(3):
            matrix[1 + x, 1 + other] = m[x, other] + m[other, x] - (trace if x == other else 0.0)
    diagonalise(matrix, vectors)
    largest = 0
    for k in range(1, 4):
        if matrix[k, k] > matrix[largest, largest]:
            largest = k
    for k in range(4):
        quaternion[k] = vectors[k, largest]


def register_shapes(reference, places, first, points, work, rotation, translation, residual):
    """Displacements of C shapes to points (T, n, 3) [m]: R (C, T, 3, 3), d (C, T, 3) and rms distance (C, T) [m].

    reference (M, 3) [m]: the points of all shapes, one shape after the other; first (C+1,): their begins; places (M,):
    number of each among the n points. work: (2, 4, 4), (5, 3) and (4,).
    """
    square, rows, quaternion = work
    center, middle, correlation = rows[0], rows[1], rows[2:5]
    for c in range(first.size - 1):
        start, stop = first[c], first[c + 1]
        count = stop - start
        for x in range(3):
            center[x] = 0.0
            for k in range(start, stop):
                center[x] += reference[k, x] / count
        for t in range(points.shape[0]):
            for x in range(3):
                middle[x] = 0.0
                for k in range(start, stop):
                    middle[x] += points[t, places[k], x] / count
            for x in range(3):
                for y in range(3):
                    correlation[x, y] = 0.0
                    for k in range(start, stop):
                        apart = points[t, places[k], y] - middle[y]
                        correlation[x, y] += (reference[k, x] - center[x]) * apart
            set_quaternion(correlation, square, quaternion)
            w = quaternion[0]
            turned = rotation[c, t]
            for x in range(3):
                y, z = (x + 1) % 3, (x + 2) % 3
                i, j, k = quaternion[1 + x], quaternion[1 + y], quaternion[1 + z]
                turned[x, x] = w * w + i * i - j * j - k * k
                turned[x, y] = 2.0 * (i * j - w * k)
                turned[y, x] = 2.0 * (i * j + w * k)
            squares = 0.0
            for x in range(3):
                translation[c, t, x] = middle[x]
                for y in range(3):
                    translation[c, t, x] -= turned[x, y] * center[y]
            for k in range(start, stop):
                for x in range(3):
                    apart = translation[c, t, x] - points[t, places[k], x]
                    for y in range(3):
                        apart += turned[x, y] * reference[k, y]
                    squares += apart * apart
            residual[c, t] = sqrt(squares / count)


_REAL = types.float64
_MATRIX = types.Array(_REAL, 2, "C", readonly=True)
_FRAMES = types.Array(_REAL, 3, "C", readonly=True)
_INDICES = types.Array(types.intp, 1, "C", readonly=True)
REGISTER = CompiledFunction(
    register_shapes,
    (
        *(_MATRIX, _INDICES, _INDICES, _FRAMES),
        types.Tuple((_REAL[:, :, ::1], _REAL[:, ::1], _REAL[::1])),
        *(_REAL[:, :, :, ::1], _REAL[:, :, ::1], _REAL[:, ::1]),
    ),
    OPTIONS,
    source_version(Path(__file__)),
    "compiling the registration of marker clusters for this machine, once (some seconds)",
)
