"""A pedestrian is struck by the corner of a bus and may be run over (Silva 2003, 4.5; figures 4.35 to 4.40).

    python -m benchmarks.pedestrian [FOLDER] [--position 3 ...] [--speed 30 ...] [--friction 0.3] [--others]

What the text says: a bus of twelve tons, which keeps its speed of 20, 25, 30, 35 or 40 km/h, meets with the right
corner of its front the left hip of a man who has turned his back to it, his shoulder line at 80 degrees to the bus.
Eight positions differ in how far he is in its way, from a sideswipe (IP1 to IP3) on. Watched are the criterion of head
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

Besides the source: a man in the middle of the front of a bus that brakes, and his throw distance (`Throw`).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from rich.table import Table
from scipy.optimize import brentq

from benchmarks.arguments import command_line, output_folder
from benchmarks.chapter_4 import (
    STANDARD,
    SUBJECTS,
    Figures,
    HeadInjury,
    center_acceleration,
    described,
    imbalance,
    momentum_imbalance,
    states_at,
    subject,
)
from benchmarks.contact import FLOOR
from benchmarks.impact_pictures import VIEWS, histories, outline, sequence, write
from benchmarks.thesis_figures.drawing import COLORS, key, panels
from benchmarks.timing import console, processors, side_by_side
from musclesolve._util.arrays import Array
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.dynamics.contact.belt import sled_model
from musclesolve.dynamics.contact.body_surfaces import body_laws, body_surfaces, pairs_with
from musclesolve.dynamics.contact.contact_pairs import BodyStates, ContactPairs
from musclesolve.dynamics.contact.surfaces import Surface, ellipsoid
from musclesolve.dynamics.forward.contact_simulation import ContactSimulation, Start, simulate_contact
from musclesolve.dynamics.forward.joint_resistance import JointResistance
from musclesolve.dynamics.forward.simulate import Pulse, mass_center, momentum, no_pulse
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.rotations import rotation_about
from musclesolve.plotting.page.arrangement import A4
from musclesolve.plotting.page.page_style import NOTE_COLOR, SMALL, TEXT
from musclesolve.plotting.page.sheet import Sheet, heading
from musclesolve.report.picture.save_picture import save_picture

SPEEDS = (20, 25, 30, 35, 40)
"""Of the bus [km/h]."""
POSITIONS = tuple(range(1, 9))
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
TOLERANCE = 1000.0
"""Of the head injury criterion (4.1.3)."""
LONGER, LONGEST = 0.5, 4.0
"""By how much a run is longer where the axle has not passed both feet yet; how long it is at most [s]."""
TRUNK = ("lower_torso", "upper_torso", "hip_r", "hip_l", "scapula_r", "scapula_l", "neck")
BRAKES = 7.0
"""Deceleration of a bus that brakes [m/s2]."""
RETURNED = 1.5
"""Speed of a man whom a bus throws over that of the bus (the runs have 1.32 to 1.47): for the time in which he slides
to rest.
"""


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
        turned = rotation_about(np.array([0.0, 0.0, 1.0]), np.radians([how.facing])) @ rotation_about(
            np.array([0.0, 1.0, 0.0]), np.radians([how.lean])
        )
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

    def run(self, speed: float, times: Array, pulse: Pulse = no_pulse) -> ContactSimulation:
        """Simulate the bus that comes with a speed [km/h]."""
        bus, man = self.models["bus"], self.models["man"]
        coming = 0.0 * bus.standing
        coming[: bus.topology.point_count, 0] = speed / 3.6
        starts = {
            "bus": Start(bus, bus.standing, coming, pulse=pulse),
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


def strikes(run: ContactSimulation) -> dict[str, float]:
    """The surfaces that the head meets, "bus" or "floor", and its largest speed there [m/s]."""
    speeds: dict[str, float] = {}
    for event in run.events:
        if event.begins and event.pair.endswith("man head"):
            what = event.pair.split()[0]
            speeds[what] = max(event.speed, speeds.get(what, 0.0))
    return speeds


@dataclass(frozen=True)
class Outcome:
    """The numbers that are kept of a run."""

    time: Array
    felt: Array  # (T,) acceleration of the head [g]
    feet: dict[str, Array]
    head: HeadInjury
    strikes: dict[str, float]
    spin: tuple[float, float]
    beside: float
    blown: float
    seconds: float
    imbalance: float
    momentum: float

    @classmethod
    def from_run(cls, run: ContactSimulation, seconds: float) -> Outcome:
        """A run that took so many seconds of the processor."""
        felt = np.linalg.norm(center_acceleration(run.motions["man"], "head"), axis=1) / STANDARD_GRAVITY
        return cls(
            run.time,
            felt,
            feet_from_tire(run),
            HeadInjury.from_run(run, "man"),
            strikes(run),
            spin(run),
            beside_tire(run),
            blown(run),
            seconds,
            imbalance(run),
            momentum_imbalance(run, ["man"]),
        )

    @property
    def criterion(self) -> float:
        """Head injury criterion: of 15 ms where the head meets something, of 36 ms where it does not."""
        return self.head.criterion_15 if self.strikes else self.head.criterion_36

    @property
    def figures(self) -> dict[str, float]:
        """Its numbers by name."""
        return {
            "criterion": self.criterion,
            "peak": self.head.peak,
            "turn": self.spin[0],
            "rate": self.spin[1],
            "beside": self.beside,
            "blown": self.blown,
            "energy_off": self.imbalance,
            "momentum_off": self.momentum,
        }


def thrown_with(way: float, fall: float, friction: float) -> tuple[float, float]:
    """Speeds [m/s] between which a body was thrown that came to rest after a way [m], having fallen by so much [m].

    It lands without rebound, which costs mu times the vertical speed, and slides. With the speed v at an angle a,
    v (cos a + mu sin a) = sqrt(2 mu g (s - mu h)) (Searle 1983): least at tan a = mu, most thrown horizontally.
    """
    most = float(np.sqrt(2.0 * friction * STANDARD_GRAVITY * (way - friction * fall)))
    return most / float(np.hypot(1.0, friction)), most


@dataclass(frozen=True)
class Throw:
    """A man in the middle of the front of a bus that brakes from the first touch on, seen by the bus from his left.

    way: of his center of mass from the blow to rest [m]; ahead, up: its speed when it is fastest [m/s]; least, most:
    speeds that Searle's formula concludes from way and fall since then, of one thrown horizontally or upward
    (`thrown_with`) [m/s]; left: speed at the end [m/s]; energy_off, momentum_off: balances.
    """

    way: float
    ahead: float
    up: float
    least: float
    most: float
    left: float
    energy_off: float
    momentum_off: float

    @property
    def searle(self) -> float:
        """Speed ahead [m/s] that the formula concludes for the angle at which he was thrown: v cos a + mu v sin a is
        `most`. Downward, friction takes more where he lands, so he was faster than one thrown horizontally.
        """
        return self.most - GROUND * self.up

    @classmethod
    def from_speed(cls, speed: float, who: str = STANDARD) -> Throw:
        """A bus with this speed [km/h]."""
        stop = speed / 3.6 / BRAKES

        def braking(times: Array) -> Array:
            return np.where(np.asarray(times) < stop, -BRAKES, 0.0)[:, None] * [1.0, 0.0, 0.0]

        until = 1.0 + RETURNED * speed / 3.6 / (GROUND * STANDARD_GRAVITY)
        scene = Scene.build(0.5 * WIDTH + 0.1, who, Choices(facing=90.0))
        run = scene.run(speed, np.arange(0.0, until, 0.001), braking)
        motion = run.motions["man"]
        center = mass_center(motion.model, motion.q)
        moving = momentum(motion.model, motion.q, motion.qd)[0] / motion.model.mass.total
        leaves = int(moving[:, 0].argmax())
        slid, fall = center[-1, 0] - center[leaves, 0], center[leaves, 2] - center[-1, 2]
        return cls(
            float(center[-1, 0] - center[0, 0]),
            float(moving[leaves, 0]),
            float(moving[leaves, 2]),
            *thrown_with(slid, fall, GROUND),
            float(np.linalg.norm(moving[-1])),
            imbalance(run),
            momentum_imbalance(run, ["man"]),
        )

    @property
    def figures(self) -> dict[str, float]:
        """Its numbers by name, speeds in km/h."""
        speeds = {"speed": self.ahead, "down": -self.up, "least": self.least, "most": self.most}
        return {name: 3.6 * value for name, value in (speeds | {"searle": self.searle}).items()} | {
            "way": self.way,
            "energy_off": self.energy_off,
            "momentum_off": self.momentum_off,
        }


def outcome(who: str, at: tuple[int, int, Choices], _: Any) -> Outcome:
    """Return the outcome of a position, a speed [km/h] and choices, in a process of its own."""
    begin = time.process_time()
    run = run_over(at[0], at[1], who, at[2])
    return Outcome.from_run(run, time.process_time() - begin)


def thrown(who: str, speed: int, _: Any) -> Throw:
    """Return the throw by a bus with this speed [km/h], in a process of its own."""
    return Throw.from_speed(speed, who)


Cases = dict[tuple[int, int], Outcome]
"""Position and speed -> what is kept of a run."""


def summary(cases: Cases) -> Figures:
    """Numbers of every run, and of all runs, of the sideswipes (IP1 to IP3) and of the others together."""
    found = {f"IP{position} at {speed}": case.figures for (position, speed), case in cases.items()}
    every = list(cases.values())
    criteria = [case.criterion for case in every]
    beside = [case.beside for case in every if np.isfinite(case.beside)]
    found["all"] = {
        "runs": len(every),
        "median": float(np.median(criteria)),
        "largest": max(criteria),
        "over_1000": sum(each > 1000.0 for each in criteria),
        "on_floor": sum("floor" in case.strikes for case in every),
        "on_bus": sum("bus" in case.strikes for case in every),
        "passed": len(beside),
        "nearest": min((each for each in beside if each >= 0.0), default=np.inf),
        "run_over": sum(each < 0.0 for each in beside),
        "energy_off": max(case.imbalance for case in every),
        "momentum_off": max(case.momentum for case in every),
    }
    for name, sideswipe in (("sideswipes", True), ("others", False)):
        spins = np.abs([case.spin for (position, _), case in cases.items() if (position <= 3) == sideswipe])
        if len(spins):
            found[name] = {
                "least_turn": float(spins[:, 0].min()),
                "median_turn": float(np.median(spins[:, 0])),
                "most_turn": float(spins[:, 0].max()),
                "median_rate": float(np.median(spins[:, 1])),
            }
    return found


def show(cases: Cases) -> None:
    """Print runs, a table for each quantity."""
    positions, speeds = (list(dict.fromkeys(at[k] for at in cases)) for k in (0, 1))
    for title, cell in (
        ("head injury criterion; peak [g]", lambda case: f"{case.criterion:.0f}; {case.head.peak:.0f}"),
        (
            "what the head meets, at [m/s]",
            lambda case: ", ".join(f"{a} {v:.1f}" for a, v in case.strikes.items()),
        ),
        (
            "turns until the trunk lies [deg]; at most [deg/s]",
            lambda case: "{:.0f}; {:.0f}".format(*case.spin),
        ),
        (
            "between foot and rear tire [m]; negative: run over",
            lambda case: f"{case.beside:.2f}" if np.isfinite(case.beside) else "not passed",
        ),
    ):
        table = Table("", *(f"{speed} km/h" for speed in speeds), title=title)
        for position in positions:
            table.add_row(f"IP{position}", *(cell(cases[position, speed]) or "-" for speed in speeds))
        console.print(table)
    every = list(cases.values())
    console.print(
        f"At most: {max(case.seconds for case in every):.1f} s of the processor, energy from nowhere "
        f"{max(case.imbalance for case in every):.1e} of that lost, momentum "
        f"{max(case.momentum for case in every):.1e} of the impulse (summed over frames of 1 ms)."
    )


def throws(speeds: Sequence[int], who: str, processes: int) -> Figures:
    """Print the throws of a bus that brakes beside the speeds that Searle's formula concludes from them."""
    table = Table(
        "bus that brakes [km/h]",
        "thrown [m]",
        "man ahead, up [km/h]",
        "Searle, horizontally or upward [km/h]",
        "Searle, his angle [km/h]",
        "in the end [m/s]",
        "energy, momentum",
    )
    found = {}
    computed = dict(side_by_side(thrown, who, speeds, processes, "throws"))
    for number, speed in enumerate(speeds):
        throw = computed[number]
        found[f"thrown at {speed}"] = throw.figures
        table.add_row(
            f"{speed}",
            f"{throw.way:.1f}",
            f"{3.6 * throw.ahead:.1f}, {3.6 * throw.up:.1f}",
            f"{3.6 * throw.least:.1f} to {3.6 * throw.most:.1f}",
            f"{3.6 * throw.searle:.1f}",
            f"{throw.left:.2f}",
            f"{throw.energy_off:.0e}, {throw.momentum_off:.0e}",
        )
    console.print(table)
    return found


