"""Parts of costs: terms of one muscle each, and soft rows on linear combinations of the activations.

A term is sum_i phi(c_i (a_i - e_i)) with a function phi of one number, a coefficient c_i >= 0 and, if it is a square,
a target e_i:

    Power        phi(x) = x^p
    Saturation   phi(x) = 1 - (1 - x^p)^(1/p),   0 <= x < 1

With x = c (a - e) its slope is c phi'(x) and its curvature c^2 phi''(x). `kernel_arrays` gives the terms as data for
the compiled solver (kernel/compiled_certificate.py).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from musclesolve._util.arrays import AnyArray, Array
from musclesolve.sharing.kernel.constants import TERM_POWER, TERM_SATURATION, TERM_TARGET

TINY = 1e-300


@dataclass(frozen=True)
class Power:
    """The power x^p with p >= 1."""

    exponent: float  # p
    end: float = np.inf  # largest x of its domain
    kind: ClassVar[int] = TERM_POWER

    def value(self, x: Array) -> Array:
        """The power x^p of numbers x, without unit, of any shape."""
        return power(x, self.exponent)

    def slope(self, x: Array) -> Array:
        """The slope p x^(p-1), of the shape of x."""
        return self.exponent * power(x, self.exponent - 1.0)

    def curvature(self, x: Array) -> Array:
        """The curvature p (p-1) x^(p-2), of the shape of x."""
        if self.exponent == 1:
            return np.zeros_like(x)
        return self.exponent * (self.exponent - 1.0) * power(x, self.exponent - 2.0)

    def symbolic(self, x: Any) -> Any:
        """The power x^p of CasADi symbols."""
        return x**self.exponent


@dataclass(frozen=True)
class Saturation:
    """The function 1 - (1 - x^p)^(1/p) with p > 1, infinitely steep at x = 1.

    The domain ends at 1 - 1e-9: nearer to 1 a floating-point activation no longer determines the slope.
    """

    exponent: float  # p
    kind: ClassVar[int] = TERM_SATURATION
    end: ClassVar[float] = 1.0 - 1e-9  # largest x of its domain

    def value(self, x: Array) -> Array:
        """The value 1 - (1 - x^p)^(1/p), without the cancellation at rest, for numbers x of any shape."""
        if self.exponent == 2:
            return x * x / (1.0 + np.sqrt(self._remainder(x)))
        with np.errstate(divide="ignore"):
            return -np.expm1(np.log1p(-np.minimum(np.power(x, self.exponent), 1.0)) / self.exponent)

    def slope(self, x: Array) -> Array:
        """The slope x^(p-1) (1 - x^p)^(1/p - 1), of the shape of x."""
        p = self.exponent
        with np.errstate(divide="ignore"):
            return np.power(x, p - 1.0) * np.power(self._remainder(x), 1.0 / p - 1.0)

    def curvature(self, x: Array) -> Array:
        """The curvature (p - 1) x^(p-2) (1 - x^p)^(1/p - 2), of the shape of x."""
        p = self.exponent
        return (p - 1.0) * np.power(x, p - 2.0) * np.power(self._remainder(x), 1.0 / p - 2.0)

    def symbolic(self, x: Any) -> Any:
        """The value 1 - (1 - x^p)^(1/p) of CasADi symbols."""
        return 1.0 - (1.0 - x**self.exponent) ** (1.0 / self.exponent)

    def _remainder(self, x: Array) -> Array:
        """The remainder 1 - x^p, computed without cancellation near saturation."""
        if self.exponent == 2:
            return np.maximum((1.0 - x) * (1.0 + x), 0.0)
        return np.maximum(-np.expm1(self.exponent * np.log(np.maximum(x, TINY))), 0.0)


def power(base: Array, exponent: float) -> Array:
    """Raise the base (any shape) to an exponent, by products up to the third power, which are faster and round less."""
    if exponent in (1, 2, 3):
        return np.asarray(base if exponent == 1 else base * base if exponent == 2 else base * base * base)
    return np.power(base, exponent)


@dataclass(frozen=True, eq=False)
class Term:
    """The term f_t sum_i phi(c_i (a_i - e_i)) of every frame t."""

    form: Power | Saturation  # phi
    coefficient: Array  # c, (T, n)
    target: Array | None = None  # e, (T, n), of a square only; zero unless given
    factor: float | Array = 1.0  # f, a number or (T,)

    def value(self, activation: Array) -> Array:
        """The value f sum_i phi(x_i), (T,), at activations (T, n)."""
        return self.factor * self.form.value(self._load(activation)).sum(axis=-1)

    def slope(self, activation: Array) -> Array:
        """The slope f c phi'(x), (T, n), at activations (T, n)."""
        return self._steepness * self.form.slope(self._load(activation))

    def curvature(self, activation: Array) -> Array:
        """The curvature f c^2 phi''(x), (T, n), at activations (T, n); zero for a muscle without any coefficient."""
        with np.errstate(divide="ignore", invalid="ignore"):  # not 0 times infinity
            bent = self._steepness * self.coefficient * self.form.curvature(self._load(activation))
        return np.where(self.coefficient > 0, bent, 0.0)

    def scaled(self, factor: float | Array) -> "Term":
        """The term times one number or one for each frame, (T,)."""
        return Term(self.form, self.coefficient, self.target, factor * self.factor)

    @property
    def _steepness(self) -> Array:
        """The product f c, (T, n)."""
        return np.reshape(self.factor, (-1, 1)) * self.coefficient

    def _load(self, activation: Array) -> Array:
        return self.coefficient * (activation if self.target is None else activation - self.target)


