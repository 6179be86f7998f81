"""Landmarks that only the standing trial shows: carried by clusters that are found by place and rigidity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from drafted_folders import OWN, drafted, largest_difference, other_name, recordings, renamed, table

from musclesolve.laboratory import read_markers
from musclesolve.laboratory.draft.draft_folder import draft_folder
from musclesolve.tables import Markers, write_trc

JOINTS = ("_FLE", "_FME", "_FAL", "_TAM")
"""Epicondyles and malleoli by the names of another laboratory."""


def nameless(label: str) -> str | None:
    """Landmarks by the names of another laboratory, markers on segments by names that mean nothing."""
    new = other_name(label, 0)
    tracks = any(part in label for part in ("Thigh", "Shank"))
    return f"M{sum(map(ord, label))}" if tracks else new


def protocol(folder: Path, lost: tuple[str, ...]) -> Path:
    """A recording in another laboratory's names, without some markers in the motion."""
    recordings(folder, own=True, marker_set="gait2392")
    own = folder / OWN
    # The head is not mapped by names; without it in the set's own file both have the same body.
    own.write_text(own.read_text() + "\n[mapping]\nhead_base = false\n")
    other = folder / "named"
    other.mkdir()
    for name in ("walk.trc", "static.trc", "forces.mot"):
        (other / name).write_bytes((folder / name).read_bytes())
    renamed(other, nameless)
    renamed(other, lambda name: None if name.endswith(lost) else name, "walk.trc")
    return other


def tracking(folder: Path, segment: str) -> set[str]:
    """The markers without a meaning on a segment."""
    return {
        nameless(name)
        for name in read_markers(folder.parent / "static.trc").names
        if name.startswith(segment)
    }


def changed(path: Path, name: str, change: Callable[[Markers, np.ndarray], np.ndarray]) -> None:
    """Change the path of one marker of a file."""
    markers = read_markers(path)
    position = markers.position.copy()
    position[:, markers.names.index(name)] = change(markers, markers[name])
    write_trc(path, replace(markers, position=position), decimals=6)


def test_knees_and_ankles_of_the_standing_trial_are_carried_whatever_the_markers_are_called(
    tmp_path: Path,
) -> None:
    folder = protocol(tmp_path, JOINTS)
    draft = draft_folder(folder)
    clusters, carried = table(draft, "clusters"), table(draft, "carried")
    assert set(carried) == {f"{side}{name}" for side in "RL" for name in JOINTS}
    assert {name: set(markers) for name, markers in clusters.items()} == {
        f"{segment.lower()}_{side.lower()}": tracking(folder, f"{side}.{segment}")
        for segment in ("Thigh", "Shank") for side in "RL"
    }  # fmt: skip
    assert largest_difference(drafted(folder), tmp_path / OWN) < 0.5


def with_fourth(folder: Path, others: set[str], name: str) -> None:
    """Give a segment a fourth marker, in the plane of the others."""
    for file in ("walk.trc", "static.trc"):
        markers = read_markers(folder / file)
        one, two, three = (markers[marker] for marker in sorted(others))
        path = 1.4 * one - 0.7 * two + 0.3 * three
        position = np.concatenate([markers.position, path[:, None]], axis=1)
        write_trc(
            folder / file, replace(markers, names=(*markers.names, name), position=position), decimals=6
        )


def test_a_marker_that_moves_on_its_segment_or_sat_elsewhere_is_in_no_cluster(tmp_path: Path) -> None:
    folder = protocol(tmp_path, JOINTS)
    moving, elsewhere = sorted(tracking(folder, "R.Shank"))[0], sorted(tracking(folder, "L.Shank"))[0]
    for segment, name in (("R.Shank", "Q1"), ("L.Shank", "Q2")):
        with_fourth(folder, tracking(folder, segment), name)
    wave = lambda markers, path: path + 0.06 * np.sin(6.0 * markers.time)[:, None]  # noqa: E731
    changed(folder / "walk.trc", moving, wave)
    changed(folder / "static.trc", elsewhere, lambda markers, path: path + 0.5 * (path - markers["Q2"]))
    clusters = table(draft_folder(folder), "clusters")
    assert set(clusters["shank_r"]) == tracking(folder, "R.Shank") - {moving} | {"Q1"}
    assert set(clusters["shank_l"]) == tracking(folder, "L.Shank") - {elsewhere} | {"Q2"}
    # Three markers of which one strays are none that could carry anything.
    renamed(folder, lambda name: None if name in ("Q1", "Q2") else name)
    assert set(table(draft_folder(folder), "clusters")) == {"thigh_r", "thigh_l"}


