"""What a method claims to be the optimum of a motion."""

from __future__ import annotations

from dataclasses import dataclass

from musclesolve._util.arrays import Array


@dataclass(frozen=True, eq=False)
class MotionAttempt:
    """States and multipliers of T frames, n muscles, m moments, with signs as in certificate.py.

    coordinate z and activation a (T, n); multiplier of the moments (T, m) [cost per N m]; balance_multiplier of tendon
    and fiber (T, n); coordinate_multiplier of the bounds of z (T, n), positive at the lower and negative at the upper
    one; limit_multiplier (2, T-1, n), never negative, of falling and of rising. method: its name; message: why it
    ended, if it was not at a solution.
    """

    coordinate: Array
    activation: Array
    multiplier: Array
    balance_multiplier: Array
    coordinate_multiplier: Array
    limit_multiplier: Array
    iterations: int
    method: str
    message: str = ""
