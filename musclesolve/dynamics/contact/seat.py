"""A rigid seat on a base body, and the three-point belt of who sits on it (Silva 2003, 4.2.2 and 4.2.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_number
from musclesolve._util.names import unknown_name
from musclesolve.dynamics.contact.belt import Attachment, Strap, Webbing
from musclesolve.dynamics.contact.body_surfaces import body_surfaces
from musclesolve.dynamics.contact.contact_law import CushionContact
from musclesolve.dynamics.contact.surfaces import Surface, plane
from musclesolve.dynamics.model.data_files import read_table
from musclesolve.dynamics.model.mass_matrix import MassProperties
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.model.topology import standing_layout
from musclesolve.dynamics.model.topology_file import load_topology


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
        """Refuse what is no seat."""
        for name in ("pan_deg", "back_deg"):
            check_number(getattr(self, name), name, "0 to 80 degrees", least=0.0, most=80.0)
        for name in ("pan_thickness", "back_thickness"):
            check_number(getattr(self, name), name, "zero or more meters", least=0.0)
        check_number(self.floor, "floor", "a height in meters")

    @classmethod
    def printed(cls) -> RigidSeat:
        """The seat of the source."""
        table = read_table("definitions", "seat.toml")
        seat = table["seat"]
        rest = {name: value for name, value in seat.items() if name != "attachment"}
        return cls(tuple(seat["attachment"]), **rest, cushion=CushionContact(**table["cushion"]))

    def surfaces(self, model: str = "sled", body: str = "sled") -> list[Surface]:
        """Seat pan, seat back and floor on a body of a model."""
        pan, back = np.radians([self.pan_deg, self.back_deg])
        corner = np.array(self.attachment)
        up = np.array([-np.sin(pan), 0.0, np.cos(pan)])
        ahead = np.array([np.cos(back), 0.0, np.sin(back)])
        return [
            plane(f"{model} seat_pan", corner + self.pan_thickness * up, up, body, model),
            plane(f"{model} seat_back", corner + self.back_thickness * ahead, ahead, body, model),
            plane(f"{model} floor", (corner[0], corner[1], self.floor), (0.0, 0.0, 1.0), body, model),
        ]

    def pairs(
        self, surfaces: Iterable[Surface], model: str = "sled"
    ) -> dict[tuple[str, str], CushionContact]:
        """Pairs of the seat with the surfaces of `body_surfaces` that sit on it, lean on it and stand on the floor."""
        touches = read_table("definitions", "seat.toml")["touches"]
        chosen: dict[tuple[str, str], CushionContact] = {}
        for surface in surfaces:
            own = surface.name.removeprefix(f"{surface.model} ")
            own = f"{own[:-1]}r" if own.endswith("_l") else own
            for part, name in (("pan", "seat_pan"), ("back", "seat_back"), ("floor", "floor")):
                if own in touches[part]:
                    chosen[f"{model} {name}", surface.name] = self.cushion
        return chosen


def sled_model(mass: float = 300.0) -> Model:
    """A base body [kg] with the frame of Tables 4.1 and 4.2, its center of mass at the origin of the frame."""
    mass = check_number(mass, "mass", "a positive number", above=0.0)
    topology = load_topology("sled")
    inertia = mass * np.diag(
        [0.2, 0.3, 0.4]
    )  # about a plate of one by two meters; a driven sled does not turn
    return Model(
        topology, standing_layout(topology), MassProperties(np.array([mass]), np.zeros((1, 3)), inertia[None])
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
    """
    table = read_table("definitions", "seat.toml")
    held: Mapping[str, Array] = table["anchors"] if anchors is None else anchors
    for name in sorted(set(held) - {"lap", "shoulder"}):
        raise unknown_name(name, "anchor", ("lap", "shoulder"))
    if "lap" not in held:
        raise unknown_name("lap", "anchor", tuple(held), " among those given")
    cloth = Webbing(**table["webbing"]) if webbing is None else webbing
    lap = sorted(np.asarray(held["lap"], float), key=lambda place: float(place[1]))  # right, left
    fixed = dict(zip("rl", (Attachment(place, body, base) for place in lap), strict=True))
    skin = {surface.name: surface for surface in body_surfaces(occupant)}
    hips = {
        side: _on(skin[f"hip_{side}"], (0.0, sign, 0.0), called) for side, sign in (("r", -1.0), ("l", 1.0))
    }
    over_hips = ((fixed["r"], hips["r"]), (hips["l"], fixed["l"]))
    # The way over the lap: half the perimeter of an ellipse, by Ramanujan's first approximation.
    a, b = 0.5 * _apart(hips["l"], hips["r"]), skin["hip_r"].radius
    arc = float(0.5 * np.pi * (3.0 * (a + b) - np.sqrt((3.0 * a + b) * (a + 3.0 * b))))
    straps = [Strap("lap", over_hips, cloth, arc, slack)]
    if (
        "shoulder" in held
    ):  # from its anchor over scapula and upper torso to the buckle, and on to the lap's anchor
        over = Attachment(np.asarray(held["shoulder"], float), body, base)
        near, far = ("r", "l") if over.position[1] < 0.5 * (lap[0][1] + lap[1][1]) else ("l", "r")
        top = _on(skin[f"scapula_{near}"], (0.0, 0.0, 1.0), called)
        chest = _on(skin["upper_torso"], (1.0, 0.0, 0.0), called)
        spans = ((over, top), (chest, hips[far]), (hips[far], fixed[far]))
        straps.append(Strap("shoulder", spans, cloth, _apart(chest, top), slack))
    return straps


def _apart(one: Attachment, other: Attachment) -> float:
    return float(np.linalg.norm(np.subtract(one.position, other.position)))


def _on(surface: Surface, direction: tuple[float, float, float], called: str) -> Attachment:
    """The outermost point of a surface in a direction along its axes."""
    reach = surface.semi_axes + surface.radius
    return Attachment(surface.center + reach * np.array(direction), surface.body, called)
