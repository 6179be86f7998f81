"""How the functions of the path engine are compiled, and vectors of three numbers as parts of its work array."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any

from numba import njit

# No "_nrt": nothing is allocated, so numba need not count references. No "nnan" or "ninf": a pose that is not finite
# must give a length that is not finite.
OPTIONS: dict[str, Any] = {
    "nogil": True,
    "_nrt": False,
    "error_model": "numpy",
    "fastmath": {"contract", "nsz", "arcp"},
    "no_cfunc_wrapper": True,
}


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a function as a part of those that call it."""
    return njit(**(OPTIONS | {"no_cpython_wrapper": True, "no_rewrites": True}))(function)


@compiled
def dot(work, a, b):
    """Product of the vectors at two places."""
    return work[a] * work[b] + work[a + 1] * work[b + 1] + work[a + 2] * work[b + 2]


@compiled
def cross(work, a, b, to):
    """Put the vector product of the vectors at `a` and `b` at another place."""
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        work[to + k] = work[a + i] * work[b + j] - work[a + j] * work[b + i]


@compiled
def resize(work, a, size):
    """Give the vector at a place another length."""
    factor = size / sqrt(dot(work, a, a))
    for k in range(3):
        work[a + k] *= factor


@compiled
def straight_parts(ends, contact):
    """The two straight parts less the straight line [m]."""
    first, last, line = 0.0, 0.0, 0.0
    for k in range(3):
        first += (contact[k] - ends[0, k]) ** 2
        last += (contact[3 + k] - ends[1, k]) ** 2
        line += (ends[1, k] - ends[0, k]) ** 2
    return sqrt(first) + sqrt(last) - sqrt(line)
