"""Unusual subjects and misplaced markers are notes at most and give forces; what no human has is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from other_subjects import subject_recording
from thorough import some
from trial_copy import TrialCopy

import musclesolve as ms
from musclesolve import check
from musclesolve.studies.synthetic.reference_stride import StrideSubject

ADULT, CHILD, SMALL, HEAVY = (1.70, 70.25), (1.0, 15.0), (0.85, 11.0), (1.95, 140.0)
STRIDE = Path(ms.__file__).with_name("data") / "reference_stride" / "trial.toml"
LANDMARKS = (
    "asis psis knee_lateral knee_medial ankle_lateral ankle_medial heel toe metatarsal_5 shoulder shoulder_center "
    "elbow_lateral elbow_medial wrist hand_radial hand_ulnar"
).split()
Moved = dict[str, np.ndarray]


def mirrored(landmark: str, *offset: float) -> Moved:
    """The marker of a landmark on either side: forward, inward and up."""
    return {f"{landmark}_{side}": np.array(offset) * [1.0, sign, 1.0] for side, sign in (("r", 1), ("l", -1))}


def toed_out(degrees: float) -> Moved:
    """The markers of the feet rotated outwards about the ankles, with the toe marker on the tip."""
    names, standing, _ = StrideSubject.load().markers
    at = dict(zip(names, standing, strict=True))
    moved = {}
    for side, sign in (("r", -1.0), ("l", 1.0)):
        ankle = 0.5 * (at[f"ankle_lateral_{side}"] + at[f"ankle_medial_{side}"])
        c, s = np.cos(np.radians(degrees)), sign * np.sin(np.radians(degrees))
        for part, tip in (("heel", 0.0), ("toe", 0.065), ("metatarsal_5", 0.0)):
            own = at[f"{part}_{side}"] - ankle + [tip, 0.0, 0.0]
            moved[f"{part}_{side}"] = own @ [[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]] - own + [tip, 0, 0]
    return moved


def astray(seed: int, stature: float) -> Moved:
    """Every marker 10 to 30 mm from its place, in any direction."""
    rng = np.random.default_rng(seed)
    names = [f"{name}_{side}" for name in LANDMARKS for side in "rl"]
    way = rng.normal(size=(len(names), 3))
    far = rng.uniform(0.010, 0.030, len(names)) * ADULT[0] / stature
    return dict(zip(names, far[:, None] * way / np.linalg.norm(way, axis=1)[:, None], strict=True))


PLACES = {
    "PSIS 49 mm apart": mirrored("psis", 0.0, 0.0205, 0.0),
    "PSIS 20 mm apart": mirrored("psis", 0.0, 0.035, 0.0),
    "a wide pelvis": mirrored("psis", 0.0, -0.035, 0.0) | mirrored("asis", 0.0, -0.05, 0.0),
    "a narrow pelvis": mirrored("psis", 0.0, 0.02, 0.0) | mirrored("asis", 0.0, 0.035, 0.0),
    "ASIS on fat": mirrored("asis", 0.06, -0.05, 0.03),
    "heel to fifth metatarsal 104 mm": mirrored("metatarsal_5", -0.062, 0.0, 0.0),
    "toe on the first metatarsal": mirrored("toe", 0.0, 0.03, 0.01),
    "toe on the second metatarsal": mirrored("toe", 0.0, 0.0, 0.01),
    "toe beside the fifth metatarsal": mirrored("toe", -0.03, -0.045, 0.01),
    "toe on the tip": mirrored("toe", 0.065, 0.0, 0.0),
    "feet far out": toed_out(35.0),
}


# Examined with the line of the note below.
UNUSUAL = "PSIS 49 mm apart"


def examined(path: Path, hips: bool = True):
    """Return the findings of check in a recording that gives forces."""
    if not hips:
        lines = path.read_text(encoding="utf-8").splitlines()
        path.write_text("\n".join(line for line in lines if "hip_center" not in line), encoding="utf-8")
    report = check(path)
    assert report.ok, str(report)
    result = ms.run(path)
    assert np.isfinite(result.muscle_force).any()
    return report


@pytest.mark.in_part(4)
@pytest.mark.parametrize(
    ("name", "subject"),
    [
        *((name, ADULT) for name in some([name for name in PLACES if name != UNUSUAL], 2)),
        ("ASIS on fat", HEAVY),
        (UNUSUAL, CHILD),
        ("feet far out", CHILD),
    ],
)
def test_unusual_proportions_give_forces(name: str, subject: tuple[float, float], tmp_path: Path) -> None:
    examined(subject_recording(tmp_path, PLACES[name], stature=subject[0], mass=subject[1]))


@pytest.mark.in_part(2)
@pytest.mark.parametrize(("seed", "subject"), [(0, ADULT), (1, CHILD), (2, SMALL)])
def test_markers_beside_their_places_give_forces(
    seed: int, subject: tuple[float, float], tmp_path: Path
) -> None:
    moved = astray(seed, subject[0])
    examined(subject_recording(tmp_path, moved, stature=subject[0], mass=subject[1]), hips=False)


def test_a_narrow_pelvis_is_a_note_with_its_line(tmp_path: Path) -> None:
    notes = examined(subject_recording(tmp_path, PLACES[UNUSUAL])).of("note")
    (found,) = [each for each in notes if each.code == "proportions"]
    assert found.where.field == "[mapping] psis_r" and found.where.line
    assert "measures 49 mm" in found.what


def test_a_small_child_is_measured_as_well_as_an_adult(tmp_path: Path) -> None:
    moments = [
        ms.run(subject_recording(tmp_path / str(size), stature=size, mass=mass)).joint_moment.sel(
            dof=["hip_flexion_r", "knee_flexion_r", "ankle_dorsiflexion_r"]
        )
        / (size * mass)
        for size, mass in (ADULT, CHILD)
    ]
    peak = np.abs(moments[0]).max("time")
    # The tables of shoes and trunk are not quite proportional, and the cut-off is the same.
    assert (np.abs(moments[0].values - moments[1].values) < 0.15 * peak.values).mean() > 0.95


def scaled(factor: float) -> TrialCopy:
    copy = TrialCopy(STRIDE)
    copy.put(factor * copy.walk.position)
    assert copy.static is not None
    copy.put(factor * copy.static.position, static=True)
    return copy


@pytest.mark.in_part(2)
@pytest.mark.parametrize("factor", [0.001, 0.5, 2.0, 100.0])
def test_lengths_by_a_factor_are_errors(factor: float, tmp_path: Path) -> None:
    path = scaled(factor).write(tmp_path)
    assert not check(path).ok
    with pytest.raises(ms.MuscleSolveError):
        ms.run(path)


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_a_stature_by_a_factor_of_two_is_an_error(factor: float, tmp_path: Path) -> None:
    copy = TrialCopy(STRIDE)
    copy.set_key("subject", "stature_m", repr(min(2.6, factor * ADULT[0])))
    path = copy.write(tmp_path)
    assert not check(path).ok
    with pytest.raises(ms.InputError):
        ms.run(path)


@pytest.mark.in_part(2)
@pytest.mark.parametrize(
    "pair",
    [
        ("knee_lateral_r", "ankle_lateral_r"),
        ("toe_r", "heel_r"),
        ("toe_l", "metatarsal_5_l"),
        ("knee_medial_r", "knee_lateral_r"),
        ("heel_r", "heel_l"),
        ("asis_r", "asis_l"),
    ],
)
@pytest.mark.parametrize("subject", [CHILD])
def test_exchanged_markers_are_errors_still(
    pair: tuple[str, str], subject: tuple[float, float], tmp_path: Path
) -> None:
    copy = TrialCopy(subject_recording(tmp_path, stature=subject[0], mass=subject[1]))
    copy.exchange(*pair)
    report = check(copy.write(tmp_path))
    assert report.findings[0].severity == "error"
    assert set(pair) <= {m for f in report.of("error") for m in f.where.markers} or any(
        name in f.what for f in report.of("error") for name in pair
    ), str(report)