def pedestrian_case(
    folder: Path,
    who: str = STANDARD,
    positions: Sequence[int] = POSITIONS,
    speeds: Sequence[int] = SPEEDS,
    friction: float = PAINT,
    others: bool = True,
    processes: int = processors,
) -> Figures:
    """Simulate positions and speeds, print and draw them; others: also what becomes of the feet with other choices
    (`OTHERS`, `ROUGH_BUS`); processes: how many runs are computed side by side.
    """
    how = Choices(friction=friction)
    runs = [(p, v, how) for p in positions for v in speeds]
    if others:
        runs += [(2, 20, other) for other in OTHERS.values()]
        runs += [(p, v, ROUGH_BUS) for p in (1, 2, 3) for v in (20, 25, 30)]
    shown = positions[len(positions) // 4], speeds[len(speeds) // 2]
    begin = time.process_time()
    kept = run_over(*shown, who, how)
    outcomes = {(*shown, how): Outcome.from_run(kept, time.process_time() - begin)}
    missing = [at for at in dict.fromkeys(runs) if at not in outcomes]
    finished = side_by_side(outcome, who, missing, processes, "runs of pedestrian and bus")
    outcomes |= {missing[number]: result for number, result in finished}
    cases = {(p, v): outcomes[p, v, how] for p in positions for v in speeds}
    show(cases)
    console.print(
        "Printed: the criterion is close to zero where the head meets nothing directly and small where it does, over "
        "1000 only at IP8 with 30 km/h; he spins until he meets the ground, in particular at IP1 to IP3; it is very "
        "likely that the rear wheel runs over the foot, in particular below 30 km/h."
    )
    found = summary(cases)
    if others:
        table = Table("IP2 with 20 km/h", "between foot and rear tire [m]")
        for name, other in OTHERS.items():
            beside = outcomes[2, 20, other].beside
            found[f"IP2 at 20, {name}"] = {"beside": beside}
            table.add_row(name, f"{beside:.2f}")
        console.print(table)
        rough = [case.beside for (_, _, other), case in outcomes.items() if other == ROUGH_BUS]
        found["rough bus"] = {"runs": len(rough), "run_over": sum(each < 0.0 for each in rough)}
        console.print(
            "Friction {} with the bus, IP1 to IP3, 20 to 30 km/h: run over in {run_over} of {runs}.".format(
                ROUGH_BUS.friction, **found["rough bus"]
            )
        )
    found |= throws(speeds, who, processes)
    file = folder / "pedestrian.html"
    save_picture(kept, file, title="Pedestrian and bus, IP{}, {} km/h".format(*shown))
    console.print(f"moving picture: {file}")
    write(folder, pictures(cases, kept, shown, who, how))
    return found


def pictures(
    cases: Cases, run: ContactSimulation, shown: tuple[int, int], who: str, how: Choices
) -> dict[str, Figure]:
    """Figures 4.36 to 4.40, and the acceleration of the head; run: of the position and speed shown in 4.40."""
    positions, speeds = (list(dict.fromkeys(at[k] for at in cases)) for k in (0, 1))
    some = positions[:: max(1, len(positions) // 4)]
    sideswipes = [position for position in positions if position in (2, 3)] or positions[:1]
    about = (
        f"{described(who)}; chosen: shape of the bus, pose, "
        f"positions {1e3 * IN_THE_WAY:g} mm apart, "
        f"friction {how.friction:g} with the bus and {how.ground:g} with the ground"
    )
    sheets = {
        "4.36": positions_from_above(positions, who),
        "4.37": feet_beside_tire(
            cases, [[(p, v) for p in positions] for v in dict.fromkeys((speeds[0], speeds[-1]))]
        ),
        "4.38": feet_beside_tire(cases, [[(p, v) for v in speeds] for p in sideswipes]),
    }
    for sheet in sheets.values():
        sheet.add_header(about, sheet.style.note_pt, NOTE_COLOR)
        sheet.fit()
    places = run.motions["man"].q[:, : run.motions["man"].model.topology.point_count]
    ahead, aside = ((float(places[..., k].min()), float(places[..., k].max())) for k in (0, 1))
    wide = (ahead[0] - 0.3, ahead[1] + 0.3)
    motion = sequence(
        run,
        np.linspace(0.0, run.time[-1], 6).tolist(),
        {"side": (wide, (-0.1, 2.3)), "top": (wide, (aside[0] - 0.3, aside[1] + 0.6))},
        title="Pedestrian and bus, IP{}, {} km/h".format(*shown),
        about=about,
    )
    middle = speeds[len(speeds) // 2]
    curves = {f"IP{p}": (cases[p, middle].time, cases[p, middle].felt) for p in some}
    head = histories("Acceleration of the head", {f"bus with {middle} km/h": ("[g]", curves)}, about)
    values = np.array([[cases[position, speed].criterion for position in positions] for speed in speeds])
    carpet = criterion_map(values, positions, speeds, about)
    return {**sheets, "4.39": carpet, "4.40": motion, "4.39_head": head}


def positions_from_above(positions: Sequence[int], who: str) -> Sheet:
    """The first touch of every position."""
    columns = min(4, len(positions))
    rows = -(-len(positions) // columns)
    title = "Bus (gray) and man (blue) at the start, from above"
    figure, axes = panels(None, title, rows, columns, 0.21 * rows if columns == 4 else 0.4, sharey=True)
    for panel in axes.ravel()[len(positions) :]:
        panel.set_visible(False)
    for panel, position in zip(axes.ravel(), positions, strict=False):
        scene = Scene.build(IN_THE_WAY * position, who)
        still = scene.run(0.0, np.array([0.0, 1e-6]))
        motions = states_at(still, 0).motions
        for number, surface in zip(still.pairs.body, still.pairs.surfaces, strict=True):
            if not surface.is_plane:
                line = outline(surface, motions.rotation[number], motions.place[number], VIEWS["top"])
                color = "gray" if surface.model == "bus" else COLORS[0]
                panel.fill(*line.T, facecolor=color, edgecolor=color, alpha=0.3, linewidth=0.8)
        panel.set(xlim=(-0.8, 0.8), ylim=(-2.0, -0.4), aspect="equal")
        heading(panel, f"IP{position}: {1e3 * IN_THE_WAY * position:.0f} mm in the way")
    for panel in axes[:, 0]:
        panel.set_ylabel("left [m]", fontsize=TEXT)
    for panel in axes.ravel()[max(0, len(positions) - columns) : len(positions)]:
        panel.set_xlabel("forward [m]", fontsize=TEXT)
    return figure


def feet_beside_tire(cases: Cases, rows: list[list[tuple[int, int]]]) -> Sheet:
    """Ways of the left (full) and the right foot past the tire, a panel for each list of cases."""
    figure, axes = panels(
        None, "Feet beside the rear tire (gray); right foot dashed", len(rows), 1, 0.2 + 0.2 * len(rows)
    )
    for panel, keys in zip(axes[:, 0], rows, strict=True):
        alike = f"{keys[0][1]} km/h" if len({v for _, v in keys}) == 1 else f"IP{keys[0][0]}"
        for number, at in enumerate(keys):
            for side, style in (("l", "-"), ("r", "--")):
                place = cases[at].feet[side]
                name = (f"IP{at[0]}" if "km" in alike else f"{at[1]} km/h") if side == "l" else None
                panel.plot(place[:, 0], place[:, 1], style, color=COLORS[number], linewidth=0.9, label=name)
        panel.axhspan(-0.5 * TIRE_WIDTH, 0.5 * TIRE_WIDTH, color="0.85")
        panel.set(xlim=(9.5, -1.0), ylim=(-1.6, 0.6))
        panel.set_ylabel("left of the tire [m]", fontsize=TEXT)
        heading(panel, alike)
        key(panel, ncols=2, loc="lower left")
    for panel in axes[:-1, 0]:
        panel.tick_params(labelbottom=False)
    axes[-1, 0].set_xlabel("ahead of the rear axle [m]", fontsize=TEXT)
    return figure


def criterion_map(values: Array, positions: Sequence[int], speeds: Sequence[int], about: str) -> Figure:
    """The criterion (speeds, positions) as a carpet over position and speed, and as a map with its numbers."""
    figure = Figure(figsize=(A4[0], 0.78 * A4[1]), layout="constrained")
    figure.suptitle(
        "Head injury criterion: 15 ms where the head meets bus or ground, else 36 ms",
        fontsize=TEXT + 3,
        x=0.02,
        ha="left",
    )
    figure.supxlabel(about, fontsize=SMALL, color=NOTE_COLOR)
    parts = figure.subfigures(2, 1, height_ratios=(1.5, 1.0))
    look: dict[str, Any] = {"cmap": "YlOrRd", "vmin": 0.0, "vmax": 1.2 * TOLERANCE}
    carpet = parts[0].subplots(subplot_kw={"projection": "3d"})
    across, along = np.meshgrid(range(len(positions)), speeds)
    carpet.plot_surface(
        across, along, values, edgecolor="#6A6A6A", linewidth=0.4, rstride=1, cstride=1, **look
    )
    carpet.set(
        zlim=(0.0, 1.2 * TOLERANCE), xticks=range(len(positions)), xticklabels=[f"IP{p}" for p in positions]
    )
    carpet.set_yticks(speeds)
    carpet.set_xlabel("position", fontsize=TEXT)
    carpet.set_ylabel("bus [km/h]", fontsize=TEXT)
    carpet.set_zlabel("criterion", fontsize=TEXT)
    carpet.view_init(elev=28.0, azim=-58.0)
    flat = parts[1].subplots()
    shown = flat.imshow(values, origin="lower", aspect="auto", **look)
    for (row, column), value in np.ndenumerate(values):
        flat.text(column, row, f"{value:.0f}", ha="center", va="center", fontsize=TEXT)
    flat.set(xticks=range(len(positions)), xticklabels=[f"IP{position}" for position in positions])
    flat.set(yticks=range(len(speeds)), yticklabels=speeds)
    flat.set_xlabel("position", fontsize=TEXT)
    flat.set_ylabel("bus [km/h]", fontsize=TEXT)
    bar = parts[1].colorbar(shown, ax=flat, ticks=[0, 250, 500, 750, 1000])
    bar.ax.axhline(TOLERANCE, color="black", linewidth=1.5)
    bar.set_label("head injury criterion; line: tolerance", fontsize=TEXT)
    return figure


def main(arguments: list[str] | None = None) -> None:
    """Run the command."""
    parser = command_line(__doc__)
    parser.add_argument("folder", nargs="?", type=output_folder, default=".", metavar="FOLDER")
    parser.add_argument(
        "--position", nargs="+", type=int, choices=POSITIONS, default=POSITIONS, metavar="1...8"
    )
    parser.add_argument("--speed", nargs="+", type=int, choices=SPEEDS, default=SPEEDS, metavar="KM/H")
    parser.add_argument("--friction", type=float, default=PAINT, help="of the man with the bus")
    parser.add_argument(
        "--others", action="store_true", help="also the feet with other choices, 15 runs more"
    )
    parser.add_argument("--subject", choices=SUBJECTS, default=STANDARD)
    given = parser.parse_args(arguments)
    if not 0.0 <= given.friction < np.inf:
        parser.error("--friction must be 0 or more")
    pedestrian_case(given.folder, given.subject, given.position, given.speed, given.friction, given.others)


if __name__ == "__main__":
    main()
