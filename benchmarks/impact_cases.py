"""Application cases of chapter 4 of Silva (2003): tackles (4.1), a belted occupant on a sled (4.2), a rollover (4.3).

    python -m benchmarks.impact_cases [FOLDER]

A standing man of the 50th percentile is met at the level of his lower torso by a player of 75 kg at 3 m/s. Where the
players stand exactly, their poses, stiffness and friction are in figures or nowhere: chosen here. Stick figures and
moving pictures of both go to the folder (the working one unless given).
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.table import Table

from benchmarks.contact import FLOOR, LINES, bent_person
from benchmarks.rollover import rollover_case
from benchmarks.sled import sled_case
from benchmarks.timing import console
from musclesolve._util.arrays import Array
from musclesolve.dynamics.contact.body_surfaces import body_laws, body_surfaces, pairs_with
from musclesolve.dynamics.contact.contact_pairs import BodyStates, ContactPairs, HertzContact
from musclesolve.dynamics.forward.contact_simulation import ContactSimulation, Start, simulate_contact
from musclesolve.dynamics.forward.joint_resistance import JointResistance
from musclesolve.dynamics.model.human_model import forward_human_model, human_model
from musclesolve.dynamics.model.model import Model
from musclesolve.motion.signals.injury_criteria import head_injury_criterion, severity_index
from musclesolve.report.picture.save_picture import save_picture

SPEED, OFFSET = 3.0, 0.15
"""Of the incoming player [m/s]; how far to the side he runs in the offset case [m]."""
FRAMES = np.linspace(0.0, 1.3, 2_601)
BODY = HertzContact(1.24e5, friction=0.5, slip_speed=0.05)
"""Between two bodies: two skins of 3.5e5 N/m^1.5, one behind the other, 3.5e5 / 2^1.5."""
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
HARD = 12.0
"""How much stiffer the head's contact is in the last case."""
REASONS = (
    "Why these differ from the print: the poses at the first touch, the offset, stiffness and friction are in figures "
    "or nowhere, and a fall with a hundred contacts hangs on them. 1.20 g cannot be the peak of a head that hits the "
    "ground, which the text says of both cases: very likely 120 g."
)
PRINTED = {"frontal": ("1.20 g", "", ""), "offset": ("140 g", "2170", "873")}


