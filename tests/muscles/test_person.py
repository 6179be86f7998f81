"""The factors of one person on the parameters of muscles."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from musclesolve.muscles import MuscleParameters
from musclesolve.muscles.person import FittedParameter, PersonMuscles

NAMES = ("gas_med_l", "gas_lat_l", "soleus_l", "soleus_r")
LENGTH, SLACK, FORCE = "optimal_fiber_length", "tendon_slack_length", "max_isometric_force"


def fitted(quantity: str, muscles: tuple[str, ...], factor: float, sd: float = 0.1) -> FittedParameter:
    return FittedParameter(f"{quantity} of {muscles[0]}", quantity, muscles, factor, sd, 0.2)


def person_of(*parameters: FittedParameter, correlation: float = 0.5) -> PersonMuscles:
    sd = np.array([each.sd for each in parameters])
    matrix = np.where(np.eye(len(sd)), 1.0, correlation) * np.outer(sd, sd)
    return PersonMuscles("S01", "gait2392", None, (), "rigid", parameters, matrix)


def muscles() -> MuscleParameters:
    return MuscleParameters.from_values(
        NAMES, "thelen_2003", [1000.0, 600.0, 3000.0, 3100.0], 0.05, [0.4, 0.38, 0.25, 0.26]
    )


def test_each_quantity_of_each_muscle_has_its_factor_and_nothing_else_changes() -> None:
    parent = muscles()
    person = person_of(
        fitted(LENGTH, ("gas_med_l", "gas_lat_l"), 1.26),
        fitted(FORCE, ("soleus_l", "soleus_r", "elsewhere_l"), 0.8),
        fitted("tendon_strain", ("soleus_l",), 2.0),
    )
    changed = person.applied(parent)
    np.testing.assert_array_equal(changed.optimal_fiber_length, 0.05 * np.array([1.26, 1.26, 1.0, 1.0]))
    np.testing.assert_array_equal(changed.max_isometric_force, [1000.0, 600.0, 3000.0 * 0.8, 3100.0 * 0.8])
    np.testing.assert_array_equal(changed.tendon_strain, 0.049 * np.array([1.0, 1.0, 2.0, 1.0]))
    for name in ("tendon_slack_length", "pennation_angle", "max_shortening_velocity", "joints_crossed"):
        np.testing.assert_array_equal(getattr(changed, name), getattr(parent, name))
    assert changed.families == parent.families and changed.passive == parent.passive


def test_the_order_and_choice_of_muscles_does_not_matter() -> None:
    person = person_of(fitted(SLACK, ("gas_lat_l",), 0.9), fitted(SLACK, ("soleus_r", "gas_lat_l"), 1.1))
    some = np.array([3, 1])
    one, other = person.applied(muscles()).muscles(some), person.applied(muscles().muscles(some))
    np.testing.assert_array_equal(one.tendon_slack_length, other.tendon_slack_length)
    np.testing.assert_allclose(other.tendon_slack_length, [0.26 * 1.1, 0.38 * 0.9 * 1.1])  # factors multiply


def test_the_spread_of_a_number_is_that_of_drawn_factors() -> None:
    """A second route: ln of a number of drawn parameters scatters as the quadratic form says."""
    person = person_of(
        fitted(SLACK, NAMES[:2], 0.9, 0.02), fitted(SLACK, NAMES[1:3], 1.1, 0.05), correlation=-0.6
    )
    draws = np.random.default_rng(3).multivariate_normal(np.zeros(2), person.covariance, 200_000)
    logarithm = draws @ person.exponents(SLACK, NAMES).T
    np.testing.assert_allclose(person.spread(SLACK, NAMES), logarithm.std(axis=0), rtol=5e-3)
    assert person.spread(SLACK, NAMES)[3] == 0.0 and not person.spread(LENGTH, NAMES).any()


def test_numbers_for_the_file_are_those_applied() -> None:
    person = person_of(fitted(LENGTH, ("soleus_l",), 1.2, 0.03)).with_numbers(muscles())
    assert set(person.numbers) == {"soleus_l"}
    number = person.numbers["soleus_l"][LENGTH]
    np.testing.assert_allclose([number["value"], number["parent"], number["sd"]], [0.06, 0.05, 0.0018])


def test_notes_name_person_parent_tendon_and_what_is_not_determined() -> None:
    unknown = replace(fitted(SLACK, ("soleus_l",), 6.0), determined=False)
    person = person_of(fitted(LENGTH, ("gas_med_l", "gas_lat_l"), 1.2), unknown)
    first, tendon, determined, far = person.notes(NAMES, "elastic")
    assert "S01" in first and "3 numbers of 3 muscles" in first and "gait2392" in first
    assert "rigid tendons" in tendon and "elastic tendons" in tendon
    assert unknown.name in determined and unknown.name in far and "6" in far
    assert len(person.notes(NAMES[:1], "rigid")) == 3
    assert "1 numbers of 1 muscles" in person.notes(NAMES[:1], "rigid")[0]
