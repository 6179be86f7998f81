"""Fit of body and plates: Gauss-Newton on the residuals of all trials, with priors and with errors that are not white.

Minimized over the parameters theta (P,) and the errors of the measured motion nu is

    1/2 sum_p (theta_p / sd_p)^2 + 1/2 (ln total mass / mass_sd)^2 + 1/2 |nu|^2
        + 1/2 sum over pieces of trials, components and frames of w^2

with the total mass over the stated one, since the body is weighed. The rest of the residual has two kinds of errors.
Errors of the measured motion (soft tissue, markers) have the frequencies of the motion itself and would be taken for
masses: nu are their cosines, each of variance 1, whose columns `errors_of_motion` gives; they are eliminated by their
Schur complement. The remainder r is a first-order autoregressive process of standard deviation sigma and correlation
rho at a lag of h frames, because it is low-passed and neighboring frames are redundant:

    w_i = (r_i - rho r_(i-h)) / (sigma sqrt(1 - rho^2)) / sqrt(h),        r_i / sigma / sqrt(h) for the first h frames

The h interleaved series of a piece count 1 / h each, or a few of them (`SERIES`) so much more; h is rate / (`SAMPLES`
cut-off). sigma and rho belong to one
component of one piece and follow from the fit by expectation maximization: the expected product of two remainders is
the product of the fitted ones plus their uncertainty from parameters and nu, so that a good fit by many unknowns is not
taken for small noise.

An acceleration with errors is a regressor with noise and draws masses to smaller values. So residual and derivatives
are low-passed at `BAND` of the cut-off of the motion, above which the errors of accelerations outweigh them.

At the optimum the posterior is normal, Sigma the inverse of the eliminated normal equations.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve.constants import WALKING_CUTOFF_HZ
from musclesolve.errors import input_error
from musclesolve.laboratory.motion.signals.low_pass import low_pass
from musclesolve.studies.calibration.body_residual import BODY, MASS, BodyParameter, TrialResidual

SAMPLES = 2.5
"""Samples of a signal in a period of its cut-off frequency that are taken as independent."""
BAND = 0.5
"""Share of the cut-off of the motion up to which residuals are fitted."""
SERIES = 4
"""Approximate number of interleaved series that are used; the others are redundant."""
LEAST_NOISE = 1e-3
"""Smallest standard deviation of a component of the residual [N, N m]."""
MOST_CORRELATED = 0.95
WIDE_PRIORS = 5.0
"""Factor on the widths of the priors of plates and total mass while the noise is estimated."""
UNDETERMINED = 0.95
"""Share of its prior standard deviation above which the posterior one shows an undetermined parameter."""
HELD_SD_FACTOR = 1e-4
"""Factor on the standard deviation of a parameter that keeps the parameter at its prior."""
TOLERANCE, MAX_ITERATIONS = 1e-3, 100
"""Largest move of a parameter, as a share of its prior standard deviation, at which the fit ends."""


@dataclass(frozen=True)
class Noise:
    """Standard deviation [N, N m] and correlation at the lag of each of the six components of a piece, (6,) each."""

    sd: Array
    correlation: Array
    lag: int


@dataclass(frozen=True)
class Prior:
    """Prior of independent parameters with standard deviations sd (P,), and of the ln of the body mass (mass_sd).

    shares (P,): of the mass of the body, 0 for a parameter that is no mass.
    """

    sd: Array
    shares: Array
    mass_sd: float

    def at(self, value: Array) -> tuple[Array, Array]:
        """Normal equations H (P, P) and b (P,) of the prior, its weighing linearized at a value (P,)."""
        change, slope = whole_mass(self.shares, value)
        hessian = np.diag(self.sd**-2) + np.outer(slope, slope) / self.mass_sd**2
        return hessian, slope * (slope @ value - change) / self.mass_sd**2


@dataclass(frozen=True)
class BodyFit:
    """The fitted parameters: value (P,), in SI or as logarithms, covariance (P, P), and the prior.

    determined (P,): whether the trials determine them; the others stay at their prior, 0, while the covariance holds
    with all parameters free. bound (P,): largest distance from 0; at_bound (P,): which of them it holds. mass_alone,
    mass_alone_sd: change of the logarithm of the whole mass, almost without priors. noise: of every piece.
    """

    parameters: tuple[BodyParameter, ...]
    prior: Prior
    value: Array
    covariance: Array
    determined: Mask
    bound: Array
    at_bound: Mask
    mass_alone: float
    mass_alone_sd: float
    noise: tuple[Noise, ...]

    @property
    def sd(self) -> Array:
        """Posterior standard deviation of each parameter, (P,)."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    @property
    def prior_sd(self) -> Array:
        """Prior standard deviation of each parameter, the body being weighed, (P,)."""
        return np.asarray(np.sqrt(np.diag(np.linalg.inv(self.prior.at(np.zeros(len(self.value)))[0]))))

    @property
    def mass(self) -> tuple[float, float]:
        """Change of the logarithm of the whole mass, and its standard deviation."""
        change, slope = whole_mass(self.prior.shares, self.value)
        return change, float(np.sqrt(slope @ self.covariance @ slope))


