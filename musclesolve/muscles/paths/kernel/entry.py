"""The one compiled function that Python calls, kept in numba's cache."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numba
from llvmlite.binding import get_host_cpu_name  # type: ignore[import-untyped]
from numba import njit, types

from musclesolve.muscles.paths.kernel.arrays import Layout, Output, Poses, Work
from musclesolve.muscles.paths.kernel.compile import OPTIONS
from musclesolve.muscles.paths.kernel.path_length import solve_muscle


def source_version() -> str:
    """A hash of what numba does not look at: all sources in this folder, and the processor."""
    known = b"".join(file.read_bytes() for file in sorted(Path(__file__).parent.glob("*.py")))
    known += f"{numba.__version__} {get_host_cpu_name()}".encode()
    return hashlib.sha256(known).hexdigest()[:16]


def _record(kind: Any, **fields: tuple[Any, int]) -> types.NamedTuple:
    """The numba type of a named tuple of read-only arrays."""
    return types.NamedTuple([types.Array(*field, "C", readonly=True) for field in fields.values()], kind)


_REAL, _WHOLE = types.float64, types.intp
SIGNATURE = (
    types.NamedTuple(
        [types.Array(kind, axes, "C", readonly=True) for kind, axes in (
            (_WHOLE, 1), (_WHOLE, 1), (_WHOLE, 1), (_WHOLE, 2), (_WHOLE, 1),
            (_REAL, 2), (_REAL, 1), (_WHOLE, 1), (_REAL, 1),
        )],
        Layout,
    ),
    types.NamedTuple(
        [types.Array(kind, axes, "C", readonly=True) for kind, axes in (
            (_REAL, 3), (types.boolean, 2), (_REAL, 3), (_REAL, 4),
        )],
        Poses,
    ),
    types.NamedTuple([_REAL[:, ::1], _REAL[:, :, ::1], _REAL[:, :, ::1], _REAL[:, ::1]], Output),
    types.NamedTuple([_WHOLE[::1], _REAL[:, ::1], _REAL[::1], _REAL[::1], _REAL[::1]], Work),
)  # fmt: skip


def build_run(version: str) -> Any:
    """The function under a name with this version, which numba names its cache files after."""

    def run(layout, poses, out, work):
        for t in range(out.length.shape[0]):
            for muscle in range(out.length.shape[1]):
                solve_muscle(layout, poses, out, work, t, muscle)

    run.__qualname__ = run.__name__ = f"paths_{version}"
    try:
        return njit(cache=True, **OPTIONS)(run)
    except RuntimeError:  # no folder for the cache
        return njit(**OPTIONS)(run)


RUN = build_run(source_version())
