"""Muscles, posture and columns of moments: drawn faults are found by name, and public models have none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from modeled import modeled
from recorded_data import recorded
from scipy.spatial.transform import Rotation

import musclesolve as ms
from benchmarks.planted_model_faults import KINDS, Case, on_column, trials
from musclesolve.files import read_mot
from musclesolve.laboratory.analysis.opensim.coordinate_motion import coordinate_motion
from musclesolve.laboratory.checks.model.examine import findings_of_body
from musclesolve.laboratory.checks.model.model_case import Motion
from musclesolve.laboratory.checks.model.muscles import (
    Anatomy,
    _forces,
    _missing,
    _of_model,
    anatomy_of,
    deviations,
    uncommon_properties,
)
from musclesolve.laboratory.checks.model.posture import f90, held_stretches, standing
from musclesolve.laboratory.results.finding import Finding, Where, codes
from musclesolve.models.opensim.functions import Constant
from musclesolve.models.opensim.model import Coupler, OpenSimModel
from musclesolve.sharing import expression_cost
from musclesolve.signals import low_pass

MODELS = (
    "opensim_models/gait2392.osim",
    "opensim_models/hamner_2010.osim",
    "opensim_models/rajagopal_2016.osim",
    "opensim_models/rajagopal_lai_uhlrich_2023.osim",
    "opensim_models/arm26.osim",
    "instrumented_knee/Rajagopal2015-scaled.osim",
    "fascicle_walk/model.osim",
    "addbiomechanics/opencap_subject/Models/final.osim",
    "models_of_today/walk_scaled.osim",
)
FOUND = (
    "strength",
    "names_exchanged",
    "sides_exchanged",
    "twice",
    "missing",
    "strengths_of_a_side",
    "joint_moved",
    "locked",
    "motion_filtered",
    "motion_noise",
    "moment_zero",
    "moment_copied",
    "moment_scaled",
    "moments_exchanged",
    "moments_filtered",
    "moment_offset",
)
"""Kinds of faults that this walk shows, whatever is drawn."""


@cache
def walk() -> Case:
    """An overground walk with its moments, by the model that inverse dynamics had."""
    with TemporaryDirectory() as folder:
        files = trials(recorded("rajagopal_walk").parent)["moments"](Path(folder))
    model, coordinates, moments, _ = files
    assert moments is not None
    read = ms.read_osim(model)
    body = modeled(read, coordinates, moments)
    return Case(read, read_mot(coordinates), read_mot(moments), None, body.muscles, body.dofs)


def found_in(case: Case) -> tuple[Finding, ...]:
    body = modeled(case.model, case.coordinates, case.moments)
    return tuple(each for each in findings_of_body(body) if each.severity != "note")


def test_moments_are_tested_without_the_motion_of_the_arms_but_not_of_the_trunk() -> None:
    case = walk()
    table, moments = case.coordinates, case.moments
    assert moments is not None

    def codes(left_out: tuple[str, ...], late: float) -> list[str]:
        kept = [k for k, name in enumerate(table.names) if not name.startswith(left_out)]
        part = replace(table, names=tuple(table.names[k] for k in kept), values=table.values[:, kept])
        shifted = replace(moments, time=moments.time + late)
        body = modeled(case.model, part, shifted)
        return [each.code for each in findings_of_body(body)]

    arms = ("arm_", "elbow_", "pro_sup_")
    assert codes(arms, 0.0) == []
    assert codes((*arms, "lumbar_"), 0.0) == ["unexamined"]
    assert "time_offset" in codes(arms, 0.1)


@pytest.mark.in_part(2)
@pytest.mark.parametrize("by", [-10.0, 10.0])
@pytest.mark.parametrize("with_loads", [True, False])
def test_both_feet_turned_from_the_way_of_the_pressure_are_found(by: float, with_loads: bool) -> None:
    case = walk()
    table = case.coordinates
    for name in ("hip_rotation_r", "hip_rotation_l"):
        table = on_column(table, name, lambda values: values + by)
    loads = recorded("rajagopal_walk") / "walk_grf.mot" if with_loads else None
    moments = None if with_loads else case.moments
    sound, turned = (
        findings_of_body(modeled(case.model, each, moments, loads=loads))
        for each in (case.coordinates, table)
    )
    assert any(each.code == "angle_offset" for each in turned)
    assert not any(each.code == "angle_offset" for each in sound)


@pytest.mark.in_part(2)
@pytest.mark.parametrize("kind", FOUND)
def test_a_drawn_fault_is_found_by_its_name(kind: str) -> None:
    fault, codes, _ = KINDS[kind]
    spoiled, text = fault(walk(), np.random.default_rng(3))
    found = {each.code for each in found_in(spoiled)}
    assert found & set(codes), (text, found)


def test_the_sound_walk_has_no_finding() -> None:
    assert found_in(walk()) == ()


def changed_moment(name: str, change: Callable[[np.ndarray], np.ndarray]) -> Case:
    case = walk()
    assert case.moments is not None
    return replace(case, moments=on_column(case.moments, f"{name}_moment", change))


def column(name: str) -> np.ndarray:
    table = walk().moments
    assert table is not None
    return table.values[:, table.names.index(f"{name}_moment")]


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        (
            "knee_angle_r",
            lambda each: each + 0.2 * column("ankle_angle_r"),
            "% of the moment of ankle_angle_r",
        ),
        (
            "ankle_angle_r",
            lambda each: np.where(np.arange(len(each)) < len(each) // 2, each, -each),
            "the moment of ankle_angle_r is reversed",
        ),
        ("ankle_angle_l", lambda each: np.maximum(each, 0.7 * each.min()), "its peak was cut off"),
        ("knee_angle_r", lambda each: 1.25 * each, "the moment of knee_angle_r is 1."),
    ],
    ids=["leak", "part", "cut", "scale"],
)
def test_a_column_that_is_mixed_cut_or_scaled_is_named(
    name: str, change: Callable[[np.ndarray], np.ndarray], said: str
) -> None:
    found = found_in(changed_moment(name, change))
    assert {each.code for each in found} <= {"moment_unlike", "moment_scale", "moment_sign"}
    assert any(name in each.what and said in each.what for each in found), [each.what for each in found]


@pytest.mark.parametrize("factor", [1.0, 1.3])
def test_legs_of_moments_of_another_model_are_compared_wherever_the_pressure_acts(factor: float) -> None:
    """The model that computed the moments was heavier by a fifth, with its trunk elsewhere."""
    case = changed_moment("ankle_angle_l", lambda each: factor * each)
    trunk = case.model.masses["torso"]
    other = replace(trunk, mass=0.5 * trunk.mass, center=np.add(trunk.center, (0.05, 0.1, 0.0)))
    model = replace(case.model, masses={**case.model.masses, "torso": other})
    codes = {each.code for each in found_in(replace(case, model=model)) if "ankle_angle" in each.what}
    assert codes == ({"moment_scale"} if factor > 1.0 else set())


@pytest.mark.parametrize(
    ("name", "change", "code", "said"),
    [
        ("knee_angle_l", lambda each: 0.8 * each, "angle_scale", "knee_angle_l times 1.25"),
        ("pelvis_rotation", lambda each: each + 9.0, "walking_direction", "pelvis_rotation -8 degrees"),
        ("pelvis_rotation", lambda each: each + 180.0, "walking_direction", "pelvis_rotation +180 degrees"),
    ],
)
def test_planted_feet_show_the_angle_with_which_they_stand_still(
    name: str, change: Callable[[np.ndarray], np.ndarray], code: str, said: str
) -> None:
    case = walk()
    found = found_in(replace(case, coordinates=on_column(case.coordinates, name, change)))
    assert any(each.code == code and said in each.what for each in found), [each.what for each in found]


@pytest.mark.parametrize(
    "beginnings",
    [
        ("humerus", "ulna", "radius", "hand"),
        ("femur_l", "patella_l", "tibia_l", "talus_l", "calcn_l", "toes_l"),
    ],
    ids=["arms", "leg"],
)
def test_moments_of_a_model_with_more_limbs_are_no_fault_of_the_moments(beginnings: tuple[str, ...]) -> None:
    case = walk()
    model = case.model
    lost = {name for name in model.bodies if name.startswith(beginnings)}
    joints = tuple(joint for joint in model.joints if joint.child.body not in lost)
    kept = {name for joint in joints for name in joint.coordinates}
    part = replace(
        model,
        bodies=tuple(name for name in model.bodies if name not in lost),
        joints=joints,
        coordinates={name: each for name, each in model.coordinates.items() if name in kept},
        couplers=tuple(each for each in model.couplers if each.dependent in kept),
        muscles={name: each for name, each in model.muscles.items() if not model.bodies_of(each) & lost},
        masses={name: each for name, each in model.masses.items() if name not in lost},
        meshes=(),
    )
    assert {each.code for each in found_in(replace(case, model=part))} == {"other_coordinates"}


def test_a_coordinate_that_moves_alone_on_one_side_is_found() -> None:
    """Without its constraint the patella keeps the angle that the file states."""
    case = walk()
    couplers = tuple(each for each in case.model.couplers if each.dependent != "knee_angle_r_beta")
    (found,) = (
        each for each in found_in(replace(case, model=replace(case.model, couplers=couplers)))
        if each.code == "joint_center"
    )  # fmt: skip
    assert "drives knee_angle_l_beta, and none drives knee_angle_r_beta" in found.what, found.what


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_joint_that_is_turned_otherwise_than_its_twin_is_found(axis: int) -> None:
    case = walk()
    turn = Rotation.from_rotvec(np.radians(6.0) * np.eye(3)[axis]).as_matrix()
    joints = tuple(
        replace(each, parent=replace(each.parent, rotation=each.parent.rotation @ turn))
        if each.name == "ankle_r"
        else each
        for each in case.model.joints
    )
    found = found_in(replace(case, model=replace(case.model, joints=joints)))
    assert any(each.code == "joint_center" and "6 degrees (ankle)" in each.what for each in found)


@pytest.mark.parametrize("speed", [1.0, 2.0, 100.0])
def test_fibers_with_a_velocity_that_no_muscle_has_are_found(speed: float) -> None:
    case = walk()
    muscles = {
        name: replace(each, max_contraction_velocity=speed) if name.startswith("soleus") else each
        for name, each in case.model.muscles.items()
    }
    (found,) = found_in(replace(case, model=replace(case.model, muscles=muscles)))
    assert (
        found.code == "muscle_property"
        and f"soleus: fastest shortening {speed:g}, expected 3.5" in found.what
    )


def moved_frames(model: OpenSimModel) -> OpenSimModel:
    """Both knees turned by 6 degrees into valgus."""
    joints = list(model.joints)
    for k, joint in enumerate(joints):
        if {*joint.coordinates} & {"knee_angle_r", "knee_angle_l"}:
            by = np.radians([6.0 if "knee_angle_r" in joint.coordinates else -6.0, 0.0, 0.0])
            rotation = joint.parent.rotation @ Rotation.from_rotvec(by).as_matrix()
            joints[k] = replace(joint, parent=replace(joint.parent, rotation=rotation))
    return replace(model, joints=tuple(joints))


def moved_ends(model: OpenSimModel) -> OpenSimModel:
    """The Achilles tendons 15 mm farther back on both heels."""
    muscles = dict(model.muscles)
    for name in (name for name in muscles if name.startswith(("soleus", "gas"))):
        *before, end = muscles[name].points
        end = replace(end, location=end.location - [0.015, 0.0, 0.0])
        muscles[name] = replace(muscles[name], points=(*before, end))
    return replace(model, muscles=muscles)


def exchanged_strengths(model: OpenSimModel) -> OpenSimModel:
    """Forces of both heads of the gastrocnemius exchanged on both sides."""
    other = {
        f"gas{one}_{side}": f"gas{two}_{side}"
        for one, two in (("med", "lat"), ("lat", "med"))
        for side in "rl"
    }
    changed = {
        one: replace(model.muscles[one], max_isometric_force=model.muscles[two].max_isometric_force)
        for one, two in other.items()
    }
    return replace(model, muscles={**model.muscles, **changed})


def nearly_twice(model: OpenSimModel) -> OpenSimModel:
    """Both soleus muscles again, 1 mm away."""
    copies = {}
    for side in "rl":
        points = (
            replace(point, location=point.location + 0.001)
            for point in model.muscles[f"soleus_{side}"].points
        )
        name = f"soleus_too_{side}"
        copies[name] = replace(model.muscles[f"soleus_{side}"], name=name, points=tuple(points))
    return replace(model, muscles={**model.muscles, **copies})


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        (moved_frames, "joint_center", "knee_angle_r and knee_angle_l: with all angles zero"),
        (moved_ends, "muscle_anatomy", "insertion displaced along x"),
        (exchanged_strengths, "muscle_strength", "0.51 times what the other muscles of this model suggest"),
        (nearly_twice, "muscle_twice", "2 pairs of muscles"),
    ],
)
@pytest.mark.parametrize("file", ["addbiomechanics/opencap_subject/Models/final.osim", MODELS[2]])
def test_faults_of_both_sides_alike_are_found(
    change: Callable[[OpenSimModel], OpenSimModel], code: str, said: str, file: str
) -> None:
    """No scaled public model turns the bodies of a joint, moves an end alone or has two muscles within 2 mm."""
    model = change(ms.read_osim(recorded("opensim_models").parent / file))
    found = [fault for fault, _ in _of_model(model, [*model.muscles], True) if fault.severity != "note"]
    assert any(fault.code == code and said in fault.what for fault in found), found


def test_a_constraint_on_a_coordinate_that_moves_in_the_file_is_found() -> None:
    """Files have the coordinates of constraints in several units, or constant: the model follows the constraint."""
    case = walk()
    held = tuple(Coupler(f"ankle_angle_{side}", (f"knee_angle_{side}",), Constant(0.0)) for side in "rl")
    model = replace(case.model, couplers=(*case.model.couplers, *held))
    (fault,) = (each for each in found_in(replace(case, model=model)) if each.code == "locked_moved")
    assert "ankle_angle_r, ankle_angle_l" in fault.what, fault.what
    for factor in (57.3, 0.0, 1.0 / 57.3):
        table = case.coordinates
        for side in "rl":
            table = on_column(table, f"knee_angle_{side}_beta", lambda values, by=factor: by * values)
        assert not found_in(replace(case, coordinates=table)), factor


def of_size(body: Anatomy, size: float, power: float, factor: float = 1.0) -> Anatomy:
    """The muscles of a body of another size, with forces by a power of it, and a factor on all of them."""
    lengths = {key: size * getattr(body, key) for key in ("length", "arm", "fiber", "tendon", "size")}
    return replace(body, force=factor * size**power * body.force, mass=size**3 * body.mass, **lengths)


@pytest.mark.parametrize("name", ["opensim_models/gait2392.osim", "opensim_models/rajagopal_2016.osim"])
def test_strengths_of_children_and_weak_people_are_sound_and_ten_times_the_strength_is_not(name: str) -> None:
    """Forces as they are, with area, or with mass; measured young men have 0.33 times the strength of a model."""
    model = ms.read_osim(recorded("opensim_models").parent / name)
    body = anatomy_of(model, list(model.muscles))

    def found(*change: float) -> set[str]:
        return {each.code for each in deviations(of_size(body, *change)) if each.ratio > 1.0}

    for size in (0.55, 0.65, 0.8, 1.0, 1.2):
        for power in (0.0, 2.0, 3.0):
            assert not found(size, power) and not found(size, power, 0.6), (size, power)
            for factor in (1e-3, 1e3, *((0.1, 10.0) if size >= 0.8 else ())):
                assert found(size, power, factor) == {"muscle_strength.all"}, (size, power, factor)
    assert not found(1.0, 0.0, 0.33)
    assert found(1.0, 0.0, 2.0) == found(1.0, 0.0, 0.2) == {"muscle_strength.all"}


def test_all_strengths_are_stated_with_their_cost_where_they_differ_from_public_models() -> None:
    case = walk()
    for factor, severity in ((0.6, "note"), (2.0, "warning")):
        muscles = {
            name: replace(each, max_isometric_force=factor * each.max_isometric_force)
            for name, each in case.model.muscles.items()
        }
        body = modeled(replace(case.model, muscles=muscles), case.coordinates, case.moments)
        (found,) = (each for each in findings_of_body(body) if each.code == "muscle_strength")
        assert found.severity == severity and "times as strong as in public models" in found.what
        assert found.cost is not None and found.cost.unit == "N" and found.cost.size > 50.0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"max_contraction_velocity": 19.0}, "fastest shortening 19, most muscles 10"),
        ({"controls": (0.0, 0.3)}, "most control 0.3, most muscles 1"),
        ({"curve": {"FmaxTendonStrain": 0.1}}, "FmaxTendonStrain 0.1, most muscles 0.033"),
    ],
)
def test_a_property_unlike_the_one_of_all_other_muscles_is_noted(change: dict[str, Any], said: str) -> None:
    model = ms.read_osim(recorded("opensim_models") / "gait2392.osim")
    assert not [*uncommon_properties(model, {*model.muscles})]
    sides = ("soleus_r", "soleus_l")
    muscles = {**model.muscles} | {name: replace(model.muscles[name], **change) for name in sides}
    found = [*uncommon_properties(replace(model, muscles=muscles), {*muscles})]
    assert [name for name, *_ in found] == ["soleus_l", "soleus_r"] and all(
        said in words for _, words, *_ in found
    )


def test_wrap_objects_of_the_other_side_and_absent_ones_are_found_on_both_sides() -> None:
    path = recorded("rajagopal_walk") / "reference/rajagopal_lai_uhlrich_2023_scaled.osim"
    model, sides = ms.read_osim(path), ("psoas_r", "psoas_l")
    (one,), (two,) = (model.muscles[name].wraps for name in sides)
    for right, left in (((two,), (one,)), ((), ())):
        changed = {
            name: replace(model.muscles[name], wraps=wraps)
            for name, wraps in zip(sides, (right, left), strict=True)
        }
        spoiled = replace(model, muscles={**model.muscles} | changed)
        found = [*uncommon_properties(spoiled, {*model.muscles})]
        assert [name for name, *_ in found] == [*sorted(sides)]
        assert all("wrap objects of its own side 0, public models 1" in words for _, words, *_ in found)
    assert not [*uncommon_properties(model, {*model.muscles})]


@pytest.mark.parametrize("name", ["opensim_models/gait2392.osim", "opensim_models/rajagopal_2016.osim"])
@pytest.mark.parametrize(
    ("stems", "group"),
    [
        (("psoas", "iliacus"), "hip flexors"),
        (("semi", "bif", "bf"), "hamstrings"),
        (("sol", "med_gas", "lat_gas", "gas"), "calf"),
    ],
)
def test_a_group_of_another_strength_than_the_other_muscles_is_found(
    name: str, stems: tuple[str, ...], group: str
) -> None:
    model = ms.read_osim(recorded("opensim_models").parent / name)
    body = anatomy_of(model, list(model.muscles))
    of_group = [muscle.startswith(stems) for muscle in body.names]
    for factor, named in ((0.4, True), (0.75, False), (1.3, False), (2.5, True)):
        changed = replace(body, force=body.force * np.where(of_group, factor, 1.0))
        said = [each.said for each in deviations(changed) if each.code == "muscle_strength.group"]
        assert named == any(group in words for words in said), said


def test_names_of_another_author_follow_no_family() -> None:
    """A factor on the strengths of a model of few or other muscles says nothing; half of a set is a family."""
    model = ms.read_osim(recorded("opensim_models") / "gait2392.osim")
    body = anatomy_of(model, list(model.muscles))
    few = anatomy_of(model, [name for name in model.muscles if name.startswith(("glut", "add", "vas", "so"))])
    other = replace(body, names=tuple(f"mine_{name}" for name in body.names))
    for each in (few, other):
        assert not list(deviations(replace(each, force=10.0 * each.force)))


TWO = ["opensim_models/gait2392.osim", "opensim_models/rajagopal_2016.osim"]


@pytest.mark.parametrize("name", TWO)
def test_tendons_and_fibers_that_do_not_fit_the_paths_are_said_once(name: str) -> None:
    """Also of one side; a shank that was scaled alone is no factor on all muscles."""
    model = ms.read_osim(recorded("opensim_models").parent / name)
    body = anatomy_of(model, list(model.muscles))
    left = np.array([muscle.endswith("l") for muscle in body.names])
    shank = np.abs(body.arm[:, body.stems.index("ankle_angle")]).max(axis=0) > 0.003
    for tendon, fiber, of, words in (
        (1 / 1.08, 1 / 1.08, left | True, f"{len(left)} muscles fit tendons 1.08 times"),
        (1.0, 1.15, left | True, "muscles fit tendons 1.00 times and fibers 0.8"),
        (0.95, 1.0, left | True, "muscles fit tendons 1.05 times and fibers"),
        (0.9, 1.0, left, "muscles of the left side fit tendons 1.11 times"),
        (1 / 1.1, 1 / 1.1, shank, ""),
        (0.98, 1.03, left | True, ""),
    ):
        longer, wider = (np.where(of, factor, 1.0) for factor in (tendon, fiber))
        now = replace(body, tendon=longer * body.tendon, fiber=wider * body.fiber)
        said = [each for each in deviations(now) if each.code == "muscle_tendon.all"]
        assert len(said) == bool(words) and all(words in each.said for each in said), said
        if said:  # the remedy mends: tendons and fibers as before
            assert not [each for each in deviations(now) if each.code == "muscle_tendon"]
            fibers, slack = (said[0].changes[code] for code in ("muscle_fiber", "muscle_tendon"))
            for k, muscle in enumerate(body.names):
                mended = now.tendon[k] - slack[muscle] * now.fiber[k]
                assert mended == pytest.approx(body.tendon[k], rel=0.015)
                assert now.fiber[k] * np.exp(fibers[muscle]) == pytest.approx(body.fiber[k], rel=0.04)
    unlike = replace(body, tendon=np.where(left, 0.9, 1.1) * body.tendon)
    codes = [deviation.code for deviation in deviations(unlike)]
    assert codes.count("muscle_tendon.all") == 2
    assert "muscle_tendon" not in codes


@pytest.mark.parametrize("name", TWO)
def test_another_strength_of_a_side_or_of_a_part_of_a_group_is_not_of_all(name: str) -> None:
    model = ms.read_osim(recorded("opensim_models").parent / name)
    body = anatomy_of(model, list(model.muscles))
    left = np.array([muscle.endswith("l") for muscle in body.names])
    stronger = replace(body, force=body.force * np.where(left, 3.0, 1.0))
    assert not [each.said for each in deviations(stronger) if each.muscle == "all"]
    muscles = {
        key: replace(each, max_isometric_force=each.max_isometric_force * (3.0 if key.endswith("l") else 1.0))
        for key, each in model.muscles.items()
    }
    ((found, _),) = _of_model(replace(model, muscles=muscles), tuple(muscles), True)
    assert found.code == "muscle_strength" and "by a common factor (3): right" in found.what
    medius = np.array(
        [muscle.startswith(("glut_med", "glut_min", "glmed", "glmin")) for muscle in body.names]
    )
    weaker = list(deviations(replace(body, force=body.force * np.where(medius, 0.3, 1.0))))
    assert {each.code for each in weaker} == {"muscle_strength"}
    assert {each.muscle for each in weaker} <= {*np.array(body.names)[medius].tolist()}


def test_curves_and_conditions_that_no_muscle_has_are_found() -> None:
    """Also where all muscles have them."""
    model = ms.read_osim(recorded("opensim_models") / "gait2392.osim")

    def warned(change: Callable[[Any], Any]) -> list[str]:
        muscles = {name: change(each) for name, each in model.muscles.items()}
        found = uncommon_properties(replace(model, muscles=muscles), {*muscles})
        return [said for _, said, _, grave in found if grave]

    narrow = warned(lambda each: replace(each, curve={**each.curve, "KshapeActive": 0.1}))
    assert narrow == ["KshapeActive 0.1, expected 0.3 to 0.8"] * len(model.muscles)

    def never(each: Any) -> Any:
        points = (replace(at, condition=at.condition and (at.condition[0], 9.0, 10.0)) for at in each.points)
        return replace(each, points=tuple(points))

    said = warned(never)
    assert len(said) > 10 and all("516 to 573 degrees of " in each for each in said)
    assert not warned(lambda each: each)


def test_a_knee_that_is_locked_has_no_odd_segments() -> None:
    case = walk()
    coordinates = {
        name: replace(each, locked=each.locked or name.startswith("knee_angle"))
        for name, each in case.model.coordinates.items()
    }
    body = modeled(replace(case.model, coordinates=coordinates), case.coordinates, case.moments)
    assert "segment_mass" not in {each.code for each in findings_of_body(body)}


def test_a_locked_angle_that_the_file_holds_elsewhere_is_found() -> None:
    """The muscles across it have the arms of another pose, though the file does not move it."""
    case = walk()
    table = on_column(case.coordinates, "subtalar_angle_r", lambda values: values + 6.0)
    body = modeled(case.model, table, case.moments)
    (found,) = (each for each in findings_of_body(body) if each.code == "locked_moved")
    assert "subtalar_angle_r (up to 6 degrees away)" in found.what


def test_one_strength_of_all_muscles_is_said_once() -> None:
    case = walk()
    muscles = {name: replace(each, max_isometric_force=1000.0) for name, each in case.model.muscles.items()}
    body = modeled(replace(case.model, muscles=muscles), case.coordinates, case.moments)
    (found,) = (each for each in findings_of_body(body) if each.code == "muscle_strength")
    assert "muscles have the same maximum isometric force, 1000 N" in found.what


def test_a_leg_without_most_muscles_is_a_note() -> None:
    """A leg with a prosthesis has few muscles; a model that lost them has as few."""
    model = ms.read_osim(recorded("opensim_models") / "gait2392.osim")
    below = ("soleus", "med_gas", "lat_gas", "tib_", "per_", "ext_", "flex_")
    muscles = {
        name: each for name, each in model.muscles.items() if not (name.startswith(below) and name[-1] == "l")
    }
    ((found, _),) = _missing(replace(model, muscles=muscles), Where(model.file))
    assert (found.code, found.severity) == ("muscle_missing", "note") and "left med gas" in found.what


@pytest.mark.parametrize("name", TWO)
def test_ends_of_both_sides_that_moved_are_named_and_scaled_bodies_are_not(name: str) -> None:
    model = ms.read_osim(recorded("opensim_models").parent / name)
    body = anatomy_of(model, list(model.muscles))
    sizes = {
        bone: np.array([0.8, 1.1, 1.3]) if "tibia" in bone else 1.2 for pair in body.bones for bone in pair
    }
    ends = np.array(
        [
            [sizes[bone] * end for bone, end in zip(*each, strict=True)]
            for each in zip(body.bones, body.ends, strict=True)
        ]
    )
    assert not list(deviations(replace(body, ends=ends)))
    of_heel = [
        k for k, muscle in enumerate(body.names) if muscle.startswith(("soleus", "gas", "med_gas", "lat_gas"))
    ]
    ends[of_heel, 1, 0] += 20.0  # the Achilles tendon ends 20 mm farther ahead
    found = [each for each in deviations(replace(body, ends=ends)) if each.code == "muscle_anatomy"]
    assert {each.muscle for each in found} == {body.names[k] for k in of_heel}
    assert all("insertion displaced along x of its body +" in each.said for each in found)


@pytest.mark.in_part(3)
@pytest.mark.parametrize("name", MODELS)
def test_muscles_of_public_models_do_not_deviate(name: str) -> None:
    model = ms.read_osim(recorded(name.partition("/")[0]).parent / name)
    body = anatomy_of(model, [name for name, muscle in model.muscles.items() if muscle.enabled])
    assert [each.said for each in deviations(body)] == []
    assert not [said for _, said, _, grave in uncommon_properties(model, {*body.names}) if grave]


def test_noise_of_a_moment_is_named_and_rounding_is_none() -> None:
    noise = 6.0 * np.random.default_rng(0).standard_normal(len(column("knee_angle_r")))
    for change, named in ((lambda each: each + noise, {"noise"}), (np.round, set[str]())):
        codes = {each.code for each in found_in(changed_moment("knee_angle_r", change))}
        assert codes & {"noise"} == named, codes


@pytest.mark.parametrize("name", ["knee_angle_r", "knee_angle_l"])
def test_a_wrong_angle_is_no_mixture_of_moments(name: str) -> None:
    case = walk()
    turned = replace(case, coordinates=on_column(case.coordinates, name, lambda angle: angle + 12.0))
    found = [
        each for each in found_in(turned) if "of the moment of" in each.what or each.code == "angle_offset"
    ]
    assert {each.code for each in found} == {"angle_offset"}, [each.what for each in found]


@pytest.mark.parametrize(
    ("beginnings", "lost"),
    [
        (("glmed",), 1),
        (("iliacus", "psoas"), 1),
        (("glmed", "iliacus", "psoas"), 0),
        (("gas", "soleus"), 1),
        (("vas",), 1),
        (("gas", "soleus", "vas", "recfem"), 1),
    ],
)
def test_the_last_muscles_of_a_set_are_missing_with_all_their_parts(
    beginnings: tuple[str, ...], lost: int
) -> None:
    """A muscle that is switched off lacks, too. Who leaves out more, but for whole groups, has a set of one's own."""
    model = ms.read_osim(recorded("opensim_models") / "rajagopal_2016.osim")
    left = {name: each for name, each in model.muscles.items() if not name.startswith(beginnings)}
    off = {name: replace(each, enabled=name in left) for name, each in model.muscles.items()}
    for muscles in (left, off):
        found = list(_missing(replace(model, muscles=muscles), Where(model.file)))
        assert [fault.code for fault, _ in found] == ["muscle_missing"] * lost


