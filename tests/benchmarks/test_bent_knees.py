"""Bent knees: balance of the poses, and what the exchanges do by hand."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.bent_knees import (
    DEEPEST,
    FLEXION,
    HIPS,
    KNEE,
    LEAST_KNEE,
    SQUAT,
    Held,
    contact,
    ligament_arm,
    seat_off,
    subject,
    weight,
)
from musclesolve.dynamics.kinematics.motion_derivatives import motion_from

DEPTH = np.array(FLEXION) / DEEPEST


@pytest.mark.parametrize("pose", [SQUAT, *map(seat_off, HIPS)])
def test_feet_are_flat_and_the_body_is_above_them(pose) -> None:
    whole = pose.coordinates(subject())[None]
    motion = motion_from(subject(), np.zeros(1), whole, 0.0 * whole, 0.0 * whole)
    heel, toe, ankle = (motion.q[0, subject().slot(f"{end}_r")] for end in ("heel", "toe", "ankle"))
    assert (toe - heel)[2] == pytest.approx(0.0, abs=1e-9)
    leg = Held().solved(pose, np.ones(1)).part
    # half of the weight at x has the moment (x - ankle) W / 2 about the ankle, but for what the foot weighs
    pressure = ankle[0] - leg.moment[0, leg.dofs.index("ankle_dorsiflexion_r")] / (0.5 * weight())
    assert heel[0] < pressure < toe[0]


def test_the_exchanges_do_what_they_say() -> None:
    usual = Held().solved(SQUAT, DEPTH)
    moment, force = usual.part.moment[:, KNEE], contact(usual)
    least = contact(Held(cost=LEAST_KNEE).solved(SQUAT, DEPTH))
    assert (least < force + 1e-3).all() and (least > force - 0.05).all()
    # the knee bears some 0.44 of the weight besides the ligament, which an arm half as long again relieves by a third
    longer = contact(Held(ligament=1.5).solved(SQUAT, DEPTH))
    tension = -moment / ligament_arm() / weight()
    np.testing.assert_allclose(force - longer, tension / 3.0, rtol=0.06)
    # half of the weight, some 0.01 m nearer to the axis or to the foot, times the sine of the slope of the shank
    for changed in (Held(behind=0.01), Held(pressure=0.01)):
        relieved = changed.solved(SQUAT, DEPTH).part.moment[:, KNEE] - moment
        assert (relieved > 0.0).all() and (relieved < 0.01 * 0.5 * weight() + 1e-9).all()
    np.testing.assert_allclose(
        Held(pressure=0.01).solved(SQUAT, DEPTH).part.moment[:, KNEE] - moment,
        0.01 * 0.5 * weight(),
        rtol=1e-6,
    )
