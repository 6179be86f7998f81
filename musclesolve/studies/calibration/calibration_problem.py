"""The least-squares problem of a calibration: residuals of all trials, their noise, and its solution.

Weighted least squares with normal priors and bounds: Gauss-Newton, and what the measurements determined.

    minimize  sum_b w_b |r_b(theta)|^2 + (theta - m)^T P^-1 (theta - m),    lower <= theta <= upper,

over residuals r_b of curves b with weights w_b = 1 / (sd_b^2 n_b + e_b): neighboring samples of a smooth curve err
alike, and n_b of them count as one (`correlated_samples`). Systematic errors of an EMG channel, by another shape than
the assumed one, crosstalk and changes of its gain (`emg_errors` of priors.toml), count once for the whole channel: e_b
is the sum of their variances over all samples of the channel. Without e_b intervals hold only for envelopes that obey
this model of EMG. A step is the bounded least-squares
solution of the linearized problem within a distance, halved where it does not help (Levenberg & Marquardt; Moré 1978).
Standard deviations sd_b and n_b belong to the residuals, and found with the fit. At the end, with A = J^T W J,

    C = (A + P^-1)^-1

is the covariance of the posterior (Gelman et al. 2013, Bayesian Data Analysis, section 4.1), with the prior
covariance P = L L^T. In the unit of the prior, L^T A L has an eigenvalue g for each direction: the variance along it
becomes 1 / (1 + g) of that before. Directions with g below one are those that the measurements do not determine.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Self

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.messages import Progress, enumerated, no_progress
from musclesolve.laboratory.bodies.strength_geometry import StrengthGeometry
from musclesolve.muscles.strength_tests import StrengthTest
from musclesolve.studies.calibration.free_parameters import (
    DELAY,
    OF_EMG,
    SHAPE,
    STRENGTH,
    Factor,
    directions_of,
)
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

LONGEST_STEP = 0.3
"""Longest step of a parameter [natural logarithm], and no longer than its prior standard deviation."""
MOST_STEPS, MOST_HALVINGS = 30, 5
CONVERGED = 2e-2
"""Least decrease of the sum of squares for another step; one standard deviation is a decrease of 1."""
LEAST_GAIN = 1.0
"""Information over that of the prior from which a direction is determined."""
NOTHING = 1e-9
"""Information on a parameter over that of the prior up to which the measurements say nothing about it."""
HELD = 1e-9
"""Distance by which a held parameter may move, because bounds must differ."""
NAMED = 0.35
"""Least share of a direction for a parameter to be named with it."""


@dataclass(frozen=True, eq=False)
class Linear:
    """Weighted residuals (N,) and their derivatives (N, P) at a theta."""

    residual: Array
    jacobian: Array


@dataclass(frozen=True, eq=False)
class Prior:
    """Prior of P parameters: mean and bounds, (P,) each, and covariance (P, P)."""

    mean: Array
    covariance: Array
    lower: Array
    upper: Array

    @property
    def sd(self) -> Array:
        """Standard deviations (P,)."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    @property
    def root(self) -> Array:
        """The matrix L (P, P) with L L^T = covariance: theta - mean = L x of independent standard normal x."""
        return np.asarray(np.linalg.cholesky(self.covariance), np.float64)

    @property
    def whitening(self) -> Array:
        """The inverse of `root`."""
        return np.asarray(np.linalg.inv(self.root), np.float64)

    def held(self, which: Mask | int, theta: Array) -> Self:
        """The prior with bounds that leave some parameters, by mask or number, only `HELD` around theta (P,)."""
        low, high = self.lower.copy(), self.upper.copy()
        low[which], high[which] = theta[which] - HELD, theta[which] + HELD
        return replace(self, lower=low, upper=high)


@dataclass(frozen=True, eq=False)
class Posterior:
    """Result of the fit: theta (P,), covariance (P, P), information A (P, P), the sum of squares, steps, converged."""

    theta: Array
    covariance: Array
    information: Array
    squares: float
    steps: int
    converged: bool


def squares(linear: Linear, theta: Array, prior: Prior) -> float:
    """The sum of squares at theta."""
    return float(np.square(linear.residual).sum() + np.square(prior.whitening @ (theta - prior.mean)).sum())


