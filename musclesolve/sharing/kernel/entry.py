"""The one function that Python calls, compiled once for all problems and kept in numba's cache."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from numba import njit, types

from musclesolve.sharing.kernel.compile import OPTIONS
from musclesolve.sharing.kernel.frames import Answer, Data, bounds_of, certificate, room_for, verdict_on
from musclesolve.sharing.kernel.layout import RESERVE_WEIGHT
from musclesolve.sharing.kernel.terms import Terms

SOLVE, CERTIFY = 0, 1


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
    *(_REAL[:, ::1], _REAL[:, ::1], _REAL[:, ::1], _REAL[:, ::1]),
    *(types.int8[::1], _REAL[::1], _REAL[::1], _WHOLE[::1], _REAL[:, ::1], _REAL[:, ::1]),
)


def _sources() -> str:
    """A word that changes with every source of the kernel: numba itself looks at the file of one function only."""
    sharing = Path(__file__).parent.parent
    files = [
        *sorted((sharing / "kernel").glob("*.py")),
        *(sharing / name for name in ("certificate.py", "scale.py", "solving.py", "problem.py", "status.py")),
        *(sharing / "solver" / name for name in ("interior_point.py", "cholesky.py")),
        sharing / "cost" / "terms.py",
    ]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def _made(version: str) -> Any:
    def run(
        task, first, last,
        moment_arm, moment, force_capacity, lower, upper, domain, usable, reserve_weight,
        soft_matrix, soft_target, soft_weight,
        kind, exponent, factor, row, coefficient,
        tolerance, max_iterations, may_help,
        activation, force, reserve, multiplier, status, residual, cost, iterations, proof, weight,
    ):  # fmt: skip
        version  # noqa: B018  a part of what numba knows the function by
        data = Data(
            moment_arm, moment, force_capacity, lower, upper, domain, usable, reserve_weight,
            soft_matrix, soft_target, soft_weight, Terms(kind, exponent, factor, row, coefficient),
        )  # fmt: skip
        answer = Answer(
            activation, force, reserve, multiplier, status, residual, cost, iterations, proof, weight
        )
        room = room_for(data)
        for t in range(first, last):
            if task == SOLVE:
                verdict_on(data, t, room, answer, tolerance, max_iterations, may_help)
            else:
                bounds_of(data, t, room.w)
                given = data.reserve_weight.size > 0
                for r in range(moment.shape[1]):
                    room.s[RESERVE_WEIGHT, r] = data.reserve_weight[t, r] if given else 0.0
                answer.residual[t] = certificate(data, t, given, room.s[RESERVE_WEIGHT], answer, room.w)

    try:
        return njit(cache=True, **OPTIONS)(run)
    except RuntimeError:  # no folder to keep it in
        return njit(**OPTIONS)(run)


run = _made(_sources())
