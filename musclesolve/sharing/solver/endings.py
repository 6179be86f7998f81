"""Reasons why a frame has neither certificate nor proof: what the solver reports, and what its result misses."""

from collections.abc import Sequence

import numpy as np

from musclesolve._util.arrays import AnyArray, Indices, Mask
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.messages import few
from musclesolve.sharing.certificate import needs_reserve
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solver.solver_registry import Attempt
from musclesolve.sharing.status import Status

STOPPED = ("User_Requested_Stop", "Maximum_CpuTime_Exceeded", "Maximum_WallTime_Exceeded")
"""Final messages of Ipopt where the user's callback, or the user's limit of time, ended a frame."""


def stopped(attempt: Attempt) -> Mask:
    """Mask (T,) of the frames that a callback or a limit of time of the user ended."""
    return np.broadcast_to(np.isin(attempt.message, STOPPED), attempt.claim.shape)


def ending(message: str) -> str:
    """The final message of a solver, with its meaning where it is known (endings.toml)."""
    message = message.strip().rstrip(".")
    meaning = bundled_toml(__package__, "endings.toml").get(message, "")
    return f"{message} ({meaning})" if meaning else message


def reasons(problem: Problem, cost: Cost, attempt: Attempt) -> AnyArray:
    """Clauses (T,) on what the solver reports of each frame, and what its result misses."""
    activation = attempt.activation
    finite: Mask = np.asarray(np.isfinite(activation).all(axis=1))
    at = np.where(finite[:, None], np.clip(activation, problem.lower, problem.upper), problem.lower)
    with np.errstate(all="ignore"):
        slope = np.isfinite(cost.gradient(problem, at)).all(axis=1)
        lacks = problem.moment - problem.produced(at) - attempt.reserve
    short = needs_reserve(lacks, problem.moment).any(axis=1)
    misses = np.select(
        [~finite, ~slope, short],
        [
            "it returned no numbers",
            "the slope of the cost is not a finite number at its result",
            "its result does not meet the moments",
        ],
        "its result meets the moments, but fails the certificate",
    )
    clauses: AnyArray = np.full(len(finite), "", object)
    messages = np.broadcast_to(attempt.message, misses.shape)
    for t, (miss, message) in enumerate(zip(misses, messages, strict=True)):
        if not message:
            clauses[t] = miss
        elif attempt.claim[t] == Status.SOLVED and ending(message) == message:
            clauses[t] = f"it reports {message}, but {miss}"
        else:
            clauses[t] = f"it ended with {ending(message)}; {miss}"
    return clauses


def ending_notes(
    solver: str, clauses: AnyArray, left: Mask, number: Indices | Sequence[int]
) -> tuple[str, ...]:
    """A sentence for each reason (T,) for which frames `left` (T,) have no solution, with their numbers (T,)."""
    notes = []
    for clause in dict.fromkeys(clauses[left]):
        if clause:
            which = np.asarray(number)[left & (clauses == clause)]
            frames = f"frame{'' if len(which) == 1 else 's'} {few(which)}"
            notes.append(f"The solver {solver} did not solve {frames}: {clause}.")
    return tuple(notes)
