"""Reading model files: what they hold, what is not supported, what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused
from small_model import FLEXION, FORWARD, TEXT, TURN, UP, ZERO, axis, save_model
from thorough import examples

from musclesolve import read_osim
from musclesolve._util.messages import WarningNote
from musclesolve.errors import InputError
from musclesolve.models.opensim import opensim_geometry
from musclesolve.models.opensim.leg_muscle_set import leg_muscle_set


def test_the_small_model(small) -> None:
    assert small.bodies == ("ground", "pelvis", "femur_r", "patella_r", "tibia_r", "talus_r")
    assert list(small.muscles) == ["one_r", "two_r", "three_r"]
    assert dict(small.unsupported) == {}
    assert small.surfaces["bump"].frame.body == "femur_r"
    one = small.muscles["one_r"]
    assert one.max_isometric_force == 900.0  # the defaults of the file
    assert one.curve["FmaxMuscleStrain"] == 0.5
    assert one.points[1].condition == ("knee_r", 0.2, 2.0)
    assert (small.muscles["two_r"].wraps[0].first, small.muscles["two_r"].wraps[0].last) == (1, 2)


def replaced(folder: Path, old: str, new: str) -> Path:
    assert old in TEXT
    return save_model(folder, TEXT.replace(old, new, 1))


def test_only_what_needs_the_unsupported_is_refused(tmp_path: Path) -> None:
    model = read_osim(
        save_model(
            tmp_path, TEXT.replace("WrapSphere", "WrapSphereObst").replace("UniversalJoint", "ScrewJoint")
        )
    )
    assert model.unsupported["wrap object bump"] == "WrapSphereObst"
    assert model.unsupported["joint ankle_r"] == "ScrewJoint"
    assert [muscle.name for muscle in model.chosen(["one_r"])] == ["one_r"]
    with refused("unsupported", "small.osim", "two_r", "bump", "WrapSphereObst", "talus_r"):
        model.chosen(["two_r"])
    with refused("unsupported", "three_r", "talus_r"):
        model.chosen(["three_r"])
    with refused("unknown_name", "four_r"):
        model.chosen(["four_r"])


def test_a_point_of_another_kind_is_refused_when_it_is_needed(tmp_path: Path) -> None:
    text = TEXT.replace("<ConditionalPathPoint", "<OddPoint").replace("</ConditionalPathPoint", "</OddPoint")
    model = read_osim(save_model(tmp_path, text))
    with refused("unsupported", "one_r", "OddPoint"):
        model.chosen(["one_r"])
    assert len(model.chosen(["two_r", "three_r"])) == 2


REFUSALS = [
    ("bad_format", "Model", "Muddle", ["line 2", "Model"]),
    ("bad_format", "</BodySet>", "", ["small.osim", "line"]),
    ("bad_format", '<?xml version="1.0" encoding="UTF-8" ?>', "<!DOCTYPE x [<!ENTITY a 'b'>]>", ["entities"]),
    ("bad_format", 'Version="40500"', 'Version="10904"', ["10904", "version 2"]),
    ("not_numbers", "0.05 -0.1 0.1", "0.05 x 0.1", ["location", "x"]),
    ("not_numbers", "<radius>0.04", "<radius>nan", ["radius", "nan"]),
    ("bad_format", "0.05 -0.1 0.1", "0.05 -0.1", ["location", "three numbers"]),
    ("bad_model", "<radius>0.04", "<radius>-0.04", ["bump"]),
    ("bad_model", "<x>-1 0 .5 1 2</x>", "<x>-1 0 0 1 2</x>", ["SimmSpline"]),
    ("bad_model", "<x>-1 0 .5 1 2</x>", "<x>0 .5 1 2</x>", ["SimmSpline", "4 x and 5 y"]),
    ("bad_model", "<coefficients>-1 0</coefficients>", "<coefficients>-1</coefficients>", ["coefficients"]),
    ("bad_model", "<optimal_fiber_length>0.1", "<optimal_fiber_length>-0.1", ["one_r", "optimal_fiber_length"]),
    ("bad_model", "UniversalJoint", "BallJoint", ["BallJoint", "ankle_r", "2 coordinates"]),
    ("bad_model", "<dependent_coordinate_name>beta_r", "<dependent_coordinate_name>knee_r", ["knee_r"]),
    ("unknown_name", "/bodyset/pelvis</socket_parent_frame>", "/bodyset/hips</socket_parent_frame>", ["hips"]),
    ("unknown_name", "<dependent_coordinate_name>beta_r", "<dependent_coordinate_name>gamma_r", ["gamma_r"]),
    ("unknown_name", "/jointset/knee_joint_r/knee_r", "/jointset/knee_joint_r/knie_r", ["knie_r"]),
    ("unknown_name", "<coordinates>knee_r</coordinates>", "<coordinates>hip_a_r</coordinates>", ["hip_a_r"]),
    ("bad_model", "<range>1 2</range>", "<range>2 2</range>", ["PathWrap", "2 to point 2"]),
    ("bad_model", "<range>1 2</range>", "<range>1 3</range>", ["PathWrap", "1 to point 3 of 2"]),
    ("bad_model", "<coordinates>knee_r</coordinates>", "<coordinates/>", ["coefficients", "0 coordinate"]),
    ("bad_model", "<coefficients>.1 .2 0</coefficients>", "<coefficients/>", ["no coefficients"]),
    ("bad_format", "<range>0.2 2</range>", "<range>0.2</range>", ["range", "two numbers"]),
    ("duplicate_name", 'Body name="tibia_r"', 'Body name="pelvis"', ["pelvis"]),
    ("duplicate_name", 'name="two_r"', 'name="one_r"', ["one_r"]),
    ("duplicate_name", '<Coordinate name="py">', '<Coordinate name="px">', ["px"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("code", "old", "new", "parts"), REFUSALS, ids=[f"{c}-{n[:25]}" for c, _, n, _ in REFUSALS]
)
def test_refusal(tmp_path: Path, code: str, old: str, new: str, parts: list[str]) -> None:
    text = TEXT.replace(old, new)
    assert text != TEXT
    with refused(code, "small.osim", *parts):
        read_osim(save_model(tmp_path, text))


@pytest.mark.parametrize("tag", ["translation", "mass_center", "default_value", "value"])
def test_a_place_that_no_body_reaches_is_refused(tmp_path: Path, tag: str) -> None:
    before, _, after = TEXT.partition(f"<{tag}>")
    number, _, rest = after.partition("<")
    far = " ".join(["1e21", *number.split()[1:]])
    with refused("bad_model", "line", "21"):
        read_osim(save_model(tmp_path, f"{before}<{tag}>{far}<{rest}"))


def test_an_axis_is_a_direction_of_any_length(tmp_path: Path) -> None:
    axis_of = "<axis>0 0 1</axis>"
    long, endless = (TEXT.replace(axis_of, f"<axis>0 0 {size}</axis>") for size in ("500", "1e200"))
    assert long != TEXT
    axes = [turn.axis for joint in read_osim(save_model(tmp_path, long)).joints for turn in joint.rotations]
    np.testing.assert_allclose(np.linalg.norm(axes, axis=1), 1.0)
    with refused("bad_model", "1e200"):
        read_osim(save_model(tmp_path, endless))


PIECES = st.sampled_from(
    ["", "nan", "-1", "1e999", "1 2", "true", "x", "<a/>", "</objects>", "knee_r", "9" * 400]
)


@settings(max_examples=examples(250), derandomize=True)
@given(data=st.data())
def test_any_damage_is_refused_properly_or_harmless(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    start = data.draw(st.sampled_from([k + 1 for k in range(len(TEXT)) if TEXT[k] == ">"]))
    stop = TEXT.find("<", start)
    if data.draw(st.booleans()):  # a whole element, so that it is missing
        stop = TEXT.find(">", start) + 1
    text = TEXT[:start] + data.draw(PIECES) + TEXT[max(stop, start) :]
    try:
        model = read_osim(save_model(tmp_path_factory.getbasetemp(), text))
        opensim_geometry(model, {"knee_r": np.array([0.1, 0.5])})
    except InputError as error:
        assert error.code


def test_a_path_of_one_point(tmp_path: Path) -> None:
    start = TEXT.index('<PathPoint name="p">', TEXT.index('name="three_r"'))
    stop = TEXT.index("</PathPoint>", start) + len("</PathPoint>")
    with refused("bad_model", "three_r", "1 point"):
        read_osim(save_model(tmp_path, TEXT[:start] + TEXT[stop:]))


def test_points_that_are_all_conditional(tmp_path: Path) -> None:
    """The insertion is on the path between 0.2 and 2 rad only."""
    condition = "<socket_coordinate>/jointset/knee_joint_r/knee_r</socket_coordinate><range>0.2 2</range>"
    start = TEXT.index('<PathPoint name="p">', TEXT.index('name="three_r"'))
    stop = TEXT.index("</PathPoint>", start)
    changed = (
        TEXT[start:stop].replace("PathPoint", "ConditionalPathPoint") + condition + "</ConditionalPathPoint>"
    )
    text = TEXT[:start] + changed + TEXT[stop + len("</PathPoint>") :]
    model = read_osim(save_model(tmp_path, text))
    assert opensim_geometry(model, {"knee_r": np.array([0.3])}).length.shape == (1, 3)
    with refused("bad_model", "three_r", "pose 1"):
        opensim_geometry(model, {"knee_r": np.array([0.3, 0.1])})


def test_files_that_are_no_models(tmp_path: Path) -> None:
    with refused("missing_file", "nowhere.osim"):
        read_osim(tmp_path / "nowhere.osim")
    with refused("unreadable_file", str(tmp_path)):
        read_osim(tmp_path)
    (tmp_path / "binary.osim").write_bytes(b"\x89PNG\0\0")
    with refused("bad_format", "binary.osim", "line 1"):
        read_osim(tmp_path / "binary.osim")


@pytest.mark.parametrize(
    "name", ["gait2392", "hamner_2010", "arm26", "rajagopal_2016", "rajagopal_lai_uhlrich_2023"]
)
def test_public_models_are_supported_in_full(public_model, name: str) -> None:
    model = public_model(name)
    assert dict(model.unsupported) == {}
    assert len(model.chosen()) == len(model.muscles) > 0


def test_values_of_a_public_model(public_model) -> None:
    """Printed in the file of Rajagopal, Lai and Uhlrich."""
    muscle = public_model("rajagopal_lai_uhlrich_2023").muscles["gasmed_r"]
    assert muscle.max_isometric_force == pytest.approx(3115.5147540983598)
    assert muscle.curve["FiberForceLengthCurve.strain_at_one_norm_force"] == pytest.approx(
        0.55063596225627487
    )
    assert [wrap.surface for wrap in muscle.wraps] == ["GasMed_at_shank_r", "GasMed_at_condyles_r"]
    np.testing.assert_allclose(muscle.points[0].location, [0.006, -0.385, -0.022])


def test_entities_are_never_expanded(tmp_path: Path) -> None:
    """Neither one that grows without end nor one that names another file."""
    secret = tmp_path / "secret.txt"
    secret.write_text("words of another file", encoding="utf-8")
    bomb = "".join(f"<!ENTITY e{k + 1} '{f'&e{k};' * 10}'>" for k in range(40))
    kinds = {
        "bomb": f"<!DOCTYPE x [<!ENTITY e0 'ha'>{bomb}]>",
        "file": f"<!DOCTYPE x [<!ENTITY e40 SYSTEM '{secret.as_uri()}'>]>",
        "parameter": f"<!DOCTYPE x [<!ENTITY % e SYSTEM '{secret.as_uri()}'> %e;]>",
        "network": "<!DOCTYPE x [<!ENTITY e40 SYSTEM 'http://127.0.0.1:9/x'>]>",
    }
    for declaration in kinds.values():
        text = TEXT.replace("?>", f"?>{declaration}", 1).replace("nobody", "&e40;")
        with refused("bad_format", "small.osim", "entities") as raised:
            read_osim(save_model(tmp_path, text))
        assert "words" not in str(raised.value)


def test_a_document_type_of_another_file_is_not_fetched(tmp_path: Path) -> None:
    text = TEXT.replace("?>", "?><!DOCTYPE x SYSTEM 'http://127.0.0.1:9/x.dtd'>", 1)
    assert len(read_osim(save_model(tmp_path, text)).muscles) == 3
    with refused("bad_format", "small.osim", "line", "entities"):
        read_osim(save_model(tmp_path, text.replace("nobody", "&e;")))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "small.osim"
    text = TEXT.replace("UTF-8", encoding.removesuffix("-sig")).replace("nobody", "Zo\u00eb")
    path.write_bytes(text.encode(encoding))
    assert read_osim(path).credits == "Zo\u00eb"


@pytest.mark.parametrize(
    ("code", "declared"),
    [("bad_format", "UTF-8"), ("bad_encoding", "no-such-code"), ("bad_encoding", "UTF-32")],
)
def test_an_encoding_that_is_not_the_declared_one(tmp_path: Path, code: str, declared: str) -> None:
    path = tmp_path / "small.osim"
    path.write_bytes(TEXT.replace("UTF-8", declared).replace("nobody", "Zo\u00eb").encode("iso-8859-1"))
    with refused(code, "small.osim", "line"):
        read_osim(path)


@settings(max_examples=60, derandomize=True)
@given(length=st.integers(0, len(TEXT) - 20))
def test_truncated_files(length: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    with refused("bad_format", "small.osim"):
        read_osim(save_model(tmp_path_factory.getbasetemp(), TEXT[:length]))


def test_joints_in_a_circle_are_listed_and_refused_where_needed(tmp_path: Path) -> None:
    """The femur hangs on the talus, which hangs on the femur by way of the tibia."""
    start = TEXT.index('<BallJoint name="hip_r">')
    text = TEXT[:start] + TEXT[start:].replace("/bodyset/pelvis", "/bodyset/talus_r", 1)
    model = read_osim(save_model(tmp_path, text))
    assert {"joint hip_r", "joint knee_joint_r", "joint ankle_r", "body femur_r"} <= set(model.unsupported)
    with refused("unsupported", "three_r", "talus_r"):
        model.chosen(["three_r"])


def test_frames_in_a_circle(tmp_path: Path) -> None:
    frames = "".join(
        f'<PhysicalOffsetFrame name="{own}"><socket_parent>{other}</socket_parent></PhysicalOffsetFrame>'
        for own, other in (("a", "/b"), ("b", "../a"))
    )
    text = TEXT.replace("<credits>", f"<components>{frames}</components><credits>")
    text = text.replace("<socket_parent>/bodyset/talus_r", "<socket_parent>/a")
    with refused("bad_model", "small.osim", "circle"):
        read_osim(save_model(tmp_path, text))


def test_forces_that_are_left_out_are_listed(tmp_path: Path) -> None:
    more = (
        '<Ligament name="acl"/><CoordinateActuator name="reserve"/>'
        '<BushingForce name="pad"><appliesForce>false</appliesForce></BushingForce>'
        '<Millard2012EquilibriumMuscle name="fitted"><optimal_fiber_length>0.1</optimal_fiber_length>'
        '<FunctionBasedPath name="path"/></Millard2012EquilibriumMuscle>'
    )
    text = TEXT.replace("<ForceSet><objects>", f"<ForceSet><objects>{more}")
    model = read_osim(save_model(tmp_path, text))
    assert dict(model.unsupported) == {"force acl": "Ligament", "path of fitted": "FunctionBasedPath"}
    assert len(model.chosen(["one_r", "two_r", "three_r"])) == 3
    for names in (None, ["fitted"]):
        with refused("unsupported", "fitted", "FunctionBasedPath"):
            model.chosen(names)


def test_curves_of_de_groote(tmp_path: Path) -> None:
    strain = "<passive_fiber_strain_at_one_norm_force>0.7</passive_fiber_strain_at_one_norm_force>"
    text = TEXT.replace("Thelen2003Muscle", "DeGrooteFregly2016Muscle").replace(
        "<optimal_fiber_length>", f"{strain}<optimal_fiber_length>"
    )
    curve = read_osim(save_model(tmp_path, text)).muscles["two_r"].curve
    assert curve["passive_fiber_strain_at_one_norm_force"] == 0.7
    assert curve["tendon_strain_at_one_norm_force"] == 0.049


@pytest.mark.parametrize(
    ("kind", "parameter", "strain"),
    [
        ("Thelen2003Muscle", "", 0.04),
        ("Thelen2003Muscle", "<FmaxTendonStrain>0.033</FmaxTendonStrain>", 0.033),
        ("Millard2012EquilibriumMuscle", "", 0.049),
        (
            "Millard2012EquilibriumMuscle",
            "<TendonForceLengthCurve><strain_at_one_norm_force>0.1</strain_at_one_norm_force></TendonForceLengthCurve>",
            0.1,
        ),
        ("DeGrooteFregly2016Muscle", "", 0.049),
        (
            "DeGrooteFregly2016Muscle",
            "<tendon_strain_at_one_norm_force>0.06</tendon_strain_at_one_norm_force>",
            0.06,
        ),
    ],
)
def test_strains_of_tendons(tmp_path: Path, kind: str, parameter: str, strain: float) -> None:
    """Numbers of the file, or the defaults of OpenSim; sets made of the model have them."""
    text = TEXT.replace("Thelen2003Muscle", kind)
    text = text.replace("<optimal_fiber_length>", f"{parameter}<optimal_fiber_length>")
    path = save_model(tmp_path, text)
    assert {each.tendon_strain for each in read_osim(path).muscles.values()} == {strain}
    assert {each.tendon_strain for each in leg_muscle_set(path)} == {strain}


def test_angles_lengths_and_coupled_coordinates(public_model) -> None:
    """Coordinates that OpenSim converts from degrees, and others."""
    coordinates = public_model("rajagopal_2016").coordinates
    others = [name for name, each in coordinates.items() if not each.rotational]
    assert others == ["pelvis_tx", "pelvis_ty", "pelvis_tz", "knee_angle_r_beta", "knee_angle_l_beta"]


LINEAR = "<LinearFunction><coefficients>{} 0.1</coefficients></LinearFunction>"
TWICE = f"<MultiplierFunction><scale>2</scale><function>{LINEAR.format(1)}</function></MultiplierFunction>"


@pytest.mark.parametrize(
    ("turn", "shift", "is_angle"),
    [
        (LINEAR.format(1), ZERO, True),
        (LINEAR.format(-1), FORWARD, True),
        (LINEAR.format(1), LINEAR.format(2), True),
        (LINEAR.format(2), ZERO, False),
        (TWICE, ZERO, False),
        (TURN, ZERO, False),
        (LINEAR.format(1), LINEAR.format(1), False),
        (ZERO, FORWARD, False),
    ],
)
def test_which_coordinates_are_angles(tmp_path: Path, turn: str, shift: str, is_angle: bool) -> None:
    """The motion type of OpenSim 4.6 for these functions of one coordinate: it converts rotational ones alone."""
    parts = {"rotation1": turn, "translation1": shift}
    text = TEXT
    for name, function in {
        "rotation1": FLEXION,
        "rotation2": TURN,
        "translation1": FORWARD,
        "translation2": UP,
    }.items():
        start = text.index(f'<TransformAxis name="{name}"><coordinates>knee_r')
        text = text[:start] + text[start:].replace(function, parts.get(name, ZERO), 1)
    assert read_osim(save_model(tmp_path, text)).coordinates["knee_r"].rotational is is_angle


@pytest.mark.parametrize("inertia", ["0.7 0.03 0.05 0.001", "0.07 0.03 0.05 0.046"])
def test_moments_of_inertia_that_no_body_has_are_noted(tmp_path: Path, inertia: str) -> None:
    """Also where the least one is below zero by 0.2 % of the greatest, as in a published model."""
    assert not read_osim(save_model(tmp_path)).notes
    text = TEXT.replace("<inertia>0.07 0.03 0.05 0.001", f"<inertia>{inertia}")
    model = read_osim(save_model(tmp_path, text))
    (note,) = model.notes
    assert "tibia_r" in note and "inertia" in note and not model.mass_faults


def test_unassigned_units_and_empty_elements_are_the_defaults(tmp_path: Path) -> None:
    """As OpenSim's own programs write and read them: lengths are in meters, and an empty element states nothing."""
    plain = read_osim(save_model(tmp_path))
    start = '<Coordinate name="ankle_b_r">'
    text = TEXT.replace(start, f"{start}<range></range><default_value/>")
    name = text[text.index("<Model ") :].partition(">")[0]
    text = text.replace(f"{name}>", f"{name}><length_units>Unassigned</length_units><gravity/>", 1)
    read = read_osim(save_model(tmp_path, text))
    assert read.coordinates["ankle_b_r"].upper == np.inf and (read.gravity == plain.gravity).all()


