"""Closing a mechanism: positions by Newton-Raphson in the sense of least squares, then velocities, accelerations.

Redundant rows do no harm, and what nothing drives stays as near the start as it can. An angle driver by scalar
product has no gradient where its directions are parallel, so a start with a driven joint at 0 or 180 degrees, though
guided to about 90, stays there and is reported as open (correction B3).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from musclesolve.dynamics.mechanism import Kind, Rows, all_rows
from musclesolve.dynamics.redundancy import least_squares
from musclesolve.errors import InputError, MuscleSolveError

Array = np.ndarray

_LONGEST_STEP = 0.3
"""Longest move of a coordinate in one step [m or 1]; keeps a distant start on track."""

_SHOWN = 4
"""How many rows a message names."""


def assemble(
    kinds: Iterable[Kind],
    time: Array,
    start: Array,
    coordinate_names: tuple[str, ...] = (),
    tolerance: float = 1e-10,
    max_iterations: int = 100,
) -> Array:
    """Pose of every frame that satisfies all rows (Silva 2003, 2.6, 5.7).

    Args:
        kinds: what the mechanism consists of.
        time: (T,) [s], for the drivers.
        start: (T, N, 3) first guess.
        coordinate_names: names of the N points and vectors, for messages.
        tolerance: how well every row is to be met [m or 1].
        max_iterations: give up after so many steps.

    Returns:
        (T, N, 3).

    Raises:
        InputError: a coordinate of the start is not a finite number.
        MuscleSolveError: the rows contradict each other, as in a loop that cannot close; names them with the amounts.
    """
    kinds = list(kinds)
    check_finite(start, coordinate_names)
    q = np.array(start, dtype=float)
    for _ in range(max_iterations):
        rows = all_rows(kinds, time, q)
        step = -least_squares(rows.jacobian.reshape(len(q), -1, 3 * q.shape[1]), rows.value).reshape(q.shape)
        largest = np.abs(step).max(axis=(1, 2), keepdims=True)
        q = q + step * np.minimum(1.0, _LONGEST_STEP / np.maximum(largest, 1e-12))
        if largest.max() < tolerance:
            break
    rows = all_rows(kinds, time, q)
    _check_closed(rows, violation(rows), tolerance)
    return q


def violation(rows: Rows) -> Array:
    """How far each row is from being met: its value over the length of its gradient, (T, c) [m or 1]."""
    slope = np.linalg.norm(rows.jacobian.reshape(*rows.value.shape, -1), axis=2)
    return np.abs(rows.value) / np.maximum(slope, 1e-12)


def consistent_rates(kinds: Iterable[Kind], time: Array, q: Array) -> tuple[Array, Array]:
    """Velocities and accelerations (T, N, 3) of a pose that satisfies the rows (5.8, 5.9).

    Raises:
        MuscleSolveError: two drivers, or a driver and a joint, ask for different things; names the rows.
    """
    kinds = list(kinds)
    check_finite(q, ())
    rows = all_rows(kinds, time, q)
    jacobian = rows.jacobian.reshape(*rows.value.shape, -1)
    qd = least_squares(jacobian, rows.nu)
    _check_rates("velocities", rows.names, jacobian, qd, rows.nu)
    gamma = all_rows(kinds, time, q, qd.reshape(q.shape)).gamma
    qdd = least_squares(jacobian, gamma)
    _check_rates("accelerations", rows.names, jacobian, qdd, gamma)
    return qd.reshape(q.shape), qdd.reshape(q.shape)


def check_finite(q: Array, names: tuple[str, ...]) -> None:
    """Refuse coordinates (T, N, 3) that are no finite numbers, by name and frame."""
    bad = np.argwhere(~np.isfinite(q).all(axis=2))
    if len(bad):
        frame, slot = (int(part) for part in bad[0])
        name = names[slot] if slot < len(names) else f"coordinate {slot}"
        raise InputError(
            f"{name} is {q[frame, slot].tolist()} in frame {frame} ({len(bad)} such values in all)",
            expected="finite numbers",
        )


def _check_closed(rows: Rows, apart: Array, tolerance: float) -> None:
    frame = int(np.argmax(apart.max(axis=1)))
    if apart[frame].max() <= max(10.0 * tolerance, 1e-9):
        return
    worst = np.argsort(-apart[frame])
    open_rows = [k for k in worst if apart[frame, k] > 0.1 * apart[frame, worst[0]]]
    listed = "; ".join(f"{rows.names[k]} by {apart[frame, k]:.3g}" for k in open_rows[:_SHOWN])
    more = f" and {len(open_rows) - _SHOWN} more" if len(open_rows) > _SHOWN else ""
    failing = int((apart.max(axis=1) > max(10.0 * tolerance, 1e-9)).sum())
    raise MuscleSolveError(
        f"the mechanism cannot be assembled in {failing} of {len(apart)} frames: a loop does not close. Nearest "
        f"approach in frame {frame}: {listed}{more} (m for points and lengths, 1 for directions). Check the lengths "
        "and the driven values, or start nearer to a possible pose."
    )


def _check_rates(what: str, names: tuple[str, ...], jacobian: Array, rate: Array, right: Array) -> None:
    left = np.abs(np.einsum("tcn,tn->tc", jacobian, rate) - right)
    limit = 1e-7 * np.maximum(1.0, np.abs(right).max(axis=1))
    if (left.max(axis=1) > limit).any():
        frame = int(np.argmax(left.max(axis=1) / limit))
        worst = [
            names[k] for k in np.argsort(-left[frame])[:_SHOWN] if left[frame, k] > 0.1 * left[frame].max()
        ]
        raise MuscleSolveError(
            f"no {what} satisfy all rows in frame {frame}: {'; '.join(worst)} contradict each other "
            f"(by {left[frame].max():.3g}). The pose may be one where the mechanism is stretched out, or two drivers "
            "lead the same degree of freedom."
        )
