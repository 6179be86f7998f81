"""Functional hip centers: found where the thigh turns, refused where the trial does not show it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import refusals
from scipy.spatial.transform import Rotation
from synthetic_trial import person, write_markers, write_trial

from musclesolve import read_trial
from musclesolve.errors import InputError
from musclesolve.laboratory import Trial
from musclesolve.laboratory.forces import anatomy
from musclesolve.laboratory.motion.anatomy.joint_centers import standing_hips
from musclesolve.laboratory.motion.anatomy.landmark_positions import standing_landmarks, standing_markers
from musclesolve.laboratory.motion.anatomy.rotation_estimates import functional_hips

RATE, SECONDS = 100.0, 8.0
ASKED = (
    ('hip = "harrington_2007"', 'hip = "functional"'),
    (
        'static = "static.trc"',
        'static = "static.trc"\nfunctional_r = "circle_r.trc"\nfunctional_l = "circle_l.trc"',
    ),
)
# The hips of this person lie so far from where the regression puts them: forward, outward, up.
OFFSET = np.array([0.012, 0.008, -0.006])


def circle(
    side: str, flexion_deg: float = 30.0, abduction_deg: float = 25.0, offset: np.ndarray = OFFSET
) -> dict[str, np.ndarray]:
    """Markers of pelvis and legs while one thigh circles about its hip, all frames (T, 3), global frame."""
    time = np.arange(round(SECONDS * RATE)) / RATE
    still = {name: path[0] for name, path in person(time[:1], moving=False).markers.items()}
    hip = person(time[:1], moving=False).truth[f"hip_{side}"][0] + offset * [
        1.0,
        1.0 if side == "l" else -1.0,
        1.0,
    ]
    phase = 2.0 * np.pi * 0.5 * time
    wobble = Rotation.from_rotvec(
        np.stack(
            [0.06 * np.sin(0.7 * phase), 0.05 * np.cos(0.4 * phase), 0.3 + 0.1 * np.sin(0.3 * phase)], axis=1
        )
    )
    sway = 0.03 * np.stack([np.sin(0.5 * phase), np.cos(0.3 * phase), np.sin(phase)], axis=1) + [
        0.5,
        0.2,
        0.0,
    ]
    swing = Rotation.from_rotvec(
        np.deg2rad(
            np.stack(
                [abduction_deg * np.sin(phase), -flexion_deg * np.cos(phase), 5.0 * np.sin(3.0 * phase)],
                axis=1,
            )
        )
    )
    moved = {}
    for name, point in still.items():
        leg = name.startswith(side.upper()) and name[1:3] in ("TH", "KN", "SH", "AN")
        place = (
            swing.apply(point - hip) + hip if leg and name[1:] != "SHO" else np.tile(point, (time.size, 1))
        )
        moved[name] = wobble.apply(place) + sway
    return moved


def functional_trial(
    folder: Path, *edits: tuple[str, str], noise: float = 0.0, lost: bool = False, **motion: object
) -> Trial:
    rng = np.random.default_rng(3)
    trial = write_trial(folder, *ASKED, *edits)
    for side in "rl":
        markers = circle(side, **motion)  # type: ignore[arg-type]
        markers = {name: path + noise * rng.normal(size=path.shape) for name, path in markers.items()}
        if lost:
            markers[side.upper() + "TH1"][200:260] = np.nan
            markers["RASI"][500] += 0.8
        write_markers(folder / f"circle_{side}.trc", np.arange(round(SECONDS * RATE)) / RATE, markers)
    return read_trial(trial)


def found(trial: Trial) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray], list[str]]:
    """Return functional and true hips of the standing person, and the notes."""
    assert trial.static is not None
    standing = standing_markers(trial.static)
    pelvis = standing_landmarks(trial, standing)
    regression = standing_hips(pelvis, trial.hip_regression, {})
    hips, notes = functional_hips(
        trial, trial.subject.stature, standing, pelvis, regression, trial.hip_regression
    )
    turn = Rotation.from_euler("z", 70.0, degrees=True)
    truth = {
        f"hip_{side}": regression[f"hip_{side}"]
        + turn.apply(OFFSET * [1.0, 1.0 if side == "l" else -1.0, 1.0])
        for side in "rl"
    }
    return hips, truth, notes


def test_the_centers_are_found_exactly_without_noise(tmp_path: Path) -> None:
    trial = functional_trial(tmp_path)
    hips, truth, notes = found(trial)
    for name in ("hip_r", "hip_l"):
        np.testing.assert_allclose(hips[name], truth[name], atol=2e-5)
    assert "The right hip center is functional" in notes[0] and "60 and 50 degrees" in notes[0]
    assert "harrington_2007 puts it 16 mm away." in notes[0] and trial.hip_method == "functional"


@pytest.mark.parametrize("noise", [0.001, 0.003])
def test_noise_of_the_markers_moves_them_by_no_more_than_itself(tmp_path: Path, noise: float) -> None:
    hips, truth, notes = found(functional_trial(tmp_path, noise=noise, lost=True))
    for name in ("hip_r", "hip_l"):
        assert np.linalg.norm(hips[name] - truth[name]) < noise
    assert "moves by" in notes[0]


def test_the_centers_move_with_the_pelvis_and_are_told_of(tmp_path: Path) -> None:
    body = anatomy(functional_trial(tmp_path))
    truth = person(body.time)
    for side, sign in (("r", -1.0), ("l", 1.0)):
        expected = truth.truth[f"hip_{side}"] + truth.pelvis @ (OFFSET * [1.0, sign, 1.0])
        # The pelvis glides at 0.4 Hz under a filter of 6 Hz.
        np.testing.assert_allclose(body.points[f"hip_{side}"], expected, atol=2e-4)
    assert sum("hip center is functional" in note for note in body.notes) == 2
    assert not any("found in two ways" in note for note in body.notes)


def test_a_pelvis_cluster_serves_as_well(tmp_path: Path) -> None:
    edit = ("[clusters]", '[clusters]\npelvis = ["RASI", "LASI", "RPSI"]')
    hips, truth, _ = found(functional_trial(tmp_path, edit))
    np.testing.assert_allclose(hips["hip_l"], truth["hip_l"], atol=2e-5)


def test_one_file_may_show_both_hips(tmp_path: Path) -> None:
    trial = write_trial(
        tmp_path,
        ASKED[0],
        (
            'static = "static.trc"',
            'static = "static.trc"\nfunctional_r = "both.trc"\nfunctional_l = "both.trc"',
        ),
    )
    right, left = circle("r"), circle("l")
    both = {name: np.concatenate([right[name], left[name]]) for name in right}
    write_markers(tmp_path / "both.trc", np.arange(len(both["RASI"])) / RATE, both)
    hips, truth, _ = found(read_trial(trial))
    for name in ("hip_r", "hip_l"):
        np.testing.assert_allclose(hips[name], truth[name], atol=2e-5)


def test_a_center_far_from_the_regression_is_noted_and_one_out_of_reach_refused(tmp_path: Path) -> None:
    _, _, notes = found(functional_trial(tmp_path, offset=np.array([0.03, 0.0, 0.02])))
    assert "36 mm away: that is far, check both." in notes[0]
    message = refused(tmp_path, offset=np.array([0.165, 0.0, 0.02]))
    assert "166 mm from where harrington_2007 puts the hip" in message


def refused(folder: Path, *edits: tuple[str, str], **motion: object) -> str:
    with pytest.raises(InputError) as error:
        found(functional_trial(folder, *edits, **motion))
    message = str(error.value)
    assert "trial.toml" in message and "expected: " in message and "remedy: " in message
    return message


@pytest.mark.parametrize(("flexion", "abduction"), [(30.0, 4.0), (4.0, 4.0), (0.0, 0.0)])
def test_too_little_motion_is_refused(tmp_path: Path, flexion: float, abduction: float) -> None:
    message = refused(tmp_path, flexion_deg=flexion, abduction_deg=abduction)
    assert "the right hip moves too little to show its center" in message and "functional_r" in message
    assert "draw circles" in message


def test_a_trial_in_which_the_other_leg_moves_is_refused(tmp_path: Path) -> None:
    edits = (
        ('"circle_r.trc"', '"circle_x.trc"'),
        ('"circle_l.trc"', '"circle_r.trc"'),
        ('"circle_x.trc"', '"circle_l.trc"'),
    )
    functional_trial(tmp_path)
    path = tmp_path / "trial.toml"
    text = path.read_text()
    for old, new in edits:
        text = text.replace(old, new)
    path.write_text(text)
    with pytest.raises(
        InputError, match=r"the right hip moves too little(.|\n)*the right leg is the one that moves"
    ):
        found(read_trial(path))


def test_a_step_of_walking_shows_no_center(
    recorded_walk_trial: Trial, recorded_walk: Path, tmp_path: Path
) -> None:
    text = recorded_walk_trial.path.read_text(encoding="utf-8")
    for line in (
        'hip_center_r = "R_HJC"',
        'hip_center_l = "L_HJC"',
        '"R_HJC" = "pelvis"',
        '"L_HJC" = "pelvis"',
    ):
        assert line in text
        text = text.replace(line, "")
    walk = (recorded_walk / "walk.trc").as_posix()
    text = text.replace("[time]", f'functional_r = "{walk}"\nfunctional_l = "{walk}"\n[time]', 1)
    text = text.replace('hip = "harrington_2007"', 'hip = "functional"')
    path = tmp_path / "walk.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as error:
        read_trial(path)
    # There is no cluster on the thighs yet; the message says which markers could make one.
    remedy = str(error.value).split("remedy: ")[1]
    assert (
        remedy.startswith('add to [clusters]: thigh_r = ["R.')
        and '"R.Knee"' in remedy
        and '"R.TH1"' in remedy
    )
    assert '"L.' not in remedy and '"R.SH' not in remedy
    clusters = "\n".join(
        remedy.replace("add to [clusters]: ", "").replace("R.", s).replace("h_r", f"h_{t}")
        for s, t in (("R.", "r"), ("L.", "l"))
    )
    path.write_text(text.replace("[clusters]", f"[clusters]\n{clusters}"), encoding="utf-8")
    with refusals.refused("bad_anatomy", "[files] functional_r", "right hip"):
        anatomy(read_trial(path))


def test_a_thigh_that_is_no_body_is_refused(tmp_path: Path) -> None:
    edit = ('thigh_r = ["RTH1", "RTH2", "RKNL"]', 'thigh_r = ["RTH1", "RTH2", "LTH1"]')
    message = refused(tmp_path, edit)
    assert "do not turn about one point" in message or "moves too little" in message


@pytest.mark.parametrize(
    ("edits", "problem", "remedy"),
    [
        ((ASKED[0],), "no trial moves the right hip", "add functional_r"),
        ((ASKED[1],), "the hip centers are found otherwise", 'hip = "functional"'),
        (
            (*ASKED, ("[mapping]\n", '[mapping]\nhip_center_r = "RTH1"\n')),
            "hip_center_r is mapped, but the hip centers are to be",
            "remove hip_center_r",
        ),
        (
            (*ASKED, ('thigh_r = ["RTH1", "RTH2", "RKNL"]\n', ""), ('RKNM = "thigh_r"', 'RKNM = "shank_r"')),
            "no cluster shows how the right thigh moves",
            'thigh_r = ["RKNL", "RTH1", "RTH2"]',
        ),
        ((*ASKED, ("circle_r.trc", "walk_r.trc")), "'walk_r.trc': there is no such file", "did you mean"),
    ],
)
def test_a_trial_file_that_asks_in_vain_is_refused(
    tmp_path: Path, edits: tuple[tuple[str, str], ...], problem: str, remedy: str
) -> None:
    functional_trial(tmp_path)
    with pytest.raises(InputError) as error:
        read_trial(write_trial(tmp_path, *edits))
    message = str(error.value)
    assert problem in message and remedy in message.split("remedy: ")[1] and "trial.toml, line" in message


def test_without_a_standing_trial_there_is_no_functional_hip(tmp_path: Path) -> None:
    functional_trial(tmp_path)
    text = (tmp_path / "trial.toml").read_text().replace('static = "static.trc"', "")
    (tmp_path / "trial.toml").write_text(text)
    with pytest.raises(InputError, match="standing trial"):
        read_trial(tmp_path / "trial.toml")


def test_a_marker_that_the_functional_trial_lacks_is_named(tmp_path: Path) -> None:
    functional_trial(tmp_path)
    markers = circle("r")
    time = np.arange(round(SECONDS * RATE)) / RATE
    write_markers(tmp_path / "circle_r.trc", time, {name: p for name, p in markers.items() if name != "RTH2"})
    with pytest.raises(InputError, match=r"no marker 'RTH2' in .*circle_r\.trc"):
        read_trial(tmp_path / "trial.toml")
    write_markers(tmp_path / "circle_r.trc", time, markers | {"RTH2": np.full_like(markers["RTH2"], np.nan)})
    with pytest.raises(InputError, match="'RTH2' is never seen"):
        read_trial(tmp_path / "trial.toml")
    scattered = markers["RTH2"].copy()
    scattered[::50] = np.nan
    write_markers(tmp_path / "circle_r.trc", time, markers | {"RTH2": scattered})
    with refusals.refused("missing_samples", "pelvis", "right thigh", "1 s"):
        found(read_trial(tmp_path / "trial.toml"))
