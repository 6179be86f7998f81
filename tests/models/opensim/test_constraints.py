"""Constraints and joints that are not supported: right where they concern nobody, refused where they do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from refusals import refused
from small_model import COUPLER, TEXT, joint, save_model

from musclesolve import read_osim
from musclesolve._util.messages import WarningNote
from musclesolve.models.opensim.shared_choice import shared_choice


def weld(one: str, other: str, enforced: str = "true") -> str:
    """A weld between two bodies."""
    return f"""<WeldConstraint name="weld"><isEnforced>{enforced}</isEnforced>
<socket_frame1>/bodyset/{one}</socket_frame1><socket_frame2>/bodyset/{other}</socket_frame2></WeldConstraint>"""


def constrained(tmp_path: Path, constraint: str, text: str = TEXT):
    """The small model with one more constraint."""
    return read_osim(
        save_model(
            tmp_path, text.replace("<ConstraintSet><objects>", f"<ConstraintSet><objects>{constraint}")
        )
    )


def test_a_weld_that_muscles_cross(tmp_path: Path) -> None:
    """Between patella and tibia it ties the patella's coordinates and the knee."""
    model = constrained(tmp_path, weld("patella_r", "tibia_r"))
    with refused("unsupported", "one_r", "weld", "WeldConstraint"):
        model.chosen()
    assert [muscle.name for muscle in model.chosen(["three_r"])] == ["three_r"]
    assert shared_choice(model, dofs=["ankle_a_r"], muscles=["three_r"]).dofs == ("ankle_a_r",)
    with refused("unsupported", "weld", "knee_r"):
        shared_choice(model, dofs=["knee_r"], muscles=["two_r"])


@pytest.mark.parametrize(
    ("one", "other", "enforced"), [("patella_r", "tibia_r", "false"), ("tibia_r", "tibia_r", "true")]
)
def test_a_weld_that_does_nothing(tmp_path: Path, one: str, other: str, enforced: str) -> None:
    assert len(constrained(tmp_path, weld(one, other, enforced)).chosen()) == 3


def test_a_joint_that_closes_a_loop(tmp_path: Path) -> None:
    closing = joint("PinJoint", "rod_r", "femur_r", "talus_r", "rod_angle_r")
    model = read_osim(
        save_model(tmp_path, TEXT.replace("</objects></JointSet>", f"{closing}</objects></JointSet>"))
    )
    assert model.unsupported["constraint rod_r"] == "PinJoint"
    with refused("unsupported", "two_r", "rod_r"):
        model.chosen(["two_r"])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "<LinearFunction><coefficients>0.5 0.1</coefficients></LinearFunction>",
            "<ExpressionBasedFunction/>",
        ),
        (
            "<LinearFunction><coefficients>0.5 0.1</coefficients></LinearFunction>",
            "<Constant><value>0.2</value></Constant>",
        ),
    ],
)
def test_couplers_by_other_functions(tmp_path: Path, old: str, new: str) -> None:
    """A muscle to the patella needs it; the moment of the knee needs it too."""
    assert old in COUPLER
    model = read_osim(save_model(tmp_path, TEXT.replace(old, new)))
    assert [each.name for each in model.chosen(["two_r", "three_r"])] == ["two_r", "three_r"]
    with refused("unsupported", "one_r", "patella_r"):
        model.chosen(["one_r"])
    with refused("unsupported", "knee_r", "patella_r"):
        shared_choice(model, dofs=["knee_r"], muscles=["two_r"])


def test_a_driven_coordinate_that_is_locked(tmp_path: Path) -> None:
    text = TEXT.replace('<Coordinate name="beta_r">', '<Coordinate name="beta_r"><locked>true</locked>')
    with refused("unsupported", "one_r", "patella_r", "locked"):
        read_osim(save_model(tmp_path, text)).chosen(["one_r"])


