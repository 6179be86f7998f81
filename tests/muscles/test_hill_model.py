"""The laws of the fiber behind a rigid tendon, and of the two forces at the tendon, with every family of curves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from refusals import refused

import muscle_db
from musclesolve.muscles import MuscleParameters
from musclesolve.muscles.curves.curve_family import CURVES, SILVA_2003, CurveFamily, Silva2003
from musclesolve.muscles.hill_model import FiberState, PassiveElement, TendonForce
from musclesolve.muscles.muscle_parameters import MAX_SHORTENING_VELOCITY
from musclesolve.muscles.muscle_state import MuscleState

FAMILIES = pytest.mark.parametrize("curves", CURVES.values(), ids=CURVES)
LENGTH = st.floats(0.0, 3.0)

MUSCLES = st.fixed_dictionaries(
    {
        "optimal_fiber_length": st.floats(0.01, 0.6),
        "tendon_slack_length": st.floats(0.0, 0.5),
        "pennation_angle": st.floats(0.0, 1.2),
    }
)


def fiber_state(length: ArrayLike, rate: ArrayLike, *geometry: ArrayLike, **named: ArrayLike) -> FiberState:
    """Fibers of muscles with an optimal fiber length, a tendon slack length and a pennation angle."""
    size = np.broadcast_shapes(*map(np.shape, (*geometry, *named.values())))
    names = [f"muscle {k}" for k in range(int(np.prod(size)))]
    values = dict(
        zip(("optimal_fiber_length", "tendon_slack_length", "pennation_angle"), geometry, strict=False)
    )
    muscles = MuscleParameters.from_values(names, SILVA_2003, 1.0, **values, **named)
    fiber = muscles.fibers(length, rate)
    return fiber if size else FiberState(*(values.reshape(np.shape(length)) for values in fiber))


def tendon_force(
    fiber: FiberState,
    force: float,
    optimal: ArrayLike,
    fastest: float = MAX_SHORTENING_VELOCITY,
    curves: CurveFamily = SILVA_2003,
    passive: PassiveElement | None = None,
) -> TendonForce:
    """Forces of fibers of muscles with a strength, an optimal fiber length and a maximum shortening velocity."""
    names = [f"muscle {k}" for k in range(np.shape(fiber.length)[-1] if np.ndim(fiber.length) > 1 else 1)]
    muscles = MuscleParameters.from_values(names, curves, force, optimal, 0.2, 0.0, fastest, passive=passive)
    return muscles.forces(fiber)


@settings(derandomize=True)
@given(MUSCLES, LENGTH, st.floats(-5.0, 5.0))
def test_fiber_and_tendon_make_up_the_muscle(muscle: dict[str, float], mt_length: float, rate: float) -> None:
    """L_MT = l cos(a) + L_T and l sin(a) = L0 sin(a0) wherever the tendon is taut."""
    fiber = fiber_state(mt_length, rate, **muscle)
    thickness = muscle["optimal_fiber_length"] * np.sin(muscle["pennation_angle"])
    if fiber.slack:
        assert mt_length <= muscle["tendon_slack_length"]
        assert (fiber.length, fiber.velocity) == (pytest.approx(thickness), 0.0)
        return
    along = fiber.length * fiber.cos_pennation
    assert along + muscle["tendon_slack_length"] == pytest.approx(mt_length, rel=1e-12)
    assert fiber.length**2 - along**2 == pytest.approx(thickness**2, abs=1e-12)
    assert fiber.velocity == pytest.approx(rate * fiber.cos_pennation)


def test_velocity_is_the_rate_of_the_length() -> None:
    parameters = (0.03, 0.268, np.radians(25.0))
    lengths, h = np.linspace(0.28, 0.32, 20), 1e-6
    fiber = fiber_state(lengths, 0.7, *parameters)
    before, after = (fiber_state(lengths + sign * 0.7 * h, 0.0, *parameters).length for sign in (-1, 1))
    np.testing.assert_allclose(fiber.velocity, (after - before) / (2 * h), rtol=1e-8)


def test_at_optimal_length_the_angle_is_the_tabulated_one() -> None:
    angle = np.radians([0.0, 5.0, 25.0])
    fiber = fiber_state(0.2 + 0.05 * np.cos(angle), 0.0, 0.05, 0.2, angle)
    np.testing.assert_allclose(fiber.length, 0.05, rtol=1e-12)
    np.testing.assert_allclose(fiber.cos_pennation, np.cos(angle), rtol=1e-12)


@FAMILIES
@settings(derandomize=True)
@given(MUSCLES, LENGTH, st.floats(-5.0, 5.0))
def test_forces_are_bounded_and_never_push(
    curves, muscle: dict[str, float], mt_length: float, rate: float
) -> None:
    fiber = fiber_state(mt_length, rate, **muscle)
    capacity, passive = tendon_force(fiber, 1000.0, muscle["optimal_fiber_length"], curves=curves)
    assert 0.0 <= capacity <= 1800.0
    assert 0.0 <= passive and np.isfinite(passive)
    if fiber.slack:
        assert capacity == passive == 0.0


@FAMILIES
@pytest.mark.parametrize("pennation", [0.0, 0.4])
def test_a_slack_tendon_has_no_force(curves, pennation: float) -> None:
    """Below, at and just above the slack length: no force, no NaN, and no jump on the way in."""
    fiber = fiber_state(np.array([0.0, 0.2, 0.25, 0.25 + 1e-9]), -0.01, 0.05, 0.25, pennation)
    force = tendon_force(fiber, 1000.0, 0.05, curves=curves)
    assert fiber.slack.tolist() == [True, True, True, False]
    assert force.capacity[:3].tolist() == force.passive[:3].tolist() == [0.0, 0.0, 0.0]
    assert 0.0 <= force.capacity[3] < (1e-4 if pennation else 100.1)
    assert np.isfinite(fiber.length).all()


def test_forces_by_hand() -> None:
    """Fiber at 1.25 L0, 60 degrees, lengthening at a tenth of the maximum velocity."""
    fiber = FiberState(np.array(0.125), np.array(0.1), np.array(0.5))
    capacity, passive = tendon_force(fiber, 800.0, 0.1, 10.0)
    assert capacity == pytest.approx(800 * 0.7251 * 1.3376 * 0.5, abs=0.05)
    assert passive == pytest.approx(800 * 8 * 0.25**3 * 0.5)
    other = Silva2003("quartic_minus_quadratic")
    assert tendon_force(fiber, 800.0, 0.1, 10.0, other).capacity == pytest.approx(
        800 * 0.9106 * 1.3376 * 0.5, abs=0.05
    )


@FAMILIES
def test_the_passive_element_has_its_own_force_and_strains(curves) -> None:
    """At its strain at one norm force it bears just its force, whatever the strength of the fibers."""
    fiber = FiberState(np.array([[0.13, 0.14]]), np.zeros((1, 2)), np.ones((1, 2)))
    element = PassiveElement(np.array([500.0, 0.0]), np.array([-0.1, 0.0]), np.array([0.3, 0.4]))
    weak, strong = (tendon_force(fiber, f0, 0.1, 10.0, curves, element) for f0 in (600.0, 1200.0))
    np.testing.assert_allclose(weak.passive, [[500.0, 0.0]], rtol=1e-12)
    np.testing.assert_array_equal(weak.passive, strong.passive)
    np.testing.assert_allclose(strong.capacity, 2.0 * weak.capacity)


def test_half_the_maximum_velocity_doubles_the_normalized_one() -> None:
    slow, fast = (FiberState(np.array(0.1), np.array(v), np.array(1.0)) for v in (-0.2, -0.4))
    assert tendon_force(slow, 1.0, 0.1, 5.0).capacity == tendon_force(fast, 1.0, 0.1, 10.0).capacity


def test_frames_and_muscles_at_once_equal_one_by_one() -> None:
    rng = np.random.default_rng(3)
    optimal, tendon, angle = rng.uniform(0.03, 0.2, 7), rng.uniform(0.05, 0.4, 7), rng.uniform(0.0, 0.4, 7)
    length, rate = tendon + optimal * rng.uniform(-0.2, 1.6, (11, 7)), rng.uniform(-0.5, 0.5, (11, 7))
    fiber = fiber_state(length, rate, optimal, tendon, angle)
    force = tendon_force(fiber, 500.0, optimal)
    assert fiber.length.shape == force.capacity.shape == force.passive.shape == (11, 7)
    for t, k in np.ndindex(11, 7):
        one = fiber_state(length[t, k], rate[t, k], optimal[k], tendon[k], angle[k])
        assert tendon_force(one, 500.0, optimal[k]).capacity == pytest.approx(force.capacity[t, k])


def test_missing_lengths_stay_missing() -> None:
    fiber = fiber_state(np.array([np.nan, 0.3]), 0.0, 0.05, 0.25, 0.1)
    capacity, passive = tendon_force(fiber, 1000.0, 0.05)
    assert np.isnan(capacity).tolist() == np.isnan(passive).tolist() == [True, False]
    assert fiber.slack.tolist() == [False, False]


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ((0.0, 0.2, 0.1), ("bad_number", "muscle 0 is 0")),
        ((0.05, -0.2, 0.1), ("bad_number", "-0.2")),
        ((0.05, np.nan, 0.1), ("bad_number",)),
        ((0.05, 0.2, 25.0), ("bad_number", "radians")),
        (([0.05, np.inf], 0.2, 0.1), ("bad_number", "muscle 1")),
    ],
)
def test_impossible_parameters_are_refused(parameters: tuple[float, float, float], says: str) -> None:
    with refused(*says):
        fiber_state(0.3, 0.0, *parameters)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((-1.0, 0.05, 10.0), ("bad_number",)),
        ((1.0, 0.0, 10.0), ("bad_number",)),
        ((1.0, 0.05, 0.0), ("bad_number",)),
    ],
)
def test_impossible_strengths_are_refused(arguments: tuple[float, float, float], says: str) -> None:
    fiber = fiber_state(0.3, 0.0, 0.05, 0.25, 0.1)
    with refused(*says):
        tendon_force(fiber, *arguments)


@pytest.mark.parametrize(("scaled", "fiber_length", "active"), [(False, 1.114, 0.95), (True, 0.864, 0.99)])
def test_soleus_can_pull_in_standing(scaled: bool, fiber_length: float, active: float) -> None:
    """With the musculotendon length itself in the curve, as the source words it, there would be no force."""
    database = muscle_db.load("silva_2003")
    soleus = database["soleus"]
    length = muscle_db.standing_length(soleus, database.reference)
    k = length / muscle_db.standing_length(soleus, database.reference, unscaled=True) if scaled else 1.0
    optimal = k * soleus.optimal_fiber_length
    fiber = fiber_state(length, 0.0, optimal, k * soleus.tendon_slack_length, soleus.pennation_angle)
    assert fiber.length / optimal == pytest.approx(fiber_length, abs=1e-3)
    assert SILVA_2003.active(fiber.length / optimal) == pytest.approx(active, abs=5e-3)
    assert SILVA_2003.active(length / optimal) == 0.0


def passive_quadriceps(database: muscle_db.MuscleDatabase, *, scaled: bool) -> np.ndarray:
    """Passive fiber forces in quiet standing [N]."""
    forces = []
    for muscle in (muscle for muscle in database if muscle.group == "quadriceps_femoris"):
        length = muscle_db.standing_length(muscle, database.reference)
        k = length / muscle_db.standing_length(muscle, database.reference, unscaled=True) if scaled else 1.0
        optimal, tendon = k * muscle.optimal_fiber_length, k * muscle.tendon_slack_length
        fiber = fiber_state(length, 0.0, optimal, tendon, muscle.pennation_angle)
        forces.append(muscle.max_isometric_force * SILVA_2003.passive(fiber.length / optimal))
    return np.array(forces)


def test_quadriceps_are_passive_free_in_standing() -> None:
    """As printed they would carry twice their maximum force each, 10.6 kN together."""
    database = muscle_db.load("silva_2003")
    assert passive_quadriceps(database, scaled=True).tolist() == [0.0] * 4
    assert passive_quadriceps(database.printed(), scaled=False).sum() == pytest.approx(10618.0)


def test_force_along_the_fibers_is_the_curves_times_strength_and_zero_behind_a_slack_tendon() -> None:
    muscles = MuscleParameters.from_values(
        ("pennate", "parallel"), "silva_2003", [1000.0, 500.0], 0.05, 0.2, pennation_angle=[0.5, 0.0]
    )
    length, velocity = np.linspace(0.18, 0.27, 10)[:, None] * np.ones(2), np.full((10, 2), -0.1)
    state = MuscleState.from_lengths(muscles, length, velocity, np.zeros((10, 1, 2)))
    normal = state.fiber_length / 0.05
    speed = state.fiber_velocity / (0.05 * muscles.max_shortening_velocity)
    curves = SILVA_2003
    along = muscles.max_isometric_force * curves.active(normal) * curves.velocity(speed)
    np.testing.assert_allclose(
        state.fiber_force_capacity, np.where(state.slack, 0.0, along), rtol=1e-12, atol=1e-9
    )
    assert state.slack.any() and (state.fiber_force_capacity[~state.slack] > 0.0).all()
    np.testing.assert_array_equal(state.fiber_force_capacity[:, 1], state.force_capacity[:, 1])
