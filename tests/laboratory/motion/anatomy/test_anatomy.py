from __future__ import annotations

import numpy as np
import pytest
from refusals import refused
from synthetic_trial import RATE, person, write_markers, write_trial

from musclesolve import read_trial
from musclesolve.laboratory.forces import anatomy
from musclesolve.tables import read_trc

# The markers move at 0.4 Hz and its overtones; what the 6 Hz filter takes from that is below a tenth of a millimeter.
CLOSE = {"atol": 1.5e-4, "rtol": 0.0}


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory):
    return anatomy(read_trial(write_trial(tmp_path_factory.mktemp("trial"))))


@pytest.fixture(scope="module")
def truth(measured) -> dict[str, np.ndarray]:
    return person(measured.time).truth


def test_time_is_the_range_of_the_trial_file(measured) -> None:
    assert measured.time[0] == pytest.approx(0.6)
    assert measured.time[-1] == pytest.approx(1.8)
    assert measured.time.size == round(1.2 * RATE) + 1


@pytest.mark.parametrize("name", [f"{joint}_{side}" for joint in ("hip", "knee", "ankle") for side in "rl"])
def test_joint_centers_are_found(measured, truth: dict[str, np.ndarray], name: str) -> None:
    np.testing.assert_allclose(measured.points[name], truth[name], **CLOSE)


@pytest.mark.parametrize(
    "name", ["pelvis_forward", *(f"{axis}_{side}" for axis in ("knee_axis", "ankle_axis") for side in "rl")]
)
def test_directions_are_found(measured, truth: dict[str, np.ndarray], name: str) -> None:
    np.testing.assert_allclose(measured.directions[name], truth[name], atol=1.5e-3)


def test_every_target_is_finite_and_directions_are_unit(measured) -> None:
    frames = measured.time.size
    for point in measured.points.values():
        assert point.shape == (frames, 3) and np.isfinite(point).all()
    for direction in measured.directions.values():
        np.testing.assert_allclose(np.linalg.norm(direction, axis=1), 1.0, atol=1e-12)


def test_axes_point_left_on_both_sides(measured) -> None:
    for name, direction in measured.directions.items():
        if "axis" in name:
            assert direction[:, 1].min() > 0.9, name


def test_offsets_are_the_dimensions_of_the_person(measured) -> None:
    offsets = measured.offsets
    for side, sign in (("l", 1.0), ("r", -1.0)):
        out = np.deg2rad(10.0) * sign
        turn = np.array([[np.cos(out), -np.sin(out), 0.0], [np.sin(out), np.cos(out), 0.0], [0.0, 0.0, 1.0]])
        expected = {
            "hip": [0.0, 0.0865 * sign, 0.0],
            "knee": [0.0, 0.0, -0.42],
            "ankle": [0.0, 0.0, -0.40],
            "heel": turn @ [-0.06, 0.0, -0.04],
            "toe": turn @ [0.17, 0.0, -0.04],
            "ankle_axis": turn @ [0.0, 1.0, 0.0],
            "shank_forward": turn @ [1.0, 0.0, 0.0],
            # The acromion is moved 10.4 % of 0.32 m down, the elbow is 0.2 m out and 0.32 m down.
            "elbow": [0.0, 0.0, -0.896 * 0.32],
            "wrist": [0.0, 0.0, -np.hypot(0.04, 0.25)],
            "shoulder": [0.0, 0.2 * sign, 0.0],
        }
        for name, value in expected.items():
            np.testing.assert_allclose(offsets[f"{name}_{side}"], value, err_msg=name, **CLOSE)


def test_the_back_lies_above_the_middle_of_the_hips(measured) -> None:
    middle = 0.5 * (measured.points["hip_r"] + measured.points["hip_l"])
    height = np.linalg.norm(measured.points["neck_base"] - middle, axis=1).mean()
    np.testing.assert_allclose(measured.offsets["back"], [0.0, 0.0, 0.275 / 0.569 * height], **CLOSE)
    up = np.cross(measured.directions["pelvis_forward"], measured.points["hip_l"] - measured.points["hip_r"])
    along = (measured.points["back"] - middle) / np.linalg.norm(measured.points["back"] - middle, axis=1)[
        :, None
    ]
    np.testing.assert_allclose(np.sum(up * along, axis=1), np.linalg.norm(up, axis=1), rtol=1e-6)


