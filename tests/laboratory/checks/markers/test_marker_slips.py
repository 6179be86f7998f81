"""A marker that slips stays where it slipped to; a ghost comes back; noise does neither."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from trial_copy import TrialCopy

import musclesolve
from musclesolve.laboratory import Trial
from musclesolve.laboratory.checks.markers.trajectories import _swinging, slips_and_lengths
from tests.support.examined import loaded
from tests.support.recorded_data import recorded

STRIDE = Path(musclesolve.__file__).with_name("data") / "reference_stride" / "trial.toml"


def moved(
    copy: TrialCopy, marker: str, share: float, millimeters: tuple[float, float, float], frames: int | None
) -> None:
    """Move a marker from some share of the range on, for some frames or for good."""
    first = copy.frame(share)
    meters = tuple(0.001 * part for part in millimeters)
    copy.move(marker, slice(first, None if frames is None else first + frames), copy.in_file(meters))


def found(copy: TrialCopy, folder: Path):
    report = copy.examined(folder)
    return report, [(f.code, set(f.where.markers)) for f in report.findings if f.severity != "note"]


# Along the segments and square to them: the distances hardly change there.
@pytest.mark.in_part(2)
@pytest.mark.parametrize(
    ("marker", "millimeters"),
    [
        ("heel_r", (40.0, 0.0, 0.0)),
        ("elbow_lateral_r", (40.0, 0.0, 0.0)),
        ("toe_l", (15.0, 12.0, 15.0)),
        ("wrist_l", (0.0, 0.0, 40.0)),
    ],
)
def test_slips_of_the_stride_are_found(
    marker: str, millimeters: tuple[float, float, float], tmp_path: Path
) -> None:
    copy = TrialCopy(STRIDE)
    moved(copy, marker, 0.4, millimeters, None)
    report, codes = found(copy, tmp_path)
    assert codes == [("marker_slipped", {marker})]
    size = float(report.findings[0].what.partition("moves by ")[2].partition(" mm")[0])
    assert size == pytest.approx(np.linalg.norm(millimeters), rel=0.2)


def test_the_marker_that_slips_is_blamed_and_not_its_neighbor(
    recorded_walk_trial: Trial, tmp_path: Path
) -> None:
    copy = TrialCopy(recorded_walk_trial.path)
    moved(copy, "R.Elbow", 0.4, (40.0, 0.0, 0.0), None)
    assert found(copy, tmp_path)[1] == [("marker_slipped", {"R.Elbow"})]


def test_every_jump_of_a_marker_is_reported(recorded_walk_trial: Trial, tmp_path: Path) -> None:
    copy = TrialCopy(recorded_walk_trial.path)
    for share in (0.3, 0.5, 0.7):
        moved(copy, "R.Heel", share, (27.0, 21.6, 28.8), 3)
    report, codes = found(copy, tmp_path)
    assert codes == [("leap", {"R.Heel"})]
    assert len(report.findings[0].where.times) == 3
    assert "up to 45 mm" in report.findings[0].what


@pytest.mark.in_part(2)
@pytest.mark.parametrize("shares", [np.arange(1, 9) / 8, np.arange(8, 0, -1) / 8])
def test_a_marker_that_drifts_away_and_jumps_back_or_the_reverse_has_not_slipped(
    recorded_walk_trial: Trial, shares: np.ndarray, tmp_path: Path
) -> None:
    copy = TrialCopy(recorded_walk_trial.path)
    first = copy.frame(0.5)
    for frame, share in enumerate(shares, first):
        copy.move("R.Heel", slice(frame, frame + 1), copy.in_file((0.036 * share, 0.03 * share, 0.0)))
    report, codes = found(copy, tmp_path)
    assert codes == [("leap", {"R.Heel"})]
    ((start, end),) = report.findings[0].where.times
    # The drift is 0.09 s long; its first millimeters are motion of the skin.
    assert 0.04 < end - start < 0.11


def test_a_marker_that_goes_back_within_a_stride_has_not_slipped(
    recorded_walk_trial: Trial, tmp_path: Path
) -> None:
    """Back over 0.6 s: over a stride the elbow has its usual distances from the shoulder and the wrist."""
    copy = TrialCopy(recorded_walk_trial.path)
    for frame, share in enumerate(np.linspace(1.0, 0.0, 60), copy.frame(0.5)):
        copy.move("R.Elbow", slice(frame, frame + 1), copy.in_file((0.0, 0.0, 0.04 * share)))
    report, codes = found(copy, tmp_path / "back")
    assert codes == [("leap", {"R.Elbow"})]
    assert "but not for long" in report.findings[0].what
    copy = TrialCopy(recorded_walk_trial.path)
    moved(copy, "R.Elbow", 0.5, (0.0, 0.0, 40.0), None)
    assert found(copy, tmp_path / "stays")[1] == [("marker_slipped", {"R.Elbow"})]


@pytest.mark.parametrize("rate", [100.0, 200.0])
def test_a_marker_that_leaves_in_two_steps_and_comes_back_is_a_ghost_at_any_rate(
    rate: float, recorded_walk_trial: Trial, tmp_path: Path
) -> None:
    copy = TrialCopy(recorded_walk_trial.path)
    path = CubicSpline(copy.walk.time, copy.walk.position)
    time = np.arange(copy.walk.time[0], copy.walk.time[-1], 1.0 / rate)
    copy.walk = replace(copy.walk, time=time, position=path(time))
    since = time - time.mean()
    share = (0.5 * (since > 0.0) + 0.5 * (since > 0.04)) * (since < 0.2)
    by = share[:, None] * copy.in_file((0.036, 0.03, 0.0))
    position = copy.walk.position.copy()
    position[:, copy.walk.names.index("R.Heel")] += by
    copy.put(position)
    case = loaded(copy.write(tmp_path))
    assert {f.code for f in slips_and_lengths(case) if "R.Heel" in f.where.markers} == {"leap"}


def test_too_few_frames_after_a_jump_do_not_show_that_it_goes_back(
    recorded_walk_trial: Trial, tmp_path: Path
) -> None:
    for frames, code in ((3, "leap"), (8, "marker_slipped")):
        copy = TrialCopy(recorded_walk_trial.path)
        first = len(copy.walk.time) - frames
        copy.move("R.Elbow", slice(first, None), copy.in_file((0.02, 0.02, 0.04)))
        case = loaded(copy.write(tmp_path / str(frames)))
        said = [f for f in slips_and_lengths(case) if "R.Elbow" in f.where.markers]
        assert [f.code for f in said] == [code]
        assert ("too few frames before or after" in said[0].what) is (frames == 3)
        assert "and back again" not in said[0].what


def test_a_marker_that_has_only_some_of_its_distances_again_has_slipped(tmp_path: Path) -> None:
    copy = TrialCopy(recorded("treadmill_walk/p3/walk.toml"))
    moved(copy, copy.marker("knee_lateral_r"), 0.6, (20.0, 20.0, 0.0), None)
    assert ("marker_slipped", {"RLEP"}) in found(copy, tmp_path)[1]


def test_a_marker_that_jitters_has_not_slipped(tmp_path: Path) -> None:
    """Late for some frames and then ahead: the steps add up to a slip, the places before and after do not."""
    copy = TrialCopy(STRIDE)
    first = copy.frame(0.4)
    for frame, share in enumerate((-0.25, -0.5, -0.75, 0.75, 0.5, 0.25), first):
        copy.move("wrist_l", slice(frame, frame + 1), copy.in_file((0.016 * share, 0.0, 0.0)))
    assert found(copy, tmp_path)[1] == [("leap", {"wrist_l"})]


def test_a_ghost_of_many_frames_is_no_slip(tmp_path: Path) -> None:
    copy = TrialCopy(STRIDE)
    moved(copy, "knee_lateral_r", 0.4, (27.0, 21.6, 28.8), 9)
    report, codes = found(copy, tmp_path)
    assert codes == [("leap", {"knee_lateral_r"})]
    assert len(report.findings[0].where.times) == 1


def test_two_slips_of_one_marker_are_reported(tmp_path: Path) -> None:
    copy = TrialCopy(STRIDE)
    moved(copy, "ankle_lateral_r", 0.35, (18.0, 14.4, 19.2), None)
    moved(copy, "ankle_lateral_r", 0.65, (-30.0, -24.0, -32.0), None)
    report, codes = found(copy, tmp_path)
    assert codes == [("marker_slipped", {"ankle_lateral_r"})]
    assert len(report.findings[0].where.times) == 2


@pytest.mark.in_part(2)
@pytest.mark.parametrize(("second", "early"), [(0.6, True), (1.1, True), (1.5, False)])
def test_a_range_before_the_slip_is_the_remedy_only_where_a_stride_fits(
    second: float, early: bool, recorded_walk_trial: Trial, tmp_path: Path
) -> None:
    copy = TrialCopy(recorded_walk_trial.path)
    time = recorded_walk_trial.markers.time
    moved(copy, "R.Elbow", second / (time[-1] - time[0]), (40.0, 0.0, 0.0), None)
    remedy = found(copy, tmp_path)[0].findings[0].remedy
    assert ("choose a range" in remedy) is not early
    assert ("too early" in remedy) is early


def test_noise_in_some_frames_is_no_slip(recorded_walk_trial: Trial, tmp_path: Path) -> None:
    for number, trial in enumerate((recorded_walk_trial.path, STRIDE)):
        copy = TrialCopy(trial)
        position, first = copy.walk.position.copy(), copy.frame(0.3)
        jitter = np.random.default_rng(2).normal(size=position[first : first + 30].shape)
        position[first : first + 30] += 0.006 * jitter
        copy.put(position)
        report, codes = found(copy, tmp_path / str(number))
        assert [code for code, _ in codes] == ["noise"]
        ((start, end),) = report.findings[0].where.times
        assert copy.walk.time[first] - 0.05 < start < end < copy.walk.time[first + 29] + 0.05


def test_a_body_that_goes_on_is_not_blamed_for_a_frame_that_is_not_there(
    recorded_walk_trial: Trial, tmp_path: Path
) -> None:
    copy = TrialCopy(recorded_walk_trial.path)
    kept = np.arange(copy.walk.time.size) != copy.frame(0.4)
    copy.walk = replace(copy.walk, time=copy.walk.time[: kept.sum()], position=copy.walk.position[kept])
    codes = {code for code, _ in found(copy, tmp_path)[1]}
    assert not codes & {"marker_slipped", "leap", "labels_exchanged"}


def test_a_slip_without_consequence_stays_a_warning_beside_a_misspelt_key(tmp_path: Path) -> None:
    copy = TrialCopy(STRIDE)
    moved(copy, "elbow_lateral_r", 0.4, (40.0, 0.0, 0.0), None)
    trial = copy.write(tmp_path)
    trial.write_text(
        trial.read_text(encoding="utf-8") + '\n[questions]\nask = ["margin"]\n', encoding="utf-8"
    )
    severity = {each.code: each.severity for each in musclesolve.check(trial).findings}
    assert severity["marker_slipped"] == "warning" and severity["trial_file"] == "error"


def test_samples_that_the_analysis_leaves_out_have_no_effect(tmp_path: Path) -> None:
    """A marker that is far away in one frame is filled there, with and without its finding."""
    copy = TrialCopy(STRIDE)
    moved(copy, "knee_lateral_r", 0.5, (0.0, 150.0, 0.0), 1)
    report, codes = found(copy, tmp_path)
    assert codes == [("leap", {"knee_lateral_r"})]
    assert report.findings[0].cost is None and report.findings[0].severity == "warning"
    assert "fills the gap" in report.findings[0].what


@pytest.mark.parametrize("side", ["R", "L"])
def test_a_marker_that_swings_with_the_stride_among_the_others_is_named(
    side: str, recorded_walk_trial: Trial
) -> None:
    """Along the walking direction: no distance between two landmarks shows it, and muscle forces change by 400 N."""
    trial, name = recorded_walk_trial, f"{side}.Knee"
    assert not _swinging(trial, [])
    position, swing = trial.markers.position.copy(), np.sin(2.0 * np.pi * 0.9 * trial.markers.time)
    position[:, trial.markers.names.index(name), 0] += 0.025 * swing
    (finding,) = _swinging(replace(trial, markers=replace(trial.markers, position=position)), [])
    assert finding.where.markers == (name,) and "among the other markers" in finding.what


def test_markers_of_which_the_data_do_not_show_one_are_all_named(recorded_walk_trial: Trial) -> None:
    """One distance alone changes: either end may move."""
    trial, wave = recorded_walk_trial, np.sin(2.0 * np.pi * 0.9 * recorded_walk_trial.markers.time)
    position, names = trial.markers.position.copy(), trial.markers.names
    across = position[:, names.index("L.ASIS")] - position[:, names.index("R.PSIS")]
    way = across / np.linalg.norm(across, axis=1, keepdims=True)
    position[:, names.index("R.PSIS")] += 0.03 * wave[:, None] * way
    (finding,) = _swinging(replace(trial, markers=replace(trial.markers, position=position)), [])
    assert "R.PSIS" in finding.where.markers
    assert len(finding.where.markers) == 2 and "one of '" in finding.what
