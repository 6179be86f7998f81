"""A man is struck by the corner of a bus and may be run over (Silva 2003, 4.5): run by `benchmarks.impact_cases`.

What the text says: a bus of twelve tons, which keeps its speed of 20, 25, 30, 35 or 40 km/h, meets with the right
corner of its front the left hip of a man who has turned his back to it, his shoulder line at 80 degrees to the bus.
Eight positions differ in how far he is in its way, from a sideswipe (IP1 to IP3) on. It watches the criterion of head
injury, the place of the foot beside the rear wheel, and the spin.

What stands in figures or nowhere is chosen:

- The bus, 12.17 by 2.55 by 3.12 m with a wheelbase of 6.035 m, a front overhang of 2.805 m, its sill at 0.32 m and
  tires 275/70 R 22.5: a two-axle city bus, Mercedes-Benz Citaro LE Ü (its technical information). Its body is an
  ellipsoid of order 20 with edges rounded by a ball (`ROUNDING`); the rear tire is flush with its side.
- The positions: the left hip is 25 mm in the way of the bus's side at IP1, and so much more at each of the others.
- The pose: in step, feet on the ground, at rest, leaning forward as one who starts to run; so the bus meets his hip or
  thigh first (at IP1 the shoulder).
- The contact of body and bus has the law of body and hard floor; friction `PAINT` with the bus, `GROUND` with the
ground.
- The subject of chapter 4: "the real subject" to whom the text scales the model is not described.
- The wheel does not push: whether it passes over a foot is read off, as the text does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq

from benchmarks.chapter_4 import (
    FLOOR,
    STANDARD,
    Figures,
    HeadInjury,
    imbalance,
    leaning,
    momentum_imbalance,
    subject,
)
from benchmarks.timing import processors, side_by_side
from musclesolve._util.arrays import Array
from musclesolve.dynamics import (
    ContactPairs,
    JointResistance,
    Model,
    Start,
    body_laws,
    body_surfaces,
    ellipsoid,
    pairs_with,
    simulate_contact,
    sled_model,
)
from musclesolve.dynamics.contact.contact_pairs import BodyStates
from musclesolve.dynamics.contact.surfaces import Surface
from musclesolve.dynamics.forward.contact_simulation import ContactSimulation
from musclesolve.dynamics.forward.simulate import mass_center, momentum, no_pulse
from musclesolve.dynamics.rotations import rotation_about

SPEEDS = (20, 25, 30, 35, 40)
"""Of the bus [km/h]."""
POSITIONS = tuple(range(1, 9))
SHOWN = (3, 30)
"""Position and speed of the moving picture."""
IN_THE_WAY = 0.025
"""How much farther the left hip is in the way of the bus's side from one position to the next [m]."""
SHOULDER_LINE = 80.0
"""To the length of the bus [deg]: the man has 10 degrees left of turning his back to it."""
LEAN = 25.0
"""Of the trunk to the front [deg]."""
STEP = {
    "hip_flexion_r": 22.0,
    "hip_flexion_l": -12.0,
    "knee_flexion_r": 8.0,
    "knee_flexion_l": 12.0,
    "shoulder_flexion_r": 10.0,
    "shoulder_flexion_l": 35.0,
    "elbow_flexion_r": 20.0,
    "elbow_flexion_l": 20.0,
}
"""Angles of the joints [deg], of the hips from the vertical: right leg before left, left arm before right."""
MASS = 12_000.0
LENGTH, WIDTH, HEIGHT, SILL = 12.17, 2.55, 3.12, 0.32
ROUNDING = 0.1
"""Radius of the ball [m]. The corners of an ellipsoid of order 20 that is longer than wide are cut, too: with it they
recede from a sharp corner as an arc of 0.35 m does.
"""
REAR_AXLE, TIRE_RADIUS, TIRE_WIDTH = 2.805 + 6.035, 0.478, 0.275
"""How far the rear axle is behind the front; size of the tire [m]."""
PAINT, GROUND = 0.3, 0.6
CLEARANCE = 0.001
"""Between man and ground, and man and bus, at the start [m]."""
BEYOND, FALL = 1.0, 1.3
"""How far the rear axle runs beyond where the front was at the start [m]; how long a run takes at least [s]."""
LONGER, LONGEST = 0.5, 4.0
"""By how much a run is longer where the axle has not passed both feet yet; how long it is at most [s]."""
TRUNK = ("lower_torso", "upper_torso", "hip_r", "hip_l", "scapula_r", "scapula_l", "neck")


