"""The bones of OpenSim models: where OpenSim draws them, from the folder that has them, and what is missing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from command_line import typed
from meshes import BOX, ball, save_vtp, triangles
from opensim_answers import answers, task
from refusals import refused
from small_model import TEXT, save_model
from small_model_motion import DOFS, feasible_moments, small_motion
from stored_results import write_result

import musclesolve as ms
from musclesolve import read_osim
from musclesolve.laboratory.report.picture.bones import bones_of_model
from musclesolve.laboratory.report.picture.lofted_bones import joined, nearest_points
from musclesolve.laboratory.report.picture.model_bones import MOST_FACES, model_surfaces
from musclesolve.laboratory.report.picture.moving_picture import picture_page
from musclesolve.laboratory.report.picture.picture_data import ends_of, picture_data
from musclesolve.laboratory.report.picture.still import View
from musclesolve.laboratory.results.dataset.model_labels import model_skeleton
from musclesolve.laboratory.run_trial import share_model
from musclesolve.models.opensim.geometry import path_lines
from musclesolve.models.opensim.kinematics import body_motion, coordinate_values
from musclesolve.models.opensim.model import TO_GLOBAL, OpenSimModel


def mesh(file: str, inside: str = "") -> str:
    return f'<Mesh name="{file[:-4]}"><socket_frame>..</socket_frame><mesh_file>{file}</mesh_file>{inside}</Mesh>'


MESHES = {
    "femur_r": mesh("femur.vtp", "<scale_factors>1.1 0.9 -1.2</scale_factors>") + mesh("Other.VTP"),
    "tibia_r": mesh("tibia.vtp") + mesh("hidden.vtp", "<Appearance><visible>false</visible></Appearance>"),
}
OFFSET = f"""<components><PhysicalOffsetFrame name="off"><socket_parent>..</socket_parent>
<translation>0.1 0.02 -0.03</translation><orientation>0.4 -0.5 0.6</orientation>
<attached_geometry>{mesh("on_offset.vtp")}</attached_geometry></PhysicalOffsetFrame></components>"""


def with_meshes() -> str:
    """The small model with geometry on femur, tibia and, in a frame of its own, talus."""
    text = TEXT
    for body, meshes in MESHES.items():
        attached = f"<attached_geometry>{meshes}</attached_geometry>"
        text = text.replace(f'<Body name="{body}">', f'<Body name="{body}">{attached}', 1)
    return text.replace('<Body name="talus_r">', f'<Body name="talus_r">{OFFSET}', 1)


OLD = """<?xml version="1.0" encoding="UTF-8" ?>
<OpenSimDocument Version="20302"><Model name="old"><BodySet><objects><Body name="ground"><mass>0</mass></Body>
<Body name="shank"><mass>1</mass><mass_center>0 0 0</mass_center><inertia_xx>1</inertia_xx><inertia_yy>1</inertia_yy>
<inertia_zz>1</inertia_zz><Joint><WeldJoint name="j"><parent_body>ground</parent_body>
<location_in_parent>1 2 3</location_in_parent><orientation_in_parent>0.1 0 0.7</orientation_in_parent>
<location>0 0 0</location><orientation>0 0 0</orientation></WeldJoint></Joint>
<VisibleObject name="x"><GeometrySet name="g"><objects>
<DisplayGeometry><geometry_file>tibia.vtp</geometry_file><transform>0.1 0.2 0.3 0.01 0.02 0.03</transform>
<scale_factors>2 3 4</scale_factors><display_preference>4</display_preference></DisplayGeometry>
<DisplayGeometry><geometry_file>hidden.vtp</geometry_file><display_preference>0</display_preference></DisplayGeometry>
<DisplayGeometry><geometry_file>fibula.vtp</geometry_file></DisplayGeometry></objects></GeometrySet>
<scale_factors>1.5 1.5 2</scale_factors><transform>0.5 0 0 0 0.1 0</transform></VisibleObject>
</Body></objects></BodySet></Model></OpenSimDocument>"""


@pytest.mark.in_part(2)
@pytest.mark.parametrize("text", [with_meshes(), OLD], ids=["version 4", "version 2"])
def test_geometry_lies_where_opensim_draws_it(text: str, tmp_path: Path) -> None:
    """Vertices in the ground, in the default pose; meshes that are switched off are in neither."""
    path = save_model(tmp_path, text)
    (theirs,), model = answers(task("meshes", path, [])), read_osim(path)
    pose = body_motion(model, coordinate_values(model, {}))
    assert [each.file for each in model.meshes] and {each.file for each in model.meshes} == set(theirs)
    for each in model.meshes:
        number = model.body_number[each.frame.body]
        ours = each.frame.place(each.scale * BOX[0]) @ pose.rotation[0, number].T + pose.position[0, number]
        rotation, place, scale = map(np.array, theirs[each.file])
        np.testing.assert_allclose(ours, (scale * BOX[0]) @ rotation.T + place, atol=1e-9)


def test_geometry_that_lies_out_of_reach_is_refused_by_its_line(tmp_path: Path) -> None:
    with refused("bad_model", "line", "0.03e21"):
        read_osim(save_model(tmp_path, OLD.replace("0.02 0.03<", "0.02 0.03e21<")))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model, its geometry beside it but for one file, and a result of it."""
    folder = tmp_path_factory.mktemp("model")
    model = read_osim(save_model(folder, with_meshes()))
    geometry = folder / "Geometry"
    geometry.mkdir()
    save_vtp(geometry / "femur.vtp", (BOX[0], triangles(BOX[1])))
    save_vtp(geometry / "other.vtp", ball(0.05))
    save_vtp(geometry / "tibia.vtp", ball(0.03))
    result = share_model(
        model, small_motion(model), moments=feasible_moments(model), dofs=DOFS, passive="none"
    )
    write_result(result, folder / "result.nc")
    return folder


