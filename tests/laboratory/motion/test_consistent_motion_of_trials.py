"""Consistent motion of trials: measured angles, derivatives by two routes."""

from __future__ import annotations

import numpy as np

from musclesolve import read_trial
from musclesolve.data import reference_stride
from musclesolve.dynamics import Targets, consistent_motion
from musclesolve.laboratory.forces import mechanics


def test_a_subject_that_starts_backward_is_rotated():
    """Half a rotation off the misfit is stationary too."""
    recorded = mechanics(read_trial(reference_stride()))
    seen, start = recorded.measured, recorded.fit.coordinates.copy()
    start[:, -1] += np.deg2rad(170.0)
    targets = Targets.build(recorded.model, seen.points, seen.directions)
    fit, _ = consistent_motion(recorded.model, targets, seen.time, start=start)
    np.testing.assert_allclose(fit.q, recorded.fit.q, atol=1e-7)
