"""A marker that moved since the standing trial is named, or the ones of which some did; bending is no move."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from recorded_data import recorded

from musclesolve.data import reference_stride
from musclesolve.dynamics.rotations import rotation_about
from musclesolve.laboratory.checks.case import Case, Role, change_markers, load
from musclesolve.laboratory.checks.markers.body_distances import (
    joints_apart,
    moved_markers,
    other_carriers,
    soles_when_standing,
)
from musclesolve.tables import Markers


@pytest.fixture(scope="module")
def walk() -> Case:
    case, _ = load(recorded("treadmill_emg/s01") / "trial.toml")
    assert case is not None
    return case


def named(case: Case) -> list[tuple[str, ...]]:
    return [each.where.markers for each in moved_markers(case)]


def added(case: Case, role: Role, marker: str, by: np.ndarray) -> Case:
    def move(markers: Markers) -> Markers:
        position = markers.position.copy()
        position[:, markers.names.index(marker)] += by
        return replace(markers, position=position)

    return replace(case, recorded=change_markers(role, move)(case.recorded))


def away(case: Case, marker: str, *others: str) -> np.ndarray:
    """Direction (3,) from other markers to a marker, standing."""
    static = case.trial.static
    assert static is not None
    way = np.nanmean(static[marker] - np.mean([static[other] for other in others], axis=0), axis=0)
    return np.asarray(way / np.linalg.norm(way))


@pytest.mark.parametrize("size", [-0.04, 0.04])
def test_a_marker_whose_two_distances_changed_is_named(walk: Case, size: float) -> None:
    way = away(walk, "LTB2", "LTB1", "LTB3")
    assert named(added(walk, "static", "LTB2", size * way)) == [("LTB2",)]


def test_where_one_distance_changed_both_of_its_markers_are_named(walk: Case) -> None:
    toward, along = away(walk, "LTH1", "LTH3"), away(walk, "LTH1", "LTH2")
    # The distance to the third marker stays.
    beside = along - toward * (along @ toward)
    moved = added(walk, "static", "LTH1", 0.06 * beside / np.linalg.norm(beside))
    assert [set(markers) for markers in named(moved)] == [{"LTH1", "LTH2"}]


def test_toes_that_bend_in_half_of_the_frames_did_not_move(walk: Case) -> None:
    bent = np.arange(len(walk.trial.markers.time)) % 100 < 60
    back = bent[:, None] * 0.03 * away(walk, "RTOE", "RCAL")
    assert named(walk) == []
    assert named(added(walk, "markers", "RTOE", -back)) == []


def test_a_forefoot_that_was_lowered_while_standing_is_named() -> None:
    case, _ = load(Path(reference_stride()))
    assert case is not None
    fore = "toe_r", "metatarsal_5_r"
    assert named(case) == []
    for marker in fore:
        case = added(case, "static", marker, np.array([0.0, 0.0, -0.037]))
    (some,) = named(case)
    assert set(fore) < set(some)


def test_a_forefoot_of_another_pitch_while_standing_is_found(walk: Case) -> None:
    """10 degrees, which change a force of a muscle by 900 N; three markers of a foot keep their distances."""
    case = walk
    for marker in ("RTOE", "RMT5"):
        case = added(case, "static", marker, np.array([0.0, 0.0, -0.042]))
    (found,) = soles_when_standing(case)
    assert found.where.markers == ("RTOE", "RCAL") and not named(case)


def test_a_heel_that_is_never_put_down_is_no_moved_marker(walk: Case) -> None:
    assert not [*soles_when_standing(walk)]
    assert not [*soles_when_standing(added(walk, "markers", "RCAL", np.array([0.0, 0.0, 0.05])))]


@pytest.mark.parametrize(("marker", "joint"), [("LTH2", "left knee"), ("RTB2", "right knee")])
def test_a_marker_of_a_cluster_that_moved_since_standing_carries_the_joint_away(
    walk: Case, marker: str, joint: str
) -> None:
    """Three markers that are displaced across their plane keep their distances within 15 mm."""
    assert not list(joints_apart(walk))
    side, kind = marker[0], marker[1:-1]
    first, second, third = (np.nanmedian(walk.trial.static[f"{side}{kind}{k}"], axis=0) for k in (1, 2, 3))
    across = np.cross(second - first, third - first)
    moved = added(walk, "static", marker, 0.03 * across / np.linalg.norm(across))
    assert not named(moved)
    (found,) = joints_apart(moved)
    assert found.code == "marker_moved" and joint in found.what and marker in found.where.markers


@pytest.mark.parametrize("degrees", [18.0, -18.0])
@pytest.mark.parametrize(("name", "cluster"), [("ss1", "shank_l"), ("ss9", "thigh_r"), ("ss9", "shank_l")])
def test_a_cluster_that_turned_about_the_limb_carries_the_ends_of_the_knee_away(
    name: str, cluster: str, degrees: float
) -> None:
    """About a point 60 mm inside of it."""
    case, _ = load(recorded("instrumented_knee") / f"walk_{name}.toml")
    assert case is not None and not list(joints_apart(case))
    turn = rotation_about(np.array([0.0, 0.0, 1.0]), np.radians(degrees))
    inward = np.array([0.0, -0.06 if cluster.endswith("l") else 0.06, 0.0])

    def turned(markers: Markers) -> Markers:
        position, own = (
            markers.position.copy(),
            [markers.names.index(m) for m in case.trial.clusters[cluster]],
        )
        middle = position[:, own].mean(axis=1, keepdims=True) + inward
        position[:, own] = middle + (position[:, own] - middle) @ turn.T
        return replace(markers, position=position)

    spoiled = replace(case, recorded=change_markers("static", turned)(case.recorded))
    found = list(joints_apart(spoiled))
    assert [f.code for f in found] == ["marker_moved"] and {*case.trial.clusters[cluster]} <= {
        *found[0].where.markers
    }


@pytest.mark.parametrize("name", ["ss1", "ss9"])
@pytest.mark.parametrize(("joint", "wrong"), [("ankle", "thigh"), ("ankle", "shank_l"), ("knee", "thigh_l")])
def test_a_cluster_of_another_segment_that_carries_a_joint_is_named(
    name: str, joint: str, wrong: str
) -> None:
    """An ankle that goes with the thigh changes a muscle force by 1.8 kN; a foot of two markers shows it."""
    case, _ = load(recorded("instrumented_knee") / f"walk_{name}.toml")
    assert case is not None and not [*other_carriers(case)]
    ends = [next(iter(case.trial.mapping[f"{joint}_{end}_r"])) for end in ("lateral", "medial")]
    right = case.trial.carried[ends[0]]
    stated = dict.fromkeys(ends, "thigh_r" if wrong == "thigh" else wrong)
    spoiled = case.with_trial(replace(case.trial, carried={**case.trial.carried, **stated}))
    found = [*other_carriers(spoiled)]
    assert [f.where.markers for f in found] == [(end,) for end in ends]
    assert dict(found[1].change) == {("carried", ends[1]): right}
    assert found[1].repair is not None
    assert found[1].repair(spoiled.recorded).trial.carried == case.trial.carried
