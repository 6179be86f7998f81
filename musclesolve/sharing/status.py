"""The status of a frame: an enum whose members carry sentences."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import Mask
from musclesolve.sharing.kernel import constants as kernel


class Status(IntEnum):
    """The status of one frame; `Status(3).sentence` explains it."""

    sentence: str

    def __new__(cls, value: int, sentence: str) -> Status:
        """A member with its sentence."""
        member = int.__new__(cls, value)
        member._value_ = value
        member.sentence = sentence
        return member

    SOLVED = kernel.SOLVED, "The muscles produce the moments at the least cost; the certificate holds."
    SOLVED_WITH_RESERVE = (
        kernel.SOLVED_WITH_RESERVE,
        "The certificate holds, but a reserve moment had to help the muscles.",
    )
    INFEASIBLE = (
        kernel.INFEASIBLE,
        "No activation within its bounds produces these moments; this is proved.",
    )
    MAX_ITERATIONS = (kernel.MAX_ITERATIONS, "The solver ran out of iterations before the certificate held.")
    INVALID_INPUT = (
        kernel.INVALID_INPUT,
        "This frame contains a number that is not finite or beyond 1e100; it was not solved.",
    )
    SOLVER_FAILED = kernel.SOLVER_FAILED, "The solver stopped with a result that fails the certificate."
    INVALID_MOTION = (
        6,
        "The motion is not plausible, or the ground forces do not balance it; no muscle forces were computed.",
    )
    NOT_MEASURED = (
        7,
        "The forces on this leg were not all measured in this frame; it was not analysed for this leg.",
    )
    TOO_FEW_FRAMES = (
        8,
        "Fewer than four usable frames follow each other, too few for the fiber velocities behind elastic tendons.",
    )
    INTERRUPTED = (
        9,
        "Samples or markers were missing for longer than can be bridged, or too few came yet; nothing was computed.",
    )


def is_solved(status: ArrayLike) -> Mask:
    """Which members of Status (...) are those of a solution: SOLVED or SOLVED_WITH_RESERVE, (...)."""
    codes = np.asarray(status)
    return np.asarray((codes == Status.SOLVED) | (codes == Status.SOLVED_WITH_RESERVE))
