"""Over a gap: weighted sums of the samples around it, and how well the same sums do where nothing is missing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

Array = NDArray[np.float64]
Frames = NDArray[np.intp]

_PLACES = 200


@dataclass(frozen=True)
class Bridge:
    """The missing samples as sums of some that were seen; linear, so that it can be tried anywhere.

    Args:
        nodes: (n,) frames of the seen samples, counted from the first missing one.
        weights: (L, n) of every node in each of the L missing samples.
        turn: (n,) weights that measure by how much the two sides of the gap disagree; all zero if nothing can.
    """

    nodes: Frames
    weights: Array
    turn: Array

    def over(self, samples: Array, first: int) -> Array:
        """Return the samples (L, 3) of a gap that begins in frame ``first`` of (T, 3)."""
        filled: Array = self.weights @ samples[first + self.nodes]
        return filled

    def disagreement(self, samples: Array, first: int) -> float:
        """Return by how much the two sides of the gap disagree [m]."""
        return float(np.linalg.norm(self.turn @ samples[first + self.nodes]))


def spline(nodes: Frames, length: int) -> Bridge:
    """Return the cubic spline through samples on both sides of a gap.

    The sides disagree by what is left of the step across the gap once the mean of the velocities before and after
    it is taken off: p_L - p_-1 - (v_before + v_after) / 2 (L + 1).
    """
    weights = CubicSpline(nodes, np.eye(nodes.size))(np.arange(length))
    before, after = nodes[nodes < 0], nodes[nodes >= length]
    turn = np.zeros(nodes.size)
    turn[before.size - 1], turn[before.size] = -1.0, 1.0
    across = 0.5 * float(after[0] - before[-1])
    for side, offset in ((before, 0), (after, before.size)):
        duration = float(side[-1] - side[0])
        turn[offset] += across / duration
        turn[offset + side.size - 1] -= across / duration
    return Bridge(nodes, weights, turn)


def line(length: int, before: bool, after: bool) -> Bridge:
    """Return the straight line from the last sample before a gap to the first one after it; level if one is missing."""
    if not (before and after):
        node = -1 if before else length
        return Bridge(np.array([node]), np.ones((length, 1)), np.zeros(1))
    share = np.arange(1, length + 1) / (length + 1)
    return Bridge(np.array([-1, length]), np.stack([1.0 - share, share], axis=1), np.array([-1.0, 1.0]))


def tried(bridge: Bridge, samples: Array) -> tuple[float, float]:
    """Close gaps of the same form where nothing is missing, at up to two hundred places spread over the recording.

    Args:
        bridge: over gaps of L samples.
        samples: (T, 3), NaN where nothing was seen [m].

    Returns:
        Root mean square distance from what was seen [m], and the greatest disagreement of the two sides [m]; NaN
        where there is no place for such a gap.
    """
    length = len(bridge.weights)
    needed = np.concatenate([bridge.nodes, np.arange(length)])
    first = np.arange(max(-needed.min(), 0), len(samples) - max(needed.max(), 0))
    seen = np.isfinite(samples).all(axis=1)
    span = np.concatenate([[0], np.cumsum(~seen)])
    whole = first[span[first + needed.max() + 1] == span[first + needed.min()]]
    if whole.size == 0:
        return np.nan, np.nan
    places = whole[np.unique(np.linspace(0, whole.size - 1, min(whole.size, _PLACES)).round().astype(int))]
    nodes = samples[places[:, None] + bridge.nodes]
    truth = samples[places[:, None] + np.arange(length)]
    miss = np.einsum("ln,pnk->plk", bridge.weights, nodes) - truth
    turn = np.linalg.norm(np.einsum("n,pnk->pk", bridge.turn, nodes), axis=1)
    return float(np.sqrt(np.mean(np.sum(miss**2, axis=-1)))), float(turn.max())
