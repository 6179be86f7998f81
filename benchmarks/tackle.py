"""A standing man is tackled from in front (Silva 2003, 4.1): run by `benchmarks.impact_cases`.

A man of the 50th percentile is met at the level of his lower torso by a player of 75 kg at 3 m/s. Where the players
stand exactly, their poses, stiffness and friction are in figures or nowhere: chosen here, and varied by
`benchmarks.tackle_map`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from rich.table import Table

from benchmarks.chapter_4 import (
    SKIN,
    STANDARD,
    TWO_SKINS,
    Figures,
    HeadInjury,
    accelerations,
    described,
    imbalance,
    momentum_imbalance,
    subject,
)
from benchmarks.contact import FLOOR, bent_person
from benchmarks.impact_pictures import histories, sequence, write
from benchmarks.timing import console
from musclesolve._util.arrays import Array
from musclesolve.dynamics.contact.body_surfaces import body_laws, body_surfaces, pairs_with
from musclesolve.dynamics.contact.contact_pairs import BodyStates, ContactPairs, HertzContact
from musclesolve.dynamics.contact.surfaces import Surface
from musclesolve.dynamics.forward.contact_simulation import ContactSimulation, Start, simulate_contact
from musclesolve.dynamics.forward.joint_resistance import JointResistance
from musclesolve.dynamics.model.model import Model
from musclesolve.report.picture.save_picture import save_picture

FRAMES = np.linspace(0.0, 1.3, 5_201)
STRIKING = (
    "head",
    "upper_torso",
    "shoulder_r",
    "shoulder_l",
    "upper_arm_r",
    "upper_arm_l",
    "forearm_r",
    "forearm_l",
)
"""Parts of the player that can touch those of `STRUCK`: chosen, and it decides how the man falls (a run in which all
can touch is one of `RUNS`)."""
STRUCK = (
    "lower_torso",
    "upper_torso",
    "hip_r",
    "hip_l",
    "thigh_r",
    "thigh_l",
    "forearm_r",
    "forearm_l",
    "hand_r",
    "hand_l",
)
"""Parts of the man that the player can touch: not head, shoulders, upper arms, shanks and feet."""


@dataclass(frozen=True)
class Tackle:
    """How a man is tackled; the text has the mass and the speed of the player [kg, m/s], all else is chosen.

    offset: how far to the left of the man the player runs [m]; lean of his trunk and flexion of his knees [deg]; skin
    and head: factors on the stiffness of the body's contacts, the second on the stiffness of the head with the ground;
    friction with the ground, grip between the players; restitution e of (4.3); everything: all parts of one can touch
    all of the other, not only the parts of `STRUCK` and `STRIKING`.
    """

    offset: float = 0.0
    lean: float = 70.0
    crouch: float = 50.0
    skin: float = 1.0
    head: float = 1.0
    friction: float = 0.6
    grip: float = 0.5
    restitution: float = 0.5
    mass: float = 75.0
    player_speed: float = 3.0
    everything: bool = False


FRONTAL, OFFSET = Tackle(), Tackle(offset=-0.15)
RUNS = {
    "frontal": FRONTAL,
    "offset": OFFSET,
    "offset, head as on stone": replace(OFFSET, head=12.0),
    "offset, all parts touch": replace(OFFSET, everything=True),
}
PRINTED = {"frontal": ("0.63", "", "1.20", "", "", ""), "offset": ("0.63", "", "140", "2170", "873", "")}


def tackle_case(folder: Path, who: str = STANDARD) -> Figures:
    """Simulate all tackles, print and draw them."""
    heads = "head meets floor after [s]", "at [m/s]", "peak [g]", "SI", "HIC 15 ms", "HIC 36 ms"
    table = Table("tackle", *heads, "CPU [s]", "off: energy, momentum")
    found, runs = {}, {}
    for name, how in RUNS.items():
        begin = time.process_time()
        run = runs[name] = tackle(how, who)
        seconds = time.process_time() - begin
        one = found[name] = figures(run) | {"until": float(run.time[-1])}
        touch = (f"{one['touch']:.2f}", f"{one['speed']:.2f}") if one["blows"] else ("-", "-")
        row = (*touch, f"{one['peak']:.0f}", f"{one['severity']:.0f}")
        table.add_row(
            *(name, *row, f"{one['criterion_15']:.0f}", f"{one['criterion_36']:.0f}"),
            *(f"{seconds:.1f}", f"{one['energy_off']:.0e}, {one['momentum_off']:.0e}"),
        )
        if name in PRINTED:
            table.add_row("  printed", *PRINTED[name], "", "")
            save_picture(run, folder / f"tackle_{name}.html", title=f"Tackle, {name}")
            console.print(f"moving picture: {folder / f'tackle_{name}.html'}")
    console.print(table)
    write(folder, pictures(runs, who))
    return found


def tackle(how: Tackle, who: str = STANDARD, frames: Array = FRAMES) -> ContactSimulation:
    """The struck man stands upright and sees the other come, who runs at him with his trunk bent forward."""
    man, player = subject(who), subject(who, how.mass)
    upright = bent_person(man, {"knee_flexion": 3.0, "hip_flexion": 1.5}, 0.0)
    bent = bent_person(
        player,
        {
            "knee_flexion": how.crouch,
            "hip_flexion": how.lean + 15.0,
            "shoulder_flexion": 90.0,
            "elbow_flexion": 40.0,
        },
        how.lean,
    )
    surfaces = {name: body_surfaces(model, name) for name, model in (("man", man), ("player", player))}
    chosen: dict = {}
    for name, skins in surfaces.items():
        laws = body_laws(skins, friction=how.friction, restitution=how.restitution)
        for skin, law in laws.items():
            factor = how.head if skin == f"{name} head" else how.skin
            laws[skin] = replace(law, stiffness=factor * law.stiffness)
        chosen |= pairs_with(FLOOR, skins, laws)
    flesh = HertzContact(
        how.skin * TWO_SKINS, restitution=how.restitution, friction=how.grip, slip_speed=0.05
    )
    touching = [(one, two) for one in STRUCK for two in STRIKING]
    if how.everything:
        parts = [skin.name.removeprefix("man ") for skin in surfaces["man"]]
        touching = list(product(parts, parts))
    chosen |= {(f"man {one}", f"player {two}"): flesh for one, two in touching}
    models = {"man": man, "player": player}
    pairs = ContactPairs.build(models, [FLOOR, *surfaces["man"], *surfaces["player"]], chosen)
    place(man, upright, (0.0, 0.0), surfaces["man"])
    bent *= (-1.0, -1.0, 1.0)  # half a turn about the vertical
    place(player, bent, (1.5, how.offset), surfaces["player"])
    states = [(upright, 0.0 * upright), (bent, 0.0 * bent)]
    between = np.array([not each.startswith("floor") for each in pairs.names])
    while (gap := pairs.gaps(BodyStates.from_models([man, player], states))[between].min()) > 1e-3:
        bent[: player.topology.point_count, 0] -= 0.9 * gap
    running = 0.0 * bent
    running[: player.topology.point_count, 0] = -how.player_speed
    starts = {
        "man": Start(man, upright, 0.0 * upright, [JointResistance.build(man)]),
        "player": Start(player, bent, running, [JointResistance.build(player)]),
    }
    return simulate_contact(starts, pairs, frames)


def place(model: Model, q: Array, at: tuple[float, float], skins: list[Surface]) -> None:
    """Move a person so that the hips are above a place and the lowest surface is one millimeter above the floor."""
    skins = [replace(skin, model="") for skin in skins]
    alone = ContactPairs.build({"one": model}, [FLOOR, *skins], pairs_with(FLOOR, skins, HertzContact(SKIN)))
    gap = alone.gaps(BodyStates.from_models([model], [(q, 0.0 * q)])).min()
    q[: model.topology.point_count] += np.array([*at, 0.001 - gap])


def figures(run: ContactSimulation) -> dict[str, float]:
    """When and how fast the head meets the floor first (NaN if never), how often, its injury; energy and momentum."""
    hits = [event for event in run.events if event.begins and event.pair == "floor and man head"]
    injury = HeadInjury.from_run(run, "man")
    return {
        "touch": hits[0].time if hits else float("nan"),
        "speed": hits[0].speed if hits else float("nan"),
        "blows": float(len(hits)),
        **vars(injury),
        "energy_off": imbalance(run),
        "momentum_off": momentum_imbalance(run, ["man", "player"]),
    }


def pictures(runs: dict[str, ContactSimulation], who: str) -> dict[str, Figure]:
    """Figures 4.6 to 4.8: motion of both tackles, forward acceleration of the head, force on the right shoulder."""
    both = {name: runs[name] for name in ("frontal", "offset")}
    drawn = {}
    for letter, (name, run) in zip("ab", both.items(), strict=True):
        drawn[f"4.6{letter}"] = sequence(
            run,
            (0.0, 0.25, 0.5, 0.75, 1.0),
            {"side": None, "front": None},
            title=f"Tackle, {name}",
            about=about(RUNS[name], who),
        )
    drawn["4.7"] = histories(
        "Acceleration of head and neck of the tackled man",
        {
            f"({letter}) {name}": ("[g]", accelerations(run, "man"))
            for letter, (name, run) in zip("ab", both.items(), strict=True)
        },
        about(FRONTAL, who, OFFSET),
    )
    offset = runs["offset"]
    shoulders = {
        side: (offset.time, np.linalg.norm(offset.force_on(f"man shoulder_{side[0]}"), axis=1))
        for side in ("right", "left")
    }
    drawn["4.8"] = histories(
        "Offset tackle, force of the ground on the shoulders", {"": ("[N]", shoulders)}, about(OFFSET, who)
    )
    return drawn


def about(how: Tackle, who: str, *others: Tackle) -> str:
    """Subject and chosen values of a tackle, and the offsets of others; two lines."""
    offsets = " and ".join(f"{one.offset:g}" for one in (how, *others))
    return (
        f"{described(who)}; player of {how.mass:g} kg at {how.player_speed:g} m/s; chosen: offset {offsets} m, "
        f"his trunk leans by {how.lean:g} deg, knees bent by {how.crouch:g} deg,\n"
        f"skin {how.skin * SKIN:.2g} N/m^1.5, friction with the ground {how.friction:g}, between the players "
        f"{how.grip:g}, restitution {how.restitution:g}, which parts of the players can touch"
    )
