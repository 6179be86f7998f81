"""The Newton system of a motion: factored once, solved for many right-hand sides (chain_kernel.py)."""

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.trajectory import chain_kernel
from musclesolve.trajectory.chain_kernel import HALF, Basis, Nodes
from musclesolve.trajectory.time_basis import TimeBasis

REACH = 24  # frames up to which the blocks of S are factored
LARGEST = 1000  # largest number of multipliers for which S is factored as a whole and not made convex
ALL = 60  # frames of a motion so short that all blocks of S are factored
_ENOUGH = 1e-11
_FEW_STEPS = 40
LITTLE = (1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4)
"""Additions to the unit diagonal of the blocks of S, tried in order until these are positive definite."""


class NewtonSystem:
    """The system of n muscles, m moments and T frames; step: the mean time between frames [s]."""

    def __init__(self, time: TimeBasis, step: float, moments: int, muscles: int) -> None:
        frames = len(time.first)
        rows = (time.first, time.value, step * time.rate)
        self.basis = Basis(*(np.ascontiguousarray(array) for array in rows))
        self.time, self.shape = time, (frames, moments, muscles)
        self.reach = frames - 1 if frames <= ALL else REACH
        self.share = np.zeros(muscles)
        self.factors = np.zeros((muscles, frames, HALF + 1))
        self.whole: tuple[Array, Array] | None = None
        self.steps = 0

    def factor(self, nodes: Nodes, lever: Array, compliance: Array) -> bool:
        """Factor the system for second derivatives, levers by the coordinate (T, m, n) and compliances (T, m).

        Chains that are not convex are made convex (chain_kernel.py). Returns False after a numerical breakdown.
        """
        frames, _, _ = self.shape
        band = np.empty((frames, HALF + 1))
        chain_kernel.FACTOR.load()(self.basis, nodes, self.share, band, self.factors)
        if not (np.isfinite(self.share).all() and np.isfinite(self.factors).all()):
            return False
        self._keep(lever, compliance)
        while True:
            band = self._blocks(self.reach)
            if self._factor_band(band):
                return True
            if self.reach >= frames - 1 or not np.isfinite(band).all():
                return False
            self.reach = min(2 * self.reach, frames - 1)

    def factor_as_is(self, nodes: Nodes, lever: Array, compliance: Array) -> bool:
        """Factor the system without changes for convexity; only for short motions (`LARGEST`)."""
        from scipy.linalg import lu_factor

        frames, moments, _ = self.shape
        if frames * moments > LARGEST:
            return False
        band = np.empty((frames, HALF + 1))
        if chain_kernel.FACTOR_AS_IS.load()(self.basis, nodes, band, self.factors) < 0:
            return False
        self._keep(lever, compliance)
        lower = self._blocks(frames - 1)
        if not np.isfinite(lower).all():
            return False
        size = frames * moments
        whole = np.zeros((size, size))
        for below in range(size):
            row = np.arange(below, size)
            whole[row, row - below] = whole[row - below, row] = lower[below, : size - below]
        self.whole = lu_factor(whole, check_finite=False)
        return True

    def solve(self, right: Array, short: Array) -> tuple[Array, Array]:
        """The changes dc (T, n) and dlambda (T, m) for right-hand sides r (T, n) and b (T, m)."""
        solve = chain_kernel.SOLVE.load()
        alone = right.T.copy()  # solved in place
        solve(self.factors, alone)
        demand = short - np.einsum("tkn,tn->tk", self.lever, self.time.values(alone.T))
        multiplier = self._solve_coupling(demand)
        pull = self.time.gather(np.einsum("tkn,tk->tn", self.lever, multiplier), np.zeros_like(right))
        more = pull.T.copy()
        solve(self.factors, more)
        return (alone + more).T, multiplier

    def _keep(self, lever: Array, compliance: Array) -> None:
        self.lever, self.compliance = np.ascontiguousarray(lever), np.ascontiguousarray(compliance)
        self.by_muscle = np.ascontiguousarray(lever.transpose(2, 0, 1))
        self.whole = None

    def _blocks(self, reach: int) -> Array:
        """The lower band of S up to a reach in frames."""
        frames, moments, muscles = self.shape
        band = np.empty((moments * (reach + 1), frames * moments))
        inverse, gram = np.empty((frames, reach + HALF + 1)), np.empty((frames, reach + 1, muscles))
        work = np.empty((moments, muscles))
        couple = chain_kernel.COUPLE.load()
        couple(self.basis, self.factors, self.lever, self.compliance, inverse, gram, band, work)
        return band

    def _factor_band(self, band: Array) -> bool:
        """Factor blocks of S with a unit diagonal, plus a small addition if round-off requires it."""
        from scipy.linalg import LinAlgError, cholesky_banded

        self.scale = 1.0 / np.sqrt(np.where(band[0] > 0.0, band[0], 1.0))
        band *= self.scale
        for below in range(len(band)):
            band[below, : band.shape[1] - below] *= self.scale[below:]
        if not np.isfinite(band).all():
            return False
        for little in LITTLE:
            band[0] = 1.0 + little
            try:
                self.band = cholesky_banded(band, lower=True, check_finite=False)
                return True
            except LinAlgError:
                continue
        return False

    def _solve_coupling(self, b: Array) -> Array:
        """Conjugate gradients for S x = b; after many steps the reach is doubled for the next solve."""
        from scipy.linalg import cho_solve_banded, lu_solve

        if self.whole is not None:
            return np.asarray(lu_solve(self.whole, b.reshape(-1), check_finite=False)).reshape(b.shape)
        multiply, work = chain_kernel.MULTIPLY.load(), np.empty(len(b))

        def precondition(left: Array) -> Array:
            x = cho_solve_banded((self.band, True), left.reshape(-1) * self.scale, check_finite=False)
            return np.asarray(x * self.scale).reshape(b.shape)

        x, moved = np.zeros_like(b), np.empty_like(b)
        left = np.ascontiguousarray(b)
        pushed = precondition(left)
        along, now = pushed.copy(), float((left * pushed).sum())
        first, self.steps = now, 0
        while now > _ENOUGH**2 * first and self.steps < 4 * _FEW_STEPS:
            multiply(self.basis, self.factors, self.by_muscle, self.compliance, along, moved, work)
            curvature = float((along * moved).sum())
            if not curvature > 0.0:
                break
            length = now / curvature
            x += length * along
            left = left - length * moved
            pushed = precondition(left)
            before, now = now, float((left * pushed).sum())
            along = pushed + now / before * along
            self.steps += 1
        if self.steps > _FEW_STEPS:
            self.reach = min(2 * self.reach, self.shape[0] - 1)
        return x
