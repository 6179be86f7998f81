"""Labels exchanged for a while are reported of the markers that carry them, and of no others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from trial_copy import TrialCopy

import musclesolve
from musclesolve.laboratory import Trial
from musclesolve.laboratory.checks.markers.body_distances import crossings, pieces
from tests.support.recorded_data import recorded

STRIDE = Path(musclesolve.__file__).with_name("data") / "reference_stride" / "trial.toml"


def exchanged(trial: Path, one: str, other: str, share: tuple[float, float], folder: Path) -> list[object]:
    copy = TrialCopy(trial)
    copy.exchange(one, other, slice(copy.frame(share[0]), copy.frame(share[1])))
    findings = copy.examined(folder).findings
    return [(f.code, set(f.where.markers), len(f.where.times)) for f in findings if f.severity != "note"]


@pytest.mark.in_part(2)
@pytest.mark.parametrize(
    ("one", "other", "share"),
    [("R.Elbow", "L.Elbow", (0.5, 0.9)), ("R.PSIS", "L.PSIS", (0.2, 0.3)), ("R.ASIS", "L.ASIS", (0.4, 0.6))],
)
def test_the_markers_of_the_walk_that_carry_the_labels_are_named(
    one: str, other: str, share: tuple[float, float], recorded_walk_trial: Trial, tmp_path: Path
) -> None:
    found = exchanged(recorded_walk_trial.path, one, other, share, tmp_path)
    assert found == [("labels_exchanged", {one, other}, 1)]


@pytest.mark.in_part(2)
@pytest.mark.parametrize(
    ("one", "other", "share"),
    [
        ("toe_l", "metatarsal_5_l", (0.3, 0.5)),
        ("asis_l", "psis_l", (0.5, 0.8)),
        ("psis_r", "psis_l", (0.2, 0.3)),
        ("elbow_lateral_l", "wrist_l", (0.0, 0.3)),
    ],
)
def test_the_markers_of_the_stride_that_carry_the_labels_are_named(
    one: str, other: str, share: tuple[float, float], tmp_path: Path
) -> None:
    assert exchanged(STRIDE, one, other, share, tmp_path) == [("labels_exchanged", {one, other}, 1)]


def test_a_marker_that_is_never_seen_carries_no_label_of_another(
    recorded_walk_trial: Trial, tmp_path: Path
) -> None:
    copy = TrialCopy(recorded_walk_trial.path)
    copy.move("R.Clavicle", slice(None), np.full(3, np.nan))
    copy.exchange("R.SH2", "L.SH2")
    errors = [f for f in copy.examined(tmp_path).findings if f.severity == "error"]
    assert [(f.code, set(f.where.markers)) for f in errors] == [("pair_swapped", {"R.SH2", "L.SH2"})]


def test_a_ghost_is_no_exchange(recorded_walk_trial: Trial, tmp_path: Path) -> None:
    copy = TrialCopy(recorded_walk_trial.path)
    first = copy.frame(0.5)
    copy.move("R.Knee", slice(first, first + 2), copy.in_file((0.072, 0.0576, 0.0768)))
    assert copy.examined(tmp_path).codes == ("leap",)


def test_paths_cross_where_labels_change_and_nowhere_else() -> None:
    time = np.arange(60) / 100.0
    one = np.stack([time, np.sin(5.0 * time), 0.0 * time], axis=1)
    other = one + np.array([0.0, 0.05, 0.1])
    quiet = np.stack([one, other, one + 0.3], axis=1)
    assert crossings(quiet) == {}
    mixed = quiet.copy()
    mixed[20:33, [0, 1]] = quiet[20:33, [1, 0]]
    mixed[40:41, [0, 1]] = quiet[40:41, [1, 0]]
    found = crossings(mixed)
    assert set(found) == {(0, 1)}
    assert found[0, 1].tolist() == [20, 33, 40, 41]
    spans = [np.flatnonzero(part)[[0, -1]].tolist() for part in pieces(mixed, (0, 1), found[0, 1])]
    assert spans == [[0, 19], [20, 32], [33, 39], [40, 40], [41, 59]]


def test_a_gap_parts_a_recording() -> None:
    position = np.zeros((10, 2, 3))
    position[3:5, 1] = np.nan
    spans = [np.flatnonzero(part).tolist() for part in pieces(position, (0, 1), np.zeros(0, int))]
    assert spans == [[0, 1, 2], [5, 6, 7, 8, 9]]


def test_an_exchange_whose_edges_hide_in_gaps_is_found(tmp_path: Path) -> None:
    copy = TrialCopy(STRIDE)
    first, stop = copy.frame(0.3), copy.frame(0.6)
    copy.exchange("heel_r", "toe_r", slice(first, stop))
    for edge in (first, stop):
        copy.move("heel_r", slice(edge - 2, edge + 2), np.full(3, np.nan))
    (found,) = [f for f in copy.examined(tmp_path).findings if f.severity == "error"]
    assert found.code == "labels_exchanged"
    assert set(found.where.markers) == {"heel_r", "toe_r"}


@pytest.mark.in_part(2)
@pytest.mark.parametrize(
    ("one", "other", "code"),
    [
        ("elbow_lateral_r", "wrist_r", "labels_exchanged"),
        ("elbow_lateral_l", "wrist_l", "labels_exchanged"),
        ("wrist_r", "wrist_l", "pair_swapped"),
    ],
)
def test_exchanged_markers_of_the_arm_are_told_against_the_standing_trial(
    one: str, other: str, code: str, tmp_path: Path
) -> None:
    copy = TrialCopy(STRIDE)
    copy.exchange(one, other)
    (found,) = [f for f in copy.examined(tmp_path).findings if f.severity != "note"]
    assert (found.code, set(found.where.markers)) == (code, {one, other})


def test_clusters_with_right_and_left_exchanged_are_named_by_their_labels(tmp_path: Path) -> None:
    """The walk does not show the knees that they carry: no label of a knee is exchanged."""
    copy = TrialCopy(recorded("instrumented_knee/walk_ss1.toml"))
    for place in ("Superior", "Inferior", "Lateral"):
        copy.exchange(f"RThigh{place}", f"LThigh{place}")
    (error,) = (found for found in copy.examined(tmp_path).findings if found.severity == "error")
    assert error.code == "pair_swapped"
    assert "RThighSuperior and LThighSuperior, RThighInferior and LThighInferior" in error.remedy
    assert "standing trial has them right" in error.remedy


def test_clusters_of_another_person_are_named_and_not_the_knees_that_they_carry(tmp_path: Path) -> None:
    copy = TrialCopy(recorded("treadmill_emg/s18/trial.toml"))
    copy.static = TrialCopy(recorded("treadmill_emg/s01/trial.toml")).static
    order = [found for found in copy.examined(tmp_path).findings if found.code == "landmark_order"]
    assert len(order) == 2
    for found, cluster in zip(order, ("thigh_r", "thigh_l"), strict=True):
        assert f"the markers of {cluster}, which carry them" in found.remedy
