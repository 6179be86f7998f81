"""Strains of tendons: of the set, of what a user states, most specific word first; forces of rigid tendons stay."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from refusals import refused

import muscle_db
from musclesolve.dynamics import human_model
from musclesolve.muscles import muscle_forces, muscle_state, scale_muscles
from musclesolve.muscles.strength import (
    achilles_muscles,
    check_tendon,
    check_tendon_strains,
    set_tendon_strains,
    stated_texts,
)

SETS = ("gait2392", "rajagopal_2023", "silva_2003")
CALF = {"soleus", "gastrocnemius_medial", "gastrocnemius_lateral"}


def strains(name, stated=None):
    database = muscle_db.load(name)
    found = set_tendon_strains(database, stated)
    return dict(zip((muscle.name for muscle in database), found.tolist(), strict=True))


def test_strains_are_those_of_the_set_unless_others_are_stated():
    assert set(strains("gait2392").values()) == {0.033}  # FmaxTendonStrain of its model
    assert set(strains("rajagopal_2023").values()) == set(strains("silva_2003").values()) == {0.049}
    assert set(strains("gait2392", 0.06).values()) == {0.06}
    assert strains("gait2392", {}) == strains("gait2392")


@pytest.mark.parametrize("name", SETS)
def test_the_achilles_tendon_is_that_of_soleus_and_gastrocnemius(name):
    changed = {muscle for muscle, strain in strains(name, {"achilles": 0.08}).items() if strain == 0.08}
    assert changed == CALF


def test_the_more_specific_word_holds_in_whatever_order():
    stated = {
        "gasmed": 0.09,
        "soleus": 0.1,
        "achilles": 0.08,
        "triceps_surae": 0.07,
        "hamstrings": 0.06,
        "all": 0.05,
    }
    for words in (stated, dict(reversed(stated.items()))):
        found = strains("rajagopal_2023", words)
        assert found["soleus"] == 0.1 and found["gastrocnemius_medial"] == 0.09
        assert found["gastrocnemius_lateral"] == 0.08 and found["semitendinosus"] == 0.06
        assert found["tibialis_anterior"] == 0.05
    assert strains("rajagopal_2023", {"triceps_surae": 0.07})["soleus"] == 0.07


@pytest.mark.parametrize(
    "name",
    ["soleus_r", "Soleus_L", "r_soleus", "SOL", "gasmed_r", "gaslat_l", "med_gas_r", "lat_gas_l", "gastroc_r",
     "GastrocnemiusLateralis1_r", "SoleusMedialis2_r", "gastrocnemius_medial", "gastroc_lat_r", "left_gastrocnemius"],
)  # fmt: skip
def test_spellings_of_models(name):
    assert achilles_muscles([("tib_ant_r",), (name,), ("glmed1_r", "sart_r"), ("solitary",)]) == [1]


def test_names_that_are_not_there_are_refused():
    with refused("unknown_name", "soleus_r", "'soleus'", "gait2392"):
        strains("gait2392", {"soleus_r": 0.06})
    with refused("unknown_name", "hamstring", "'hamstrings'"):
        strains("gait2392", {"hamstring": 0.06})
    database = muscle_db.load("gait2392")
    thigh = replace(database, muscles=tuple(m for m in database if m.name not in CALF))
    with refused("unknown_name", "gait2392", "achilles", "tibialis_anterior"):
        set_tendon_strains(thigh, {"achilles": 0.08})


def test_a_muscle_by_both_of_its_names_is_refused():
    with refused("duplicate_name", "'gasmed'", "'gastrocnemius_medial'"):
        strains("rajagopal_2023", {"gasmed": 0.06, "gastrocnemius_medial": 0.07})


@pytest.mark.parametrize("value", [0.0, -0.05, 0.51, np.nan, np.inf, True, "0.05", None, [0.05]])
def test_strains_that_no_tendon_has_are_refused(value):
    with refused("bad_number", "'achilles'", "0.5"):
        check_tendon("elastic", {"achilles": value})
    if value is not None:
        with refused("bad_number", "tendon_strain"):
            check_tendon("elastic", value)


def test_a_strain_of_rigid_tendons_and_other_tendons_are_refused():
    with refused("conflict", "rigid", "elastic"):
        check_tendon("rigid", 0.05)
    with refused("unknown_name", "stiff"):
        check_tendon("stiff", None)
    for tendon, stated in (("rigid", None), ("elastic", None), ("elastic", 0.5), ("elastic", {"all": 0.05})):
        check_tendon(tendon, stated)


def test_strains_of_a_file_for_rigid_tendons_are_refused_by_name():
    check_tendon_strains(np.array([0.01, 0.5]), ("one", "two"), "own")
    for value in (0.0, -0.1, 0.6, np.nan):
        with refused("bad_number", "two", "own"):
            check_tendon_strains(np.array([0.01, value]), ("one", "two"), "own")


def test_what_is_stated_in_words():
    assert stated_texts(None) == [] and stated_texts(0.06) == ["all 0.06"]
    assert stated_texts({"achilles": 0.08, "soleus": 0.1}) == ["achilles 0.08", "soleus 0.1"]


def test_placed_muscles_carry_strain_and_curves(model, motion):
    """Behind rigid tendons the strain changes nothing, to the last digit; other curves do."""
    database = muscle_db.load("gait2392")
    usual = scale_muscles(model, database, "r", passive="table")
    given = scale_muscles(model, database, "r", passive="table", tendon_strain={"achilles": 0.08})
    np.testing.assert_array_equal(usual.parameters.tendon_strain, 0.033)
    np.testing.assert_array_equal(
        given.parameters.tendon_strain, set_tendon_strains(database, {"achilles": 0.08})
    )
    here, there = (muscle_state(model, muscles, motion) for muscles in (usual, given))
    for name in ("fiber_length", "fiber_velocity", "force_capacity", "passive_force"):
        np.testing.assert_array_equal(getattr(here, name), getattr(there, name))
    other = scale_muscles(model, database, "r", passive="table", curves="millard_2013")
    by_set = scale_muscles(model, replace(database, curves="millard_2013"), "r", passive="table")
    states = [muscle_state(model, muscles, motion) for muscles in (other, by_set)]
    assert [leg.parameters.families[0][0].name for leg in (other, usual)] == [
        "millard_2013",
        "de_groote_2016",
    ]
    np.testing.assert_array_equal(states[0].force_capacity, states[1].force_capacity)
    assert np.abs(states[0].force_capacity - here.force_capacity).max() > 1.0
    with refused("unknown_name", "milard", "millard_2013"):
        scale_muscles(model, database, "r", curves="milard")


def test_driven_muscles_carry_the_strains_of_both_legs():
    database, person = muscle_db.load("silva_2003"), human_model()
    legs = [
        scale_muscles(person, database, side, tendon_strain=strain)
        for side, strain in (("r", 0.05), ("l", 0.06))
    ]
    np.testing.assert_array_equal(
        muscle_forces(person, legs, 0.5).parameters.tendon_strain, np.repeat([0.05, 0.06], len(database))
    )
