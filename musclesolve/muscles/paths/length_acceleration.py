"""Second derivative of the length of a path along a motion, in closed form.

A path is a chain of nodes: points, and two tangent points for each wrap that it touches. Nodes move with the velocity v
and the acceleration a of the material points of their bodies, objects and moving frames at these places. On a straight
segment from s to e of the length l, with the unit vector u and w = v_e - v_s,

    l'' = u . (a_e - a_s) + (w . w - (u . w)^2) / l .

Over a wrap object the tangent points also slide on the surface. The length does not change to first order with a slide
(paths.py). Along the path it does not change to second order either: the tangent rolls on the surface. A slide s across
the path, along the binormal b = n x u of the surface with the normal n, has the gradient zero, and

    L'' = sum l'' - h . H^-1 h,     h = d/dt of the gradient by s,  H = the second derivatives by s.

The segment that ends (+) or begins (-) at the tangent point gives h = +-(u . b' + b . w / l), where b' is the rate of b
fixed to the object, and 1 / l on the diagonal of H. If both ends of a segment are tangent points, it also gives
-b_s . b_e / l between them. The arc of length g gives

    1 / S(g) [C(g), -1; -1, S'(g)] ,     y'' + K y = 0 for y = S, C,   S(0) = 0, S'(0) = 1,  C(0) = 1, C'(0) = 0,

the Jacobi equation along a geodesic (do Carmo, Differential Geometry of Curves and Surfaces, 5-5) with the Gaussian
curvature K: S = g on a cylinder, r sin(g / r) on a sphere. On an ellipsoid the equation is integrated along the
geodesic.

Where a path begins or ceases to touch an object the length has a second derivative on each side, and they differ; so do
they where a conditional point switches. The result is the derivative of the side on which the pose is computed to be.
"""

from typing import NamedTuple

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask, dot
from musclesolve.errors import MuscleSolveError
from musclesolve.muscles.paths.engine import KINDS, PathLayout, path_chains
from musclesolve.muscles.paths.paths import Paths

_SHORTEST_ARC = 1e-9
"""Arcs below this length count as this long: the limit of an arc that begins [m]."""
_STEPS = 64
"""Runge-Kutta steps along the geodesic of an ellipsoid."""
_OFF_GEODESIC = 1e-6
"""Distance of the far tangent point from the geodesic above which the path is not the shortest [m]."""


class Course(NamedTuple):
    """A quantity with its first and second derivative by time."""

    value: Array
    rate: Array
    second: Array


def length_acceleration(paths: Paths, q: Array, qd: Array, coordinates: Course) -> Array:
    """Second derivative (T,) [m/s^2] of the length of one muscle along the line q + t qd: qd . (d2L/dq2) qd.

    Args:
        paths: the path of one muscle.
        q, qd: poses (T, N, 3) [m] and velocities [m/s] that meet the constraints.
        coordinates: joint coordinates (T, K+6) [rad] along the same line, which move frames and switch points.

    Raises:
        MuscleSolveError: the path is held on one half of an ellipsoid, where it is not the shortest.
    """
    layout, objects = paths.layout, paths.objects
    # objects move as their center and three more points, one along each axis
    ends = objects.center[:, None] + np.swapaxes(objects.axes, 1, 2)
    standing = np.concatenate([paths.standing, objects.center, ends.reshape(-1, 3)])
    body = np.concatenate([paths.point_body, objects.body, np.repeat(objects.body, 3)])
    frame = np.concatenate([paths.point_frame, objects.frame, np.repeat(objects.frame, 3)])
    moved = [
        np.split(point, [layout.points, layout.points + len(objects.body)], axis=1)
        for point in _material_points(paths, standing, body, frame, q, qd, coordinates)
    ]
    points = Course(*(point for point, _, _ in moved))
    centers = Course(*(center for _, center, _ in moved))
    rotations = Course(
        *(np.swapaxes(end.reshape(*center.shape, 3) - center[:, :, None], 2, 3) for _, center, end in moved)
    )
    on = paths.on_path(coordinates.value)
    chain, place, arc = _chains(layout, on, points, centers, rotations)
    acceleration = np.full(len(q), np.nan)
    patterns, number = np.unique(chain, axis=0, return_inverse=True)
    for k, pattern in enumerate(patterns):
        poses = np.flatnonzero(number.reshape(-1) == k)
        nodes = pattern[pattern >= 0]
        if len(nodes):
            parts = (Course(*(x[poses] for x in course)) for course in (points, centers, rotations))
            acceleration[poses] = _along_chain(layout, nodes, place[poses], arc[poses], *parts)
    return acceleration