@dataclass(frozen=True)
class Choices:
    """Choices that the text leaves open: friction with the bus and with the ground, rounding of the bus [m], lean of
    the trunk [deg], the leg that is ahead, and how far he has turned to the left from where the bus goes [deg].
    """

    friction: float = PAINT
    ground: float = GROUND
    rounding: float = ROUNDING
    lean: float = LEAN
    left_ahead: bool = False
    facing: float = 90.0 - SHOULDER_LINE


CHOSEN = Choices()
ROUGH_BUS = Choices(friction=0.6)
OTHERS = {
    "as chosen": CHOSEN,
    "edges of 0.3 m": Choices(rounding=0.3),
    "upright": Choices(lean=0.0),
    "friction of the ground 0.9": Choices(ground=0.9),
    "left leg ahead": Choices(left_ahead=True),
    "turned to the right": Choices(facing=-CHOSEN.facing),
}
"""What is varied at IP2 with 20 km/h."""


def bus_surfaces(rounding: float = ROUNDING) -> list[Surface]:
    """Body and right rear tire; their frame lies on the ground below the middle of the front."""
    half = 0.5 * np.array([LENGTH, WIDTH, HEIGHT - SILL])
    center = np.array([-half[0], 0.0, SILL + half[2]])
    wheel = (-REAR_AXLE, -0.5 * (WIDTH - TIRE_WIDTH), TIRE_RADIUS)
    size = (TIRE_RADIUS, 0.5 * TIRE_WIDTH, TIRE_RADIUS)
    block = {"semi_axes": half - rounding, "order": 20.0, "radius": rounding, "body": "sled", "model": "bus"}
    return [
        Surface("bus body", center, **block),
        ellipsoid("bus tire", wheel, size, body="sled", model="bus"),
    ]


@dataclass(frozen=True)
class Scene:
    """A man (N, 3) in the way of a bus, who nearly touches it and the ground."""

    models: dict[str, Model]
    pairs: ContactPairs
    man: Array

    @classmethod
    def build(cls, in_the_way: float, who: str = STANDARD, how: Choices = CHOSEN) -> Scene:
        """The man's left hip reaches so far [m] into the way of the bus's right side."""
        models = {"bus": sled_model(MASS), "man": subject(who)}
        model, bus = models["man"], bus_surfaces(how.rounding)
        skins = body_surfaces(model, "man")
        laws = pairs_with(FLOOR, skins, body_laws(skins, friction=how.ground))
        laws |= pairs_with(bus[0], skins, body_laws(skins, friction=how.friction))
        pairs = ContactPairs.build(models, [FLOOR, *bus, *skins], laws)
        joints = np.zeros((1, model.tree.joint_count))
        for name, degrees in STEP.items():
            side = {"r": "l", "l": "r"}[name[-1]] if how.left_ahead else name[-1]
            flexed = degrees + how.lean if name.startswith("hip") else degrees
            joints[0, model.joint(name[:-1] + side)] = np.radians(flexed)
        turned = rotation_about(np.array([0.0, 0.0, 1.0]), np.radians([how.facing])) @ leaning(how.lean)
        q, points = model.tree.pose(joints, np.zeros((1, 3)), turned)[0], model.topology.point_count
        scene = cls(models, pairs, q)
        hip = next(skin for skin in skins if skin.name == "man hip_l")
        on_ground = np.array([name.startswith("floor") for name in pairs.names])
        q[:points, 1] -= q[model.slot("hip_l"), 1] + hip.radius + 0.5 * WIDTH - in_the_way
        q[:points, 2] += CLEARANCE - scene.gaps()[on_ground].min()
        q[:points, 0] += brentq(lambda ahead: scene.gaps(ahead)[~on_ground].min() - CLEARANCE, -3.0, 3.0)
        return scene

    def gaps(self, ahead: float = 0.0) -> Array:
        """Gap (P,) [m] of every pair, with the man so far ahead of where he is [m]."""
        bus, q = self.models["bus"].standing, self.man.copy()
        q[: self.models["man"].topology.point_count, 0] += ahead
        return self.pairs.gaps(
            BodyStates.from_models(list(self.models.values()), [(bus, 0.0 * bus), (q, 0.0 * q)])
        )

    def run(self, speed: float, times: Array) -> ContactSimulation:
        """Simulate the bus that comes with a speed [km/h]."""
        bus, man = self.models["bus"], self.models["man"]
        coming = 0.0 * bus.standing
        coming[: bus.topology.point_count, 0] = speed / 3.6
        starts = {
            "bus": Start(bus, bus.standing, coming, pulse=no_pulse),
            "man": Start(man, self.man, 0.0 * self.man, [JointResistance.build(man)]),
        }
        return simulate_contact(starts, self.pairs, times)