@pytest.mark.parametrize("name", ["knee_angle_r", "hip_flexion_l"])
def test_one_angle_in_radians_is_named_before_what_follows(name: str) -> None:
    case = walk()
    found = found_in(replace(case, coordinates=on_column(case.coordinates, name, np.radians)))
    first = min(found, key=lambda each: (each.severity != "error", list(codes()).index(each.code)))
    assert first.code == "angle_units" and name in first.what, [each.what for each in found]


def test_a_reversed_rotation_turns_the_planted_foot() -> None:
    case = walk()
    spoiled = replace(case, coordinates=on_column(case.coordinates, "hip_rotation_l", lambda values: -values))
    (own,) = (each for each in found_in(spoiled) if each.code == "angle_sign")
    assert "hip_rotation_l" in own.what


def test_feet_with_exchanged_ankles_enter_the_floor() -> None:
    case = walk()
    names = {"ankle_angle_r": "ankle_angle_l", "ankle_angle_l": "ankle_angle_r"}
    table = replace(case.coordinates, names=tuple(names.get(each, each) for each in case.coordinates.names))
    body = modeled(case.model, table, case.moments)
    fixed, sound = (
        Motion.from_body(each)
        for each in (
            body,
            replace(body, dynamics=None, motion=coordinate_motion(case.model, case.coordinates)),
        )
    )
    low, before = (standing(each, each.bodies.pose, each.time).low for each in (fixed, sound))
    assert (low > 2.0 * before).all() and (before < 0.012).all()