def _material_points(
    paths: Paths, standing: Array, body: Indices, frame: Indices, q: Array, qd: Array, coordinates: Course
) -> Course:
    """Material points (T, M, 3) of bodies (M,) or of moving frames on them, where qdd is zero."""
    poses = len(q)
    y = np.repeat(standing[None], poses, axis=0)
    y1, y2 = np.zeros((2, *y.shape))
    (on,) = np.nonzero(frame >= 0)
    if on.size:
        relative = paths.frames.at(coordinates.value)
        velocity_bend, spin_bend = paths.frames.bend(coordinates.value)
        f = frame[on]
        rate, second = (x[:, paths.frames.dof[f], None] for x in coordinates[1:])
        lever = np.einsum("tmij,mj->tmi", relative.rotation[:, f], standing[on] - paths.frames.pivot[f])
        spin = relative.spin[:, f]
        slope = relative.velocity[:, f] + np.cross(spin, lever)
        bend = velocity_bend[:, f] + np.cross(spin_bend[:, f], lever) + np.cross(spin, np.cross(spin, lever))
        y[:, on] = relative.origin[:, f] + lever
        y1[:, on], y2[:, on] = slope * rate, bend * rate**2 + slope * second
    bodies = paths.rigid_bodies.subset(body)
    c, c1, c2 = (np.einsum("mij,tmj->tmi", bodies.inverse, x) for x in (y - bodies.origin, y1, y2))
    # r = r_i + c_1 (r_j - r_i) + c_2 u + c_3 v (2.40), (6.2); the product of two courses by Leibniz' rule
    weights = [np.concatenate([-x[..., :1], x], axis=2)[:, :, None] for x in (c, c1, c2)]
    weights[0][..., 0] += 1.0
    basic = [bodies.basic(q), bodies.basic(q, qd), bodies.basic(q, qd, np.zeros_like(q))]

    def product(k: int, j: int) -> Array:
        return (weights[k] @ basic[j])[:, :, 0]

    return Course(
        product(0, 0), product(0, 1) + product(1, 0), product(0, 2) + 2.0 * product(1, 1) + product(2, 0)
    )


def _chains(
    layout: PathLayout, on: Mask, points: Course, centers: Course, rotations: Course
) -> tuple[Indices, Array, Array]:
    """Nodes of the path in order (T, C), filled up with -1, places of all nodes (T, N, 3), arcs (T, W)."""
    if layout.wraps:
        chain, wrapped = path_chains(layout, points.value, on, centers.value, rotations.value)
        return chain, wrapped.position, wrapped.arc
    chain = np.argsort(~on, axis=1, kind="stable")
    chain[np.arange(on.shape[1]) >= on.sum(axis=1, keepdims=True)] = -1
    return chain, points.value, np.zeros((len(on), 0))


