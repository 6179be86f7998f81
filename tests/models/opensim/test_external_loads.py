"""Reading external loads: columns, ExternalLoads files, feet of plates, refusals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused
from sampled_motion import at_rest, filtered_motion
from thorough import examples

from musclesolve import read_osim
from musclesolve.errors import InputError
from musclesolve.models.opensim.external_loads import (
    ExternalLoad,
    contact_fault,
    load_wrench,
    read_external_loads,
)
from musclesolve.models.opensim.kinematics import BodyMotion, body_motion
from musclesolve.tables import Table, read_mot, write_mot

TIME = np.linspace(0.0, 0.3, 4)
XML = """<?xml version="1.0" encoding="UTF-8" ?>
<OpenSimDocument Version="40000"><ExternalLoads name="loads"><objects>
<ExternalForce name="right"><applied_to_body>talus_r</applied_to_body>
<force_expressed_in_body>ground</force_expressed_in_body><point_expressed_in_body>ground</point_expressed_in_body>
<force_identifier>ground_force_v</force_identifier><point_identifier>ground_force_p</point_identifier>
<torque_identifier>ground_torque_</torque_identifier></ExternalForce>
</objects><datafile>grf.mot</datafile></ExternalLoads></OpenSimDocument>
"""


def columns(
    force: str = "ground_force_", torque: str = "ground_torque_", scale: float = 1.0
) -> dict[str, np.ndarray]:
    """One plate: a force that begins at the second sample, and a point that means nothing before."""
    loaded = np.array([0.0, 1.0, 1.0, 1.0])
    parts = [(f"{force}v", (20.0, 700.0, -10.0)), (f"{force}p", (0.1, 0.0, 0.05)), (torque, (0.0, 4.0, 0.0))]
    found = {
        f"{stem}{axis}": scale * x * loaded for stem, v in parts for axis, x in zip("xyz", v, strict=True)
    }
    found[f"{force}px"] = np.where(loaded > 0.0, found[f"{force}px"], 317.0)
    return found


def save(path: Path, given: dict[str, np.ndarray]) -> Path:
    write_mot(path, Table(TIME, tuple(given), np.stack(list(given.values()), axis=1), False, path))
    return path


@pytest.fixture
def loads_xml(tmp_path: Path) -> Path:
    save(tmp_path / "grf.mot", columns())
    path = tmp_path / "loads.xml"
    path.write_text(XML, encoding="utf-8")
    return path


def test_an_external_loads_file(loads_xml: Path, small) -> None:
    (load,) = read_external_loads(loads_xml, small)
    assert (load.name, load.body, load.force_frame, load.point_frame) == (
        "right",
        "talus_r",
        "ground",
        "ground",
    )
    np.testing.assert_allclose(load.force[1], [20.0, 700.0, -10.0])
    np.testing.assert_allclose(load.point, [[0.0] * 3, *[[0.1, 0.0, 0.05]] * 3])
    np.testing.assert_allclose(load.moment[3], [0.0, 4.0, 0.0])


@pytest.mark.parametrize(
    ("old", "new", "frames"),
    [
        ("<force_expressed_in_body>ground", "<force_expressed_in_body>tibia_r", ("tibia_r", "ground")),
        (
            "<point_expressed_in_body>ground",
            "<point_expressed_in_body>/bodyset/talus_r",
            ("ground", "talus_r"),
        ),
        ("<point_identifier>ground_force_p", "<point_identifier>", ("ground", "talus_r")),
    ],
)
def test_frames_of_force_and_point(
    loads_xml: Path, small, old: str, new: str, frames: tuple[str, str]
) -> None:
    """A force without a point acts at the origin of its body."""
    loads_xml.write_text(XML.replace(old, new), encoding="utf-8")
    (load,) = read_external_loads(loads_xml, small)
    assert (load.force_frame, load.point_frame) == frames


@pytest.mark.parametrize("switch", ["<appliesForce>false</appliesForce>", "<isDisabled> true </isDisabled>"])
def test_loads_that_are_switched_off(loads_xml: Path, small, switch: str) -> None:
    loads_xml.write_text(XML.replace("</ExternalForce>", f"{switch}</ExternalForce>"), encoding="utf-8")
    assert read_external_loads(loads_xml, small) == []


def test_a_foot_strikes_without_a_jump(loads_xml: Path, small) -> None:
    """Between an unloaded and a loaded sample the wrench grows in proportion, whatever the point says before."""
    loads = read_external_loads(loads_xml, small)
    time = np.array([0.0, 0.025, 0.05, 0.1])
    pose = body_motion(small, at_rest(small, np.zeros((4, len(small.coordinates)))).value)
    found = load_wrench(small, loads, time, pose)[:, small.body_number["talus_r"]]
    np.testing.assert_allclose(found, np.outer([0.0, 0.25, 0.5, 1.0], found[-1]), atol=1e-10)


REFUSALS = [
    ("missing_file", "grf.mot", "nowhere.mot", ["loads.xml", "nowhere.mot"]),
    ("bad_format", "<datafile>grf.mot</datafile>", "<datafile/>", ["loads.xml", "datafile"]),
    ("bad_format", "<datafile>grf.mot</datafile>", "", ["loads.xml", "datafile"]),
    ("bad_format", "ExternalLoads", "Muddle", ["loads.xml", "ExternalLoads"]),
    ("unsupported", "ExternalForce", "PrescribedForce", ["loads.xml", "PrescribedForce"]),
    (
        "missing_column",
        "ground_force_v<",
        "left_force_v<",
        ["loads.xml", "line", "left_force_v", "0 columns"],
    ),
    ("missing_column", "ground_force_v<", "ground_<", ["loads.xml", "ground_", "9 columns"]),
    ("bad_format", "<applied_to_body>talus_r</applied_to_body>", "", ["applied_to_body"]),
    ("bad_format", '<?xml version="1.0" encoding="UTF-8" ?>', "<!DOCTYPE x [<!ENTITY a 'b'>]>", ["entities"]),
]


@pytest.mark.parametrize(
    ("code", "old", "new", "parts"), REFUSALS, ids=[f"{c}-{n[:20]}" for c, _, n, _ in REFUSALS]
)
def test_refusals(loads_xml: Path, small, code: str, old: str, new: str, parts: list[str]) -> None:
    text = XML.replace(old, new)
    assert text != XML
    loads_xml.write_text(text, encoding="utf-8")
    with refused(code, *parts):
        read_external_loads(loads_xml, small)


def test_a_load_without_columns(loads_xml: Path, small) -> None:
    text = XML.replace("ground_force_v<", "<").replace("ground_torque_<", "<")
    loads_xml.write_text(text, encoding="utf-8")
    with refused("missing_key", "right", "force_identifier"):
        read_external_loads(loads_xml, small)


def test_gaps_are_refused_only_where_they_matter(tmp_path: Path, small) -> None:
    given = columns("ground_force_r_", "ground_torque_r_")
    given["ground_force_r_px"][0] = np.nan
    path = save(tmp_path / "grf.mot", given)
    assert len(read_external_loads(path, small)) == 1
    given["ground_force_r_px"][2] = np.nan
    with refused("missing_samples", "grf.mot", "line", "ground_force_r_px"):
        read_external_loads(save(path, given), small)


PAIRS = [
    ("ground_force_", "ground_torque_", "1_ground_force_", "1_ground_torque_"),
    ("ground_force_1_", "ground_torque_1_", "ground_force_2_", "ground_torque_2_"),
    ("FP1_", "FP1_m", "FP2_", "FP2_m"),
]


@pytest.fixture
def walking(model_folder: Path):
    """A model, the plates under it, and its pose."""
    folder = model_folder.parent / "rajagopal_walk"
    model = read_osim(folder / "reference" / "rajagopal_lai_uhlrich_2023_scaled.osim")
    motion = filtered_motion(model, folder / "reference" / "opensim_ik.mot", 6.0)
    return model, read_mot(folder / "walk_grf.mot"), motion.time, body_motion(model, motion.value)


@pytest.mark.in_part(2)
@pytest.mark.parametrize("names", PAIRS)
@pytest.mark.parametrize("exchanged", [False, True])
def test_plates_without_a_side_find_their_foot(
    tmp_path: Path, walking, names: tuple[str, str, str, str], exchanged: bool
) -> None:
    model, table, time, pose = walking
    renamed = list(table.names)
    for side, force, torque in zip("lr" if exchanged else "rl", names[::2], names[1::2], strict=True):
        renamed = [name.replace(f"ground_force_{side}_", force) for name in renamed]
        renamed = [name.replace(f"ground_torque_{side}_", torque) for name in renamed]
    path = tmp_path / "grf.mot"
    write_mot(path, Table(table.time[::20], tuple(renamed), table.values[::20], False, path))
    bodies = {load.name: load.body for load in read_external_loads(path, model, time, pose)}
    assert bodies == dict(
        zip(names[::2], ("calcn_l", "calcn_r") if exchanged else ("calcn_r", "calcn_l"), strict=True)
    )
    with refused("unassigned_plate", "grf.mot", "calcn_r"):
        read_external_loads(path, model)
    with refused("bad_axes", "grf.mot", "x = +z, y = +x, z = +y"):  # the axes of another laboratory
        away = BodyMotion(pose.rotation, pose.position[..., [2, 0, 1]], pose.twist)
        read_external_loads(path, model, time, away)
    with refused("bad_units", "grf.mot", "divide the translations of the coordinates by 1000"):
        read_external_loads(path, model, time, BodyMotion(pose.rotation, 1e3 * pose.position, pose.twist))
    root = pose.position[:, model.body_number["pelvis"]][:, None]
    ways = {
        "0.0 0.0 1.8 m": pose.position - root + root[..., [2, 1, 0]],
        "-1.8 0.0 0.0 m": pose.position[::-1],
    }
    for way, away in ways.items():  # exchanged columns, and rows backward
        with refused("unassigned_plate", "grf.mot", f"pelvis goes {way}", "the pressure 1.5 0.0 0.0 m"):
            read_external_loads(path, model, time, BodyMotion(pose.rotation, away, pose.twist))
    points = np.array([1e3 if each[:-1].endswith("p") else 1.0 for each in table.names])
    write_mot(path, Table(table.time[::20], tuple(renamed), points * table.values[::20], False, path))
    with refused("bad_units", "grf.mot", "points in meters in the axes of the model: they lie 0.01 m"):
        read_external_loads(path, model, time, pose)


def on_belts(path: Path, walking, stems: dict[str, str]):
    """The walk in the frame of a treadmill at its mean speed, its plates named by stems of (r, l) forces together."""
    model, table, time, pose = walking
    pelvis = pose.position[:, model.body_number["pelvis"], 0]
    speed = (pelvis[-1] - pelvis[0]) / (time[-1] - time[0])
    rows, names, values = slice(None, None, 20), [], []
    for stem, sides in stems.items():
        force, couple = np.zeros((2, len(table.time[rows]), 3))
        for side in sides:
            each, point, free = (
                np.stack([table[f"ground_{kind}{axis}"][rows] for axis in "xyz"], axis=1)
                for kind in (f"force_{side}_v", f"force_{side}_p", f"torque_{side}_")
            )
            point[:, 0] -= speed * table.time[rows]
            point[each[:, 1] < 1.0] = 0.0
            force, couple = force + each, couple + np.cross(point, each) + free
        up = np.where(force[:, 1] > 1.0, force[:, 1], np.inf)
        point = np.stack([couple[:, 2] / up, np.zeros_like(up), -couple[:, 0] / up], axis=1)
        for kind, vector in (("v", force), ("p", point), ("m", couple - np.cross(point, force))):
            names += [f"{stem}{kind}{axis}" for axis in "xyz"]
            values += list(vector.T)
    write_mot(path, Table(table.time[rows], tuple(names), np.stack(values, axis=1), False, path))
    back = np.zeros((len(time), 1, 3))
    back[:, 0, 0] = speed * time
    return model, time, BodyMotion(pose.rotation, pose.position - back, pose.twist), path


def loaded(load: ExternalLoad, time: np.ndarray) -> np.ndarray:
    force = np.linalg.norm(load.force, axis=1)
    return np.interp(time, load.time, force)


def test_belts_of_a_treadmill_whose_names_have_no_r(tmp_path: Path, walking) -> None:
    stems = {"ground_force_": "r", "l_ground_force_": "l"}
    model, time, pose, path = on_belts(tmp_path / "grf.mot", walking, stems)
    loads = read_external_loads(path, model, time, pose)
    assert [load.body for load in loads] == ["calcn_r", "calcn_l"] and not any(load.notes for load in loads)


def test_contacts_decide_beside_the_name(tmp_path: Path, walking) -> None:
    stems = {"r_ground_force_": "l", "l_ground_force_": "r"}
    model, time, pose, path = on_belts(tmp_path / "grf.mot", walking, stems)
    loads = read_external_loads(path, model, time, pose)
    assert [load.body for load in loads] == ["calcn_l", "calcn_r"]
    assert all(len(load.notes) == 1 for load in loads)


def test_one_belt_for_both_feet(tmp_path: Path, walking) -> None:
    """In single support the load is on the foot that stands, and nowhere on the other one."""
    model, time, pose, path = on_belts(tmp_path / "grf.mot", walking, {"ground_force_": "rl"})
    right, left = read_external_loads(path, model, time, pose)
    assert (right.body, left.body) == ("calcn_r", "calcn_l") and right.notes
    # right alone 0.45 to 0.83 s, left alone 1.03 to 1.40 s, both 0.84 to 1.00 s
    for load, first, last in ((right, 0.46, 0.80), (left, 1.05, 1.38)):
        alone = np.linspace(first, last, 20)
        other = left if load is right else right
        assert (loaded(load, alone) > 300.0).all() and (loaded(other, alone) == 0.0).all()
    assert np.isnan(loaded(right, np.linspace(0.85, 0.98, 10))).all()


@pytest.mark.in_part(2)
@pytest.mark.parametrize("body", ["calcn_r", "talus_r", "toes_r"])
def test_nearest_feet_instead_of_those_of_an_xml(tmp_path: Path, walking, body: str) -> None:
    model, time, pose, _ = on_belts(tmp_path / "grf.mot", walking, {"ground_force_": "l"})
    path = tmp_path / "loads.xml"
    path.write_text(
        XML.replace("talus_r", body).replace("ground_torque_", "ground_force_m"), encoding="utf-8"
    )
    (stated,) = read_external_loads(path, model, time, pose)
    assert stated.body == body
    assert f"stated for {body}, and acts under calcn_l" in contact_fault(model, stated, time, pose)
    assert [load.body for load in read_external_loads(path, model, time, pose, feet="nearest")] == ["calcn_l"]
    with refused("unknown_name", "feet"):
        read_external_loads(path, model, time, pose, feet="left")


def test_names_with_a_side(walking) -> None:
    model, table, *_ = walking
    assert [load.body for load in read_external_loads(table.path, model)] == ["calcn_r", "calcn_l"]


def test_files_without_plates(tmp_path: Path, small) -> None:
    with refused("missing_column", "angles.mot", "hip"):
        read_external_loads(save(tmp_path / "angles.mot", {"hip": TIME}), small)
    given = columns()
    del given["ground_force_pz"]
    with refused("missing_column", "grf.mot", "ground_force_pz"):
        read_external_loads(save(tmp_path / "grf.mot", given), small)


PIECES = st.sampled_from(
    ["", "nan", "-1", "x", "<a/>", "</objects>", "ground", "ground_force_", "../grf.mot", "."]
)


@settings(max_examples=examples(150), derandomize=True)
@given(data=st.data())
def test_any_damage_is_refused_properly_or_harmless(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory, small
) -> None:
    folder = tmp_path_factory.getbasetemp()
    save(folder / "grf.mot", columns())
    start = data.draw(st.sampled_from([k + 1 for k in range(len(XML)) if XML[k] == ">"]))
    stop = XML.find("<", start)
    if data.draw(st.booleans()):
        stop = XML.find(">", start) + 1
    text = XML[:start] + data.draw(PIECES) + XML[max(stop, start) :]
    if data.draw(st.booleans()):
        text = text[: data.draw(st.integers(0, len(text)))]
    (folder / "damaged.xml").write_text(text, encoding="utf-8")
    pose = body_motion(small, at_rest(small, np.zeros((4, len(small.coordinates)))).value)
    try:
        loads = read_external_loads(folder / "damaged.xml", small)
        assert np.isfinite(load_wrench(small, loads, TIME, pose)).all()
    except InputError as error:
        assert error.code