def test_a_path_without_a_point_of_its_twin_is_found() -> None:
    case = walk()
    iliacus = case.model.muscles["iliacus_r"]
    muscles = {
        **case.model.muscles,
        "iliacus_r": replace(iliacus, points=iliacus.points[:-2] + iliacus.points[-1:]),
    }
    (found,) = uncommon_properties(replace(case.model, muscles=muscles), set(muscles))
    assert found == ("iliacus_r", "points on femur 1, the other side 2", True, True)


@pytest.mark.parametrize("kind", ["strength", "tendon", "wrong_body", "sides_exchanged"])
def test_a_fault_of_a_muscle_states_what_it_costs_in_newtons(kind: str) -> None:
    """The forces of the sound model are known: the cost is most of their largest change, and no more."""
    case, draw = walk(), np.random.default_rng(5)
    spoiled, _ = KINDS[kind][0](case, draw)
    found = [each for each in found_in(spoiled) if each.code.startswith("muscle_")]
    costs = [each.cost.size for each in found if each.cost is not None and each.cost.unit == "N"]
    body, sound = (modeled(each.model, each.coordinates, each.moments) for each in (spoiled, case))
    frames = np.arange(0, len(body.time), 4)
    now, then = (_forces(each, frames, each.whole.state.frames(frames)) for each in (body, sound))
    change = max(float(np.abs(now[name] - then[name]).max()) for name in now if name in then)
    assert 0.6 * change < max(costs) < 1.2 * change


