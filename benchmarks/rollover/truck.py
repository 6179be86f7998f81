"""The truck of the rollover (Silva 2003, 4.3.2 to 4.3.4): thirteen bodies on springs, dampers and tires.

Tables 4.3 to 4.8 are in `truck.toml` and `truck_model.toml`, with what is chosen because it stands in a figure or in
another book. Tires are rounded discs that press as springs and rub with Coulomb friction.
"""

from __future__ import annotations

import copy
import tomllib
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg import null_space

from musclesolve._util.arrays import Array
from musclesolve.dynamics import (
    ContactPairs,
    HertzContact,
    MassProperties,
    Model,
    Surface,
    coincident,
    load_topology,
)
from musclesolve.dynamics.contact.contact_pairs import BodyStates, Touch
from musclesolve.dynamics.forward.applied_forces import BrokenLine, SpringDamper, SpringDampers
from musclesolve.dynamics.forward.simulate import System
from musclesolve.dynamics.model.joint_and_body_constraints import Constraints, scalar_products

FOLDER = Path(__file__).parent
DATA = tomllib.loads((FOLDER / "truck.toml").read_text(encoding="utf-8"))
MIRROR = np.array([1.0, -1.0, 1.0])
SIDES = (("l", np.ones(3)), ("r", MIRROR))
AXLES = ("front", "rear")


def truck() -> Model:
    """The bodies of Tables 4.3 and 4.4, as the tables lay them out."""
    topology = load_topology(FOLDER / "truck_model.toml")
    standing = topology.standing_layout()
    rows = {name: row for row in DATA["body"] for name in row["names"]}
    mass, center, inertia = [], [], []
    for body in topology.bodies:
        name, side = body.name, ""
        if name not in rows:
            name, side = body.name[:-2], body.name[-2:]
        row = rows[name]
        mass.append(row["mass"])
        inertia.append(np.diag(row["inertia"]))
        center.append(standing[topology.slot[row["center"] + side]] if row["center"] else np.zeros(3))
    return Model(topology, standing, MassProperties(np.array(mass), np.array(center), np.array(inertia)))


def rows(model: Model) -> Constraints:
    """Rows of the bodies, of the closed front suspension and of wheels that steer straight ahead."""
    topology, standing = model.topology, model.standing
    ahead = [((None, f"hub_forward_{side}"), ("upper_pivot_r", "upper_pivot_l")) for side, _ in SIDES]
    balls = coincident(topology, [(f"ball_of_hub_{side}", f"upper_ball_{side}") for side, _ in SIDES])
    return model.constraints.with_products(scalar_products(topology, standing, ahead)).with_linear(*balls)


def otherwise(**changes: dict[str, float]) -> dict[str, Any]:
    """Numbers of the truck, some of them changed: table (an axle stands for its spring) -> name -> number."""
    data = copy.deepcopy(DATA)
    for name, numbers in changes.items():
        (data["spring"][name] if name in AXLES else data[name]).update(numbers)
    return data


def suspension(model: Model, data: dict[str, Any] = DATA) -> SpringDampers:
    """Springs and dampers of Tables 4.5 and 4.6: front left and right, rear left and right."""
    springs = []
    for axle in AXLES:
        row = data["spring"][axle]
        (chassis, upper), (arm, lower) = row["ends"]
        spring = BrokenLine(row["elongation"], row["force"], row["slope_below"], row["slope_above"])
        damper = BrokenLine(row["rate"], row["damping"], *row["damper_slopes"])
        for side, turn in SIDES:
            ends = (chassis, turn * upper), (f"{arm}_{side}", turn * lower)
            springs.append(SpringDamper(f"{axle}_{side}", ends, row["rest"], spring, damper))
    return SpringDampers.build(model, springs)


