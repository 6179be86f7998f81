"""Reasons why the trunk of the belted occupant leans to the side of the shoulder strap (Silva 2003, 4.2).

The sled of `benchmarks.sled` with one thing changed at a time: run by `benchmarks.impact_cases`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from rich.table import Table

from benchmarks.chapter_4 import STANDARD, Figures, asymmetry
from benchmarks.sled import BEGIN, PULSE, SPEED, Belt, belted, figures, sled, trunk_angles
from benchmarks.timing import console
from musclesolve._util.arrays import Array
from musclesolve.dynamics.contact.belt import RigidSeat, Strap, Straps, sled_model, three_point_belt
from musclesolve.dynamics.contact.body_surfaces import body_surfaces
from musclesolve.dynamics.contact.contact_pairs import BodyStates
from musclesolve.dynamics.contact.surfaces import Surface
from musclesolve.dynamics.forward.applied_forces import Force
from musclesolve.dynamics.forward.contact_simulation import ContactSimulation
from musclesolve.dynamics.inverse.joint_couples import Couples
from musclesolve.dynamics.model.data_files import read_table
from musclesolve.dynamics.model.model import Model

ANCHORS = {name: np.array(place) for name, place in read_table("definitions", "seat.toml")["anchors"].items()}
MIDDLE = RigidSeat.printed().attachment[1]
"""Of the seat, to the left [m]."""
SHOULDER, HIGHER = MIDDLE - 0.08, 0.25
"""Where the middle of the scapula is, to the left, and how far the top of it lies above the printed anchor [m]."""
SPINE = 120.0
"""Five lumbar motion segments of 6 to 11 N m/deg each, one after the other (Miller et al. 1986, J. Biomech. 19, 79-84:
lateral bending and flexion of specimens) [N m/rad], rounded upward."""


def anchored(place: Array) -> Belt:
    """The printed belt with its shoulder strap anchored elsewhere (3,) [m]."""
    return lambda model: three_point_belt(model, "occupant", anchors=ANCHORS | {"shoulder": place})


def harness(model: Model) -> list[Strap]:
    """The printed belt and the mirror image of its shoulder strap."""
    mirrored = ANCHORS["shoulder"] * (1.0, -1.0, 1.0) + (0.0, 2.0 * MIDDLE, 0.0)
    return [*belted(model), replace(anchored(mirrored)(model)[1], name="other shoulder")]


def lap_strap(model: Model) -> list[Strap]:
    return belted(model)[:1]


@dataclass(frozen=True)
class PrintedStrap:
    """The shoulder strap under the rule of the text: the tension of its length, but on the torso one force at the point
    of the ellipsoid where it is normal to the surface.

    Such a force keeps neither energy nor angular momentum: the strap does other work than its length says.
    """

    straps: Straps
    sled: Model
    model: Model
    torso: Surface

    @classmethod
    def build(cls, model: Model, q: Array) -> PrintedStrap:
        """The strap without tension in the pose q (N, 3) at the start."""
        base, shoulder = sled_model(), belted(model)[1]
        torso = next(skin for skin in body_surfaces(model, "occupant") if skin.name == "occupant upper_torso")
        at_rest = BodyStates.from_models([base, model], [(base.standing, 0.0 * base.standing), (q, 0.0 * q)])
        straps = Straps.build({"sled": base, "occupant": model}, [shoulder], at_rest.motions)
        return cls(straps, base, model, torso)

    def __call__(self, time: Array, q: Array, qd: Array) -> Array:
        """Generalized force (T, N, 3)."""
        return np.stack([self._at(float(now), *pose) for now, *pose in zip(time, q, qd, strict=True)])

    def _at(self, time: float, q: Array, qd: Array) -> Array:
        base = self.sled.standing.copy()
        base[: self.sled.topology.point_count, 0] += way(time)
        bodies = BodyStates.from_models([self.sled, self.model], [(base, 0.0 * base), (q, qd)])
        pull = self.straps.pull(bodies.motions)
        wrench = np.zeros((len(bodies.motions.place), 6))
        hip = pull.force[1, 1] + pull.force[2, 0]
        pelvis, thorax = self.straps.body[1, 1], self.straps.body[0, 1]
        wrench[pelvis] = np.concatenate([np.cross(pull.point[1, 1], hip), hip])
        force = pull.force[0, 1] + pull.force[1, 0]
        if size := float(np.linalg.norm(force)):
            axes = bodies.motions.rotation[thorax] @ self.torso.axes * self.torso.semi_axes
            reach = axes.T @ (-force / size)
            center = bodies.motions.rotation[thorax] @ self.torso.center + bodies.motions.place[thorax]
            point = center + axes @ reach / np.linalg.norm(reach)
            wrench[thorax] = np.concatenate([np.cross(point, force), force])
        return bodies.generalized(wrench)[1]


def way(time: float) -> float:
    """How far the sled has come [m]."""
    phase = np.clip((time - BEGIN) / PULSE, 0.0, 1.0)
    after = max(time - BEGIN - PULSE, 0.0)
    return float(SPEED * (time - 0.5 * PULSE * (phase - np.sin(np.pi * phase) / np.pi) - after))


@dataclass(frozen=True)
class BackSpring:
    """A spring against bending the back sideways [N m/rad]."""

    model: Model
    couples: Couples
    stiffness: float

    def __call__(self, time: Array, q: Array, qd: Array) -> Array:
        """Generalized force (T, N, 3): of the energy k a^2 / 2, a the angle with the plane of symmetry."""
        slot, body = self.model.slot, self.model.body
        left = q[:, slot("hip_l")] - q[:, slot("hip_r")]
        left /= np.linalg.norm(left, axis=1, keepdims=True)
        up = q[:, slot("neck_base")] - q[:, slot("back")]
        up /= np.linalg.norm(up, axis=1, keepdims=True)
        sine = np.einsum("tx,tx->t", up, left)
        couple = np.zeros((len(q), len(self.couples.spread), 3))
        size = -self.stiffness * np.arcsin(sine) / np.sqrt(1.0 - sine**2)
        couple[:, body("thorax")] = size[:, None] * np.cross(up, left)
        couple[:, body("pelvis")] = -couple[:, body("thorax")]
        return self.couples.body_force(q, couple)


def printed_rule(model: Model, q: Array) -> Sequence[Force]:
    return [PrintedStrap.build(model, q)]


def back_spring(model: Model, q: Array) -> Sequence[Force]:
    return [BackSpring(model, Couples.build(model), SPINE)]


EXPERIMENTS: dict[str, tuple[Belt, Callable[[Model, Array], Sequence[Force]] | None]] = {
    "three-point belt": (belted, None),
    "one force on the torso, as printed": (lap_strap, printed_rule),
    "anchor as high as the shoulder": (anchored(ANCHORS["shoulder"] + (0.0, 0.0, HIGHER)), None),
    "anchor behind the shoulder": (anchored(ANCHORS["shoulder"] * (1, 0, 1) + (0.0, SHOULDER, 0.0)), None),
    f"back of {SPINE:g} N m/rad": (belted, back_spring),
    "two shoulder straps": (harness, None),
    "lap strap alone": (lap_strap, None),
}


def belts_case(folder: Path, who: str = STANDARD) -> Figures:
    """Simulate every experiment and print how the trunk turns and leans."""
    table = Table(
        *("sled, belt", "at 120 ms: turns, leans, bends forward [deg]", "largest turn, lean [deg]"),
        *("asymmetry [m]", "head [g]", "lap, others [kN]", "off: energy"),
    )
    found = {}
    for name, (belt, forces) in EXPERIMENTS.items():
        run = sled(PULSE, belt, who, forces=forces)
        one = found[name] = (
            figures(run, belt(run.motions["occupant"].model))
            | trunk_at(run, 0.12)
            | {"asymmetry": asymmetry(run, "occupant", MIDDLE)}
        )
        table.add_row(
            *(name, f"{one['turns']:.0f}, {one['leans']:.0f}, {one['bends']:.0f}"),
            *(f"{one['turn']:.0f}, {one['lean']:.0f}", f"{one['asymmetry']:.0e}", f"{one['peak']:.0f}"),
            *(
                ", ".join(f"{1e-3 * most:.1f}" for most in run.tension.max(axis=0)),
                f"{one['energy_off']:.0e}",
            ),
        )
    console.print(table)
    return found


def trunk_at(run: ContactSimulation, when: float) -> dict[str, float]:
    """How far the trunk has turned to the right, leans to the left and bends forward since the start [deg]."""
    turn, lean, bend = trunk_angles(run.motions["occupant"])
    k = int(np.searchsorted(run.time, when - 1e-9))
    return {"turns": float(turn[k]), "leans": float(lean[k]), "bends": float(bend[k] - bend[0])}
