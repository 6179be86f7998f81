"""Passive elements of the muscles, by the rule of a trial."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from refusals import refused

import muscle_db
from muscle_db.model import CalibratedPassive, PassiveStrain
from musclesolve.muscles import muscle_state, scale_muscles
from musclesolve.muscles.curves.curve_family import CURVES
from musclesolve.muscles.scaling.scale_muscles import passive_element

DATABASE = muscle_db.load("silva_2003")
TABLE = [muscle.max_isometric_force for muscle in DATABASE]
SOLEUS = [muscle.name for muscle in DATABASE].index("soleus")


def with_strains(**strains: PassiveStrain) -> muscle_db.MuscleDatabase:
    """The set with calibrated strains of some muscles."""
    return replace(DATABASE, calibrated_passive=CalibratedPassive("for a test", strains))


@pytest.mark.parametrize("family", CURVES.values(), ids=CURVES)
def test_muscles_without_strains_have_those_of_the_family(family):
    element = passive_element(DATABASE, family, "table")
    assert element.force.tolist() == TABLE
    assert {*element.at_zero} == {family.passive_strain[0]} and {*element.at_one} == {
        family.passive_strain[1]
    }


def test_strains_of_the_table_and_calibrated_ones():
    muscles = list(DATABASE.muscles)
    muscles[0] = replace(muscles[0], passive=PassiveStrain(0.1, 0.8))
    database = replace(with_strains(soleus=PassiveStrain(-0.1, 0.7)), muscles=tuple(muscles))
    table, calibrated = (
        passive_element(database, CURVES["silva_2003"], rule) for rule in ("table", "calibrated")
    )
    assert (table.at_zero[SOLEUS], table.at_one[SOLEUS]) == (0.0, 0.5)
    assert (calibrated.at_zero[SOLEUS], calibrated.at_one[SOLEUS]) == (-0.1, 0.7)
    assert (table.at_one[0], calibrated.at_one[0]) == (0.8, 0.8)  # its own where the calibration has none
    assert calibrated.force.tolist() == TABLE


def test_a_set_whose_own_strains_are_calibrated():
    table, calibrated = (
        passive_element(with_strains(), CURVES["millard_2013"], rule) for rule in ("table", "calibrated")
    )
    np.testing.assert_array_equal(table, calibrated)


def test_without_passive_forces_there_are_none_and_nothing_else_changes(model, motion):
    with_them, without = (
        muscle_state(model, scale_muscles(model, DATABASE, "r", passive=rule), motion)
        for rule in ("table", "none")
    )
    assert with_them.passive_force.any() and not without.passive_force.any()
    np.testing.assert_array_equal(with_them.force_capacity, without.force_capacity)


def test_what_the_set_does_not_have_is_refused():
    with refused("bad_muscle_set", "silva_2003", "[calibrated_passive]", '"none"'):
        passive_element(replace(DATABASE, calibrated_passive=None), CURVES["silva_2003"], "calibrated")
    with refused("unknown_name", "'some'", "calibrated"):
        passive_element(DATABASE, CURVES["silva_2003"], "some")
