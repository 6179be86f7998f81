"""Vectors of three numbers as parts of a work array."""

from math import sqrt

from musclesolve._util.compiled_code import compiled_in_order


@compiled_in_order
def dot(work, a, b):
    """Product of the vectors at two places."""
    return work[a] * work[b] + work[a + 1] * work[b + 1] + work[a + 2] * work[b + 2]


@compiled_in_order
def cross(work, a, b, to):
    """Store the vector product of the vectors at `a` and `b` at the place `to`."""
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        work[to + k] = work[a + i] * work[b + j] - work[a + j] * work[b + i]


@compiled_in_order
def resize(work, a, size):
    """Scale the vector at a place to the length `size`."""
    factor = size / sqrt(dot(work, a, a))
    for k in range(3):
        work[a + k] *= factor


@compiled_in_order
def straight_parts(ends, contact):
    """Length of the two straight parts minus the length of the straight line [m]."""
    first, last, line = 0.0, 0.0, 0.0
    for k in range(3):
        first += (contact[k] - ends[0, k]) ** 2
        last += (contact[3 + k] - ends[1, k]) ** 2
        line += (ends[1, k] - ends[0, k]) ** 2
    return sqrt(first) + sqrt(last) - sqrt(line)
