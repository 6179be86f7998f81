"""The man and the measures of his head that all cases of chapter 4 of Silva (2003) share.

The text speaks of "the standard 50th percentile human male": the man of 81.52 kg of Tables 3.2 and 3.3. His stature is
not printed; 1.761 m is the height at which every length of the model is the length of Table 3.2. Some of the printed
moments of inertia belong to no distribution of mass (correction C2); a rigid body can move with them all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.integrate import cumulative_trapezoid

from benchmarks.printed_inertia import printed_human
from musclesolve._util.arrays import Array
from musclesolve._util.messages import unknown_name
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.dynamics import Model, Surface, forward_human_model, human_model
from musclesolve.dynamics.contact.belt import Strap, Straps
from musclesolve.dynamics.contact.contact_pairs import BodyStates
from musclesolve.dynamics.forward.contact_simulation import ContactSimulation
from musclesolve.dynamics.forward.simulate import Simulation, momentum
from musclesolve.dynamics.rotations import rotation_about
from musclesolve.signals import head_injury_criterion, severity_index

MASS, STATURE = 81.52, 1.761
"""Of the 50th percentile man [kg, m]."""

SUBJECTS: dict[str, tuple[Callable[..., Model], float, float]] = {
    "printed": (printed_human, MASS, STATURE),
    "de_leva": (human_model, MASS, STATURE),
    "reference": (human_model, 70.25, 1.70),
}
"""Table of inertia, mass [kg] and stature [m]: the man of the text with the masses, centers and moments of Table 3.8
(which makes up Table 3.2), the same man with those of de Leva (1996), and the package's default subject."""
STANDARD = "printed"

SKIN = 3.5e5
"""Stiffness of the skin on a hard ground [N/m^1.5], as in `forward_surfaces.toml`."""
TWO_SKINS = SKIN / 2.0**1.5
"""Of two skins one behind the other: each gives half of the depth [N/m^1.5]."""
FLOOR = Surface.plane("floor", (0, 0, 0), (0, 0, 1))

Figures = dict[str, dict[str, float]]
"""What the runs of a case give: name of the run -> name of the quantity -> value."""
Case = Callable[[str], tuple[Figures, dict[str, ContactSimulation]]]
"""A case: simulates its runs with a subject; their numbers, and the runs of which moving pictures are made."""


def subject(name: str = STANDARD, mass: float | None = None) -> Model:
    """The forward model of one of `SUBJECTS`; mass [kg]: instead of its own, all segments scaled alike.

    Raises:
        InputError: a name that is not one of them.
    """
    if name not in SUBJECTS:
        raise unknown_name(name, "subject", SUBJECTS)
    table, own, stature = SUBJECTS[name]
    return forward_human_model(table(own if mass is None else mass, stature))


def bent_person(model: Model, angles: dict[str, float], lean: float) -> Array:
    """Positions (N, 3) with joint angles [deg], both sides alike, leaning forward [deg]; the hips at the origin."""
    joints = np.zeros((1, model.tree.joint_count))
    for name, degrees in angles.items():
        joints[0, [model.joint(f"{name}_{side}") for side in "rl"]] = np.radians(degrees)
    return model.tree.pose(joints, np.zeros((1, 3)), leaning(lean)[None])[0]


def leaning(degrees: float) -> Array:
    """Rotation (3, 3) of a trunk that leans forward [deg]."""
    return rotation_about(np.array([0.0, 1.0, 0.0]), np.radians([degrees]))[0]


def center_acceleration(motion: Simulation, body: str) -> Array:
    """Acceleration (T, 3) [m/s2] of a body's center of mass."""
    model, number = motion.model, motion.model.body(body)
    weights = model.rigid_bodies.coordinates(model.mass.center)[number]
    parts = model.rigid_bodies.basic(motion.q, motion.qd, motion.qdd)[:, number]
    return np.einsum("k,tkx->tx", weights, parts)


@dataclass(frozen=True)
class HeadInjury:
    """Peak acceleration [g] of a head's center of mass, severity index, and head injury criteria of windows of 15 ms (a
    head that hits something) and 36 ms (one that does not) (4.1.3).
    """

    peak: float
    severity: float
    criterion_15: float
    criterion_36: float

    @classmethod
    def from_run(cls, run: ContactSimulation, who: str) -> HeadInjury:
        """The whole motion of one person."""
        felt = center_acceleration(run.motions[who], "head")
        return cls(
            float(np.linalg.norm(felt, axis=1).max() / STANDARD_GRAVITY),
            severity_index(run.time, felt),
            head_injury_criterion(run.time, felt, 0.015).value,
            head_injury_criterion(run.time, felt, 0.036).value,
        )


def imbalance(run: ContactSimulation) -> float:
    """The largest energy that appeared from nowhere, over all that was lost."""
    return float(np.abs(run.imbalance).max() / run.lost[-1])


def momentum_imbalance(run: ContactSimulation, models: Sequence[str], straps: Sequence[Strap] = ()) -> float:
    """The largest difference between the momentum that models have gained together and the impulse of what acts on them
    from outside (weight, contacts with others, straps), over the largest impulse without the weight.

    The impulse is summed over the frames, so the sampling of the forces is part of the difference.
    """
    theirs = np.array([surface.model in models for surface in run.pairs.surfaces], float)
    force = np.einsum("p,tpx->tx", theirs[run.pairs.second] - theirs[run.pairs.first], run.force)
    if straps:
        bodies = [name for name, names in run.pairs.models.items() for _ in names]
        inside = np.array([name in models for name in (*bodies, "")])
        at_rest = straps_of(run, straps)
        for k in range(len(run.time)):
            pull = at_rest.pull(states_at(run, k).motions)
            force[k] += pull.force[inside[at_rest.body]].sum(axis=0)
    gained, weight = np.zeros((len(run.time), 3)), np.zeros(3)
    for name in models:
        motion = run.motions[name]
        gained += momentum(motion.model, motion.q, motion.qd)[0]
        weight += motion.model.mass.total * motion.model.gravity
    impulse = cumulative_trapezoid(force, run.time, axis=0, initial=0.0)
    off = gained - gained[0] - impulse - run.time[:, None] * weight
    return float(np.abs(off).max() / np.abs(impulse).max())


def straps_of(run: ContactSimulation, straps: Sequence[Strap]) -> Straps:
    """The straps of a simulation as they lie in its first frame."""
    models = {name: motion.model for name, motion in run.motions.items()}
    return Straps.build(models, straps, states_at(run, 0).motions)


def states_at(run: ContactSimulation, frame: int) -> BodyStates:
    """All bodies of a simulation in one of its frames."""
    motions = list(run.motions.values())
    return BodyStates.from_models(
        [motion.model for motion in motions], [(motion.q[frame], motion.qd[frame]) for motion in motions]
    )
