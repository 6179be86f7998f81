"""Length of the path of one muscle over at most one cylinder or sphere, as an expression; others by iteration.

Rules and formulas come from the kernel (muscles/paths/kernel: wrapping.py, cylinder.py, sphere.py), with a
choice between two expressions where the kernel has a branch. Roots are taken of numbers above zero, so that the branch
that is not taken has finite derivatives. The path is the shortest one: its derivatives by the places of points and
objects follow from the expression, tangent points included.
"""

from collections.abc import Callable, Mapping
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from musclesolve._util.arrays import Array, grouped
from musclesolve._util.casadi_module import casadi as ca
from musclesolve.dynamics.model.model import Model
from musclesolve.errors import input_error
from musclesolve.models.opensim import functions
from musclesolve.models.opensim.geometry import PathSystem
from musclesolve.models.opensim.model import Joint, OpenSimModel
from musclesolve.muscles.curves.millard_2013 import Tabulated
from musclesolve.muscles.elastic.elastic_muscles import SampledCurves
from musclesolve.muscles.paths.engine import PathLayout
from musclesolve.muscles.paths.kernel.arrays import CYLINDER, HELD, SPHERE
from musclesolve.muscles.paths.kernel.cylinder import ROUND_OFF
from musclesolve.muscles.paths.kernel.placing import NEARLY_ZERO
from musclesolve.muscles.paths.kernel.sphere import CENTRAL, GRAZING
from musclesolve.muscles.paths.paths import NaturalSpline, Paths

_NUMBER = count()


def of_coordinates(function: functions.Function, x: list[Any]) -> Any:
    """A function of coordinates of an OpenSim model, for expressions of the coordinates."""
    if all(isinstance(value, int | float) for value in x):
        return float(function.value(np.array([x], dtype=float))[0])
    match function:
        case functions.Constant():
            return function.constant
        case functions.LinearFunction():
            return (
                sum(slope * value for slope, value in zip(function.slopes, x, strict=True))
                + function.intercept
            )
        case functions.Polynomial():
            terms = zip(function.coefficients, function.powers, strict=True)
            return sum(
                c * _product([v ** int(n) for v, n in zip(x, powers, strict=True) if n])
                for c, powers in terms
            )
        case functions.Sine():
            return function.amplitude * ca.sin(function.omega * x[0] + function.phase) + function.offset
        case functions.PiecewisePolynomial():
            return piecewise(x[0], function.knots, function.coefficients)
        case functions.Scaled():
            return function.scale * of_coordinates(function.function, x)
        case functions.TurnedComponent():
            turned = ca.SX(ca.DM(function.vector))
            for axis, angle in zip(np.eye(3)[::-1], x[::-1], strict=True):
                turned = rotation_about(axis, angle) @ turned
            return turned[function.component]
        case functions.ArcComponent():
            return _arc_component(function, x)
    raise input_error(
        "unsupported",
        where="ms.symbolic",
        problem=f"a joint, coupler or path of the model follows a {type(function).__name__}, which is no expression",
        expected="constants, lines, polynomials, sines, splines, turned vectors and arcs of coordinates",
        remedy="take the numeric functions, ms.opensim_problem and ms.share_model, which have all of them",
    )


def _arc_component(function: functions.ArcComponent, x: list[Any]) -> Any:
    """See `ArcComponent`; by a series where the arc is nearly straight."""
    a, b = (value + float(neutral) for value, neutral in zip(x, function.neutral, strict=True))
    side = -ca.sin(b), 1.0, ca.cos(b) * ca.sin(a)
    u = ca.fmin(side[0] ** 2 + side[2] ** 2, 1.0 - 1e-9)
    s = ca.sqrt(ca.fmax(u, 0.5 * functions.NEAR_STRAIGHT))
    near = u < functions.NEAR_STRAIGHT
    along = ca.if_else(near, _series(functions.ALONG, u), s / ca.asin(s))
    sagitta = ca.if_else(near, _series(functions.SAGITTA, u), 1.0 / (1.0 + ca.sqrt(1.0 - s**2)))
    height = along if function.component == 1 else along * sagitta
    return function.length * height * side[function.component]