@pytest.fixture(scope="module")
def shared(folder: Path) -> xr.Dataset:
    return ms.read_result(folder / "result.nc")


def test_bones_of_the_folder_beside_the_model_replace_its_lines(shared: xr.Dataset) -> None:
    """Vertices follow their body; the sense of a mirrored surface stays outward; what is missing is named."""
    data = picture_data(shared)
    assert set(data.bones.segments) == {"femur_r", "tibia_r"}
    left = {str(shared["bone_segment"].values[k]) for k in range(shared.sizes["bone"])} - set(
        data.bones.segments
    )
    assert {data.points[k] for line in data.lines for k in line} and left
    femur = data.bones.segments.index("femur_r")
    expected = BOX[0] * [1.1, 0.9, -1.2] @ TO_GLOBAL.T
    own = data.bones.surfaces[femur].vertices[:8]
    np.testing.assert_allclose(sorted(own.tolist()), sorted(expected.tolist()), atol=1e-6)
    faces = data.bones.surfaces[femur].faces[:12]
    assert np.einsum("fi,fi->", own[faces[:, 0]], np.cross(own[faces[:, 1]], own[faces[:, 2]])) > 0.0
    (note,) = [sentence for sentence in data.missing if "geometry" in sentence]
    assert "1 of 4" in note and "on_offset.vtp" in note and "--geometry" in note
    rotation = shared["segment_rotation"].sel(segment="femur_r").values[3].astype(float)
    place = shared["segment_position"].sel(segment="femur_r").values[3].astype(float)
    placed = data.bones.placed(3)[femur][:8]
    np.testing.assert_allclose(placed, own @ rotation.T + place, atol=1e-9)


def test_a_named_folder_comes_first(shared: xr.Dataset, folder: Path, tmp_path: Path) -> None:
    save_vtp(tmp_path / "on_offset.vtp", ball(0.02))
    bodies = tuple(shared["segment"].values.tolist())
    surfaces, notes = model_surfaces(folder / "small.osim", bodies, tmp_path)
    assert set(surfaces) == {"femur_r", "tibia_r", "talus_r"} and notes == []
    center = surfaces["talus_r"].vertices.mean(axis=0)
    np.testing.assert_allclose(center, TO_GLOBAL @ [0.1, 0.02, -0.03], atol=1e-3)


def test_a_large_geometry_is_drawn_with_fewer_triangles(
    shared: xr.Dataset, folder: Path, tmp_path: Path
) -> None:
    for name in ("femur.vtp", "other.vtp", "tibia.vtp"):
        save_vtp(tmp_path / name, ball(0.05, 72))
    surfaces, _ = model_surfaces(folder / "small.osim", tuple(shared["segment"].values.tolist()), tmp_path)
    count = sum(len(surface.faces) for surface in surfaces.values())
    assert 0.5 * MOST_FACES < count <= MOST_FACES


def test_page_and_still_show_them(shared: xr.Dataset) -> None:
    assert len(picture_page(shared).encode()) < 10e6
    view = View(picture_data(shared))
    corners, colors, depth = view.faces(2)
    assert len(depth) == sum(len(surface.faces) for surface in view.data.bones.surfaces)
    assert np.isfinite(corners).all() and (colors[:, :3] > 0.4).all()


