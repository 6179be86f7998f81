"""A seated and belted occupant on a deceleration sled (Silva 2003, 4.2): run by `benchmarks.impact_cases`.

The sled comes with 20 km/h and stops. The source stops it by an energy absorber of which it gives no numbers, and shows
the results in figures: here a pulse of half a sine, and what the text says of the results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy.optimize import least_squares

from benchmarks.chapter_4 import (
    STANDARD,
    Figures,
    HeadInjury,
    imbalance,
    leaning,
    momentum_imbalance,
    subject,
)
from musclesolve._util.arrays import Array
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.dynamics import (
    ContactPairs,
    JointResistance,
    Model,
    RigidSeat,
    Start,
    body_surfaces,
    half_sine,
    simulate_contact,
    three_point_belt,
)
from musclesolve.dynamics.contact.belt import Strap
from musclesolve.dynamics.contact.contact_pairs import BodyStates
from musclesolve.dynamics.forward.contact_simulation import ContactSimulation
from musclesolve.dynamics.forward.simulate import Simulation

SPEED, PULSE, BEGIN = 20.0 / 3.6, 0.1, 0.02
"""Of the sled [m/s]; how long it takes to stop, and from when on [s]."""
FRAMES = np.linspace(0.0, 0.3, 1_501)
LEAN, THIGH = 20.0, 15.0
"""How far the trunk leans back and the thighs point up [deg]: chosen, the seated position is in a figure."""
FEET = 0.12
"""Share of the weight on the feet."""

Belt = Callable[[Model], Sequence[Strap]]
"""The straps of an occupant."""


def belted(model: Model) -> list[Strap]:
    """The printed belt."""
    return three_point_belt(model, "occupant")


def unbelted(model: Model) -> list[Strap]:
    """No belt."""
    return []


RUNS: dict[str, tuple[float, Belt]] = {
    "belted": (PULSE, belted),
    "belted, 50 ms": (0.5 * PULSE, belted),
    "unbelted": (PULSE, unbelted),
}
"""Duration of the pulse [s], and the belt."""


def sled_case(who: str = STANDARD) -> tuple[Figures, dict[str, ContactSimulation]]:
    """With and without belt; the printed belt to draw."""
    runs = {name: sled(duration, belt, who) for name, (duration, belt) in RUNS.items()}
    found = {name: figures(run, RUNS[name][1](run.motions["occupant"].model)) for name, run in runs.items()}
    return found, {"sled_belted": runs["belted"]}


def seated(model: Model, seat: RigidSeat, bent: Mapping[str, float] | None = None) -> Array:
    """Positions (N, 3) of an occupant who is held by pan, back and floor: no horizontal force, the weight carried.

    bent: angles [deg] of degrees of freedom that differ from the sled's occupant.
    """
    sled, skins = RigidSeat.sled(), body_surfaces(model, "occupant")
    surfaces = [*seat.surfaces(), *skins]
    models = {"sled": sled, "occupant": model}
    pairs = ContactPairs.build(models, surfaces, seat.pairs(skins))
    on_floor = np.array([name.startswith("sled floor") for name in pairs.names])
    weight, everywhere = model.mass.total * STANDARD_GRAVITY, np.ones(len(pairs.laws), bool)
    standing = sled.standing

    def placed(guess: Array) -> Array:
        joints = {"hip_flexion": 90.0 + THIGH - LEAN, "knee_flexion": guess[2], "shoulder_flexion": 50.0}
        joints |= {"elbow_flexion": 55.0}
        angles = np.zeros((1, model.tree.joint_count))
        for name, degrees in joints.items():
            angles[0, [model.joint(f"{name}_{side}") for side in "rl"]] = np.radians(degrees)
        angles[0, model.joint("neck_flexion")] = np.radians(LEAN)
        for name, degrees in (bent or {}).items():
            angles[0, model.joint(name)] = np.radians(degrees)
        base = np.array([[guess[0], seat.attachment[1], guess[1]]])
        return model.tree.pose(angles, base, leaning(-LEAN)[None])[0]

    def missing(guess: Array) -> Array:
        q = placed(guess)
        states = BodyStates.from_models([sled, model], [(standing, 0.0 * standing), (q, 0.0 * q)])
        force = pairs.touch(states, np.zeros(len(everywhere)), everywhere).force
        feet, all_parts = force[on_floor].sum(axis=0), force.sum(axis=0)
        return np.array([all_parts[0], all_parts[2] - weight, feet[2] - FEET * weight]) / weight

    guess = np.array([seat.attachment[0] + 0.13, seat.attachment[2] + 0.16, 90.0])  # all parts overlap
    found = least_squares(missing, guess, x_scale=(0.01, 0.01, 3.0), xtol=1e-14, ftol=1e-14, gtol=1e-14)
    assert np.abs(found.fun).max() < 1e-6, found.message
    return placed(found.x)


def sled(
    duration: float = PULSE,
    belt: Belt = belted,
    who: str = STANDARD,
    frames: Array = FRAMES,
) -> ContactSimulation:
    """The sled stops within a duration [s]."""
    model, base, seat = subject(who), RigidSeat.sled(), RigidSeat.printed()
    q, skins = seated(model, seat), body_surfaces(model, "occupant")
    pairs = ContactPairs.build(
        {"sled": base, "occupant": model}, [*seat.surfaces(), *skins], seat.pairs(skins)
    )
    moving = {"sled": 0.0 * base.standing, "occupant": 0.0 * q}
    for name, one in (("sled", base), ("occupant", model)):
        moving[name][: one.topology.point_count, 0] = SPEED
    pulse = half_sine(np.array([-SPEED, 0.0, 0.0]), duration, BEGIN)
    starts = {
        "sled": Start(base, base.standing, moving["sled"], pulse=pulse),
        "occupant": Start(model, q, moving["occupant"], [JointResistance.build(model)]),
    }
    return simulate_contact(starts, pairs, frames, straps=belt(model))


def figures(run: ContactSimulation, straps: Sequence[Strap]) -> dict[str, float]:
    """Injury of the head, resistance of the neck and its limiting part [N m], tensions [kN], how far the hips move in
    the seat [m], the largest turn and lean of the trunk [deg]; energy and momentum.
    """
    motion = run.motions["occupant"]
    hips = motion.q[:, motion.model.slot("hip_r"), 0] - run.motions["sled"].q[:, 0, 0]
    damping, limit = neck_moment(motion)
    turn, lean, _ = trunk_angles(motion)
    pull = 1e-3 * run.tension.max(axis=0)
    return {
        **vars(HeadInjury.from_run(run, "occupant")),
        "neck": float(np.linalg.norm(damping + limit, axis=1).max()),
        "neck_limit": float(np.linalg.norm(limit, axis=1).max()),
        **{name: float(most) for name, most in zip(("lap", "shoulder"), pull, strict=False)},
        "hips": float(np.ptp(hips)),
        "energy_off": imbalance(run),
        "momentum_off": momentum_imbalance(run, ["occupant"], straps),
        "turn": float(np.abs(turn).max()),
        "lean": float(np.abs(lean).max()),
    }


def neck_moment(motion: Simulation) -> tuple[Array, Array]:
    """Resistance of the joint of neck and torso, (T, 3) each [N m]: damping, and limit of the motion (3.2)."""
    resist, model = JointResistance.build(motion.model), motion.model
    numbers = [model.joint(f"neck_{name}") for name in ("flexion", "bending_right", "rotation_left")]
    damping = -resist.damping[numbers] * resist.couples.rates(motion.q, motion.qd)[:, numbers]
    axes = model.tree.axes(motion.q)[:, numbers]
    cones = replace(
        resist, damping=0.0 * resist.damping, stops=resist.stops._make(part[:0] for part in resist.stops)
    )
    limit = cones.loads(motion.q, motion.qd)[1][:, model.body("neck"), :3]
    return np.einsum("tk,tkx->tx", damping, axes), limit


def trunk_angles(motion: Simulation) -> tuple[Array, Array, Array]:
    """How far the shoulders have turned to the right about the vertical, and the upper torso leans to the left and
    forward (T,) [deg].
    """
    right, left, low, high = (
        motion.q[:, motion.model.slot(name)] for name in ("shoulder_r", "shoulder_l", "back", "neck_base")
    )
    across, trunk = left - right, high - low
    turn = np.degrees(np.arctan2(across[:, 0], across[:, 1]))
    lean = np.degrees(np.arcsin(trunk[:, 1] / np.linalg.norm(trunk, axis=1)))
    return turn, lean, np.degrees(np.arctan2(trunk[:, 0], trunk[:, 2]))
