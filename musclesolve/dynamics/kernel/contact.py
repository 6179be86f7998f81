"""Where surfaces touch and how they move against each other, and the wrenches of contact forces."""

from __future__ import annotations

from math import sqrt

from musclesolve.dynamics.kernel.compile import compiled
from musclesolve.dynamics.kernel.separation import between, from_plane

NEAR = 0.1
"""Pairs farther apart than this share of their size have a lower bound of the gap, and no point."""


@compiled
def place_surfaces(motions, shapes, placed):
    """All surfaces in space."""
    for s in range(shapes.body.size):
        b = shapes.body[s]
        for x in range(3):
            center = motions.place[b, x]
            for y in range(3):
                center += motions.rotation[b, x, y] * shapes.center[s, y]
                axis = 0.0
                for z in range(3):
                    axis += motions.rotation[b, x, z] * shapes.axes[s, z, y]
                placed.axes[s, x, y] = axis
            placed.center[s, x] = center


@compiled
def find_gap(shapes, placed, pairs, pair, touches):
    """Gap, normal and point of one pair."""
    one, two = pairs.first[pair], pairs.second[pair]
    if pairs.plane[pair]:
        from_plane(shapes, placed, one, two, touches, pair)
        return
    distance = 0.0
    for x in range(3):
        apart = placed.center[two, x] - placed.center[one, x]
        touches.normal[pair, x] = apart
        touches.point[pair, x] = 0.5 * (placed.center[one, x] + placed.center[two, x])
        distance += apart * apart
    distance, size = sqrt(distance), shapes.extent[one] + shapes.extent[two]
    touches.gap[pair] = distance - size
    for x in range(3):
        touches.normal[pair, x] /= max(distance, 1e-300)
    if distance - size < NEAR * size:
        between(shapes, placed, one, two, touches, pair)


@compiled
def find_slip(motions, shapes, pairs, pair, touches):
    """Rate of the gap, and the velocity of the second surface along the first."""
    one, two = shapes.body[pairs.first[pair]], shapes.body[pairs.second[pair]]
    twist, point, rate = motions.twist, touches.point, 0.0
    for x in range(3):
        y, z = (x + 1) % 3, (x + 2) % 3
        spin_y, spin_z = twist[two, y] - twist[one, y], twist[two, z] - twist[one, z]
        relative = twist[two, 3 + x] - twist[one, 3 + x] + spin_y * point[pair, z] - spin_z * point[pair, y]
        touches.slip[pair, x] = relative
        rate += relative * touches.normal[pair, x]
    touches.rate[pair] = rate
    for x in range(3):
        touches.slip[pair, x] -= rate * touches.normal[pair, x]


@compiled
def gather_forces(force, touches, shapes, pairs, wrench):
    """Moment about the global origin and force (B, 6) on every body from forces (P, 3) on the second surfaces."""
    for b in range(wrench.shape[0]):
        for k in range(6):
            wrench[b, k] = 0.0
    for pair in range(force.shape[0]):
        one, two = shapes.body[pairs.first[pair]], shapes.body[pairs.second[pair]]
        for x in range(3):
            y, z = (x + 1) % 3, (x + 2) % 3
            moment = touches.point[pair, y] * force[pair, z] - touches.point[pair, z] * force[pair, y]
            wrench[two, x] += moment
            wrench[one, x] -= moment
            wrench[two, 3 + x] += force[pair, x]
            wrench[one, 3 + x] -= force[pair, x]