def test_prescribed_coordinates(tmp_path: Path) -> None:
    """At a constant they are locked there; of a motion over time the values of the file are used."""
    start = '<Coordinate name="ankle_b_r">'
    prescribed = f"{start}<prescribed>true</prescribed><prescribed_function>{{}}</prescribed_function>"
    still = TEXT.replace(start, prescribed.format("<Constant><value>0.4</value></Constant>"))
    model = read_osim(save_model(tmp_path, still))
    assert model.coordinates["ankle_b_r"].locked and model.coordinates["ankle_b_r"].default == 0.4
    moving = read_osim(save_model(tmp_path, TEXT.replace(start, prescribed.format("<Sine/>"))))
    assert [muscle.name for muscle in moving.chosen(["three_r"])] == ["three_r"]
    choice = shared_choice(moving)
    assert "ankle_b_r" in shared_choice(read_osim(save_model(tmp_path, TEXT))).dofs
    assert "ankle_b_r" not in choice.dofs and "ankle_b_r" in choice.needed
    assert any("prescribes over time: ankle_b_r" in note for note in choice.notes)
    assert shared_choice(moving, ["ankle_b_r"]).dofs == ("ankle_b_r",)
    free = TEXT.replace(start, prescribed.format("<Sine/>").replace(">true<", ">false<"))
    assert len(read_osim(save_model(tmp_path, free)).chosen()) == 3


def test_coordinates_between_bodies(small) -> None:
    assert small.coordinates_between(["patella_r", "tibia_r"]) == {
        "knee_r",
        "beta_r",
        "slide_a_r",
        "slide_b_r",
    }
    assert small.coordinates_between(["tibia_r"]) == set()
    assert small.coordinates_between(["ground", "pelvis"]) == {"px", "py", "pz", "tx", "ty", "tz"}
    assert np.isfinite([each.default for each in small.coordinates.values()]).all()


def test_muscles_are_left_out_by_name(tmp_path: Path) -> None:
    """Also one whose path is not supported, which stops the choice of all muscles."""
    model = read_osim(save_model(tmp_path))
    choice = shared_choice(model, without_muscles=["two_r"])
    assert choice.names == ("one_r", "three_r")
    assert "Muscles left out as requested: two_r." in choice.notes
    with refused("unknown_name", "nix"):
        shared_choice(model, without_muscles=["nix"])
    with refused("conflict", "two_r", "left out"):
        shared_choice(model, muscles=["two_r"], without_muscles=["two_r"])
    start = TEXT.index('<GeometryPath name="path">', TEXT.index('"two_r"'))
    end = TEXT.index("</GeometryPath>", start) + len("</GeometryPath>")
    odd = read_osim(save_model(tmp_path, TEXT[:start] + '<OddPath name="path"/>' + TEXT[end:]))
    with refused("unsupported", "two_r", "--without-muscle two_r"):
        shared_choice(odd)
    assert shared_choice(odd, without_muscles=["two_r"]).names == ("one_r", "three_r")


@pytest.mark.parametrize("name", ["one_r_copy", "x2", "one_r_1"])
def test_copies_of_a_muscle_are_named(tmp_path: Path, name: str) -> None:
    start = TEXT.index('<Thelen2003Muscle name="one_r">')
    copy = TEXT[start : TEXT.index("</Thelen2003Muscle>", start)] + "</Thelen2003Muscle>"
    text = TEXT[:start] + copy.replace('"one_r"', f'"{name}"') + TEXT[start:]
    choice = shared_choice(read_osim(save_model(tmp_path, text)))
    (said,) = [note for note in choice.notes if "copies of one muscle" in note]
    assert isinstance(said, WarningNote) and name in said and "one_r" in said and "two_r" not in said
    other = shared_choice(
        read_osim(save_model(tmp_path, text.replace("0.05 -0.1 0.1", "0.05 -0.1 0.101", 1)))
    )
    assert not any(
        "copies" in note for note in (*other.notes, *shared_choice(read_osim(save_model(tmp_path))).notes)
    )
