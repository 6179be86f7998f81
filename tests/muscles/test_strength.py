"""Maximum isometric forces: of the table, times a factor, and from body mass and stature."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from package_tables import package_table
from refusals import refused

import muscle_db
from musclesolve.dynamics import human_model
from musclesolve.muscles import muscle_state, scale_muscles
from musclesolve.muscles.strength import strengths

DATABASE = muscle_db.load("silva_2003")
TABLE = np.array([muscle.max_isometric_force for muscle in DATABASE])
LENGTH = np.array([muscle.optimal_fiber_length for muscle in DATABASE])
MASS, STATURE = 71.8, 1.71  # means of the study
# Mean volume of each muscle over that of all muscles of the limb (Handsfield et al. 2014, Appendix).
FRACTIONS = {
    "adductor_brevis": 0.0147,
    "adductor_magnus": 0.0786,
    "biceps_femoris_long_head": 0.0292,
    "flexor_digitorum_longus": 0.0043,
    "gastrocnemius_medial": 0.0362,
    "gluteus_maximus": 0.1193,
    "gluteus_medius": 0.0454,
    "iliacus": 0.0248,
    "peroneus": 0.0183,
    "psoas": 0.0380,
    "rectus_femoris": 0.0379,
    "semimembranosus": 0.0346,
    "soleus": 0.0621,
    "tensor_fasciae_latae": 0.0089,
    "tibialis_anterior": 0.0191,
    "vastus_intermedius": 0.0384,
    "vastus_lateralis": 0.1166,
}


def volumes(force: np.ndarray) -> dict[str, float]:
    """Volume of each muscle [cm^3] from its force, at 60 N/cm^2."""
    return dict(zip((m.name for m in DATABASE), force * 100.0 * LENGTH / 60.0, strict=True))


def test_the_shares_of_all_muscles_make_up_the_whole():
    entries = package_table("muscles/handsfield_2014.toml")["muscle"].values()
    assert len(entries) == 35
    assert sum(entry["share"] for entry in entries) == pytest.approx(1.0, abs=1e-3)
    assert sum(entry["offset"] for entry in entries) == pytest.approx(0.0, abs=1.0)


@pytest.mark.parametrize("muscle", FRACTIONS)
def test_volumes_are_the_fractions_that_the_study_lists(muscle):
    """The regressions at the mean body, against the mean fractions: two tables of the study."""
    found = volumes(strengths(DATABASE, LENGTH, MASS, STATURE, "handsfield_2014"))
    total = 47.0 * MASS * STATURE + 1285.0
    names = ("peroneus_brevis", "peroneus_longus") if muscle == "peroneus" else (muscle,)
    whole = sum(volume for name, volume in found.items() if name.startswith(names))
    assert whole == pytest.approx(FRACTIONS[muscle] * total, rel=0.03)


def test_parts_of_a_muscle_are_to_each_other_as_in_the_table():
    force = strengths(DATABASE, LENGTH, MASS, STATURE, "handsfield_2014")
    for name in ("gluteus_maximus", "gluteus_medius", "adductor_magnus", "peroneus"):
        parts = np.array([m.name.startswith(name) and m.name != "peroneus_tertius" for m in DATABASE])
        ratio = force[parts] / TABLE[parts]
        assert parts.sum() >= 2 and np.ptp(ratio) < 1e-12 * ratio.max()


def test_a_larger_body_has_larger_muscles_and_longer_fibers_less_force():
    here, heavier = (strengths(DATABASE, LENGTH, mass, 1.7, "handsfield_2014") for mass in (60.0, 90.0))
    assert (heavier > here).all()
    longer = strengths(DATABASE, 1.1 * LENGTH, 60.0, 1.7, "handsfield_2014")
    np.testing.assert_allclose(longer, here / 1.1)


def test_the_table_and_a_factor_on_it():
    np.testing.assert_array_equal(strengths(DATABASE, LENGTH, MASS, STATURE, "table"), TABLE)
    np.testing.assert_array_equal(strengths(DATABASE, LENGTH, MASS, None, 1.5), 1.5 * TABLE)


def test_a_factor_multiplies_the_capacity_and_leaves_the_passive_force(model, motion):
    plain, strong = (
        muscle_state(model, scale_muscles(model, DATABASE, "r", strength, "table"), motion)
        for strength in (1.0, 2.0)
    )
    np.testing.assert_array_equal(strong.force_capacity, 2.0 * plain.force_capacity)
    np.testing.assert_array_equal(strong.passive_force, plain.passive_force)
    assert plain.passive_force.max() > 100.0


def test_placed_muscles_have_the_fiber_lengths_and_the_body_of_the_subject():
    person = human_model(85.0, 1.83)
    muscles = scale_muscles(person, DATABASE, "l", "handsfield_2014")
    expected = strengths(DATABASE, muscles.parameters.optimal_fiber_length, 85.0, 1.83, "handsfield_2014")
    np.testing.assert_allclose(muscles.parameters.max_isometric_force, expected, rtol=1e-12)


def test_what_cannot_be_is_refused():
    with refused("unknown_name", "'handsfield'", "handsfield_2014"):
        strengths(DATABASE, LENGTH, MASS, STATURE, "handsfield")
    for factor in (0.0, -1.0, np.nan, 101.0, True):
        with refused("bad_number", "strength", "above 0"):
            strengths(DATABASE, LENGTH, MASS, STATURE, factor)
    with refused("missing_argument", "stature"):
        strengths(DATABASE, LENGTH, MASS, None, "handsfield_2014")
    with refused("bad_value", "tensor_fasciae_latae", "cm^3"):
        strengths(DATABASE, LENGTH, 5.0, 0.9, "handsfield_2014")
    other = replace(DATABASE, muscles=(replace(DATABASE.muscles[0], name="plantaris"),))
    with refused("bad_muscle_set", "plantaris", 'strength = "table"'):
        strengths(other, LENGTH[:1], MASS, STATURE, "handsfield_2014")
