"""Model files of versions 2 and 3: the same model as in the layout of version 4."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from old_layout import save_old
from opensim_answers import answers, task
from refusals import refused
from sampled_motion import free_names
from small_model import TEXT, save_model
from thorough import examples

from musclesolve import read_osim
from musclesolve.errors import InputError
from musclesolve.models.opensim import opensim_geometry
from musclesolve.models.opensim.kinematics import coordinate_values

VERSIONS = (20302, 30000, 30500)


def same_models(old, new) -> None:
    """Bodies, masses, coordinates, and the geometry of all muscles in random poses."""
    assert old.bodies == new.bodies
    assert dict(old.unsupported) == dict(new.unsupported)
    assert {n: vars(c) for n, c in old.coordinates.items()} == {
        n: vars(c) for n, c in new.coordinates.items()
    }
    for body, mass in new.masses.items():
        np.testing.assert_allclose(old.masses[body].inertia, mass.inertia)
        np.testing.assert_allclose(old.masses[body].center, mass.center)
        assert old.masses[body].mass == mass.mass
    rng = np.random.default_rng(5)
    names = [name for name in free_names(new) if np.isfinite(new.coordinates[name].lower)]
    pose = {name: rng.uniform(-0.3, 0.3, 3) for name in names}
    expected, found = opensim_geometry(new, pose), opensim_geometry(old, pose)
    assert found.muscles == expected.muscles
    np.testing.assert_allclose(found.length, expected.length, atol=1e-12)
    np.testing.assert_allclose(found.moment_arm, expected.moment_arm, atol=1e-12)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_small_model(tmp_path: Path, small, version: int) -> None:
    same_models(read_osim(save_old(tmp_path / "old.osim", TEXT, version)), small)


@pytest.mark.parametrize("name", ["gait2392", "rajagopal_2016", "arm26"])
def test_public_models(tmp_path: Path, model_folder: Path, public_model, name: str) -> None:
    text = (model_folder / f"{name}.osim").read_text(encoding="utf-8")
    same_models(read_osim(save_old(tmp_path / "old.osim", text, 30000)), public_model(name))


def test_between_versions_3_and_4(tmp_path: Path, small) -> None:
    """Joints in their set, connectors instead of sockets."""
    text = TEXT.replace('Version="40500"', 'Version="30510"')
    for name in ("parent_frame", "child_frame"):
        tag, parts = f"socket_{name}", text.split(f"<socket_{name}>")
        connector = f'<connectors><Connector_PhysicalFrame_ name="{name}"><connectee_name>'
        end = "</connectee_name></Connector_PhysicalFrame_></connectors>"
        text = parts[0] + "".join(connector + part.replace(f"</{tag}>", end, 1) for part in parts[1:])
    same_models(read_osim(save_model(tmp_path, text)), small)
    longer = TEXT.replace('Version="40500"', 'Version="30516"').replace("_frame>", "_frame_connectee_name>")
    same_models(read_osim(save_model(tmp_path, longer)), small)


def test_disabled_muscles_and_constraints(tmp_path: Path) -> None:
    path = save_old(tmp_path / "old.osim", TEXT, 30000)
    text = path.read_text(encoding="utf-8")
    path.write_text(
        text.replace("</Thelen2003Muscle>", "<isDisabled>true</isDisabled></Thelen2003Muscle>", 2).replace(
            "</CoordinateCouplerConstraint>", "<isDisabled>true</isDisabled></CoordinateCouplerConstraint>"
        ),
        encoding="utf-8",
    )
    model = read_osim(path)
    assert model.couplers == ()
    assert [muscle.name for muscle in model.chosen()] == [
        "two_r",
        "three_r",
    ]  # the first element is the default
    assert [muscle.name for muscle in model.chosen(["one_r"])] == ["one_r"]


@pytest.mark.thorough
def test_a_reversed_joint(tmp_path: Path) -> None:
    """It has parent and child exchanged; the bodies and muscles are where OpenSim has them."""
    path = save_old(tmp_path / "old.osim", TEXT, 30000)
    text = path.read_text(encoding="utf-8")
    start = text.index('<UniversalJoint name="ankle_r">')
    changed = text[start:].replace("<reverse>false", "<reverse>true", 1)
    path.write_text(text[:start] + changed, encoding="utf-8")
    model = read_osim(path)
    assert [joint.name for joint in model.joints if joint.is_reversed] == ["ankle_r"]
    assert not model.unsupported
    pose = {name: np.array([0.1 + 0.05 * k]) for k, name in enumerate(model.coordinates)}
    values = coordinate_values(model, pose)
    (answer,) = answers(task("muscles", model.file, list(model.coordinates), values))
    found = opensim_geometry(model, pose)
    lengths = [answer["muscles"][name][0] for name in found.muscles]
    np.testing.assert_allclose(found.length[0], lengths, atol=5e-5)


@pytest.mark.parametrize(
    ("code", "old", "new", "parts"),
    [
        ("unknown_name", "<parent_body>tibia_r", "<parent_body>shin_r", ["shin_r"]),
        ("unknown_name", "<body>talus_r", "<body>foot_r", ["foot_r"]),
        ("not_numbers", "<inertia_xx>0.01", "<inertia_xx>x", ["inertia_xx"]),
        ("bad_format", "<location_in_parent>0.01 -0.4", "<location_in_parent>0.01", ["three numbers"]),
    ],
)
def test_refusals_name_the_line(tmp_path: Path, code: str, old: str, new: str, parts: list[str]) -> None:
    path = save_old(tmp_path / "old.osim", TEXT, 30000)
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with refused(code, "old.osim", "line", *parts):
        read_osim(path)


@pytest.mark.thorough
def test_opensim_reads_the_old_files_alike(tmp_path: Path, model_folder: Path, public_model) -> None:
    """The rewriting of this test is what OpenSim understands by version 3: lengths and arms of its own engine."""
    text = (model_folder / "gait2392.osim").read_text(encoding="utf-8")
    model = read_osim(save_old(tmp_path / "old.osim", text, 30000))
    pose = {"hip_flexion_r": 0.6, "knee_angle_r": -0.8, "ankle_angle_r": 0.2, "lumbar_extension": -0.3}
    (answer,) = answers(task("muscles", model.file, list(pose), [list(pose.values())]))
    found = opensim_geometry(model, {name: np.array([angle]) for name, angle in pose.items()})
    for k, name in enumerate(found.muscles):
        length, pennation = answer["muscles"][name]
        assert length == pytest.approx(found.length[0, k], abs=5e-5), name
        assert pennation == model.muscles[name].pennation_angle
    assert answer["mass"] == pytest.approx(sum(mass.mass for mass in model.masses.values()))


@pytest.mark.parametrize(
    "kind",
    [
        *(
            "Schutte1993Muscle",
            "Delp1990Muscle",
            "Schutte1993Muscle_Deprecated",
            "Thelen2003Muscle_Deprecated",
        ),
        *("Millard2012EquilibriumMuscle", "Millard2012AccelerationMuscle", "DeGrooteFregly2016Muscle"),
        "RigidTendonMuscle",
    ],
)
def test_muscles_of_all_names(tmp_path: Path, kind: str) -> None:
    angle = "<pennation_angle>0.2</pennation_angle><optimal_fiber_length>"
    text = TEXT.replace("Thelen2003Muscle", kind).replace("<optimal_fiber_length>", angle)
    model = read_osim(save_old(tmp_path / "old.osim", text, 20302))
    assert {muscle.kind for muscle in model.muscles.values()} == {kind}
    assert {muscle.pennation_angle for muscle in model.muscles.values()} == {0.2}
    assert {muscle.max_isometric_force for muscle in model.muscles.values()} == {900.0}


PIECES = st.sampled_from(["", "nan", "-1", "1 2", "true", "x", "<a/>", "</objects>", "ground", "knee_r"])


@settings(max_examples=examples(150), derandomize=True)
@given(data=st.data())
def test_any_damage_is_refused_properly_or_harmless(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = save_old(tmp_path_factory.getbasetemp() / "old.osim", TEXT, 30000)
    text = path.read_text(encoding="utf-8")
    start = data.draw(st.sampled_from([k + 1 for k in range(len(text)) if text[k] == ">"]))
    stop = text.find("<", start)
    if data.draw(st.booleans()):
        stop = text.find(">", start) + 1
    path.write_text(text[:start] + data.draw(PIECES) + text[max(stop, start) :], encoding="utf-8")
    try:
        opensim_geometry(read_osim(path), {"knee_r": np.array([0.1, 0.5])})
    except InputError as error:
        assert error.code