def skins(
    model: Model, data: dict[str, Any] = DATA
) -> tuple[list[Surface], dict[tuple[str, str], HertzContact]]:
    """Tires and the points of Table 4.8, with their laws on the ground `floor`."""

    def law(row: dict, stiffness: float, exponent: float) -> HertzContact:
        return HertzContact(
            stiffness, exponent, row["restitution"], friction=row["friction"], slip_speed=row["slip_speed"]
        )

    tire, frame = data["tire"], data["frame"]
    rubber, steel = law(tire, tire["radial_stiffness"], 1.0), law(frame, frame["stiffness"], 1.5)
    surfaces, laws = [], {}
    disc = np.array([tire["radius"] - tire["half_width"], 0.01, tire["radius"] - tire["half_width"]])
    for axle, (side, _) in product(AXLES, SIDES):
        name, center = f"{axle}_wheel_{side}", model.standing[model.slot(f"{axle}_center_{side}")]
        surfaces.append(
            Surface(name, center, np.eye(3), disc, 2.0, tire["half_width"], body=name, model="truck")
        )
        laws["floor", name] = rubber
    for kind, (side, turn) in product(("cage", "chassis"), SIDES):
        for k, place in enumerate(DATA["points"][kind]):
            name = f"{kind} {k + 1} {side}"
            surfaces.append(Surface.sphere(name, turn * place, frame["radius"], "chassis", "truck"))
            laws["floor", name] = steel
    return surfaces, laws


@dataclass(frozen=True)
class Standing:
    """The truck at rest on four wheels: its pose q (N, 3); loads [N] of the wheels, front left and right first,
    where they act (4, 3) [m], and tensions of the springs [N] in the same order.
    """

    q: Array
    loads: Array
    points: Array
    tension: Array


def standing_truck() -> Standing:
    """Equilibrium of weight, springs and tires by Newton's method along what the constraints allow."""
    model, ground = truck(), Surface.plane("floor", (0, 0, 0), (0, 0, 1))
    kept, springs = rows(model), suspension(model)
    surfaces, laws = skins(model)
    pairs = ContactPairs.build({"truck": model}, [ground, *surfaces], laws)
    system, still = System(model, kept, (springs,), "direct"), np.zeros(model.standing.shape)
    everywhere, at_rest = np.ones(len(pairs.laws), bool), np.full(len(pairs.laws), np.inf)

    def touching(q: Array) -> tuple[BodyStates, Touch]:
        states = BodyStates.from_models([model], [(q, still)])
        return states, pairs.touch(states, at_rest, everywhere)

    def force(q: Array) -> Array:
        states, touch = touching(q)
        ground = states.generalized(pairs.wrenches(touch, len(model.topology.bodies) + 1))[0]
        return system.own_force(q, still) + system.applied(0.0, q, still) + ground

    def moved(q: Array, step: Array) -> Array:
        return system.projected(0.0, np.concatenate([(q + step).ravel(), still.ravel()]))[0][
            : q.size
        ].reshape(q.shape)

    q = model.standing.copy()
    q[: model.topology.point_count, 2] += (
        DATA["tire"]["radius"] - model.standing[model.slot("front_center_l"), 2]
    )
    for _ in range(30):
        free = null_space(kept.jacobian(q[None])[0].reshape(len(kept.names), -1))
        missing = free.T @ force(q).ravel()
        if np.abs(missing).max() < 1e-6:
            break
        stiffness = [
            free.T @ (force(moved(q, 1e-6 * line.reshape(q.shape))) - force(q)).ravel() / 1e-6
            for line in free.T
        ]
        # what no force resists, such as rolling, stays
        step = np.linalg.lstsq(np.array(stiffness).T, -missing, rcond=1e-6)[0]
        q = moved(q, (free @ (step * min(1.0, 0.05 / np.abs(step).max()))).reshape(q.shape))
    touch = touching(q)[1]
    tension = springs.tension(q[None], still[None])[0]
    return Standing(q, touch.force[:4, 2], touch.touches.point[:4], tension)
