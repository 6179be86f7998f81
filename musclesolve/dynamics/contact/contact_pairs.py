"""Pairs of surfaces of one or several models: where they touch, and the forces they exert on their bodies.

The law of a pair is a nonlinear spring with hysteresis, and friction (Silva 2003, 4.1-4.4, 4.8):

    N = K d^n (1 + 3 (1 - e^2) / 4 * d' / d'-)     while the surfaces overlap by the depth d      (4.3)
    F = -mu N v / sqrt(|v|^2 + v_s^2)              along the tangential velocity v                (4.4, regularized)

d' is the rate of the depth and d'- the one at which the contact began (Lankarani and Nikravesh 1990). Print (4.2)
lacks K d^n (correction C13). N is never negative: surfaces do not stick to each other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, Self

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask, contiguous, equal_groups, vector_product
from musclesolve._util.checks import check_number, check_type
from musclesolve._util.messages import check_known, unknown_name
from musclesolve.dynamics.contact.surfaces import Surface, check_surfaces
from musclesolve.dynamics.kernel.arrays import (
    WORK,
    BodyMotions,
    PairArrays,
    PlacedSurfaces,
    SurfaceArrays,
    Touches,
)
from musclesolve.dynamics.model.model import Model
from musclesolve.errors import input_error

LAW = ("normal_force", "stored_energy", "friction", "slip_speed")
"""Attributes that a law of contact has."""


class ContactLaw(Protocol):
    """Compliance of a pair of surfaces."""

    friction: float
    slip_speed: float

    def normal_force(self, depth: Array, rate: Array, approach: Array) -> Array:
        """Normal force [N] from depth [m], its rate and the rate at first touch [m/s]; zero for negative depth."""
        ...

    def stored_energy(self, depth: Array) -> Array:
        """Energy [J] of the spring alone."""
        ...


@dataclass(frozen=True)
class HertzContact:
    """The law of Lankarani and Nikravesh (4.1-4.4).

    stiffness K [N/m^n]; exponent n; restitution e of the law, which is the ratio of the speeds after and before only
    for e near 1 (correction C13: e = 0.9, 0.7, 0.5, 0 give 0.913, 0.796, 0.725, 0.663); friction mu; slip_speed v_s
    [m/s], where friction has 71 % of its full size; least_approach [m/s], lower bound of d'-, for surfaces that begin
    to touch at rest.
    """

    stiffness: float
    exponent: float = 1.5
    restitution: float = 0.5
    friction: float = 0.5
    slip_speed: float = 0.01
    least_approach: float = 0.05

    def __post_init__(self) -> None:
        """Refuse a stiffness, exponent, restitution, friction or speed out of range."""
        positive = "a positive number"
        check_number(self.stiffness, "stiffness", positive, above=0.0)
        check_number(self.exponent, "exponent", "1 or more", least=1.0)
        check_number(self.restitution, "restitution", "0 to 1", least=0.0, most=1.0)
        check_friction(self.friction, self.slip_speed)
        check_number(self.least_approach, "least_approach", positive, above=0.0)

    def normal_force(self, depth: Array, rate: Array, approach: Array) -> Array:
        """Normal force (P,) [N] by depth [m], its rate [m/s] and the rate at first touch [m/s], (P,) each (4.3)."""
        loss = 0.75 * (1.0 - self.restitution**2)
        damping = 1.0 + loss * rate / np.maximum(approach, self.least_approach)
        return self.stiffness * np.maximum(depth, 0.0) ** self.exponent * np.maximum(damping, 0.0)

    def stored_energy(self, depth: Array) -> Array:
        """Energy K d^(n+1) / (n+1) (P,) [J] of the spring alone at depths d (P,) [m]."""
        power = self.exponent + 1.0
        return self.stiffness * np.maximum(depth, 0.0) ** power / power


@dataclass(frozen=True)
class CushionContact:
    """A seat cushion, N = A (exp(B d) - 1) + C d' (4.8): A [N], B [1/m], C [N s/m]."""

    size: float
    growth: float
    damping: float
    friction: float = 0.3
    slip_speed: float = 0.01

    def __post_init__(self) -> None:
        """Refuse constants of a cushion that are out of range."""
        check_number(self.size, "size", "a positive number", above=0.0)
        check_number(self.growth, "growth", "a positive number", above=0.0)
        check_number(self.damping, "damping", "zero or more", least=0.0)
        check_friction(self.friction, self.slip_speed)

    def normal_force(self, depth: Array, rate: Array, approach: Array) -> Array:
        """Normal force [N] (4.8); the damper fades in over the first millimeter, so that the force begins at zero."""
        pressed = np.maximum(depth, 0.0)
        damper = self.damping * rate * np.minimum(pressed / 0.001, 1.0)
        force = self.size * np.expm1(self.growth * pressed) + damper
        return np.where(depth > 0.0, np.maximum(force, 0.0), 0.0)

    def stored_energy(self, depth: Array) -> Array:
        """Energy A ((exp(B d) - 1) / B - d) (P,) [J] of the spring alone at depths d (P,) [m]."""
        pressed = np.maximum(depth, 0.0)
        return self.size * (np.expm1(self.growth * pressed) / self.growth - pressed)