def _series(coefficients: Array, u: Any) -> Any:
    value: Any = 0.0
    for coefficient in reversed(coefficients.tolist()):
        value = value * u + coefficient
    return value


def _product(factors: list[Any]) -> Any:
    total: Any = 1.0
    for factor in factors:
        total = total * factor
    return total


def piecewise(x: Any, knots: Array, coefficients: Array) -> Any:
    """sum_n c_pn (x - start_p)^n in the piece p of x, with coefficients (k + 1, N) as in `PiecewisePolynomial`."""
    start, row = float(knots[0]), list(coefficients[-1].astype(float))
    for knot, piece in zip(knots, coefficients, strict=False):
        begun = x >= knot
        start = ca.if_else(begun, knot, start)
        row = [ca.if_else(begun, new, old) for new, old in zip(piece.astype(float), row, strict=True)]
    value: Any = 0.0
    for factor in reversed(row):
        value = value * (x - start) + factor
    return value


def natural_spline(spline: NaturalSpline, x: Any) -> list[Any]:
    """The components of a natural spline: of the motion of a moving frame."""
    h, values, bend = np.diff(spline.knots)[:, None], spline.values, spline.curvatures
    rise = np.diff(values, axis=0) / h
    slope = rise - h * (2.0 * bend[:-1] + bend[1:]) / 6.0
    inner = np.stack([values[:-1], slope, 0.5 * bend[:-1], np.diff(bend, axis=0) / (6.0 * h)])
    zero, last = np.zeros_like(values[0]), rise[-1] + h[-1] * (bend[-2] + 2.0 * bend[-1]) / 6.0
    ends = np.stack([[values[-1], last, zero, zero], [values[0], slope[0], zero, zero]], axis=1)
    pieces = np.concatenate([inner, ends], axis=1)
    return [
        piecewise(x, spline.knots, column) if column.any() else 0.0 for column in pieces.transpose(2, 1, 0)
    ]


def hermite(first: float, last: float, height: Array, slope: Array) -> Callable[[Any], Any]:
    """Cubic spline through heights and slopes at equal steps (N,), straight beyond its ends: a map of columns.

    As a B-spline it has double knots; its coefficients are the inner Bezier points of the pieces.
    """
    nodes, step = np.linspace(first, last, len(height)), (last - first) / (len(height) - 1)
    inner = np.stack([height[:-1] + slope[:-1] * step / 3.0, height[1:] - slope[1:] * step / 3.0], axis=1)
    knots = np.concatenate([[first] * 4, np.repeat(nodes[1:-1], 2), [last] * 4])
    numbers = np.concatenate([height[:1], inner.ravel(), height[-1:]])
    spline = ca.Function.bspline(f"spline_{next(_NUMBER)}", [knots.tolist()], numbers.tolist(), [3], 1, {})

    def value(x: Any) -> Any:
        inside = ca.fmin(ca.fmax(x, first), last)
        beyond = slope[0] * ca.fmin(x - first, 0.0) + slope[-1] * ca.fmax(x - last, 0.0)
        return spline.map(x.numel())(inside.T).T + beyond

    return value


def tabulated(curve: Tabulated) -> Callable[[Any], Any]:
    """A tabulated curve, constant beyond its ends."""
    slope = curve.slope.copy()
    spline = hermite(curve.first, curve.last, curve.height, slope)
    return lambda x: spline(ca.fmin(ca.fmax(x, curve.first), curve.last))


def sampled(curves: SampledCurves) -> Callable[[Any], Any]:
    """The curves of n muscles for a column (n, 1) of arguments; muscles with equal curves share one spline."""
    grid, step = curves.grid, curves.grid.step
    _, c1, c2, c3 = curves.coefficient[:, :, curves.column]
    height = curves.value[:, curves.column]
    slope = np.concatenate([c1, (c1 + step * (2.0 * c2 + 3.0 * step * c3))[-1:]])
    alike = grouped((np.round(values, 14).tobytes(), k) for k, values in enumerate(height.T))
    splines = [
        (members, hermite(grid.first, grid.last, height[:, members[0]], slope[:, members[0]]))
        for members in alike.values()
    ]
    return lambda x: in_order([(members, spline(x[members])) for members, spline in splines])


