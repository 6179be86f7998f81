"""Calibrate the passive strains of a muscle set to measured passive joint moments, and write them into its file.

    python tools/calibrate_passive.py FILE.toml

The strain at one norm force of each group of muscles below, and the strain at which its passive force begins, are those
with which the passive moments of hip, knee and ankle of the standard subject are nearest to the published ones
(musclesolve/muscles/passive/published_moments.toml), in the sense of soft least squares: large differences, as at the
ends of the ranges, count less than their squares. Strains stay within limits, and near the strains of the curves unless
the moments say otherwise. Muscles of no group keep their own: none of the published moments shows them.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.optimize import least_squares

import muscle_db
from muscle_db.model import LEG_DOFS, CalibratedPassive, MuscleDatabase, PassiveStrain
from muscle_db.toml_text import calibrated_lines
from musclesolve.dynamics.model.human_model import human_model
from musclesolve.muscles.muscle_state import MuscleState
from musclesolve.muscles.passive.joint_moments import passive_moments, published_sweeps, states_along
from musclesolve.muscles.scaling.scale_muscles import scale_muscles

GROUPS = {
    "iliopsoas": ("iliacus", "psoas"),
    "rectus femoris": ("rectus_femoris",),
    "other hip flexors": (
        "sartorius",
        "tensor_fasciae_latae",
        "pectineus",
        "adductor_longus",
        "adductor_brevis",
    ),
    "hip extensors": ("gluteus_maximus", "adductor_magnus"),
    "hip abductors": ("gluteus_medius", "gluteus_minimus", "piriformis"),
    "hamstrings": ("semitendinosus", "semimembranosus", "biceps_femoris_long_head"),
    "short knee flexors": ("biceps_femoris_short_head", "gracilis"),
    "vasti": ("vastus",),
    "gastrocnemii": ("gastrocnemius",),
    "soleus": ("soleus",),
    "other plantarflexors": (
        *("tibialis_posterior", "flexor_digitorum_longus", "flexor_hallucis_longus"),
        *("peroneus_longus", "peroneus_brevis"),
    ),
    "dorsiflexors": (
        "tibialis_anterior",
        "extensor_digitorum_longus",
        "extensor_hallucis_longus",
        "peroneus_tertius",
    ),
}
AT_ZERO, AT_ONE, LEAST_SPAN = (-0.2, 0.4), (0.4, 1.2), 0.3
SOFT = 5.0  # [N m] differences beyond it count less than their squares
HELD = 0.1  # change of a strain that weighs as much as 1 N m
TOO_NEAR = 0.001  # what the strains of a group lack in `LEAST_SPAN` that weighs as much


def groups_of(database: MuscleDatabase) -> np.ndarray:
    """Number of the group of each muscle (n,); -1: of none."""

    def number(name: str) -> int:
        for k, members in enumerate(GROUPS.values()):
            if any(name == member or name.startswith(f"{member}_") for member in members):
                return k
        return -1

    return np.array([number(muscle.name) for muscle in database])


class Fit:
    """The moments of a set on the standard subject, as functions of the strains of its groups."""

    def __init__(self, database: MuscleDatabase) -> None:
        model = human_model()
        self.group = groups_of(database)
        self.muscles = scale_muscles(model, database, "r", passive="table")
        self.sweeps = published_sweeps()
        self.states = states_along(model, self.muscles, self.sweeps)
        self.start = np.repeat(self.muscles.parameters.families[0][0].passive_strain, len(GROUPS))

    def strains(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Strains at zero and at one norm force of every muscle, from the strains of the groups."""
        zero, one = values.reshape(2, -1)
        own, among = self.muscles.parameters.passive, self.group >= 0
        at_zero = np.where(among, zero[self.group], own.at_zero)
        return at_zero, np.where(among, one[self.group], own.at_one)

    def moment(self, state: MuscleState, dof: str, values: np.ndarray) -> np.ndarray:
        """Passive moment along a sweep."""
        zero, one = self.strains(values)
        parameters = self.muscles.parameters
        changed = replace(parameters, passive=parameters.passive._replace(at_zero=zero, at_one=one))
        force = changed.forces(changed.fibers(state.musculotendon_length, state.musculotendon_velocity))
        return (state.moment_arm[:, LEG_DOFS.index(dof)] * force.passive).sum(axis=1)

    def residuals(self, values: np.ndarray) -> np.ndarray:
        """Differences from the published moments [N m], and of the strains from the strains of the curves."""
        pairs = zip(self.sweeps, self.states, strict=True)
        away = [self.moment(state, sweep.dof, values) - sweep.moment for sweep, state in pairs]
        held = (values - self.start) / HELD
        near = np.minimum(np.diff(values.reshape(2, -1), axis=0)[0] - LEAST_SPAN, 0.0) / TOO_NEAR
        return np.concatenate([*away, held, near])

    def solve(self) -> np.ndarray:
        """The best strains."""
        low, high = (np.repeat(ends, len(GROUPS)) for ends in zip(AT_ZERO, AT_ONE, strict=True))
        how = {"loss": "soft_l1", "f_scale": SOFT, "x_scale": HELD}
        return least_squares(self.residuals, self.start, bounds=(low, high), **how).x


def calibrated(database: MuscleDatabase) -> CalibratedPassive:
    """The calibrated strains of a set."""
    fit = Fit(database)
    zero, one = fit.strains(fit.solve())
    strains = {
        muscle.name: PassiveStrain(round(float(zero[k]), 3), round(float(one[k]), 3))
        for k, muscle in enumerate(database)
        if fit.group[k] >= 0
    }
    found = (
        "tools/calibrate_passive.py: least squares to passive moments of hip and knee (Silder et al. 2007, J Biomech "
        "40:2628-35) and ankle (Riener and Edrich 1999, J Biomech 32:539-44), on the standard subject"
    )
    return CalibratedPassive(found, strains)


def main(path: Path) -> None:
    """Calibrate a set and write its table [calibrated_passive], the last one of the file."""
    database = muscle_db.load(path)
    found = calibrated(replace(database, calibrated_passive=None))
    text = path.read_text(encoding="utf-8").partition("\n[calibrated_passive]")[0].rstrip("\n")
    path.write_text("\n".join([text, "", *calibrated_lines(found)]) + "\n", encoding="utf-8")
    for rule in ("table", "calibrated"):
        for each in passive_moments(replace(database, calibrated_passive=found), rule):
            held = ", ".join(f"{dof} {angle:g}" for dof, angle in each.sweep.fixed.items())
            print(f"{rule:10s} {each.sweep.dof:18s} at {held:40s} rms {each.rms:6.1f} N m")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
