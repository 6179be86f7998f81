"""The status of a frame, and the texts of all verdicts on a frame, from verdicts.toml."""

from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import Mask
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve.sharing.kernel import constants as kernel


class Status(IntEnum):
    """The status of one frame. `Status.sentence` explains it in words, `Status.remedy` says what to do.

    Examples:
        >>> ms.Status(0).name
        'SOLVED'
        >>> ms.Status.INFEASIBLE.sentence.startswith("No muscle forces")
        True
    """

    SOLVED = kernel.SOLVED
    SOLVED_WITH_RESERVE = kernel.SOLVED_WITH_RESERVE
    INFEASIBLE = kernel.INFEASIBLE
    MAX_ITERATIONS = kernel.MAX_ITERATIONS
    INVALID_INPUT = kernel.INVALID_INPUT
    SOLVER_FAILED = kernel.SOLVER_FAILED
    INVALID_MOTION = 6
    NOT_MEASURED = 7
    TOO_FEW_FRAMES = 8
    INTERRUPTED = 9

    @property
    def sentence(self) -> str:
        """The meaning of the status, as a sentence."""
        return verdict_words()[self.name.lower()]["sentence"]

    @property
    def remedy(self) -> str:
        """The thing to do about a frame of this status, as a sentence."""
        return verdict_words()[self.name.lower()]["remedy"]


def is_solved(status: ArrayLike) -> Mask:
    """Return which members of Status (...) are solutions, SOLVED or SOLVED_WITH_RESERVE, as a mask (...)."""
    codes = np.asarray(status)
    return np.asarray((codes == Status.SOLVED) | (codes == Status.SOLVED_WITH_RESERVE))


def status_flags() -> dict[str, Any]:
    """Attributes of a variable of statuses: the codes and their names (CF: flag_values, flag_meanings)."""
    return {
        "flag_values": np.array([int(status) for status in Status], dtype=np.int8),
        "flag_meanings": " ".join(status.name for status in Status),
    }


def verdict_words() -> dict[str, dict[str, str]]:
    """Label, sentence, remedy, reason, color and pattern of every verdict of a frame, by its name in lower case."""
    return bundled_toml(__package__, "verdicts.toml")


def verdict_reason(name: str) -> str:
    """Return the reason why a frame has no valid solution, in a few words."""
    return verdict_words().get(name, {}).get("reason", name.replace("_", " "))
