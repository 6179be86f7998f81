"""The markers on the desk: the landmark of each, the suggestions, the errors, and the picture."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from musclesolve.apps.desk.desk import Desk
from musclesolve.apps.desk.marker_meaning import (
    Mapped,
    Meaning,
    Recording,
    cell_text,
    in_words,
    missing_text,
    parts,
    row_title,
    seen_text,
    way_text,
)
from musclesolve.apps.desk.marker_picture import Picture
from musclesolve.apps.desk.steps.markers_step import state
from musclesolve.data import reference_stride
from musclesolve.laboratory import landmarks, read_markers
from musclesolve.laboratory.draft.draft_folder import draft_folder, write_drafts
from musclesolve.tables import write_trc


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """With the bundled stride, whose markers have the names of landmarks."""
    for name in ("walk.trc", "static.trc", "forces.mot", "trial.toml"):
        (tmp_path / name).write_bytes((reference_stride().parent / name).read_bytes())
    return Desk(tmp_path)


def meaning_of(desk: Desk) -> Meaning:
    assert desk.trial is not None
    return desk.meanings.read(desk.trial.path, desk.trial.text)


def test_every_landmark_is_in_one_part_of_the_body():
    names = Counter(name for part in parts() for name in part.landmarks)
    assert set(names) == {re.sub("_[rl]$", "", name) for name in landmarks()} and set(names.values()) == {1}
    ends = {name for part in parts() for pair in part.lines for name in pair}
    assert ends <= set(landmarks()) and {"knee_lateral_r", "knee_lateral_l", "neck_base"} <= ends


def test_a_whole_mapping_is_of_the_file_and_faultless(desk: Desk):
    meaning = meaning_of(desk)
    assert not meaning.missing and not meaning.faults and not meaning.suggestions
    assert {each.source for each in meaning.mapped.values() if each.way} == {"file"}
    assert state(desk) == "done"


def test_names_suggest_what_is_missing_and_to_accept_it_completes_the_mapping(desk: Desk):
    whole = meaning_of(desk).mapped
    removed = ["knee_lateral_l", "heel_r", "heel_l", "wrist_l"]
    desk.state_all({("mapping", name): None for name in removed})
    assert state(desk) == "open"  # by the text alone
    meaning = meaning_of(desk)
    assert meaning.missing == ["knee_lateral_l", "heel_r", "heel_l"] and not meaning.faults
    assert meaning.suggestions == {name: name for name in removed}
    assert state(desk) == "open"
    desk.state_all(meaning.changes_of(meaning.suggestions))
    assert meaning_of(desk).mapped == whole


def test_another_landmark_may_stand_in(desk: Desk):
    pair = {"midpoint": ["psis_r", "psis_l"]}
    desk.state_all({("mapping", "sacrum"): pair, ("mapping", "psis_r"): None, ("mapping", "psis_l"): None})
    meaning = meaning_of(desk)
    assert not meaning.missing and meaning.mapped["sacrum"].markers == ["psis_r", "psis_l"]
    assert way_text(meaning.mapped["sacrum"].way) == "midway between psis_r and psis_l"


def test_sides_that_are_exchanged_are_found(desk: Desk):
    desk.state_all({("mapping", f"knee_lateral_{a}"): f"knee_lateral_{b}" for a, b in ("rl", "lr")})
    swapped = meaning_of(desk)
    faults = swapped.faults
    assert [fault.code for fault in faults] == ["pair_swapped"]
    assert set(faults[0].where.markers) == {"knee_lateral_r", "knee_lateral_l"}
    assert state(desk) == "fault"
    desk.state_all(dict(faults[0].change))
    assert not meaning_of(desk).faults


def test_axes_that_are_not_stated_or_wrong_are_those_that_the_markers_show(desk: Desk):
    assert not meaning_of(desk).axes_to_state
    shown = {"forward": "+x", "up": "+z", "static_forward": None, "static_up": None}
    desk.state_all({("laboratory", "forward"): None, ("laboratory", "up"): None})
    meaning = meaning_of(desk)
    assert meaning.axes_to_state == shown and not meaning.faults and state(desk) == "open"
    assert Picture(meaning, "standing").extent[1] > 1.4  # drawn upright
    desk.state_all({("laboratory", "forward"): "+x", ("laboratory", "up"): "+y"})
    lying = meaning_of(desk)
    assert lying.axes_to_state == shown and not lying.faults
    assert Picture(lying, "standing").extent[1] < 0.8  # as stated
    desk.state_all({("laboratory", key): axis for key, axis in shown.items()})
    assert not meaning_of(desk).axes_to_state and state(desk) == "done"


@pytest.mark.parametrize(
    ("marker", "said"), [("nowhere", "in no frame"), ("heel_r", "same point as 'heel_r'")]
)
def test_a_marker_that_is_absent_or_used_twice_is_reported_at_its_landmark(
    desk: Desk, marker: str, said: str
):
    desk.state_all({("mapping", "toe_r"): marker})
    mapped = meaning_of(desk).mapped["toe_r"]
    assert said in mapped.problem and cell_text(mapped)[1] == "bad"
    assert state(desk) == "fault"


def test_a_person_before_the_labels_is_not_written(desk: Desk):
    for name in ("walk.trc", "static.trc"):
        path = desk.folder.path / name
        path.write_text(
            path.read_text().replace("heel_r\t", "Ann:heel_r\t").replace("toe_r\t", "Ann:toe_r\t")
        )
    desk.state_all({("mapping", "heel_r"): None})
    meaning = meaning_of(desk)
    assert {"toe_r", "Ann:heel_r"} <= set(meaning.marker_names)
    assert meaning.written("Ann:heel_r") == "heel_r" and meaning.suggestions == {"heel_r": "heel_r"}


def test_nothing_is_read_again_until_a_file_changes(desk: Desk):
    assert desk.trial is not None
    assert desk.meanings.known(desk.trial.path, desk.trial.text) is None
    first = meaning_of(desk)
    assert desk.meanings.known(desk.trial.path, desk.trial.text) is first
    path = desk.folder.path / "static.trc"
    markers = read_markers(path)
    write_trc(path, replace(markers, time=markers.time[:-1], position=markers.position[:-1]))
    assert desk.meanings.known(desk.trial.path, desk.trial.text) is None
    standing = meaning_of(desk).recording("standing")
    assert standing is not None and standing.time.size == markers.time.size - 1


def test_a_trial_without_its_motion_is_said_and_still_lists_the_landmarks(desk: Desk):
    (desk.folder.path / "walk.trc").unlink()
    meaning = meaning_of(desk)
    assert meaning.case is None and set(meaning.mapped) == set(landmarks())
    assert meaning.mapped["heel_r"] == Mapped("heel_r", "heel_r", "file")
    assert "walk.trc" in meaning.faults[0].what and meaning.marker_names == []


def test_a_set_its_overrides_and_the_clusters_of_a_suggestion(recorded_walk: Path, tmp_path: Path):
    for name in ("walk.trc", "static.trc"):
        (tmp_path / name).write_bytes((recorded_walk / name).read_bytes())
    write_drafts(draft_folder(tmp_path))
    desk = Desk(tmp_path)
    by_set = meaning_of(desk)
    assert by_set.chosen_set == "rajagopal" and by_set.mapped["heel_r"] == Mapped(
        "heel_r", "R.Heel", "set", needed=True
    )
    desk.state_all({("mapping", "heel_r"): "R.SH4", ("mapping", "wrist_r"): False})
    changed = meaning_of(desk).mapped
    assert changed["heel_r"].source == "file" and changed["heel_r"].way == "R.SH4"
    assert cell_text(changed["wrist_r"])[0] == "left out"
    desk.state_all({("markers", "set"): None, ("mapping", "heel_r"): None, ("mapping", "wrist_r"): None})
    without = meaning_of(desk)
    assert without.proposed is not None and without.proposed.set is not None
    assert without.suggestions == {name: each.way for name, each in by_set.mapped.items() if each.way}
    desk.state_all(without.changes_of(without.suggestions))
    accepted = meaning_of(desk)
    assert not accepted.missing and not accepted.faults
    assert accepted.carried == by_set.carried and accepted.clusters == by_set.clusters
    assert "standing trial" in ". ".join(seen_text(accepted, "R.MKnee"))


@pytest.mark.parametrize("which", ["standing", "motion"])
def test_the_picture_shows_every_marker_by_side_and_faces_forward(desk: Desk, which: Recording):
    picture = Picture(meaning_of(desk), which)
    kinds = dict(zip(picture.markers.names, picture.kinds, strict=True))
    assert (kinds["heel_r"], kinds["heel_l"], kinds["neck_base"]) == ("r", "l", "m")
    lines = {(picture.names[a], picture.names[b]): kind for a, b, kind in picture.lines}
    assert lines["knee_lateral_r", "ankle_lateral_r"] == "r" and lines["asis_r", "asis_l"] == "m"
    assert abs(picture.facing) < 0.2
    floor, height = picture.extent
    assert floor == 0.0 and 1.4 < height < 1.9
    moment = picture.moment(picture.best_frame)
    place = moment["markers"][picture.markers.names.index("heel_r")]
    np.testing.assert_allclose(place, picture.markers["heel_r"][picture.best_frame], atol=5.1e-4)
    assert picture.frame_at(float(picture.markers.time[7])) == 7
    json.dumps(moment, allow_nan=False)


def test_what_is_not_seen_has_no_place(desk: Desk):
    path = desk.folder.path / "walk.trc"
    markers = read_markers(path)
    position = markers.position.copy()
    position[5, markers.names.index("heel_r")] = np.nan
    position[6] = np.nan
    write_trc(path, replace(markers, position=position))
    picture = Picture(meaning_of(desk), "motion")
    assert picture.moment(5)["markers"][markers.names.index("heel_r")] is None
    assert picture.moment(5)["landmarks"][picture.names.index("heel_r")] is None
    assert not any(picture.moment(6)["markers"])


def test_words():
    assert in_words("asis_r") == "Right anterior superior iliac spine"
    assert row_title("thigh_wand_l") == "Marker on the side of the thigh"
    assert missing_text(["heel_r", "heel_l", "sacrum", "toe_l"]) == (
        "back of the calcaneus (right and left); point midway between the posterior superior iliac spines; "
        "forefoot near the second toe (left)"
    )
    assert cell_text(Mapped("heel_r", missing=True))[0] == "missing"
    assert cell_text(Mapped("heel_r", suggestion="RHEE", missing=True))[:2] == ("RHEE ?", "suggested")
    assert way_text({"weights": {"A": 0.9, "B": 0.1}}) == "0.9 A + 0.1 B"
