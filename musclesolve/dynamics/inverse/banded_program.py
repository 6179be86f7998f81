"""Quadratic programs along a motion: a frame is coupled with the next two frames; bounds hold frame by frame.

minimize 1/2 x^T H x - g^T x subject to C_t x_t >= 0 in every frame t, by a primal-dual interior point method with
Mehrotra's predictor and corrector (Mehrotra 1992, SIAM J Optim 2:575-601). The Newton matrix H + C^T (Z/S) C has the
band of H, so one iteration costs a banded Cholesky factorization.
"""

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array

MOST_ITERATIONS = 100
ACCURATE = 1e-8
"""Largest residual of the conditions for an optimum at which the iterations end."""


@dataclass(frozen=True)
class BandedProgram:
    """The program of T frames with n unknowns each.

    band (k+1, T n): H by its diagonals, the main one first (`scipy.linalg.cholesky_banded(lower=True)`); linear (T, n):
    g; rows (T, m, n): C.
    """

    band: Array
    linear: Array
    rows: Array

    def solve(self) -> tuple[Array, float]:
        """The unknowns (T, n), and the largest residual of the conditions for an optimum."""
        from scipy.linalg import cholesky_banded

        frames, bounds, _ = self.rows.shape
        x = np.zeros_like(self.linear)
        slack = np.full((frames, bounds), 0.1)
        multiplier = np.full((frames, bounds), 0.1)
        error = np.inf
        for _ in range(MOST_ITERATIONS):
            dual = banded_product(self.band, x) - self.linear - np.einsum("tmn,tm->tn", self.rows, multiplier)
            primal = np.einsum("tmn,tn->tm", self.rows, x) - slack
            gap = float((slack * multiplier).mean())
            error = max(np.abs(dual).max(), np.abs(primal).max(), gap)
            if error < ACCURATE:
                break
            try:
                weight = multiplier / slack
                band, unknowns = self.band.copy(), self.rows.shape[2]
                added = np.einsum("tmi,tm,tmj->tij", self.rows, weight, self.rows, optimize=True)
                for i in range(unknowns):
                    for j in range(i + 1):
                        band[i - j, j::unknowns] += added[:, i, j]
                factor = cholesky_banded(band, lower=True, check_finite=False)
            except np.linalg.LinAlgError:  # beyond the accuracy of the machine; the residual stays large
                break
            at = factor, dual, primal, slack, multiplier
            _, ds, dz = self._step(slack * multiplier, *at)
            length = min(_longest(slack, ds), _longest(multiplier, dz))
            after = float(((slack + length * ds) * (multiplier + length * dz)).mean())
            dx, ds, dz = self._step(slack * multiplier + ds * dz - (after / gap) ** 3 * gap, *at)
            length = min(_longest(slack, ds), _longest(multiplier, dz))
            x, slack, multiplier = x + length * dx, slack + length * ds, multiplier + length * dz
        return x, float(error)

    def _step(
        self, product: Array, factor: Array, dual: Array, primal: Array, slack: Array, multiplier: Array
    ) -> tuple[Array, Array, Array]:
        """Changes of unknowns, slacks and multipliers that solve the linearized conditions.

        H dx - C^T dz = -dual, C dx - ds = -primal, slack dz + multiplier ds = -product; factor: of the Newton matrix.
        """
        from scipy.linalg import cho_solve_banded

        right = np.einsum("tmn,tm->tn", self.rows, (-product - multiplier * primal) / slack) - dual
        dx = cho_solve_banded((factor, True), right.ravel(), check_finite=False).reshape(right.shape)
        ds = np.einsum("tmn,tn->tm", self.rows, dx) + primal
        return dx, ds, (-product - multiplier * ds) / slack


def banded_product(band: Array, x: Array) -> Array:
    """H x in the shape of x, of a symmetric matrix H by its diagonals (k + 1, n), the main one first, and n numbers."""
    flat = x.ravel()
    product = band[0] * flat
    for k in range(1, min(len(band), flat.size)):
        product[k:] += band[k, :-k] * flat[:-k]
        product[:-k] += band[k, :-k] * flat[k:]
    return np.asarray(product.reshape(x.shape))


def _longest(value: Array, change: Array) -> float:
    """The longest step, at most 1, that keeps values positive."""
    falls = change < 0.0
    return min(1.0, 0.99 * float((-value[falls] / change[falls]).min())) if falls.any() else 1.0


def second_difference_band(frames: int) -> Array:
    """D^T D of second differences over time by its three diagonals, (3, T); zero for fewer than three frames."""
    band = np.zeros((3, frames))
    for shift, values in ((0, (1.0, 4.0, 1.0)), (1, (-2.0, -2.0)), (2, (1.0,))):
        for place, value in enumerate(values):
            band[shift, place : place + max(frames - 2, 0)] += value
    return band
