"""Distance, normal and nearest points of pairs of convex surfaces.

The distance is the largest over all unit normals n of the gap between the two tangent planes,

    g(n) = n . c - h_1(n) - h_2(n),        c from the center of the first surface to that of the second,

negative where they overlap: then it is minus the least translation that parts them. Newton's method on the sphere of
normals finds it, from the line of centers; the Hessian is that of the two radii of curvature and g itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.dynamics.contact.support_function import support

ROUNDS = 50
CLOSE = 1e-13
"""Tangential distance of the nearest points, as a share of the size of the pair, at which the search ends."""


@dataclass(frozen=True)
class Placed:
    """Surfaces in space: center (..., 3), axes (..., 3, 3) as columns; semi_axes (..., 3), order and radius (...)."""

    center: Array
    axes: Array
    semi_axes: Array
    order: Array
    radius: Array

    def support(self, normal: Array) -> tuple[Array, Array, Array]:
        """Reach (...), point from the center (..., 3) and its derivatives (..., 3, 3), without the ball."""
        own = np.einsum("...xa,...x->...a", self.axes, normal)
        reach, point, second = support(self.semi_axes, self.order, own)
        turned = np.einsum("...xa,...a->...x", self.axes, point)
        return reach, turned, self.axes @ second @ np.swapaxes(self.axes, -1, -2)


@dataclass(frozen=True)
class Separation:
    """Pairs of surfaces: gap (...) [m], negative where they overlap; normal (..., 3), from the first to the second;
    point (..., 3) halfway between the nearest points of the two [m].
    """

    gap: Array
    normal: Array
    point: Array


def from_plane(place: Array, normal: Array, other: Placed) -> Separation:
    """Separation of surfaces from planes through place (..., 3) with outward normals (..., 3)."""
    reach, point, _ = other.support(normal)
    below = other.center - point - other.radius[..., None] * normal
    gap = np.einsum("...x,...x->...", normal, other.center - place) - reach - other.radius
    return Separation(gap, normal, below - 0.5 * gap[..., None] * normal)


def between(first: Placed, second: Placed) -> Separation:
    """Separation of convex surfaces that do not hold each other's centers."""
    offset = second.center - first.center
    distance = np.linalg.norm(offset, axis=-1, keepdims=True)
    normal = np.where(distance > 0.0, offset / np.where(distance > 0.0, distance, 1.0), [0.0, 0.0, 1.0])
    ball = first.radius + second.radius
    scale = np.linalg.norm(first.semi_axes, axis=-1) + np.linalg.norm(second.semi_axes, axis=-1) + ball
    for _ in range(ROUNDS):
        gap, slope, step = _newton_step(first, second, offset, ball, normal)
        if (np.linalg.norm(slope, axis=-1) <= CLOSE * scale).all():
            break
        normal = _improved(first, second, offset, normal, gap + ball, step)
    (one, on_first, _), (two, on_second, _) = first.support(normal), second.support(normal)
    gap = np.einsum("...x,...x->...", normal, offset) - one - two - ball
    nearest = first.center + on_first + second.center - on_second
    middle = 0.5 * (nearest + (first.radius - second.radius)[..., None] * normal)
    return Separation(gap, normal, middle)


def _newton_step(
    first: Placed, second: Placed, offset: Array, ball: Array, normal: Array
) -> tuple[Array, Array, Array]:
    """Gap, its tangential gradient, and the step on the sphere towards its maximum."""
    (one, on_first, bend_first), (two, on_second, bend_second) = first.support(normal), second.support(normal)
    slope = offset - on_first - on_second
    slope = slope - np.einsum("...x,...x->...", slope, normal)[..., None] * normal
    gap = np.einsum("...x,...x->...", normal, offset) - one - two - ball
    aside = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal), axis=-1)])
    aside = aside / np.linalg.norm(aside, axis=-1, keepdims=True)
    basis = np.stack([aside, np.cross(normal, aside)], axis=-1)
    bend = np.swapaxes(basis, -1, -2) @ (bend_first + bend_second) @ basis
    values, vectors = np.linalg.eigh(bend + (gap + ball)[..., None, None] * np.eye(2))
    floor = 1e-3 * np.maximum(np.abs(values).max(axis=-1, keepdims=True), 1e-12)
    along = np.einsum("...xa,...x->...a", basis @ vectors, slope) / np.maximum(np.abs(values), floor)
    step = np.einsum("...xa,...a->...x", basis @ vectors, along)
    long = np.linalg.norm(step, axis=-1, keepdims=True)
    return gap, slope, step * np.minimum(1.0, 0.7 / np.maximum(long, 1e-300))


def _improved(first: Placed, second: Placed, offset: Array, normal: Array, best: Array, step: Array) -> Array:
    """Normals after the step, halved for those whose gap it would lessen."""
    for _ in range(ROUNDS):
        tried = normal + step
        tried = tried / np.linalg.norm(tried, axis=-1, keepdims=True)
        gap = np.einsum("...x,...x->...", tried, offset) - first.support(tried)[0] - second.support(tried)[0]
        worse = gap < best - 1e-14 * np.maximum(np.abs(best), 1.0)
        if not worse.any():
            return tried
        step = np.where(worse[..., None], 0.5 * step, step)
    return np.where(worse[..., None], normal, tried)
