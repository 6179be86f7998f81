"""A seated and belted occupant on a deceleration sled (Silva 2003, 4.2): run by `benchmarks.impact_cases`.

The sled comes with 20 km/h and stops. The source stops it by an energy absorber of which it gives no numbers, and shows
the results in figures: here a pulse of half a sine, and what the text says of the results.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from rich.table import Table
from scipy.optimize import least_squares

from benchmarks.contact import LINES
from benchmarks.timing import console
from musclesolve._util.arrays import Array
from musclesolve.dynamics.contact.belt import RigidSeat, sled_model, three_point_belt
from musclesolve.dynamics.contact.body_surfaces import body_surfaces
from musclesolve.dynamics.contact.contact_pairs import BodyStates, ContactPairs
from musclesolve.dynamics.forward.contact_simulation import ContactSimulation, Start, simulate_contact
from musclesolve.dynamics.forward.joint_resistance import JointResistance
from musclesolve.dynamics.forward.simulate import Simulation, half_sine
from musclesolve.dynamics.model.human_model import forward_human_model
from musclesolve.dynamics.model.model import Model
from musclesolve.motion.signals.injury_criteria import head_injury_criterion, severity_index

SPEED, PULSE = 20.0 / 3.6, 0.1
"""Of the sled [m/s]; how long it takes to stop [s]."""
FRAMES = np.linspace(0.0, 0.3, 1_501)
LEAN, THIGH = 20.0, 15.0
"""How far the trunk leans back and the thighs point up [deg]: chosen, the seated position is in a figure."""
FEET = 0.12
"""Share of the weight on the feet."""


def sled_case(folder: Path) -> None:
    """Simulate with and without belt, print and draw."""
    table = Table(
        "sled", "peak head [g]", "HIC 15 ms", "SI", "neck moment [N m]", "lap, shoulder [kN]", "hips move [m]"
    )
    table.add_column("seconds")
    table.add_column("imbalance / lost")
    for name, peak, is_belted in (
        ("belted", PULSE, True),
        ("belted, 50 ms", 0.5 * PULSE, True),
        ("unbelted", PULSE, False),
    ):
        begin = time.perf_counter()
        run = sled(peak, is_belted)
        seconds, balance = time.perf_counter() - begin, np.abs(run.imbalance).max() / run.lost[-1]
        table.add_row(name, *figures(run), f"{seconds:.1f}", f"{balance:.0e}")
        if name == "belted":
            draw(run, folder / "sled.png")
    table.add_row(
        "  printed", "no contact", "below tolerance", "", "in Figure 4.16", "", "stays in the seat", "", ""
    )
    console.print(table)


def seated(model: Model, seat: RigidSeat) -> Array:
    """Positions (N, 3) of an occupant who is held by pan, back and floor: no horizontal force, the weight carried."""
    sled, skins = sled_model(), body_surfaces(model, "occupant")
    surfaces = [*seat.surfaces(), *skins]
    models = {"sled": sled, "occupant": model}
    pairs = ContactPairs.build(models, surfaces, seat.pairs(skins))
    on_floor = np.array([name.startswith("sled floor") for name in pairs.names])
    weight, everywhere = model.mass.total * 9.80665, np.ones(len(pairs.laws), bool)
    standing = sled.standing

    def placed(guess: Array) -> Array:
        joints = {"hip_flexion": 90.0 + THIGH - LEAN, "knee_flexion": guess[2], "shoulder_flexion": 50.0}
        joints |= {"elbow_flexion": 55.0}
        angles = np.zeros((1, model.tree.joint_count))
        for name, degrees in joints.items():
            angles[0, [model.joint(f"{name}_{side}") for side in "rl"]] = np.radians(degrees)
        angles[0, model.joint("neck_flexion")] = np.radians(LEAN)
        c, s = np.cos(np.radians(-LEAN)), np.sin(np.radians(-LEAN))
        turned = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
        base = np.array([[guess[0], seat.attachment[1], guess[1]]])
        return model.tree.pose(angles, base, turned[None])[0]

    def missing(guess: Array) -> Array:
        q = placed(guess)
        states = BodyStates.of([sled, model], [(standing, 0.0 * standing), (q, 0.0 * q)])
        force = pairs.touch(states, np.zeros(len(everywhere)), everywhere).force
        feet, all_parts = force[on_floor].sum(axis=0), force.sum(axis=0)
        return np.array([all_parts[0], all_parts[2] - weight, feet[2] - FEET * weight]) / weight

    guess = np.array([seat.attachment[0] + 0.13, seat.attachment[2] + 0.16, 90.0])  # all parts overlap
    found = least_squares(missing, guess, x_scale=(0.01, 0.01, 3.0), xtol=1e-14, ftol=1e-14, gtol=1e-14)
    assert np.abs(found.fun).max() < 1e-6, found.message
    return placed(found.x)


def sled(duration: float = PULSE, is_belted: bool = True) -> ContactSimulation:
    """The sled stops within a duration [s], beginning at 20 ms."""
    model, base, seat = forward_human_model(), sled_model(), RigidSeat.printed()
    q, skins = seated(model, seat), body_surfaces(model, "occupant")
    pairs = ContactPairs.build(
        {"sled": base, "occupant": model}, [*seat.surfaces(), *skins], seat.pairs(skins)
    )
    states = {"sled": (base, base.standing.copy()), "occupant": (model, q)}
    moving = {name: 0.0 * place for name, (_, place) in states.items()}
    for name, (one, _) in states.items():
        moving[name][: one.topology.point_count, 0] = SPEED
    starts = {
        "sled": Start(
            base, base.standing, moving["sled"], pulse=half_sine(np.array([-SPEED, 0, 0]), duration, 0.02)
        ),
        "occupant": Start(model, q, moving["occupant"], [JointResistance.build(model)]),
    }
    belt = three_point_belt(model, "occupant") if is_belted else []
    return simulate_contact(starts, pairs, FRAMES, straps=belt)


def figures(run: ContactSimulation) -> list[str]:
    """Peak of the head, its criteria, resistance of the neck, tensions, and how far the hips move in the seat."""
    motion = run.motions["occupant"]
    model, head = motion.model, motion.model.body("head")
    weights = model.rigid_bodies.coordinates(model.mass.center)[head]
    parts = model.rigid_bodies.basic(motion.q, motion.qd, motion.qdd)[:, head]
    felt = np.einsum("k,tkx->tx", weights, parts)
    peak = np.linalg.norm(felt, axis=1).max() / 9.80665
    hips = motion.q[:, model.slot("hip_r"), 0] - run.motions["sled"].q[:, 0, 0]
    pull = [f"{1e-3 * most:.1f}" for most in run.tension.max(axis=0)]
    return [
        f"{peak:.1f}",
        f"{head_injury_criterion(run.time, felt, 0.015).value:.0f}",
        f"{severity_index(run.time, felt):.0f}",
        f"{np.linalg.norm(neck_moment(motion), axis=1).max():.0f}",
        ", ".join(pull) or "-",
        f"{np.ptp(hips):.2f}",
    ]


def neck_moment(motion: Simulation) -> Array:
    """Resistance (T, 3) [N m] of the joint of neck and torso: damping and limit together (3.2)."""
    resist, model = JointResistance.build(motion.model), motion.model
    numbers = [model.joint(f"neck_{name}") for name in ("flexion", "bending_right", "rotation_left")]
    damping = resist.moments(motion.q, motion.qd)[:, numbers]
    axes = model.tree.axes(motion.q)[:, numbers]
    limit = resist.cone_couples(motion.q)[:, model.body("neck")]
    return np.asarray(np.einsum("tk,tkx->tx", damping, axes) + limit)


def draw(run: ContactSimulation, file: Path) -> None:
    """Stick figures in the frame of the sled, from the side and from the front, with the planes of the seat."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    motion, frames = run.motions["occupant"], np.searchsorted(run.time, [0.0, 0.06, 0.09, 0.12, 0.18, 0.3])
    figure, panels = plt.subplots(2, len(frames), figsize=(18, 7), sharey=True)
    planes = [one for one in run.pairs.surfaces if one.is_plane]
    for column, k in zip(panels.T, np.minimum(frames, len(run.time) - 1), strict=True):
        where = dict(
            zip(
                motion.model.topology.coordinate_names, motion.q[k] - run.motions["sled"].q[k, 0], strict=True
            )
        )
        where["mid"] = 0.5 * (where["hip_r"] + where["hip_l"])
        for panel, across in zip(column, (0, 1), strict=True):
            for one, other in LINES:
                pair = np.array([where[one], where[other]])
                panel.plot(pair[:, across], pair[:, 2], color="tab:blue", linewidth=2)
            for one in planes if across == 0 else ():
                along = np.cross([0.0, 1.0, 0.0], one.axes[:, 2])
                line = one.center + np.outer([-0.5, 0.5], along)
                panel.plot(line[:, 0], line[:, 2], color="gray")
            panel.set(title=f"{run.time[k]:.2f} s", aspect="equal", ylim=(-0.2, 1.1))
            panel.set(xlim=(-0.9, 0.6) if across == 0 else (-0.1, 0.95))
    figure.savefig(file, dpi=80, bbox_inches="tight")
    plt.close(figure)
    console.print(f"picture: {file}")
