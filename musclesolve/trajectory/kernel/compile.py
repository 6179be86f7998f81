"""How the functions of the kernel are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

# No "_nrt": nothing is allocated, so numba need not count references. No "nnan" or "ninf": a system that broke down is
# recognised by numbers that are not finite.
OPTIONS: dict[str, Any] = {
    "nogil": True,
    "_nrt": False,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "nsz", "arcp"},
    "no_cfunc_wrapper": True,
}


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a function as a part of those that call it."""
    return njit(**(OPTIONS | {"no_cpython_wrapper": True, "no_rewrites": True}))(function)