def in_order(parts: list[tuple[list[int], Any]]) -> Any:
    """Rows of parts with these numbers, joined in the order of the numbers."""
    numbers = np.concatenate([members for members, _ in parts])
    joined = ca.vertcat(*(part for _, part in parts))
    return joined if (np.diff(numbers) > 0).all() else joined[np.argsort(numbers).tolist(), :]


ABOVE_ZERO = 1e-24
"""Least number whose root is taken."""
FAR = 1e9
"""Longer than any path [m]."""
STEP = {2: 1e-5, 3: 1e-3}
"""Change of a coordinate [rad or m] of the differences for each derivative."""

Evaluated = Callable[[Array], tuple[Array, Array]]
"""Lengths (T, n) [m] and moment arms (T, m, n) in poses (T, m)."""
Pose = tuple[Any, Any]
"""Rotation (3, 3) and translation (3,) [m] of a body."""


class Places(NamedTuple):
    """Points of a layout (P) and wrap objects (O) in a pose, as expressions.

    position: (3,) of each point [m]; on: 1 or an expression that is 1 where the point is on the path, else 0; center
    (3,) [m] and rotation (3, 3) of each object.
    """

    position: list[Any]
    on: list[Any]
    center: list[Any]
    rotation: list[Any]


class Contact(NamedTuple):
    """Contact of a segment with an object: whether it touches, whether its line cuts, and the length it adds [m]."""

    touches: Any
    mandatory: Any
    extra: Any


def iterated_muscles(layout: PathLayout) -> np.ndarray:
    """Mask (n,) of muscles whose paths are found by iteration: over several objects, ellipsoids, tori, or held."""
    wraps = np.bincount(layout.wrap_muscle, minlength=layout.muscles)
    others = ~np.isin(layout.kind, (CYLINDER, SPHERE)) | (np.abs(layout.side_sign) == HELD)
    curved = layout.wrap_muscle[others[layout.wrap_object]]
    return np.asarray((wraps > 1) | np.isin(np.arange(layout.muscles), curved))


def path_length(layout: PathLayout, muscle: int, places: Places) -> Any:
    """Length of a muscle with at most one wrap, over a cylinder or sphere [m]."""
    first, last = layout.arrays.first_point[muscle], layout.arrays.first_point[muscle + 1]
    wraps = range(layout.arrays.first_wrap[muscle], layout.arrays.first_wrap[muscle + 1])
    total, least, settled = 0.0, FAR, 0.0
    for a, b, used in _segments(range(first, last), places.on):
        total += used * _distance(places.position[a], places.position[b])
        for wrap in wraps:
            low, high = layout.arrays.wrap_range[wrap]
            if low <= a < high and b <= high:
                contact = _contact(layout, layout.wrap_object[wrap], places, a, b)
                # the first segment whose line cuts the object, or else the one that it lengthens least
                better = ca.logic_or(contact.mandatory, contact.extra < least)
                takes = used * (1.0 - settled) * contact.touches * better
                least = ca.if_else(takes, contact.extra, least)
                settled = ca.logic_or(settled, takes * contact.mandatory)
    return total + ca.if_else(least < FAR, least, 0.0) if len(wraps) else total


def _segments(points: range, on: list[Any]) -> list[tuple[int, int, Any]]:
    """Pairs of points that can follow each other, and whether they do: both on the path, none between them."""
    segments = []
    for a in points:
        used = on[a]
        for b in range(a + 1, points.stop):
            segments.append((a, b, used * on[b]))
            if isinstance(on[b], float):
                break
            used = used * (1.0 - on[b])
    return segments


def _root(square: Any) -> Any:
    return ca.sqrt(ca.fmax(square, ABOVE_ZERO))


def _distance(a: Any, b: Any) -> Any:
    return _root(ca.sumsqr(b - a))


