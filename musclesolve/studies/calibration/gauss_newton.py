"""Weighted least squares with normal priors and bounds: Gauss-Newton, and what the measurements determined.

    minimize  sum_b w_b |r_b(theta)|^2 + (theta - m)^T P^-1 (theta - m),    lower <= theta <= upper,

over residuals r_b of curves b with weights w_b = 1 / (sd_b^2 n_b + e_b): neighboring samples of a smooth curve err
alike, and n_b of them count as one (`correlated_samples`). Systematic errors of an EMG channel, by another shape than
the assumed one, crosstalk and changes of its gain (`emg_errors` of priors.toml), count once for the whole channel: e_b
is the sum of their variances over all samples of the channel. Without e_b intervals hold only for envelopes that obey
this model of EMG (`python -m benchmarks.calibration.coverage --generator other`). A step is the bounded least-squares
solution of the linearized problem within a distance, halved where it does not help (Levenberg & Marquardt; Moré 1978).
Standard deviations sd_b and n_b belong to the residuals, and found with the fit. At the end, with A = J^T W J,

    C = (A + P^-1)^-1

is the covariance of the posterior (Gelman et al. 2013, Bayesian Data Analysis, section 4.1), with the prior
covariance P = L L^T. In the unit of the prior, L^T A L has an eigenvalue g for each direction: the variance along it
becomes 1 / (1 + g) of that before. Directions with g below one are those that the measurements do not determine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.message_text import enumerated

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

    def held(self, which: Mask | int, theta: Array) -> Prior:
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
            found = lsq_linear(
                matrix * prior.sd, right, (np.minimum(low, -1e-12), np.maximum(high, 1e-12)), method="bvls"
            )
            move = found.x * prior.sd
            expected = value - 2.0 * float(found.cost)
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
    """An undetermined mixture of parameters: shares by name, largest first; gain g of its information."""

    shares: tuple[tuple[str, float], ...]
    gain: float

    @property
    def sentence(self) -> str:
        """Meaning of the direction, in words."""
        names = [name for name, _ in self.shares]
        if len(names) == 1:
            return f"These trials say little about {names[0]}."
        (first, size), *others = self.shares
        if len(names) == 2:
            way = "together" if size * others[0][1] > 0.0 else "against each other"
            return f"{first} and {names[1]} are not told apart by these trials: both may change {way}."
        return f"{enumerated(names)} are not told apart by these trials."


def undetermined(posterior: Posterior, prior: Prior, names: Sequence[str]) -> tuple[Direction, ...]:
    """The directions on which the measurements have less information than the prior, the least known first.

    A parameter on which they have none is a direction by itself: mixtures of several such ones would be arbitrary.
    """
    seen = np.diag(posterior.information) * prior.sd**2 > NOTHING
    found = [Direction(((names[k], 1.0),), 0.0) for k in np.flatnonzero(~seen).tolist()]
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
        if all({name for name, _ in named} != {name for name, _ in each.shares} for each in found):
            found.append(Direction(named, float(max(gain, 0.0))))
    return tuple(found)