def check_friction(friction: float, slip_speed: float) -> None:
    """Refuse a friction coefficient or slip speed out of range."""
    check_number(friction, "friction", "zero or more", least=0.0)
    check_number(slip_speed, "slip_speed", "a positive number", above=0.0)


@dataclass(frozen=True)
class BodyStates:
    """The bodies of all models in one list, the ground last, with positions and velocities (N, 3) of every model."""

    models: tuple[Model, ...]
    states: tuple[tuple[Array, Array], ...]
    motions: BodyMotions

    @classmethod
    def from_models(cls, models: Sequence[Model], states: Sequence[tuple[Array, Array]]) -> Self:
        """Motions of the bodies from positions and velocities (N, 3) [m, m/s] of every model."""
        from musclesolve.dynamics.kernel.entry import MOVE

        counts = [len(model.topology.bodies) for model in models]
        motions, first, move = BodyMotions.allocate(sum(counts) + 1), 0, MOVE.load()
        arrays = tuple((contiguous(q), contiguous(qd)) for q, qd in states)
        for model, (q, qd), count in zip(models, arrays, counts, strict=True):
            move(q, qd, model.rigid_bodies.compiled, motions, first)
            first += count
        return cls(tuple(models), arrays, motions)

    def generalized(self, wrench: Array) -> list[Array]:
        """Generalized force (N, 3) on every model of wrenches (B, 6), moments about the origin and forces."""
        from musclesolve.dynamics.kernel.entry import PUSH

        forces, first, push = [], 0, PUSH.load()
        for model, state in zip(self.models, self.states, strict=True):
            force = np.zeros(state[0].shape)
            push(state, model.rigid_bodies.compiled, self.motions, first, wrench, force)
            forces.append(force)
            first += len(model.topology.bodies)
        return forces


NEAR = 0.1
"""A pair of which the surrounding spheres are farther apart than this share of their size gets their gap, a lower
bound, and no point.
"""
MUCH_LARGER, FAR = 10.0, 0.2
"""A pair of which one surface is so many times as large as the other, a bus and a man, gets a lower bound of the gap
where it is farther apart than this share of the smaller one: its surrounding spheres overlap nearly always.
"""


@dataclass(frozen=True)
class Touch:
    """Contacts of pairs of surfaces (P): the touches, the force (P, 3) [N] on the second surface, and the power [W]
    that all contact laws together lose.
    """

    touches: Touches
    force: Array
    loss: float

    @property
    def depth(self) -> Array:
        """Depth by which the surfaces overlap (P,) [m], negative where they are apart."""
        return -self.touches.gap

    @property
    def rate(self) -> Array:
        """Rate of the depth (P,) [m/s]."""
        return -self.touches.rate


