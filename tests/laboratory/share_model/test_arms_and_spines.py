"""Models without legs, and the trunk of a whole body: units, words, axes of the joints, and what loads do not touch."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from command_line import typed
from forearm_model import MASS, save_forearm
from measured_model import measured_model
from synthetic_result import result as synthetic_result

import musclesolve as ms
from musclesolve.apps.desk.result_facts import result_facts
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.laboratory.checks.model.examine import findings_of_body
from musclesolve.laboratory.plotting.page.chart_figure import CHARTS
from musclesolve.laboratory.report.content.trial_sections import contact
from musclesolve.laboratory.report.inputs import read_inputs
from musclesolve.laboratory.report.page import report_page
from musclesolve.laboratory.report.sections import headline
from musclesolve.laboratory.results.dataset.model_labels import _mass_attributes, is_of_spine, limit_of_person
from musclesolve.laboratory.results.facts import Facts
from musclesolve.laboratory.results.tables.comparison_tables import (
    ComparisonFacts,
    agreement,
    comparison_tables,
    valid_of,
)
from musclesolve.models.opensim.inverse_dynamics import inverse_dynamics
from musclesolve.models.opensim.load_dynamics import whole_motion
from musclesolve.studies import contributions
from musclesolve.tables import Table, write_mot

TIME = np.linspace(0.0, 1.0, 101)
OF_LEGS = re.compile(
    r"\b(hips?|implants?|walk\w*|heel|strides?|legs?|body weights?|soleus|gastrocnemius|stance)\b"
)


def raised(path: Path) -> Path:
    """A forearm that is raised and lowered again."""
    angle = 0.6 - 0.3 * np.cos(2.0 * np.pi * TIME)
    write_mot(path, Table(TIME, ("flexion",), angle[:, None], False, Path()))
    return path


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of the result of a forearm, and what the command prints."""
    folder = tmp_path_factory.mktemp("arm")
    inputs = ["--model", save_forearm(folder), "--coordinates", raised(folder / "ik.mot")]
    done = typed("share", *inputs, "--loads", "none", "-o", folder / "out")
    assert done.exit_code == 0, done.output
    return folder / "out", done.output


def save_trial(arm: tuple[Path, str]) -> Path:
    """Write a trial file for the forearm."""
    model, motion = arm[0].parent / "arm.osim", arm[0].parent / "ik.mot"
    trial = arm[0].parent / "trial.toml"
    trial.write_text(
        f'[files]\nmodel = "{model}"\ncoordinates = "{motion}"\nloads = "none"\n', encoding="utf-8"
    )
    return trial


def result_of(arm: tuple[Path, str]) -> xr.Dataset:
    return ms.read_result(arm[0] / "result.nc")


def test_joint_forces_of_a_part_of_a_person_are_in_newtons(arm: tuple[Path, str]) -> None:
    result, output = result_of(arm), " ".join(arm[1].split())
    assert result.attrs["model_mass_kg"] == MASS and "subject_mass_kg" not in result.attrs
    peak = float(np.linalg.norm(result["joint_reaction"][:, 0], axis=1).max())
    assert f"The largest joint forces are, in newtons, {peak:.0f} (elbow)." in output
    assert f"peaks: elbow {peak:.0f} N" in output


def test_the_page_of_an_arm_has_no_words_of_legs(arm: tuple[Path, str]) -> None:
    page = (arm[0] / "report.html").read_text(encoding="utf-8")
    words = re.sub(r"<(script|style)[\s\S]*?</\1>", "", page)
    words = re.sub(r"<[^>]+>", " ", words[: words.index("Provenance of this trial</h")])
    words = re.sub(r"S, F, B, R: side, front, back, reset", "", words)
    assert OF_LEGS.findall(words.lower()) == [], [
        words[m.start() - 40 : m.end() + 20] for m in OF_LEGS.finditer(words.lower())
    ]
    assert "mass of the model" in words and "elbow: contact force, muscles included" in words