def _contact(layout: PathLayout, item: int, places: Places, a: int, b: int) -> Contact:
    turned, center = places.rotation[item].T, places.center[item]
    p, q = (turned @ (places.position[k] - center) for k in (a, b))
    axis, sign, radius = int(layout.side_axis[item]), layout.side_sign[item], layout.radii[item, 0]
    if layout.kind[item] == CYLINDER:
        return touch_cylinder(p, q, radius, layout.half_length[item], axis, sign)
    return touch_sphere(p, q, radius, axis, sign)


def _on_side(value: Any, sign: float) -> Any:
    """Whether a coordinate is on the half of a sign."""
    return value >= 0.0 if sign > 0.0 else value < 0.0


def _around(sine: Any, cosine: Any) -> Any:
    """Angle from 0 to a full turn [rad]."""
    angle = ca.atan2(sine, cosine)
    return ca.fmax(ca.if_else(angle < -ROUND_OFF, angle + 2.0 * np.pi, angle), 0.0)


def touch_cylinder(p: Any, q: Any, radius: float, half_length: float, axis: int, sign: float) -> Contact:
    """Contact of the segment between two ends (3,) in the frame of a cylinder: kernel/cylinder.py."""
    square_1, square_2 = p[0] ** 2 + p[1] ** 2, q[0] ** 2 + q[1] ** 2
    outside = ca.logic_and(square_1 >= radius**2, square_2 >= radius**2)
    shorter = ca.if_else(p[0] * q[1] >= p[1] * q[0], 1.0, -1.0)
    c1, c2 = radius / _root(square_1), radius / _root(square_2)
    s1, s2 = _root(1.0 - c1**2), _root(1.0 - c2**2)
    turn = shorter if sign == 0.0 else _turn(p, q, (c1, c2, s1, s2), axis, sign, shorter)
    x1, y1 = c1 * (p[0] * c1 - p[1] * turn * s1), c1 * (p[1] * c1 + p[0] * turn * s1)
    x2, y2 = c2 * (q[0] * c2 + q[1] * turn * s2), c2 * (q[1] * c2 - q[0] * turn * s2)
    angle = _around(turn * (x1 * y2 - y1 * x2), x1 * x2 + y1 * y2)
    first, last = _root(square_1 - radius**2), _root(square_2 - radius**2)
    flat, rise = first + radius * angle + last, q[2] - p[2]
    z1, z2 = p[2] + rise * first / flat, q[2] - rise * last / flat
    beyond = ca.logic_and(ca.fabs(z1) > half_length, ca.fabs(z2) > half_length)
    touches, mandatory = _line_touches(p, q, radius, axis, sign)
    touches = ca.logic_and(ca.logic_and(touches, outside), ca.logic_not(beyond))
    return Contact(touches, mandatory, _root(flat**2 + rise**2) - _distance(p, q))


def _line_touches(p: Any, q: Any, radius: float, axis: int, sign: float) -> tuple[Any, Any]:
    """Whether the path touches the cylinder, by its straight line, and whether the line cuts it."""
    dx, dy = q[0] - p[0], q[1] - p[1]
    square = dx**2 + dy**2
    along = -(p[0] * dx + p[1] * dy) / ca.fmax(square, ABOVE_ZERO)
    between = ca.logic_and(square > 0.0, ca.logic_and(along > 0.0, along < 1.0))
    cut = ca.logic_and(between, (p[0] * q[1] - p[1] * q[0]) ** 2 < radius**2 * square)
    if sign == 0.0:
        return cut, cut
    near, far = _on_side(p[axis], sign), _on_side(q[axis], sign)
    neither = ca.logic_not(ca.logic_or(near, far))
    closest = _on_side(p[axis] + along * (q[axis] - p[axis]), sign)
    possible = ca.logic_or(neither, ca.logic_and(near != far, ca.logic_not(closest)))
    mandatory = ca.logic_and(cut, ca.logic_not(neither))
    return ca.logic_and(square > 0.0, ca.logic_or(mandatory, possible)), mandatory


