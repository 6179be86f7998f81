"""The bundled database: what it holds, what differs from the print, and whether the muscles can work with it."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import pytest

import muscle_db
from muscle_db import MuscleDatabase, standing_length

DATABASE = muscle_db.load("silva_2003")
PRINTED = DATABASE.printed()

GROUPS = {
    "hip_adductors": "add_brev add_long add_mag1 add_mag2 add_mag3 pect grac",
    "hip_abductors": "glut_min1 glut_min2 glut_min3 glut_med1 glut_med2 glut_med3 tfl",
    "hip_extensors": "glut_max1 glut_max2 glut_max3",
    "hip_external_rotators": "gem peri quad_fem",
    "iliopsoas": "iliacus psoas",
    "quadriceps_femoris": "vas_med vas_int vas_lat rect_fem",
    "hamstrings": "semiten semimem bifemlh",
    "knee_flexors": "sar bifemsh",
    "triceps_surae": "soleus med_gas lat_gas",
    "other_plantarflexors": "tib_post per_brev per_long flex_dig flex_hal",
    "ankle_dorsiflexors": "tib_ant per_tert ext_dig ext_hal",
}

# Muscle, fields that differ from the print with the number of the point.
DEVIATIONS = {
    "iliacus": {("active", 3)},
    "psoas": {("active", 3)},
    "gem": {("position", 1)},
    "rect_fem": {("tendon_slack_length", None), ("active", 2)},
    "vas_med": {("tendon_slack_length", None), ("active", 3)},
    "vas_int": {("tendon_slack_length", None), ("active", 3)},
    "vas_lat": {("tendon_slack_length", None), ("active", 3)},
    "med_gas": {("point", 4), ("active", 2)},
    "lat_gas": {("active", 2)},
    "flex_dig": {("tendon_slack_length", None)},
    "flex_hal": {("tendon_slack_length", None)},
    "ext_dig": {("tendon_slack_length", None)},
    "ext_hal": {("tendon_slack_length", None)},
}

# Short name: F0 [N], pennation [deg], L0 [m], L_T [m], number of points, sum of all coordinates [m]; from the print.
AS_PRINTED = {
    "glut_med1": (546, 8, 0.0535, 0.078, 2, -0.2258),
    "gem": (109, 0, 0.024, 0.039, 2, -0.1682),
    "semimem": (1030, 15, 0.08, 0.359, 2, -0.3471),
    "vas_med": (1294, 5, 0.089, 0.126, 6, -0.7993),
    "med_gas": (1113, 17, 0.045, 0.408, 3, -0.8953),
    "soleus": (2839, 25, 0.03, 0.268, 2, -0.2251),
    "flex_dig": (310, 7, 0.034, 0.4, 5, -0.5637),
    "per_tert": (90, 13, 0.079, 0.1, 3, -0.7439),
}


def normalized_fiber_length(database: MuscleDatabase, name: str, *, scaled: bool) -> float:
    """(L_MT - L_T) / (L0 cos a0) in standing, by hand."""
    muscle = database[name]
    length = standing_length(muscle, database.reference)
    k = length / standing_length(muscle, database.reference, unscaled=True) if scaled else 1.0
    along = length - k * muscle.tendon_slack_length
    return along / (k * muscle.optimal_fiber_length * math.cos(muscle.pennation_angle))


def test_forty_three_muscles_with_149_points() -> None:
    assert len(DATABASE) == 43
    assert sum(len(muscle.path) for muscle in DATABASE) == 149
    assert sum(len(muscle.path) for muscle in PRINTED) == 148


def test_groups() -> None:
    found = {group: {m.short_name for m in DATABASE if m.group == group} for group in DATABASE.groups}
    assert found == {group: set(names.split()) for group, names in GROUPS.items()}
    assert "no group" in DATABASE.groups["hip_extensors"]
    assert "no group" in DATABASE.groups["hip_abductors"]
    moved = {"hip_external_rotators": "piriformis", "knee_flexors": "sartorius", "hip_adductors": "gracilis"}
    assert all(name in DATABASE.groups[group] for group, name in moved.items()), (
        "it says where the source has them"
    )


def test_every_name_once_and_described() -> None:
    names = Counter(name for muscle in DATABASE for name in {muscle.name, muscle.short_name})
    assert max(names.values()) == 1
    assert all(muscle.origin and muscle.insertion and muscle.action for muscle in DATABASE)
    assert {muscle.max_shortening_velocity for muscle in DATABASE} == {10.0}


@pytest.mark.parametrize("name", AS_PRINTED)
def test_printed_values_come_back(name: str) -> None:
    force, pennation_deg, optimal, tendon, points, total = AS_PRINTED[name]
    muscle = PRINTED[name]
    assert muscle.max_isometric_force == force
    assert muscle.pennation_angle == math.radians(pennation_deg)
    assert (muscle.optimal_fiber_length, muscle.tendon_slack_length) == (optimal, tendon)
    assert len(muscle.path) == points
    assert sum(sum(point.position) for point in muscle.path) == pytest.approx(total, abs=1e-12)


def test_printed_has_no_conditional_point_and_nothing_left_to_undo() -> None:
    assert all(point.active is None for muscle in PRINTED for point in muscle.path)
    assert not any(muscle.deviations for muscle in PRINTED)


def test_deviations_are_exactly_these() -> None:
    found = {m.short_name: {(d.field, d.point) for d in m.deviations} for m in DATABASE if m.deviations}
    assert found == DEVIATIONS


def test_muscles_without_deviation_are_as_printed() -> None:
    same = {muscle.short_name for muscle in DATABASE if muscle == PRINTED[muscle.name]}
    assert same == {muscle.short_name for muscle in DATABASE} - set(DEVIATIONS)


def test_deviations_of_the_whole_table() -> None:
    assert [d.field for d in DATABASE.deviations] == [
        "frames",
        "reference.hip_center",
        "max_shortening_velocity",
    ]


def test_a_deviation_reads_as_a_sentence() -> None:
    sentence = str(DATABASE["gem"].deviations[0])
    assert sentence.startswith(
        "point 1 position: printed (-0.1119, -0.0705, 0.081), used (-0.1119, -0.0705, -0.081). "
    )
    assert str(DATABASE["med_gas"].deviations[0]).startswith("point 4: printed absent, used foot (-0.0439, ")
    assert "printed always, used hip_flexion -90 to 51.5 deg" in str(DATABASE["psoas"].deviations[0])


@pytest.mark.parametrize("name", GROUPS["quadriceps_femoris"].split())
def test_quadriceps_tendon_includes_the_patella_and_its_ligament(name: str) -> None:
    a, b, c = (point.position for point in DATABASE[name].path[-3:])
    missing = math.dist(a, b) + math.dist(b, c)
    assert 0.109 <= missing <= 0.1126
    used = DATABASE[name].tendon_slack_length
    assert used - PRINTED[name].tendon_slack_length == pytest.approx(missing, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "shorter"),
    [("flex_dig", 0.0590), ("flex_hal", 0.0637), ("ext_dig", 0.0634), ("ext_hal", 0.0646)],
)
def test_toe_tendons_end_where_the_path_ends(name: str, shorter: float) -> None:
    difference = PRINTED[name].tendon_slack_length - DATABASE[name].tendon_slack_length
    assert difference == pytest.approx(shorter, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "point", "dof", "from_deg", "to_deg"),
    [
        ("vas_med", 3, "knee_flexion", 62, 150),
        ("vas_int", 3, "knee_flexion", 76, 150),
        ("vas_lat", 3, "knee_flexion", 64, 150),
        ("rect_fem", 2, "knee_flexion", 73, 150),
        ("med_gas", 2, "knee_flexion", -90, 31.5),
        ("lat_gas", 2, "knee_flexion", -90, 27),
        ("iliacus", 3, "hip_flexion", -90, 37),
        ("psoas", 3, "hip_flexion", -90, 51.5),
    ],
)
def test_conditional_points(name: str, point: int, dof: str, from_deg: float, to_deg: float) -> None:
    (k,) = [k for k, p in enumerate(DATABASE[name].path, 1) if p.active]
    active = DATABASE[name].path[k - 1].active
    assert active is not None
    assert (k, active.dof) == (point, dof)
    assert (active.lower, active.upper) == pytest.approx((math.radians(from_deg), math.radians(to_deg)))
    assert active.holds(active.lower) and active.holds(active.upper)
    assert not active.holds(active.lower - 1e-9) and not active.holds(active.upper + 1e-9)


def test_medial_gastrocnemius_ends_with_the_lateral_one() -> None:
    assert DATABASE["med_gas"].path[-1] == DATABASE["lat_gas"].path[-1] == DATABASE["soleus"].path[-1]


def test_gemellus_arises_below_the_hip() -> None:
    assert DATABASE["gem"].path[0].position == (-0.1119, -0.0705, -0.081)
    assert standing_length(DATABASE["gem"], DATABASE.reference) == pytest.approx(0.067, abs=5e-4)
    assert standing_length(PRINTED["gem"], PRINTED.reference) == pytest.approx(0.164, abs=5e-4)


def test_frames_are_those_of_standing() -> None:
    """The points of the thigh and the shank run down the whole segment."""
    for frame in ("femur", "tibia"):
        length = DATABASE.reference[frame].length
        heights = [p.position[2] for muscle in DATABASE for p in muscle.path if p.frame == frame]
        assert min(heights) == pytest.approx(-length, abs=0.02)
        assert max(heights) == pytest.approx(0.0, abs=0.03)


@pytest.mark.parametrize(
    ("database", "name", "expected"),
    [(PRINTED, "vas_int", 0.375), (DATABASE, "bifemsh", 0.279), (DATABASE, "med_gas", 0.468)],
)
def test_standing_lengths(database: MuscleDatabase, name: str, expected: float) -> None:
    assert standing_length(database[name], database.reference) == pytest.approx(expected, abs=5e-4)


def test_reference_skeleton() -> None:
    reference = DATABASE.reference
    assert (reference["femur"].length, reference["tibia"].length, reference["pelvis"].width) == (
        0.4312,
        0.4432,
        0.165,
    )
    assert reference["pelvis"].position == (-0.0698, -0.165 / 2, -0.0653)
    scale = {bone.name: bone.position_scale for bone in reference.segments}
    assert scale == {"pelvis": 0.988, "femur": 1.081, "tibia": 1.031, "foot": 0.989}


@pytest.mark.parametrize(
    ("name", "expected"),
    [("tfl", 1.552), ("tib_post", 1.450), ("semimem", 1.205), ("bifemlh", 1.263), ("med_gas", 1.393), ("soleus", 1.137),
     ("flex_dig", 1.147), ("flex_hal", 1.055), ("ext_dig", 1.032), ("ext_hal", 1.007),
     ("rect_fem", 1.17), ("vas_med", 0.72), ("vas_int", 0.74), ("vas_lat", 0.75)],
)  # fmt: skip
def test_standing_fiber_lengths_before_scaling(name: str, expected: float) -> None:
    tolerance = 5e-4 if expected * 1000 % 10 else 5e-3
    assert normalized_fiber_length(DATABASE, name, scaled=False) == pytest.approx(expected, abs=tolerance)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("rect_fem", 3.17), ("vas_med", 2.67), ("vas_int", 2.75), ("vas_lat", 2.71),
     ("flex_dig", -0.602), ("flex_hal", -0.449), ("ext_dig", 0.404), ("ext_hal", 0.422), ("gem", 5.19)],
)  # fmt: skip
def test_standing_fiber_lengths_as_printed(name: str, expected: float) -> None:
    assert normalized_fiber_length(PRINTED, name, scaled=False) == pytest.approx(expected, abs=6e-3)


def test_every_muscle_can_work_in_standing() -> None:
    lengths = {m.short_name: normalized_fiber_length(DATABASE, m.name, scaled=True) for m in DATABASE}
    assert {name: value for name, value in lengths.items() if not 0.4 <= value <= 1.5} == {}
    assert all(lengths[name] < 1.0 for name in GROUPS["quadriceps_femoris"].split())  # no passive force


def test_unscaled_length_is_the_length_of_the_smaller_skeleton() -> None:
    """With one common factor, the two lengths differ by that factor."""
    bones = (replace(bone, position_scale=1.25) for bone in DATABASE.reference.segments)
    reference = replace(DATABASE.reference, segments=tuple(bones))
    for muscle in DATABASE:
        unscaled = standing_length(muscle, reference, unscaled=True)
        assert standing_length(muscle, reference) == pytest.approx(1.25 * unscaled, rel=1e-12)
