"""Activation dynamics against closed forms, and activations through time that cannot be."""

import numpy as np
import pytest
from refusals import refused

from musclesolve.muscles.driving.muscle_forces import (
    KINDS,
    ActivationDynamics,
    Sampling,
    de_groote_2016,
    muscle_course,
    thelen_2003,
)

TWO = ("soleus_r", "soleus_l")
TIME = np.linspace(0.0, 0.2, 41)


def activation(dynamics, excitation, names=TWO):
    course = muscle_course(names, excitation, Sampling(TIME), KINDS["excitation"])
    return dynamics.activation(names, course, TIME)(TIME)


def test_a_constant_excitation_activates_as_the_closed_form_says():
    """For e > a: t = -t_a (1.5 (a - a0) + (0.5 + 1.5 e) ln((e - a) / (e - a0))), from (0.5 + 1.5 a) / (e - a)."""
    start, excitation, rise = 0.05, np.array([0.6, 0.9]), 0.013
    found = activation(ActivationDynamics(activation_time=rise, start=start), excitation)
    logarithm = np.log((excitation - found) / (excitation - start))
    time = -rise * (1.5 * (found - start) + (0.5 + 1.5 * excitation) * logarithm)
    early = TIME < 0.08  # later the excitation is reached to round-off, and the logarithm of nothing is left
    np.testing.assert_allclose(time[early], np.broadcast_to(TIME[early, None], time[early].shape), atol=1e-6)


def test_a_constant_excitation_deactivates_as_the_closed_form_says():
    """For e < a: (a - e) / (1 + 3 a) falls by exp(-(1 + 3 e) t / (2 t_d)), from da / ((a - e) (1 + 3 a))."""
    start, excitation, fall = 0.8, np.array([0.0, 0.3]), 0.04
    found = activation(ActivationDynamics(deactivation_time=fall, start=start), excitation)

    def part(a):
        return (a - excitation) / (1.0 + 3.0 * a)

    expected = part(start) * np.exp(-(1.0 + 3.0 * excitation) * TIME[:, None] / (2.0 * fall))
    np.testing.assert_allclose(part(found), expected, atol=1e-7)


@pytest.mark.parametrize("equation", ["thelen_2003", "de_groote_2016"])
def test_activation_rests_where_it_is_the_excitation(equation):
    found = activation(ActivationDynamics(equation), 0.37)
    np.testing.assert_allclose(found, 0.37, atol=1e-12)


def test_the_smooth_equation_becomes_the_other_where_its_tangent_saturates():
    e, a = np.meshgrid(np.linspace(0.0, 1.0, 7), np.linspace(0.01, 0.99, 6))
    smooth = de_groote_2016(e, a, 0.01, 0.04, smoothness=1e6)
    np.testing.assert_allclose(smooth, thelen_2003(e, a, 0.01, 0.04), rtol=1e-12)


def test_a_pulse_of_excitation_is_not_stepped_over():
    """A function that is at rest for long, then excites for 5 ms: the steps are shorter than the time constants."""
    pulse = {"soleus_r": lambda t: np.where(np.abs(t - 0.15) < 0.0025, 1.0, 0.0)}
    found = activation(ActivationDynamics(), pulse)
    assert found[TIME < 0.146, 0].max() == 0.0 and 0.2 < found[:, 0].max() < 1.0 and found[:, 1].max() == 0.0


def test_times_beyond_the_excitation_are_refused():
    course = muscle_course(TWO, 0.5, Sampling(), KINDS["excitation"])
    found = ActivationDynamics().activation(TWO, course, TIME)
    with refused("bad_range", "0.2 s", "0.3 s"):
        found(np.array([0.3]))
    with refused("missing_argument", "time"):
        ActivationDynamics().activation(TWO, course, None)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"equation": "hatze_1977"}, "unknown_name"),
        ({"activation_time": 0.0}, "bad_number"),
        ({"deactivation_time": float("nan")}, "bad_number"),
    ],
)
def test_dynamics_that_cannot_be_are_refused(options, code):
    with refused(code):
        ActivationDynamics(**options)


@pytest.mark.parametrize(
    ("given", "code", "parts"),
    [
        (np.nan, "not_finite", ()),
        (1.2, "bad_number", ("1.2",)),
        ([0.5, -0.1], "bad_number", ("soleus_l", "-0.1")),
        (np.where(np.arange(41)[:, None] == [[7, -1]], np.nan, 0.5), "not_finite", ("soleus_r", "0.035 s")),
        ({"soleus": 0.5}, "unknown_name", ("soleus_r",)),
        ({"soleus_r": np.full(41, 2.0)}, "bad_number", ("soleus_r",)),
        ({"soleus_r": np.nan}, "not_finite", ("soleus_r",)),
        (np.zeros((40, 2)), "bad_shape", ("40",)),
        (np.zeros((41, 3)), "bad_shape", ()),
        ("half", "not_numbers", ()),
    ],
)
def test_activations_that_cannot_be_are_refused(given, code, parts):
    with refused(code, *parts):
        muscle_course(TWO, given, Sampling(TIME), KINDS["activation"])


def test_a_function_is_checked_when_it_is_called():
    course = muscle_course(TWO, lambda t: np.stack([t, 8.0 * t], axis=1), Sampling(), KINDS["activation"])
    np.testing.assert_allclose(course(np.array([0.1])), [[0.1, 0.8]])
    with refused("bad_number", "soleus_l", "0.2 s"):
        course(np.array([0.1, 0.2]))


def test_samples_that_do_not_cover_the_time_are_refused():
    course = muscle_course(TWO, np.zeros((41, 2)), Sampling(TIME), KINDS["activation"])
    with refused("bad_range", "0.25 s"):
        course(np.array([0.25]))
    with refused("bad_shape"):
        muscle_course(TWO, np.zeros((41, 2)), Sampling(), KINDS["activation"])


@pytest.mark.parametrize("between", ["linear", "spline"])
def test_between_samples_activation_stays_within_its_range(between):
    steps = np.where(np.sin(60.0 * TIME) > 0.0, 1.0, 0.0)
    course = muscle_course(TWO, {"soleus_l": steps}, Sampling(TIME, between), KINDS["activation"])
    fine = course(np.linspace(0.0, 0.2, 1001))
    assert fine.min() >= 0.0 and fine.max() <= 1.0 and not fine[:, 0].any()
    np.testing.assert_allclose(course(TIME)[:, 1], steps, atol=1e-12)