@dataclass(frozen=True)
class ContactPairs:
    """Pairs of surfaces that may touch: first and second surface by number, and the law of each.

    models: names of all models in the order in which their bodies are numbered, each with the names of its bodies.
    """

    models: Mapping[str, tuple[str, ...]]
    surfaces: tuple[Surface, ...]
    first: Indices
    second: Indices
    laws: tuple[ContactLaw, ...]
    body: Indices  # (S,) number of the body of each surface among all
    fixed: Mask  # (P,) pairs whose first surface is a plane
    exact: bool = False  # no gap is a lower bound

    @classmethod
    def build(
        cls,
        models: Mapping[str, Model],
        surfaces: Sequence[Surface],
        pairs: Mapping[tuple[str, str], ContactLaw],
    ) -> Self:
        """Pairs by the names of their surfaces, each with its law.

        Raises:
            InputError: surfaces of one name, or of a body or model that there is not; a pair of unknown surfaces,
                of two planes, or of surfaces on one body; a pair that is stated twice, or has no contact law.
        """
        check_type(models, Mapping, "models", "a dict: name of a model -> its Model")
        surfaces = check_surfaces(surfaces)
        check_type(pairs, Mapping, "pairs", "a dict: names of two surfaces -> their law")
        names = [surface.name for surface in surfaces]
        number = {name: k for k, name in enumerate(names)}
        if len(number) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise input_error("duplicate_name", where=twice, problem=f"two surfaces are called {twice!r}")
        body = np.array([body_number(models, one.body, one.model, one.name) for one in surfaces], dtype=int)
        chosen: list[tuple[int, int]] = []
        for both, law in pairs.items():
            if not isinstance(both, tuple) or len(both) != 2:
                raise input_error(
                    "bad_type",
                    where="pairs",
                    problem=f"the pair {both!r:.60}",
                    expected="the names of two surfaces as a tuple",
                )
            check_known(both, "surface", tuple(number), " in a pair")
            one, two = (number[name] for name in both)
            if surfaces[two].is_plane:
                one, two = two, one
            pair = f"{names[one]} and {names[two]}"
            if surfaces[two].is_plane:
                raise input_error("dynamics.two_planes", where=pair, pair=pair)
            if body[one] == body[two]:
                raise input_error(
                    "bad_model", where=pair, problem=f"{pair} are on the same body and cannot touch"
                )
            pair = " and ".join(both)
            if not all(hasattr(law, name) for name in LAW):
                raise input_error(
                    "bad_type",
                    where=pair,
                    problem=f"the law of {pair} is {law!r:.60}",
                    expected="HertzContact, CushionContact, or an object with the same methods",
                )
            if {(one, two), (two, one)} & set(chosen):
                raise input_error("duplicate_name", where=pair, problem=f"the pair {pair} is stated twice")
            chosen.append((one, two))
        first, second = np.array(chosen, dtype=int).reshape(-1, 2).T
        fixed = np.array([surfaces[k].is_plane for k in first], dtype=bool)
        bodies = {name: _body_names(model) for name, model in models.items()}
        return cls(bodies, tuple(surfaces), first, second, tuple(pairs.values()), body, fixed)

    def in_order(self, models: Mapping[str, Model]) -> dict[str, Model]:
        """Models in the order in which the pairs number their bodies.

        Raises:
            InputError: other models than the pairs were built with, by their names or bodies.
        """
        if set(models) != set(self.models):
            paired = ", ".join(map(repr, self.models)) or "no model"
            started = ", ".join(map(repr, models)) or "no model"
            raise input_error(
                "conflict",
                problem=f"the starts belong to {started}, but the pairs to {paired}",
                expected="one start for each model that the pairs were built with",
            )
        for name, model in models.items():
            if _body_names(model) != self.models[name]:
                raise input_error(
                    "conflict",
                    where=name,
                    problem=f"the model {name!r} has other bodies than the one that the pairs were built with",
                )
        return {name: models[name] for name in self.models}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the pairs for messages."""
        named = zip(self.first, self.second, strict=True)
        return tuple(f"{self.surfaces[a].name} and {self.surfaces[b].name}" for a, b in named)

    @cached_property
    def _arrays(self) -> tuple[SurfaceArrays, PairArrays]:
        """Surfaces and pairs for compiled code."""

        def over(field: str, *shape: int) -> Array:
            return contiguous(np.reshape([getattr(one, field) for one in self.surfaces], (-1, *shape)))

        extent = contiguous([0.0 if one.is_plane else one.extent for one in self.surfaces])
        places = over("center", 3), over("axes", 3, 3), over("semi_axes", 3)
        first, second = contiguous(self.first, np.intp), contiguous(self.second, np.intp)
        small, large = np.sort([extent[first], extent[second]], axis=0)
        apart = np.full(len(first), np.inf) if self.exact else NEAR * (small + large)
        far = np.where((large > MUCH_LARGER * small) & (not self.exact), FAR * small, np.inf)
        return (
            SurfaceArrays(contiguous(self.body, np.intp), *places, over("order"), over("radius"), extent),
            PairArrays(first, second, contiguous(self.fixed, bool), contiguous(apart), contiguous(far)),
        )

    @cached_property
    def _by_law(self) -> list[tuple[ContactLaw, Indices]]:
        """Distinct laws, each with the numbers of its pairs."""
        return [(self.laws[pairs[0]], pairs) for pairs in equal_groups(self.laws)]

    @cached_property
    def thickness(self) -> Array:
        """Largest depth (P,) [m] by which a pair can overlap and still be detected; infinite with a plane."""
        thin = [np.inf if one.is_plane else one.radius + one.semi_axes.min() for one in self.surfaces]
        return np.minimum(np.take(thin, self.first), np.take(thin, self.second))

    def gaps(self, states: BodyStates) -> Array:
        """Gap (P,) [m] of every pair; for surfaces far apart a lower bound."""
        return self.touches(states.motions).gap

    def touches(self, motions: BodyMotions) -> Touches:
        """Return the point of contact of every pair and the motion of its two surfaces against each other."""
        from musclesolve.dynamics.kernel.entry import TOUCH

        count, touches = len(self.surfaces), Touches.allocate(len(self.first))
        placed = PlacedSurfaces(np.zeros((count, 3)), np.zeros((count, 3, 3)), np.zeros(WORK))
        TOUCH.load()(motions, *self._arrays, placed, touches)
        return touches

    def touch(self, states: BodyStates, approach: Array, pressing: Mask) -> Touch:
        """Return the contact of every pair; approach (P,): rate [m/s] at which each pair began to touch; pressing (P,):
        mask of the pairs with a force.
        """
        touches = self.touches(states.motions)
        force, loss = np.zeros((len(touches.gap), 3)), 0.0
        with np.errstate(over="ignore", invalid="ignore"):
            for law, pairs in self._by_law:
                chosen = pairs[pressing[pairs] & (touches.gap[pairs] < 0.0)]
                if not len(chosen):
                    continue
                depth, rate, slip = -touches.gap[chosen], -touches.rate[chosen], touches.slip[chosen]
                pressed = law.normal_force(depth, rate, approach[chosen])
                elastic = law.normal_force(depth, np.zeros(len(depth)), approach[chosen])
                square = np.einsum("px,px->p", slip, slip)
                rubbing = law.friction * pressed / np.sqrt(square + law.slip_speed**2)
                force[chosen] = pressed[:, None] * touches.normal[chosen] - rubbing[:, None] * slip
                # Power that damping and friction of the law dissipate.
                loss += float(np.sum((pressed - elastic) * rate + rubbing * square))
        return Touch(touches, force, loss)

    def wrenches(self, touch: Touch, count: int) -> Array:
        """Moment about the global origin and force (B, 6) on every body, the ground last."""
        pressing = np.flatnonzero(touch.force.any(axis=1))
        force, wrench = touch.force[pressing], np.zeros((count, 6))
        both = np.hstack([vector_product(touch.touches.point[pressing], force), force])
        np.add.at(wrench, self.body[self.second[pressing]], both)
        np.subtract.at(wrench, self.body[self.first[pressing]], both)
        return wrench


def body_number(models: Mapping[str, Model], body: str, model: str, what: str) -> int:
    """Number among the bodies of all models; the ground, which has no name, is the last. what: the name of the part
    with the body, for messages.
    """
    counts = [len(one.topology.bodies) for one in models.values()]
    if not body:
        return sum(counts)
    names = list(models)
    owner = model or (names[0] if len(names) == 1 else "")
    if owner not in models:
        raise unknown_name(owner, "model", tuple(names), f" to carry {what!r}")
    return sum(counts[: names.index(owner)]) + models[owner].body(body)


def _body_names(model: Model) -> tuple[str, ...]:
    return tuple(body.name for body in model.topology.bodies)
