"""Functions of coordinates in joints, couplers and moving points: value and derivatives."""

import itertools
import math
from dataclasses import dataclass
from math import factorial
from typing import Protocol

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.splines import spline_through


class Function(Protocol):
    """A number f that depends on c coordinates x (T, c)."""

    def value(self, x: Array) -> Array:
        """Value f(x) (T,) at coordinates x (T, c)."""
        ...

    def derivative(self, x: Array) -> Array:
        """Derivative df/dx (T, c) at coordinates x (T, c)."""
        ...

    def bend(self, x: Array, speed: Array) -> Array:
        """Sum d2f/(dx_i dx_j) xd_i xd_j (T,) at coordinates x (T, c) with speeds xd (T, c).

        The second time derivative of f is this sum plus df/dx . xdd.
        """
        ...


class ByPartials(Function):
    """A function that states its partial derivatives by none, one or two coordinates."""

    def value(self, x: Array) -> Array:
        """See Function."""
        return self.partial(x)

    def derivative(self, x: Array) -> Array:
        """See Function."""
        slope = np.empty(x.shape)
        for i in range(x.shape[1]):
            slope[:, i] = self.partial(x, i)
        return slope

    def bend(self, x: Array, speed: Array) -> Array:
        """See Function."""
        total = np.zeros(len(x))
        for i, j in itertools.product(range(x.shape[1]), repeat=2):
            total += self.partial(x, i, j) * (speed[:, i] * speed[:, j])
        return total

    def partial(self, x: Array, *by: int) -> Array:
        """Partial derivative (T,) by the coordinates of these numbers, at coordinates x (T, c)."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Constant(ByPartials):
    """f = value."""

    constant: float

    def partial(self, x: Array, *by: int) -> Array:
        """See ByPartials."""
        return np.full(len(x), 0.0 if by else self.constant)


@dataclass(frozen=True, eq=False)
class LinearFunction(ByPartials):
    """f = sum_i slopes_i x_i + intercept."""

    slopes: Array
    intercept: float

    def partial(self, x: Array, *by: int) -> Array:
        """See ByPartials."""
        if not by:
            return x @ self.slopes + self.intercept
        return np.full(len(x), self.slopes[by[0]] if len(by) == 1 else 0.0)


@dataclass(frozen=True, eq=False)
class Polynomial(ByPartials):
    """f = sum_k coefficients_k prod_i x_i^powers_ki, with powers (k, c)."""

    coefficients: Array
    powers: Array

    def partial(self, x: Array, *by: int) -> Array:
        """See ByPartials."""
        coefficients, powers = self.coefficients, self.powers.copy()
        for i in by:
            coefficients = coefficients * powers[:, i]
            powers[:, i] = np.maximum(powers[:, i] - 1, 0)
        return np.asarray(np.prod(x[:, None, :] ** powers, axis=2) @ coefficients)


def polynomial(coefficients: Array) -> Polynomial:
    """Polynomial f = c_0 x^n + ... + c_n, the highest power first (OpenSim's PolynomialFunction)."""
    return Polynomial(coefficients, np.arange(float(len(coefficients)))[::-1, None])


def multivariate_powers(dimension: int, order: int) -> Array:
    """Powers (k, dimension) of OpenSim's MultivariatePolynomialFunction: sums up to `order`, the last power fastest."""
    all_powers = itertools.product(range(order + 1), repeat=dimension)
    return np.array([powers for powers in all_powers if sum(powers) <= order], dtype=float)


@dataclass(frozen=True, eq=False)
class Sine(ByPartials):
    """f = amplitude sin(omega x + phase) + offset."""

    amplitude: float
    omega: float
    phase: float
    offset: float

    def partial(self, x: Array, *by: int) -> Array:
        """See ByPartials."""
        angle, size = self.omega * x[:, 0] + self.phase, self.amplitude * self.omega ** len(by)
        return np.asarray(size * np.sin(angle + len(by) * np.pi / 2.0) + (0.0 if by else self.offset))


@dataclass(frozen=True, eq=False)
class TurnedComponent(ByPartials):
    """f = e_k . R w of three angles: component k of a vector w (3,) turned by R = R_x R_y R_z, body-fixed."""

    component: int
    vector: Array

    def partial(self, x: Array, *by: int) -> Array:
        """See ByPartials: the derivative R_k^(n)(x) of a rotation is R_k(x + n pi / 2) without its fixed axis."""
        orders = np.bincount(np.array(by, dtype=int), minlength=3)
        turned = np.broadcast_to(self.vector, (len(x), 3))
        for axis in (2, 1, 0):
            angle = x[:, axis] + orders[axis] * np.pi / 2.0
            one, other = (axis + 1) % 3, (axis + 2) % 3
            after = np.empty((len(x), 3))
            after[:, axis] = turned[:, axis] * (orders[axis] == 0)
            after[:, one] = np.cos(angle) * turned[:, one] - np.sin(angle) * turned[:, other]
            after[:, other] = np.sin(angle) * turned[:, one] + np.cos(angle) * turned[:, other]
            turned = after
        return np.asarray(turned[:, self.component])


_TERMS, NEAR_STRAIGHT = 14, 0.05
"""Number of terms of a series in u, and u up to which it is used: its error is below 1e-17 there."""


def _bend_series() -> tuple[Array, Array]:
    """Coefficients of s / asin(s) and of (1 - cos(asin s)) / u, in powers of u = s^2."""
    arc, sagitta, inverse = np.empty(_TERMS), np.empty(_TERMS), np.zeros(_TERMS)
    for n in range(_TERMS):
        arc[n] = math.comb(2 * n, n) / (4.0**n * (2 * n + 1))
        sagitta[n] = math.comb(2 * n, n) / ((n + 1) * 2.0 * 4.0**n)
    inverse[0] = 1.0
    for n in range(1, _TERMS):
        inverse[n] = -(arc[1 : n + 1] * inverse[n - 1 :: -1]).sum()
    return inverse, sagitta


ALONG, SAGITTA = _bend_series()
"""Of an arc with the sine s of its bend, u = s^2."""


def _bend_parts(u: Array) -> tuple[list[Array], list[Array]]:
    """V = s / t and h = (1 - cos t) / u of the angle t = asin(s), u = s^2, with their first two derivatives by u."""
    parts: tuple[list[Array], list[Array]] = [], []
    u = np.clip(u, 0.0, 1.0 - 1e-9)
    far = np.maximum(u, 0.5 * NEAR_STRAIGHT)
    s, c = np.sqrt(far), np.sqrt(1.0 - far)
    t = np.arcsin(s)
    # by t: v = sin t / t and h = 1 / (1 + cos t); du/dt = 2 s c
    slope, twist = 2.0 * s * c, 2.0 * (c**2 - far)
    of_angle = (
        (s / t, c / t - s / t**2, -s / t - 2.0 * c / t**2 + 2.0 * s / t**3),
        (1.0 / (1.0 + c), s / (1.0 + c) ** 2, c / (1.0 + c) ** 2 + 2.0 * far / (1.0 + c) ** 3),
    )
    for series, (value, first, second), part in zip((ALONG, SAGITTA), of_angle, parts, strict=True):
        closed = value, first / slope, (second - first * twist / slope) / slope**2
        for order, exact in enumerate(closed):
            near = (
                np.polynomial.Polynomial(series).deriv(order) if order else np.polynomial.Polynomial(series)
            )
            part.append(np.where(u < NEAR_STRAIGHT, near(u), exact))
    return parts


@dataclass(frozen=True, eq=False)
class ArcComponent(ByPartials):
    """Component k of the end of an arc of length d that begins along y and ends along l = R_x R_z e_y.

    With s the sine of the bend t between both ends, s^2 = l_x^2 + l_z^2, the end is at
    d ((1 - cos t) l_x / s, sin t, (1 - cos t) l_z / s) / t. Variables: the angles about x and z.
    """

    component: int
    length: float
    neutral: Array

    def partial(self, x: Array, *by: int) -> Array:
        """See ByPartials, up to the second derivative."""
        a, b = x[:, 0] + self.neutral[0], x[:, 1] + self.neutral[1]

        def across(*order: int) -> tuple[Array, Array]:
            """Derivatives of l_x = -sin b and l_z = cos b sin a."""
            of_a, of_b = order.count(0), order.count(1)
            turned = 0.5 * np.pi
            along_x = -np.sin(b + of_b * turned) * (of_a == 0)
            return along_x, np.cos(b + of_b * turned) * np.sin(a + of_a * turned)

        def square(*order: int) -> Array:
            """Derivatives of u = l_x^2 + l_z^2."""
            total = np.zeros(len(x))
            for subset in itertools.product((0, 1), repeat=len(order)):
                one = across(*(k for k, chosen in zip(order, subset, strict=True) if chosen))
                other = across(*(k for k, chosen in zip(order, subset, strict=True) if not chosen))
                total += one[0] * other[0] + one[1] * other[1]
            return total

        def side(*order: int) -> Array:
            """Derivatives of l_x or l_z; of 1 along y."""
            if self.component == 1:
                return np.full(len(x), 0.0 if order else 1.0)
            return across(*order)[0 if self.component == 0 else 1]

        v, h = _bend_parts(square())
        if self.component == 1:
            w = v
        else:  # (1 - cos t) / (t s) = v h
            w = [v[0] * h[0], v[1] * h[0] + v[0] * h[1], v[2] * h[0] + 2.0 * v[1] * h[1] + v[0] * h[2]]
        if not by:
            return self.length * w[0] * side()
        if len(by) == 1:
            return self.length * (w[1] * square(*by) * side() + w[0] * side(*by))
        i, j = by
        of_weight = w[2] * square(i) * square(j) + w[1] * square(i, j)
        crossed = w[1] * (square(i) * side(j) + square(j) * side(i))
        return self.length * (of_weight * side() + crossed + w[0] * side(i, j))


@dataclass(frozen=True, eq=False)
class PiecewisePolynomial(ByPartials):
    """Through knots (k,): f = sum_n coefficients[p, n] (x - start_p)^n in piece p.

    coefficients (k + 1, N): of the pieces that begin at the knots, the last of which has no end, and of the piece
    before the first knot.
    """

    knots: Array
    coefficients: Array

    def partial(self, x: Array, *by: int) -> Array:
        """See ByPartials."""
        order = len(by)
        piece = np.searchsorted(self.knots, x[:, 0], side="right") - 1
        s = x[:, 0] - self.knots[np.maximum(piece, 0)]
        rows = self.coefficients[piece]
        value = np.zeros(len(x))
        for n in range(rows.shape[1] - 1, order - 1, -1):
            value = value * s + rows[:, n] * np.prod(np.arange(n, n - order, -1))
        return value


def _between_knots(knots: Array, pieces: Array, beyond: int) -> PiecewisePolynomial:
    """Pieces (k - 1, N) between the knots; beyond the ends, the outer ones go on with powers up to `beyond`."""
    # the last piece about the knot at its end
    rising = np.polynomial.Polynomial(pieces[-1])(np.polynomial.Polynomial([knots[-1] - knots[-2], 1.0])).coef
    first, last = pieces[:1].copy(), np.pad(rising, (0, pieces.shape[1] - len(rising)))[None]
    first[:, beyond + 1 :] = last[:, beyond + 1 :] = 0.0
    return PiecewisePolynomial(knots, np.concatenate([pieces, last, first]))


def simm_spline(knots: Array, values: Array) -> PiecewisePolynomial:
    """The cubic spline of SIMM and OpenSim (class SimmSpline), straight beyond the ends.

    Second derivatives are continuous; in the first and the last interval the third derivative is the one of the cubic
    through the four knots at that end (Forsythe, Malcolm and Moler 1977, Computer methods for mathematical
    computations, 4.4), zero with only three knots.
    """
    if len(knots) == 2:
        return piecewise_linear(knots, values)
    step = np.diff(knots)
    rise = np.diff(values) / step
    count = len(knots)
    matrix, right = np.zeros((count, count)), np.zeros(count)
    inner = np.arange(1, count - 1)
    matrix[inner, inner - 1], matrix[inner, inner + 1] = step[:-1], step[1:]
    matrix[inner, inner] = 2.0 * (step[:-1] + step[1:])
    right[1:-1] = np.diff(rise)
    # sigma = f'' / 6, so its slope is the third divided difference
    matrix[0, :2] = matrix[-1, -2:] = (-1.0, 1.0)
    if count > 3:
        third = np.diff(np.diff(rise) / (knots[2:] - knots[:-2])) / (knots[3:] - knots[:-3])
        right[0], right[-1] = step[0] * third[0], step[-1] * third[-1]
    sigma = np.asarray(np.linalg.solve(matrix, right), dtype=float)
    slopes = rise - step * (2.0 * sigma[:-1] + sigma[1:])
    pieces = np.stack([values[:-1], slopes, 3.0 * sigma[:-1], np.diff(sigma) / step], axis=1)
    return _between_knots(knots, pieces, beyond=1)


def piecewise_linear(knots: Array, values: Array) -> PiecewisePolynomial:
    """Straight between the knots, and beyond the ends as in the last interval."""
    return _between_knots(knots, np.stack([values[:-1], np.diff(values) / np.diff(knots)], axis=1), beyond=1)


def piecewise_constant(knots: Array, values: Array) -> PiecewisePolynomial:
    """Constant between the knots: the value of the knot before."""
    return PiecewisePolynomial(knots, np.append(values, values[0])[:, None])


def natural_spline(knots: Array, values: Array, half_order: int) -> PiecewisePolynomial:
    """Spline of degree 2 m - 1 through all knots, of degree m - 1 beyond the ends; m: half order.

    OpenSim's GCVSpline with error variance 0 (Woltring 1986, Adv Eng Software 8:104-113).
    """
    degree = 2 * half_order - 1
    spline = spline_through(knots, values, degree, natural=True)
    pieces = [spline(knots[:-1], order) / factorial(order) for order in range(degree + 1)]
    return _between_knots(knots, np.stack(pieces, axis=1), beyond=half_order - 1)


def smooth_step(start: float, end: float, before: float, after: float) -> PiecewisePolynomial:
    """Step between two values with continuous second derivative: s^3 (10 - 15 s + 6 s^2) (OpenSim's StepFunction)."""
    rise, width = after - before, end - start
    powers = np.array([before, 0.0, 0.0, 10.0 * rise, -15.0 * rise, 6.0 * rise]) / width ** np.arange(6)
    return _between_knots(np.array([start, end]), powers[None], beyond=0)


@dataclass(frozen=True, eq=False)
class Scaled(ByPartials):
    """f = scale g."""

    function: ByPartials
    scale: float

    def partial(self, x: Array, *by: int) -> Array:
        """See ByPartials."""
        return self.scale * self.function.partial(x, *by)
