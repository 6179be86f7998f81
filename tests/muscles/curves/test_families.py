"""Laws of every family of Hill curves, and numbers of other programs."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused

import muscle_db
from musclesolve.muscles.curves.curve_family import CURVES, DeGrooteFregly2016, Thelen2003, curve_family
from musclesolve.muscles.curves.millard_2013 import Millard2013

FAMILIES = pytest.mark.parametrize("family", CURVES.values(), ids=CURVES)
LENGTHS, VELOCITIES = np.linspace(0.03, 2.6, 1501) + 1.3e-4, np.linspace(-1.4, 1.4, 1501) + 1.7e-4
STRAINS = [(-0.19, 0.66), (0.0, 0.5), (0.15, 0.55)]
OPTIMUM = {"silva_2003": 0.95}
PEAK = {"silva_2003": (0.95, 1.0), "de_groote_2016": (1.0133, 1.0010734)}
"""Where the active curve is greatest, and how great: the published sum of Gaussians exceeds one."""


def curves_and_slopes(family):
    """Each curve, its slope, and where; the passive one with the strains of each of three muscles."""
    yield family.active, family.active_slope, LENGTHS
    yield family.velocity, family.velocity_slope, VELOCITIES
    zero, one = np.array(STRAINS).T
    three = np.tile(LENGTHS[:, None], (1, 3))
    yield lambda x: family.passive(x, zero, one), lambda x: family.passive_slope(x, zero, one), three


@FAMILIES
def test_slopes_are_those_of_the_curves(family):
    step = 1e-6
    for curve, slope, at in curves_and_slopes(family):
        difference = (curve(at + step) - curve(at - step)) / (2.0 * step)
        np.testing.assert_allclose(slope(at), difference, rtol=0, atol=1e-8)


@FAMILIES
def test_the_curves_are_one_where_they_are_normalized(family):
    assert family.active(OPTIMUM.get(family.name, 1.0)) == pytest.approx(1.0, abs=1e-10)
    assert family.velocity(0.0) == pytest.approx(1.0, abs=1e-12)
    assert family.velocity(-1.0) == pytest.approx(0.0, abs=1e-12)
    for zero, one in [*STRAINS, family.passive_strain]:
        assert family.passive(1.0 + one, zero, one) == pytest.approx(1.0, abs=1e-12)
        assert family.passive(1.0 + zero, zero, one) == pytest.approx(0.0, abs=1e-12)


@FAMILIES
def test_the_active_curve_rises_to_the_optimum_and_falls_behind_it(family):
    force, (top, most) = family.active(LENGTHS), PEAK.get(family.name, (1.0, 1.0))
    assert force.min() >= 0.0 and force.max() == pytest.approx(most, abs=1e-5)
    assert np.diff(force[LENGTHS > top + 1e-3]).max() <= 0.0
    rising = force[(LENGTHS < top) & (LENGTHS > 0.6)]
    assert np.diff(rising).min() > 0.0


@FAMILIES
def test_force_grows_with_the_velocity_of_lengthening_and_with_stretch(family):
    speed = family.velocity(VELOCITIES)
    assert np.diff(speed).min() >= 0.0 and speed.min() >= 0.0 and 1.3 < speed.max() < 1.8
    for zero, one in STRAINS:
        force = family.passive(LENGTHS[LENGTHS < 1.0 + one], zero, one)
        assert np.diff(force).min() >= 0.0 and not force[LENGTHS[: force.size] <= 1.0 + zero].any()


@FAMILIES
def test_no_velocity_gives_a_negative_force(family):
    assert family.velocity(np.linspace(-1.1, -0.9, 100_001)).min() >= 0.0


@FAMILIES
def test_no_length_gives_a_negative_force(family):
    """Not by rounding either: curves that end at zero would give capacities of -1e-13 N, which a problem refuses."""
    assert family.active(np.linspace(0.0, 4.0, 2_000_003)).min() >= 0.0


@FAMILIES
@settings(derandomize=True)
@given(st.floats(-3.0, 3.0), st.floats(0.0, 1e-6))
def test_curves_do_not_jump(family, x, step):
    """No more than the steepest slope allows; the passive curve of Silva steps by 4e-4 at 1.63 as printed."""
    printed = 3.77e-4 if family.name == "silva_2003" else 0.0
    for curve, slope, jump in (
        (family.active, 8.0, 0.0),
        (family.velocity, 12.0, 0.0),
        (lambda at: family.passive(at, *family.passive_strain), 10.0, printed),
    ):
        assert abs(curve(x + step) - curve(x)) <= slope * step + jump + 1e-12


@FAMILIES
@settings(derandomize=True)
@given(st.floats(-1e6, 1e6))
def test_any_number_has_a_finite_force(family, x):
    for value in (family.active(x), family.velocity(x), family.passive(x, *family.passive_strain)):
        assert np.isfinite(value) and value >= 0.0


@FAMILIES
def test_what_is_missing_stays_missing(family):
    missing = np.array([np.nan, 1.2])
    for curve, slope in (
        (family.active, family.active_slope),
        (family.velocity, family.velocity_slope),
        (lambda x: family.passive(x, 0.0, 0.5), lambda x: family.passive_slope(x, 0.0, 0.5)),
    ):
        assert np.isnan(curve(missing)).tolist() == [True, False]
        assert np.isfinite(slope(missing)[1])


@FAMILIES
def test_a_family_is_found_by_its_name_and_can_be_sent_to_a_process(family):
    assert curve_family(family.name) is family
    again = pickle.loads(pickle.dumps(family))
    np.testing.assert_array_equal(again.active(LENGTHS), family.active(LENGTHS))


def test_a_muscle_set_may_name_every_family():
    assert set(muscle_db.model.CURVES) == set(CURVES)


def test_an_unknown_family_is_refused():
    with refused("unknown_name", "millard", "millard_2013"):
        curve_family("millard")


# OpenSim 4.6: ActiveForceLengthCurve with its defaults and with the parameters of the Rajagopal models,
# ForceVelocityCurve, DeGrooteFregly2016Muscle.
LENGTH = [0.3, 0.5, 0.6, 0.75, 0.9, 1.04, 1.2, 1.5]
VELOCITY = [-0.97, -0.8, -0.5, -0.05, 0.05, 0.2, 0.5, 0.97]
ACTIVE = {
    "millard_2013": [0.1, 0.1176534, 0.4511019, 0.8260375, 0.9567598, 0.9984625, 0.823681, 0.4033687],
    "millard_2013_rajagopal": [
        *(0.0138141, 0.4117069, 0.6190281, 0.8482897, 0.9624369, 0.9984813, 0.8427783, 0.4687501)
    ],
    "de_groote_2016": [
        0.0142265,
        0.0541122,
        0.3021031,
        0.7781125,
        0.9371228,
        0.9965846,
        0.7936897,
        0.2261486,
    ],
}
OF_MILLARD = [0.000793, 0.037903, 0.1580856, 0.7719217, 1.1723457, 1.2694651, 1.3311316, 1.3999033]
SPEED = {
    "millard_2013": OF_MILLARD,
    "millard_2013_rajagopal": OF_MILLARD,
    "de_groote_2016": [
        0.0101731,
        0.0747592,
        0.2340364,
        0.8717928,
        1.1131452,
        1.3466794,
        1.5884234,
        1.7850625,
    ],
}


@pytest.mark.parametrize("name", ACTIVE)
def test_active_and_velocity_curves_are_those_of_opensim(name):
    np.testing.assert_allclose(CURVES[name].active(LENGTH), ACTIVE[name], rtol=0, atol=1e-7)
    np.testing.assert_allclose(CURVES[name].velocity(VELOCITY), SPEED[name], rtol=0, atol=1e-7)


STRETCHED = [0.9, 1.02, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8]


@pytest.mark.parametrize(
    ("strains", "expected"),
    [
        ((0.0, 0.7), [0.0, 0.0008774, 0.049692, 0.1261112, 0.2628898, 0.4602615, 0.7170695, 1.2857143]),
        ((-0.19, 0.66), [0.013848, 0.0441101, 0.1565833, 0.2734199, 0.4306576, 0.6312333, 0.8591118, 1.3294118]),
        ((0.15, 0.55), [0.0, 0.0, 0.0083244, 0.0767621, 0.3226353, 0.75158, 1.25, 2.25]),
    ],
)  # fmt: skip
def test_the_passive_curve_of_millard_is_that_of_opensim(strains, expected):
    """FiberForceLengthCurve of OpenSim 4.6; muscles with other strains in the same call change nothing."""
    found = CURVES["millard_2013"].passive(STRETCHED, *strains)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7)
    beside = np.array([strains, (0.05, 0.4)]).T
    both = CURVES["millard_2013"].passive(np.tile(np.array(STRETCHED)[:, None], (1, 2)), *beside)
    np.testing.assert_array_equal(both[:, 0], found)


def test_the_passive_curve_of_millard_with_parameters_of_its_own_is_that_of_opensim():
    """FiberForceLengthCurve(-0.05, 0.5, 0.3, 5, 0.6) of OpenSim 4.6."""
    stated = {"stiffness_at_low_force": 0.3, "stiffness_at_one_norm_force": 5.0, "curviness": 0.6}
    found = Millard2013("own", {"passive": stated}).passive([0.9, *LENGTH[5:], 0.96, 1.6], -0.05, 0.5)
    np.testing.assert_allclose(found, [0.0, 0.0255535, 0.1538634, 1.0, 0.0006844, 1.5], rtol=0, atol=1e-7)


def test_the_muscle_of_de_groote_and_fregly_is_that_of_opensim():
    """DeGrooteFregly2016Muscle of OpenSim 4.6 with the width 1.4 and a passive strain of 0.45."""
    family = DeGrooteFregly2016(active_width=1.4)
    active = [0.0541122, 0.4913519, 0.7169702, 0.8582794, 0.9626049, 0.9996159, 0.8959159, 0.4618827]
    passive = [2.14e-05, 0.0002001, 0.0005083, 0.0019699, 0.007515, 0.0261214, 0.1083547, 1.5596319]
    np.testing.assert_allclose(family.active(LENGTH), active, rtol=0, atol=1e-7)
    np.testing.assert_allclose(family.passive(LENGTH, 0.0, 0.45), passive, rtol=0, atol=1e-7)
    assert family.passive(0.1, 0.0, 0.45) == 0.0
    for curve, slope in (
        (family.active, family.active_slope),
        (lambda x: family.passive(x, 0.0, 0.45), lambda x: family.passive_slope(x, 0.0, 0.45)),
    ):
        rise = (curve(LENGTHS + 1e-6) - curve(LENGTHS - 1e-6)) / 2e-6
        np.testing.assert_allclose(slope(LENGTHS), rise, rtol=1e-6, atol=1e-7)


def test_the_passive_curve_of_thelen_by_hand():
    family = CURVES["de_groote_2016"]
    assert family.passive(1.3, 0.0, 0.6) == pytest.approx((np.exp(2.0) - 1.0) / (np.exp(4.0) - 1.0))
    slope = 4.0 / 0.6 * np.exp(4.0) / (np.exp(4.0) - 1.0)
    assert family.passive(1.9, 0.0, 0.6) == pytest.approx(1.0 + 0.3 * slope)


def test_the_usual_curves_of_thelen_have_the_published_constants():
    """Thelen (2003): gamma 0.45, k 5, A_f 0.25, F_len 1.4; c = (2 + 2 / 0.25) / 0.4 = 25."""
    usual = Thelen2003()
    assert usual.active(1.45) == pytest.approx(np.exp(-0.45))
    assert usual.passive(1.3) == pytest.approx(np.expm1(2.5) / np.expm1(5.0))
    assert usual.velocity([-0.5, 1.0]) == pytest.approx([0.5 / 3.0, 36.0 / 26.0])


def test_thelen_is_that_of_opensim():
    """The values are those of Thelen2003Muscle of OpenSim 4.6 with the parameters of the model arm26."""
    family = Thelen2003(active_width=0.5, passive_shape=4.0, concentric_shape=0.3, max_eccentric_force=1.8)
    np.testing.assert_allclose(
        family.active([0.9, 1.3, 1.59]), [0.9801986734, 0.8352702114, 0.4984759178], atol=1e-9
    )
    np.testing.assert_allclose(
        family.passive([0.9, 1.1, 1.3, 1.59], 0.0, 0.6),
        [0.0, 0.0176822155, 0.1192029220, 0.9343037156],
        atol=1e-9,
    )
    speed = [0.129820265877, 0.166616641209, -0.007757404110, -0.028306856197, -0.050367679488]
    force = [1.467551286882, 1.514796393050, 0.967231900164, 0.887913053410, 0.813116371264]
    np.testing.assert_allclose(family.velocity(speed), force, atol=1e-9)