@pytest.mark.thorough
def test_the_commands_take_the_folder(folder: Path, tmp_path: Path) -> None:
    save_vtp(tmp_path / "on_offset.vtp", ball(0.02))

    with_note = typed("picture", folder / "result.nc", "-o", tmp_path / "a.html")
    assert with_note.exit_code == 0 and "on_offset.vtp" in with_note.output
    whole = typed("picture", folder / "result.nc", "-o", tmp_path / "b.html", "--geometry", tmp_path)
    assert whole.exit_code == 0 and "on_offset.vtp" not in whole.output
    nowhere = typed(
        "picture", folder / "result.nc", "-o", tmp_path / "c.html", "--geometry", tmp_path / "none"
    )
    assert nowhere.exit_code == 2 and not (tmp_path / "c.html").exists()
    (tmp_path / "tibia.vtp").write_text("no XML", encoding="utf-8")
    with refused("bad_format", "tibia.vtp"):
        ms.laboratory.save_picture(folder / "result.nc", tmp_path / "d.html", geometry=tmp_path)


def test_a_model_that_has_gone_or_holds_no_files_is_a_sentence(shared: xr.Dataset, tmp_path: Path) -> None:
    for name, attribute in (("gone.osim", "gone.osim"), ("subject.b3d", "subject.b3d")):
        data = picture_data(shared.assign_attrs(model_file=str(tmp_path / name)))
        assert (
            data.bones.segments == () and len(data.lines) and any(attribute in each for each in data.missing)
        )


def test_a_folder_for_a_recording_is_refused(stride: xr.Dataset, tmp_path: Path) -> None:
    with refused("conflict"):
        ms.laboratory.save_picture(stride, tmp_path / "walk.html", geometry=tmp_path)


@pytest.mark.in_part(2)
@pytest.mark.parametrize("name", ["gait2392", "hamner_2010", "rajagopal_2016"])
def test_models_without_files_have_simple_bones_from_joint_to_joint(
    public_model: Callable[[str], OpenSimModel], name: str
) -> None:
    """In the default pose; the ends of the muscles lie near some bone, as their attachments do."""
    model = public_model(name)
    values = coordinate_values(model, {})
    skeleton = model_skeleton(model, body_motion(model, values))
    bones = bones_of_model(skeleton, {})
    added = set(bones.segments) - set(skeleton.segments)
    assert set(skeleton.segments) <= set(bones.segments)
    assert len(added) == (0 if "patella_r" in skeleton.segments else 4)
    place = dict(zip(skeleton.points, skeleton.position[0].astype(float), strict=True))
    knee = "walker_knee" if "walker_knee_r" in place else "knee"
    for body, upper, lower in (("femur", "hip", knee), ("tibia", knee, "ankle")):
        for side in "rl":
            a, b = place[f"{upper}_{side}"], place[f"{lower}_{side}"]
            vertices = bones.placed(0)[bones.segments.index(f"{body}_{side}")]
            along = (vertices - a) @ (b - a) / ((b - a) @ (b - a))
            assert -0.12 < along.min() < 0.06 and 0.92 < along.max() < 1.12
    muscles = [name for name, muscle in model.muscles.items() if muscle.name[-2:] in ("_r", "_l")]
    lines = path_lines(model, values, tuple(muscles))
    ends = ends_of(lines.position @ TO_GLOBAL.T, np.searchsorted(lines.muscle, np.arange(len(muscles) + 1)))
    reached = bones.reaching(ends)
    faces = [surface.faces for surface in reached.surfaces]
    near = nearest_points(ends[0, :, 0], joined(list(zip(reached.placed(0), faces, strict=True))))[1]
    assert np.median(near) < 0.001 and near.max() < 0.005


def test_a_model_of_one_leg_has_a_whole_pelvis(public_model: Callable[[str], OpenSimModel]) -> None:
    """It lies where the pelvis of the model with both legs lies, to 25 mm; each side by itself."""
    model = public_model("gait2392")
    whole = model_skeleton(model, body_motion(model, coordinate_values(model, {})))
    pelvis = bones_of_model(whole, {}).surfaces[whole.segments.index("pelvis")].vertices
    for side in "rl":
        points, segments = (
            [k for k, name in enumerate(names) if not name.endswith(f"_{side}")]
            for names in (whole.points, whole.segments)
        )
        leg = replace(
            whole,
            points=tuple(whole.points[k] for k in points),
            position=whole.position[:, points],
            segments=tuple(whole.segments[k] for k in segments),
            place=whole.place[:, segments],
            rotation=whole.rotation[:, segments],
        )
        bones = bones_of_model(leg, {})
        half = bones.surfaces[bones.segments.index("pelvis")].vertices
        assert half.shape == pelvis.shape and np.abs(half - pelvis).max() < 0.025
