"""The one function that Python calls, compiled once for all problems and kept in numba's cache."""

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

from musclesolve._util.one_thread import OneThread
from musclesolve.sharing.kernel.compile import OPTIONS
from musclesolve.sharing.kernel.compiled_certificate import residual_of
from musclesolve.sharing.kernel.compiled_solver import CERTIFY, CHAIN, IN_ORDER
from musclesolve.sharing.kernel.compiled_terms import Terms
from musclesolve.sharing.kernel.dual_newton import known_cost
from musclesolve.sharing.kernel.frame_verdict import Answer, Data, Pace, Room, bounds_of, forget, verdict_on
from musclesolve.sharing.kernel.workspace_layout import RESERVE_WEIGHT

LOG = logging.getLogger("musclesolve")
MESSAGE = "compiling the force-sharing kernel for this machine, once (some ten seconds)"


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


def _version() -> str:
    """A word for what numba does not look at: the other sources of the kernel, and the processor."""
    sharing = Path(__file__).parent.parent
    files = [
        *sorted((sharing / "kernel").glob("*.py")),
        *(
            sharing / name
            for name in (
                "certificate.py",
                "problem_scale.py",
                "solving.py",
                "reserve_weight.py",
                "problem.py",
                "status.py",
            )
        ),
        *(sharing / "solver" / name for name in ("interior_point.py", "cholesky.py")),
        sharing / "cost" / "cost_terms.py",
    ]
    known = b"".join(file.read_bytes() for file in files)
    known += f"{numba.__version__} {get_host_cpu_name()}".encode()
    return hashlib.sha256(known).hexdigest()[:16]


def _made(version: str) -> Any:
    def run(
        task, first, last,
        moment_arm, moment, force_capacity, lower, upper, domain, usable, reserve_weight,
        soft_matrix, soft_target, soft_weight,
        kind, exponent, factor, row, coefficient,
        tolerance, max_iterations, may_help,
        time, activation_time, deactivation_time, before, since,
        activation, force, reserve, multiplier, status, residual, cost, iterations, proof, weight,
        w, s, whole, matrix, schur, free,
    ):  # fmt: skip
        terms = Terms(kind, exponent, factor, row, coefficient)
        data = Data(
            moment_arm, moment, force_capacity, lower, upper, domain, usable, reserve_weight,
            soft_matrix, soft_target, soft_weight, terms, known_cost(terms),
        )  # fmt: skip
        answer = Answer(
            activation, force, reserve, multiplier, status, residual, cost, iterations, proof, weight
        )
        pace = Pace(time, activation_time, deactivation_time, before, since)
        room = Room(w, s, whole, matrix, schur, free)
        for t in range(first, last):
            if t == first or t % CHAIN == 0:
                forget(s)
            if task != CERTIFY:
                known = verdict_on(data, t, pace, room, answer, tolerance, max_iterations, may_help)
                if task == IN_ORDER and not known:
                    return t
            else:
                bounds_of(data, t, pace, room.w)
                given = data.reserve_weight.size > 0
                for r in range(moment.shape[1]):
                    room.s[RESERVE_WEIGHT, r] = data.reserve_weight[t, r] if given else 0.0
                numbers = activation[t], reserve[t], multiplier[t]
                residual[t] = residual_of(data, t, given, s[RESERVE_WEIGHT], *numbers, w)
        return last

    # numba names its files after the function: other sources, other files
    run.__qualname__ = run.__name__ = f"run_{version}"
    try:
        return njit(cache=True, **OPTIONS)(run)
    except RuntimeError:  # no folder to keep it in
        return njit(**OPTIONS)(run)


_run = _made(_version())


def is_kept() -> bool:
    """Whether the compiled code lies on this disk, for this processor."""
    folder = _run.stats.cache_path
    return folder is not None and any(Path(folder).glob(f"*{_run.py_func.__name__}*.nbc"))


DAMAGED = (
    *(PickleError, EOFError, AttributeError, ImportError, LookupError, TypeError, ValueError, OverflowError),
    *(MemoryError, RuntimeError),
)
"""What reading a file of numba's leads to that is empty, cut short, or of something else."""


_COMPILING = OneThread()


def compiled_run() -> Any:
    """The function, with its one signature, from the disk or compiled now; of many threads the first one does it."""
    with _COMPILING:
        return _compiled_once()


@cache
def _compiled_once() -> Any:
    if not is_kept():
        LOG.warning(MESSAGE)
    try:
        _run.compile(SIGNATURE)
    except OSError:  # the folder was there, but nothing can be written to it
        return _compiled_in_memory()
    except DAMAGED as error:
        return _compiled_anew(error)
    _run.disable_compile()
    return _run


def _compiled_anew(error: Exception) -> Any:
    """In the place of damaged files, or in memory if they cannot be removed."""
    LOG.warning("the compiled kernel on this disk cannot be read (%s): %s", type(error).__name__, MESSAGE)
    try:
        for file in Path(_run.stats.cache_path).glob(f"*{_run.py_func.__name__}*"):
            file.unlink(missing_ok=True)
        _run.compile(SIGNATURE)
    except OSError:
        return _compiled_in_memory()
    _run.disable_compile()
    return _run


def _compiled_in_memory() -> Any:
    run = njit(**OPTIONS)(_run.py_func)
    run.compile(SIGNATURE)
    run.disable_compile()
    return run
