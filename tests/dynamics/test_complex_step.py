"""The path from joint coordinates to moments is analytic: an imaginary step gives an exact derivative."""

import numpy as np

from musclesolve.dynamics import projected_moments
from musclesolve.dynamics.kinematics.motion_derivatives import motion_from


def test_an_imaginary_step_gives_the_slope_of_the_moments(model, motion, wrenches):
    rng = np.random.default_rng(5)
    along = rng.normal(size=(3, *motion.coordinates.shape))
    state = np.stack([motion.coordinates, motion.rates, motion.second])

    def moments(step):
        return projected_moments(model, motion_from(model, motion.time, *(state + step * along)), wrenches)

    exact = moments(1e-30j).imag / 1e-30
    differenced = (moments(1e-5) - moments(-1e-5)) / 2e-5
    assert np.abs(exact - differenced).max() < 1e-8 * np.abs(exact).max()
    np.testing.assert_allclose(moments(1e-30j).real, projected_moments(model, motion, wrenches), atol=1e-9)
