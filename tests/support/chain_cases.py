"""Random chains of muscles in time for the kernel of elastic tendons, and the same as dense matrices."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from musclesolve.trajectory import chain_kernel
from musclesolve.trajectory.chain_kernel import HALF, Basis, Nodes
from musclesolve.trajectory.motion_problem import TimeBasis


@dataclass(frozen=True)
class Chains:
    """n muscles, T frames, m moments; nodes convex or not."""

    time: TimeBasis
    step: float
    nodes: Nodes
    lever: np.ndarray
    compliance: np.ndarray

    @property
    def shape(self) -> tuple[int, int, int]:
        """T, m, n."""
        return self.lever.shape

    @cached_property
    def basis(self) -> Basis:
        """The rows of Z and of the rates times the step."""
        rows = (self.time.first, self.time.value, self.step * self.time.rate)
        return Basis(*(np.ascontiguousarray(row) for row in rows))

    @cached_property
    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Z and the rates times the step, (T, T)."""
        frames = len(self.time.first)
        found = np.zeros((2, frames, frames))
        for t in range(frames):
            columns = self.time.first[t] + np.arange(3)
            found[0, t, columns] = self.basis.value[t]
            found[1, t, columns] = self.basis.rate[t]
        return found[0], found[1]

    def matrix(self, i: int, share: float = 0.0) -> np.ndarray:
        """H of a muscle, with its negative eigenvalues of each frame times 1 - share."""
        value, rate = self.rows
        zz, zy, yy, g, h, limit, beside = (part[i] for part in self.nodes)
        own = np.stack([np.stack([zz, zy], axis=-1), np.stack([zy, yy], axis=-1)], axis=-2)
        low, vectors = np.linalg.eigh(own)
        low = np.where(low < 0.0, (1.0 - share) * low, low)
        own = np.einsum("tij,tj,tkj->tik", vectors, low, vectors)
        both = np.stack([value, rate])
        change = g[:, None] * value + h[:, None] * rate
        limits = np.diag(limit) + np.diag(beside[:-1], 1) + np.diag(beside[:-1], -1)
        return np.einsum("uta,tuv,vtb->ab", both, own, both) + change.T @ limits @ change

    def coupling(self) -> np.ndarray:
        """S, (T m, T m)."""
        muscles = self.shape[2]
        total = np.diag(self.compliance.ravel())
        for i in range(muscles):
            arms = self.arms(i)
            total = total + arms @ np.linalg.solve(self.matrix(i), arms.T)
        return total

    def arms(self, i: int) -> np.ndarray:
        """A Z of a muscle, (T m, T): moments by its coefficients."""
        frames, moments, _ = self.shape
        return (self.lever[:, :, i, None] * self.rows[0][:, None, :]).reshape(frames * moments, frames)

    def factors(self) -> tuple[np.ndarray, int]:
        """Factors of the kernel for the chains as they are, and the number of negative pivots."""
        frames, _, muscles = self.shape
        out, band = np.zeros((muscles, frames, HALF + 1)), np.empty((frames, HALF + 1))
        return out, chain_kernel.FACTOR_AS_IS.load()(self.basis, self.nodes, band, out)

    def convex_factors(self) -> tuple[np.ndarray, np.ndarray]:
        """Factors of the kernel with chains made convex, and the shares left out."""
        frames, _, muscles = self.shape
        out, band, share = (
            np.zeros((muscles, frames, HALF + 1)),
            np.empty((frames, HALF + 1)),
            np.zeros(muscles),
        )
        chain_kernel.FACTOR.load()(self.basis, self.nodes, share, band, out)
        return out, share


def random_chains(
    seed: int, frames: int, moments: int, muscles: int, least: float = 0.2, compliant: bool = True
) -> Chains:
    """Chains whose frames have second derivatives with eigenvalues from `least` to 3."""
    random = np.random.default_rng(seed)
    time = np.cumsum(random.uniform(0.005, 0.02, frames))
    shape = (muscles, frames)
    angle, low, high = (
        random.uniform(0.0, np.pi, shape),
        random.uniform(least, 3.0, shape),
        random.uniform(1, 3, shape),
    )
    cosine, sine = np.cos(angle), np.sin(angle)
    own = low * cosine**2 + high * sine**2, (high - low) * cosine * sine, low * sine**2 + high * cosine**2
    beside = random.uniform(-1.0, 0.0, shape)
    beside[:, -1] = 0.0
    limit = random.uniform(0.1, 1.0, shape) + np.abs(beside)
    limit[:, 1:] += np.abs(beside[:, :-1])  # so that limits are convex
    nodes = Nodes(*own, random.normal(size=shape), random.normal(size=shape), limit, beside)
    lever = random.normal(size=(frames, moments, muscles)) * 30.0
    compliance = random.uniform(0.0, 2.0, (frames, moments)) if compliant else np.zeros((frames, moments))
    step = float(np.diff(time).mean())
    return Chains(
        TimeBasis.from_times(time), step, Nodes(*map(np.ascontiguousarray, nodes)), lever, compliance
    )


def product(factor: np.ndarray) -> np.ndarray:
    """L D L^T of factors (T, 4)."""
    lower = np.eye(len(factor))
    for p in range(1, HALF + 1):
        row = np.arange(p, len(factor))
        lower[row, row - p] = factor[p:, p]
    return lower @ np.diag(factor[:, 0]) @ lower.T
