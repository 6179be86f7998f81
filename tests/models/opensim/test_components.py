"""Targets of sockets: paths as OpenSim follows them; components wherever they are in the file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from joined_legs import OLD_PATH, offset_frame, with_components
from opensim_answers import answers, task
from refusals import refused
from small_model import TEXT, WRAP, muscle, point, save_model

from musclesolve import read_osim
from musclesolve.models.opensim import opensim_geometry
from musclesolve.models.opensim.kinematics import coordinate_values

FRAMES = offset_frame("spot", "..", 0.25) + offset_frame("nested", "../spot", 0.125)
ALIKE = with_components(offset_frame("spot", "/bodyset/talus_r", 0.5), FRAMES)


def attached_to(tmp_path: Path, socket: str, text: str = ALIKE):
    """The model with the first point of three_r attached to what a socket names."""
    first = "<socket_parent_frame>/bodyset/tibia_r</socket_parent_frame>\n<location>0 -0.2 0.1"
    assert text.count(first) == 1
    changed = text.replace(first, first.replace("/bodyset/tibia_r", socket))
    return read_osim(save_model(tmp_path, changed))


def place(model) -> tuple[str, float]:
    """Body, and place along x, of the first point of three_r."""
    frame = model.muscles["three_r"].points[0].frame
    return frame.body, float(frame.position[0])


@pytest.mark.parametrize(
    ("socket", "expected"),
    [
        ("/bodyset/femur_r", ("femur_r", 0.0)),
        ("/bodyset/femur_r/", ("femur_r", 0.0)),
        ("/bodyset/../bodyset/femur_r", ("femur_r", 0.0)),
        ("../../../../bodyset/femur_r", ("femur_r", 0.0)),
        ("/bodyset/femur_r/spot", ("femur_r", 0.25)),
        ("/bodyset/femur_r/nested", ("femur_r", 0.375)),
        ("/spot", ("talus_r", 0.5)),
        ("../../../../spot", ("talus_r", 0.5)),
        ("/jointset/knee_joint_r/parent_offset", ("femur_r", 0.01)),
        ("/jointset/ankle_r/parent_offset", ("tibia_r", 0.01)),
        ("/ground", ("ground", 0.0)),
    ],
)
def test_sockets(tmp_path: Path, socket: str, expected: tuple[str, float]) -> None:
    assert place(attached_to(tmp_path, socket)) == pytest.approx(expected)


@pytest.mark.parametrize(
    "socket",
    [
        "/bodyset/thigh_r",
        "/jointset/hip_r/spot",
        "../../../../../spot",
        "../femur_r",
        "spot",
        "femur_r",
        "parent_offset",
    ],
)
def test_what_leads_nowhere_or_to_several_is_refused(tmp_path: Path, socket: str) -> None:
    with refused("unknown_name", "line", socket):
        attached_to(tmp_path, socket)


@pytest.mark.parametrize(
    ("socket", "expected"), [("femur_r", ("femur_r", 0.0)), ("nested", ("femur_r", 0.375))]
)
def test_names_alone_before_version_4(tmp_path: Path, socket: str, expected: tuple[str, float]) -> None:
    """A name alone means a body, or the only frame of this name; OpenSim 4 refuses it in its own files, as we do."""
    old = ALIKE.replace('Version="40000"', 'Version="30516"')
    assert place(attached_to(tmp_path, socket, old)) == pytest.approx(expected)
    with refused("unknown_name", "2 frames", "spot"):
        attached_to(tmp_path, "spot", old)


@pytest.mark.thorough
def test_lengths_are_those_of_opensim(tmp_path: Path) -> None:
    """Frames called alike on several bodies, relative and nested."""
    for socket in ("/bodyset/femur_r/nested", "/spot", "../../../../bodyset/femur_r/spot"):
        same_lengths_as_opensim(attached_to(tmp_path, socket))


def same_lengths_as_opensim(model) -> None:
    """In one pose of all coordinates, of the muscles that OpenSim counts as such."""
    pose = {name: np.array([0.1 + 0.05 * k]) for k, name in enumerate(model.coordinates)}
    values = coordinate_values(model, pose)
    (answer,) = answers(task("muscles", model.file, list(model.coordinates), values))
    found = opensim_geometry(model, pose)
    lengths = dict(zip(found.muscles, found.length[0], strict=True))
    for name, (length, _) in answer["muscles"].items():
        assert lengths[name] == pytest.approx(length, abs=5e-5), name


def test_an_unsupported_frame_is_an_error_where_it_is_needed(tmp_path: Path) -> None:
    text = with_components('<CurvedFrame name="spot"/>')
    assert attached_to(tmp_path, "/bodyset/tibia_r", text).chosen()
    with refused("unsupported", "three_r"):
        attached_to(tmp_path, "/spot", text).chosen()


STATIONS = {"a": "0.01 0.02 0.03", "b": "0.05 0.12 -0.03", "c": "-0.02 0.3 0.1", "o": "0.1 -0.1 0.05"}


def station_frame(axes: tuple[str, str]) -> str:
    """A frame by stations on the femur."""
    stations = "".join(
        f'<Station name="{name}"><socket_parent_frame>/bodyset/femur_r</socket_parent_frame>'
        f"<location>{place}</location></Station>"
        for name, place in STATIONS.items()
    )
    sockets = "".join(f"<socket_point_{name}>/{name}</socket_point_{name}>" for name in "abc")
    return (
        f'{stations}<StationDefinedFrame name="spot">{sockets}<socket_origin_point>/o</socket_origin_point>'
        f"<ab_axis>{axes[0]}</ab_axis><ab_x_ac_axis>{axes[1]}</ab_x_ac_axis></StationDefinedFrame>"
    )


@pytest.mark.parametrize("axes", [("+x", "+y"), ("-z", "+x"), ("+y", "-z")])
def test_a_frame_by_stations(tmp_path: Path, axes: tuple[str, str]) -> None:
    """Its axes are along a to b and across the triangle, its origin a station; lengths are those of OpenSim."""
    model = attached_to(tmp_path, "/spot", with_components(station_frame(axes)))
    frame = model.muscles["three_r"].points[0].frame
    a, b, c, origin = (np.array(place.split(), float) for place in STATIONS.values())
    along, across = b - a, np.cross(b - a, c - a)
    for word, direction in zip(axes, (along, across), strict=True):
        column = frame.rotation[:, "xyz".index(word[1])] * (-1.0 if word[0] == "-" else 1.0)
        np.testing.assert_allclose(column, direction / np.linalg.norm(direction), atol=1e-12)
    assert np.linalg.det(frame.rotation) == pytest.approx(1.0)
    np.testing.assert_allclose(frame.position, origin)
    assert frame.body == "femur_r" and not model.unsupported
    same_lengths_as_opensim(model)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("/a<", "/nix<", ["unknown_name", "no station '/nix'"]),
        ("<ab_axis>+x", "<ab_axis>+y", ["bad_model", "define no frame"]),
        (STATIONS["c"], STATIONS["b"], ["bad_model", "define no frame"]),
    ],
)
def test_stations_that_define_no_frame_are_refused(
    tmp_path: Path, old: str, new: str, words: list[str]
) -> None:
    text = station_frame(("+x", "+y"))
    assert old in text
    with refused(*words):
        attached_to(tmp_path, "/spot", with_components(text.replace(old, new)))


@pytest.mark.thorough
def test_wrap_objects_called_alike(tmp_path: Path) -> None:
    """Muscles name them without their body: OpenSim takes the first body's, and so do we; it is said."""
    other = WRAP.replace("-0.03 -0.35 0", "-0.2 -0.35 0")
    for body, used in (("talus_r", -0.03), ("pelvis", -0.2)):
        twice = OLD_PATH.replace(
            f'<Body name="{body}">',
            f'<Body name="{body}"><WrapObjectSet><objects>{other}</objects></WrapObjectSet>',
        )
        model = read_osim(save_model(tmp_path, twice))
        assert model.surfaces["bump"].frame.position[0] == pytest.approx(used)
        assert any("bump" in note and body in note for note in model.notes)
        same_lengths_as_opensim(model)
    assert not read_osim(save_model(tmp_path)).notes