def test_the_heading_of_the_standing_trial_does_not_matter(tmp_path, measured) -> None:
    other = anatomy(read_trial(write_trial(tmp_path, yaw_deg=-135.0)))
    for name, point in measured.points.items():
        np.testing.assert_allclose(other.points[name], point, atol=1e-6, err_msg=name)
    for name, offset in measured.offsets.items():
        np.testing.assert_allclose(other.offsets[name], offset, atol=1e-6, err_msg=name)


def test_what_no_marker_shows_is_said(measured) -> None:
    assert any("Head" in sentence for sentence in measured.completed)
    assert sum("hand" in sentence for sentence in measured.completed) == 2


def test_nothing_wrong_is_one_note(measured) -> None:
    assert len(measured.notes) == 1
    assert "points or more fit their standing shape" in measured.notes[0]


def between(one: str, other: str, share: float) -> str:
    return f"{{ weights = {{ {one} = {1 - share:.2f}, {other} = {share:.2f} }} }}"


HEAD_AND_HANDS = (
    "[mapping]\n",
    "[mapping]\n"
    'head_base = "HBAS"\nhead_low = "HLOW"\nhead_top = "HTOP"\n'
    'hand_radial_r = "RHRA"\nhand_radial_l = "LHRA"\nhand_ulnar_r = "RHUL"\nhand_ulnar_l = "LHUL"\n',
)


def test_a_head_and_hands_that_are_mapped_are_not_completed(tmp_path) -> None:
    found = anatomy(read_trial(write_trial(tmp_path, HEAD_AND_HANDS)))
    assert found.completed == []
    truth = person(found.time).markers
    for name, marker in (("head_low", "HLOW"), ("hand_ulnar_l", "LHUL")):
        np.testing.assert_allclose(found.points[name], truth[marker], **CLOSE)


def test_a_hip_center_measured_otherwise_replaces_the_regression(tmp_path, measured) -> None:
    edit = ("[mapping]\n", f"[mapping]\nhip_center_r = {between('RASI', 'RKNL', 0.15)}\n")
    found = anatomy(read_trial(write_trial(tmp_path, edit)))
    truth = person(found.time).markers
    np.testing.assert_allclose(found.points["hip_r"], 0.85 * truth["RASI"] + 0.15 * truth["RKNL"], **CLOSE)
    np.testing.assert_allclose(found.points["hip_l"], measured.points["hip_l"], atol=1e-9)


def test_a_hip_center_that_only_the_motion_shows_gives_the_thigh_there(tmp_path) -> None:
    path = write_trial(tmp_path, ("[mapping]\n", '[mapping]\nhip_center_r = "RHJC"\n'))
    time = np.arange(240) / RATE
    everything = person(time)
    kept = {name: everything.markers[name] for name in read_trc(tmp_path / "walk.trc").names}
    write_markers(tmp_path / "walk.trc", time, kept | {"RHJC": everything.truth["hip_r"]})
    found = anatomy(read_trial(path))
    np.testing.assert_allclose(found.offsets["knee_r"], [0.0, 0.0, -0.42], **CLOSE)
    np.testing.assert_allclose(found.offsets["hip_r"], [0.0, -0.0865, 0.0], **CLOSE)


def test_clusters_named_for_a_body_register_it(tmp_path, measured) -> None:
    clusters = '[clusters]\npelvis = ["RASI", "LASI", "RPSI"]\nfoot_l = ["LHEE", "LTOE", "LMT5"]\n'
    found = anatomy(read_trial(write_trial(tmp_path, ("[clusters]\n", clusters))))
    for name, point in measured.points.items():
        np.testing.assert_allclose(found.points[name], point, err_msg=name, **CLOSE)
    np.testing.assert_allclose(
        found.directions["ankle_axis_l"], measured.directions["ankle_axis_l"], atol=1e-9
    )


