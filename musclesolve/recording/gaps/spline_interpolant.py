"""Gap interpolants: weighted sums of the samples around a gap, and their error where nothing is missing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array

Frames = NDArray[np.intp]

LIKELY = 0.95
"""Share of the gaps whose error stays below the stated one."""

_FEWEST_PLACES, _MOST_PLACES = 20, 200


@dataclass(frozen=True)
class GapInterpolant:
    """The L missing samples as weighted sums of n seen ones; linear, so that it can be tested anywhere.

    Frames of the seen samples (n,), counted from the first missing one, their weights (L, n), and the weights (n,) that
    measure by how much the two sides of the gap disagree; all zero if there is one side.
    """

    nodes: Frames
    weights: Array
    mismatch: Array

    def fill(self, samples: Array, first: int) -> Array:
        """Return the samples (L, 3) of a gap that begins in frame ``first`` of (T, 3)."""
        return np.asarray(self.weights @ samples[first + self.nodes])

    def disagreement(self, samples: Array, first: int) -> float:
        """Return by how much the two sides of the gap disagree [m]."""
        return float(np.linalg.norm(self.mismatch @ samples[first + self.nodes]))


def spline_interpolant(nodes: Frames, length: int) -> GapInterpolant:
    """Return the cubic spline through samples on both sides of a gap.

    The sides disagree by what is left of the step across the gap once the mean of the velocities before and after
    it is taken off: p_L - p_-1 - (v_before + v_after) / 2 (L + 1).
    """
    from scipy.interpolate import CubicSpline

    weights = CubicSpline(nodes, np.eye(nodes.size))(np.arange(length))
    before, after = nodes[nodes < 0], nodes[nodes >= length]
    mismatch = np.zeros(nodes.size)
    mismatch[before.size - 1], mismatch[before.size] = -1.0, 1.0
    across = 0.5 * float(after[0] - before[-1])
    for side, offset in ((before, 0), (after, before.size)):
        duration = float(side[-1] - side[0])
        mismatch[offset] += across / duration
        mismatch[offset + side.size - 1] -= across / duration
    return GapInterpolant(nodes, weights, mismatch)


def line_interpolant(length: int, before: bool, after: bool) -> GapInterpolant:
    """Return the straight line from the last sample before a gap to the first one after it; level if one is missing."""
    if not (before and after):
        node = -1 if before else length
        return GapInterpolant(np.array([node]), np.ones((length, 1)), np.zeros(1))
    share = np.arange(1, length + 1) / (length + 1)
    return GapInterpolant(
        np.array([-1, length]), np.stack([1.0 - share, share], axis=1), np.array([-1.0, 1.0])
    )


def expected_error(
    interpolant: GapInterpolant, samples: Array, path: Array, start: int
) -> tuple[float, float]:
    """Return the error to expect of an interpolant, and the greatest disagreement of the two sides of a gap [m].

    Gaps of the same form are closed where nothing is missing. The error depends on how the marker moves: a standing
    heel is filled better than a swinging one. So those places count where it gets about as far across the gap as it
    does across this one, which begins in frame `start`. The error is the root mean square distance over a gap that 19
    of 20 gaps stay below. NaN where there is no place for such a gap. `samples` (T, 3) are to be filled, `path` (T, 3)
    is the marker [m], both NaN where unknown.
    """
    length = len(interpolant.weights)
    needed = np.concatenate([interpolant.nodes, np.arange(length)])
    first = np.arange(max(-needed.min(), 0), len(samples) - max(needed.max(), 0))
    missing = np.concatenate([[0], np.cumsum(~np.isfinite(samples).all(axis=1))])
    places = first[missing[first + needed.max() + 1] == missing[first + needed.min()]]
    if places.size == 0:
        return np.nan, np.nan
    count = min(places.size, _MOST_PLACES)
    spread = places[np.unique(np.linspace(0, places.size - 1, count).round().astype(int))]
    around = samples[spread[:, None] + interpolant.nodes]
    usual = np.linalg.norm(np.einsum("n,pnk->pk", interpolant.mismatch, around), axis=1).max()
    alike = spread
    if -1 in interpolant.nodes and length in interpolant.nodes:
        across, here = (
            np.linalg.norm(path[first + length] - path[np.subtract(first, 1)], axis=-1)
            for first in (places, start)
        )
        count = min(max(places.size // 3, _FEWEST_PLACES), _MOST_PLACES)
        alike = places[np.argsort(np.abs(across - here), kind="stable")[:count]]
    nodes, truth = samples[alike[:, None] + interpolant.nodes], samples[alike[:, None] + np.arange(length)]
    miss = np.einsum("ln,pnk->plk", interpolant.weights, nodes) - truth
    distance = np.sqrt(np.mean(np.sum(miss**2, axis=-1), axis=-1))
    return float(np.quantile(distance, LIKELY, method="higher")), float(usual)
