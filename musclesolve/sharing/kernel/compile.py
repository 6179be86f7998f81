"""How the functions of the kernel are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

# No "_nrt": nothing is allocated in the kernel, and numba need not count who holds which array.
# No "nnan" or "ninf": numbers that are not finite are how a frame shows that it broke down.
OPTIONS: dict[str, Any] = {
    "nogil": True,
    "_nrt": False,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "nsz", "arcp"},
    "no_cfunc_wrapper": True,
}

# what is only called from compiled code needs no door from Python; nor are there array expressions to be rewritten
WITHIN: dict[str, Any] = OPTIONS | {"no_cpython_wrapper": True, "no_rewrites": True}


def whole(number: int) -> Any:
    """An integer of numpy's: for each one of Python's that is handed on, numba would compile a function anew."""
    return np.int64(number)


def compiled(function: Callable[..., Any]) -> Any:
    """A function that is compiled as a part of those that call it."""
    return njit(**WITHIN)(function)


def compiled_in_order(function: Callable[..., Any]) -> Any:
    """One whose sums are of so few numbers that taking several at once costs more than it saves."""
    return njit(**(WITHIN | {"fastmath": {"contract", "nsz", "arcp"}}))(function)


def inlined(function: Callable[..., Any]) -> Any:
    """A function whose text is put into the one that calls it, before it is compiled: for what is called once."""
    return njit(inline="always", **WITHIN)(function)
