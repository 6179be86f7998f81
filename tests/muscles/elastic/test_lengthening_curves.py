"""Force-velocity curves without bound."""

import numpy as np
import pytest
from elastic_muscle import elastic_muscles

from muscle_db.model import CURVES
from musclesolve.muscles.elastic.elastic_muscles import LEAST_SLOPE, LengtheningCurves

FAMILIES = pytest.mark.parametrize("family", CURVES)


@FAMILIES
def test_curves_for_lengthening_rise_and_are_those_of_the_muscle_where_it_is_not_flat(family):
    smooth = elastic_muscles(family).curves.velocity
    curve = LengtheningCurves.from_force_velocity(smooth)
    v = np.tile(np.linspace(-1.6, 1.6, 2001)[:, None], 3)
    assert np.diff(curve(v), axis=0).min() >= 0.99 * LEAST_SLOPE * 1.6e-3
    corner = 0.0 if family == "thelen_2003" else 0.2  # where a spline cannot follow
    within = (v > -0.98) & (v < 0.19) & (np.abs(v - corner) > 0.01)
    np.testing.assert_allclose(curve(v)[within], smooth(v).value[within], atol=1e-6)