def _turn(p: Any, q: Any, angles: tuple[Any, ...], axis: int, sign: float, shorter: Any) -> Any:
    """Direction about z, +1 or -1, whose tangent points lie on the stated half."""
    c1, c2, s1, s2 = angles
    cosine = p[0] * c1 * (q[0] * c2) + p[1] * c1 * (q[1] * c2)
    sine = p[0] * c1 * (q[1] * c2) - p[1] * c1 * (q[0] * c2)
    c, s = c1 * c2 - s1 * s2, s1 * c2 + c1 * s2
    larger = ca.if_else(cosine * c + sine * s < cosine * c - sine * s, 1.0, -1.0)
    if axis == 2:
        left_1, left_2 = _on_side(p[2], sign), _on_side(q[2], sign)
        right_1, right_2 = left_1, left_2
    else:
        other = -1.0 if axis == 0 else 1.0
        left_1, right_1 = (_on_side(p[axis] * c1 + k * other * p[1 - axis] * s1, sign) for k in (1.0, -1.0))
        left_2, right_2 = (_on_side(q[axis] * c2 + k * other * q[1 - axis] * s2, sign) for k in (1.0, -1.0))
    some, both = ca.logic_or(left_2, right_2), ca.logic_and(left_2, right_2)
    by_second = ca.if_else(left_2, -1.0, 1.0)
    by_second = ca.if_else(ca.logic_or(left_1, some), by_second, larger)
    by_second = ca.if_else(ca.logic_and(left_1, both), shorter, by_second)
    return ca.if_else(left_1 != right_1, ca.if_else(left_1, 1.0, -1.0), by_second)


def touch_sphere(p: Any, q: Any, radius: float, axis: int, sign: float) -> Contact:
    """Contact of the segment between two ends (3,) in the frame of a sphere: kernel/sphere.py."""
    w1, w2 = p / radius, q / radius
    first, last, both = ca.sumsqr(w1), ca.sumsqr(w2), ca.dot(w1, w2)
    square = first + last - 2.0 * both
    along = (first - both) / ca.fmax(square, ABOVE_ZERO)
    nearest = w1 + along * (w2 - w1)
    distance = ca.sumsqr(nearest)
    outside = ca.logic_and(ca.logic_and(first >= 1.0, last >= 1.0), distance < 1.0 - GRAZING)
    touches = ca.logic_and(outside, ca.logic_and(along > 0.0, along < 1.0))
    sided: Any = 0.0
    side = nearest
    if sign != 0.0:
        near, far = p[axis] * sign >= 0.0, q[axis] * sign >= 0.0
        held = ca.if_else(ca.logic_and(near, far), nearest, _held_side(w1, w2, nearest, axis, sign))
        side, sided = held, ca.logic_or(near, far)
    side = ca.if_else(distance < CENTRAL**2, _any_side(w1, axis, sign), side)
    u1, direction = _tangent(w1, side)
    u2, _ = _tangent(w2, side)
    angle = _around(ca.dot(direction, u2), ca.dot(u1, u2))
    straight = _root(first - 1.0) + _root(last - 1.0)
    return Contact(touches, sided, radius * (angle + straight) - _distance(p, q))


def _across(w: Any, side: Any) -> Any:
    """Unit vector across the line from the center to an end, toward a side."""
    across = side - ca.dot(side, w) / ca.fmax(ca.sumsqr(w), ABOVE_ZERO) * w
    return across / _root(ca.sumsqr(across))


def _tangent(w: Any, side: Any) -> tuple[Any, Any]:
    """Tangent point of an end on the unit sphere, and the direction of the path after it."""
    square = ca.fmax(ca.sumsqr(w), ABOVE_ZERO)
    height, out = _root(1.0 - 1.0 / square), _across(w, side)
    return w / square + height * out, out / ca.sqrt(square) - height * w / ca.sqrt(square)


