"""The one compiled function that Python calls, compiled once for all problems and kept in numba's cache."""

from __future__ import annotations

import hashlib
import logging
from functools import cache
from pathlib import Path
from pickle import PickleError
from typing import Any

import numba
from llvmlite.binding import get_host_cpu_name  # type: ignore[import-untyped]
from numba import njit, types

from musclesolve._util.locks import OneThread
from musclesolve.sharing.kernel.compile import OPTIONS
from musclesolve.sharing.kernel.compiled_certificate import residual_of
from musclesolve.sharing.kernel.compiled_terms import Terms
from musclesolve.sharing.kernel.constants import CERTIFY, CHAIN, IN_ORDER
from musclesolve.sharing.kernel.dual_newton import dual_form
from musclesolve.sharing.kernel.solve_frame import (
    Data,
    Output,
    Workspace,
    bounds_of,
    process_frame,
    reset_warm_start,
)
from musclesolve.sharing.kernel.workspace_layout import RESERVE_WEIGHT, RateBounds

LOG = logging.getLogger("musclesolve")
MESSAGE = "compiling the force-sharing kernel for this machine, once (ten to twenty seconds)"


def _given(kind: Any, axes: int) -> types.Array:
    return types.Array(kind, axes, "C", readonly=True)


_REAL, _WHOLE = types.float64, types.int64
_TABLE, _CUBE, _ROW = _given(_REAL, 2), _given(_REAL, 3), _given(_REAL, 1)
SIGNATURE = (
    *(_WHOLE, _WHOLE, _WHOLE),
    *(_CUBE, _TABLE, _TABLE, _TABLE, _TABLE, _TABLE, _given(types.boolean, 1), _TABLE),
    *(_CUBE, _TABLE, _TABLE),
    *(_given(_WHOLE, 1), _ROW, _TABLE, _given(_WHOLE, 1), _CUBE),
    *(_REAL, _WHOLE, types.boolean),
    *(_ROW, _REAL, _REAL, _REAL[::1], _REAL[::1]),
    *(_REAL[:, ::1], _REAL[:, ::1], _REAL[:, ::1], _REAL[:, ::1]),
    *(types.int8[::1], _REAL[::1], _REAL[::1], _WHOLE[::1], _REAL[:, ::1], _REAL[:, ::1]),
    *(_REAL[::1], _REAL[:, ::1], _REAL[:, ::1], _REAL[:, ::1], _REAL[:, ::1], _WHOLE[::1]),
)


def source_version() -> str:
    """A hash of what numba does not look at: all sources in this folder, and the processor."""
    known = b"".join(file.read_bytes() for file in sorted(Path(__file__).parent.glob("*.py")))
    known += f"{numba.__version__} {get_host_cpu_name()}".encode()
    return hashlib.sha256(known).hexdigest()[:16]


def build_run(version: str) -> Any:
    """The function under a name with this version, which numba names its cache files after; compiled later."""

    def run(
        task, first, last,
        moment_arm, moment, force_capacity, lower, upper, domain, usable, reserve_weight,
        soft_matrix, soft_target, soft_weight,
        kind, exponent, factor, row, coefficient,
        tolerance, max_iterations, allow_reserve,
        time, activation_time, deactivation_time, before, since,
        activation, force, reserve, multiplier, status, residual, cost, iterations, proof, weight,
        w, s, full_matrix, matrix, schur, free,
    ):  # fmt: skip
        terms = Terms(kind, exponent, factor, row, coefficient)
        data = Data(
            moment_arm, moment, force_capacity, lower, upper, domain, usable, reserve_weight,
            soft_matrix, soft_target, soft_weight, terms, dual_form(terms),
        )  # fmt: skip
        output = Output(
            activation, force, reserve, multiplier, status, residual, cost, iterations, proof, weight
        )
        rate = RateBounds(time, activation_time, deactivation_time, before, since)
        work = Workspace(w, s, full_matrix, matrix, schur, free)
        for t in range(first, last):
            if t == first or t % CHAIN == 0:
                reset_warm_start(s)
            if task != CERTIFY:
                known = process_frame(data, t, rate, work, output, tolerance, max_iterations, allow_reserve)
                if task == IN_ORDER and not known:
                    return t
            else:
                bounds_of(data, t, rate, work.w)
                given = data.reserve_weight.size > 0
                for r in range(moment.shape[1]):
                    work.s[RESERVE_WEIGHT, r] = data.reserve_weight[t, r] if given else 0.0
                numbers = activation[t], reserve[t], multiplier[t]
                residual[t] = residual_of(data, t, given, s[RESERVE_WEIGHT], *numbers, w)
        return last

    # numba names its files after the function: other sources, other files
    run.__qualname__ = run.__name__ = f"run_{version}"
    try:
        return njit(cache=True, **OPTIONS)(run)
    except RuntimeError:  # no folder for the cache
        return njit(**OPTIONS)(run)


RUN = build_run(source_version())


def is_kept() -> bool:
    """Whether compiled code of this version is in the cache on disk."""
    folder = RUN.stats.cache_path
    return folder is not None and any(Path(folder).glob(f"*{RUN.py_func.__name__}*.nbc"))


DAMAGED = (
    *(PickleError, EOFError, AttributeError, ImportError, LookupError, TypeError, ValueError, OverflowError),
    *(MemoryError, RuntimeError),
)
"""What numba raises for a cache file that is empty, truncated, or of something else."""

_COMPILING = OneThread()


def compiled_run() -> Any:
    """The function with its one signature, from the cache or compiled now, by one thread."""
    with _COMPILING:
        return _compile_once()


@cache
def _compile_once() -> Any:
    return load_or_compile()


def load_or_compile() -> Any:
    """The function from the cache; compiled where the cache is missing, damaged or not writable."""
    if not is_kept():
        LOG.warning(MESSAGE)
    try:
        RUN.compile(SIGNATURE)
    except OSError:  # the folder exists, but is not writable
        return _compiled_in_memory()
    except DAMAGED as error:
        return _compiled_anew(error)
    RUN.disable_compile()
    return RUN


def _compiled_anew(error: Exception) -> Any:
    """Replace damaged cache files, or compile in memory if they cannot be removed."""
    LOG.warning("the compiled kernel on this disk cannot be read (%s): %s", type(error).__name__, MESSAGE)
    try:
        for file in Path(RUN.stats.cache_path).glob(f"*{RUN.py_func.__name__}*"):
            file.unlink(missing_ok=True)
        RUN.compile(SIGNATURE)
    except OSError:
        return _compiled_in_memory()
    RUN.disable_compile()
    return RUN


def _compiled_in_memory() -> Any:
    run = njit(**OPTIONS)(RUN.py_func)
    run.compile(SIGNATURE)
    run.disable_compile()
    return run
