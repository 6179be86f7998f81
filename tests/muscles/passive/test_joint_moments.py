"""Passive joint moments of the muscles of a set: virtual work, and agreement with what was measured."""

from __future__ import annotations

import numpy as np
import pytest
from whole_legs import WHOLE_LEGS

import muscle_db
from musclesolve.muscles import scale_muscles
from musclesolve.muscles.passive.joint_moments import Sweep, passive_moment, passive_moments, states_along

DATABASE = muscle_db.load("silva_2003")


def test_the_moment_is_the_rate_of_the_energy_of_the_springs(model):
    """Work of the passive tensions on their muscles is that of the passive moment on the joint: F dL = -M dtheta.

    Conditional points change the length by fractions of a millimeter where they join the path.
    """
    angle = np.linspace(20.0, 110.0, 1801)
    sweep = Sweep("knee_flexion", {"hip_flexion": 10.0}, angle, np.zeros_like(angle), "")
    (state,) = states_along(model, scale_muscles(model, DATABASE, "r", passive="table"), [sweep])
    tension, length = state.passive_force, state.musculotendon_length
    stored = (0.5 * (tension[1:] + tension[:-1]) * np.diff(length, axis=0)).sum()
    moment = passive_moment(state, "knee_flexion")
    assert stored == pytest.approx(-np.trapezoid(moment, np.radians(angle)), rel=1e-3)
    assert stored > 50.0


def test_without_passive_forces_there_is_no_moment():
    assert not any(each.moment.any() for each in passive_moments(DATABASE, "none"))


@pytest.mark.parametrize("name", WHOLE_LEGS)
def test_calibrated_moments_are_those_that_were_measured(name):
    """To 4.3 N m rms on every sweep; a knee bent to 120 degrees is extended by no more than half as much again."""
    for each in passive_moments(muscle_db.load(name), "calibrated"):
        assert each.rms < 4.3, each.sweep
        if each.sweep.dof == "knee_flexion":
            assert 0.5 < each.moment[-1] / each.sweep.moment[-1] < 1.5


def test_the_moments_of_the_table_are_far_from_them_at_the_knee():
    knees = [each.rms for each in passive_moments(DATABASE) if each.sweep.dof == "knee_flexion"]
    assert min(knees) > 100.0


@pytest.mark.parametrize("name", WHOLE_LEGS)
def test_strains_stay_within_limits(name):
    database = muscle_db.load(name)
    strains = database.calibrated_passive.strains
    assert {*strains} <= {muscle.name for muscle in database} and len(strains) > 35
    for strain in strains.values():
        assert -0.2 <= strain.at_zero_force <= 0.4 <= strain.at_one_norm_force <= 1.2
        assert strain.at_one_norm_force - strain.at_zero_force > 0.299


def test_own_strains_of_rajagopal_2023_give_the_measured_moments_of_the_ankle():
    """They were calibrated in OpenSim, to whose lengths the tendons of the gastrocnemii are fitted.

    With the tendons as printed the three sweeps are 54, 27 and 5 N m from the measured moments.
    """
    moments = passive_moments(muscle_db.load("rajagopal_2023"), "table")
    assert [each.rms < limit for each, limit in zip(moments[-3:], (10.0, 3.0, 5.0), strict=True)] == [
        True
    ] * 3


def test_own_strains_give_the_moments_that_opensim_computes_for_the_model():
    """OpenSim 4.6, the Rajagopal model itself with a rigid tendon [N m]; here its muscles are on another skeleton.

    Where the gastrocnemii are slack: OpenSim's own lengths of them contradict its moment arms near full extension.
    """
    found = {(each.sweep.dof, *each.sweep.fixed.values()): each for each in passive_moments(
        muscle_db.load("rajagopal_2023"), "table"
    )}  # fmt: skip
    for key, expected in {
        ("hip_flexion", 15, 0): {45: -18.2, 55: -47.1, 65: -90.9, 75: -138.1},
        ("hip_flexion", 60, 0): {5: 10.8, 55: -10.9, 65: -17.8, 75: -30.4},
        ("knee_flexion", 0, -15): {60: -6.4, 90: -20.7, 120: -44.6},
    }.items():
        own = np.interp(list(expected), found[key].sweep.angle, found[key].moment)
        np.testing.assert_allclose(own, list(expected.values()), rtol=0.12)
