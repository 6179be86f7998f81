"""Straps between bodies: straight spans whose tension follows the strain of the whole strap (Silva 2003, 4.2.3).

A strap runs in straight spans from one body to another and in arcs over bodies between them. The arcs keep their
length; the spans change theirs as the bodies move. The strap slides over the arcs without friction, so that one tension
pulls on both ends of every span, along the span. It never pushes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve._util.checks import check_array, check_number
from musclesolve.dynamics.contact.contact_pairs import body_number
from musclesolve.dynamics.kernel.arrays import BodyMotions
from musclesolve.dynamics.model.model import Model
from musclesolve.errors import InputError

FADE = 1e-3
"""Strain over which the damper fades in, so that the tension begins at zero."""


@dataclass(frozen=True)
class Webbing:
    """Tension [N] through strain, straight between points and beyond the last; damping [N s] per strain rate."""

    strain: tuple[float, ...] = (0.0, 0.1)
    force: tuple[float, ...] = (0.0, 11_100.0)
    damping: float = 0.0

    def __post_init__(self) -> None:
        """Refuse what is no webbing."""
        check_number(self.damping, "damping", "zero or more", least=0.0)
        curve = check_array((self.strain, self.force), "strain and force", (2, "points"))
        rising = curve.shape[1] > 1 and (np.diff(curve[0]) > 0.0).all() and (np.diff(curve[1]) >= 0.0).all()
        if not rising or curve[:, 0].any():
            raise InputError(
                "the curve of the webbing does not rise from zero",
                code="bad_model",
                expected="strains that increase from 0 and forces that do not fall, from 0 on",
            )

    @cached_property
    def _pieces(self) -> tuple[Array, Array, Array, Array]:
        """Strain, force and energy at the beginning of every straight piece, and its slope."""
        strain, force = np.array(self.strain), np.array(self.force)
        energy = np.cumsum([0.0, *(0.5 * (force[1:] + force[:-1]) * np.diff(strain))])
        return strain[:-1], force[:-1], energy[:-1], np.diff(force) / np.diff(strain)

    def elastic(self, strain: Array) -> tuple[Array, Array]:
        """Tension [N] without damping, and energy [J] of a metre of webbing."""
        begin, force, energy, slope = self._pieces
        piece = np.clip(np.searchsorted(begin, strain, side="right") - 1, 0, len(begin) - 1)
        more = np.maximum(strain, 0.0) - begin[piece]
        return force[piece] + slope[piece] * more, energy[piece] + (
            force[piece] + 0.5 * slope[piece] * more
        ) * more

    def tension(self, strain: Array, rate: Array) -> Array:
        """Tension [N], zero where the strap is slack, of strain and its rate [1/s]."""
        damper = self.damping * rate * np.clip(strain / FADE, 0.0, 1.0)
        return np.maximum(self.elastic(strain)[0] + damper, 0.0)


@dataclass(frozen=True)
class Attachment:
    """A point on a body, as it lies in the standing layout of the model [m]; without a body it is on the ground."""

    position: Sequence[float] | Array
    body: str = ""
    model: str = ""


@dataclass(frozen=True)
class Strap:
    """A strap of straight spans between pairs of attachments, and arcs of constant length [m] between them.

    It is without tension at its length at the start of the simulation, plus slack [m].
    """

    name: str
    spans: tuple[tuple[Attachment, Attachment], ...]
    webbing: Webbing = Webbing()
    arc: float = 0.0
    slack: float = 0.0

    def __post_init__(self) -> None:
        """Refuse what is no strap."""
        if not self.spans:
            raise InputError(f"the strap {self.name!r} has no span", code="bad_model", where=self.name)
        for size, what in ((self.arc, "arc"), (self.slack, "slack")):
            check_number(size, f"{what} of {self.name!r}", "zero or more meters", least=0.0, where=self.name)


@dataclass(frozen=True)
class Pull:
    """What straps (S) do: length [m], tension [N], elastic energy [J]; the power [W] that all together lose; forces
    (E, 2, 3) on both ends of every span and where these act.
    """

    length: Array
    tension: Array
    stored: Array
    loss: float
    force: Array
    point: Array


@dataclass(frozen=True)
class Straps:
    """Straps of several models by the numbers of their bodies.

    owner (E,): strap of every span; body (E, 2) and place (E, 2, 3) of its ends; arc (S,), and rest (S,), the lengths
    without tension [m].
    """

    straps: tuple[Strap, ...]
    owner: Indices
    body: Indices
    place: Array
    arc: Array
    rest: Array

    @classmethod
    def build(cls, models: Mapping[str, Model], straps: Sequence[Strap], start: BodyMotions) -> Straps:
        """Straps as they lie at the start.

        Raises:
            InputError: two straps of one name, an attachment to an unknown body, a strap without length.
        """
        names = [strap.name for strap in straps]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise InputError(f"two straps are called {twice!r}", code="duplicate_name", where=twice)
        ends = [(k, pair) for k, strap in enumerate(straps) for pair in strap.spans]
        found = cls(
            tuple(straps),
            np.array([k for k, _ in ends], int),
            np.array(
                [[body_number(models, end.body, end.model, names[k]) for end in pair] for k, pair in ends],
                int,
            ).reshape(-1, 2),
            np.array([[_position(end, names[k]) for end in pair] for k, pair in ends]).reshape(-1, 2, 3),
            np.array([strap.arc for strap in straps]),
            np.ones(len(straps)),
        )
        rest = found.pull(start).length + [strap.slack for strap in straps]
        if (rest < 1e-6).any():
            name = names[int(np.argmin(rest))]
            raise InputError(f"the strap {name!r} has no length at the start", code="bad_model", where=name)
        return cls(found.straps, found.owner, found.body, found.place, found.arc, rest)

    def pull(self, motions: BodyMotions) -> Pull:
        """Tensions and forces of bodies that move so."""
        turned = np.einsum("eixy,eiy->eix", motions.rotation[self.body], self.place)
        point = motions.place[self.body] + turned
        twist = motions.twist[self.body]
        speed = twist[..., 3:] + np.cross(twist[..., :3], point)
        line = point[:, 1] - point[:, 0]
        span = np.linalg.norm(line, axis=1)
        along = line / np.maximum(span, 1e-12)[:, None]
        count = len(self.straps)
        length = np.bincount(self.owner, span, count) + self.arc
        change = np.bincount(self.owner, np.einsum("ex,ex->e", along, speed[:, 1] - speed[:, 0]), count)
        strain, rate = length / self.rest - 1.0, change / self.rest
        tension, elastic, energy = np.zeros((3, count))
        for k, strap in enumerate(self.straps):
            tension[k] = strap.webbing.tension(strain[k], rate[k])
            elastic[k], energy[k] = strap.webbing.elastic(strain[k])
        force = tension[self.owner, None, None] * np.stack([along, -along], axis=1)
        loss = float((tension - elastic) @ change)
        return Pull(length, tension, energy * self.rest, loss, force, point)

    def add_wrenches(self, pull: Pull, wrench: Array) -> None:
        """Add moment about the global origin and force on every body to (B, 6)."""
        both = np.concatenate([np.cross(pull.point, pull.force), pull.force], axis=2)
        np.add.at(wrench, self.body, both)


def _position(end: Attachment, name: str) -> Array:
    return check_array(end.position, f"an attachment of {name!r}", (3,), axis=0, where=name)
