"""The linear equations of the schemes, and motions between their frames."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from motion_cases import small_motion

from musclesolve.trajectory.collocation.program import moment_interpolation, motion_at
from musclesolve.trajectory.collocation.transcription import radau_scheme, spline_scheme
from musclesolve.trajectory.time_basis import TimeBasis

TIME = np.cumsum(np.random.default_rng(0).uniform(0.005, 0.02, 9))


def test_spline_is_that_of_the_time_basis():
    basis = TimeBasis.from_times(TIME)
    z = np.random.default_rng(1).random((len(TIME), 3))
    rate = basis.rates(basis.coefficients(z))
    scheme = spline_scheme(TIME, 1)
    assert np.abs(scheme.by_state @ z + scheme.by_rate @ rate).max() <= 1e-13
    assert np.linalg.cond(scheme.by_rate.toarray()) < 100.0  # so nothing else satisfies the equations


def test_spline_between_nodes_is_its_own():
    scheme = spline_scheme(TIME, 2)
    cube = np.polynomial.Polynomial([0.3, -1.0, 20.0, 700.0])
    z, rate = cube(scheme.time), cube.deriv()(scheme.time)
    middles = scheme.middles
    assert middles.value[0] @ z + middles.value[1] @ rate == pytest.approx(cube(middles.time), abs=1e-13)
    assert middles.rate[0] @ z + middles.rate[1] @ rate == pytest.approx(
        cube.deriv()(middles.time), abs=1e-11
    )


@pytest.mark.parametrize("mesh", [1, 3])
@pytest.mark.parametrize("order", [1, 3])
def test_polynomials_of_the_order_are_exact(order, mesh):
    scheme = radau_scheme(TIME, order, mesh)
    line = np.polynomial.Polynomial(
        np.random.default_rng(2).normal(size=order + 1) * 10.0 ** np.arange(order + 1)
    )
    z, rate = line(scheme.time), line.deriv()(scheme.time)
    assert np.abs(scheme.by_state @ z + scheme.by_rate @ rate).max() <= 1e-12
    middles = scheme.middles
    assert middles.value[0] @ z == pytest.approx(line(middles.time), abs=1e-12)
    assert middles.rate[0] @ z == pytest.approx(line.deriv()(middles.time), abs=1e-9)
    assert scheme.time[scheme.frame] == pytest.approx(TIME)


@pytest.mark.parametrize(("order", "degree"), [(3, 4), (1, 0)])
def test_quadrature_is_exact_to_its_degree(order, degree):
    scheme = radau_scheme(TIME, order, 2)
    power = np.polynomial.Polynomial.basis(degree)
    whole = power.integ()(TIME[-1]) - power.integ()(TIME[0])
    assert scheme.weight @ power(scheme.time) * np.diff(TIME).mean() == pytest.approx(whole, rel=1e-12)


def test_there_are_as_many_moments_as_states_to_be_chosen():
    scheme = radau_scheme(TIME, 2, 2)
    equations, points = scheme.by_rate.shape
    assert len(scheme.time) == 2 * points - equations
    assert (np.diff(scheme.time) > 0.0).all()


def test_motion_between_frames_keeps_its_frames():
    problem = replace(small_motion(frames=12, moments=2), emg=np.random.default_rng(3).random((12, 4)))
    emg = problem.emg.copy()
    emg[4, 1] = np.nan
    problem = replace(problem, emg=emg)
    fine = motion_at(problem, spline_scheme(problem.time, 3).time)
    for name in ("moment_arm", "moment", "musculotendon_length", "musculotendon_velocity", "upper", "emg"):
        own, given = getattr(fine, name)[::3], getattr(problem, name)
        np.testing.assert_allclose(own, given, rtol=1e-12, atol=1e-12)
    assert np.isnan(fine.emg[:, 1]).sum() == 5  # the frame, and the two times on either side of it
    step = 1e-6
    ahead = motion_at(problem, problem.time[:-1] + 0.004 + step).musculotendon_length
    behind = motion_at(problem, problem.time[:-1] + 0.004 - step).musculotendon_length
    speed = motion_at(problem, problem.time[:-1] + 0.004).musculotendon_velocity
    np.testing.assert_allclose((ahead - behind) / (2.0 * step), speed, atol=1e-8)
    assert motion_at(problem, problem.time) is problem


def test_moments_between_frames_are_linear_in_those_of_the_frames():
    problem = small_motion(frames=12, moments=2)
    new = spline_scheme(problem.time, 4).time
    fine = motion_at(problem, new).moment
    np.testing.assert_allclose(moment_interpolation(problem.time, new) @ problem.moment, fine, atol=1e-12)
