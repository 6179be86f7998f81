"""The terms of a cost, compiled: sums over k of f_kt times one of

    power        (c_i a_i)^p
    saturation   1 - (1 - (c_i a_i)^p)^(1/p)
    target       (c_i (a_i - e_i))^2

with rows c (and e after it) of `coefficient`, (Q, T, n). cost/cost_terms.py describes the terms as data.
"""

from typing import Any, NamedTuple

import numpy as np

from musclesolve._util.compiled_code import compiled
from musclesolve.sharing.kernel.constants import TERM_POWER, TERM_TARGET


class Terms(NamedTuple):
    """The arrays of cost_terms.kernel_arrays."""

    kind: Any
    exponent: Any
    factor: Any
    row: Any
    coefficient: Any


@compiled
def value_of(terms: Terms, t: int, a: Any) -> float:
    """The cost of frame t for its activations a, (n,)."""
    total = 0.0
    for k in range(terms.kind.size):
        c, p, part = terms.coefficient[terms.row[k], t], terms.exponent[k], 0.0
        if terms.kind[k] == TERM_TARGET:
            e = terms.coefficient[terms.row[k] + 1, t]
            for i in range(a.size):
                miss = c[i] * (a[i] - e[i])
                part += miss * miss
        elif terms.kind[k] == TERM_POWER:
            if p == 2.0:
                for i in range(a.size):
                    x = c[i] * a[i]
                    part += x * x
            elif p == 3.0:
                for i in range(a.size):
                    x = c[i] * a[i]
                    part += x * x * x
            else:
                for i in range(a.size):
                    part += (c[i] * a[i]) ** p
        elif p == 2.0:  # 1 - root without the cancellation at rest
            for i in range(a.size):
                x = c[i] * a[i]
                part += x * x / (1.0 + np.sqrt(max((1.0 - x) * (1.0 + x), 0.0)))
        else:
            for i in range(a.size):
                part -= np.expm1(np.log1p(-min((c[i] * a[i]) ** p, 1.0)) / p)
        total += terms.factor[k, t] * part
    return total


@compiled
def slopes_of(terms: Terms, t: int, a: Any, out: Any) -> None:
    """Compute the marginal costs (n,) of frame t at activations a (n,) into `out`."""
    for i in range(a.size):
        out[i] = 0.0
    for k in range(terms.kind.size):
        c, p, f = terms.coefficient[terms.row[k], t], terms.exponent[k], terms.factor[k, t]
        if terms.kind[k] == TERM_TARGET:
            e = terms.coefficient[terms.row[k] + 1, t]
            for i in range(a.size):
                out[i] += 2.0 * f * c[i] * c[i] * (a[i] - e[i])
        elif terms.kind[k] == TERM_POWER and p == 1.0:
            for i in range(a.size):
                out[i] += f * c[i]
        elif terms.kind[k] == TERM_POWER and p == 2.0:
            for i in range(a.size):
                out[i] += 2.0 * f * c[i] * (c[i] * a[i])
        elif terms.kind[k] == TERM_POWER and p == 3.0:
            for i in range(a.size):
                x = c[i] * a[i]
                out[i] += 3.0 * f * c[i] * x * x
        else:
            add_slopes(terms.kind[k], p, f, c, a, a.size, out)


@compiled
def add_slopes(kind: int, p: float, f: float, c: Any, a: Any, n: int, out: Any) -> None:
    """Add the marginal costs, (n,), of a term that is neither quadratic nor cubic, for its row c and activations a."""
    if kind == TERM_POWER:
        for i in range(n):
            out[i] += f * p * c[i] * (c[i] * a[i]) ** (p - 1.0)
    elif p == 2.0:
        for i in range(n):
            x = c[i] * a[i]
            out[i] += f * c[i] * x / np.sqrt(max((1.0 - x) * (1.0 + x), 0.0))
    else:
        for i in range(n):
            x = c[i] * a[i]
            rest = max(-np.expm1(p * np.log(x)), 0.0)
            out[i] += f * c[i] * x ** (p - 1.0) * rest ** (1.0 / p - 1.0)


@compiled
def add_slopes_and_curvatures(
    kind: int, p: float, f: float, c: Any, a: Any, n: int, slope: Any, curvature: Any
) -> None:
    """Add slopes and curvatures (n,) of a term neither quadratic nor cubic at activations a (n,) above 0."""
    if kind == TERM_POWER:
        for i in range(n):
            x = c[i] * a[i]
            if x > 0.0:
                bent = f * p * c[i] * x ** (p - 2.0)
                slope[i] += bent * x
                curvature[i] += (p - 1.0) * bent * c[i]
    elif p == 2.0:
        for i in range(n):
            x = c[i] * a[i]
            rest = max((1.0 - x) * (1.0 + x), 0.0)
            steep = f * c[i] / np.sqrt(rest)
            slope[i] += steep * x
            curvature[i] += steep * c[i] / rest
    else:
        for i in range(n):
            x = c[i] * a[i]
            if x > 0.0:
                rest = max(-np.expm1(p * np.log(x)), 0.0)
                bent = f * c[i] * x ** (p - 2.0) * rest ** (1.0 / p - 1.0)
                slope[i] += bent * x
                curvature[i] += (p - 1.0) * bent * c[i] / rest
