"""Pairs of surfaces of one or several models: where they touch, and the forces they exert on their bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve._util.names import unknown_name
from musclesolve.dynamics.contact.contact_law import ContactLaw
from musclesolve.dynamics.contact.separation import Placed, Separation, between, from_plane
from musclesolve.dynamics.contact.surfaces import Surface
from musclesolve.dynamics.model.model import Model
from musclesolve.errors import InputError


@dataclass(frozen=True)
class BodyStates:
    """The bodies of all models below each other, the ground last: rotation (B, 3, 3) from the standing pose, place
    (B, 3) of the standing origin, spin (B, 3) and velocity (B, 3) of the material point at the global origin.
    """

    rotation: Array
    place: Array
    spin: Array
    velocity: Array

    @classmethod
    def of(cls, models: Sequence[Model], states: Sequence[tuple[Array, Array]]) -> BodyStates:
        """From positions and velocities (N, 3) of every model."""
        rotation, place, twist = [], [], []
        for model, (q, qd) in zip(models, states, strict=True):
            bodies = model.rigid_bodies
            turned = bodies.rotation(q[None])[0]
            rotation.append(turned)
            place.append(q[bodies.slots[:, 0]] - np.einsum("bxy,by->bx", turned, bodies.origin))
            twist.append(bodies.twists(q[None], qd[None])[0])
        still, upright = np.zeros((1, 6)), np.eye(3)[None]
        twists = np.concatenate([*twist, still])
        places = np.concatenate([*place, still[:, :3]])
        return cls(np.concatenate([*rotation, upright]), places, twists[:, :3], twists[:, 3:])

    def point_velocity(self, body: Indices, point: Array) -> Array:
        """Velocity (P, 3) of the material points of bodies (P,) that are at points (P, 3)."""
        return self.velocity[body] + np.cross(self.spin[body], point)


@dataclass(frozen=True)
class Touch:
    """What pairs (P) do: depth [m] and its rate [m/s], normal (P, 3) and point (P, 3), sliding velocity (P, 3) of the
    second surface on the first, and the force (P, 3) [N] on the second.
    """

    depth: Array
    rate: Array
    normal: Array
    point: Array
    slip: Array
    force: Array


@dataclass(frozen=True)
class ContactPairs:
    """Pairs of surfaces that may touch: first and second surface by number, and the law of each."""

    surfaces: tuple[Surface, ...]
    first: Indices
    second: Indices
    laws: tuple[ContactLaw, ...]
    body: Indices  # (S,) number of the body of each surface among all
    fixed: Mask  # (P,) pairs whose first surface is a plane

    @classmethod
    def build(
        cls,
        models: Mapping[str, Model],
        surfaces: Sequence[Surface],
        pairs: Mapping[tuple[str, str], ContactLaw],
    ) -> ContactPairs:
        """Pairs by the names of their surfaces, each with its law.

        Raises:
            InputError: surfaces of one name, or of a body or model that there is not; a pair of unknown surfaces,
                of two planes, or of surfaces on one body.
        """
        number = _numbers(surfaces)
        body = np.array([_body_number(models, surface) for surface in surfaces], dtype=int)
        chosen = []
        for names in pairs:
            one, two = (number[_known(name, number)] for name in names)
            if surfaces[two].is_plane:
                one, two = two, one
            _check_pair(surfaces[one], surfaces[two], body[one] == body[two])
            chosen.append((one, two))
        first, second = np.array(chosen, dtype=int).reshape(-1, 2).T
        fixed = np.array([surfaces[k].is_plane for k in first], dtype=bool)
        return cls(tuple(surfaces), first, second, tuple(pairs.values()), body, fixed)

    @property
    def names(self) -> tuple[str, ...]:
        """The pairs as messages print them."""
        named = zip(self.first, self.second, strict=True)
        return tuple(f"{self.surfaces[a].name} and {self.surfaces[b].name}" for a, b in named)

    def separation(self, states: BodyStates) -> Separation:
        """Gap (P,), normal and point (P, 3) of every pair; those far apart have a lower bound of the gap."""
        placed = self._placed(states)
        center = placed.center[self.second] - placed.center[self.first]
        distance = np.linalg.norm(center, axis=1)
        normal = center / np.maximum(distance, 1e-300)[:, None]
        extent = self._extent[self.first] + self._extent[self.second]
        gap, point = distance - extent, 0.5 * (placed.center[self.first] + placed.center[self.second])
        planes, near = np.flatnonzero(self.fixed), np.flatnonzero(~self.fixed & (gap < 0.1 * extent))
        for chosen in (planes, near):
            if len(chosen):
                found = self._of(placed, chosen, chosen is planes)
                gap[chosen], normal[chosen], point[chosen] = found.gap, found.normal, found.point
        return Separation(gap, normal, point)

    def _of(self, placed: Placed, chosen: Indices, planes: bool) -> Separation:
        one, two = self.first[chosen], self.second[chosen]
        second = _picked(placed, two)
        if planes:
            return from_plane(placed.center[one], placed.axes[one, :, 2], second)
        return between(_picked(placed, one), second)

    @property
    def _extent(self) -> Array:
        return np.array([0.0 if surface.is_plane else surface.extent for surface in self.surfaces])

    def _placed(self, states: BodyStates) -> Placed:
        """All surfaces in space; a plane as a point with axes."""
        rotation = states.rotation[self.body]
        center = np.array([surface.center for surface in self.surfaces])
        axes = np.array([surface.axes for surface in self.surfaces])
        return Placed(
            states.place[self.body] + np.einsum("sxy,sy->sx", rotation, center),
            rotation @ axes,
            np.array([surface.semi_axes for surface in self.surfaces]),
            np.array([surface.order for surface in self.surfaces]),
            np.array([surface.radius for surface in self.surfaces]),
        )

    def touch(self, states: BodyStates, approach: Array) -> Touch:
        """Forces of all pairs, whose contact began at rates of depth `approach` (P,) [m/s]."""
        apart = self.separation(states)
        one, two = self.body[self.first], self.body[self.second]
        relative = states.point_velocity(two, apart.point) - states.point_velocity(one, apart.point)
        along = np.einsum("px,px->p", relative, apart.normal)
        slip = relative - along[:, None] * apart.normal
        force = np.zeros_like(slip)
        for p in np.flatnonzero(apart.gap < 0.0):
            law = self.laws[p]
            pressed = float(law.normal_force(-apart.gap[p], -along[p], approach[p]))
            rubbing = law.friction * slip[p] / np.hypot(np.linalg.norm(slip[p]), law.slip_speed)
            force[p] = pressed * (apart.normal[p] - rubbing)
        return Touch(-apart.gap, -along, apart.normal, apart.point, slip, force)

    def on_bodies(self, touch: Touch, count: int) -> tuple[Array, Array]:
        """Force and moment about the global origin (B, 3) on every body, the ground last."""
        force, moment = np.zeros((2, count, 3))
        about = np.cross(touch.point, touch.force)
        for body, sign in ((self.body[self.second], 1.0), (self.body[self.first], -1.0)):
            np.add.at(force, body, sign * touch.force)
            np.add.at(moment, body, sign * about)
        return force, moment


def _picked(placed: Placed, chosen: Indices) -> Placed:
    return Placed(
        *(getattr(placed, name)[chosen] for name in ("center", "axes", "semi_axes", "order", "radius"))
    )


def _numbers(surfaces: Sequence[Surface]) -> dict[str, int]:
    number = {surface.name: k for k, surface in enumerate(surfaces)}
    if len(number) < len(surfaces):
        names = [surface.name for surface in surfaces]
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"two surfaces are called {twice!r}", code="duplicate_name", where=twice)
    return number


def _known(name: str, number: Mapping[str, int]) -> str:
    if name not in number:
        raise unknown_name(name, "surface", tuple(number), " in a pair")
    return name


def _body_number(models: Mapping[str, Model], surface: Surface) -> int:
    """Number of a surface's body among those of all models; the ground is the last."""
    counts = [len(model.topology.bodies) for model in models.values()]
    if not surface.body:
        return sum(counts)
    names = list(models)
    owner = surface.model or (names[0] if len(names) == 1 else "")
    if owner not in models:
        raise unknown_name(owner, "model", tuple(names), f" to carry the surface {surface.name!r}")
    return sum(counts[: names.index(owner)]) + models[owner].body(surface.body)


def _check_pair(first: Surface, second: Surface, together: bool) -> None:
    pair = f"{first.name} and {second.name}"
    if second.is_plane:
        raise InputError(f"{pair} are two planes", code="bad_model", where=pair)
    if together:
        raise InputError(f"{pair} are on the same body and cannot touch", code="bad_model", where=pair)
