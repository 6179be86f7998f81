"""A fault clearly beyond a documented limit is reported; a deviation clearly within it is not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from examined import loaded
from recorded_data import recorded
from trial_copy import TrialCopy

import musclesolve
from benchmarks.balanced_movement import Movement, Posture, rise
from benchmarks.sound_movements import foot, recording
from musclesolve._util.arrays import mean_of_known
from musclesolve.laboratory.checks.forces.plate_axes import BESIDE, MARGIN
from musclesolve.laboratory.checks.markers.body_distances import sheared_space
from musclesolve.laboratory.checks.markers.trajectories import STRETCHED, _swinging
from musclesolve.laboratory.checks.observed_body import seen_feet
from musclesolve.studies import synthetic_recording

STRIDE = Path(musclesolve.__file__).with_name("data") / "reference_stride" / "trial.toml"


def codes_after(copy: TrialCopy, folder: Path) -> set[str]:
    return set(copy.examined(folder).codes)


@pytest.mark.in_part(2)
@pytest.mark.parametrize(
    ("factor", "codes"), [(1.042, set()), (0.958, set()), (1.08, {"mass"}), (0.92, {"mass"})]
)
def test_the_mass_is_reported_from_six_percent_on(factor: float, codes: set[str], tmp_path: Path) -> None:
    copy = TrialCopy(STRIDE)
    copy.set_key("subject", "mass_kg", repr(factor * copy.settings.subject.mass_kg))
    assert codes_after(copy, tmp_path) == codes


@pytest.mark.parametrize(("size", "codes"), [(0.014, set()), (0.024, {"marker_moved"})])
def test_a_marker_that_moved_is_reported_where_its_distances_change_by_15_millimeters(
    size: float, codes: set[str], tmp_path: Path
) -> None:
    copy = TrialCopy(STRIDE)
    copy.move(copy.marker("metatarsal_5_r"), slice(None), copy.in_file((0.0, -size, 0.0)), static=True)
    assert codes_after(copy, tmp_path) == codes


@pytest.mark.parametrize(("share", "codes"), [(0.7, set()), (1.6, {"segment_length"})])
def test_a_segment_that_stretches_slowly_is_reported(share: float, codes: set[str], tmp_path: Path) -> None:
    copy = TrialCopy(STRIDE)
    along = copy.walk[copy.marker("elbow_lateral_r")] - copy.walk[copy.marker("shoulder_r")]
    along = along / np.linalg.norm(along, axis=1, keepdims=True)
    swell = np.clip(np.sin(np.linspace(0.0, 2.0 * np.pi, len(along))), 0.0, None)[:, None]
    copy.move(copy.marker("elbow_lateral_r"), slice(None), share * STRETCHED * swell * along)
    assert codes_after(copy, tmp_path) == codes


@pytest.mark.parametrize(("size", "codes"), [(0.006, set()), (0.03, {"segment_length"})])
def test_a_marker_that_swings_unlike_its_twin_is_reported(
    size: float, codes: set[str], tmp_path: Path
) -> None:
    copy = TrialCopy(STRIDE)
    wave = np.sin(2.0 * np.pi * 0.9 * copy.walk.time)[:, None]
    copy.move(copy.marker("toe_r"), slice(None), size * wave * copy.in_file((0.6, 0.6, 0.5)))
    assert codes_after(copy, tmp_path) & {"segment_length"} == codes


@pytest.mark.parametrize(("share", "found"), [(-0.05, True), (0.0, False), (0.01, False), (0.05, True)])
@pytest.mark.parametrize("data", ["", "treadmill_emg/s01"])
def test_space_that_is_sheared_forward_is_reported(
    share: float, found: bool, data: str, tmp_path: Path
) -> None:
    copy = TrialCopy(recorded(data) / "trial.toml" if data else STRIDE)
    shear = np.eye(3)
    shear[0, 2] = share
    copy.put(copy.walk.position @ copy.rotation.T @ shear.T @ copy.rotation)
    assert ("space_scale" in codes_after(copy, tmp_path)) == found


@pytest.mark.parametrize(("factor", "found"), [(0.94, True), (1.0, False), (1.06, True)])
@pytest.mark.parametrize("data", ["treadmill_emg/s01/trial.toml", "treadmill_walk/p3/walk.toml"])
def test_an_axis_that_is_stretched_shows_in_the_lengths_of_both_legs(
    factor: float, found: bool, data: str
) -> None:
    """A step in place hardly shows the scale against the plates: 6 % change a muscle force by up to 1 kN."""
    case = loaded(recorded("") / data)
    scale = {role: getattr(case.trial, role) for role in ("markers", "static")}
    scaled = {
        role: replace(markers, position=markers.position * [factor, 1.0, 1.0])
        for role, markers in scale.items()
        if markers is not None
    }
    codes = [finding.what for finding in sheared_space(case.with_trial(replace(case.trial, **scaled)))]
    assert [("forward" in what and "upright" in what) for what in codes] == [True] * found


FOOT = {side: {f"{name}_{side}" for name in ("heel", "toe", "metatarsal_5")} for side in "rl"}


def test_what_one_leg_or_skin_shows_is_no_shear(tmp_path: Path) -> None:
    case = loaded(STRIDE)
    markers = case.trial.markers
    foot_of = {side: [k for k, name in enumerate(markers.names) if name in FOOT[side]] for side in "rl"}
    position = markers.position.copy()
    for side, is_found in (("l", False), ("r", True)):
        bent = position[:, foot_of[side]]
        bent[..., 0] += 0.8 * (bent - markers[f"ankle_lateral_{side}"][:, None])[..., 2]
        position[:, foot_of[side]] = bent
        changed = case.with_trial(replace(case.trial, markers=replace(markers, position=position)))
        assert bool([*sheared_space(changed)]) == is_found
    case = loaded(synthetic_recording(tmp_path, noise="skin", noise_mm=6.0, seed=7, truth=False))
    assert not [*sheared_space(case)]


def test_skin_over_the_bent_one_of_two_legs_is_no_loose_marker(tmp_path: Path) -> None:
    """At a knee of 60 degrees skin carries the epicondyles 20 mm upward (Cappozzo et al. 1996: 10 to 40)."""

    def lifted(t: np.ndarray) -> np.ndarray:
        return np.subtract(rise(t, 0.6, 1.2), rise(t, 2.2, 2.8))[:, None] * [0.25, 0.0, 0.35]

    def right(t: np.ndarray) -> np.ndarray:
        return np.asarray(0.5 + 0.5 * rise(t, 0.1, 0.6) - 0.5 * rise(t, 3.0, 3.5))

    supports = foot("r", right), foot("l", lambda t: 1.0 - right(t))
    case = loaded(recording(Movement(Posture(4.0, supports, balls={"l": lifted})), tmp_path))
    markers = case.trial.markers
    position, up = markers.position.copy(), lifted(markers.time)[:, 2:] / 0.35
    for name in ("knee_lateral_l", "knee_medial_l"):
        away = markers["asis_l"] - markers[name]
        position[:, markers.names.index(name)] += (
            0.03 * up * away / np.linalg.norm(away, axis=1, keepdims=True)
        )
    assert not _swinging(replace(case.trial, markers=replace(markers, position=position)), [])


@pytest.mark.parametrize(("share", "found"), [(0.7, False), (1.5, True)])
def test_a_point_of_force_beside_the_sole_is_reported(share: float, found: bool, tmp_path: Path) -> None:
    copy = TrialCopy(STRIDE)
    case = loaded(STRIDE)
    foot, (plate,) = seen_feet(case.trial)["r"], copy.plates("r")
    pushed = np.flatnonzero(copy.plate(plate, "force")[:, 2] > 400.0)
    middle = pushed[len(pushed) // 2]
    own = slice(middle - 25, middle + 25)
    point, heel = (
        copy.plate(plate, "point"),
        np.interp(copy.forces.time[own], case.trial.markers.time, foot.heel[:, 1]),
    )
    point[own, 1] = heel - share * (BESIDE + MARGIN)
    copy.set_plate(plate, "point", point)
    assert ("pressure_outside" in codes_after(copy, tmp_path)) == found


def test_a_recording_that_is_played_backward_is_reported(tmp_path: Path) -> None:
    copy = TrialCopy(STRIDE)
    copy.put(copy.walk.position[::-1])
    assert "walking_direction" in codes_after(copy, tmp_path)


@pytest.mark.parametrize(("share", "codes"), [(2.4, set()), (3.6, {"segment_length"})])
def test_an_acromion_moves_farther_as_the_arm_rises(share: float, codes: set[str], tmp_path: Path) -> None:
    copy = TrialCopy(STRIDE)
    swell = np.clip(np.sin(np.linspace(0.0, 2.0 * np.pi, len(copy.walk.time))), 0.0, None)[:, None]
    inward = copy.walk[copy.marker("shoulder_l")] - copy.walk[copy.marker("shoulder_r")]
    inward = inward / np.linalg.norm(inward, axis=1, keepdims=True)
    copy.move(copy.marker("shoulder_r"), slice(None), share * STRETCHED * swell * inward)
    assert codes_after(copy, tmp_path) & {"segment_length"} == codes


def test_a_plate_without_numbers_carries_nothing_that_is_judged(tmp_path: Path) -> None:
    """The straight line between the ends of the gap is no force on a foot in the air."""
    copy = TrialCopy(STRIDE)
    values, time = copy.forces.values.copy(), copy.forces.time
    start, end = copy.span
    values[(time > start + 0.3) & (time < end - 0.3)] = np.nan
    copy.forces = replace(copy.forces, values=values, lines=copy.forces.lines[:0])
    assert codes_after(copy, tmp_path) == {"refused"}


@pytest.mark.parametrize("shape", [(), (3,)])
def test_the_mean_over_no_frames_is_unknown(shape: tuple[int, ...]) -> None:
    """As of a foot that is never on the ground."""
    assert (
        np.isnan(mean_of_known(np.zeros((0, *shape)))).all()
        and mean_of_known(np.zeros((0, *shape))).shape == shape
    )
