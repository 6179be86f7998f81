"""Sharing with elastic tendons: every unbroken run of usable frames is a motion that is solved by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from musclesolve._util.arrays import Array, Mask, true_runs
from musclesolve.muscles.elastic.elastic_muscles import ElasticMuscles
from musclesolve.pipeline.tendon_states import TendonStates
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.solution import Solution, SolutionArrays
from musclesolve.sharing.status import Status
from musclesolve.trajectory.motion_problem import FEWEST_FRAMES, MotionProblem
from musclesolve.trajectory.motion_solution import MotionSolution


@dataclass(frozen=True, eq=False)
class MotionFrames:
    """What motion problems are made of, over all T frames.

    usable (T,): the frames that may be shared among muscles; the numbers of the others are not looked at. The rest is
    as in `MotionProblem`, the reserve weight a single number.
    """

    time: Array
    moment_arm: Array
    moment: Array
    musculotendon_length: Array
    musculotendon_velocity: Array
    usable: Mask
    muscles: ElasticMuscles
    dof: tuple[str, ...]
    reserve_weight: float | None = None
    emg: Array | None = None

    def run(self, first: int, stop: int) -> MotionProblem:
        """The problem of some frames that follow each other."""
        part = slice(first, stop)
        return MotionProblem(
            time=self.time[part],
            moment_arm=self.moment_arm[part],
            moment=self.moment[part],
            musculotendon_length=self.musculotendon_length[part],
            musculotendon_velocity=self.musculotendon_velocity[part],
            muscles=self.muscles,
            dof=self.dof,
            reserve_weight=None if self.reserve_weight is None else np.array(self.reserve_weight),
            emg=None if self.emg is None else self.emg[part],
        )


@dataclass(frozen=True, eq=False)
class SharedMotion:
    """The solution of all frames and the states it belongs to; notes: what a user should know of how it was found."""

    solution: Solution
    tendons: TendonStates
    notes: tuple[str, ...]


def share_motion(frames: MotionFrames, cost: Cost, method: str = "structured") -> SharedMotion:
    """Solve every run of usable frames, with reserves where it is not feasible without.

    The status of a frame is INVALID_INPUT where it is not usable, and TOO_FEW_FRAMES in runs of fewer than four.

    Raises:
        InputError: a cost that elastic tendons cannot have, or frames too far apart.
    """
    from musclesolve.trajectory.solve_motion import solve_motion  # which runs with rigid tendons do not need

    count, muscles = frames.musculotendon_length.shape
    arrays = _unsolved(count, len(frames.dof), muscles, frames.reserve_weight)
    tendons, solved = TendonStates.empty(count, muscles), list[MotionSolution]()
    for first, stop in true_runs(frames.usable):
        if stop - first < FEWEST_FRAMES:
            arrays.status[first:stop] = Status.TOO_FEW_FRAMES
            continue
        found = solve_motion(frames.run(first, stop), cost, method, on_infeasible="reserve")
        _store(arrays, first, found)
        tendons.store(first, found)
        solved.append(found)
    arrays.force = arrays.activation * tendons.force_capacity
    solution = Solution(
        **vars(arrays), solver=_joined([each.solver for each in solved]), cost_name=cost.label
    )
    return SharedMotion(
        solution, tendons, tuple(dict.fromkeys(note for each in solved for note in each.notes))
    )


def _unsolved(frames: int, moments: int, muscles: int, weight: float | None) -> SolutionArrays:
    arrays = SolutionArrays.unfilled(frames, moments, muscles)
    for each in fields(arrays)[:-1]:
        getattr(arrays, each.name).fill(np.nan if each.type == "Array" else 0)
    arrays.status.fill(Status.INVALID_INPUT)
    arrays.reserve_weight.fill(np.inf if weight is None else weight)
    return arrays


def _store(arrays: SolutionArrays, first: int, found: MotionSolution) -> None:
    """Store the frames of a motion: status and certificate of all, numbers of those that are solved."""
    run = slice(first, first + len(found.time))
    arrays.status[run], arrays.kkt_residual[run] = found.status, found.kkt_residual
    arrays.iterations[run] = found.iterations
    solved = found.solved
    rows = first + np.flatnonzero(solved)
    for name in ("activation", "reserve", "multiplier", "cost"):
        getattr(arrays, name)[rows] = getattr(found, name)[solved]
    # without a weight of the user's, that of a reserve is known where it was needed: s = lambda / w
    known = (found.status == Status.SOLVED_WITH_RESERVE)[:, None] & (found.reserve != 0.0)
    weight = arrays.reserve_weight[run]
    np.divide(found.multiplier, found.reserve, out=weight, where=known & np.isinf(weight))


def _joined(names: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(name for name in names if name))
