"""Knees and ankles without medial markers: the chord function, and medial markers seen only standing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused
from scipy.spatial.transform import Rotation
from synthetic_trial import FILE_FROM_GLOBAL, person, write_markers, write_trial

from musclesolve import read_trial
from musclesolve.errors import InputError
from musclesolve.laboratory.forces import anatomy
from musclesolve.laboratory.motion.anatomy.joint_centers import chord_center
from musclesolve.laboratory.recording.data import USUAL_WIDTH
from musclesolve.tables import read_trc

MEDIAL = tuple(f"{side}{joint}" for side in "RL" for joint in ("KNM", "ANM"))
CARRIED = tuple(
    f'{marker} = "{seg}_{marker[0].lower()}"\n' for marker in MEDIAL for seg in ("thigh", "shank")
)
# The synthetic knee is 0.10 m wide from marker to marker, the ankle 0.07 m.
WIDTHS = "knee_width_m = 0.086\nankle_width_m = 0.056\n"


@given(st.integers(0, 10**6))
@settings(max_examples=50)
def test_the_chord_center_is_what_it_is_defined_to_be(seed: int) -> None:
    rng = np.random.default_rng(seed)
    above, lateral = np.array([0.0, 0.0, 0.4]), rng.normal(size=3) * 0.02
    wand = np.array([0.0, 0.08, 0.2]) + rng.normal(size=3) * 0.02
    center = chord_center(above, wand, lateral, 0.055)
    assert np.linalg.norm(center - lateral) == pytest.approx(0.055)
    assert (above - center) @ (lateral - center) == pytest.approx(0.0, abs=1e-12)
    plane = np.cross(above - lateral, wand - lateral)
    assert plane @ (center - lateral) == pytest.approx(0.0, abs=1e-12)
    # Wand and center lie on opposite sides of the line from the lateral marker to the center above.
    beside = np.cross(plane, above - lateral)
    assert (beside @ (wand - lateral)) * (beside @ (center - lateral)) < 0.0


def with_wands(folder, *edits: tuple[str, str]):
    """Write the synthetic trial with a marker on the side of thigh and shank, in the plane of the joint axes."""
    path = write_trial(folder, ("[mapping]\n", "[mapping]\n" + wand_lines()), *edits)
    for name in ("walk", "static"):
        recorded = read_trc(folder / f"{name}.trc")
        moving = name == "walk"
        truth = person(recorded.time, moving).truth
        turn = np.eye(3) if moving else Rotation.from_euler("z", 70.0, degrees=True).as_matrix()
        columns = {n: recorded[n] @ FILE_FROM_GLOBAL for n in recorded.names}
        for side, sign in (("r", -1.0), ("l", 1.0)):
            axis = truth[f"knee_axis_{side}"] * sign
            for wand, one, other in (("THI", "hip", "knee"), ("TIB", "knee", "ankle")):
                middle = 0.5 * (truth[f"{one}_{side}"] + truth[f"{other}_{side}"])
                columns[side.upper() + wand] = (middle + 0.09 * axis) @ turn.T
        write_markers(folder / f"{name}.trc", recorded.time, columns)
    return path


def wand_lines() -> str:
    return "".join(
        f'{segment}_wand_{side} = "{side.upper()}{marker}"\n'
        for segment, marker in (("thigh", "THI"), ("shank", "TIB"))
        for side in "rl"
    )


def without_medial(path) -> None:
    lines = path.read_text(encoding="utf-8").split("\n")
    kept = [line for line in lines if not line.startswith(("knee_medial", "ankle_medial"))]
    path.write_text("\n".join(line for line in kept if line.split(" ")[0] not in MEDIAL), encoding="utf-8")


@pytest.mark.parametrize("chord", [True, False])
def test_joint_centers_without_medial_markers_in_the_motion(tmp_path, chord: bool) -> None:
    path = with_wands(tmp_path, ('sex = "female"\n', 'sex = "female"\n' + WIDTHS))
    text = path.read_text(encoding="utf-8")
    path.write_text(text[: text.index("[carried]")] + text[text.index("[[force]]") :], encoding="utf-8")
    if chord:
        without_medial(path)
    found = anatomy(read_trial(path))
    truth = person(found.time).truth
    for name in ("knee_r", "knee_l", "ankle_r", "ankle_l"):
        np.testing.assert_allclose(found.points[name], truth[name], atol=1e-4, err_msg=name)
    for side in "rl":
        np.testing.assert_allclose(
            found.directions[f"knee_axis_{side}"], truth[f"knee_axis_{side}"], atol=1e-3
        )


@pytest.mark.parametrize("moved", [0.05, 0.12])
def test_a_wand_that_sits_elsewhere_than_standing_is_seen(tmp_path, moved: float) -> None:
    path = with_wands(tmp_path)
    text = path.read_text(encoding="utf-8")
    path.write_text(text[: text.index("[carried]")] + text[text.index("[[force]]") :], encoding="utf-8")
    static = read_trc(tmp_path / "static.trc")
    columns = {name: static[name] @ FILE_FROM_GLOBAL for name in static.names}
    columns["RTHI"] = columns["RTHI"] + [0.0, 0.0, moved] @ FILE_FROM_GLOBAL
    write_markers(tmp_path / "static.trc", static.time, columns)
    sentence = "points of hip_r, thigh_wand_r and knee_lateral_r fit their standing shape only"
    if moved > 0.1:
        with pytest.raises(InputError, match=rf"\[mapping\] thigh_wand_r: the {sentence}"):
            anatomy(read_trial(path))
    else:
        assert any(sentence in note for note in anatomy(read_trial(path)).notes)


@pytest.mark.parametrize(("offset", "wand"), [(0.06, 0.02), (0.05, 0.02), (0.01, 0.0)])
def test_a_chord_that_cannot_be_drawn_is_refused(offset: float, wand: float) -> None:
    above, lateral = np.array([0.0, 0.0, 0.05]), np.zeros(3)
    with refused("bad_anatomy", "mm"):
        chord_center(above, np.array([wand, 0.0, 0.02]), lateral, offset)


def test_a_width_that_no_leg_has_room_for_is_refused_at_its_line(tmp_path) -> None:
    path = with_wands(
        tmp_path, ('sex = "female"\n', 'sex = "female"\nknee_width_m = 0.25\nankle_width_m = 0.2\n')
    )
    text = path.read_text(encoding="utf-8")
    path.write_text(text[: text.index("[carried]")] + text[text.index("[[force]]") :], encoding="utf-8")
    without_medial(path)
    static = read_trc(tmp_path / "static.trc")
    columns = {name: static[name] @ FILE_FROM_GLOBAL for name in static.names}
    # The marker of the knee was put on just below the hip.
    columns["RKNL"] = columns["RASI"] - [0.0, 0.0, 0.05] @ FILE_FROM_GLOBAL
    write_markers(tmp_path / "static.trc", static.time, columns)
    with refused("bad_anatomy", "[mapping] knee_lateral_r"):
        anatomy(read_trial(path))


def without_clusters(path) -> None:
    text = path.read_text(encoding="utf-8")
    path.write_text(text[: text.index("[clusters]")] + text[text.index("[[force]]") :], encoding="utf-8")


def test_a_joint_without_any_way_to_its_center_is_refused(tmp_path) -> None:
    path = with_wands(tmp_path)
    without_medial(path)
    lines = path.read_text(encoding="utf-8").split("\n")
    path.write_text(
        "\n".join(line for line in lines if not line.startswith("thigh_wand_r")), encoding="utf-8"
    )
    with pytest.raises(InputError, match=r"knee_medial_r"):
        read_trial(path)


def test_a_width_that_is_not_stated_is_usual_at_the_stature(tmp_path) -> None:
    path = with_wands(tmp_path)
    without_clusters(path)
    without_medial(path)
    trial = read_trial(path)
    usual = {joint: share * trial.subject.stature for joint, share in USUAL_WIDTH.items()}
    assert trial.subject.width("knee") == usual["knee"]
    found = anatomy(trial)
    for joint, width in usual.items():
        center, lateral = found.points[f"{joint}_r"], found.stance.legs["r"]
        assert center.shape[1] == 3
        apart = np.linalg.norm(lateral[f"{joint}_lateral_r"] - lateral[joint])
        assert apart == pytest.approx(0.5 * (width + trial.subject.marker_diameter), abs=1e-9)
        said = f"The {joint} is taken as {1000.0 * width:.0f} mm wide, as usual at a stature"
        assert any(said in note for note in found.notes)


def test_the_chord_function_needs_no_standing_trial(tmp_path) -> None:
    path = with_wands(tmp_path, ('sex = "female"\n', 'sex = "female"\n' + WIDTHS))
    without_clusters(path)
    without_medial(path)
    standing = anatomy(read_trial(path))
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('static = "static.trc"\n', ""), encoding="utf-8")
    found = anatomy(read_trial(path))
    for name in ("knee_r", "knee_l", "ankle_r", "ankle_l"):
        np.testing.assert_allclose(found.points[name], standing.points[name], atol=2e-3, err_msg=name)
    for side in "rl":
        name = f"knee_axis_{side}"
        np.testing.assert_allclose(found.directions[name], standing.directions[name], atol=0.02)
