"""Mehrotra's pair of predictor and corrector, for any Newton system of a program.

Each bound of a program has a distance x > 0 from it and a multiplier k > 0. On the path to the optimum their products
are

    x_i k_i = sigma omega_i,      sigma -> 0,

with a scale omega_i for each muscle. A Newton step toward products sigma omega gives, where dx is the change of the
distance with the step of the unknowns,

    dk = push - k - (k / x) dx,      push = sigma omega / x,

so that a program only has to supply its Newton step for given pushes. The predictor, push = 0, shows to
which value, `then`, the mean product `now` would fall in the longest possible step t. The corrector includes the
second-order term of the predictor up to this step; without this limit the method may cycle:

    sigma = (then / now)^3 now,       push = (sigma omega - t^2 dx dk) / x.

Instances: solver/interior_point.py for many single frames with soft rows, each with a step length of its own;
`BandedInteriorPoint` for a motion, whose muscles are chains in time, with one length. kernel/compiled_interior_point.py
repeats the formulas, fused into loops over the muscles of a frame: with numpy arrays 1000 frames take ten to fifty
times as long.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from musclesolve._util.arrays import Array, Mask

Changes = Sequence[tuple[Array, Array]]
"""(dx, dk) of each barrier."""


class Barrier(NamedTuple):
    """The bounds of one kind: distances x > 0 from them and multipliers k > 0, of any shape."""

    x: Array
    k: Array

    def change(self, dx: Array, push: Array | float) -> tuple[Array, Array]:
        """Changes dx of the distances and dk of the multipliers for a push."""
        return dx, push - self.k - self.k / self.x * dx

    def select(self, which: Mask) -> Barrier:
        """Select the bounds of some rows, where every row is a program by itself."""
        return Barrier(self.x[which], self.k[which])


class MehrotraStep(NamedTuple):
    """A corrector step: the move of the program, the barriers after it, its length and sigma."""

    move: Any
    barriers: tuple[Barrier, ...]
    length: Any
    sigma: Any


def mehrotra_step(
    barriers: Sequence[Barrier],
    direction: Callable[..., tuple[Any, Changes]],
    omega: Array,
    share: float,
    least: float = 0.0,
    free: Array | float = 1.0,
    axis: int | None = None,
) -> MehrotraStep:
    """Take one step of at most a share of the distance to the nearest bound.

    Args:
        barriers: of all bounds.
        direction: the Newton step of the program for one push for each barrier: a move of its unknowns, of any
            type, and the changes (dx, dk) of each barrier.
        omega: scales of the products, broadcast to each barrier.
        share: largest step, as a share of the distance to the nearest bound.
        least: the least sigma.
        free: 1 where a muscle may move, else 0, broadcast to each barrier; products of fixed muscles do not count.
        axis: 1 where every row of arrays (T, n) is a program by itself, of which length and sigma are (T, 1); None
            for one program.
    """
    apart = axis is not None
    weight = free / omega
    count = sum(np.broadcast_to(free, barrier.x.shape).sum(axis=axis, keepdims=apart) for barrier in barriers)

    def longest(changes: Changes, share: float) -> Any:
        shares = [
            (change / size).min(axis=axis, keepdims=apart, initial=-share)
            for barrier, changed in zip(barriers, changes, strict=True)
            for size, change in zip(barrier, changed, strict=True)
        ]
        return -share / np.minimum.reduce(shares)

    def mean_product(pairs: Sequence[tuple[Array, Array]]) -> Any:
        sums = ((x * k * weight).sum(axis=axis, keepdims=apart) for x, k in pairs)
        return sum(sums) / np.maximum(count, 1.0)

    def moved(t: Any, changes: Changes) -> tuple[Barrier, ...]:
        pairs = zip(barriers, changes, strict=True)
        return tuple(Barrier(x + t * dx, k + t * dk) for (x, k), (dx, dk) in pairs)

    _, guess = direction(*(0.0 for _ in barriers))
    reach = longest(guess, 1.0)
    now, then = mean_product(barriers), mean_product(moved(reach, guess))
    sigma = np.maximum((then / np.maximum(now, 1e-300)) ** 3 * now, least)
    target, bent = sigma * omega, np.square(reach)
    pairs = zip(barriers, guess, strict=True)
    move, changes = direction(*((target - bent * dx * dk) / x for (x, _), (dx, dk) in pairs))
    length = longest(changes, share)
    return MehrotraStep(move, moved(length, changes), length, sigma)
