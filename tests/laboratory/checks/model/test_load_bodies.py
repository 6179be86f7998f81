"""On which body a load acts, by where its center of pressure lies: also of both feet side by side, as in a squat."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from musclesolve.laboratory.checks.model.load_balance import bodies_of_loads, cut_loads, feet_of_loads
from musclesolve.laboratory.checks.model.model_case import ModelCase, Motion
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
    given = {name: moved.get(name[:-2], 0.0 * TIME) for name in free}
    motion = coordinate_motion(model, {"time": TIME, **given})
    body = SimpleNamespace(model=model, motion=motion, dofs=DOFS, dynamics=None, moment_table=None)
    body.moment = np.zeros((len(TIME), len(DOFS)))
    fixed = Motion.from_body(body)  # type: ignore[arg-type]
    none = np.zeros((len(TIME), 3))
    loads = [
        ExternalLoad(
            f"plate {sole.side}",
            sole.body,
            TIME,
            none + np.array([0.0, 0.5 * fixed.model.weight, 0.0]),
            0.5 * (sole.heel + sole.toe),
            none,
        )
        for sole in fixed.soles
    ]
    body.dynamics = load_dynamics(model, motion, loads)
    return ModelCase(body, fixed, tuple(loads), tuple(loads))  # type: ignore[arg-type]


def test_the_feet_of_a_squat(squat: ModelCase) -> None:
    assert list(feet_of_loads(squat)) == [] == list(bodies_of_loads(squat))


def test_a_plate_without_load_has_no_foot(squat: ModelCase) -> None:
    right, left = squat.loads
    empty = replace(left, force=0.0 * left.force)
    elsewhere = replace(empty, body="pelvis")
    for loads in ((right, empty), (right, elsewhere)):
        case = replace(squat, loads=loads)
        assert list(feet_of_loads(case)) == [] == list(bodies_of_loads(case))


def test_exchanged_feet_of_a_squat(squat: ModelCase) -> None:
    right, left = squat.loads
    loads = (replace(right, body=left.body), replace(left, body=right.body))
    found = list(feet_of_loads(replace(squat, loads=loads)))
    assert [(each.code, each.severity) for each in found] == [("plates_swapped", "error")] * 2
    repaired = replace(squat, loads=loads).with_findings(found)
    assert [load.body for load in repaired.loads] == [right.body, left.body]
    assert list(feet_of_loads(repaired)) == []
    # half the weight, as far beside a foot as the feet are apart
    assert all(each.cost is not None and each.cost.size > 20.0 for each in found)
    assert all(each.cost is not None and each.cost.of.startswith("hip_adduction") for each in found)


def test_a_plate_on_which_both_feet_step_in_turn(squat: ModelCase) -> None:
    """One contact under each foot, with a pause between: a load for each foot."""
    right, left = squat.loads
    first, second = TIME[:, None] < 0.8, TIME[:, None] > 1.2
    force = np.where(first | second, right.force, 0.0)
    one = replace(right, force=force, point=np.where(first, right.point, left.point))
    case = replace(squat, loads=(one,))
    (found,) = feet_of_loads(case)
    assert found.code == "plates_swapped" and found.repair is not None
    assert [(round(a, 1), round(b, 1)) for a, b in found.where.times] == [(1.2, 2.0)]
    parts = found.repair(case.loads)
    assert [load.body for load in parts] == [right.body, left.body]
    np.testing.assert_array_equal(parts[0].force + parts[1].force, force)
    assert not parts[0].force[TIME > 1.1].any() and not parts[1].force[TIME < 0.9].any()


def test_bodies_that_are_no_feet(squat: ModelCase) -> None:
    """The foot is named; a load that lies under no foot, as that of a seat, is left alone."""
    right, left = squat.loads
    shank = replace(right, body="tibia_r")
    (found,) = bodies_of_loads(replace(squat, loads=(shank, left)))
    assert found.code == "load_body" and right.body in found.remedy and found.cost is not None
    assert found.cost.of.endswith("_r")
    brace = replace(shank, point=right.point + np.array([0.0, 0.4, 0.0]))
    assert list(bodies_of_loads(replace(squat, loads=(brace, left)))) == []
    seat = replace(right, body="pelvis", point=right.point + np.array([-0.5, 0.4, 0.0]))
    assert list(bodies_of_loads(replace(squat, loads=(seat, left)))) == []


def test_a_load_that_names_no_point_and_carries_the_body_is_found(squat: ModelCase) -> None:
    """OpenSim lets it act at the origin of its body; a small force there may be of a device."""
    right, left = squat.loads
    at_origin = replace(right, point=0.0 * right.point, point_frame=right.body)
    for force, codes in ((at_origin.force, ["load_body"]), (0.1 * at_origin.force, [])):
        loads = (replace(at_origin, force=force), left)
        assert [each.code for each in bodies_of_loads(replace(squat, loads=loads))] == codes


def test_a_load_that_keeps_force_and_point_was_held(squat: ModelCase) -> None:
    """A force alone may be constant, as of a person who is weighed."""
    right, left = squat.loads
    moved = replace(right, force=right.force * np.linspace(1.0, 1.2, len(TIME))[:, None])
    held = [replace(moved, **{key: getattr(moved, key).copy() for key in ("force", "point")}) for _ in "12"]
    for load, parts in zip(held, (("force",), ("force", "point")), strict=True):
        for key in parts:
            getattr(load, key)[20:35] = getattr(load, key)[20]
    assert not list(cut_loads(replace(squat, loads=(held[0], left))))
    constant = replace(right, force=0.0 * right.force + [0.0, 400.0, 0.0], point=0.0 * right.point)
    assert not list(cut_loads(replace(squat, loads=(constant, left))))
    (found,) = cut_loads(replace(squat, loads=(held[1], left)))
    assert found.code == "plate_clipped" and "plate r" in found.what and found.where.times == ((0.42, 0.68),)