def test_ends_that_are_moved_on_both_sides_state_what_they_cost_in_newtons() -> None:
    """The twin of such a muscle is as wrong as the muscle: the public models say where its end belongs."""
    case = walk()
    muscles = dict(case.model.muscles)
    for name in (f"{stem}_{side}" for stem in ("soleus", "gasmed", "gaslat") for side in "rl"):
        *points, last = muscles[name].points
        assert last.location is not None
        muscles[name] = replace(
            muscles[name],
            points=(*points, replace(last, location=last.location + np.array([0.025, 0.0, 0.0]))),
        )
    spoiled = replace(case, model=replace(case.model, muscles=muscles))
    (found,) = (each for each in found_in(spoiled) if each.code == "muscle_anatomy")
    body, sound = (modeled(each.model, each.coordinates, each.moments) for each in (spoiled, case))
    frames = np.arange(0, len(body.time), 4)
    now, then = (_forces(each, frames, each.whole.state.frames(frames)) for each in (body, sound))
    change = max(float(np.abs(now[name] - then[name]).max()) for name in now)
    assert found.cost is not None and 0.8 * change < found.cost.size < 1.2 * change


def test_a_cost_with_numbers_of_every_frame_leaves_the_finding_as_it_is() -> None:
    fault = KINDS["strength"][0]
    spoiled, _ = fault(walk(), np.random.default_rng(1))
    body = modeled(spoiled.model, spoiled.coordinates, spoiled.moments)
    weight = {"weight": np.ones(len(body.time))}
    own = expression_cost("own", lambda a, force, data: data.weight * (a.T @ a), frame_constants=weight)
    found = findings_of_body(replace(body, sharing=replace(body.sharing, cost=own)))
    assert found == findings_of_body(body) and any(each.code == "muscle_strength" for each in found)


