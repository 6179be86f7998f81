"""The runs of the rollover, their figures beside the printed ones, and balances: run by `benchmarks.impact_cases`.

The truck leaves its cart to the left, the left side down, and is alone, with a driver of the 50th or 95th percentile
(4.3), or with three occupants (4.4). All runs begin in the same pose and at the same height.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.chapter_4 import (
    FLOOR,
    STANDARD,
    Figures,
    HeadInjury,
    center_acceleration,
    imbalance,
    momentum_imbalance,
    subject,
)
from benchmarks.rollover.cabin import FRONT, Occupant, between, hard_headed, occupant, panels, tall_man
from benchmarks.rollover.truck import DATA, otherwise, rows, skins, standing_truck, suspension, truck
from musclesolve._util.arrays import Array
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.dynamics import ContactPairs, JointResistance, Model, Start, simulate, simulate_contact
from musclesolve.dynamics.contact.contact_pairs import BodyStates, ContactLaw
from musclesolve.dynamics.forward.contact_simulation import ContactSimulation
from musclesolve.dynamics.forward.simulate import Integration, mass_center, momentum
from musclesolve.dynamics.rotations import rotation_about
from musclesolve.signals import head_injury_criterion

FRAMES = np.linspace(0.0, 2.0, 2_001)
STEPS = Integration(tolerance=1e-5, stepper="rk45")
STONE, HARDER = "head as on stone", 12.0
"""A run: how much stiffer the head of its driver is, as in the tackle of that name."""
RUNS: dict[str, Callable[[str], list[Occupant]]] = {
    "alone": lambda who: [],
    "50th percentile": lambda who: [occupant("driver", subject(who))],
    "95th percentile": lambda who: [occupant("driver", tall_man())],
    "three occupants": lambda who: [occupant(name, subject(who)) for name in (*FRONT, "rear")],
    STONE: lambda who: [hard_headed(occupant("driver", subject(who)), HARDER)],
}
"""Who sits in the truck; by the name of the table of inertia (`benchmarks.chapter_4`) of men of the 50th percentile."""

OTHERWISE = {
    "friction 0.8": otherwise(tire={"friction": 0.8}),
    "no loss in tires": otherwise(tire={"restitution": 1.0}),
    "s_3 as printed": otherwise(front={"slope_above": 1251.2}, rear={"slope_above": 2093.4}),
}
"""The truck alone with other numbers than those chosen in `truck.toml`."""


def rollover_case(who: str = STANDARD) -> tuple[Figures, dict[str, ContactSimulation]]:
    """Trucks with whom `RUNS` has, empty ones of other numbers, and the truck at rest."""
    found: Figures = {}
    drawn: dict[str, ContactSimulation] = {}
    for name, riders in RUNS.items():
        people = riders(who)
        run = drawn[f"rollover_{name.replace(' ', '_')}"] = rollover(people)
        found[name] = truck_figures(run)
        straps = [strap.name for rider in people for strap in rider.straps]
        found |= {f"{name}, {rider.name}": occupant_figures(run, rider.name, straps) for rider in people}
    found |= {name: truck_figures(rollover([], data=data)) for name, data in OTHERWISE.items()}
    return found | {"at rest": rest_figures()}, drawn


def rest_figures() -> dict[str, float]:
    """Axle loads [N] of the truck at rest; in the pose of the tables, how far its center of mass is behind the front
    axle and above the ground [m].
    """
    rest, model = standing_truck(), truck()
    center, axle = mass_center(model, model.standing[None])[0], model.standing[model.slot("front_center_l")]
    return {
        "front": float(rest.loads[:2].sum()),
        "rear": float(rest.loads[2:].sum()),
        "behind": float(axle[0] - center[0]),
        "above": float(center[2] - axle[2] + DATA["tire"]["radius"]),
    }


def rollover(
    riders: Sequence[Occupant], frames: Array = FRAMES, data: dict[str, Any] = DATA
) -> ContactSimulation:
    """The motion of the truck and who sits in it from the cart on; data: numbers of the truck (`otherwise`)."""
    base = truck()
    surfaces, laws = skins(base, data)
    models, places, straps = {"truck": base}, {"truck": base.standing}, []
    surfaces = [FLOOR, *surfaces]
    for rider in riders:
        models[rider.name], places[rider.name] = rider.model, rider.q
        surfaces += [*rider.around, *rider.skins]
        laws |= rider.laws
        straps += rider.straps
    in_front = [rider for rider in riders if rider.name in FRONT]
    if len(in_front) == 2:
        laws |= between(*in_front)
    starts, up = {}, height(data)
    for name, model in models.items():
        q, qd = thrown(model, places[name], up)
        if name == "truck":
            starts[name] = Start(model, q, qd, [suspension(base, data)], constraints=rows(base))
        else:
            starts[name] = Start(model, q, qd, [JointResistance.build(model)])
    shared: dict[ContactLaw, ContactLaw] = {}  # equal laws as one, which is evaluated once
    laws = {pair: shared.setdefault(law, law) for pair, law in laws.items()}
    pairs = ContactPairs.build(models, surfaces, laws)
    return simulate_contact(starts, pairs, frames, STEPS, straps=straps)


def thrown(model: Model, q: Array, up: float) -> tuple[Array, Array]:
    """Positions and velocities of a model that lies at q in the frame of the chassis, `up` above the ground."""
    start, points = DATA["start"], model.topology.point_count
    forward = np.array([1.0, 0.0, 0.0])
    turned = q @ rotation_about(forward, np.array([-np.radians(start["roll_deg"])]))[0].T
    moving = np.cross(-start["roll_rate"] * forward, turned)
    turned[:points, 2] += up
    moving[:points, 1] += start["speed"]
    return turned, moving


def height(data: dict[str, Any] = DATA) -> float:
    """Return the starting height of the chassis [m] with which the first wheel lands at the time of the source."""
    base = truck()
    surfaces, laws = skins(base, data)
    flight = simulate(
        base,
        *thrown(base, base.standing, 0.0),
        np.array([0.0, DATA["start"]["first_touch"]]),
        [suspension(base, data)],
        constraints=rows(base),
        integration=STEPS,
    )
    alone = ContactPairs.build({"truck": base}, [FLOOR, *surfaces], laws)
    return -float(alone.gaps(BodyStates.from_models([base], [(flight.q[-1], flight.qd[-1])])).min())


def roll(run: ContactSimulation) -> Array:
    """Roll angle (T,) [deg] of the chassis, negative to the left."""
    motion = run.motions["truck"]
    left = motion.q[:, motion.model.slot("upper_pivot_l")] - motion.q[:, motion.model.slot("upper_pivot_r")]
    up = np.cross(motion.q[:, motion.model.slot("hinge")], left)
    return np.degrees(np.unwrap(np.arctan2(left[:, 2], up[:, 2])))


def truck_figures(run: ContactSimulation) -> dict[str, float]:
    """First touches of wheels and cage, and of the left wheels again after the cage [s], how far the cage sinks into
    the ground [m], roll angles [deg], largest upward acceleration of the chassis [g], how far energy and momentum
    are off.
    """
    first: dict[str, float] = {}
    for event in run.events:
        if event.begins and event.pair.startswith("floor and "):
            name = event.pair.removeprefix("floor and ")
            first.setdefault("wheel" if "wheel" in name else name.split()[0], event.time)
            if "cage" in first and name.endswith("wheel_l"):
                first.setdefault("wheel_again", event.time)
    angle, upward = roll(run), center_acceleration(run.motions["truck"], "chassis")[:, 2]
    return {
        "wheel": first.get("wheel", np.nan),
        "cage": first.get("cage", np.nan),
        "wheel_again": first.get("wheel_again", np.nan),
        "sunk": float(run.depth[:, [name.startswith("floor and cage") for name in run.pairs.names]].max()),
        **{f"roll_{10.0 * at:02.0f}": float(np.interp(at, run.time, angle)) for at in (0.5, 0.8, 1.6, 2.0)},
        "upward": float(upward.max() / STANDARD_GRAVITY),
        "energy_off": imbalance(run),
        "momentum_off": momentum_imbalance(run, list(run.motions)),
        "flight_off": in_flight(run),
    }


def occupant_figures(run: ContactSimulation, name: str, straps: Sequence[str]) -> dict[str, float]:
    """Injury over the whole motion and before 1 s, the peak of the chest [g], tensions before and after 1 s [kN].

    The largest forces of ground and cabin on the head [kN]; when and how fast it met what hit it hardest [s, m/s]; when
    the ground is touched first [s]; how far the lumbar joint is from the center of mass of the truck at the end [m].
    """
    motion = run.motions[name]
    head = center_acceleration(motion, "head")
    chest = np.linalg.norm(center_acceleration(motion, "thorax"), axis=1)
    whole = float(run.time[-1] - run.time[0])
    found = {
        **vars(HeadInjury.from_run(run, name)),
        "criterion": head_injury_criterion(run.time, head, whole).value,
        "chest": float(chest.max() / STANDARD_GRAVITY),
    }
    early = run.time < 1.0
    found["criterion_early"] = head_injury_criterion(run.time[early], head[early], 0.015).value
    found |= head_blow(run, name)
    ground = [
        event.time for event in run.events if event.begins and event.pair.startswith(f"floor and {name} ")
    ]
    found["ground"] = min(ground, default=np.nan)
    center = mass_center(run.motions["truck"].model, run.motions["truck"].q[-1:])[0]
    found["away"] = float(np.linalg.norm(motion.q[-1, motion.model.slot("back")] - center))
    for k, strap in enumerate(straps):
        if strap.startswith(f"{name} "):
            which = strap.removeprefix(f"{name} ")
            found[f"{which}_early"] = 1e-3 * float(run.tension[early, k].max())
            found[f"{which}_late"] = 1e-3 * float(run.tension[~early, k].max(initial=0.0))
    return found


def head_blow(run: ContactSimulation, name: str) -> dict[str, float]:
    """The largest forces of ground and cabin on a head [kN], and the first touch of the hardest blow [s, m/s]."""
    size = 1e-3 * np.linalg.norm(run.force, axis=2)
    cabin = [f"{name} {panel.name} and {name} head" for panel in panels(name)]
    ground = f"floor and {name} head"
    peaks = {pair: float(size[:, run.pairs.names.index(pair)].max()) for pair in (ground, *cabin)}
    hardest = max(peaks, key=peaks.__getitem__)
    last = run.time[int(size[:, run.pairs.names.index(hardest)].argmax())]
    touches = [event for event in run.events if event.begins and event.pair == hardest and event.time <= last]
    return {
        "head_ground": peaks[ground],
        "head_cabin": max(peaks[pair] for pair in cabin),
        "head_at": touches[-1].time if touches else np.nan,
        "head_speed": touches[-1].speed if touches else np.nan,
    }


def in_flight(run: ContactSimulation) -> float:
    """How far, before the ground is touched, the momentum of all together is from the momentum of free fall, and the
    angular momentum about their center of mass from the first: as shares of the first ones.
    """
    touched = [event.time for event in run.events if event.begins and event.pair.startswith("floor")]
    free = run.time < min(touched, default=np.inf)
    linear, angular, first = np.zeros((3, int(free.sum()), 3))
    mass = 0.0
    for motion in run.motions.values():
        model, q = motion.model, motion.q[free]
        push, spin = momentum(model, q, motion.qd[free])
        center = mass_center(model, q)
        linear, angular = linear + push, angular + spin + np.cross(center, push)
        first, mass = first + model.mass.total * center, mass + model.mass.total
    angular -= np.cross(first / mass, linear)
    falling = linear[0] + mass * np.outer(run.time[free] - run.time[0], truck().gravity)
    away = ((linear, falling), (angular, angular[0]))
    return float(max(np.abs(now - then).max() / np.linalg.norm(now[0]) for now, then in away))