def _held_side(w1: Any, w2: Any, nearest: Any, axis: int, sign: float) -> Any:
    """Side of the center by OpenSim's rule; the stated one where the rule gives opposite tangent points."""
    sides, points = [], []
    for w in (w1, w2):
        across, square = _across(w, nearest), ca.fmax(ca.sumsqr(w), ABOVE_ZERO)
        side = ca.if_else(-ca.dot(across, w1 + w2) > 0.0, 1.0, -1.0)
        sides.append(side)
        points.append(w / square + side * _root(1.0 - 1.0 / square) * across)
    along = points[0][axis] + points[1][axis] - w1[axis] - w2[axis]
    first, last = (ca.if_else(along * sign < 0.0, -side, side) for side in sides)
    bent = first != last
    turned = ca.logic_or(
        ca.logic_and(bent, sign * nearest[axis] < 0.0), ca.logic_and(ca.logic_not(bent), first < 0.0)
    )
    return ca.if_else(turned, -nearest, nearest)


def _any_side(w: Any, axis: int, sign: float) -> Any:
    """Direction across a line through the center: the stated side, or the axis most nearly perpendicular."""

    def across(k: int) -> Any:
        return -w[k] * w / ca.fmax(ca.sumsqr(w), ABOVE_ZERO) + np.eye(3)[k]

    if sign != 0.0:
        return sign * across(axis)
    best, least = across(axis), ca.fabs(w[axis])
    for k in range(3):
        nearer = ca.fabs(w[k]) < least
        best, least = ca.if_else(nearer, across(k), best), ca.if_else(nearer, ca.fabs(w[k]), least)
    return best


class IteratedPaths(ca.Callback):  # type: ignore[misc]
    """Lengths (n,) of paths that the path engine finds by iteration in a pose (m,), or their derivatives, 1 to 3.

    First derivatives are the moment arms of the engine, exact at its tangent points. Second derivatives are central
    differences of these, with about seven correct digits; third derivatives, on which the second ones of moments
    depend, are differences of differences, with about five. No C code can be generated.
    """

    last_order = max(STEP)

    def __init__(self, evaluate: Evaluated, size: tuple[int, int], order: int = 0) -> None:
        ca.Callback.__init__(self)
        self._evaluate, self._size, self._order = evaluate, size, order
        self._kept: list[Any] = []  # CasADi does not keep Python's objects alive
        self.construct(f"iterated_paths_{order}", {})

    def get_sparsity_in(self, i: int) -> Any:
        """The only input, the pose: a column (m,)."""
        return ca.Sparsity.dense(self._size[1], 1)

    def get_sparsity_out(self, i: int) -> Any:
        """Lengths (n,), derivatives (n, m), and derivatives of these, column after column, (n m, m)."""
        n, m = self._size
        rows = n * m ** max(self._order - 1, 0)
        return ca.Sparsity.dense(rows, m if self._order else 1)

    def eval(self, arguments: Any) -> list[Any]:
        """Evaluate the engine in one pose, or in the poses of the differences."""
        pose = np.array(arguments[0]).reshape(1, -1)
        if self._order == 0:
            return [ca.DM(self._evaluate(pose)[0][0])]
        slopes = self._slopes(pose, self._order, STEP.get(self._order, 0.0))
        return [ca.DM(slopes.reshape(self._size[1], -1).T)]

    def _slopes(self, poses: Array, order: int, step: float) -> Array:
        """All derivatives (T, n m^order) of an order, the coordinate of the last one first."""
        if order == 1:
            return -self._evaluate(poses)[1].reshape(len(poses), -1)
        return self._differences(poses, order - 1, step)

    def _differences(self, poses: Array, order: int, step: float) -> Array:
        """Central differences of the derivatives of an order, the coordinate of the last one first."""
        steps = step * np.eye(poses.shape[1])
        moved = np.concatenate([poses[:, None] + steps, poses[:, None] - steps]).reshape(-1, poses.shape[1])
        after, before = np.split(self._slopes(moved, order, step), 2)
        return ((after - before) / (2.0 * step)).reshape(len(poses), -1)

    def has_jacobian(self) -> bool:
        """Whether there is another derivative."""
        return self._order < self.last_order

    def get_jacobian(self, name: str, inputs: Any, outputs: Any, options: Any) -> Any:
        """The derivative, in the form of CasADi: a function of pose and value."""
        derivative = type(self)(self._evaluate, self._size, self._order + 1)
        pose, value = ca.MX.sym("q", self._size[1]), ca.MX.sym("value", ca.Sparsity(*self.size_out(0)))
        function = ca.Function(name, [pose, value], [derivative(pose)], inputs, outputs, options)
        self._kept += [derivative, function]
        return function