def test_the_page_of_several_arms_has_their_joints_in_newtons(arm: tuple[Path, str], tmp_path: Path) -> None:
    """An arm has no ground force, no right and left strip of verdicts, and no side in a table of costs."""
    path = arm[0] / "result.nc"
    other = Path(shutil.copy(path, tmp_path / "other.nc"))
    page = report_page(read_inputs([path, other]))
    assert "elbow peak [N]" in page and "valid frames" in page
    for words in (
        "leg-frames",
        "[BW]",
        "No ground force",
        "right side above left",
        "distance of every measured point",
    ):
        assert words not in page
    comparison = ms.compare(save_trial(arm), costs=["force_squared", "activation_power"])
    assert not [title for title in comparison_tables(comparison) if "other" in title]


def test_page_and_desk_show_the_peak_of_an_arm_in_newtons(arm: tuple[Path, str]) -> None:
    (row,) = result_facts(arm[0] / "result.nc").contact
    peak = float(np.linalg.norm(result_of(arm)["joint_reaction"][:, 0], axis=1).max())
    assert (row["name"], row["leg"], row["bw"], row["newton"]) == ("elbow", "", None, round(peak))
    trial = read_inputs([arm[0] / "result.nc"]).trials[0]
    (tile,) = headline(trial.facts, trial.table).contact
    assert (tile["joint"], tile["unit"], str(tile["legs"][0][1])) == ("elbow", "N", f"{peak:.0f}")
    table = contact(trial)["tables"][0]
    assert table.columns == ("joint", "side", "peak [N]", "at [s]")
    assert len(table.rows[0]) == len(table.columns) and table.rows[0][2] == tile["legs"][0][1].text


def test_a_stated_mass_of_the_person_gives_body_weights(tmp_path: Path) -> None:
    motion = {"time": TIME, "flexion": np.full(101, 0.5)}
    result = ms.share_model(save_forearm(tmp_path), motion, loads="none", mass_kg=70.0)
    assert result.attrs["subject_mass_kg"] == 70.0
    path = tmp_path / "result.nc"
    result.to_netcdf(path)
    page = report_page(read_inputs([path]))
    peak = float(np.linalg.norm(result["joint_reaction"][:, 0], axis=1).max())
    assert f"{peak / (70.0 * STANDARD_GRAVITY):.2f}" in page and "peak [body weights]" in page


def test_forces_are_also_along_the_axes_of_the_joint(arm: tuple[Path, str]) -> None:
    """The frame of this elbow on the ground has the axes x forward, y up, z right."""
    result = result_of(arm)
    along = result["joint_axis_force"].values[:, 0]
    forward, left, up = result["joint_reaction"].values[:, 0].T
    np.testing.assert_allclose(along, np.stack([forward, up, -left], axis=1), rtol=1e-6, atol=1e-9)
    assert result["joint_axis_words"].values[0].tolist() == ["x of ground", "y of ground", "z of ground"]


WHOLE = """<?xml version="1.0"?><OpenSimDocument Version="40000"><Model name="whole"><gravity>0 -9.80665 0</gravity>
<Ground name="ground"/><BodySet><objects>{bodies}</objects></BodySet><JointSet><objects>
<FreeJoint name="ground_pelvis"><socket_parent_frame>a</socket_parent_frame><socket_child_frame>b</socket_child_frame>
<coordinates>{free}</coordinates><frames>{root}</frames></FreeJoint>{joints}</objects></JointSet>
<ForceSet><objects>{muscles}</objects></ForceSet></Model></OpenSimDocument>"""
BODY = """<Body name="{0}"><mass>{1}</mass><mass_center>0 {2} 0</mass_center><inertia>{3} {3} {3} 0 0 0</inertia>
</Body>"""
FRAME = """<PhysicalOffsetFrame name="{0}"><socket_parent>{1}</socket_parent><translation>{2}</translation>
</PhysicalOffsetFrame>"""
PIN = """<PinJoint name="{0}"><socket_parent_frame>a</socket_parent_frame><socket_child_frame>b</socket_child_frame>
<coordinates><Coordinate name="{0}_flexion"><range>-2 2</range></Coordinate></coordinates><frames>{1}</frames>
</PinJoint>"""
POINT = """<PathPoint name="{0}"><socket_parent_frame>/bodyset/{1}</socket_parent_frame><location>{2}</location>
</PathPoint>"""
MUSCLE = """<Thelen2003Muscle name="{0}"><GeometryPath><PathPointSet><objects>{1}</objects></PathPointSet>
</GeometryPath><max_isometric_force>4000</max_isometric_force><optimal_fiber_length>0.12</optimal_fiber_length>
<tendon_slack_length>0.2</tendon_slack_length></Thelen2003Muscle>"""
FREE = ("rx", "ry", "rz", "tx", "ty", "tz")