def whole_mass(shares: Array, value: Array) -> tuple[float, Array]:
    """Logarithm of the whole mass over the mass of the parent, ln sum(share exp(value)), and its derivatives (P,)."""
    parts = shares * np.exp(np.where(shares > 0.0, value, 0.0))
    return float(np.log(parts.sum())), parts / parts.sum()


def fit_body(
    pieces: Sequence[TrialResidual],
    parameters: Sequence[BodyParameter],
    shares: Mapping[str, float],
    *,
    mass_sd: float,
    bound: float,
    soft_tissue: float,
) -> BodyFit:
    """Fit the parameters to the residuals of pieces of trials.

    Three times. Without bounds, with priors of plates and of the whole mass that are `WIDE_PRIORS` times as wide: from
    it the noise follows, for what a wrong body mass or clock costs must not pass for noise. Then with the priors and
    this noise, which shows what is determined; and again with the rest at its prior.

    Args:
        pieces: of trials of one subject, at least one.
        parameters: what is fitted, the mass of every group of segments among them.
        shares: group of segments -> share of the body mass.
        mass_sd: prior standard deviation of the logarithm of the whole mass.
        bound: largest distance from the prior, in its standard deviations.
        soft_tissue: standard deviation of the errors of the measured motion, along each axis [m].
    """
    weighed = np.array([shares[one.of] if one.quantity == MASS else 0.0 for one in parameters])
    scale = np.array([one.sd for one in parameters])
    of_plates = np.array([one.quantity not in BODY for one in parameters])
    prior = Prior(scale, weighed, mass_sd)
    wide = Prior(np.where(of_plates, WIDE_PRIORS * scale, scale), weighed, WIDE_PRIORS * mass_sd)
    limit, zero = bound * scale, np.zeros(len(scale))
    system = _System.from_pieces(pieces, parameters, soft_tissue)
    alone, of_alone, noise, _ = system.optimum(wide, np.full(len(scale), np.inf), zero, None)
    every, of_every, _, _ = system.optimum(prior, limit, np.clip(alone, -limit, limit), noise)
    prior_variance = np.diag(np.linalg.inv(prior.at(zero)[0]))
    determined = np.diag(of_every) < UNDETERMINED**2 * prior_variance
    determined &= np.array([one.free for one in parameters])
    kept = replace(prior, sd=np.where(determined, 1.0, HELD_SD_FACTOR) * scale)
    held, _, _, at_bound = system.optimum(kept, limit, np.where(determined, every, 0.0), noise)
    change, slope = whole_mass(weighed, alone)
    return BodyFit(
        parameters=tuple(parameters),
        prior=prior,
        value=np.where(determined, held, 0.0),
        covariance=of_every,
        determined=determined,
        bound=limit,
        at_bound=at_bound & determined,
        mass_alone=change,
        mass_alone_sd=float(np.sqrt(slope @ of_alone @ slope)),
        noise=tuple(noise),
    )


def fit_like(
    fit: BodyFit, pieces: Sequence[TrialResidual], noise: Sequence[Noise], soft_tissue: float
) -> Array:
    """Fit the parameters (P,) to some pieces alone, with the noise and the determined parameters of a fit."""
    prior = replace(fit.prior, sd=np.where(fit.determined, 1.0, HELD_SD_FACTOR) * fit.prior.sd)
    system = _System.from_pieces(pieces, fit.parameters, soft_tissue)
    value, *_ = system.optimum(prior, fit.bound, fit.value, list(noise))
    return np.where(fit.determined, value, 0.0)


