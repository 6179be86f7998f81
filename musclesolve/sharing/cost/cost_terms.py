"""A cost as data: the form in which the compiled solver takes it.

A cost that is a sum over k of f_k times one of

    power        sum_i (c_i a_i)^p
    saturation   sum_i (1 - (1 - (c_i a_i)^p)^(1/p))
    target       sum_i (c_i (a_i - e_i))^2

has the form of `Terms`; its soft rows (soft_rows.py) are handled beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array


@dataclass(frozen=True, eq=False)
class Terms:
    """The terms of a cost in every frame."""

    kind: NDArray[np.int64]  # (K,) TERM_POWER, TERM_SATURATION or TERM_TARGET of kernel/constants.py
    exponent: Array  # p, (K,)
    factor: Array  # f, (K, T)
    row: NDArray[np.int64]  # (K,) which row of coefficient is c; for a target the next one is e
    coefficient: Array  # (Q, T, n)

    def scaled(self, factor: float | Array) -> Terms:
        """A multiple of the same, by one number or by one for each frame, (T,)."""
        return replace(self, factor=factor * self.factor)


_FIRST = np.zeros(1, np.int64)


def one_term(kind: int, exponent: float, *rows: Array) -> Terms:
    """A single term of a kind with the exponent p and the rows c, (T, n), and for a target e."""
    coefficient = np.ascontiguousarray(rows[0])[None] if len(rows) == 1 else np.stack(rows)
    factor = np.ones((1, coefficient.shape[1]))
    return Terms(np.array([kind]), np.array([float(exponent)]), factor, _FIRST, coefficient)


def no_terms(frames: int, muscles: int) -> Terms:
    """The terms of a cost that consists of soft rows only, or is zero."""
    none = np.zeros(0, np.int64)
    return Terms(none, np.zeros(0), np.zeros((0, frames)), none, np.zeros((0, frames, muscles)))


def joined_terms(parts: Sequence[Terms | None]) -> Terms | None:
    """The terms of several costs as those of one; None if one of them has none."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    first = np.cumsum([0, *(len(part.coefficient) for part in known[:-1])])
    return Terms(
        np.concatenate([part.kind for part in known]),
        np.concatenate([part.exponent for part in known]),
        np.concatenate([part.factor for part in known]),
        np.concatenate([part.row + start for part, start in zip(known, first, strict=True)]),
        np.concatenate([part.coefficient for part in known]),
    )
