"""The compiled functions that Python calls, kept in numba's cache."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numba import types

from musclesolve._util.compiled_code import CompiledFunction, source_version
from musclesolve.trajectory.kernel import coupling
from musclesolve.trajectory.kernel.arrays import Basis, Nodes
from musclesolve.trajectory.kernel.chain import (
    GROWTH,
    ROUND_OFF,
    assemble_chain,
    factor_chain,
    factor_convex,
    solve_chain,
)
from musclesolve.trajectory.kernel.compile import OPTIONS

MESSAGE = "compiling the kernel for whole motions for this machine, once (some five seconds)"

_REAL, _WHOLE = types.float64, types.intp
_BASIS = types.NamedTuple([_WHOLE[::1], _REAL[:, ::1], _REAL[:, ::1]], Basis)
_NODES = types.NamedUniTuple(_REAL[:, ::1], len(Nodes._fields), Nodes)


def factor(basis, nodes, share, band, out):
    """Factors (n, T, 4) of all chains; share (n,): those of the step before, then those of this one. band: (T, 4)."""
    for i in range(out.shape[0]):
        share[i] = factor_convex(basis, nodes, i, share[i], band, out[i])


def factor_as_is(basis, nodes, band, out):
    """Factors of all chains as they are, convex or not; the number of their negative pivots, -1 where one vanishes."""
    negative = 0
    for i in range(out.shape[0]):
        assemble_chain(basis, nodes, i, 0.0, band)
        found, shift = factor_chain(band, 0.0, out[i]), ROUND_OFF
        while found < 0 and shift < 1e4 * ROUND_OFF:
            found, shift = factor_chain(band, shift, out[i]), GROWTH * shift
        if found < 0:
            return -1
        negative += found
    return negative


def couple(basis, factors, lever, compliance, inverse, gram, band, work):
    """The band of S for levers (T, m, n) by the tendon coordinate."""
    for i in range(factors.shape[0]):
        coupling.response(basis, factors[i], i, inverse, gram)
    coupling.blocks(lever, compliance, gram, band, work)


def multiply(basis, factors, lever, compliance, x, out, work):
    """S x, (T, m), for levers (n, T, m)."""
    coupling.product(basis, factors, lever, compliance, x, out, work)


def solve(factors, x):
    """H_i^-1 x_i of all muscles, in place of x (n, T)."""
    for i in range(factors.shape[0]):
        solve_chain(factors[i], x[i])


_VERSION = source_version(Path(__file__).parent)


def _on_disk(function: Any, *signature: Any) -> CompiledFunction:
    return CompiledFunction(function, signature, OPTIONS, _VERSION, MESSAGE)


_TWO, _THREE = _REAL[:, ::1], _REAL[:, :, ::1]
FACTOR = _on_disk(factor, _BASIS, _NODES, _REAL[::1], _TWO, _THREE)
FACTOR_AS_IS = _on_disk(factor_as_is, _BASIS, _NODES, _TWO, _THREE)
COUPLE = _on_disk(couple, _BASIS, _THREE, _THREE, _TWO, _TWO, _THREE, _TWO, _TWO)
MULTIPLY = _on_disk(multiply, _BASIS, _THREE, _THREE, _TWO, _TWO, _TWO, _REAL[::1])
SOLVE = _on_disk(solve, _THREE, _TWO)
