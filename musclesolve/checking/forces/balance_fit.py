"""Which error of the plates the residual at the pelvis shows, how large it is, and how surely.

With what the plates measure as it is, the motion lacks a force and a moment about mid-hip: the residual r (T, 6). To
first order an error of a plate adds to it a known pattern times its size,

    r = sum_j A_j theta_j + sum_k B_k beta_k + e,

theta the corrections of the plates: the shift of a point of force (e x F), the scale of a plate (its wrench), the sign
or scale of its free moment (T), the delay of all forces (the derivative of their wrench). beta are the errors of the
body model, which every sound recording has and which are of the same size on everybody: masses of the segments, place
of the center of mass of the trunk, total mass. e is what is left: smooth errors of the markers, correlated in time.

e is taken as a process of the first order with a correlation time of 80 ms, so that e(t) - phi e(t-h) is white and the
number of independent samples is that of the recording and not that of its frames (Cochrane & Orcutt 1949). beta, and
the errors that plates always have, have normal priors. All is then linear and normal: the estimate of theta_j is that
of generalized least squares with the covariance of everything else,

    theta_j = (A' S^-1 A)^-1 A' S^-1 r,  S = cov(e) + B P B' + sum of all other A_i P_i A_i',

with the standard deviation of its error from (A' S^-1 A)^-1. Priors are standard deviations of sound recordings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array

# Correlation time of what is left of the residual [s].
CORRELATION = 0.08


@dataclass(frozen=True)
class Term:
    """One error of plates, or of the body model."""

    effect: Array  # (N, p) of its p parameters on all observations, whitened
    prior: Array  # (p,) standard deviations on sound recordings


@dataclass(frozen=True)
class Estimate:
    """An error as the residual shows it."""

    size: Array  # (p,) its parameters
    covariance: Array  # (p, p) of their errors
    # by how much its likelihood exceeds that of the same error as small as its prior has it, a logarithm
    evidence: float

    @property
    def deviation(self) -> Array:
        """Standard deviations (p,) of the errors of its parameters."""
        return np.sqrt(np.diag(self.covariance))


def whitened(values: Array, time: Array, deviation: Array) -> Array:
    """Return series (T, c, ...) as independent samples of variance one: of the first order in time, by component (c,).

    Frames that do not follow each other begin anew.
    """
    scaled = values / deviation.reshape(1, -1, *[1] * (values.ndim - 2))
    step = np.diff(time)
    phi = np.exp(-step / CORRELATION).reshape(-1, *[1] * (values.ndim - 1))
    white = scaled.copy()
    white[1:] = (scaled[1:] - phi * scaled[:-1]) / np.sqrt(1.0 - phi**2)
    return np.asarray(white.reshape(len(values) * values.shape[1], *values.shape[2:]))


def estimate(observed: Array, terms: Sequence[Term], free: Term) -> Estimate:
    """Estimate one error from observations (N,) of variance one; all others are as likely as their priors say."""
    loads = np.concatenate([term.effect * term.prior for term in terms if term is not free], axis=1)
    # (1 + L L')^-1 = 1 - L (1 + L' L)^-1 L'
    inner = np.linalg.inv(np.eye(loads.shape[1]) + loads.T @ loads)

    def weighted(columns: Array) -> Array:
        return np.asarray(columns - loads @ (inner @ (loads.T @ columns)))

    normal = free.effect.T @ weighted(free.effect)
    right = free.effect.T @ weighted(observed)
    size, covariance = np.linalg.solve(normal, right), np.linalg.inv(normal)
    usual = np.linalg.solve(normal + np.diag(free.prior**-2.0), right)
    return Estimate(
        np.asarray(size, float), np.asarray(covariance, float), 0.5 * float(right @ (size - usual))
    )


def remainder(observed: Array, terms: Sequence[Term]) -> Array:
    """Return what all errors together, each as large as fits best with its prior, leave of observations (N,)."""
    loads = np.concatenate([term.effect * term.prior for term in terms], axis=1)
    return np.asarray(
        observed - loads @ np.linalg.solve(np.eye(loads.shape[1]) + loads.T @ loads, loads.T @ observed)
    )
