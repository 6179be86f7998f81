"""A standing man is tackled from in front (Silva 2003, 4.1): run by `benchmarks.impact_cases`.

A man of the 50th percentile is met at the level of his lower torso by a player of 75 kg at 3 m/s. Where the players
stand exactly, their poses, stiffness and friction are in figures or nowhere: chosen here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from benchmarks.chapter_4 import (
    FLOOR,
    SKIN,
    STANDARD,
    TWO_SKINS,
    Figures,
    HeadInjury,
    bent_person,
    imbalance,
    momentum_imbalance,
    subject,
)
from musclesolve._util.arrays import Array
from musclesolve.dynamics import (
    ContactPairs,
    HertzContact,
    JointResistance,
    Model,
    Start,
    body_laws,
    body_surfaces,
    simulate_contact,
)
from musclesolve.dynamics.contact.contact_pairs import BodyStates
from musclesolve.dynamics.contact.surfaces import Surface
from musclesolve.dynamics.forward.contact_simulation import ContactSimulation

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


def tackle_case(who: str = STANDARD) -> tuple[Figures, dict[str, ContactSimulation]]:
    """All tackles, and the two of the text to draw."""
    runs = {name: tackle(how, who) for name, how in RUNS.items()}
    found = {name: figures(run) | {"until": float(run.time[-1])} for name, run in runs.items()}
    return found, {f"tackle_{name}": runs[name] for name in ("frontal", "offset")}


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
        chosen |= FLOOR.pairs_with(skins, laws)
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
    alone = ContactPairs.build({"one": model}, [FLOOR, *skins], FLOOR.pairs_with(skins, HertzContact(SKIN)))
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
