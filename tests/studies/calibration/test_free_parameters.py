"""Parameters of muscles that are fitted, by the measured quantities and by words."""

from __future__ import annotations

import pytest
from refusals import refused

from musclesolve.muscles.muscle_parameters import QUANTITIES
from musclesolve.studies.calibration.free_parameters import Measured, free_factors, stated_words

NAMES = tuple(
    f"{stem}_{side}"
    for side in "rl"
    for stem in (
        *("soleus", "gastrocnemius_medial", "gastrocnemius_lateral", "tibialis_anterior"),
        *("vastus_medialis", "vastus_intermedius", "vastus_lateralis", "rectus_femoris"),
    )
)
NOTHING = Measured((), (), (), elastic=True)


def by_name(factors):
    return {factor.name: factor.muscles for factor in factors}


def test_fascicles_free_the_lengths_of_all_heads_of_both_legs_and_the_shared_tendon():
    measured = Measured(("gastrocnemius_medial_l",), (), (), elastic=True)
    heads = tuple(name for name in NAMES if name.startswith("gastrocnemius"))
    found = by_name(free_factors(NAMES, measured))
    assert found == {
        "optimal_fiber_length of gastrocnemius": heads,
        "tendon_slack_length of gastrocnemius": heads,
        "tendon_strain of achilles": tuple(n for n in NAMES if n.startswith(("soleus", "gastrocnemius"))),
    }


def test_behind_rigid_tendons_no_strain_is_free():
    measured = Measured(("gastrocnemius_medial_l",), (), (), elastic=False)
    assert {factor.quantity for factor in free_factors(NAMES, measured)} == {
        "optimal_fiber_length",
        "tendon_slack_length",
    }


def test_emg_frees_the_strength_of_function_groups_leg_by_leg():
    measured = Measured((), ("vastus_lateralis_r", "soleus_l"), (), elastic=True)
    found = by_name(free_factors(NAMES, measured))
    assert set(found) == {
        f"max_isometric_force of {group}_{side}"
        for group in ("quadriceps_femoris", "triceps_surae")
        for side in "rl"
    }
    assert all(len({name[-1] for name in muscles}) == 1 for muscles in found.values())


def test_words_name_muscles_units_groups_sides_and_all():
    free = {
        "strength": ["all"],
        "optimal_fiber_length": ["vasti_l", "soleus"],
        "tendon_slack_length": ["tibialis_anterior_r"],
    }
    found = by_name(free_factors(NAMES, NOTHING, free))
    assert found["optimal_fiber_length of vasti_l"] == tuple(
        n for n in NAMES if n.startswith("vastus") and n.endswith("_l")
    )
    assert found["optimal_fiber_length of soleus"] == ("soleus_r", "soleus_l")
    assert found["tendon_slack_length of tibialis_anterior_r"] == ("tibialis_anterior_r",)
    assert len(found["max_isometric_force of all_r"]) == 8


def test_names_of_a_model_are_known_by_their_muscles():
    names = ("med_gas_l", "lat_gas_l", "soleus_l")
    found = by_name(free_factors(names, NOTHING, {"optimal_fiber_length": ["gastrocnemius"]}))
    assert found == {"optimal_fiber_length of gastrocnemius_l": names[:2]}


def test_each_unit_has_a_factor_of_its_own():
    found = free_factors(NAMES, NOTHING, {"optimal_fiber_length": ["each"]})
    assert [factor.name.removeprefix("optimal_fiber_length of ") for factor in found] == [
        "soleus",
        "gastrocnemius",
        "tibialis_anterior",
        "vasti",
        "rectus_femoris",
    ]
    covered = [name for factor in found for name in factor.muscles]
    assert sorted(covered) == sorted(NAMES)


def test_fixed_words_are_left_out_of_what_was_measured():
    measured = Measured(("gastrocnemius_medial_l",), (), (), elastic=True)
    found = free_factors(
        NAMES, measured, fixed={"tendon_strain": [], "tendon_slack_length": ["gastrocnemius_r"]}
    )
    assert {factor.quantity for factor in found} == {"optimal_fiber_length", "tendon_slack_length"}
    (slack,) = [factor for factor in found if factor.quantity == "tendon_slack_length"]
    assert slack.muscles == ("gastrocnemius_medial_l", "gastrocnemius_lateral_l")


def test_direction_of_a_factor_is_one_for_its_muscles_and_quantity():
    (factor,) = free_factors(NAMES, NOTHING, {"tendon_slack_length": ["soleus_r"]})
    direction = factor.on(NAMES)
    assert direction[QUANTITIES.index("tendon_slack_length"), NAMES.index("soleus_r")] == 1.0
    assert direction.sum() == 1.0


@pytest.mark.parametrize(
    ("code", "place", "free", "fixed", "elastic"),
    [
        ("unknown_name", "solus", {"strength": ["solus"]}, {}, True),
        ("unknown_name", "stiffness", {"stiffness": ["soleus"]}, {}, True),
        ("conflict", "soleus", {"strength": ["soleus"]}, {"strength": ["soleus"]}, True),
        ("conflict", "strain", {"tendon_strain": ["achilles"]}, {}, False),
        ("missing_argument", "nothing", {"strength": ["soleus_r"]}, {"strength": ["soleus"]}, True),
    ],
)
def test_what_cannot_be_free_is_refused(code, place, free, fixed, elastic):
    with refused(code, place):
        free_factors(NAMES, Measured((), (), (), elastic=elastic), free, fixed)


def test_words_of_the_command_line():
    assert stated_words(["strength=groups,soleus", "strength=vasti", "emg_delay"]) == {
        "strength": ["groups", "soleus", "vasti"],
        "emg_delay": [],
    }
    with refused("unknown_name", "strong"):
        stated_words(["strong=soleus"])
