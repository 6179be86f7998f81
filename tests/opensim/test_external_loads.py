"""Reading external loads: columns, ExternalLoads files, feet of plates, refusals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused
from sampled_motion import at_rest, filtered_motion

from musclesolve._util.arrays import Array
from musclesolve.errors import InputError
from musclesolve.opensim.external_loads import load_wrench, read_external_loads
from musclesolve.opensim.kinematics import BodyMotion, body_motion
from musclesolve.opensim.model import OpenSimModel
from musclesolve.opensim.read_model import read_osim
from musclesolve.recording.data import Table
from musclesolve.recording.text.mot_file import read_mot, write_mot

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
) -> dict[str, Array]:
    """One plate: a force that begins at the second sample, and a point that means nothing before."""
    loaded = np.array([0.0, 1.0, 1.0, 1.0])
    parts = [(f"{force}v", (20.0, 700.0, -10.0)), (f"{force}p", (0.1, 0.0, 0.05)), (torque, (0.0, 4.0, 0.0))]
    found = {
        f"{stem}{axis}": scale * x * loaded for stem, v in parts for axis, x in zip("xyz", v, strict=True)
    }
    found[f"{force}px"] = np.where(loaded > 0.0, found[f"{force}px"], 317.0)
    return found


def save(path: Path, given: dict[str, Array]) -> Path:
    write_mot(path, Table(TIME, tuple(given), np.stack(list(given.values()), axis=1), False, path))
    return path


@pytest.fixture
def loads_xml(tmp_path: Path) -> Path:
    save(tmp_path / "grf.mot", columns())
    path = tmp_path / "loads.xml"
    path.write_text(XML, encoding="utf-8")
    return path


def test_an_external_loads_file(loads_xml: Path, small: OpenSimModel) -> None:
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
    loads_xml: Path, small: OpenSimModel, old: str, new: str, frames: tuple[str, str]
) -> None:
    """A force without a point acts at the origin of its body."""
    loads_xml.write_text(XML.replace(old, new), encoding="utf-8")
    (load,) = read_external_loads(loads_xml, small)
    assert (load.force_frame, load.point_frame) == frames


@pytest.mark.parametrize("switch", ["<appliesForce>false</appliesForce>", "<isDisabled> true </isDisabled>"])
def test_loads_that_are_switched_off(loads_xml: Path, small: OpenSimModel, switch: str) -> None:
    loads_xml.write_text(XML.replace("</ExternalForce>", f"{switch}</ExternalForce>"), encoding="utf-8")
    assert read_external_loads(loads_xml, small) == []


def test_a_foot_strikes_without_a_jump(loads_xml: Path, small: OpenSimModel) -> None:
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
def test_refusals(
    loads_xml: Path, small: OpenSimModel, code: str, old: str, new: str, parts: list[str]
) -> None:
    text = XML.replace(old, new)
    assert text != XML
    loads_xml.write_text(text, encoding="utf-8")
    with refused(code, *parts):
        read_external_loads(loads_xml, small)


def test_a_load_without_columns(loads_xml: Path, small: OpenSimModel) -> None:
    text = XML.replace("ground_force_v<", "<").replace("ground_torque_<", "<")
    loads_xml.write_text(text, encoding="utf-8")
    with refused("missing_key", "right", "force_identifier"):
        read_external_loads(loads_xml, small)


def test_gaps_are_refused_only_where_they_matter(tmp_path: Path, small: OpenSimModel) -> None:
    given = columns("ground_force_r_", "ground_torque_r_")
    given["ground_force_r_px"][0] = np.nan
    path = save(tmp_path / "grf.mot", given)
    where = {"ground_force_r_": "talus_r"}
    assert len(read_external_loads(path, small, bodies=where)) == 1
    given["ground_force_r_px"][2] = np.nan
    with refused("missing_samples", "grf.mot", "line", "ground_force_r_px"):
        read_external_loads(save(path, given), small, bodies=where)


PAIRS = [
    ("ground_force_", "ground_torque_", "1_ground_force_", "1_ground_torque_"),
    ("ground_force_1_", "ground_torque_1_", "ground_force_2_", "ground_torque_2_"),
    ("FP1_", "FP1_m", "FP2_", "FP2_m"),
]


@pytest.fixture
def walking(model_folder: Path) -> tuple[OpenSimModel, Table, Array, BodyMotion]:
    """A model, the plates under it, and its pose."""
    folder = model_folder.parent / "rajagopal_walk"
    model = read_osim(folder / "reference" / "rajagopal_lai_uhlrich_2023_scaled.osim")
    motion = filtered_motion(model, folder / "reference" / "opensim_ik.mot", 6.0)
    return model, read_mot(folder / "walk_grf.mot"), motion.time, body_motion(model, motion.value)


@pytest.mark.parametrize("names", PAIRS)
@pytest.mark.parametrize("exchanged", [False, True])
def test_plates_without_a_side_find_their_foot(
    tmp_path: Path,
    walking: tuple[OpenSimModel, Table, Array, BodyMotion],
    names: tuple[str, str, str, str],
    exchanged: bool,
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
    with refused("unassigned_plate", "grf.mot", "calcn_"):  # the axes of another laboratory
        away = BodyMotion(pose.rotation, pose.position[..., [2, 0, 1]], pose.twist)
        read_external_loads(path, model, time, away)


def test_names_with_a_side(walking: tuple[OpenSimModel, Table, Array, BodyMotion]) -> None:
    model, table, *_ = walking
    assert [load.body for load in read_external_loads(table.path, model)] == ["calcn_r", "calcn_l"]
    named = read_external_loads(table.path, model, bodies={"ground_force_r_": "toes_r"})
    assert [load.body for load in named] == ["toes_r", "calcn_l"]
    with refused("unknown_name", "hoof_r"):
        read_external_loads(table.path, model, bodies={"ground_force_r_": "hoof_r"})


def test_files_without_plates(tmp_path: Path, small: OpenSimModel) -> None:
    with refused("missing_column", "angles.mot", "hip"):
        read_external_loads(save(tmp_path / "angles.mot", {"hip": TIME}), small)
    given = columns()
    del given["ground_force_pz"]
    with refused("missing_column", "grf.mot", "ground_force_pz"):
        read_external_loads(save(tmp_path / "grf.mot", given), small)


PIECES = st.sampled_from(
    ["", "nan", "-1", "x", "<a/>", "</objects>", "ground", "ground_force_", "../grf.mot", "."]
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(data=st.data())
def test_any_damage_is_refused_properly_or_harmless(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory, small: OpenSimModel
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