def test_a_muscle_without_strength_is_left_out_with_a_warning(tmp_path: Path) -> None:
    read = read_osim(save_model(tmp_path))
    muscle = f'name="{next(iter(read.muscles))}">'
    start = TEXT.index(muscle) + len(muscle)
    text = f"{TEXT[:start]}<max_isometric_force>0.0</max_isometric_force>{TEXT[start:]}"
    weak = read_osim(save_model(tmp_path, text))
    assert list(weak.muscles) == list(read.muscles)[1:]
    (warning,) = (note for note in weak.notes if isinstance(note, WarningNote))
    assert next(iter(read.muscles)) in warning and "no strength" in warning


def test_two_coordinates_about_one_axis_are_refused(tmp_path: Path) -> None:
    turning = axis("rotation3", "", "1 0 0", ZERO)
    again = axis("rotation3", "more_r", "0 1 0", FLEXION)
    text = TEXT.replace(turning, again).replace(
        '<Coordinate name="knee_r">', '<Coordinate name="more_r"/><Coordinate name="knee_r">'
    )
    with refused("bad_model", "knee_r, more_r", "same axis"):
        read_osim(save_model(tmp_path, text))


def test_commas_between_numbers_are_read_as_opensim_reads_them(tmp_path: Path) -> None:
    usual = read_osim(save_model(tmp_path))
    text = re.sub(r"<location>([^<]*)", lambda found: f"<location>{', '.join(found[1].split())}", TEXT)
    assert text != TEXT
    model = read_osim(save_model(tmp_path, text))
    for name, muscle in usual.muscles.items():
        for point, same in zip(muscle.points, model.muscles[name].points, strict=True):
            np.testing.assert_array_equal(same.location, point.location)


def test_a_label_of_units_that_the_numbers_contradict_is_noted(tmp_path: Path) -> None:
    """OpenSim ignores the label: a model in meters stays one, and a model in inches is refused."""
    labelled = TEXT.replace("<BodySet>", "<length_units>mm</length_units><BodySet>")
    model = read_osim(save_model(tmp_path, labelled))
    (note,) = model.notes
    assert "states lengths in mm; its places, of at most 0.4, are read as meters" in note
    np.testing.assert_array_equal(
        model.muscles["three_r"].points[0].location,
        read_osim(save_model(tmp_path)).muscles["three_r"].points[0].location,
    )
    inches = labelled.replace("mm</length", "inches</length").replace("0.01 -0.4 0.02", "0.4 -16 0.8")
    with refused("bad_units", "inches", "reach 16"):
        read_osim(save_model(tmp_path, inches))
