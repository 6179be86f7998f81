"""The least-squares problem of a calibration: residuals of all trials, their noise, and its solution.

The optimum of a part of a body with other muscles has derivatives by the logarithms of their numbers.
Elastic tendons: every run of usable frames is a motion (trajectory/), solved from the optimum of the previous muscles,
with reserves that act only where muscles lack moments. Rigid tendons: frame by frame (sharing/).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import permutations

import numpy as np

from musclesolve._util.arrays import Array, true_runs
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.progress import Progress, no_progress
from musclesolve.muscles.elastic.elastic_muscles import ElasticMuscles
from musclesolve.muscles.muscle_parameters import QUANTITIES
from musclesolve.muscles.muscle_state import MuscleState
from musclesolve.muscles.path_point_derivatives import MuscleChange, muscle_change
from musclesolve.muscles.strength_tests import StrengthTest
from musclesolve.pipeline.body import Sharing, SharingGroup, SolvedGroup
from musclesolve.pipeline.share import motion_problem, share_part
from musclesolve.pipeline.strength_geometry import StrengthGeometry
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.problem_scale import fallback_weight
from musclesolve.sharing.solution_derivatives import solution_derivatives
from musclesolve.studies.calibration.free_parameters import DELAY, OF_EMG, SHAPE, STRENGTH, Factor
from musclesolve.studies.calibration.gauss_newton import CONVERGED, Linear, Posterior, Prior, minimize
from musclesolve.studies.calibration.observations import (
    CORRELATION_TIME,
    EMG,
    FASCICLE,
    RESERVE,
    STRENGTH_TEST,
    USUAL_SD,
    EmgScale,
    Observation,
    TrialMuscles,
    by_channel,
    correlated_samples,
)
from musclesolve.studies.force_sensitivity import IN_PROBLEM, problem_change
from musclesolve.trajectory.banded_interior_point import BandedInteriorPoint
from musclesolve.trajectory.certificate import Certifier, MotionAttempt
from musclesolve.trajectory.motion_problem import FEWEST_FRAMES, MotionCost, MotionProblem
from musclesolve.trajectory.optimum_derivatives import OptimumChange, OptimumDerivatives, with_parameters
from musclesolve.trajectory.solve_motion import static_start

WEIGHTS = 1e3, 1.0
"""Weights of reserves over the usual one: the first with which a motion is solved."""
GOOD, ENOUGH = 1e-6, 1e-4
"""Certificates: the one at which a motion is not refined, and the one with which it counts."""


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
    derivatives, found = solution_derivatives(shared.problem, cost, shared.solution), []
    for direction in directions:
        factors = {
            name: by for name, by in zip(QUANTITIES, direction, strict=True) if name != "tendon_strain"
        }
        moved = {name: getattr(shared.state.parameters, name) * by for name, by in factors.items()}
        change = MuscleChange(*(array[None] for array in vars(muscle_change(shared.state, **moved)).values()))
        of_problem = {f"d_{name}": moved[name][None] for name in IN_PROBLEM}
        along = derivatives.along(**problem_change(shared.problem, shared.state, change), **of_problem)
        found.append((along.activation[0], change.fiber_length[0], along.reserve[0]))
    return OptimumChange(*(np.stack(each) for each in zip(*found, strict=True)))


class PartMuscles:
    """A part of a body with changeable muscle parameters, which keeps its last optimum as the next start.

    Args:
        part: with the muscles of the parent.
        sharing: how its moments are shared.
    """

    def __init__(self, part: SharingGroup, sharing: Sharing) -> None:
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
            found = self._solve(logarithm)
            if found is None:
                return None
            self.known = logarithm.copy(), found
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
                    from_static = static_start(motion, cost)
                    attempt = method.solve(motion, costs, (from_static.coordinate, from_static.activation))
                else:
                    continue
                if float(certifier.misses(attempt).residual.max()) <= ENOUGH:
                    derivatives = OptimumDerivatives(motion, costs, attempt)
                    if derivatives.known:
                        return attempt, derivatives
        return None


def directions_of(factors: Sequence[Factor], names: Sequence[str]) -> Array:
    """The directions (K, 4, n) of some factors in the numbers of n muscles by name."""
    return np.stack([factor.on(names) for factor in factors]) if factors else np.zeros((0, 4, len(names)))


ROUGH = 1.0
"""Least decrease of the sum of squares for another step before the noise is known."""
NOISE_ROUNDS = 3
"""Number of times that the noise is estimated from the residuals and the fit repeated."""
MORE_LACKING = 1.0
"""Moment that the muscles may begin to lack during a fit [N m]."""
LEAST_EMG_SD = 0.03
"""Least error of envelopes, as a share of their maximum."""


@dataclass(frozen=True)
class Noise:
    """Noise of the residuals of one channel: standard deviation, and the number of samples that count as one."""

    sd: float
    alike: float


Noises = dict[tuple[str, str], Noise]
"""Kind and label of a channel -> its noise."""


class CalibrationProblem:
    """All trials, the factors and numbers of EMG that are fitted, and the residuals at any of their values."""

    def __init__(
        self,
        trials: Sequence[TrialMuscles],
        factors: Sequence[Factor],
        of_emg: Sequence[str] = (),
        tests: StrengthGeometry | None = None,
        moments: Sequence[StrengthTest] = (),
    ) -> None:
        self.trials, self.factors, self.tests, self.moments = trials, tuple(factors), tests, moments
        known = bundled_toml(__package__, "priors.toml")
        self.names = [factor.name for factor in factors]
        mean, sd = [self._around(factor) for factor in factors], [factor.prior_sd for factor in factors]
        lower, upper = [factor.lower for factor in factors], [factor.upper for factor in factors]

        def add(name: str, start: float, spread: float, low: float, high: float) -> int:
            for values, value in ((mean, start), (sd, spread), (lower, low), (upper, high)):
                values.append(float(value))
            self.names.append(name)
            return len(self.names) - 1

        measured = [(trial, trial.emg) for trial in trials if trial.emg is not None]
        largest: dict[str, float] = {}
        unstated = {channel for _, emg in measured for channel in emg.largest_counts}
        for trial, emg in measured:
            for channel in emg.channels:
                largest[channel] = max(largest.get(channel, 0.0), trial.maximum[channel])
        gain = {}
        for channel in largest:
            of_gain = known["emg_gain"]
            spread = of_gain["sd"] if channel in unstated else of_gain["sd_of_maximum"]
            start = np.log(0.5) if channel in unstated else 0.0
            gain[channel] = add(f"EMG gain of {channel}", start, spread, *np.log(of_gain["bounds"]))
        places: dict[str, int | None] = dict.fromkeys(OF_EMG)
        for name in of_emg:
            start = float(np.mean([emg.delay for _, emg in measured])) if name == DELAY else 0.0
            places[name] = add(name, start, known[name]["sd"], *known[name]["bounds"])
        self.emg = EmgScale(gain, largest, places[DELAY], places[SHAPE])
        covariance = np.diag(np.square(sd))
        strong = [k for k, factor in enumerate(factors) if factor.quantity == STRENGTH]
        for one, other in permutations(strong, 2):
            covariance[one, other] = known[STRENGTH]["common_sd"] ** 2
        self.prior = Prior(np.array(mean), covariance, np.array(lower), np.array(upper))
        self.directions = [[directions_of(self.factors, part.names) for part in one.parts] for one in trials]

    def _around(self, factor: Factor) -> float:
        """The mean of the prior of a factor."""
        if factor.around is None:
            return 0.0
        every = [part.part.state.parameters for trial in self.trials for part in trial.parts]
        own = [getattr(muscles, factor.quantity)[np.isin(muscles.names, factor.muscles)] for muscles in every]
        return float(np.log(factor.around / np.median(np.concatenate(own))))

    @property
    def every(self) -> list[int]:
        """The numbers of all trials."""
        return list(range(len(self.trials)))

    @property
    def parent(self) -> Array:
        """The theta (P,) of the muscles as they were."""
        theta = self.prior.mean.copy()
        theta[: len(self.factors)] = 0.0
        return theta

    def observed(self, theta: Array, which: Sequence[int]) -> list[Observation] | None:
        """The observations of some trials at theta (P,), in parallel; None where one of them has no optimum."""

        def of_trial(number: int) -> list[Observation] | None:
            trial, optima = self.trials[number], []
            for part, directions in zip(trial.parts, self.directions[number], strict=True):
                logarithm = np.einsum("k,kqn->qn", theta[: len(self.factors)], directions)
                if (optimum := part.solve(logarithm)) is None:
                    return None
                optima.append(optimum)
            return trial.observed(optima, self.directions[number], theta, self.emg)

        with ThreadPoolExecutor(max_workers=min(len(which), 2)) as threads:
            found = list(threads.map(of_trial, which))
        if any(each is None for each in found):
            return None
        return [observation for each in found for observation in each or ()]

    def tested(self, theta: Array) -> list[Observation]:
        """The strength tests at theta (P,)."""
        if self.tests is None:
            return []
        parent = self.tests.parameters
        directions = directions_of(self.factors, parent.names)
        logarithm = np.einsum("k,kqn->qn", theta[: len(self.factors)], directions)
        able = self.tests.moments(parent.with_factors(np.exp(logarithm)))
        jacobian = np.zeros((len(able.moment), len(theta)))
        jacobian[:, : len(directions)] = np.einsum("pqn,kqn->pk", able.by_log, directions)
        return [
            Observation(
                STRENGTH_TEST,
                f"{test.dof} {number + 1}",
                "",
                np.zeros(1),
                able.moment[number : number + 1],
                np.array([test.moment]),
                jacobian[number : number + 1],
            )
            for number, test in enumerate(self.moments)
        ]

    def usual_noise(self, observed: Iterable[Observation]) -> Noises:
        """The noise of every channel before any residual was seen."""
        noise = {
            (STRENGTH_TEST, f"{test.dof} {number + 1}"): Noise(test.error, 1.0)
            for number, test in enumerate(self.moments)
        }
        for (kind, label), curves in by_channel(observed).items():
            if kind != STRENGTH_TEST:
                trial = next(trial for trial in self.trials if trial.name == curves[-1].trial)
                stated = trial.fascicles.error if kind == FASCICLE and trial.fascicles else None
                # missing moments are no noise: every frame counts
                alike = 1.0 if kind == RESERVE else max(1.0, CORRELATION_TIME / trial.step)
                noise[kind, label] = Noise(stated or USUAL_SD[kind], alike)
        return noise

    def found_noise(self, observed: Sequence[Observation]) -> Noises:
        """Estimate the noise of every channel from its residuals, at least the known noise of the measurement."""
        usual = self.usual_noise(observed)
        noise = {key: usual[key] for key in by_channel(observed)}
        for (kind, label), curves in by_channel(observed).items():
            if kind not in (RESERVE, STRENGTH_TEST):
                residuals = [one.residual for one in curves]
                rms = float(np.sqrt(np.mean(np.square(np.concatenate(residuals)))))
                least = LEAST_EMG_SD if kind == EMG else usual[kind, label].sd
                noise[kind, label] = Noise(max(rms, least), correlated_samples(residuals))
        return noise

    def linear(self, observed: Sequence[Observation], noise: Noises) -> Linear:
        """The weighted residuals and their derivatives; of a channel without a noise the noise of its kind."""
        residuals, rows = [np.zeros(0)], [np.zeros((0, len(self.names)))]
        for (kind, label), curves in by_channel(observed).items():
            # variance of the errors of a channel, summed over its samples: they are alike throughout, and count once
            errors = [error for one in curves for error in one.unmodeled.values()]
            variance = sum(float(np.square(error).sum()) for error in errors)
            # a moment that begins to lack during the fit has no noise yet
            of_channel = noise.get((kind, label)) or Noise(USUAL_SD[kind], 1.0)
            weight = 1.0 / np.sqrt(of_channel.sd**2 * of_channel.alike + variance)
            residuals += [weight * one.residual for one in curves]
            rows += [weight * one.jacobian for one in curves]
        return Linear(np.concatenate(residuals), np.vstack(rows))

    def solve(self, first: Sequence[Observation], report: Progress = no_progress) -> tuple[Posterior, Noises]:
        """Find the best theta for all trials and the noise of its residuals, from the parent muscles' observations."""
        theta, noise = self.parent, self.usual_noise(first)
        for number in range(NOISE_ROUNDS):
            span = (0.1 + 0.15 * number, 0.25 + 0.15 * number)
            # the noise is not known yet: high accuracy is not needed
            least = ROUGH if number == 0 else CONVERGED
            prior = self._without_strength(theta) if number == 0 else self.prior
            posterior = self.fit(theta, self.every, noise, report, span, least, prior)
            theta = posterior.theta
            observed = self.observed(theta, self.every) or []
            before, noise = noise, self.found_noise([*observed, *self.tested(theta)])
            # the weights agree to some per cent
            if number and all(
                key in before
                and abs(np.log(now.sd / before[key].sd)) < 0.05
                and abs(np.log(now.alike / before[key].alike)) < 0.1
                for key, now in noise.items()
            ):
                break
        return posterior, before

    def _without_strength(self, theta: Array) -> Prior:
        """The prior with the strength held at theta, where lengths or strains are free.

        Strength that compensates wrong lengths would lead to muscles that lack moments.
        """
        held = np.zeros(len(theta), dtype=bool)
        held[: len(self.factors)] = [factor.quantity == STRENGTH for factor in self.factors]
        return self.prior if held[: len(self.factors)].all() else self.prior.held(held, theta)

    def fit(
        self,
        theta: Array,
        which: Sequence[int],
        noise: Noises,
        report: Progress = no_progress,
        span: tuple[float, float] = (0.0, 1.0),
        least: float = CONVERGED,
        prior: Prior | None = None,
    ) -> Posterior:
        """The best theta for some trials with a given noise."""
        most = np.inf

        def evaluate(at: Array) -> Linear | None:
            """The linearized misfit; None also where muscles lack more than before."""
            nonlocal most
            observed = self.observed(at, which)
            if observed is None:
                return None
            lacking = max((np.abs(o.residual).max() for o in observed if o.kind == RESERVE), default=0.0)
            if lacking > most:
                return None
            most = max(MORE_LACKING, lacking) if np.isinf(most) else most
            return self.linear([*observed, *self.tested(at)], noise)

        def step(number: int, value: float) -> None:
            share = 1.0 - 0.8**number
            report(f"calibration, step {number}, misfit {value:.4g}", span[0] + (span[1] - span[0]) * share)

        return minimize(evaluate, theta, prior or self.prior, step, least)