def run_over(position: int, speed: float, who: str = STANDARD, how: Choices = CHOSEN) -> ContactSimulation:
    """A position of the eight and a speed [km/h], until the man lies and the rear axle has passed both his feet: some
    slide ahead of it.
    """
    scene, until = (
        Scene.build(IN_THE_WAY * position, who, how),
        max(FALL, (REAR_AXLE + BEYOND) / (speed / 3.6)),
    )
    while True:
        run = scene.run(speed, np.arange(0.0, until, 0.001))
        if until + LONGER > LONGEST or all(place[-1, 0] <= 0.0 for place in feet_from_tire(run).values()):
            return run
        until += LONGER


def feet_from_tire(run: ContactSimulation) -> dict[str, Array]:
    """Positions (T, 3) [m] of both feet from where the rear tire stands: ahead, to the left, up."""
    man, bus = run.motions["man"], run.motions["bus"]
    below = bus.q[:, 0] + [-REAR_AXLE, -0.5 * (WIDTH - TIRE_WIDTH), 0.0]
    return {side: man.q[:, man.model.slot(f"foot_{side}")] - below for side in "lr"}


def beside_tire(run: ContactSimulation) -> float:
    """Distance [m] between the tire and the nearer foot when the axle passes it; negative: the tire runs over the foot,
    by so much of its width. Infinite where the axle passes none.

    A foot off the ground counts, too: it is below the body of the bus, so lower than the axle, and the tread that comes
    goes down there.
    """
    foot = next(skin.radius for skin in run.pairs.surfaces if skin.name == "man foot_l")
    nearest = np.inf
    for place in feet_from_tire(run).values():
        if (place[:, 0] <= 0.0).any():
            sideways = abs(place[int(np.argmax(place[:, 0] <= 0.0)), 1])
            nearest = min(nearest, sideways - 0.5 * TIRE_WIDTH - foot)
    return float(nearest)


def blown(run: ContactSimulation) -> float:
    """Speed [m/s] of the man's center of mass, ahead, a tenth of a second after the first touch."""
    motion, frame = run.motions["man"], int(np.searchsorted(run.time, 0.1 - 1e-9))
    return float(momentum(motion.model, motion.q, motion.qd)[0][frame, 0] / motion.model.mass.total)


def spin(run: ContactSimulation) -> tuple[float, float]:
    """How far the man has turned about the vertical when his trunk meets the ground, or at the end [deg], and his
    largest rate until then [deg/s]; to the left positive. The rate is angular momentum over moment of inertia.
    """
    motion = run.motions["man"]
    model, place = motion.model, motion.model.rigid_bodies.basic(motion.q)[..., :2]
    inertia = np.einsum("bef,tbex,tbfx->t", model.basic_mass, place, place, optimize=True)
    inertia -= model.mass.total * (mass_center(model, motion.q)[:, :2] ** 2).sum(axis=1)
    rate = np.degrees(momentum(model, motion.q, motion.qd)[1][:, 2] / inertia)
    trunk = {f"floor and man {part}" for part in TRUNK}
    landing = next((event.time for event in run.events if event.begins and event.pair in trunk), run.time[-1])
    rate = rate[run.time <= landing]
    return float(rate.sum() * np.diff(run.time)[0]), float(rate[np.abs(rate).argmax()])