def test_without_a_fifth_metatarsal_the_foot_is_still_registered(tmp_path, measured) -> None:
    edits = (('metatarsal_5_r = "RMT5"\n', ""), ('metatarsal_5_l = "LMT5"\n', ""))
    found = anatomy(read_trial(write_trial(tmp_path, *edits)))
    # The malleolus belongs to the shank, so the foot's attitude is less exact: some degrees at most.
    for side in "rl":
        cosine = np.sum(
            found.directions[f"ankle_axis_{side}"] * measured.directions[f"ankle_axis_{side}"], axis=1
        )
        assert np.rad2deg(np.arccos(cosine)).max() < 8.0


def test_a_margin_adds_frames_and_changes_nothing_else(tmp_path) -> None:
    trial = read_trial(write_trial(tmp_path))
    plain, wide = anatomy(trial), anatomy(trial, margin=0.1)
    assert wide.time.size == plain.time.size + 20
    np.testing.assert_allclose(wide.time[10:-10], plain.time)
    np.testing.assert_allclose(wide.points["knee_r"][10:-10], plain.points["knee_r"], atol=1e-12)


def test_lateral_and_medial_that_are_swapped_are_refused(tmp_path) -> None:
    edits = (
        ('knee_lateral_r = "RKNL"', 'knee_lateral_r = "RKNM"'),
        ('knee_medial_r = "RKNM"', 'knee_medial_r = "RKNL"'),
    )
    with refused("sides_swapped", "right knee axis"):
        anatomy(read_trial(write_trial(tmp_path, *edits)))


def test_without_a_standing_trial_the_person_is_measured_on_the_motion(tmp_path) -> None:
    write_trial(tmp_path)
    everything = person(np.arange(240) / RATE).markers
    path = write_trial(tmp_path, ('static = "static.trc"\n', ""))
    text = path.read_text()
    path.write_text(text[: text.index("[clusters]")] + text[text.index("[joint_centers]") :])
    write_markers(tmp_path / "walk.trc", np.arange(240) / RATE, everything)
    found = anatomy(read_trial(path))
    truth = person(found.time).truth
    for name in ("hip_r", "hip_l", "knee_r", "ankle_l"):
        np.testing.assert_allclose(found.points[name], truth[name], **CLOSE)
    np.testing.assert_allclose(found.offsets["knee_r"], [0.0, 0.0, -0.42], **CLOSE)
    np.testing.assert_allclose(np.linalg.norm(found.offsets["toe_l"]), np.hypot(0.17, 0.04), **CLOSE)
    # The person walks with the tilt of standing, 8 degrees, but for what is left of a swing of 3 degrees.
    lean = np.sum(found.directions["pelvis_forward"] * truth["pelvis_forward"], axis=1)
    np.testing.assert_allclose(np.rad2deg(np.arccos(np.minimum(lean, 1.0))), 0.0, atol=0.3)
    assert any("taken as 8 degrees" in note for note in found.notes)


def test_points_that_do_not_move_as_one_body_are_refused(tmp_path) -> None:
    path = write_trial(
        tmp_path, ('metatarsal_5_l = "LMT5"', f"metatarsal_5_l = {between('LMT5', 'RMT5', 0.8)}")
    )
    with refused("not_rigid", "foot_l"):
        anatomy(read_trial(path))


KNEE_NEAR_THE_ANKLE = (
    ('knee_lateral_r = "RKNL"', f"knee_lateral_r = {between('RKNL', 'RANL', 0.6)}"),
    ('knee_medial_r = "RKNM"', f"knee_medial_r = {between('RKNM', 'RANM', 0.6)}"),
)


@pytest.mark.parametrize(
    ("edits", "segment"),
    [
        (KNEE_NEAR_THE_ANKLE, "right shank"),
        ((('toe_l = "LTOE"', f"toe_l = {between('LTOE', 'LHEE', 0.7)}"),), "left foot"),
        ((('wrist_l = "LWRI"', f"wrist_l = {between('LWRI', 'LSHO', 0.4)}"),), "left forearm"),
    ],
)
def test_a_person_of_odd_proportions_is_refused(tmp_path, edits: tuple, segment: str) -> None:
    with refused("bad_anatomy", segment):
        anatomy(read_trial(write_trial(tmp_path, *edits)))
