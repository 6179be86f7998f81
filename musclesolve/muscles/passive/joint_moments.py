"""Passive joint moments of the muscles of a set, compared with published measurements."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from muscle_db import MuscleDatabase
from musclesolve._util.arrays import Array
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.messages import check_known
from musclesolve.dynamics.kinematics.motion_derivatives import motion_from
from musclesolve.dynamics.model.human_model import human_model
from musclesolve.dynamics.model.model import Model
from musclesolve.muscles.muscle_state import ScaledState, muscle_state
from musclesolve.muscles.scaling.scale_muscles import ScaledMuscles, scale_muscles

SIDE = "r"


@dataclass(frozen=True, eq=False)
class PassiveMoments:
    """A measured sweep, and the passive moment (P,) [N m] of the muscles of a leg along it."""

    sweep: "Sweep"
    moment: Array

    @property
    def rms(self) -> float:
        """Root mean square difference from the published moments [N m]."""
        return float(np.sqrt(np.mean((self.moment - self.sweep.moment) ** 2)))


def passive_moments(
    database: MuscleDatabase, passive: str = "table", subject: Model | None = None
) -> list[PassiveMoments]:
    """Passive moments of the right leg of a subject along the published sweeps.

    Args:
        database: the muscle set.
        passive: rule for passive forces, see `passive_element`.
        subject: its model; the standard subject (1.70 m, 70.25 kg, male) unless given.
    """
    model = human_model() if subject is None else subject
    muscles = scale_muscles(model, database, SIDE, passive=passive)
    sweeps = published_sweeps()
    return [
        PassiveMoments(sweep, passive_moment(state, sweep.dof))
        for sweep, state in zip(sweeps, states_along(model, muscles, sweeps), strict=True)
    ]


def states_along(model: Model, muscles: ScaledMuscles, sweeps: "Sequence[Sweep]") -> list[ScaledState]:
    """The muscles of a leg at rest in the poses of each sweep, all other angles zero."""
    states = []
    for sweep in sweeps:
        coordinates = np.zeros((len(sweep.angle), len(model.topology.dof_names)))
        for dof, angle in sweep.angles().items():
            coordinates[:, model.dof(f"{dof}_{muscles.sides[0]}")] = angle
        still = np.zeros_like(coordinates)
        motion = motion_from(model, np.arange(len(sweep.angle), dtype=float), coordinates, still, still)
        states.append(muscle_state(model, muscles, motion))
    return states


def passive_moment(state: ScaledState, dof: str) -> Array:
    """Moment (T,) [N m] of all passive forces about a degree of freedom, without side: sum_i r_i F_i."""
    arm = state.moment_arm[:, state.muscles.dof_names.index(f"{dof}_{state.muscles.sides[0]}")]
    return np.asarray((arm * state.passive_force).sum(axis=1))


SAGITTAL = ("hip_flexion", "knee_flexion", "ankle_dorsiflexion")


@dataclass(frozen=True, eq=False)
class Sweep:
    """The measured passive moment of one degree of freedom over its angle at constant angles of the other joints.

    dof and the keys of fixed are without side; angle (P,) and fixed in degrees, moment (P,) [N m]: the internal one,
    positive in the direction of the degree of freedom.
    """

    dof: str
    fixed: Mapping[str, float]
    angle: Array
    moment: Array
    source: str

    def angles(self) -> dict[str, Array]:
        """Every sagittal angle (P,) [rad], by name without side."""
        moving = {self.dof: self.angle}
        return {
            dof: np.radians(moving.get(dof, self.fixed.get(dof, 0.0)) + 0.0 * self.angle) for dof in SAGITTAL
        }


def published_sweeps() -> tuple[Sweep, ...]:
    """Return the published passive moments with which muscle sets are compared.

    Hip and knee: the mean curves of Silder et al. (2007); ankle: the equation of Riener and Edrich (1999).
    """
    sweeps = []
    for study in bundled_toml(__package__, "published_moments.toml").values():
        for entry in study["sweep"]:
            angle = np.array(entry["angle"], dtype=float)
            sweep = Sweep(entry["dof"], entry["fixed"], angle, np.zeros_like(angle), study["source"])
            moment = entry.get("moment", riener_edrich_1999(sweep.dof, sweep.angles()))
            sweeps.append(Sweep(sweep.dof, sweep.fixed, angle, np.array(moment, dtype=float), sweep.source))
    return tuple(sweeps)


def riener_edrich_1999(dof: str, angles: Mapping[str, ArrayLike]) -> Array:
    """Passive moment [N m] of "hip_flexion", "knee_flexion" or "ankle_dorsiflexion" at angles [rad] of these names.

    M = sum_k s_k exp(c_k + sum_j a_kj theta_j) + offset, theta in degrees (Riener and Edrich 1999, J Biomech
    32:539-44).
    """
    check_known([dof], "degree of freedom", SAGITTAL)
    data = bundled_toml(__package__, "published_moments.toml")["riener_edrich_1999"][dof]
    degrees = {name: np.degrees(np.asarray(angle, dtype=float)) for name, angle in angles.items()}
    total = np.asarray(data["offset"], dtype=float)
    for term in data["terms"]:
        exponent = sum((term.get(name, 0.0) * angle for name, angle in degrees.items()), np.zeros(1))
        total = total + term["sign"] * np.exp(term["constant"] + exponent)
    return np.asarray(total)