@dataclass(frozen=True)
class _System:
    """The pieces, the parameters, and the slow columns (F, 6, k) of the errors of each piece's motion."""

    pieces: Sequence[TrialResidual]
    parameters: Sequence[BodyParameter]
    errors: list[Array]

    @classmethod
    def from_pieces(
        cls, pieces: Sequence[TrialResidual], parameters: Sequence[BodyParameter], soft_tissue: float
    ) -> Self:
        errors = [_slow(piece, piece.errors_of_motion(_cutoff(piece), soft_tissue)) for piece in pieces]
        return cls(pieces, parameters, errors)

    def optimum(
        self, prior: Prior, limit: Array, start: Array, noise: list[Noise] | None
    ) -> tuple[Array, Array, list[Noise], Mask]:
        """Find the optimum from a start (P,), with bounds (P,); a noise of None is estimated, too.

        Returns value (P,), covariance (P, P) and noise of the fit, and which parameters a bound holds (P,).
        """
        theta, known = start, noise is not None
        if noise is None:
            # white, about the mean: a constant residual, as of a wrong body mass, is first left to the parameters
            sizes = [self._at(piece, theta)[..., 0].std(axis=0) for piece in self.pieces]
            noise = [
                Noise(np.maximum(size, LEAST_NOISE), np.zeros(6), _lag(piece))
                for piece, size in zip(self.pieces, sizes, strict=True)
            ]
        for _ in range(MAX_ITERATIONS):
            hessian, pull = prior.at(theta)
            parts = []
            for piece, noise_of_piece, error in zip(self.pieces, noise, self.errors, strict=True):
                both = self._at(piece, theta)
                ours, theirs = _whitened(piece, noise_of_piece, both), _whitened(piece, noise_of_piece, error)
                # (1 - T (1 + T^T T)^-1 T^T) = (1 + T T^T)^-1: nu eliminated
                gram = np.eye(len(theirs)) + theirs @ theirs.T
                left = np.linalg.solve(gram, ours)
                hessian += ours[:, 1:].T @ left[:, 1:]
                pull += ours[:, 1:].T @ (left[:, 1:] @ theta - left[:, 0])
                if not known:
                    spread = np.eye(theirs.shape[1]) - theirs.T @ np.linalg.solve(gram, theirs)
                    parts.append((piece, both - error @ (theirs.T @ left), error, spread))
            optimum, held = _bounded(hessian, pull, limit)
            covariance = np.asarray(np.linalg.inv(hessian), float)
            change, theta = optimum - theta, optimum
            if not known:
                noise = [
                    _noise(
                        piece,
                        left[..., 0] + left[..., 1:] @ change,
                        [(left[..., 1:], covariance), (error, spread)],
                    )
                    for piece, left, error, spread in parts
                ]
            if np.abs(change / prior.sd).max() < TOLERANCE:
                return theta, covariance, noise, held
        raise input_error(
            "bad_forces",
            problem=f"the fit of body and plates does not settle within {MAX_ITERATIONS} iterations",
            expected="motion and ground forces of one subject that fit each other",
            remedy="look for faults first: musclesolve check TRIAL.toml",
        )

    def _at(self, piece: TrialResidual, values: Array) -> Array:
        """Residual and its derivatives, (F, 6, 1 + P), low-passed."""
        residual, slope = piece.at(self.parameters, values)
        return _slow(piece, np.concatenate([residual[..., None], slope], axis=2))


def _bounded(hessian: Array, pull: Array, limit: Array) -> tuple[Array, Mask]:
    """Least 1/2 x^T H x - b^T x within -limit <= x <= limit, (P,), and which of them a bound holds."""
    from scipy.optimize import lsq_linear

    if np.isinf(limit).any():
        return np.asarray(np.linalg.solve(hessian, pull)), np.zeros(len(limit), bool)
    root = np.linalg.cholesky(hessian).T  # H = R^T R
    solved = lsq_linear(root * limit, np.linalg.solve(root.T, pull), (-1.0, 1.0), method="bvls", tol=1e-12)
    return solved.x * limit, np.abs(solved.x) > 1.0 - 1e-9


def _cutoff(piece: TrialResidual) -> float:
    return BAND * (piece.trial.settings.filter.fixed_cutoff or WALKING_CUTOFF_HZ)


def _slow(piece: TrialResidual, columns: Array) -> Array:
    """Columns (F, 6, k) of a piece, low-passed at `BAND` of the cut-off of the motion."""
    flat = columns.reshape(len(columns), -1)
    return low_pass(flat, piece.trial.markers.rate, _cutoff(piece)).reshape(columns.shape)


def _lag(piece: TrialResidual) -> int:
    return min(max(1, round(piece.trial.markers.rate / (SAMPLES * _cutoff(piece)))), len(piece.time) - 1)


def _whitened(piece: TrialResidual, noise: Noise, columns: Array) -> Array:
    """Columns (F, 6, k) as rows (6 F, k) of independent errors of variance 1, see the top of the module."""
    lag, rho = noise.lag, noise.correlation[:, None]
    step = max(1, lag // SERIES)
    later = columns[lag::step] - rho * columns[: len(columns) - lag : step]
    white = np.concatenate([columns[:lag:step], later / np.sqrt(1.0 - rho**2)])
    return (white / noise.sd[:, None] * np.sqrt(step / lag)).reshape(-1, columns.shape[2])


def _noise(piece: TrialResidual, residual: Array, uncertain: Sequence[tuple[Array, Array]]) -> Noise:
    """Noise of a piece from its residual (F, 6) and its uncertainty: slopes (F, 6, k), covariances (k, k)."""
    lag = _lag(piece)
    step = max(1, lag // SERIES)
    level, product = (residual**2).mean(axis=0), (residual[lag:] * residual[:-lag]).mean(axis=0)
    ends = 0.5 * (residual[lag:] ** 2 + residual[:-lag] ** 2).mean(axis=0)
    for slope, covariance in uncertain:
        early, late = slope[: len(slope) - lag : step], slope[lag::step]
        spread = late @ covariance
        both = 0.5 * ((spread * late).sum(axis=2) + (early @ covariance * early).sum(axis=2)).mean(axis=0)
        level, ends = level + both, ends + both
        product = product + (spread * early).sum(axis=2).mean(axis=0)
    correlation = product / np.maximum(ends, LEAST_NOISE**2)
    sd = np.maximum(np.sqrt(level), LEAST_NOISE)
    return Noise(sd, np.clip(correlation, -MOST_CORRELATED, MOST_CORRELATED), lag)