def save_whole(folder: Path) -> Path:
    """A pelvis that moves freely, a trunk on it with two muscles, and two feet, the right one with two muscles."""
    masses = {"pelvis": (12.0, 0.0, 0.1), "torso": (40.0, 0.3, 1.5), "calcn_r": (10.0, -0.5, 0.5)}
    masses["calcn_l"] = masses["calcn_r"]
    joints = {"back": ("pelvis", "0 0.1 0", "torso")}
    joints |= {f"hip_{side}": ("pelvis", "0 -0.1 0", f"calcn_{side}") for side in "rl"}
    muscles = {}
    for name, body, far in (("erector", "torso", 0.25), ("extensor_r", "calcn_r", -0.25)):
        for x, which in ((-0.05, name), (0.05, f"{name}2")):
            muscles[which] = POINT.format("p", "pelvis", f"{x} 0 0") + POINT.format("q", body, f"{x} {far} 0")
    path = folder / "whole.osim"
    path.write_text(
        WHOLE.format(
            bodies="".join(BODY.format(name, *numbers) for name, numbers in masses.items()),
            free="".join(f'<Coordinate name="pelvis_{name}"/>' for name in FREE),
            root=FRAME.format("a", "/ground", "0 0 0") + FRAME.format("b", "/bodyset/pelvis", "0 0 0"),
            joints="".join(
                PIN.format(
                    name,
                    FRAME.format("a", f"/bodyset/{inner}", place)
                    + FRAME.format("b", f"/bodyset/{outer}", "0 0 0"),
                )
                for name, (inner, place, outer) in joints.items()
            ),
            muscles="".join(MUSCLE.format(name, points) for name, points in muscles.items()),
        ),
        encoding="utf-8",
    )
    return path


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, np.ndarray]]:
    """A person who leans forward and back on both feet."""
    motion = {f"pelvis_{name}": np.zeros(101) for name in FREE} | {"pelvis_ty": np.full(101, 1.0)}
    motion |= {"back_flexion": -0.3 + 0.2 * np.cos(2.0 * np.pi * TIME)}
    motion |= {f"hip_{side}_flexion": 0.05 * np.sin(2.0 * np.pi * TIME) for side in "rl"}
    return save_whole(tmp_path_factory.mktemp("whole")), {"time": TIME} | motion


def test_ground_reactions_that_touch_no_shared_moment_are_no_cause(
    whole: tuple[Path, dict[str, np.ndarray]],
) -> None:
    """Without any force under the feet the trunk has its moments, but the right leg has not."""
    model, motion = whole
    trunk = ms.share_model(model, motion, loads="none", dofs=["back_flexion"])
    assert trunk["valid"].values.all() and "root_residual_n" not in trunk.attrs
    assert trunk.attrs["subject_mass_kg"] == 72.0 and "balanced" not in trunk
    assert trunk["joint_axis_words"].values[0].tolist() == [
        *("shear forward (+)", "compression (+)", "shear to the right (+)")
    ]
    along = trunk["joint_axis_force"].values[:, 0]
    assert along[:, 1].min() > 40.0 * STANDARD_GRAVITY  # the trunk and the muscles that hold it

    def errors(dofs: list[str]) -> set[str]:
        found = findings_of_body(measured_model(model, motion, loads="none", dofs=dofs))
        return {each.code for each in found if each.severity == "error"}

    assert errors(["back_flexion"]) == set()
    assert errors(["back_flexion", "hip_r_flexion"]) == {"contact_without_force"}