def kernel_arrays(terms: Sequence[Term], frames: int, muscles: int) -> tuple[Any, ...]:
    """Terms as kind (K,), exponent (K,), factor (K, T), row (K,) and coefficient (Q, T, n).

    `row` gives the row of c in `coefficient`; a target follows in the next row.
    """
    rows: list[Array] = []
    for term in terms:
        rows += [term.coefficient] if term.target is None else [term.coefficient, term.target]
    factor = np.empty((len(terms), frames))
    for number, term in enumerate(terms):
        factor[number] = term.factor
    kind, exponent, first = _kinds(tuple((term.form, term.target is None) for term in terms))
    coefficient = rows[0][None] if len(rows) == 1 else np.array(rows).reshape(len(rows), frames, muscles)
    return kind, exponent, factor, first, coefficient


@lru_cache(maxsize=64)
def _kinds(forms: tuple[tuple[Power | Saturation, bool], ...]) -> tuple[AnyArray, Array, AnyArray]:
    """Kind, exponent and first row (K,) of terms, from the form of each term and whether it has no target."""
    kinds = [form.kind if alone else TERM_TARGET for form, alone in forms]
    before = np.cumsum([0, *(1 if alone else 2 for _, alone in forms)])[:-1]
    exponents = [form.exponent for form, _ in forms]
    return np.array(kinds, np.int64), np.array(exponents, np.float64), before.astype(np.int64)


@dataclass(frozen=True, eq=False)
class SoftRows:
    """The sum 1/2 sum_k w_k (t_k - (G a)_k)^2 of every frame, such as the squares of joint reactions.

    Attributes:
        matrix: G, (T, k, n).
        target: t, (T, k).
        weight: w, (T, k), positive; a row without weight is left out.
    """

    matrix: Array
    target: Array
    weight: Array

    def residual(self, activation: Array) -> Array:
        """The residual t - G a, (T, k), at activations (T, n)."""
        return self.target - np.matmul(self.matrix, activation[:, :, None])[:, :, 0]

    def value(self, activation: Array) -> Array:
        """The value 1/2 sum_k w_k (t_k - (G a)_k)^2, (T,), at activations (T, n)."""
        return 0.5 * (self.weight * np.square(self.residual(activation))).sum(axis=1)

    def gradient(self, activation: Array) -> Array:
        """The gradient -G^T w (t - G a), (T, n), at activations (T, n)."""
        return -np.matmul((self.weight * self.residual(activation))[:, None, :], self.matrix)[:, 0, :]

    def hessian(self) -> Array:
        """The Hessian G^T w G, (T, n, n)."""
        return np.matmul(self.matrix.transpose(0, 2, 1) * self.weight[:, None, :], self.matrix)

    def hessian_diagonal(self) -> Array:
        """The diagonal of the Hessian, (T, n)."""
        return np.einsum("tk,tkn->tn", self.weight, np.square(self.matrix))

    def scaled(self, factor: Array | float) -> "SoftRows":
        """The rows times one number or one for each frame, (T,)."""
        return SoftRows(self.matrix, self.target, np.reshape(factor, (-1, 1)) * self.weight)


Parameters = tuple[Any, ...]
"""Arrays (T, ...) in tuples of any depth. An array may have up to two axes beside the frames."""

Shapes = tuple[Any, ...]
"""Shapes of the arrays in one frame, each ("shape", rows, columns), in tuples like those of the parameters."""

_SHAPE = "shape"


def arrays_of(parameters: Parameters) -> Iterator[Array]:
    """The arrays of nested tuples, one after the other."""
    for part in parameters:
        if isinstance(part, tuple):
            yield from arrays_of(part)
        else:
            yield part


def shapes_of(parameters: Parameters) -> Shapes:
    """The shapes of the arrays in one frame; hashable, so that compiled functions are found by them."""
    return tuple(
        shapes_of(part) if isinstance(part, tuple) else shape_of(part.shape[1:]) for part in parameters
    )


def shape_of(shape: tuple[int, ...]) -> Shapes:
    """The entry of `Shapes` for an array with the shape (), (j,) or (i, j) in one frame."""
    return (_SHAPE, *(*shape, 1, 1)[:2])


def parameter_symbols(symbol: Any, shapes: Shapes) -> Any:
    """Symbols of these shapes, in tuples as the parameters are; `symbol` is casadi.SX.sym or casadi.MX.sym."""
    return tuple(
        symbol("p", *part[1:]) if part[:1] == (_SHAPE,) else parameter_symbols(symbol, part)
        for part in shapes
    )


def columns(array: Array) -> Array:
    """The numbers of each frame in the order of CasADi, columns first: (T, ...) to (T, size)."""
    return (
        np.swapaxes(array, 1, 2).reshape(len(array), -1) if array.ndim == 3 else array.reshape(len(array), -1)
    )


def flat(parameters: Parameters, frames: int) -> Array:
    """All numbers of each frame one after the other, (T, P)."""
    parts = [columns(np.broadcast_to(array, (frames, *array.shape[1:]))) for array in arrays_of(parameters)]
    return np.concatenate([np.zeros((frames, 0)), *parts], axis=1)