def test_components_of_the_model_are_read(tmp_path: Path) -> None:
    """A muscle, and the coupler, beside their sets."""
    four = muscle(
        "four_r", point("PathPoint", "pelvis", "0 0 0.1") + point("PathPoint", "femur_r", "0 -0.2 0")
    )
    start = OLD_PATH.index("<CoordinateCouplerConstraint")
    end = OLD_PATH.index("</ConstraintSet>")
    coupler = OLD_PATH[start:end].removesuffix("</objects>")
    moved = with_components(four + coupler, text=OLD_PATH.replace(coupler, ""))
    model = read_osim(save_model(tmp_path, moved))
    assert list(model.muscles) == ["one_r", "two_r", "three_r", "four_r"]
    assert [each.dependent for each in model.couplers] == ["beta_r"]
    same_lengths_as_opensim(model)
    with refused("duplicate_name", "one_r"):
        read_osim(save_model(tmp_path, with_components(four.replace("four_r", "one_r"))))


def test_a_muscle_without_its_optimal_length_has_the_usual_one(tmp_path: Path) -> None:
    text = TEXT.replace("<optimal_fiber_length>0.1</optimal_fiber_length>", "", 1)
    assert read_osim(save_model(tmp_path, text)).muscles["one_r"].optimal_fiber_length == 0.1


def test_axes_of_a_custom_joint_go_by_their_names(tmp_path: Path) -> None:
    names = [f"{kind}{k}" for kind in ("rotation", "translation") for k in (1, 2, 3)]
    parts = {name: _element(TEXT, f'<TransformAxis name="{name}">', "</TransformAxis>") for name in names}
    text = TEXT
    for name in names:
        text = text.replace(parts[name], "")
    shuffled = "".join(parts[name] for name in reversed(names))
    text = text.replace("</SpatialTransform>", f"{shuffled}</SpatialTransform>")
    found, usual = (read_osim(save_model(tmp_path, each)) for each in (text, TEXT))
    pose = {"knee_r": np.linspace(-1.0, 1.0, 5)}
    np.testing.assert_array_equal(opensim_geometry(found, pose).length, opensim_geometry(usual, pose).length)
    with refused("bad_format", "SpatialTransform", "rotation2"):
        read_osim(save_model(tmp_path, TEXT.replace('name="rotation2"', 'name="rotation9"')))


def _element(text: str, start: str, end: str) -> str:
    return text[text.index(start) : text.index(end, text.index(start)) + len(end)]
