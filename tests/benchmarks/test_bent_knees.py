"""Bent knees: balance of the poses, and what the exchanges do by hand."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.validation.bent_knees import (
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
    sunk,
    weight,
)
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.dynamics.kinematics.motion_derivatives import motion_from
from musclesolve.dynamics.model.mass_center import mass_center

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
    assert (least < force + 1e-3).all() and (least > force - 0.06).all()
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


def test_a_squat_in_motion_stands_on_its_feet_and_pushes_at_its_lowest() -> None:
    """The force on the feet is W (1 + a / g) / 2, with the acceleration a of the mass center by differences."""
    period, times = 4.0, 2.0 + 0.01 * np.array([-1.0, 0.0, 1.0])  # about the lowest point, half of a period
    depth = 0.5 * (1.0 - np.cos(2.0 * np.pi * times / period))
    whole = np.multiply.outer(depth, SQUAT.coordinates(subject()))
    whole[:, -6:-3] = sunk(SQUAT, depth)
    motion = motion_from(subject(), times, whole, 0.0 * whole, 0.0 * whole)
    ankle = motion.q[:, subject().slot("ankle_r")]
    np.testing.assert_allclose(ankle - ankle[0], 0.0, atol=1e-6)
    height = mass_center(subject(), motion.q)[:, 2]
    pushed = 1.0 + (height[2] - 2.0 * height[1] + height[0]) / 0.01**2 / STANDARD_GRAVITY
    moving, still = Held(period=period).solved(SQUAT, DEPTH), Held().solved(SQUAT, DEPTH)
    forces = []
    for found in (moving, still):
        loads = found.part.loads
        forces.append(loads.net[-1, loads.joints.index("ankle_r"), 2])
    # the foot, 1.4 % of the body, rests
    assert forces[0] / forces[1] == pytest.approx(pushed, abs=0.01) and pushed > 1.03
