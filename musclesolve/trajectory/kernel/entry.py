"""The compiled functions that Python calls, kept in numba's cache."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numba import types

from musclesolve._util.compiled_code import CompiledFunction, source_version
from musclesolve.trajectory.kernel import coupling
from musclesolve.trajectory.kernel.arrays import Basis, Nodes
from musclesolve.trajectory.kernel.chain import factor_convex, solve_chain
from musclesolve.trajectory.kernel.compile import OPTIONS

MESSAGE = "compiling the elastic-tendon kernel for this machine, once (some five seconds)"

_REAL, _WHOLE = types.float64, types.intp
_BASIS = types.NamedTuple([_WHOLE[::1], _REAL[:, ::1], _REAL[:, ::1]], Basis)
_NODES = types.NamedUniTuple(_REAL[:, ::1], len(Nodes._fields), Nodes)


def factor(basis, nodes, share, band, out):
    """Factors (n, T, 4) of all chains; share (n,): those of the step before, then those of this one. band: (T, 4)."""
    for i in range(out.shape[0]):
        share[i] = factor_convex(basis, nodes, i, share[i], band, out[i])


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
COUPLE = _on_disk(couple, _BASIS, _THREE, _THREE, _TWO, _TWO, _THREE, _TWO, _TWO)
MULTIPLY = _on_disk(multiply, _BASIS, _THREE, _THREE, _TWO, _TWO, _TWO, _REAL[::1])
SOLVE = _on_disk(solve, _THREE, _TWO)
