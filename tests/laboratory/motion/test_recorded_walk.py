"""The recorded walk: segments keep their length, joints bend as another program finds, feet carry the body."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from musclesolve import read_trial
from musclesolve._util.arrays import unit
from musclesolve.errors import InputError
from musclesolve.laboratory import Trial
from musclesolve.laboratory.forces import anatomy, ground_reactions
from musclesolve.laboratory.motion.signals.filter_choice import filter_choice
from musclesolve.tables import read_mot

TRIAL = Path(__file__).resolve().parents[2] / "real" / "rajagopal_walk.toml"


@pytest.fixture(scope="module")
def trial_file(recorded_walk: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    # The same trial file, with the recordings wherever they are on this machine.
    text = TRIAL.read_text(encoding="utf-8").replace(
        "../../../shared/data/rajagopal_walk", recorded_walk.as_posix()
    )
    path = tmp_path_factory.mktemp("walk") / TRIAL.name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def trial(trial_file: Path) -> Trial:
    return read_trial(trial_file)


@pytest.fixture(scope="module")
def measured(trial: Trial):
    return anatomy(trial)


def test_the_range_is_the_one_with_both_feet_measured(measured) -> None:
    assert measured.time.size == 136
    assert measured.time[[0, -1]] == pytest.approx([0.45, 1.80])


@pytest.mark.parametrize("side", ["r", "l"])
@pytest.mark.parametrize(
    "segment", [("hip", "knee"), ("knee", "ankle"), ("shoulder", "elbow"), ("elbow", "wrist")]
)
def test_segments_keep_their_length(measured, segment: tuple[str, str], side: str) -> None:
    upper, lower = (measured.points[f"{name}_{side}"] for name in segment)
    length = np.linalg.norm(upper - lower, axis=1)
    standing = np.linalg.norm(measured.offsets[f"{segment[1]}_{side}"])
    # Skin moves over bone by millimeters; a wrong marker or axis shows as centimeters. The laboratory's hip
    # centers keep the thigh less well than the regression does.
    assert length.std() < (0.009 if segment == ("hip", "knee") else 0.005)
    assert length.mean() == pytest.approx(standing, abs=0.010)


@pytest.mark.parametrize("side", ["r", "l"])
def test_the_knee_bends_as_in_the_reference(measured, recorded_walk: Path, side: str) -> None:
    reference = read_mot(recorded_walk / "reference" / "opensim_ik.mot")
    expected = np.interp(measured.time, reference.time, reference[f"knee_angle_{side}"])
    thigh = unit(measured.points[f"hip_{side}"] - measured.points[f"knee_{side}"])
    shank = unit(measured.points[f"knee_{side}"] - measured.points[f"ankle_{side}"])
    axis = measured.directions[f"knee_axis_{side}"]
    angle = np.rad2deg(
        np.arctan2(np.sum(np.cross(thigh, shank) * axis, axis=1), np.sum(thigh * shank, axis=1))
    )
    assert np.corrcoef(angle, expected)[0, 1] > 0.998
    # Where each program puts the joint centers decides what counts as a straight knee.
    assert np.std(angle - expected) < 2.5
    assert abs(np.mean(angle - expected)) < 5.0


def test_the_feet_carry_the_body(trial: Trial, measured) -> None:
    right, left = ground_reactions(trial.forces, measured.time, filter_choice(trial, trial.settings.filter))
    total = right.force[:, 2] + left.force[:, 2]
    weight = trial.subject.mass * 9.81
    assert total.mean() == pytest.approx(weight, rel=0.05)
    assert total.min() > 0.6 * weight and total.max() < 1.4 * weight
    for foot in (right, left):
        stands = foot.force[:, 2] > 200.0
        along = foot.center_of_pressure[stands, 0]
        assert (along > measured.points[f"heel_{foot.side}"][stands, 0] - 0.02).all()
        assert (along < measured.points[f"toe_{foot.side}"][stands, 0] + 0.02).all()


def test_hips_by_regression_keep_the_thighs(trial_file: Path) -> None:
    # A hip center that is off makes the thigh seem to change its length over the stride.
    text = trial_file.read_text(encoding="utf-8")
    lines = [line for line in text.split("\n") if "_HJC" not in line]
    other = trial_file.with_name("regression.toml")
    other.write_text("\n".join(lines), encoding="utf-8")
    found = anatomy(read_trial(other))
    for side in "rl":
        length = np.linalg.norm(found.points[f"hip_{side}"] - found.points[f"knee_{side}"], axis=1)
        assert np.ptp(length) < 0.015


def test_forces_given_to_the_wrong_feet_are_refused(trial_file: Path) -> None:
    text = trial_file.read_text(encoding="utf-8")
    swapped = trial_file.with_name("swapped.toml")
    for old, new in (
        ('side = "r"', 'side = "?"'),
        ('side = "l"', 'side = "r"'),
        ('side = "?"', 'side = "l"'),
    ):
        text = text.replace(old, new)
    swapped.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match='side = "'):
        read_trial(swapped)


def edited(trial_file: Path, *edits: tuple[str, str]) -> Path:
    text = trial_file.read_text(encoding="utf-8")
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new)
    other = trial_file.with_name("edited.toml")
    other.write_text(text, encoding="utf-8")
    return other


def test_nothing_is_wrong_with_it(measured) -> None:
    assert not [
        note for note in measured.notes if "only" in note or "less certain" in note or "check" in note
    ]


OTHER_MARKERS = {
    "asis_r": (
        ('psis_r = "R.PSIS"\npsis_l = "L.PSIS"\n', 'sacrum = "S2"\n'),
        ('asis_r = "R.ASIS"', 'asis_r = "R.PSIS"'),
    ),
    "hip_center_r": (('hip_center_r = "R_HJC"', 'hip_center_r = "S2"'),),
    "elbow_medial_r": (("[mapping]\n", '[mapping]\nelbow_medial_r = "S2"\n'),),
    "hand_radial_r": (("[mapping]\n", '[mapping]\nhand_radial_r = "R.Forearm"\n'),),
    "hand_ulnar_l": (("[mapping]\n", '[mapping]\nhand_ulnar_l = "S2"\n'),),
    "head_low": (("[mapping]\n", '[mapping]\nhead_low = "S2"\n'),),
    "metatarsal_5_r": (('metatarsal_5_r = "R.MT5"', 'metatarsal_5_r = "R.SH1"'),),
}


@pytest.mark.in_part(3)
@pytest.mark.parametrize("landmark", OTHER_MARKERS)
def test_a_landmark_at_another_marker_is_refused_with_its_line(trial_file: Path, landmark: str) -> None:
    with pytest.raises(InputError, match=rf"line \d+, \[mapping\] {landmark}: "):
        anatomy(read_trial(edited(trial_file, *OTHER_MARKERS[landmark])))


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (("stature_m = 1.83", "stature_m = 1.15"), ["line 7, [subject] stature_m", "1.79 m tall"]),
        (("mass_kg = 85.07", "mass_kg = 40"), ["line 6, [subject] mass_kg", "the forces fit 85.3 kg"]),
    ],
)
def test_a_person_of_another_size_is_refused(
    trial_file: Path, edit: tuple[str, str], says: list[str]
) -> None:
    with pytest.raises(InputError) as error:
        anatomy(read_trial(edited(trial_file, edit)))
    assert all(part in str(error.value) for part in says)


@pytest.mark.parametrize(
    ("edit", "says"),
    [(("stature_m = 1.83", "stature_m = 1.60"), "stature_m is 1.6"), (("85.07", "70"), "not 70 kg")],
)
def test_a_person_of_nearly_another_size_is_doubted(
    trial_file: Path, edit: tuple[str, str], says: str
) -> None:
    assert says in anatomy(read_trial(edited(trial_file, edit))).notes[0]