def test_a_stated_mass_is_compared_with_the_mass_of_the_model(
    whole: tuple[Path, dict[str, np.ndarray]], tmp_path: Path
) -> None:
    """The model has 72 kg; a part of a person may be lighter than the person, not heavier."""

    def found(model: Path, motion: dict[str, np.ndarray], mass: float, **options: list[str]) -> set[str]:
        body = measured_model(model, motion, loads="none", mass_kg=mass, **options)
        return {each.code for each in findings_of_body(body) if each.code.startswith("mass")}

    model, motion = whole
    assert found(model, motion, 60.0, dofs=["back_flexion"]) == {"mass"}
    assert found(model, motion, 72.5, dofs=["back_flexion"]) == set()
    arm, bent = save_forearm(tmp_path), {"time": TIME, "flexion": np.full(101, 0.5)}
    assert found(arm, bent, 1.0) == {"mass"}
    assert found(arm, bent, 1.49) == set()  # a mass that is rounded
    assert found(arm, bent, 70.0) == set()


def test_a_stated_mass_leaves_the_share_of_the_residual(stride_result: xr.Dataset) -> None:
    """The limit is stored in body weights of the person: the residual keeps its share of the peak ground force."""
    attributes = _mass_attributes(60.0, ["calcn_r", "calcn_l"], 80.0)
    assert attributes == {"subject_mass_kg": 60.0, "model_mass_kg": 80.0}
    base = {"root_residual_rms_n": 43.0, "root_residual_moment_rms_nm": 10.0, "root_height_m": 1.0}
    plain = stride_result.drop_vars("pelvis_residual", errors="ignore")
    plain.attrs = {name: value for name, value in plain.attrs.items() if name != "balance_limit"}
    for bound in (0.25, 0.5, None):
        shares = []
        for person in (80.0, 60.0, 8.0):
            limit = {} if bound is None else {"balance_limit": limit_of_person(bound, 80.0, person)}
            masses = {"subject_mass_kg": person, "model_mass_kg": 80.0}
            facts = Facts(plain.assign_attrs(base | masses | limit))
            shares.append((facts.residual_share, facts.residual_moment_share))
        np.testing.assert_allclose(shares, [shares[0]] * 3)
        peak = 80.0 * STANDARD_GRAVITY * (1.0 if bound is None else bound / 0.25)
        np.testing.assert_allclose(shares[0], [43.0 / peak, 10.0 / peak])


def test_a_weight_at_the_root_accuses_the_legs_alone(
    whole: tuple[Path, dict[str, np.ndarray]], tmp_path: Path
) -> None:
    model, motion = whole
    body = measured_model(model, motion, loads="none", dofs=["back_flexion"])
    dynamics = inverse_dynamics(body.model, whole_motion(body.model, body.every_motion))
    names = tuple(
        f"{name}_{'moment' if one.rotational else 'force'}" for name, one in body.model.coordinates.items()
    )
    write_mot(tmp_path / "id.sto", Table(TIME, names, dynamics.joint_force, False, Path()))

    def errors(dofs: list[str]) -> set[str]:
        found = findings_of_body(measured_model(model, motion, tmp_path / "id.sto", dofs=dofs))
        return {each.code for each in found if each.severity == "error"}

    assert errors(["back_flexion"]) == set()
    assert errors(["back_flexion", "hip_r_flexion"]) == {"root_carries"}


def test_costs_are_compared_on_muscles_of_no_side(arm: tuple[Path, str]) -> None:
    result = ms.compare(save_trial(arm), ["force_squared", "stress_cubed"])
    peaks = ComparisonFacts(result).peaks("function_group")
    assert [str(name) for name in result["function_group"].values] == ["elbow"]
    assert np.isfinite(peaks).all()
    assert any("function groups" in heading for heading in comparison_tables(result))


def test_muscles_with_sides_have_the_frames_of_a_trunk_without() -> None:
    names, costs = ["a_r", "a_l", "b"], ["one", "two"]
    force = np.arange(12.0).reshape(2, 2, 3) + 1.0
    valid = np.array([[[True], [False]], [[True], [True]]])
    compared = xr.Dataset(
        {
            "muscle_force": (("cost", "time", "muscle"), force),
            "valid": (("cost", "time", "side"), valid),
            "group": ("muscle", ["back", "back", "back"]),
            "muscle_side": ("muscle", ["other"] * 3),
        },
        {"cost": costs, "muscle": names, "side": ["other"]},
    )
    compared = compared.assign(agreement(compared))
    assert [str(name) for name in compared["function_group"].values] == ["back_r", "back_l", "back"]
    for dim in ("muscle", "function_group"):
        np.testing.assert_array_equal(valid_of(compared, dim).values, np.repeat(valid, 3, axis=2))
    np.testing.assert_allclose(compared["rms_difference"].sel(cost="one", other="two").values, 6.0)


