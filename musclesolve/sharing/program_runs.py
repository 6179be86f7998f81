"""Ends of a solver of CasADi on a program, and the optima that several starts found.

Where no motion cost joins the frames, each frame is a program of its own: a piece. Else the whole motion is one piece.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from musclesolve._util.arrays import AnyArray, Array
from musclesolve._util.messages import count_of, few
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solution import Solution
from musclesolve.sharing.solver.frame_program import claim_of
from musclesolve.sharing.solver.ipopt import final_message, run_casadi
from musclesolve.sharing.status import Status

SAME = 1e-4
"""Largest difference of an activation between two results that count as one optimum."""


class End(NamedTuple):
    """The end of a solver on a piece: unknowns, multipliers of g as CasADi returns them, and what it reports."""

    x: Array
    multiplier: Array
    iterations: int
    claim: Status
    message: str


def run(solver: Any, watching: Any, numbers: Mapping[str, Array]) -> End:
    """Run a solver of casadi.nlpsol, with the callback `watching` or None; NaN where it ends with an error."""
    if watching is not None:
        watching.count, watching.error = 0, None
    try:
        (x, multiplier), stats = run_casadi(solver, numbers, ("x", "lam_g"))
    except RuntimeError as error:
        message = str(error).splitlines()[-1]
        x, multiplier = (np.full(numbers[key].shape, np.nan) for key in ("x0", "lbg"))
        return End(x, multiplier, 0, Status.SOLVER_FAILED, message)
    if watching is not None and watching.error is not None:
        raise watching.error
    message = final_message(stats)
    return End(
        x, multiplier, int(stats.get("iter_count", 0)), claim_of(message, otherwise=Status.SOLVED), message
    )


def described(messages: AnyArray) -> str:
    """The final message of all frames (T,), or each one with the number of frames that ended with it."""
    texts, counts = np.unique(np.asarray(messages, str), return_counts=True)
    if len(texts) == 1:
        return str(texts[0])
    return "; ".join(f"{text} ({count_of(int(n), 'frame')})" for text, n in zip(texts, counts, strict=True))


@dataclass(frozen=True)
class Optima:
    """Optima that several starts found, in each frame.

    Attributes:
        count: (T,) number of certified results that differ by more than SAME in an activation; of a whole motion where
            a motion cost joins the frames.
        apart: (T,) [N] the largest difference of a muscle's force between two of them.
        sentence: all of it in words.
    """

    count: AnyArray
    apart: Array
    sentence: str


def optima(answers: Sequence[Solution], problem: Problem, joined: bool) -> Optima:
    """Compare the certified results from several starts, (T, ...) each; joined: a motion cost joins the frames."""
    frames = problem.n_frames
    count, apart, muscle = np.zeros(frames, np.int64), np.zeros(frames), np.zeros(frames, np.int64)
    pieces = [np.arange(frames)] if joined else list(np.arange(frames)[:, None])
    ended = 0
    for piece in pieces:
        kept: list[Array] = []
        for answer in answers:
            activation = answer.activation[piece]
            if not np.isfinite(activation).all():
                continue
            ended += 1
            if all(np.abs(activation - other).max() > SAME for other in kept):
                kept.append(activation)
        count[piece] = len(kept)
        if kept:
            spread = np.ptp(np.stack(kept), axis=0) * problem.force_capacity[piece]
            apart[piece], muscle[piece] = spread.max(axis=1), spread.argmax(axis=1)
    return Optima(count, apart, _sentence(len(answers), count, apart, muscle, ended, joined, problem))


def _sentence(
    starts: int, count: AnyArray, apart: Array, muscle: AnyArray, ended: int, joined: bool, problem: Problem
) -> str:
    """The optima in words; muscle (T,): whose forces are apart, ended: number of certified results of pieces."""
    several, worst = np.flatnonzero(count > 1), int(apart.argmax())
    if not count.any():
        return f"From {starts} starts no optimum was found."
    text = f"From {starts} starts {'the motion' if joined else 'each solved frame'} ended at one optimum"
    if several.size:
        where = "the motion" if joined else f"{count_of(several.size, 'frame')} ({few(several)})"
        name = (problem.muscle or ())[muscle[worst]]
        text = (
            f"From {starts} starts {where} ended at {'' if joined else 'up to '}{count.max()} optima; the one of least "
            f"cost is the result. Their forces differ by up to {apart[worst]:.3g} N ({name} in frame {worst})"
        )
    runs = starts * (1 if joined else len(count))
    lost = f"; {count_of(runs - ended, 'run')} of {runs} ended without a certificate" if ended < runs else ""
    return f"{text}{lost}."
