"""Published passive moments: their equations by hand, their signs, and how well two studies agree."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused

from musclesolve.muscles.passive.joint_moments import published_sweeps, riener_edrich_1999

SWEEPS = published_sweeps()


def at(dof: str, hip: float = 0.0, knee: float = 0.0, ankle: float = 0.0) -> float:
    """Riener and Edrich at angles in degrees."""
    angles = {"hip_flexion": hip, "knee_flexion": knee, "ankle_dorsiflexion": ankle}
    return float(riener_edrich_1999(dof, {name: np.radians([angle]) for name, angle in angles.items()})[0])


def test_the_equations_of_riener_and_edrich_by_hand():
    """In the source the ankle and its moment are positive in plantarflexion."""
    exp = np.exp
    plantar = -12.0
    ankle = (
        exp(2.1016 - 0.0843 * plantar - 0.0176 * 30) - exp(-7.9763 + 0.1949 * plantar + 0.0008 * 30) - 1.792
    )
    assert at("ankle_dorsiflexion", 10.0, 30.0, 12.0) == pytest.approx(-ankle)
    knee = exp(1.8 - 0.046 * plantar - 0.0352 * 30 + 0.0217 * 10)
    knee += -exp(-3.971 - 0.0004 * plantar + 0.0495 * 30 - 0.0128 * 10) - 4.82 + exp(2.22 - 0.150 * 30)
    assert at("knee_flexion", 10.0, 30.0, 12.0) == pytest.approx(knee)
    hip = exp(1.4655 - 0.0034 * 30 - 0.075 * 10) - exp(1.3403 - 0.0226 * 30 + 0.0305 * 10) + 8.072
    assert at("hip_flexion", 10.0, 30.0) == pytest.approx(hip)


def test_moments_bring_the_joint_back():
    """Positive at the smallest angle of a range, negative at the largest, and falling between them."""
    for sweep in SWEEPS:
        assert sweep.moment[0] > 0.0 > sweep.moment[-1]
        assert (np.diff(sweep.moment) < 0.0).all() and (np.diff(sweep.angle) > 0.0).all()


def test_muscles_of_two_joints_couple_them():
    extended, bent = (at("ankle_dorsiflexion", knee=knee, ankle=20.0) for knee in (0.0, 60.0))
    assert extended < 2.0 * bent < 0.0  # the gastrocnemii
    assert at("knee_flexion", ankle=20.0) > 2.0 * at("knee_flexion", ankle=-15.0) > 0.0
    assert at("hip_flexion", hip=80.0, knee=15.0) < at("hip_flexion", hip=80.0, knee=60.0)  # the hamstrings


def test_two_studies_agree_within_ten_newton_meters():
    for sweep in SWEEPS:
        other = riener_edrich_1999(sweep.dof, sweep.angles())
        inside = np.abs(other - sweep.moment)[2:-2]
        assert inside.max() < 13.0 and np.sqrt(np.mean(inside**2)) < 7.0


def test_every_joint_is_there_with_its_other_angles():
    joints = [sweep.dof for sweep in SWEEPS]
    assert [joints.count(dof) for dof in ("hip_flexion", "knee_flexion", "ankle_dorsiflexion")] == [2, 3, 3]
    for sweep in SWEEPS:
        angles = sweep.angles()
        np.testing.assert_allclose(np.degrees(angles[sweep.dof]), sweep.angle)
        for dof, held in sweep.fixed.items():
            np.testing.assert_allclose(np.degrees(angles[dof]), held)


def test_another_degree_of_freedom_is_refused():
    with refused("unknown_name", "hip_adduction"):
        riener_edrich_1999("hip_adduction", {})
