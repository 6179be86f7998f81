"""Planted feet that slide accuse an angle or the pelvis; a part of a stride, in which no foot stands, does not."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from modeled import modeled
from recorded_data import recorded

import musclesolve as ms
from benchmarks.planted_model_faults import on_column, trials
from musclesolve.files import Table, read_mot
from musclesolve.laboratory.analysis.opensim.coordinate_motion import coordinate_motion
from musclesolve.laboratory.checks.model.model_case import Motion, soles
from musclesolve.laboratory.checks.model.posture import feet_on_floor, feet_that_slide


@cache
def walk(name: str):
    """A recorded walk of a model, and its coordinates."""
    with TemporaryDirectory() as folder:
        model, coordinates, moments, loads = trials(recorded("rajagopal_walk").parent)[name](Path(folder))
        return modeled(ms.read_osim(model), coordinates, moments, loads=loads), read_mot(coordinates)


def found(name: str, table: Table) -> list[str]:
    body, _ = walk(name)
    body = replace(body, motion=coordinate_motion(body.model, table), dynamics=None)
    return [each.code + ": " + each.what for each in feet_that_slide(body, Motion.from_body(body))]


def parts(name: str, table: Table, seconds: float) -> list[list[str]]:
    """What the floor shows of each window of a walk, starts 0.2 s apart."""
    starts, said = np.arange(table.time[0], table.time[-1] - seconds, 0.2), list[list[str]]()
    for first in starts:
        body = replace(
            walk(name)[0],
            motion=coordinate_motion(walk(name)[0].model, cut(table, first, seconds)),
            dynamics=None,
        )
        said.append([each.code for each in feet_on_floor(body, Motion.from_body(body))])
    return said


@pytest.mark.parametrize("name", ["moments", "belt 1"])
@pytest.mark.parametrize("seconds", [0.5, 0.6, 1.0])
def test_a_window_in_which_no_foot_stands_has_no_offset(name: str, seconds: float) -> None:
    said = parts(name, walk(name)[1], seconds)
    assert said and not any(said)


def test_an_ankle_with_an_offset_is_found_in_every_whole_stride() -> None:
    table = on_column(walk("moments")[1], "ankle_angle_r", lambda values: values + 15.0)
    said = parts("moments", table, 1.3)
    assert len(said) > 4 and all(said)


def cut(table: Table, first: float, seconds: float) -> Table:
    kept = (table.time >= first - 1e-9) & (table.time <= first + seconds + 1e-9)
    return replace(table, time=table.time[kept], values=table.values[kept])


@pytest.mark.parametrize("name", ["moments", "belt 1", "belt 3", "knee", "overground", "service"])
@pytest.mark.parametrize("seconds", [0.6, 0.8, 1.0, 1.2])
def test_a_window_of_a_sound_walk_accuses_nothing(name: str, seconds: float) -> None:
    _, table = walk(name)
    starts = [table.time[0], *np.arange(table.time[0] + 0.15, table.time[-1] - seconds, 0.15)]
    assert [found(name, cut(table, first, seconds)) for first in starts] == [[]] * len(starts)


@pytest.mark.parametrize("seconds", [1.2, 1.5, 2.3])
@pytest.mark.parametrize(
    ("column", "factor", "added", "said"),
    [
        ("knee_angle_r", 1.25, 0.0, "knee_angle_r times 0.8"),
        ("hip_flexion_l", 0.8, 0.0, "hip_flexion_l times 1.25"),
        ("pelvis_rotation", -1.0, 0.0, "pelvis_rotation"),
        ("pelvis_rotation", 1.0, 9.0, "pelvis_rotation -8 degrees"),
        ("pelvis_rotation", 1.0, 30.0, "pelvis_rotation"),
        ("pelvis_rotation", 1.0, -118.0, "pelvis_rotation +135 degrees"),
        ("pelvis_rotation", 1.0, 180.0, "pelvis_rotation +180 degrees"),
    ],
)
def test_feet_that_slide_in_whole_steps_name_the_angle(
    column: str, factor: float, added: float, said: str, seconds: float
) -> None:
    _, table = walk("moments")
    spoiled = on_column(table, column, lambda values: factor * values + added)
    texts = found("moments", cut(spoiled, float(table.time[0]), seconds))
    assert len(texts) == 1 and said in texts[0], texts
    codes = {-1.0: "angle_sign", 1.0: "walking_direction"}
    assert texts[0].startswith(codes.get(factor, "angle_scale"))


@pytest.mark.parametrize(
    ("stem", "source"),
    [("knee_angle", "ankle_angle"), ("hip_flexion", "knee_angle"), ("hip_flexion", "hip_adduction")],
)
@pytest.mark.parametrize("side", ["r", "l"])
@pytest.mark.parametrize("share", [-0.2, 0.2])
def test_a_part_of_an_angle_in_another_one_makes_the_foot_slide(
    stem: str, source: str, side: str, share: float
) -> None:
    _, table = walk("moments")
    added = share * table.values[:, table.names.index(f"{source}_{side}")]
    said = found("moments", on_column(table, f"{stem}_{side}", lambda values: values + added))
    assert any(text.startswith("angle_scale") and f"with {stem}_{side} " in text for text in said), said


@pytest.mark.parametrize(("factor", "back"), [(0.8, "1.25"), (1.25, "0.8")])
def test_both_knees_of_another_scale_let_both_feet_slide(factor: float, back: str) -> None:
    _, table = walk("knee")
    for side in "rl":
        table = on_column(table, f"knee_angle_{side}", lambda values: factor * values)
    (said,) = found("knee", table)
    assert said.startswith("angle_scale: ") and f"with knee_angle times {back} in both legs" in said


@pytest.mark.parametrize(("factor", "size"), [(1.06, "0.95"), (0.94, "1.06")])
def test_a_pelvis_that_goes_another_way_than_the_feet_is_found(factor: float, size: str) -> None:
    table = on_column(walk("moments")[1], "pelvis_tx", lambda values: factor * values)
    (said,) = found("moments", table)
    assert said.startswith("foot_slides: ") and f" {size} times the length" in said


@pytest.mark.parametrize("in_ankle", [False, True])
@pytest.mark.parametrize("has_toes", [False, True])
def test_heel_and_toe_do_not_depend_on_the_origin_and_the_parts_of_a_foot(
    in_ankle: bool, has_toes: bool
) -> None:
    model, pose = walk("moments")[0].model, walk("moments")[0].pose
    joint = next(each for each in model.joints if each.outboard.body == "calcn_r")
    by = joint.outboard.position - joint.inboard.position if in_ankle else np.zeros(3)

    def moved(frame):
        return replace(frame, position=frame.position - by) if frame.body == "calcn_r" else frame

    joints = tuple(
        replace(each, parent=moved(each.parent), child=moved(each.child))
        for each in model.joints
        if has_toes or each.outboard.body != "toes_r"
    )
    number = model.body_number["calcn_r"]
    position = pose.position.copy()
    position[:, number] += pose.rotation[:, number] @ by
    foot = soles(replace(model, joints=joints), replace(pose, position=position))[0]
    known = soles(model, pose)[0]
    for end in ("heel", "toe"):
        apart = np.linalg.norm(getattr(foot, end) - getattr(known, end), axis=1)
        assert apart.max() < (0.08 if in_ankle or not has_toes else 1e-9)


@pytest.mark.parametrize("name", ["moments", "knee", "service"])
def test_the_velocity_of_a_belt_is_the_way_of_a_walk_that_goes_against_it(name: str) -> None:
    """A walk over a floor, seen from its own mean place, is a walk on a belt: no angle is accused on it."""
    body, table = walk(name)
    way = table.values[:, table.names.index("pelvis_tx")]
    (speed,) = np.polyfit(table.time, way, 1)[:1]
    on_belt = on_column(table, "pelvis_tx", lambda values: values - speed * (table.time - table.time[0]))
    for seconds in {1.2, float(np.ptp(table.time))} if np.ptp(table.time) > 1.2 else {1.08}:
        part = cut(on_belt, table.time[0], seconds)
        moved = replace(body, motion=coordinate_motion(body.model, part), dynamics=None)
        fixed = Motion.from_body(moved)
        assert np.linalg.norm(fixed.belt) == pytest.approx(speed, rel=0.03)
        assert not list(feet_that_slide(moved, fixed))


@pytest.mark.parametrize("name", ["belt 1", "belt 3"])
@pytest.mark.parametrize(
    ("columns", "factor", "said"),
    [
        (("hip_flexion_r",), 1.25, "with hip_flexion_r times"),
        (("hip_flexion_r", "hip_flexion_l"), 1.25, "hip_flexion times 0.8"),
        (("hip_flexion_r", "hip_flexion_l"), 0.7, "hip_flexion times 1.25"),
    ],
)
def test_an_angle_of_another_scale_on_a_belt_is_found_in_one_stride(
    name: str, columns: tuple[str, ...], factor: float, said: str
) -> None:
    table = walk(name)[1]
    for column in columns:
        table = on_column(table, column, lambda values: factor * values)
    (text,) = found(name, table)
    assert text.startswith("angle_scale") and said in text


@pytest.mark.parametrize("name", ["knee", "service", "moments", "belt 1", "belt 3"])
@pytest.mark.parametrize("late", [-0.05, 0.03])
def test_a_root_of_another_time_than_the_legs_is_named(name: str, late: float) -> None:
    _, table = walk(name)
    for column in [name for name in table.names if name.startswith("pelvis")]:
        table = on_column(table, column, lambda values, time=table.time: np.interp(time - late, time, values))
    said = found(name, table)
    assert said[0].startswith("foot_slides: ")
    assert f"root come 30 ms {'earlier' if late > 0.0 else 'later'}" in said[0]


@pytest.mark.parametrize("name", ["knee", "service", "moments", "belt 1", "belt 3"])
@pytest.mark.parametrize(
    ("stem", "by"), [("hip_flexion", 20.0), ("hip_flexion", -20.0), ("knee_angle", 20.0)]
)
def test_an_offset_of_both_hips_or_knees_is_named(name: str, stem: str, by: float) -> None:
    _, table = walk(name)
    for side in "rl":
        table = on_column(table, f"{stem}_{side}", lambda values: values + by)
    said = found(name, table)
    assert said[0].startswith("angle_offset: ")
    assert f"degrees on {stem}_r and {stem}_l" in said[0]