def test_markers_with_gaps_or_beside_the_thigh_are_in_no_cluster(tmp_path: Path) -> None:
    folder = protocol(tmp_path, JOINTS)
    seldom = sorted(tracking(folder, "L.Thigh"))[0]
    half = lambda markers, path: np.where((np.arange(len(path)) % 2 == 0)[:, None], path, np.nan)  # noqa: E731
    changed(folder / "walk.trc", seldom, half)
    clusters = table(draft_folder(folder), "clusters")
    listed = [name for markers in clusters.values() for name in markers]
    assert seldom not in listed
    for file in ("walk.trc", "static.trc"):
        markers = read_markers(folder / file)
        swing = 0.0 if file == "static.trc" else 0.15 * np.sin(5.0 * markers.time)[:, None]
        beside = markers[sorted(tracking(folder, "R.Thigh"))[0]] + np.array([0.0, 0.0, 0.08]) + swing
        more = np.stack(
            [markers.position[:, k] for k in range(len(markers.names))] + [beside, beside + 0.03], axis=1
        )
        write_trc(
            folder / file, replace(markers, names=(*markers.names, "Q1", "Q2"), position=more), decimals=6
        )
    assert table(draft_folder(folder), "clusters") == clusters


@pytest.mark.in_part(2)
@pytest.mark.parametrize("lost", ["_FM2", "_FCC"])
def test_toe_or_heel_is_carried_by_what_is_left_of_the_foot(lost: str, tmp_path: Path) -> None:
    folder = protocol(tmp_path, ())
    with_fourth(folder, {"R_FCC", "R_FM2", "R_FM5"}, "R_Foot1")
    renamed(folder, lambda name: None if name == f"R{lost}" else name, "walk.trc")
    draft = draft_folder(folder)
    assert table(draft, "carried")[f"R{lost}"] == "foot_r"
    assert len(table(draft, "clusters")["foot_r"]) >= 3
    # The cluster also shows how the foot is turned: by other markers than the set's own file, of 113 N m.
    assert largest_difference(drafted(folder), tmp_path / OWN) < 2.0


def test_a_heel_is_carried_by_the_ankle_and_the_forefoot(tmp_path: Path) -> None:
    """Walks without markers on the heels: the axis of the ankle is fixed in the foot, too."""
    folder = protocol(tmp_path, ("_FCC",))
    draft = draft_folder(folder)
    assert {marker: table(draft, "carried")[marker] for marker in ("R_FCC", "L_FCC")} == {
        "R_FCC": "foot_r",
        "L_FCC": "foot_l",
    }
    assert set(table(draft, "clusters")["foot_r"]) == {"R_FAL", "R_TAM", "R_FM2", "R_FM5"}
    assert largest_difference(drafted(folder), tmp_path / OWN) < 2.0


def test_too_few_markers_carry_nothing_and_the_landmark_is_asked_for(tmp_path: Path) -> None:
    folder = protocol(tmp_path, JOINTS)
    gone = tracking(folder, "R.Thigh") | tracking(folder, "R.Shank")
    renamed(folder, lambda name: None if name in gone else name, "walk.trc")
    draft = draft_folder(folder)
    assert set(table(draft, "clusters")) == {"thigh_l", "shank_l"}
    asked = [todo for todo in draft.trials[0].todos if "only the standing trial shows" in todo]
    assert len(asked) == 4 and all("right" in todo for todo in asked)