def test_a_path_that_no_twin_mends_says_that_its_cost_is_not_known() -> None:
    case = walk()
    muscles = dict(case.model.muscles)
    for name in ("gasmed_r", "gasmed_l"):
        muscles[name] = replace(muscles[name], wraps=())
    (found,) = found_in(replace(case, model=replace(case.model, muscles=muscles)))
    assert found.code == "muscle_anatomy" and found.cost is None
    assert found.what.endswith("what this costs in newtons is not known")


def test_a_muscle_of_the_other_leg_is_an_error() -> None:
    fault = KINDS["sides_exchanged"][0]
    spoiled, _ = fault(walk(), np.random.default_rng(1))
    (own,) = (each for each in found_in(spoiled) if each.code == "muscle_anatomy")
    assert own.severity == "error"


def test_a_cut_off_lowers_the_frequency_of_accelerations() -> None:
    noise = np.random.default_rng(0).standard_normal(400)
    rates = [f90(low_pass(noise, 100.0, cutoff), 100.0, 4) for cutoff in (2.0, 4.0, 6.0)]
    assert rates == sorted(rates) and rates[0] < 5.0 < rates[2]


def test_stretches_of_one_value_or_rate_are_those_that_last() -> None:
    time = np.arange(100) / 100.0
    values = np.stack([*[np.sin(9.0 * time)] * 3, np.zeros(100), np.sin(0.7 * time)], axis=1)
    values[50:80, 0], values[50:55, 1], values[20:50, 2] = 0.25, 0.25, 0.1 + 2.0 * time[20:50]
    found = list(held_stretches(values, time, ("long", "short", "line", "zero", "slow")))
    assert [each[0] for each in found] == ["long", "line"]
    np.testing.assert_allclose(
        [each[1:] for each in found], [(0.50, 0.79, 0.25, 0.0), (0.20, 0.49, 0.5, 2.0)]
    )


def test_muscles_that_lost_all_points_beyond_a_joint_are_found() -> None:
    """As where a program writes fixed points alone: vasti then end on the femur."""
    model = ms.read_osim(recorded("opensim_models") / "gait2392.osim")
    muscles = {
        name: replace(each, points=tuple(point for point in each.points if point.moving is None))
        if name.startswith("vas")
        else each
        for name, each in model.muscles.items()
    }
    found = [fault for fault, _ in _of_model(replace(model, muscles=muscles), tuple(muscles), True)]
    assert any("vas med" in fault.what for fault in found if fault.code == "muscle_anatomy")
    assert not list(_of_model(model, tuple(model.muscles), True))
