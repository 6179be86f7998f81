"""Closing a mechanism: positions by Newton-Raphson in the sense of least squares, then velocities, accelerations.

Rows may be redundant. Coordinates that nothing drives stay as near the start as possible, unless everything is to be
driven. A driven angle is followed in small steps by the angle itself, because the mirrored angle satisfies its row,
too. Each frame is closed from the one before, so that a loop stays on its branch.
"""

from collections.abc import Iterable

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_array
from musclesolve._util.names import shortened
from musclesolve.dynamics.inverse.lagrange_multipliers import least_squares, undriven
from musclesolve.dynamics.kinematics.joint_drivers import ConstraintRows
from musclesolve.dynamics.mechanism.constraint_rows import (
    ClosureErrors,
    Constraint,
    all_closure_errors,
    all_rows,
    mirrored,
)
from musclesolve.errors import MuscleSolveError, input_error

_LONGEST_STEP = 0.3  # Longest move of a coordinate in one step [m or 1]; keeps a distant start on track
# Iteration ends with a step that moves no coordinate by more than this [m or 1], or after this number of steps
_SHORTEST_STEP, _STEPS = (1e-10, 100)
_OPEN = 1e-9  # A row that is farther from being met after the last step is open [m or 1]
_MET = 1e-6  # How far a row may be from being met for rates to be computed [m or 1]
_SHOWN = 4  # How many rows a message names


def assemble(
    constraints: Iterable[Constraint],
    time: Array,
    start: Array,
    coordinate_names: tuple[str, ...] = (),
    driven: bool = False,
) -> Array:
    """Pose (T, N, 3) of every frame that satisfies all rows (Silva 2003, 2.6, 5.7).

    Args:
        constraints: all constraints of the mechanism.
        time: (T,) [s], for the drivers.
        start: (N, 3) first guess of the first frame, each other frame being closed from the one before; or (T, N, 3),
            a guess for every frame. Guesses that are all alike count as one.
        coordinate_names: names of the N points and vectors, for messages.
        driven: refuse a mechanism that can still move.

    Raises:
        InputError: a start or a value of a driver that is not finite.
        MuscleSolveError: a loop that cannot close, an angle that cannot be reached, a body that closes as its mirror
            image, or a coordinate that nothing drives; names it with the amounts.

    Examples:
        >>> model = ms.dynamics.human_model()
        >>> kinds = [ms.dynamics.Rigid(model.constraints)]
        >>> q = ms.dynamics.assemble(kinds, np.array([0.0]), model.standing, model.topology.coordinate_names)
        >>> np.allclose(q[0], model.standing)
        True
    """
    constraints, time = _listed(constraints), np.asarray(time, dtype=float)
    guess = np.asarray(start, dtype=float)
    if guess.ndim == 2:
        guess = np.broadcast_to(guess, (*time.shape, *guess.shape))
    if time.ndim != 1 or not len(time) or guess.ndim != 3 or guess.shape[::2] != (len(time), 3):
        raise input_error(
            "bad_shape",
            problem=f"the shapes {time.shape} of time and {np.shape(start)} of start do not fit each other",
            expected="time (T,), start (N, 3) or (T, N, 3)",
        )
    check_finite(guess, coordinate_names)
    if (guess == guess[:1]).all():
        # Each frame starts from the frame before: only this tells on which branch a loop is.
        q, pose = np.empty(guess.shape), guess[:1]
        for frame in range(len(time)):
            frame_slice = slice(frame, frame + 1)
            pose = q[frame_slice] = _closed(constraints, time[frame_slice], pose, frame)
    else:
        q = _closed(constraints, time, guess)
    if inverted := mirrored(constraints, q):
        body, frame = next(iter(inverted.items()))
        raise MuscleSolveError(
            f"body {body!r} closes as its own mirror image in frame {frame}, which is impossible. Start nearer to the "
            "intended pose, with every body complete."
        )
    if driven:
        _check_driven(all_rows(constraints, time, q), coordinate_names)
    return q


def _listed(constraints: Iterable[Constraint]) -> list[Constraint]:
    if not (listed := list(constraints)):
        raise input_error(
            "missing_argument",
            problem="an empty mechanism",
            expected="one constraint of rows at least, as Rigid(constraints)",
        )
    return listed


