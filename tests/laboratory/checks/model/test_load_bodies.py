"""On which body a load acts, by where its center of pressure lies: also of both feet side by side, as in a squat."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from musclesolve.laboratory.checks.model.load_bodies import load_bodies
from musclesolve.laboratory.checks.model.model_case import ModelCase
from musclesolve.models.opensim.coordinate_motion import coordinate_motion
from musclesolve.models.opensim.external_loads import ExternalLoad
from musclesolve.models.opensim.load_dynamics import load_dynamics

TIME = np.linspace(0.0, 2.0, 101)
DOFS = ("hip_adduction_r", "ankle_angle_r", "hip_adduction_l", "ankle_angle_l")


@pytest.fixture(scope="module")
def squat(public_model) -> ModelCase:
    """Both knees bend; half of the weight is under the middle of each foot."""
    model = public_model("rajagopal_2016")
    driven = {coupler.dependent for coupler in model.couplers}
    free = [name for name, each in model.coordinates.items() if not each.locked and name not in driven]
    bent = 0.6 * (1.0 - np.cos(np.pi * TIME))
    moved = {"knee_angle": bent, "hip_flexion": 0.8 * bent, "ankle_angle": 0.4 * bent}
    motion = coordinate_motion(
        model, {"time": TIME, **{name: moved.get(name[:-2], 0.0 * TIME) for name in free}}
    )
    body = SimpleNamespace(
        model=model, motion=motion, every_motion=motion, dofs=DOFS, dynamics=None, moment_table=None
    )
    body.moment = np.zeros((len(TIME), len(DOFS)))
    case, none = ModelCase.from_body(body), np.zeros((len(TIME), 3))  # type: ignore[arg-type]
    force = none + np.array([0.0, 0.5 * model.weight, 0.0])
    loads = tuple(
        ExternalLoad(f"plate {foot.side}", foot.body, TIME, force, 0.5 * (foot.heel + foot.tip), none)
        for foot in case.feet
    )
    body.dynamics = load_dynamics(model, motion, loads)
    return replace(case, loads=loads)


def test_each_load_on_its_own_foot_is_right(squat: ModelCase) -> None:
    assert list(load_bodies(squat)) == []


def test_a_plate_without_load_has_no_foot(squat: ModelCase) -> None:
    right, left = squat.loads
    empty = replace(left, force=0.0 * left.force)
    for one in (empty, replace(empty, body="pelvis")):
        assert list(load_bodies(replace(squat, loads=(right, one)))) == []


def test_exchanged_feet_cost_the_hip_its_adduction(squat: ModelCase) -> None:
    """Half the weight, as far beside a foot as the feet are apart."""
    right, left = squat.loads
    loads = (replace(right, body=left.body), replace(left, body=right.body))
    found = list(load_bodies(replace(squat, loads=loads)))
    assert [(each.code, each.severity) for each in found] == [("plates_swapped", "error")] * 2
    assert all(each.cost is not None and each.cost.size > 20.0 for each in found)
    assert all(each.cost is not None and each.cost.of.startswith("hip_adduction") for each in found)


def test_a_plate_on_which_both_feet_step_in_turn_is_wrong_in_one_contact(squat: ModelCase) -> None:
    right, left = squat.loads
    first, second = TIME[:, None] < 0.8, TIME[:, None] > 1.2
    force = np.where(first | second, right.force, 0.0)
    one = replace(right, force=force, point=np.where(first, right.point, left.point))
    (found,) = load_bodies(replace(squat, loads=(one,)))
    assert found.code == "plates_swapped" and left.body in found.what
    (times,) = found.where.times
    np.testing.assert_allclose(times, (1.2, 2.0), atol=0.05)


def test_a_load_on_the_shank_is_of_the_foot_and_one_on_a_seat_or_a_brace_is_not(squat: ModelCase) -> None:
    right, left = squat.loads
    shank = replace(right, body="tibia_r")
    (found,) = load_bodies(replace(squat, loads=(shank, left)))
    assert found.code == "load_body" and right.body in found.remedy
    assert found.cost is not None and found.cost.of.endswith("_r")
    brace = replace(shank, point=right.point + np.array([0.0, 0.4, 0.0]))
    seat = replace(right, body="pelvis", point=right.point + np.array([-0.5, 0.4, 0.0]))
    for held in (brace, seat):
        assert list(load_bodies(replace(squat, loads=(held, left)))) == []


def test_a_wrench_about_any_point_is_one_wrench(squat: ModelCase) -> None:
    """A load about the corner of a plate, with its moment there, has the same center of pressure."""
    moved = []
    for load in squat.loads:
        away = np.array([0.7, -0.05, 0.4])
        moved.append(replace(load, point=load.point - away, moment=load.moment + np.cross(away, load.force)))
    assert list(load_bodies(replace(squat, loads=tuple(moved)))) == []
