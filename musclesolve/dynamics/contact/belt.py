"""Straps between bodies, the rigid seat on a base body, and the three-point belt of its occupant.

A strap runs in straight spans from one body to another and in arcs over bodies between them. The arcs keep their
length; the spans change theirs as the bodies move. The strap slides over the arcs without friction, so that one tension
pulls on both ends of every span, along the span, and follows the strain of the whole strap. It never pushes
(Silva 2003, 4.2.2 and 4.2.3).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from musclesolve._util.arrays import Array, Indices, equal_groups, vector_product
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.checks import check_array, check_number, check_type
from musclesolve._util.messages import check_known
from musclesolve._util.sides import SIDES
from musclesolve.dynamics.contact.body_surfaces import body_surfaces
from musclesolve.dynamics.contact.contact_pairs import CushionContact, body_number
from musclesolve.dynamics.contact.surfaces import Surface
from musclesolve.dynamics.kernel.arrays import BodyMotions
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.model.rigid_body import MassProperties
from musclesolve.dynamics.model.topology import load_topology
from musclesolve.errors import input_error

FADE = 1e-3
"""Strain over which the damper fades in, so that the tension begins at zero."""


@dataclass(frozen=True)
class Webbing:
    """Tension [N] through strain, straight between points and beyond the last; damping [N s] per strain rate."""

    strain: tuple[float, ...] = (0.0, 0.1)
    force: tuple[float, ...] = (0.0, 11_100.0)
    damping: float = 0.0

    def __post_init__(self) -> None:
        """Refuse a curve that does not rise through strain, and negative damping."""
        check_number(self.damping, "damping", "zero or more", least=0.0)
        curve = check_array((self.strain, self.force), "strain and force", (2, "points"))
        rising = curve.shape[1] > 1 and (np.diff(curve[0]) > 0.0).all() and (np.diff(curve[1]) >= 0.0).all()
        if not rising or curve[:, 0].any():
            raise input_error(
                "bad_model",
                problem="the curve of the webbing does not rise from zero",
                expected="strains that increase from 0 and forces that do not fall, from 0 on",
            )

    @cached_property
    def _curves(self) -> tuple[Callable[[Array], Array], ...]:
        """Tension [N] and energy of a meter of webbing [J] at strains from 0 on."""
        from scipy.interpolate import make_interp_spline

        tension = make_interp_spline(self.strain, self.force, k=1)
        return tension, tension.antiderivative()

    def elastic(self, strain: Array) -> tuple[Array, Array]:
        """Tension [N] without damping, and energy [J] of a meter of webbing."""
        stretched = np.maximum(strain, 0.0)
        tension, energy = (curve(stretched) for curve in self._curves)
        return tension, energy

    def tension(self, strain: Array, rate: Array) -> Array:
        """Tension [N] at a strain and a strain rate [1/s], zero where the strap is slack."""
        damper = self.damping * rate * np.clip(strain / FADE, 0.0, 1.0)
        return np.maximum(self.elastic(strain)[0] + damper, 0.0)


@dataclass(frozen=True)
class Attachment:
    """A point at its position in the standing layout of the model [m], on a body, or without one on the ground."""

    position: Sequence[float] | Array
    body: str = ""
    model: str = ""


@dataclass(frozen=True)
class Strap:
    """A strap of straight spans between pairs of attachments, and arcs of constant length [m] between them.

    The tension is zero up to the length at the start of the simulation plus the slack [m].
    """

    name: str
    spans: tuple[tuple[Attachment, Attachment], ...]
    webbing: Webbing = Webbing()
    arc: float = 0.0
    slack: float = 0.0

    def __post_init__(self) -> None:
        """Refuse a strap without spans, and an arc or a slack that is not a length."""
        pair, place = "pairs of attachments", self.name
        for span in check_type(self.spans, Sequence, place, pair):
            for end in check_type(span, Sequence, place, pair):
                check_type(end, Attachment, place, pair)
        if not self.spans:
            raise input_error("bad_model", where=self.name, problem=f"the strap {self.name!r} has no span")
        for size, what in ((self.arc, "arc"), (self.slack, "slack")):
            check_number(size, f"{what} of {self.name!r}", "zero or more meters", least=0.0, where=self.name)


@dataclass(frozen=True)
class Pull:
    """State and forces of straps (S): length [m], tension [N], elastic energy [J], the power [W] that all straps
    together lose; forces (E, 2, 3) on both ends of every span and the points where the forces act.
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
    def build(cls, models: Mapping[str, Model], straps: Sequence[Strap], start: BodyMotions) -> Self:
        """Straps at their lengths at the start of a simulation."""
        names = [strap.name for strap in straps]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise input_error("duplicate_name", where=twice, problem=f"two straps are called {twice!r}")
        spans = [(k, strap.name, span) for k, strap in enumerate(straps) for span in strap.spans]
        body = [[body_number(models, end.body, end.model, name) for end in span] for _, name, span in spans]
        place = [
            [
                check_array(end.position, f"an attachment of {name!r}", (3,), axis=0, where=name)
                for end in span
            ]
            for _, name, span in spans
        ]
        lying = cls(
            straps=tuple(straps),
            owner=np.array([k for k, _, _ in spans], int),
            body=np.array(body, int).reshape(-1, 2),
            place=np.array(place).reshape(-1, 2, 3),
            arc=np.array([strap.arc for strap in straps]),
            rest=np.ones(len(straps)),
        )
        rest = lying.pull(start).length + [strap.slack for strap in straps]
        if (rest < 1e-6).any():
            name = names[int(np.argmin(rest))]
            raise input_error(
                "bad_model", where=name, problem=f"the strap {name!r} has no length at the start"
            )
        return replace(lying, rest=rest)

    @cached_property
    def _by_webbing(self) -> list[tuple[Webbing, Indices]]:
        """Every webbing, with the numbers of the straps made from it."""
        webbings = [strap.webbing for strap in self.straps]
        return [(webbings[straps[0]], straps) for straps in equal_groups(webbings)]

    def pull(self, motions: BodyMotions) -> Pull:
        """Tensions and forces of the straps at the given body motions."""
        turned = np.einsum("eixy,eiy->eix", motions.rotation[self.body], self.place)
        point = motions.place[self.body] + turned
        twist = motions.twist[self.body]
        speed = twist[..., 3:] + vector_product(twist[..., :3], point)
        line = point[:, 1] - point[:, 0]
        span = np.linalg.norm(line, axis=1)
        along = line / np.maximum(span, 1e-12)[:, None]
        count = len(self.straps)
        length = np.bincount(self.owner, span, count) + self.arc
        change = np.bincount(self.owner, np.einsum("ex,ex->e", along, speed[:, 1] - speed[:, 0]), count)
        strain, rate = length / self.rest - 1.0, change / self.rest
        tension, elastic, energy = np.zeros((3, count))
        for webbing, straps in self._by_webbing:
            tension[straps] = webbing.tension(strain[straps], rate[straps])
            elastic[straps], energy[straps] = webbing.elastic(strain[straps])
        force = tension[self.owner, None, None] * np.stack([along, -along], axis=1)
        loss = float((tension - elastic) @ change)
        return Pull(length, tension, energy * self.rest, loss, force, point)


