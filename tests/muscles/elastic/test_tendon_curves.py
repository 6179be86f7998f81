"""Tendon curves: their norm, and the numbers of OpenSim's own code."""

import numpy as np
import pytest
from elastic_muscle import elastic_muscles
from scipy.integrate import quad

from muscle_db.model import CURVES
from musclesolve.muscles.elastic.elastic_muscles import tendon_curves, tendon_energy, tendon_of_family

TENDONS = pytest.mark.parametrize("curve", tendon_curves().values(), ids=tendon_curves())

SHARES = np.linspace(-0.2, 1.5, 50)
"""Strains over the strain at one maximum isometric force at which OpenSim was asked."""

# fmt: off
MILLARD = np.array(
    [
        0.0, 0.0, 0.0, 0.0, 0.0,
        0.0, 7.806643e-05, 0.008125216513, 0.024487544685, 0.043287148837,
        0.063403822484, 0.084869076576, 0.108104075063, 0.133173689366, 0.15927923992,
        0.185681769876, 0.213286518357, 0.243664683317, 0.27684598712, 0.311954395172,
        0.348318018057, 0.385611258464, 0.423760825107, 0.462908277833, 0.503440782482,
        0.545992083516, 0.591041046417, 0.638042171189, 0.685714285714, 0.733418367347,
        0.78112244898, 0.828826530612, 0.876530612245, 0.924234693878, 0.97193877551,
        1.01964285714, 1.06734693878, 1.11505102041, 1.16275510204, 1.21045918367,
        1.25816326531, 1.30586734694, 1.35357142857, 1.4012755102, 1.44897959184,
        1.49668367347, 1.5443877551, 1.59209183674, 1.63979591837, 1.6875,
    ]
)
"""TendonForceLengthCurve(0.049).calcValue of OpenSim 4.6 (Python wheel 4.6-2026-06-22), its defaults otherwise."""

THELEN = np.array(
    [
        0.0, 0.0, 0.0, 0.0, 0.0,
        0.0, 0.00070993514, 0.004067158582, 0.008050527956, 0.012776823911,
        0.018384607511, 0.025038282441, 0.032932914837, 0.042299952049, 0.053414007995,
        0.066600914034, 0.082247271379, 0.100811785106, 0.122838712031, 0.148973816723,
        0.179983303409, 0.21677627883, 0.260431404567, 0.31222852022, 0.371149156909,
        0.430540625423, 0.489932093937, 0.549323562451, 0.608715030965, 0.66810649948,
        0.727497967994, 0.786889436508, 0.846280905022, 0.905672373536, 0.96506384205,
        1.02445531057, 1.08384677908, 1.14323824759, 1.20262971611, 1.26202118462,
        1.32141265314, 1.38080412165, 1.44019559016, 1.49958705868, 1.55897852719,
        1.61836999571, 1.67776146422, 1.73715293273, 1.79654440125, 1.85593586976,
    ]
)
"""Tendon force over F0 of Thelen2003Muscle of OpenSim 4.6 with FmaxTendonStrain = 0.04."""
# fmt: on


@TENDONS
def test_the_force_is_one_at_one_and_zero_at_the_start(curve):
    assert curve.force(np.array(1.0)) == pytest.approx(1.0, abs=1e-12)
    assert curve.force(np.array(curve.start)) == pytest.approx(0.0, abs=1e-12)


@TENDONS
def test_the_force_grows_with_the_strain_ever_faster_or_straight(curve):
    force = curve.force(np.linspace(curve.start, 3.0, 3001))
    assert np.diff(force).min() > 0.0 and np.diff(force, 2).min() > -1e-9


def test_millard_is_what_opensim_computes():
    np.testing.assert_allclose(tendon_curves()["millard_2013"].force(SHARES), MILLARD, rtol=0, atol=1e-11)


def test_millard_ends_its_toe_at_two_thirds_with_the_slope_at_one():
    """OpenSim's defaults: norm_force_at_toe_end = 2/3, stiffness_at_one_norm_force = 1.375 / e0; then straight."""
    force = tendon_curves()["millard_2013"].force
    end = 1.0 - (1.0 - 2.0 / 3.0) / 1.375
    assert force(np.array(end)) == pytest.approx(2.0 / 3.0, abs=1e-12)
    slope = np.diff(force(np.array([end + 1e-3, 1.0, 2.0]))) / np.diff([end + 1e-3, 1.0, 2.0])
    np.testing.assert_allclose(slope, 1.375, rtol=1e-12)


def test_thelen_is_what_opensim_computes_where_tendons_bear():
    taut = SHARES > 0.0
    found = tendon_curves()["thelen_2003"].force(SHARES)
    np.testing.assert_allclose(found[taut], THELEN[taut], rtol=0, atol=1e-11)


def test_thelen_is_the_published_formula():
    """Eq. 6 with F_toe = 0.33, k_toe = 3, e_toe = 0.609 e0 and k_lin = 1.712 / e0, numbers rounded in print."""
    z = np.linspace(0.0, 1.5, 151)
    toe = 0.33 / np.expm1(3.0) * np.expm1(3.0 * z / 0.609)
    printed = np.where(z < 0.609, toe, 1.712 * (z - 0.609) + 0.33)
    np.testing.assert_allclose(tendon_curves()["thelen_2003"].force(z), printed, rtol=0, atol=2e-3)


@pytest.mark.parametrize("strain", [0.049, 0.08])
def test_de_groote_is_the_published_formula(strain):
    """c1 exp(kT (l - c2)) - c3, c = 0.2, 0.995, 0.25, with kT so that the force is one at the given strain.

    DeGrooteFregly2016Muscle of OpenSim has c2 = 1 and c3 = 0.2 instead, so that the force is zero at no strain.
    """
    curve = tendon_curves()["de_groote_2016"]
    stiffness = np.log(1.25 / 0.2) / (1.0 + strain - 0.995)
    at = SHARES * strain
    published = 0.2 * np.exp(stiffness * (1.0 + at - 0.995)) - 0.25
    z = (at - curve.strain_at_start) / (strain - curve.strain_at_start)
    np.testing.assert_allclose(curve.force(z), published, rtol=0, atol=1e-12)


@pytest.mark.parametrize("family", CURVES)
def test_energy_is_the_integral_of_the_force(family):
    """By quadrature of the curve itself, up to beyond the grid of its spline; none where slack."""
    muscles, curve = elastic_muscles(family, 0.06), tendon_of_family(family)
    z = np.array([[0.4], [0.9], [1.7], [2.9]]) + np.zeros(3)
    area = [quad(curve.force, curve.start, row[0], epsabs=1e-12, limit=200)[0] for row in z]
    expected = np.array(area)[:, None] * muscles.parameters.max_isometric_force * muscles.stretch
    np.testing.assert_allclose(tendon_energy(muscles, z), expected, rtol=1e-8)
    assert not tendon_energy(muscles, muscles.start[None] - 0.3).any()
    beyond, within = (
        tendon_energy(muscles, np.full((1, 3), 3.5)),
        tendon_energy(muscles, np.full((1, 3), 3.0)),
    )
    ends = [muscles.curves.tendon(np.full((1, 3), at)).value for at in (3.0, 3.5)]
    np.testing.assert_allclose(
        beyond - within, 0.25 * sum(ends) * muscles.parameters.max_isometric_force * muscles.stretch
    )


def test_energy_of_a_rigid_tendon_is_none():
    assert not tendon_energy(elastic_muscles(elastic=False), np.ones((2, 3))).any()
