"""The rollover of a truck with and without a driver (Silva 2003, 4.3): run by `benchmarks.impact_cases`.

The wheels are rigid with the chassis and rub on the ground with Coulomb friction: the model of the tires is cited, not
given. The interior, on which head and chest of the source's driver hit, is not given either.
"""

from __future__ import annotations

import time
import tomllib
from itertools import product
from pathlib import Path

import numpy as np
from rich.table import Table

from benchmarks.chapter_4 import STANDARD, Figures, subject
from benchmarks.contact import FLOOR
from benchmarks.sled import seated
from benchmarks.timing import console
from musclesolve._util.arrays import Array
from musclesolve.dynamics.contact.belt import RigidSeat, three_point_belt
from musclesolve.dynamics.contact.body_surfaces import body_surfaces
from musclesolve.dynamics.contact.contact_pairs import BodyStates, ContactPairs, HertzContact
from musclesolve.dynamics.contact.surfaces import Surface, ellipsoid, sphere
from musclesolve.dynamics.forward.contact_simulation import ContactSimulation, Start, simulate_contact
from musclesolve.dynamics.forward.joint_resistance import JointResistance
from musclesolve.dynamics.model.mass_matrix import MassProperties
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.model.topology import standing_layout
from musclesolve.dynamics.model.topology_file import load_topology
from musclesolve.dynamics.rotations import rotation_about

DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
FRAMES = np.linspace(0.0, 2.0, 2_001)
SLIP = 0.1


def rollover_case(folder: Path, who: str = STANDARD) -> Figures:
    """Simulate the truck alone and with its driver, and print."""
    table = Table(
        "rollover",
        "wheels touch [s]",
        "cage touches [s]",
        "roll at 1.6 s, 2 s [deg]",
        "lap belt before, after 1 s [kN]",
    )
    for column in ("seconds", "imbalance / lost"):
        table.add_column(column)
    for name, is_driven in (("truck alone", False), ("with driver", True)):
        begin = time.perf_counter()
        run = rollover(is_driven, who)
        seconds, balance = time.perf_counter() - begin, np.abs(run.imbalance).max() / run.lost[-1]
        table.add_row(name, *figures(run), f"{seconds:.1f}", f"{balance:.0e}")
    table.add_row("  printed", "0.3", "0.8", "upside down", "8.0, then 35", "", "")
    console.print(table)
    return {}


def truck() -> Model:
    """All parts of Table 4.3 as one rigid body."""
    parts = [(part, np.array(place)) for part in DATA["part"] for place in part["places"]]
    mass = sum(part["mass"] for part, _ in parts)
    center = sum(part["mass"] * place for part, place in parts) / mass
    inertia = np.zeros((3, 3))
    for part, place in parts:
        away = place - center
        inertia += np.diag(part["inertia"]) + part["mass"] * (away @ away * np.eye(3) - np.outer(away, away))
    topology = load_topology("sled")
    return Model(
        topology, standing_layout(topology), MassProperties(np.array([mass]), center[None], inertia[None])
    )


def hard_surfaces() -> tuple[list[Surface], dict[tuple[str, str], HertzContact]]:
    """Tires and the points of Table 4.8, with their laws on the ground."""
    tire, frame = DATA["tire"], DATA["frame"]
    wheels = [place for part in DATA["part"] if "wheel" in part["name"] for place in part["places"]]
    size = (tire["radius"], tire["half_width"], tire["radius"])
    skins = [
        ellipsoid(f"wheel {k}", place, size, body="sled", model="sled") for k, place in enumerate(wheels)
    ]
    rubber = HertzContact(
        tire["radial_stiffness"], 1.0, tire["restitution"], friction=tire["friction"], slip_speed=SLIP
    )
    steel = HertzContact(
        frame["stiffness"], 1.5, frame["restitution"], friction=frame["friction"], slip_speed=SLIP
    )
    laws = {("floor", skin.name): rubber for skin in skins}
    for kind, sign in product(("cage", "chassis"), (1.0, -1.0)):
        for k, place in enumerate(DATA["points"][kind]):
            spot = sphere(
                f"{kind} {k} {sign:+.0f}", np.array(place) * (1, sign, 1), frame["radius"], "sled", "sled"
            )
            skins.append(spot)
            laws["floor", spot.name] = steel
    return skins, laws


def rollover(is_driven: bool, who: str = STANDARD) -> ContactSimulation:
    """Two seconds from the ejection of the truck, which flies to the left and rolls over its left side."""
    start, base, seat = DATA["start"], truck(), RigidSeat.printed()
    skins, laws = hard_surfaces()
    models, places = {"sled": base}, {"sled": base.standing}
    if is_driven:
        models["occupant"] = subject(who)
        places["occupant"] = seated(models["occupant"], seat)
        own = body_surfaces(models["occupant"], "occupant")
        skins, laws = [*skins, *seat.surfaces(), *own], laws | seat.pairs(own)
    pairs = ContactPairs.build(models, [FLOOR, *skins], laws)
    height = _height(base, start)
    spin = np.array([-start["roll_rate"], 0.0, 0.0])
    starts = {}
    for name, model in models.items():
        points = model.topology.point_count
        q = places[name] @ _rolled(start["roll_deg"]).T
        qd = np.cross(spin, q)
        q[:points, 2] += height
        qd[:points, 1] += start["speed"]
        starts[name] = Start(model, q, qd, [JointResistance.build(model)] if name == "occupant" else [])
    belt = three_point_belt(models["occupant"], "occupant") if is_driven else []
    return simulate_contact(starts, pairs, FRAMES, straps=belt)


def _rolled(degrees: float) -> Array:
    """Rotation matrix with the left side down."""
    return rotation_about(np.array([1.0, 0.0, 0.0]), np.array([-np.radians(degrees)]))[0]


def _height(base: Model, start: dict) -> float:
    """Of the chassis at the start [m], so that the first wheel meets the ground when the source says."""
    skins, laws = hard_surfaces()
    later = start["first_touch"]
    q = base.standing @ _rolled(start["roll_deg"] + np.degrees(start["roll_rate"] * later)).T
    alone = ContactPairs.build({"sled": base}, [FLOOR, *skins], laws)
    return float(0.5 * 9.80665 * later**2 - alone.gaps(BodyStates.of([base], [(q, 0.0 * q)])).min())


def figures(run: ContactSimulation) -> list[str]:
    """First touches of wheels and cage, roll angle, largest pull of the lap belt in the first second and later."""
    first = {}
    for event in run.events:
        kind = event.pair.split(" and ")[1].split()[0]
        if event.begins and event.pair.startswith("floor"):
            first.setdefault(kind, event.time)
    motion = run.motions["sled"]
    up = motion.q[:, 1] - motion.q[:, 0]
    roll = np.degrees(np.unwrap(np.arctan2(up[:, 1], up[:, 2])))
    angles = ", ".join(f"{np.interp(at, run.time, roll):.0f}" for at in (1.6, 2.0))
    when = [f"{first[kind]:.2f}" if kind in first else "-" for kind in ("wheel", "cage")]
    if not run.tension.size:
        return [*when, angles, "-"]
    lap, early = 1e-3 * run.tension[:, 0], run.time < 1.0
    return [*when, angles, f"{lap[early].max():.1f}, {lap[~early].max():.1f}"]