def _along_chain(
    layout: PathLayout,
    nodes: Indices,
    place: Array,
    arc: Array,
    points: Course,
    centers: Course,
    turns: Course,
) -> Array:
    """Second derivatives (T,) of the length of paths over the same nodes (C,)."""
    wrap = (nodes - layout.points) // 2  # negative for points
    touching = np.flatnonzero(wrap >= 0)
    item = layout.wrap_object[wrap[touching]]
    x, v, a = (np.zeros((len(place), len(nodes), 3)) for _ in range(3))
    x[:] = place[:, nodes]
    plain = np.flatnonzero(wrap < 0)
    v[:, plain], a[:, plain] = points.rate[:, nodes[plain]], points.second[:, nodes[plain]]
    turn, turn_rate, turn_second = (array[:, item] for array in turns)
    local = np.einsum("tmij,tmi->tmj", turn, x[:, touching] - centers.value[:, item])
    v[:, touching] = centers.rate[:, item] + np.einsum("tmij,tmj->tmi", turn_rate, local)
    a[:, touching] = centers.second[:, item] + np.einsum("tmij,tmj->tmi", turn_second, local)

    # straight segments; between the two tangent points of a wrap lies its arc
    entry = (wrap >= 0) & ((nodes - layout.points) % 2 == 0)
    straight = np.flatnonzero(~entry[:-1])
    line, w, da = (array[:, straight + 1] - array[:, straight] for array in (x, v, a))
    length = np.linalg.norm(line, axis=2)
    per_length = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0.0)
    u = line * per_length[..., None]
    result = (dot(u, da) + (dot(w, w) - dot(u, w) ** 2) * per_length).sum(axis=1)
    if not len(touching):
        return np.asarray(result)

    # slides across the path: the segment at each tangent point, which ends (+) or begins (-) there
    sign = np.where(entry[touching], 1.0, -1.0)
    at = np.searchsorted(straight, touching - entry[touching])
    inverse = _inverse_squares(layout)[item]
    along = np.einsum("tmij,tmi->tmj", turn, u[:, at])
    normal = inverse * local
    normal /= np.linalg.norm(normal, axis=2, keepdims=True)
    binormal = np.cross(normal, along)
    b, b_rate = (np.einsum("tmij,tmj->tmi", array, binormal) for array in (turn, turn_rate))
    h = sign * (dot(u[:, at], b_rate) + dot(b, w[:, at]) * per_length[:, at])
    hessian = per_length[:, at, None] * np.eye(len(at))
    for k in np.flatnonzero(at[:-1] == at[1:]).tolist():  # from one wrap straight to the next
        between = -dot(b[:, k], b[:, k + 1]) * per_length[:, at[k]]
        hessian[:, k, k + 1] += between
        hessian[:, k + 1, k] += between
    for k in range(0, len(touching), 2):
        g = np.maximum(arc[:, wrap[touching[k]]], _SHORTEST_ARC)
        s, s_rate, c = _spread(layout, int(item[k]), local[:, k], along[:, k], g, local[:, k + 1])
        hessian[:, k, k] += c / s
        hessian[:, k + 1, k + 1] += s_rate / s
        hessian[:, k, k + 1] -= 1.0 / s
        hessian[:, k + 1, k] -= 1.0 / s
    return np.asarray(result - dot(h, np.linalg.solve(hessian, h[..., None])[..., 0]))


def _inverse_squares(layout: PathLayout) -> Array:
    """D (O, 3) [1/m^2] of the surfaces x . D x = 1; a cylinder is open along its third axis."""
    radii = np.where((layout.kind == KINDS.index("cylinder"))[:, None], layout.radii[:, :1], layout.radii)
    inverse = 1.0 / radii**2
    inverse[layout.kind == KINDS.index("cylinder"), 2] = 0.0
    return np.asarray(inverse)


def _spread(
    layout: PathLayout, item: int, start: Array, heading: Array, arc: Array, end: Array
) -> tuple[Array, Array, Array]:
    """S, S' and C of arcs (T,) on an object from `start` (T, 3) with the direction `heading` (T, 3) to `end`."""
    match KINDS[layout.kind[item]]:
        case "cylinder":
            return arc, np.ones_like(arc), np.ones_like(arc)
        case "sphere":
            radius = layout.radii[item, 0]
            return radius * np.sin(arc / radius), np.cos(arc / radius), np.cos(arc / radius)
    diagonal = _inverse_squares(layout)[item]

    def slope(state: Array) -> Array:
        """Rates of point, direction, S, S', C and C' (T, 10); see ellipsoid.py for the geodesic."""
        point, direction, s, s_rate, c, c_rate = np.split(state, [3, 6, 7, 8, 9], axis=1)
        normal = diagonal * point
        square = (normal * normal).sum(axis=1, keepdims=True)
        bend = -(direction * diagonal * direction).sum(axis=1, keepdims=True) / square
        curvature = diagonal.prod() / square**2
        return np.concatenate(
            [direction, bend * normal, s_rate, -curvature * s, c_rate, -curvature * c], axis=1
        )

    state = np.concatenate([start, heading, np.tile([0.0, 1.0, 1.0, 0.0], (len(arc), 1))], axis=1)
    step = arc[:, None] / _STEPS
    for _ in range(_STEPS):
        first = slope(state)
        second = slope(state + 0.5 * step * first)
        third = slope(state + 0.5 * step * second)
        fourth = slope(state + step * third)
        state = state + step / 6.0 * (first + 2.0 * (second + third) + fourth)
    off = np.linalg.norm(state[:, :3] - end, axis=1)
    if (off > _OFF_GEODESIC).any():
        raise MuscleSolveError(
            f"a path over an ellipsoid is held on one half of it, {off.max():.3g} m from the geodesic. There it is not "
            "the shortest path, and its length has no exact second derivative. Let the path use the whole ellipsoid "
            '(side "all"), or use a cylinder or a sphere.'
        )
    return state[:, 6], state[:, 7], state[:, 8]
