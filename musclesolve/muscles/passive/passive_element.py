"""The passive elements of muscles: their forces and strains."""

from typing import Literal, NamedTuple, get_args

import numpy as np

from muscle_db import MuscleDatabase
from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_choice
from musclesolve.errors import input_error
from musclesolve.muscles.curves.curve_family import CurveFamily

PassiveRule = Literal["calibrated", "table", "none"]


class PassiveElement(NamedTuple):
    """Passive elements of muscles, (n,) each.

    force: passive force at the strain `at_one` [N], from the table for any strength of the subject; 0: no element.
    at_zero, at_one: fiber strains l / L0 - 1 where the passive force begins, and where it is `force`.
    """

    force: Array
    at_zero: Array
    at_one: Array


def passive_element(database: MuscleDatabase, curves: CurveFamily, rule: str) -> PassiveElement:
    """The passive elements of the muscles of a set.

    Args:
        database: the set, which may have calibrated strains.
        curves: the family of curves, whose usual strains hold for muscles without any.
        rule: "table": strains of the set; "calibrated": strains with which the passive joint moments agree with
            measurement; "none": no passive force.
    """
    rule = checked_passive(rule, database)
    calibrated = database.calibrated_passive
    strain_of = calibrated.strains if rule == "calibrated" and calibrated is not None else {}
    strains = [strain_of.get(muscle.name, muscle.passive) for muscle in database]
    usual = curves.passive_strain
    pairs = [
        usual if strain is None else (strain.at_zero_force, strain.at_one_norm_force) for strain in strains
    ]
    share = 0.0 if rule == "none" else 1.0
    force = share * np.array([muscle.max_isometric_force for muscle in database])
    at_zero, at_one = np.array(pairs, dtype=float).reshape(-1, 2).T
    return PassiveElement(force, at_zero, at_one)


def checked_passive(rule: str, database: MuscleDatabase) -> str:
    """Return the rule for passive forces; refuse an unknown rule, and a set without its parameters."""
    check_choice(rule, "the rule for passive forces", get_args(PassiveRule))
    if rule == "calibrated" and database.calibrated_passive is None:
        raise input_error(
            "bad_muscle_set",
            problem=f"the muscle set {database.name} has no calibrated passive strains",
            expected="a table [calibrated_passive] in its file",
            remedy='write passive = "table" or "none" in [muscles]',
        )
    return rule
