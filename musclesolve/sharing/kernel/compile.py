"""How the functions of the kernel are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

# No "_nrt": nothing is allocated in the kernel, so numba need not count references.
# No "nnan" or "ninf": a frame that broke down is recognised by numbers that are not finite.
OPTIONS: dict[str, Any] = {
    "nogil": True,
    "_nrt": False,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "nsz", "arcp"},
    "no_cfunc_wrapper": True,
}

# for what is only called from compiled code: no entry point from Python, no array expressions to rewrite
WITHIN: dict[str, Any] = OPTIONS | {"no_cpython_wrapper": True, "no_rewrites": True}


def int64(number: int) -> Any:
    """A numpy integer: for each Python integer passed as an argument numba would compile the function anew."""
    return np.int64(number)


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a function as a part of those that call it."""
    return njit(**WITHIN)(function)


def compiled_in_order(function: Callable[..., Any]) -> Any:
    """The same without reordering of sums, for sums so short that vectorising them costs more than it saves."""
    return njit(**(WITHIN | {"fastmath": {"contract", "nsz", "arcp"}}))(function)


def inlined(function: Callable[..., Any]) -> Any:
    """Inline a function that is called once into its caller, before compilation."""
    return njit(inline="always", **WITHIN)(function)