class IteratedPulls(IteratedPaths):
    """Pulls (n,) of such paths at bodies in a pose (m,), or their derivatives, 1 and 2, which are differences."""

    last_order = 2

    def _slopes(self, poses: Array, order: int, step: float) -> Array:
        if order == 0:
            return self._evaluate(poses)[0].reshape(len(poses), -1)
        return self._differences(poses, order - 1, STEP[order + 1])


def rotation_about(axis: Array, angle: Any) -> Any:
    """Rotation about a unit axis (Rodrigues)."""
    skew = np.cross(np.eye(3), axis)
    return np.eye(3) + ca.sin(angle) * ca.SX(skew) + (1.0 - ca.cos(angle)) * ca.SX(skew @ skew)


def tree_poses(model: Model, coordinates: Mapping[int, Any], root: Pose) -> dict[int, Pose]:
    """Rotation and translation of every frame of a subject, x = t + R s from standing, by its number.

    A joint holds its pivot (`Tree.frames`). coordinates: by number of the joint [rad]; the others stand. root: the pose
    of the base.
    """
    tree, standing = model.tree, model.standing
    axes, poses = tree.axes(standing[None])[0], {tree.root: root}
    for k, (parent, child) in enumerate(zip(tree.parent.tolist(), tree.child.tolist(), strict=True)):
        rotation, shift = poses[parent]
        if k in coordinates:
            turned = rotation @ rotation_about(axes[k], coordinates[k])
            poses[child] = turned, shift + (rotation - turned) @ standing[tree.pivot[k]]
        else:
            poses[child] = rotation, shift
    return poses


def places_of_set(
    model: Model, paths: Paths, coordinates: Mapping[int, Any], poses: Mapping[int, Pose] | None = None
) -> Places:
    """Points and objects of a set on a subject; coordinates: by number of the joint [rad].

    poses: of the bodies by number; of a subject whose base stands still unless given.
    """
    if poses is None:
        poses = tree_poses(model, coordinates, (ca.SX.eye(3), ca.SX.zeros(3)))
    carriers: dict[int, Pose] = {}
    for f, spline in enumerate(paths.frames.motion):
        rotation, shift = poses[int(paths.frames.body[f])]
        motion, pivot = natural_spline(spline, coordinates[int(paths.frames.dof[f])]), paths.frames.pivot[f]
        turned = rotation @ _from_vector(motion[3:])
        carriers[f] = turned, shift + rotation @ (pivot + ca.vertcat(*motion[:3])) - turned @ pivot

    def carried(body: int, frame: int) -> Pose:
        return carriers[frame] if frame >= 0 else poses[body]

    on: list[Any] = [1.0] * len(paths.standing)
    switches = paths.switched, paths.switch_dof, paths.switch_lower, paths.switch_upper
    for p, dof, lower, upper in zip(*(switch.tolist() for switch in switches), strict=True):
        on[p] = ca.logic_and(coordinates[dof] >= lower, coordinates[dof] <= upper)
    objects = paths.objects
    of_points = map(carried, paths.point_body.tolist(), paths.point_frame.tolist())
    of_objects = list(map(carried, objects.body.tolist(), objects.frame.tolist()))
    return Places(
        [shift + rotation @ s for (rotation, shift), s in zip(of_points, paths.standing, strict=True)],
        on,
        [shift + rotation @ c for (rotation, shift), c in zip(of_objects, objects.center, strict=True)],
        [rotation @ way for (rotation, _), way in zip(of_objects, objects.axes, strict=True)],
    )


