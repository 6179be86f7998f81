"""How long one frame takes by itself, as in a control loop."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solving import solve
from musclesolve.studies.benchmark.timing import Latency, latency, seconds_of


@dataclass(frozen=True)
class Single:
    """What one frame took with a cost: solving a problem that is there, and making it from arrays first."""

    cost: str
    solving: Latency
    making_too: Latency


def single(problem: Problem, cost: str, solver: str, calls: int) -> Single:
    """Solve frame after frame, each in a call of its own.

    Args:
        problem: its frames are taken in turn.
        cost: its name.
        solver: its name.
        calls: how many.
    """
    arrays = [
        (problem.moment_arm[t], problem.moment[t], problem.force_capacity[t], problem.max_isometric_force)
        for t in np.arange(calls) % problem.n_frames
    ]
    solve(Problem(*arrays[0]), cost, solver)
    made = [Problem(*each) for each in arrays]
    solving = [seconds_of(lambda one=one: solve(one, cost, solver))[0] for one in made]  # type: ignore[misc]
    making = [seconds_of(lambda each=each: solve(Problem(*each), cost, solver))[0] for each in arrays]  # type: ignore[misc]
    return Single(cost, latency(solving), latency(making))