def test_a_model_without_feet_has_no_contributions(arm: tuple[Path, str]) -> None:
    trial = save_trial(arm)
    with pytest.raises(ms.InputError, match="has no feet") as caught:
        contributions(trial)
    assert "forearm" in str(caught.value)


def test_words_of_a_spine_are_turned_round_where_the_lower_body_is_the_distal_one(tmp_path: Path) -> None:
    """A sacrum that hangs from the trunk pulls the joint apart."""
    hung = "".join(
        POINT.format("p", "torso", f"{x} 0 0") + POINT.format("q", "sacrum", f"{x} -0.25 0") for x in (0.05,)
    )
    back = FRAME.format("a", "/bodyset/torso", "0 -0.1 0") + FRAME.format("b", "/bodyset/sacrum", "0 0 0")
    path = tmp_path / "hung.osim"
    path.write_text(
        WHOLE.format(
            bodies=BODY.format("torso", 40.0, 0.3, 1.5) + BODY.format("sacrum", 12.0, -0.1, 0.1),
            free="".join(f'<Coordinate name="torso_{name}"/>' for name in FREE),
            root=FRAME.format("a", "/ground", "0 0 0") + FRAME.format("b", "/bodyset/torso", "0 0 0"),
            joints=PIN.format("back", back),
            muscles=MUSCLE.format("front", hung) + MUSCLE.format("rear", hung.replace("0.05 ", "-0.05 ")),
        ),
        encoding="utf-8",
    )
    motion = (
        {"time": TIME} | {f"torso_{name}": np.zeros(101) for name in FREE} | {"back_flexion": np.zeros(101)}
    )
    result = ms.share_model(path, motion, loads="none", dofs=["back_flexion"])
    assert result["joint_axis_words"].values[0].tolist() == [
        *("shear backward (+)", "tension (+)", "shear to the left (+)")
    ]
    net = result["joint_axis_force"].values[:, 0, 1] + result["muscle_force"].values.sum(axis=1)
    np.testing.assert_allclose(net, 12.0 * STANDARD_GRAVITY, rtol=0.02)


@pytest.mark.parametrize(
    "name",
    "back neck head_neck back_joint L5_S1 L5S1 S1_L5 L5_S1_IVDjnt T12L1_IVDjnt c7t1 lumbosacral lumbar cervical "
    "thoracic thoracolumbar spine intervertebral_3 T1_head_neck L4".split(),
)
def test_joints_of_a_spine_are_known_by_name(name: str) -> None:
    assert is_of_spine(name)


@pytest.mark.parametrize(
    "name",
    "T1_r1R_CVjnt T12_r12L_CVjnt scapula_spine backpack femoral_neck scapulothoracic sacroiliac_r lumbrical_2 "
    "carpometacarpal inverted_pendulum acromioclavicular hip_r elbow L_hip L5_S1_facet_l".split(),
)
def test_other_joints_are_not_taken_for_a_spine(name: str) -> None:
    assert not is_of_spine(name)


def test_panels_of_both_sides_name_the_body_without_side() -> None:
    joints = ["shoulder_r", "elbow_r", "wrist_r", "shoulder_l", "fist_l", "thumb_l"]
    data = synthetic_result(20).assign_coords(joint=joints, joint_axis=list("xyz"))
    words = np.array([[f"{axis} of scapula_{name[-1]}" for axis in "xyz"] for name in joints])
    data = data.assign_coords(joint_axis_words=(("joint", "joint_axis"), words))
    data["joint_axis_force"] = (("time", "joint", "joint_axis"), np.ones((20, 6, 3)))
    titles = [panel.title for panel in CHARTS["joint_axis_forces"](Facts(data)).panels]
    assert titles[:6] == [
        *(f"shoulder: {axis} of scapula" for axis in "xyz"),
        *(f"elbow: {axis} of scapula_r" for axis in "xyz"),
    ]