def _from_vector(vector: list[Any]) -> Any:
    """Rotation of a rotation vector [rad]: `set_turn` of the kernel."""
    if all(isinstance(part, float) for part in vector):
        return ca.SX.eye(3)
    column = ca.vertcat(*vector)
    square = ca.sumsqr(column)
    small = square < NEARLY_ZERO**2
    safe = ca.if_else(small, 1.0, square)
    first = ca.if_else(small, 1.0 - square / 6.0, ca.sin(ca.sqrt(safe)) / ca.sqrt(safe))
    second = ca.if_else(small, 0.5 - square / 24.0, (1.0 - ca.cos(ca.sqrt(safe))) / safe)
    skew = ca.skew(column)
    return ca.SX.eye(3) + first * skew + second * (skew @ skew)


def all_coordinates(model: OpenSimModel, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Every coordinate of an OpenSim model: chosen, else at its default or by its coupler (`coordinate_values`)."""
    values = {name: chosen.get(name, coordinate.default) for name, coordinate in model.coordinates.items()}
    for coupler in model.couplers:
        if coupler.dependent not in chosen:
            arguments = [values[name] for name in coupler.independent]
            values[coupler.dependent] = of_coordinates(coupler.function, arguments)
    return values


def model_poses(model: OpenSimModel, values: Mapping[str, Any]) -> dict[str, Pose]:
    """Rotation and place of every body of an OpenSim model in the ground, for expressions of all coordinates."""
    poses: dict[str, Pose] = {model.bodies[0]: (ca.SX.eye(3), ca.SX.zeros(3))}
    for joint in model.joints:
        rotation, shift = poses[joint.inboard.body]
        turned, moved = _joint_pose(joint, values)
        if joint.is_reversed:
            turned, moved = turned.T, -turned.T @ moved
        moved = shift + rotation @ (joint.inboard.position + joint.inboard.rotation @ moved)
        turned = rotation @ joint.inboard.rotation @ turned @ joint.outboard.rotation.T
        poses[joint.outboard.body] = turned, moved - turned @ joint.outboard.position
    return poses


def places_of_model(
    system: PathSystem, values: Mapping[str, Any], poses: Mapping[str, Pose] | None = None
) -> Places:
    """Points and objects of an OpenSim model in the ground, for expressions of all coordinates [rad or m].

    poses: of the bodies, if they are known.
    """
    model = system.model
    poses = model_poses(model, values) if poses is None else poses
    names, position, on = tuple(model.coordinates), [], list[Any]()
    places = [ca.SX(place) for place in system.local]
    for p in {p for p, *_ in system.moving}:
        components = {
            axis: of_coordinates(f, [values[names[k]]]) for q, axis, k, f in system.moving if q == p
        }
        places[p] = system.points[p].frame.position + system.points[p].frame.rotation @ ca.vertcat(
            *(components[axis] for axis in range(3))
        )
    for point, place in zip(system.points, places, strict=True):
        rotation, shift = poses[point.frame.body]
        position.append(shift + rotation @ place)
        on.append(1.0)
        if point.condition is not None:
            name, lower, upper = point.condition
            on[-1] = ca.logic_and(values[name] >= lower, values[name] <= upper)
    bodies = [poses[model.bodies[body]] for body in system.object_body]
    centers = [shift + rotation @ c for (rotation, shift), c in zip(bodies, system.center, strict=True)]
    axes = [rotation @ way for (rotation, _), way in zip(bodies, system.axes, strict=True)]
    return Places(position, on, centers, axes)


def _joint_pose(joint: Joint, values: Mapping[str, Any]) -> Pose:
    """Pose of the child frame of a joint in its parent frame."""
    rotation, shift = ca.SX.eye(3), ca.SX.zeros(3)
    for axis in joint.translations:
        shift = shift + of_coordinates(axis.function, [values[name] for name in axis.coordinates]) * axis.axis
    for axis in joint.rotations:
        angle = of_coordinates(axis.function, [values[name] for name in axis.coordinates])
        rotation = rotation @ rotation_about(axis.axis, angle)
    return rotation, shift