def _closed(constraints: list[Constraint], time: Array, start: Array, number: int | None = None) -> Array:
    """Newton-Raphson steps from a start (T, N, 3) until none moves a coordinate; refuses rows that stay open.

    number: number of the frame where only one is closed.
    """
    q = np.array(start)
    for _ in range(_STEPS):
        errors = all_closure_errors(constraints, time, q)
        step = -least_squares(errors.jacobian.reshape(len(q), -1, 3 * q.shape[1]), errors.part).reshape(
            q.shape
        )
        largest = np.abs(step).max(axis=(1, 2), keepdims=True)
        q = q + step * np.minimum(1.0, _LONGEST_STEP / np.maximum(largest, 1e-12))
        if largest.max() < _SHORTEST_STEP:
            break

    errors = all_closure_errors(constraints, time, q)
    apart = violation(errors)
    frame = int(np.argmax(apart.max(axis=1)))
    if apart[frame].max() <= _OPEN:
        return q
    worst = np.argsort(-apart[frame])
    open_rows = [k for k in worst if apart[frame, k] > max(_OPEN, 0.1 * apart[frame, worst[0]])]
    listed = shortened([f"{errors.names[k]} by {apart[frame, k]:.3g}" for k in open_rows], _SHOWN, "; ")
    failing = int((apart.max(axis=1) > _OPEN).sum())
    where = f"in {failing} of {len(apart)} frames" if number is None else f"in frame {number}"
    raise MuscleSolveError(
        f"the mechanism cannot be assembled {where}: a loop does not close or a driver does not reach its value. "
        f"Nearest approach in frame {frame if number is None else number}: {listed} (m for points and lengths, 1 "
        "for directions). Check the lengths and the driven values, or start nearer to a possible pose."
    )


def violation(rows: ConstraintRows | ClosureErrors) -> Array:
    """Return the violation of each row: its value over the length of its gradient, (T, c) [m or 1]."""
    slope = np.linalg.norm(rows.jacobian.reshape(*rows.value.shape, -1), axis=2)
    return np.abs(rows.value) / np.maximum(slope, 1e-12)


def consistent_rates(
    constraints: Iterable[Constraint],
    time: Array,
    q: Array,
    coordinate_names: tuple[str, ...] = (),
    driven: bool = True,
) -> tuple[Array, Array]:
    """Velocities and accelerations of a pose that satisfies the rows (Silva 2003, 5.8, 5.9).

    Args:
        constraints: constraints of the mechanism.
        time: (T,) [s], for the drivers.
        q: (T, N, 3) [m] poses, from `assemble`.
        coordinate_names: names of the N points and vectors, for messages.
        driven: refuse a mechanism that can still move; else free coordinates take the smallest possible rates.

    Returns:
        Velocities (T, N, 3) [m/s] and accelerations (T, N, 3) [m/s^2].

    Raises:
        MuscleSolveError: the pose violates its rows, rows contradict, or nothing drives a coordinate; names them.
    """
    constraints, time = _listed(constraints), np.asarray(time, dtype=float)
    check_finite(q, coordinate_names)
    rows = all_rows(constraints, time, q)
    apart = violation(rows)
    frame, row = np.unravel_index(int(np.argmax(apart)), apart.shape)
    if apart[frame, row] > _MET:
        raise MuscleSolveError(
            f"the pose of frame {frame} violates its rows: {rows.names[row]} by {apart[frame, row]:.3g} (m for points "
            "and lengths, 1 for directions). Close it with `assemble` first."
        )
    jacobian = rows.jacobian.reshape(*rows.value.shape, -1)

    def solved(what: str, right: Array) -> Array:
        rate = least_squares(jacobian, right)
        left = np.abs(np.einsum("tcn,tn->tc", jacobian, rate) - right)
        limit = 1e-7 * np.maximum(1.0, np.abs(right).max(axis=1))
        if (left.max(axis=1) > limit).any():
            frame = int(np.argmax(left.max(axis=1) / limit))
            order, most = np.argsort(-left[frame])[:_SHOWN], left[frame].max()
            worst = [rows.names[k] for k in order if left[frame, k] > 0.1 * most]
            raise MuscleSolveError(
                f"no {what} satisfy all rows in frame {frame}: {'; '.join(worst)} contradict each other "
                f"(by {most:.3g}). The pose may be one where the mechanism is stretched out, or two drivers "
                "lead the same degree of freedom."
            )
        return rate.reshape(q.shape)

    qd = solved("velocities", rows.nu)
    if driven:
        _check_driven(rows, coordinate_names)
    return qd, solved("accelerations", all_rows(constraints, time, q, qd).gamma)


def check_finite(q: Array, names: tuple[str, ...]) -> None:
    """Refuse coordinates (T, N, 3) that are not finite, by name and frame."""
    check_array(q, "the pose", ("T", "N", 3), _names(names, q.shape[1]))


def _names(names: tuple[str, ...], count: int) -> tuple[str, ...]:
    return tuple(names) + tuple(f"coordinate {slot}" for slot in range(len(names), count))


def _check_driven(rows: ConstraintRows, names: tuple[str, ...]) -> None:
    """Refuse rows that leave points or vectors free to move; name these."""
    frames, _, count, _ = rows.jacobian.shape
    unit_rates = np.broadcast_to(np.eye(3 * count).reshape(count, 3, -1), (frames, count, 3, 3 * count))
    owners = tuple(name for name in _names(names, count) for _ in range(3))
    free = tuple(dict.fromkeys(undriven(rows.jacobian, unit_rates, owners)))
    if free:
        raise MuscleSolveError(
            f"nothing drives {shortened(free, 2 * _SHOWN)}: constraints and drivers leave them free to move in "
            "some frame. Add a driver, or fix them; or the pose is one where the mechanism is stretched out."
        )