def figures(run: ContactSimulation) -> dict[str, float]:
    """Head injury criterion, of 15 ms where the head meets something, else of 36 ms; peak [g]; whether the head meets
    ground and bus; spin [deg, deg/s]; place of the foot [m]; speed from the blow [m/s]; energy and momentum.
    """
    head = HeadInjury.from_run(run, "man")
    met = {event.pair.split()[0] for event in run.events if event.begins and event.pair.endswith("man head")}
    turn, rate = spin(run)
    return {
        "criterion": head.criterion_15 if met else head.criterion_36,
        "peak": head.peak,
        "on_floor": float("floor" in met),
        "on_bus": float("bus" in met),
        "turn": turn,
        "rate": rate,
        "beside": beside_tire(run),
        "blown": blown(run),
        "energy_off": imbalance(run),
        "momentum_off": momentum_imbalance(run, ["man"]),
    }


def figures_at(who: str, at: tuple[int, int, Choices], _: Any) -> dict[str, float]:
    """Return the figures of a position, a speed [km/h] and choices, in a process of its own."""
    return figures(run_over(at[0], at[1], who, at[2]))


def summary(cases: dict[tuple[int, int], dict[str, float]]) -> Figures:
    """Numbers of all runs, by position and speed, and of the sideswipes (IP1 to IP3) and of the others together."""

    def every(name: str) -> Array:
        return np.array([case[name] for case in cases.values()])

    passed = every("beside")[np.isfinite(every("beside"))]
    found: Figures = {
        "all": {
            "runs": len(cases),
            "median": float(np.median(every("criterion"))),
            "largest": float(every("criterion").max()),
            "over_1000": float((every("criterion") > 1000.0).sum()),
            "on_floor": float(every("on_floor").sum()),
            "on_bus": float(every("on_bus").sum()),
            "passed": len(passed),
            "nearest": float(passed[passed >= 0.0].min(initial=np.inf)),
            "run_over": float((passed < 0.0).sum()),
            "energy_off": float(every("energy_off").max()),
            "momentum_off": float(every("momentum_off").max()),
        }
    }
    aside = np.array([position <= 3 for position, _ in cases])
    for name, chosen in (("sideswipes", aside), ("others", ~aside)):
        turn, rate = np.abs(every("turn"))[chosen], np.abs(every("rate"))[chosen]
        found[name] = {
            "least_turn": float(turn.min()),
            "median_turn": float(np.median(turn)),
            "most_turn": float(turn.max()),
            "median_rate": float(np.median(rate)),
        }
    return found


def pedestrian_case(who: str = STANDARD) -> tuple[Figures, dict[str, ContactSimulation]]:
    """All positions and speeds, the feet with other choices (`OTHERS`, `ROUGH_BUS`), and the run of figure 4.40."""
    rough = [(p, v, ROUGH_BUS) for p in (1, 2, 3) for v in (20, 25, 30)]
    asked = [(p, v, CHOSEN) for p in POSITIONS for v in SPEEDS]
    asked += [(2, 20, how) for how in OTHERS.values() if how != CHOSEN] + rough
    finished = side_by_side(figures_at, who, asked, processors, "runs of pedestrian and bus")
    runs = {asked[number]: numbers for number, numbers in finished}
    cases = {(p, v): runs[p, v, CHOSEN] for p in POSITIONS for v in SPEEDS}
    found = {f"IP{p} at {v}": case for (p, v), case in cases.items()} | summary(cases)
    for name, how in OTHERS.items():
        found[f"IP2 at 20, {name}"] = {"beside": runs[2, 20, how]["beside"]}
    found["rough bus"] = {"runs": len(rough), "run_over": sum(runs[each]["beside"] < 0.0 for each in rough)}
    return found, {"pedestrian": run_over(*SHOWN, who)}