@dataclass(frozen=True)
class RigidSeat:
    """Pan, back and floor as planes of a base body (Table 4.1; correction C15).

    attachment (3,) [m]: the corner of pan and back below the cushions, in the frame of the base body; pan_deg: how far
    the front of the pan is raised; back_deg: how far the back leans rearward; thickness of both cushions [m]; floor:
    its height [m].
    """

    attachment: tuple[float, float, float]
    pan_deg: float
    back_deg: float
    pan_thickness: float
    back_thickness: float
    floor: float
    cushion: CushionContact

    def __post_init__(self) -> None:
        """Refuse angles outside 0 to 80 degrees, negative thicknesses and a floor that is not finite."""
        for name in ("pan_deg", "back_deg"):
            check_number(getattr(self, name), name, "0 to 80 degrees", least=0.0, most=80.0)
        for name in ("pan_thickness", "back_thickness"):
            check_number(getattr(self, name), name, "zero or more meters", least=0.0)
        check_number(self.floor, "floor", "a height in meters")

    @classmethod
    def printed(cls) -> Self:
        """The seat with the numbers that the source prints."""
        table = bundled_toml("musclesolve.dynamics.model", "definitions", "seat.toml")
        seat = table["seat"]
        values = {name: value for name, value in seat.items() if name != "attachment"}
        return cls(tuple(seat["attachment"]), **values, cushion=CushionContact(**table["cushion"]))

    def surfaces(self, model: str = "sled", body: str = "sled") -> list[Surface]:
        """Seat pan, seat back and floor on a body of a model."""
        pan, back = np.radians([self.pan_deg, self.back_deg])
        corner = np.array(self.attachment)
        up = np.array([-np.sin(pan), 0.0, np.cos(pan)])
        ahead = np.array([np.cos(back), 0.0, np.sin(back)])
        return [
            Surface.plane(f"{model} seat_pan", corner + self.pan_thickness * up, up, body, model),
            Surface.plane(f"{model} seat_back", corner + self.back_thickness * ahead, ahead, body, model),
            Surface.plane(f"{model} floor", (corner[0], corner[1], self.floor), (0.0, 0.0, 1.0), body, model),
        ]

    def pairs(
        self, surfaces: Iterable[Surface], model: str = "sled"
    ) -> dict[tuple[str, str], CushionContact]:
        """Contact pairs of the seat with the surfaces of `body_surfaces` on the pan, at the back and on the floor."""
        touches = bundled_toml("musclesolve.dynamics.model", "definitions", "seat.toml")["touches"]
        chosen: dict[tuple[str, str], CushionContact] = {}
        for surface in surfaces:
            part_name = surface.name.removeprefix(f"{surface.model} ")
            part_name = f"{part_name[:-1]}r" if part_name.endswith("_l") else part_name
            for part, name in (("pan", "seat_pan"), ("back", "seat_back"), ("floor", "floor")):
                if part_name in touches[part]:
                    chosen[f"{model} {name}", surface.name] = self.cushion
        return chosen

    @staticmethod
    def sled(mass: float = 300.0) -> Model:
        """Base body with the frame of the sled, its center of mass at the frame's origin (Silva 2003, Tables 4.1, 4.2).

        Args:
            mass: [kg].

        Examples:
            >>> ms.dynamics.RigidSeat.sled(250.0).mass.total
            250.0
        """
        mass = check_number(mass, "mass", "a positive number", above=0.0)
        topology = load_topology("sled")
        # about a plate of one by two meters; a driven sled does not turn
        inertia = mass * np.diag([0.2, 0.3, 0.4])
        return Model(
            topology,
            topology.standing_layout(),
            MassProperties(np.array([mass]), np.zeros((1, 3)), inertia[None]),
        )


