"""A primal-dual interior-point method for a motion whose frames are coupled by rate limits.

With the slacks of the limits s = G a - h >= 0 and their multipliers y >= 0,

    f'(a) - A^T lambda - G^T y - z_l + z_u = 0      A a + C lambda = b      G a - h = s
    (a - lower) z_l = mu omega     (upper - a) z_u = mu omega     s y = mu omega_s     mu -> 0

A Newton step eliminates all but a and lambda. Each row of G joins one muscle in two neighboring frames, so that the
system, ordered frame by frame, is a band of n + m on either side: factors and solutions cost what a frame costs, times
the frames. Steps are Mehrotra's pair of predictor and corrector, as in the method for single frames.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.kernel.constants import FIRST, FIRST_MU, NO_ROOM, TO_BOUNDARY
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_scale import load, slope_scale
from musclesolve.sharing.rate.rate_certificate import Coupling, coupled_residual

LEAST_OMEGA = 1e-10
LEAST_MU = 1e-15  # nearer to the bounds round-off in ratios of multipliers and slacks exceeds the slopes
LEAST_MU_EVER = 1e-20
GOOD_ENOUGH = 1e-7  # certificate with which it ends as soon as that gets no better
PATIENCE = 6  # iterations


@dataclass(frozen=True, eq=False)
class CoupledAttempt:
    """What the method claims: (T, n), (T, m), (2, T-1, n), with the certificate and the iterations."""

    activation: Array
    multiplier: Array
    limit_multiplier: Array
    residual: float
    iterations: int


@dataclass
class _Point:
    a: Array
    below: Array
    above: Array
    slack: Array  # (2, T-1, n)
    z_l: Array
    z_u: Array
    y: Array
    multiplier: Array
    missing: Array  # G a - h - s; round-off in it would be large beside the smallest slacks, so it is not recomputed


@dataclass
class _Move:
    a: Array
    slack: Array
    z_l: Array
    z_u: Array
    y: Array
    multiplier: Array


def solve_coupled(
    problem: Problem,
    coupling: Coupling,
    cost: Cost,
    compliance: Array,
    multiplier_size: Array | None = None,
    tolerance: float = 1e-9,
    max_iterations: int = 150,
) -> CoupledAttempt:
    """Minimise the sum of the cost over the frames.

    The compliance C (T, m) is zero where there is no reserve. `multiplier_size` (T,) is the order of magnitude of the
    largest multipliers, needed where stiff reserves make A^T lambda far larger than the marginal costs. The tolerance
    is a certificate; 1e-7 will do where it gets no better. The best iterate is returned.
    """
    method = _Method(problem, coupling, cost, compliance, multiplier_size)
    best = CoupledAttempt(*method.iterate(), np.inf, 0)
    with np.errstate(all="ignore"):
        for iteration in range(max_iterations + 1):
            activation, multiplier, limit_multiplier = method.iterate()
            residual = method.residual(activation, multiplier, limit_multiplier)
            if not np.isfinite(residual):
                break
            if residual < best.residual:
                best = CoupledAttempt(activation, multiplier, limit_multiplier, residual, iteration)
            stuck = best.residual <= GOOD_ENOUGH and iteration >= best.iterations + PATIENCE
            if residual <= tolerance or stuck:
                break
            if iteration < max_iterations and not method.step():
                break
    return best


class _Method:
    """The iteration."""

    def __init__(
        self,
        problem: Problem,
        coupling: Coupling,
        cost: Cost,
        compliance: Array,
        multiplier_size: Array | None,
    ) -> None:
        self.problem, self.coupling, self.cost, self.compliance = problem, coupling, cost, compliance
        self.matrix = problem.moment_matrix
        self.free = (problem.upper - problem.lower > NO_ROOM).astype(np.float64)
        self.omega = own = self._weights()
        if multiplier_size is not None:
            self.omega = np.maximum(own, multiplier_size[:, None] * np.abs(self.matrix).max(axis=1))
        self.least_mu = max(LEAST_MU * float((own / self.omega).min()), LEAST_MU_EVER)
        self.omega_s = np.minimum(self.omega[:-1], self.omega[1:])[None] * np.ones((2, 1, 1))
        self.band = _Band(*self.matrix.shape)
        self.x = self._start()

    def _weights(self) -> Array:
        arms = np.abs(self.matrix).max(axis=1)
        scale = slope_scale(self.problem, self.cost, load(self.problem))
        total = (scale * self.free).sum(axis=1, keepdims=True)
        strength = (arms * self.free).sum(axis=1, keepdims=True)
        typical = np.divide(total, strength, out=np.ones_like(total), where=(total > 0) & (strength > 0))
        scale = np.maximum(scale, typical * arms)
        largest = scale.max()
        return np.maximum(scale, LEAST_OMEGA * (largest if largest > 0 else 1.0))

    def _start(self) -> _Point:
        lower, upper = self.problem.lower, self.problem.upper
        first = np.clip(load(self.problem), *FIRST).mean()
        width = np.where(self.free > 0, upper - lower, 1.0)
        a = np.where(self.free > 0, lower + first * width, lower)
        slack = np.maximum(self.coupling.slack(a), 0.01 * first)
        return _Point(
            a=a,
            below=first * width,
            above=(1.0 - first) * width,
            slack=slack,
            z_l=FIRST_MU * self.omega / (first * width),
            z_u=FIRST_MU * self.omega / ((1.0 - first) * width),
            y=FIRST_MU * self.omega_s / np.maximum(slack, 0.1),
            multiplier=np.zeros_like(self.problem.moment),
            missing=self.coupling.slack(a) - slack,
        )

    def iterate(self) -> tuple[Array, Array, Array]:
        x = self.x
        return np.clip(x.a, self.problem.lower, self.problem.upper), x.multiplier.copy(), x.y.copy()

    def residual(self, activation: Array, multiplier: Array, limit_multiplier: Array) -> float:
        reserve = self.compliance * multiplier
        given = (self.problem, self.coupling, self.cost, activation, reserve, multiplier, limit_multiplier)
        return float(coupled_residual(*given, self.compliance).max())

    def step(self) -> bool:
        """One predictor-corrector step; False where it breaks down."""
        x, problem = self.x, self.problem
        ratio_l, ratio_u, ratio_s = x.z_l / x.below, x.z_u / x.above, x.y / x.slack
        slope = self.cost.total_gradient(problem, x.a)
        pull = np.matmul(x.multiplier[:, None, :], self.matrix)[:, 0, :]
        short = problem.moment - np.matmul(self.matrix, x.a[:, :, None])[:, :, 0]
        short = short - self.compliance * x.multiplier
        missing = x.missing
        hessian = self.cost.hessian(problem, x.a)
        diagonal = ratio_l + ratio_u + self.coupling.diagonal(ratio_s)
        if not self.band.factor(
            hessian, diagonal, self.coupling.beside(ratio_s), self.matrix, self.compliance, self.free
        ):
            return False

        def direction(push_l: Array | float, push_u: Array | float, push_s: Array | float) -> _Move:
            right = pull - slope + push_l - push_u + self.coupling.pull(push_s - ratio_s * missing)
            d_a, d_multiplier = self.band.solve(right * self.free, short)
            d_slack = self.coupling.change(d_a) + missing
            return _Move(
                d_a,
                d_slack,
                (push_l - x.z_l - ratio_l * d_a) * self.free,
                (push_u - x.z_u + ratio_u * d_a) * self.free,
                push_s - x.y - ratio_s * d_slack,
                d_multiplier,
            )

        zero = np.zeros_like(x.slack)
        guess = direction(0.0, 0.0, zero)
        reach = self._length(guess, 1.0)
        mu = max(self._centering(reach, guess), self.least_mu)
        bent = reach * reach
        move = direction(
            (mu * self.omega - bent * guess.a * guess.z_l) / x.below,
            (mu * self.omega + bent * guess.a * guess.z_u) / x.above,
            (mu * self.omega_s - bent * guess.slack * guess.y) / x.slack,
        )
        self._advance(move, self._length(move, TO_BOUNDARY))
        return bool(np.isfinite(x.a).all() and np.isfinite(x.multiplier).all())

    def _advance(self, move: _Move, t: float) -> None:
        x, lower, upper = self.x, self.problem.lower, self.problem.upper
        x.multiplier = x.multiplier + t * move.multiplier
        x.z_l, x.z_u, x.y = x.z_l + t * move.z_l, x.z_u + t * move.z_u, x.y + t * move.y
        x.below, x.above, x.slack = x.below + t * move.a, x.above - t * move.a, x.slack + t * move.slack
        x.missing = (1.0 - t) * x.missing
        least = 1e-15 * (upper - lower)
        x.a = np.where(self.free > 0, np.clip(x.a + t * move.a, lower + least, upper - least), x.a)

    def _length(self, move: _Move, share: float) -> float:
        x = self.x
        pairs = [(move.a, x.below), (-move.a, x.above), (move.slack, x.slack)]
        pairs += [(move.z_l, x.z_l), (move.z_u, x.z_u), (move.y, x.y)]
        shrink = max(float((-d / size).max(initial=0.0)) for d, size in pairs)
        return share / max(shrink, share)

    def _centering(self, t: float, d: _Move) -> float:
        x = self.x
        now = self._gap(x.below, x.above, x.slack, x.z_l, x.z_u, x.y)
        later = (x.below + t * d.a, x.above - t * d.a, x.slack + t * d.slack)
        then = self._gap(*later, x.z_l + t * d.z_l, x.z_u + t * d.z_u, x.y + t * d.y)
        return (then / max(now, 1e-300)) ** 3 * now

    def _gap(self, below: Array, above: Array, slack: Array, z_l: Array, z_u: Array, y: Array) -> float:
        weight = self.free / self.omega
        total = ((below * z_l + above * z_u) * weight).sum() + (slack * y / self.omega_s).sum()
        return float(total / max(2.0 * self.free.sum() + y.size, 1.0))


class _Band:
    """The Newton system in (da, dlambda), frame by frame, as a banded matrix with its factors."""

    def __init__(self, frames: int, dofs: int, muscles: int) -> None:
        from scipy.linalg import get_lapack_funcs

        self.shape = (frames, dofs, muscles)
        self.width = width = dofs + muscles
        self.size = frames * width
        start = np.arange(frames)[:, None, None] * width
        row, column = np.meshgrid(np.arange(width), np.arange(width), indexing="ij")
        # LAPACK keeps entry (i, j) in row kl + ku + i - j; here kl = ku = width
        self.places = (2 * width + row - column + 0 * start, start + column)
        self.beside = (np.arange(frames - 1)[:, None] * width + np.arange(muscles)).reshape(-1)
        self._trf, self._trs = get_lapack_funcs(("gbtrf", "gbtrs"), dtype=np.float64)

    def factor(
        self, hessian: Array, diagonal: Array, beside: Array, matrix: Array, compliance: Array, free: Array
    ) -> bool:
        """[K, -A^T; A, C] with the rows of muscles that cannot move set aside; False where it is singular."""
        frames, _, muscles = self.shape
        block = np.zeros((frames, self.width, self.width))
        both = free[:, :, None] * free[:, None, :]
        block[:, :muscles, :muscles] = hessian * both
        np.einsum("tii->ti", block[:, :muscles, :muscles])[...] += diagonal * free + (1.0 - free)
        moving = matrix * free[:, None, :]
        # variables in units in which the diagonal is one, rows in units of their largest entry then
        self.unit = 1.0 / np.sqrt(np.einsum("tii->ti", block[:, :muscles, :muscles]))
        scaled = moving * self.unit[:, None, :]
        size = np.sqrt(np.square(scaled).sum(axis=2) + compliance)
        self.row = 1.0 / np.where(size > 0, size, 1.0)
        scaled = scaled * self.row[:, :, None]
        block[:, :muscles, :muscles] *= self.unit[:, :, None] * self.unit[:, None, :]
        block[:, muscles:, :muscles] = scaled
        block[:, :muscles, muscles:] = -scaled.transpose(0, 2, 1)
        soft = compliance * self.row**2
        np.einsum("tkk->tk", block[:, muscles:, muscles:])[...] = np.maximum(soft, 1e-14)
        band = np.zeros((3 * self.width + 1, self.size))
        band[self.places] = block
        link = beside * free[:-1] * free[1:] * self.unit[:-1] * self.unit[1:]
        band[2 * self.width + self.width, self.beside] = link.reshape(-1)
        band[2 * self.width - self.width, self.beside + self.width] = link.reshape(-1)
        self.kept = band
        self.factors, self.pivots, info = self._trf(band, self.width, self.width)
        return bool(info == 0 and np.isfinite(self.factors).all())

    def solve(self, right: Array, short: Array) -> tuple[Array, Array]:
        """Moves da (T, n) and dlambda (T, m), with one step of refinement."""
        muscles = self.shape[2]
        b = np.concatenate([right * self.unit, short * self.row], axis=1).reshape(-1)
        x = self._back(b)
        x = (x + self._back(b - self._times(x))).reshape(-1, self.width)
        return x[:, :muscles] * self.unit, x[:, muscles:] * self.row

    def _back(self, b: Array) -> Array:
        x, _ = self._trs(self.factors, self.width, self.width, b, self.pivots)
        return x  # type: ignore[no-any-return]

    def _times(self, x: Array) -> Array:
        frames = self.shape[0]
        block = self.kept[self.places]
        product = np.matmul(block, x.reshape(frames, self.width, 1)).reshape(-1)
        link = self.kept[3 * self.width, self.beside]
        np.add.at(product, self.beside + self.width, link * x[self.beside])
        np.add.at(product, self.beside, link * x[self.beside + self.width])
        return product  # type: ignore[no-any-return]
