"""The optimum of a part of a body with other muscles, and its derivatives by the logarithms of their numbers.

Elastic tendons: every run of usable frames is a motion (trajectory/), solved from the optimum of the previous muscles,
with reserves that act only where muscles lack moments. Rigid tendons: frame by frame (sharing/).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from musclesolve._util.arrays import Array, true_runs
from musclesolve.models.body import Sharing, SharingGroup, SolvedGroup
from musclesolve.models.body_sharing import motion_problem, refuse_actuators, share_part
from musclesolve.muscles.elastic.elastic_muscles import ElasticMuscles
from musclesolve.muscles.muscle_parameters import QUANTITIES
from musclesolve.muscles.muscle_state import MuscleState
from musclesolve.muscles.path_point_derivatives import MuscleChange, muscle_change
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.problem_scale import fallback_weight
from musclesolve.sharing.solution_derivatives import solution_derivatives
from musclesolve.studies.force_sensitivity import IN_PROBLEM, problem_change
from musclesolve.trajectory.banded_interior_point import BandedInteriorPoint
from musclesolve.trajectory.certificate import Certifier, MotionAttempt
from musclesolve.trajectory.motion_problem import FEWEST_FRAMES, MotionCost, MotionProblem
from musclesolve.trajectory.optimum_derivatives import OptimumChange, OptimumDerivatives, with_parameters
from musclesolve.trajectory.solve_motion import static_start

WEIGHTS = 1e3, 1.0
"""Weights of reserves over the usual one: the first with which a motion is solved."""
GOOD, ENOUGH = 1.0, 100.0
"""Shares of the limits of the certificate: one at which a motion is not refined, and one with which it counts."""


@dataclass(frozen=True, eq=False)
class Optimum:
    """Activation and fiber_length [m] (T, n), reserve [N m] (T, m); NaN in frames that were not solved.

    along: gives the derivatives along directions (K, 4, n) of the logarithms of `QUANTITIES`.
    """

    activation: Array
    fiber_length: Array
    reserve: Array
    along: Callable[[Array], OptimumChange]


def _along_runs(
    arrays: Sequence[Array], runs: Sequence[tuple[slice, OptimumDerivatives]], directions: Array
) -> OptimumChange:
    """The derivatives of the arrays of a part with elastic tendons, as `Optimum.along`; NaN between its runs."""
    whole = [np.full((len(directions), *array.shape), np.nan) for array in arrays]
    for run, derivatives in runs:
        for array, change in zip(whole, vars(derivatives.along(directions)).values(), strict=True):
            array[:, run] = change
    return OptimumChange(*whole)


def _along_frames(shared: SolvedGroup, cost: Cost, directions: Array) -> OptimumChange:
    """The derivatives of a part with rigid tendons, as `Optimum.along`."""
    derivatives, changes = solution_derivatives(shared.problem, cost, shared.solution), []
    for direction in directions:
        factors = {
            name: by for name, by in zip(QUANTITIES, direction, strict=True) if name != "tendon_strain"
        }
        moved = {name: getattr(shared.state.parameters, name) * by for name, by in factors.items()}
        change = MuscleChange(*(array[None] for array in vars(muscle_change(shared.state, **moved)).values()))
        of_problem = {f"d_{name}": moved[name][None] for name in IN_PROBLEM}
        along = derivatives.along(**problem_change(shared.problem, shared.state, change), **of_problem)
        changes.append((along.activation[0], change.fiber_length[0], along.reserve[0]))
    return OptimumChange(*(np.stack(arrays) for arrays in zip(*changes, strict=True)))


class PartMuscles:
    """A part of a body with changeable muscle parameters, which keeps its last optimum as the next start."""

    def __init__(self, part: SharingGroup, sharing: Sharing) -> None:
        refuse_actuators([part], "a calibration")
        self.part, self.sharing = part if sharing.reads_reactions else replace(part, loads=None), sharing
        self.names = part.state.parameters.names
        self.elastic = sharing.elastic
        self.motions: list[tuple[slice, MotionProblem]] = []
        self.last: dict[int, MotionAttempt] = {}
        self.known: tuple[Array, Optimum] | None = None
        if self.elastic:
            muscles = ElasticMuscles.from_parameters(part.state.parameters)
            for first, stop in true_runs(np.asarray(part.usable & part.measured)):
                if stop - first >= FEWEST_FRAMES:
                    run = slice(first, stop)
                    self.motions.append((run, motion_problem(part, run, muscles, sharing.least_activation)))

    def solve(self, logarithm: Array) -> Optimum | None:
        """The optimum with the logarithms (4, n) of factors on `QUANTITIES`; None where there is none."""
        if self.known is None or not np.array_equal(self.known[0], logarithm):
            optimum = self._solve(logarithm)
            if optimum is None:
                return None
            self.known = logarithm.copy(), optimum
        return self.known[1]

    def _solve(self, logarithm: Array) -> Optimum | None:
        muscles = self.part.state.parameters.with_factors(np.exp(logarithm))
        if not self.elastic:
            state = self.part.state
            lengths = state.musculotendon_length, state.musculotendon_velocity
            part = replace(self.part, state=MuscleState.from_lengths(muscles, *lengths, state.moment_arm))
            shared = share_part(part, self.sharing)
            arrays = shared.solution.activation, part.state.fiber_length, shared.solution.reserve
            known = [np.where(shared.solution.solved[:, None], array, np.nan) for array in arrays]
            along = partial(_along_frames, shared, self.sharing.cost)
            return Optimum(known[0], known[1], known[2], along)
        frames, count = self.part.state.musculotendon_length.shape
        activation, fiber = np.full((2, frames, count), np.nan)
        reserve = np.full((frames, len(self.part.shared)), np.nan)
        runs, attempts = [], {}
        for number, (run, motion) in enumerate(self.motions):
            solved = self._solve_motion(number, with_parameters(motion, muscles), motion)
            if solved is None:
                return None
            attempts[number], derivatives = solved
            activation[run] = attempts[number].activation
            fiber[run] = derivatives.state.fiber_length
            reserve[run] = derivatives.problem.compliance * attempts[number].multiplier
            runs.append((run, derivatives))
        self.last = attempts
        along = partial(_along_runs, (activation, fiber, reserve), runs)
        return Optimum(activation, fiber, reserve, along)

    def _solve_motion(
        self, number: int, problem: MotionProblem, parent: MotionProblem
    ) -> tuple[MotionAttempt, OptimumDerivatives] | None:
        """Solve from the last optimum, else from the static one, with stiff reserves; if that fails, with soft ones."""
        cost, method = self.sharing.cost, BandedInteriorPoint(good=GOOD)
        # of the parent, so that it does not change with the muscles
        usual = fallback_weight(parent.isometric, cost)
        for weight in WEIGHTS:
            motion = replace(problem, reserve_weight=weight * usual)
            costs = MotionCost.from_cost(motion, cost)
            certifier = Certifier(motion, costs)
            for start in (self.last.get(number), None):
                if start is not None:
                    attempt = method.resume(motion, costs, start)
                elif weight == WEIGHTS[0] or number not in self.last:
                    attempt = method.solve(motion, costs, static_start(motion, cost)[:2])
                else:
                    continue
                if float(certifier.certificate(attempt).worst.max()) <= ENOUGH:
                    derivatives = OptimumDerivatives(motion, costs, attempt)
                    if derivatives.known:
                        return attempt, derivatives
        return None