def three_point_belt(
    occupant: Model,
    called: str,
    base: str = "sled",
    body: str = "sled",
    *,
    webbing: Webbing | None = None,
    slack: float = 0.0,
    anchors: Mapping[str, Array] | None = None,
) -> list[Strap]:
    """Lap and shoulder strap between a base body and a forward human model (4.2.3, Table 4.2; correction C16).

    Args:
        occupant: a forward human model.
        called: its name in the simulation.
        base: name of the model with the base body.
        body: the base body.
        webbing: tension through strain.
        slack: of each strap [m].
        anchors: "lap" (2, 3) and "shoulder" (3,) [m] in the frame of the base body, instead of Table 4.2; without
            "shoulder" there is no shoulder strap.

    Raises:
        InputError: an occupant that is no forward human model, or unknown anchors.

    Examples:
        >>> occupant = ms.dynamics.forward_human_model()
        >>> [strap.name for strap in ms.dynamics.three_point_belt(occupant, "driver")]
        ['lap', 'shoulder']
    """
    table = bundled_toml("musclesolve.dynamics.model", "definitions", "seat.toml")
    anchor_points: Mapping[str, Array] = table["anchors"] if anchors is None else anchors
    check_known(anchor_points, "anchor", ("lap", "shoulder"))
    check_known(["lap"], "anchor", tuple(anchor_points), " among the stated ones")
    cloth = Webbing(**table["webbing"]) if webbing is None else webbing
    lap = sorted(np.asarray(anchor_points["lap"], float), key=lambda place: float(place[1]))  # right, left
    fixed: dict[str, Attachment] = dict(
        zip(SIDES, (Attachment(place, body, base) for place in lap), strict=True)
    )
    skin = {surface.name: surface for surface in body_surfaces(occupant)}
    hips = {
        side: _outermost(skin[f"hip_{side}"], (0.0, sign, 0.0), called)
        for side, sign in (("r", -1.0), ("l", 1.0))
    }
    over_hips = ((fixed["r"], hips["r"]), (hips["l"], fixed["l"]))
    # The path over the lap: half the perimeter of an ellipse, by Ramanujan's first approximation.
    a, b = 0.5 * _distance(hips["l"], hips["r"]), skin["hip_r"].radius
    arc = float(0.5 * np.pi * (3.0 * (a + b) - np.sqrt((3.0 * a + b) * (a + 3.0 * b))))
    straps = [Strap("lap", over_hips, cloth, arc, slack)]
    if "shoulder" in anchor_points:
        # from its anchor over scapula and upper torso to the buckle, and on to the lap's anchor
        over = Attachment(np.asarray(anchor_points["shoulder"], float), body, base)
        near, far = ("r", "l") if over.position[1] < 0.5 * (lap[0][1] + lap[1][1]) else ("l", "r")
        top = _outermost(skin[f"scapula_{near}"], (0.0, 0.0, 1.0), called)
        chest = _outermost(skin["upper_torso"], (1.0, 0.0, 0.0), called)
        spans = ((over, top), (chest, hips[far]), (hips[far], fixed[far]))
        straps.append(Strap("shoulder", spans, cloth, _distance(chest, top), slack))
    return straps


def _distance(one: Attachment, other: Attachment) -> float:
    return float(np.linalg.norm(np.subtract(one.position, other.position)))


def _outermost(surface: Surface, direction: tuple[float, float, float], called: str) -> Attachment:
    """The outermost point of a surface in a direction along its axes."""
    reach = surface.semi_axes + surface.radius
    return Attachment(surface.center + reach * np.array(direction), surface.body, called)
