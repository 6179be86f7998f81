"""Columns of plates by their names, and the foot on each: external loads, contacts, names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from drafted_folders import drafted, largest_difference, recordings, relabeled, renamed, table

from musclesolve.laboratory.draft.column_names import common_beginning, plates_of
from musclesolve.laboratory.draft.draft_folder import draft_folder
from musclesolve.tables import Table, read_mot, write_mot

LOADS = """<?xml version="1.0"?>
<OpenSimDocument Version="40000"><ExternalLoads name="walk"><objects>
<ExternalForce name="one"><applied_to_body>/bodyset/calcn_l</applied_to_body>
<force_identifier>A_v</force_identifier><point_identifier>A_p</point_identifier>
<torque_identifier>A_m</torque_identifier></ExternalForce>
<ExternalForce name="two"><applied_to_body>calcn_r</applied_to_body>
<force_identifier>B_v</force_identifier><point_identifier>B_p</point_identifier>
<torque_identifier>B_m</torque_identifier></ExternalForce>
</objects><datafile>C:\\data\\forces.mot</datafile></ExternalLoads></OpenSimDocument>
"""


@pytest.mark.parametrize(
    "form",
    [
        "ground_force_{side}_v{axis} ground_force_{side}_p{axis} ground_torque_{side}_{axis}",
        "{number}_ground_force_v{axis} {number}_ground_force_p{axis} {number}_ground_torque_{axis}",
        "FP{number}.F{axis} FP{number}.COP{axis} FP{number}.M{axis}",
        "F{axis}{number} P{axis}{number} M{axis}{number}",
        "Force.F{axis}{number} Point.P{axis}{number} Moment.M{axis}{number}",
        "{side}_force_{axis} {side}_cop_{axis} {side}_free_moment_{axis}",
        "RightOrLeft{number}Force{axis} RightOrLeft{number}Point{axis} RightOrLeft{number}Torque{axis}",
        "calcn_{side}_grf_f{axis} calcn_{side}_grf_p{axis} calcn_{side}_grf_t{axis}",
    ],
)
def test_columns_of_two_plates_are_put_together(form: str) -> None:
    names = [
        part.format(side=side, number=number, axis=axis)
        for side, number in (("r", 1), ("l", 2))
        for part in form.split()
        for axis in ("XYZ" if "Or" in form else "xyz")
    ]
    table = Table(np.arange(2.0), tuple(names), np.zeros((2, len(names))), False, Path("a.mot"))
    plates = plates_of(table)
    assert [
        [name for role in ("force", "point", "moment") for name in plate.columns[role]] for plate in plates
    ] == [names[:9], names[9:]]


def test_joint_reactions_are_no_plates() -> None:
    names = tuple(f"knee_r_on_tibia_r_in_tibia_r_{kind}{axis}" for kind in "fpm" for axis in "xyz")
    assert plates_of(Table(np.arange(2.0), names, np.zeros((2, 9)), False, Path("a.sto"))) == []


def test_common_beginnings_are_those_that_trial_files_may_name() -> None:
    assert common_beginning(("a_vx", "a_vy", "a_vz")) == "a_v"
    assert common_beginning(("Fx1", "Fy1", "Fz1")) is None


def sides(folder: Path) -> dict[object, object]:
    """Columns of force -> side, as a draft has them."""
    tables = [each for each in draft_folder(folder).trials[0].tables if each.name == "force" and each.lines]
    lines = [{line.key: line.value for line in each.lines if not line.open} for each in tables]
    return {each["force"]: each.get("side") for each in lines}


def letters(name: str) -> str:
    """The left plate as A, the right one as B."""
    side, what, axis = name.split("_")
    return f"{'A' if side == 'left' else 'B'}_{ {'force': 'v', 'point': 'p', 'moment': 'm'}[what] }{axis}"


def test_contacts_decide_on_the_foot_of_plates_without_a_side(tmp_path: Path) -> None:
    relabeled(recordings(tmp_path), letters)
    assert sides(tmp_path) == {"A_v": "l", "B_v": "r"}


def test_contacts_decide_against_names_that_are_wrong_and_the_draft_says_so(tmp_path: Path) -> None:
    other = {"left": "right", "right": "left"}
    relabeled(recordings(tmp_path), lambda name: other[name.split("_")[0]] + name[name.index("_") :])
    assert sides(tmp_path) == {"right_force_": "l", "left_force_": "r"}
    assert sum("check the foot" in todo for todo in draft_folder(tmp_path).trials[0].todos) == 2


def test_columns_of_one_plate_are_divided_where_both_feet_step_on_it_in_turn(tmp_path: Path) -> None:
    """The left plate under its stance, and the right one in its place while the left foot is off the ground."""
    forces = read_mot(recordings(tmp_path) / "forces.mot")
    right, left = (
        np.stack([forces[name] for name in forces.names if name.startswith(side)], axis=1)
        for side in ("right", "left")
    )
    alone = left[:, 2] < 1.0
    between = np.convolve(~alone, np.ones(201), mode="same") > 0.0
    values = np.where(alone[:, None], np.where(between[:, None], 0.0, right), left)
    names = tuple(name.removeprefix("left_") for name in forces.names if name.startswith("left"))
    write_mot(tmp_path / "forces.mot", replace(forces, names=names, values=values))
    assert list(sides(tmp_path).values()) == ["auto"]
    draft = draft_folder(tmp_path)
    assert not any("foot" in todo for todo in draft.trials[0].todos)
    assert any("each foot in turn" in statement for _, statement in draft.trials[0].recognized)


def test_external_loads_state_the_foot(tmp_path: Path) -> None:
    relabeled(recordings(tmp_path), letters)
    (tmp_path / "grf.xml").write_text(LOADS)
    assert sides(tmp_path) == {"A_v": "l", "B_v": "r"}
    draft = draft_folder(tmp_path)
    assert any("calcn_l" in statement for _, statement in draft.trials[0].recognized)
    off = LOADS.replace("</torque_identifier></ExternalForce>", "</torque_identifier>{}</ExternalForce>", 1)
    (tmp_path / "grf.xml").write_text(off.format("<appliesForce>0</appliesForce>"))
    assert sides(tmp_path) == {"B_v": "r"}  # as in a run with this file


def test_without_heel_and_toe_the_ankles_show_the_foot_on_a_plate(tmp_path: Path) -> None:
    relabeled(recordings(tmp_path), letters)
    assert sides(tmp_path) == {"A_v": "l", "B_v": "r"}
    renamed(tmp_path, lambda name: None if name.startswith(("heel", "toe", "metatarsal")) else name)
    assert sides(tmp_path) == {"A_v": "l", "B_v": "r"}


def test_without_feet_the_names_decide_and_plates_without_a_side_stay_open(tmp_path: Path) -> None:
    recordings(tmp_path)
    feet = ("heel", "toe", "ankle", "metatarsal")
    renamed(tmp_path, lambda name: None if name.startswith(feet) else name)
    assert sides(tmp_path) == {"right_force_": "r", "left_force_": "l"}
    relabeled(tmp_path, lambda name: letters(name))
    assert sides(tmp_path) == {"A_v": None, "B_v": None}


def test_plates_without_a_point_of_force_are_left_open(tmp_path: Path) -> None:
    relabeled(recordings(tmp_path), lambda name: None if "point" in name else name)
    draft = draft_folder(tmp_path)
    assert table(draft, "force") == {}
    assert sum("point of force" in todo for todo in draft.trials[0].todos) == 2


def test_without_any_forces_they_are_predicted_and_this_is_to_be_confirmed(tmp_path: Path) -> None:
    (recordings(tmp_path) / "forces.mot").unlink()
    draft = draft_folder(tmp_path)
    assert table(draft, "files") == {"markers": "walk.trc", "static": "static.trc", "forces": "predicted"}
    assert any("ground reaction" in todo for todo in draft.trials[0].todos)
    assert table(draft, "laboratory") == {"forward": "+x", "up": "+z"}


def test_forces_in_other_axes_are_pointed_out(tmp_path: Path) -> None:
    relabeled(recordings(tmp_path), lambda name: name[:-1] + {"x": "z", "y": "x", "z": "y"}[name[-1]])
    draft = draft_folder(tmp_path)
    assert any("axes" in todo and "+y" in todo for todo in draft.trials[0].todos)


def test_a_rail_is_no_plate_under_a_foot(tmp_path: Path) -> None:
    forces = read_mot(recordings(tmp_path) / "forces.mot")
    rail = np.zeros((forces.time.size, 3, 3))
    rail[:, 0], rail[:, 1] = [-5.0, 3.0, 40.0], [0.5, 0.4, 0.9]
    names = (
        *forces.names,
        *(f"rail_{role}_{axis}" for role in ("force", "point", "moment") for axis in "xyz"),
    )
    values = np.hstack([forces.values, rail.reshape(len(rail), -1)])
    write_mot(tmp_path / "forces.mot", replace(forces, names=names, values=values))
    assert sides(tmp_path) == {"right_force_": "r", "left_force_": "l"}
    texts = [text for each in draft_folder(tmp_path).trials[0].tables for text in each.about]
    assert any("above the feet" in text and "rail" in text for text in texts)


def test_points_in_millimeters_a_little_above_the_floor_are_no_rail(tmp_path: Path) -> None:
    forces = read_mot(recordings(tmp_path) / "forces.mot")
    values = forces.values.copy()
    for k, name in enumerate(forces.names):
        if "point" in name:
            values[:, k] = 1000.0 * values[:, k] + (4.0 if name.endswith("z") else 0.0)
    write_mot(tmp_path / "forces.mot", replace(forces, values=values))
    assert sides(tmp_path) == {"right_force_": "r", "left_force_": "l"}
    sources = [str(each) for each in draft_folder(tmp_path).trials[0].tables if each.name == "force"]
    assert all("by its contacts" in text and "value='mm'" in text for text in sources)


def test_labels_of_right_and_left_that_are_exchanged_are_drafted_the_other_way_around(tmp_path: Path) -> None:
    """The moments are those of the recording with its own labels."""
    plain, other = tmp_path / "plain", tmp_path / "exchanged"
    for folder in (plain, other):
        folder.mkdir()
        recordings(folder)
    twin = {"_r": "_l", "_l": "_r"}
    renamed(other, lambda name: name[:-2] + twin.get(name[-2:], name[-2:]))
    draft = draft_folder(other)
    assert table(draft, "exchanged").keys() == {"markers", "static"}
    assert sides(other) == {"right_force_": "r", "left_force_": "l"}
    assert any("labels of right and left" in todo for todo in draft.trials[0].todos)
    assert largest_difference(drafted(other), drafted(plain)) < 1e-6


def test_a_contact_whose_foot_is_not_clear_is_left_out_beside_others(tmp_path: Path) -> None:
    """A third plate, pushed between both feet."""
    forces = read_mot(recordings(tmp_path) / "forces.mot")
    right, left = (
        np.stack([forces[f"{side}_point_{axis}"] for axis in "xyz"], axis=1) for side in ("right", "left")
    )
    both = (forces["right_force_z"] > 100.0) & (forces["left_force_z"] > 100.0)
    force, point = np.zeros((2, forces.time.size, 3))
    force[both, 2], point[both] = 300.0, np.where(np.arange(both.sum())[:, None] % 2, right[both], left[both])
    names = (*forces.names, *(f"C_{role}{axis}" for role in "vp" for axis in "xyz"))
    values = np.hstack([forces.values, force, point])
    write_mot(tmp_path / "forces.mot", replace(forces, names=names, values=values))
    assert sides(tmp_path) == {"right_force_": "r", "left_force_": "l", "C_v": "auto"}
    assert not any("foot" in todo for todo in draft_folder(tmp_path).trials[0].todos)