def minimize(
    evaluate: Callable[[Array], Linear | None],
    theta: Array,
    prior: Prior,
    report: Callable[[int, float], None] = lambda step, value: None,
    least: float = CONVERGED,
) -> Posterior:
    """Gauss-Newton from a theta (P,) at which there is an optimum; `evaluate` returns None where there is none.

    The iteration ends when the next step promises a decrease of less than `least`.
    """
    from scipy.optimize import lsq_linear

    now = evaluate(theta)
    if now is None:
        raise ValueError("the residuals at the start are not known")
    value, radius, step = squares(now, theta, prior), 1.0, 0
    longest = np.minimum(LONGEST_STEP, prior.sd)
    converged = False
    for step in range(1, MOST_STEPS + 1):
        report(step, value)
        matrix = np.vstack([now.jacobian, prior.whitening])
        right = -np.append(now.residual, prior.whitening @ (theta - prior.mean))
        for _ in range(MOST_HALVINGS):
            # scaled to the prior, so that the matrix is well conditioned
            low = np.maximum(prior.lower - theta, -radius * longest) / prior.sd
            high = np.minimum(prior.upper - theta, radius * longest) / prior.sd
            solution = lsq_linear(
                matrix * prior.sd, right, (np.minimum(low, -1e-12), np.maximum(high, 1e-12)), method="bvls"
            )
            move = solution.x * prior.sd
            expected = value - 2.0 * float(solution.cost)
            if expected < least:
                converged = True
                break
            moved = np.clip(theta + move, prior.lower, prior.upper)
            there = evaluate(moved)
            after = np.inf if there is None else squares(there, moved, prior)
            if there is not None and after < value:
                gained = value - after
                theta, now, value = moved, there, after
                radius = min(1.0, 2.0 * radius) if gained > 0.5 * expected else radius
                break
            radius = 0.3 * float((np.abs(move) / longest).max())
        else:
            break
        if converged:
            break
    information = now.jacobian.T @ now.jacobian
    covariance = np.asarray(np.linalg.inv(information + np.linalg.inv(prior.covariance)), np.float64)
    return Posterior(theta, covariance, information, value, step, converged)


@dataclass(frozen=True)
class Direction:
    """An undetermined parameter or mixture of parameters: shares by name, largest first; gain g of its information."""

    shares: tuple[tuple[str, float], ...]
    gain: float

    @property
    def sentence(self) -> str:
        """Meaning of a mixture, in words."""
        names, sizes = zip(*self.shares, strict=True)
        way = "together" if sizes[0] * sizes[-1] > 0.0 else "against each other"
        which = f": both may change {way}" if len(names) == 2 else ""
        return f"{enumerated(names)} are not told apart by these trials{which}."


def sentences_of(directions: Sequence[Direction]) -> list[str]:
    """One sentence for all parameters that are undetermined by themselves, and one for each mixture."""
    alone = [direction.shares[0][0] for direction in directions if len(direction.shares) == 1]
    little = [f"These trials say little about {enumerated(alone)}."] if alone else []
    return little + [direction.sentence for direction in directions if len(direction.shares) > 1]


def undetermined(posterior: Posterior, prior: Prior, names: Sequence[str]) -> tuple[Direction, ...]:
    """The directions on which the measurements have less information than the prior, the least known first.

    A parameter on which they have none is a direction by itself: mixtures of several such ones would be arbitrary.
    """
    seen = np.diag(posterior.information) * prior.sd**2 > NOTHING
    ways = [Direction(((names[k], 1.0),), 0.0) for k in np.flatnonzero(~seen).tolist()]
    measured = np.flatnonzero(seen)
    block = np.ix_(measured, measured)
    root = np.linalg.cholesky(prior.covariance[block])
    gains, mixtures = np.linalg.eigh(root.T @ posterior.information[block] @ root)
    for gain, mixture in zip(gains, mixtures.T, strict=True):
        if gain >= LEAST_GAIN:
            break
        vector = root @ mixture / prior.sd[measured]
        vector = vector / np.linalg.norm(vector)
        order = np.argsort(-np.abs(vector))
        least = min(NAMED, np.abs(vector).max())
        named = tuple((names[measured[k]], float(vector[k])) for k in order if abs(vector[k]) >= least)
        # two mixtures of the same parameters: neither is determined
        if all({name for name, _ in named} != {name for name, _ in way.shares} for way in ways):
            ways.append(Direction(named, float(max(gain, 0.0))))
    return tuple(ways)


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
        now = [getattr(muscles, factor.quantity)[np.isin(muscles.names, factor.muscles)] for muscles in every]
        return float(np.log(factor.around / np.median(np.concatenate(now))))

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
            of_trials = list(threads.map(of_trial, which))
        if any(of_one is None for of_one in of_trials):
            return None
        return [observation for of_one in of_trials for observation in of_one or ()]

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