def main() -> None:
    """Simulate all, print and draw them."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path()
    folder.mkdir(parents=True, exist_ok=True)
    table = Table("tackle", "head meets floor after [s]", "at [m/s]", "peak [g]", "SI", "HIC 15 ms")
    table.add_column("seconds")
    table.add_column("imbalance / lost")
    cases = (("frontal", 0.0, 1.0), ("offset", OFFSET, 1.0), ("offset, head as on stone", OFFSET, HARD))
    for name, offset, harder in cases:
        begin = time.perf_counter()
        run = tackle(offset, harder)
        seconds, balance = time.perf_counter() - begin, np.abs(run.imbalance).max() / run.lost[-1]
        table.add_row(name, *figures(run), f"{seconds:.1f}", f"{balance:.0e}")
        if name in PRINTED:
            peak, severity, criterion = PRINTED[name]
            table.add_row("  printed", "0.63", "", peak, severity, criterion)
            draw(run, folder / f"tackle_{name}.png")
            save_picture(run, folder / f"tackle_{name}.html", title=f"Tackle, {name}")
            console.print(f"moving picture: {folder / f'tackle_{name}.html'}")
    console.print(table)
    console.print(REASONS)
    sled_case(folder)
    rollover_case()


def tackle(offset: float, harder: float = 1.0) -> ContactSimulation:
    """The struck man stands upright and sees the other come, who runs at him with his trunk bent forward."""
    man, player = forward_human_model(), forward_human_model(human_model(mass=75.0))
    upright = bent_person(man, {"knee_flexion": 3.0, "hip_flexion": 1.5}, 0.0)
    bent = bent_person(
        player,
        {"knee_flexion": 50.0, "hip_flexion": 85.0, "shoulder_flexion": 90.0, "elbow_flexion": 40.0},
        70.0,
    )
    surfaces = {name: body_surfaces(model, name) for name, model in (("man", man), ("player", player))}
    chosen: dict = {}
    for skins in surfaces.values():
        laws = body_laws(skins, friction=0.6)
        head = next(name for name in laws if name.endswith("head"))
        laws[head] = replace(laws[head], stiffness=harder * laws[head].stiffness)
        chosen |= pairs_with(FLOOR, skins, laws)
    chosen |= {(f"man {one}", f"player {two}"): BODY for one in STRUCK for two in STRIKING}
    models = {"man": man, "player": player}
    pairs = ContactPairs.build(models, [FLOOR, *surfaces["man"], *surfaces["player"]], chosen)
    place(man, upright, (0.0, 0.0), surfaces["man"])
    bent *= (-1.0, -1.0, 1.0)  # half a turn about the vertical
    place(player, bent, (1.5, offset), surfaces["player"])
    states = [(upright, 0.0 * upright), (bent, 0.0 * bent)]
    between = np.array([not each.startswith("floor") for each in pairs.names])
    while (gap := pairs.gaps(BodyStates.of([man, player], states))[between].min()) > 1e-3:
        bent[: player.topology.point_count, 0] -= 0.9 * gap
    running = 0.0 * bent
    running[: player.topology.point_count, 0] = -SPEED
    starts = {
        "man": Start(man, upright, 0.0 * upright, [JointResistance.build(man)]),
        "player": Start(player, bent, running, [JointResistance.build(player)]),
    }
    return simulate_contact(starts, pairs, FRAMES)


def place(model: Model, q: Array, at: tuple[float, float], skins: list) -> None:
    """Move a person so that the hips are above a place and the lowest surface is one millimeter above the floor."""
    skins = [skin.__class__(**{**skin.__dict__, "model": ""}) for skin in skins]
    alone = ContactPairs.build({"one": model}, [FLOOR, *skins], pairs_with(FLOOR, skins, BODY))
    gap = alone.gaps(BodyStates.of([model], [(q, 0.0 * q)])).min()
    q[: model.topology.point_count] += np.array([*at, 0.001 - gap])


def head_acceleration(run: ContactSimulation) -> Array:
    """Acceleration (T, 3) of the head's center of mass of the struck man, without gravity [m/s2]."""
    motion = run.motions["man"]
    model, head = motion.model, motion.model.body("head")
    weights = model.rigid_bodies.coordinates(model.mass.center)[head]
    parts = model.rigid_bodies.basic(motion.q, motion.qd, motion.qdd)[:, head]
    return np.einsum("k,tkx->tx", weights, parts)


def figures(run: ContactSimulation) -> list[str]:
    """When and how fast the head meets the floor, its peak acceleration, severity index and head injury criterion."""
    hits = [event for event in run.events if event.begins and event.pair == "floor and man head"]
    when = [f"{hits[0].time:.2f}", f"{hits[0].speed:.2f}"] if hits else ["-", "-"]
    head = head_acceleration(run)
    peak = np.linalg.norm(head, axis=1).max() / 9.80665
    criterion = head_injury_criterion(run.time, head, 0.015)
    return [*when, f"{peak:.0f}", f"{severity_index(run.time, head):.0f}", f"{criterion.value:.0f}"]


def draw(run: ContactSimulation, file: Path) -> None:
    """Stick figures from the side and from behind."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(2, 6, figsize=(15, 7), sharey=True)
    for column, k in zip(panels.T, np.linspace(0, len(run.time) - 1, 6).astype(int), strict=True):
        for panel, across in zip(column, (0, 1), strict=True):
            for motion, color in zip(run.motions.values(), ("tab:blue", "tab:red"), strict=True):
                where = dict(zip(motion.model.topology.coordinate_names, motion.q[k], strict=True))
                where["mid"] = 0.5 * (where["hip_r"] + where["hip_l"])
                for one, other in LINES:
                    pair = np.array([where[one], where[other]])
                    panel.plot(pair[:, across], pair[:, 2], color=color, linewidth=2)
            panel.axhline(0.0, color="gray")
            panel.set(title=f"{run.time[k]:.2f} s", aspect="equal", ylim=(-0.1, 1.9))
            panel.set(xlim=(-2.2, 1.3) if across == 0 else (-1.2, 1.2))
    figure.savefig(file, dpi=80, bbox_inches="tight")
    plt.close(figure)
    console.print(f"picture: {file}")


if __name__ == "__main__":
    main()
