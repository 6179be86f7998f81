"""Groups of degrees of freedom and the muscles that serve them, by data files alone: a three-axis knee, an arm.

The recorded walk of the other tests; nothing of the package knows of these joints and muscles.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from poses import motion_through
from refusals import refused
from said import about, remarks

import muscle_db
import musclesolve as ms
from musclesolve.dynamics import human_model, load_topology
from musclesolve.laboratory.results.dataset.checked import checked_result
from musclesolve.laboratory.results.dataset.frame_validity import frames_word, part_names
from musclesolve.laboratory.results.facts import Facts
from musclesolve.muscles import muscle_state, scale_muscles
from musclesolve.muscles.scaling.scale_muscles import joined, served_dofs

ARM = Path(__file__).with_name("arm26.toml")
ARM_DOFS = ("shoulder_flexion", "shoulder_adduction", "shoulder_internal_rotation", "elbow_flexion")
SHARED = ["shoulder_flexion", "elbow_flexion"]
KNEE = ("knee_flexion", "knee_adduction", "knee_rotation")

BODIES = """\
    {{ name = "shank_front_{s}", points = ["knee_{s}", "ankle_{s}"], vectors = ["tibia_front_{s}"], \
segment = "shank_{s}", share = 0.0 }},
    {{ name = "shank_{s}", points = ["knee_{s}", "ankle_{s}"], vectors = ["shank_forward_{s}"], \
segment = "shank_{s}", share = 1.0 }},
"""
DOFS = """
[[dof]]
name = "knee_flexion_{s}"
parent = "thigh_{s}"
child = "knee_cross_{s}"
axis = "knee_axis_{s}"
sign = 1
pivot = "knee_{s}"
driver = ["knee_{s} -> hip_{s}", "tibia_front_{s}"]

[[dof]]
name = "knee_adduction_{s}"
parent = "knee_cross_{s}"
child = "shank_front_{s}"
axis = "tibia_front_{s}"
sign = {sign}
pivot = "knee_{s}"
driver = ["knee_axis_{s}", "ankle_{s} -> knee_{s}"]

[[dof]]
name = "knee_rotation_{s}"
parent = "shank_front_{s}"
child = "shank_{s}"
axis = "ankle_{s} -> knee_{s}"
sign = {sign}
pivot = "knee_{s}"
driver = ["tibia_front_{s}", "shank_forward_{s}"]
"""


def three_axis_knee(folder: Path) -> Path:
    """The bundled definition with knees that also adduct and rotate, where the shank rotated in itself."""
    bundled = resources.files("musclesolve.dynamics.model") / "definitions" / "inverse_human.toml"
    text = bundled.read_text(encoding="utf-8")
    for side, sign in (("r", 1), ("l", -1)):
        lines = [
            line
            for line in text.splitlines()
            if f'name = "shank_distal_{side}"' not in line and f'name = "shank_{side}"' not in line
        ]
        text = "\n".join(lines)
        text = text.replace("body = [\n", "body = [\n" + BODIES.format(s=side))
        text = text.replace(
            "vector = [\n",
            f'vector = [\n    {{ name = "tibia_front_{side}", direction = [1.0, 0.0, 0.0] }},\n',
        )
        text = text.replace(
            "universal = [\n", f'universal = [\n    ["knee_axis_{side}", "tibia_front_{side}"],\n'
        )
        blocks = text.split("\n[[dof]]\n")
        left_out = (f'name = "knee_flexion_{side}"', f'name = "ankle_adduction_{side}"')
        text = "\n[[dof]]\n".join(block for block in blocks if not any(name in block for name in left_out))
        text = text.replace(f'"shank_distal_{side}"', f'"shank_{side}"') + DOFS.format(s=side, sign=sign)
    path = folder / "three_axis_knee.toml"
    path.write_text(text, encoding="utf-8")
    return path


def walk_with(recorded_walk_text: str, folder: Path, *changes: tuple[str, str]) -> Path:
    """The trial file of the recorded walk without EMG, with other lines."""
    recorded_walk_text = recorded_walk_text.partition("# Surface EMG")[0]
    for before, after in changes:
        assert before in recorded_walk_text
        recorded_walk_text = recorded_walk_text.replace(before, after)
    path = folder / "walk.toml"
    path.write_text(recorded_walk_text, encoding="utf-8")
    return path


def assert_certified(result, shared: list[str]) -> None:
    """Every frame is solved with a certificate, and muscles with reserves produce the shared moments."""
    assert result.valid.values.all()
    assert float(result.gap.max()) <= 1e-9
    assert np.isfinite(result.muscle_force.values).all()
    of_shared = result.sel(dof=shared)
    produced = np.einsum("tdm,tm->td", of_shared.moment_arm.values, result.muscle_force.values)
    np.testing.assert_allclose(
        produced + of_shared.reserve_moment.values, of_shared.joint_moment.values, atol=1e-6
    )


@pytest.fixture(scope="module")
def arm_result(recorded_walk_text: str, tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("arm")
    (folder / "arm26.toml").write_bytes(ARM.read_bytes())
    changes = (
        ('database = "gait2392_hip"', 'database = "arm26.toml"'),
        ("[sharing]", f"[sharing]\ndofs = {SHARED}"),
    )
    return ms.run(walk_with(recorded_walk_text, folder, *changes))


@pytest.mark.thorough
def test_six_muscles_of_an_arm_share_the_moments_of_the_recorded_walk(arm_result) -> None:
    shared = [f"{dof}_{side}" for side in "rl" for dof in SHARED]
    assert_certified(arm_result, shared)
    assert list(arm_result.attrs["shared_dofs"]) == shared
    assert list(arm_result.side.values) == ["r", "l"]
    assert list(arm_result.joint.values) == ["shoulder_r", "elbow_r", "shoulder_l", "elbow_l"]
    assert list(arm_result.dof.values[:8]) == [f"{dof}_{side}" for side in "rl" for dof in ARM_DOFS]
    assert arm_result.sizes["muscle"] == 12
    assert Facts(arm_result).metabolic_rate is None, "it is that of a body whose legs move"


def test_the_result_of_an_arm_is_whole_and_speaks_of_sides(arm_result) -> None:
    """Whole also where moments of a leg, which these muscles do not serve, were not measured throughout."""
    partly = arm_result.copy(deep=True)
    partly.joint_moment.loc[{"dof": "hip_flexion_l", "time": partly.time[:9]}] = np.nan
    partly.ground_reaction_force.loc[{"side": "l", "time": partly.time[:9]}] = np.nan
    assert checked_result(partly) is partly
    partly.joint_moment.loc[{"dof": "elbow_flexion_l", "time": partly.time[:9]}] = np.nan
    with refused("bad_result", "joint_moment", "9 frames"):
        checked_result(partly)
    assert part_names(arm_result) == {"r": "right side", "l": "left side"}
    assert frames_word(arm_result) == "frames of both sides"
    one_side = arm_result.sel(muscle=arm_result.muscle[:6])
    assert about(one_side, "right side") and not about(one_side, "right leg")
    assert any("right side" in each for each in remarks(one_side, "remark"))


def test_a_knee_of_three_axes_shares_all_its_moments(recorded_walk_text: str, tmp_path: Path) -> None:
    three_axis_knee(tmp_path)
    dofs = ["hip_flexion", "hip_adduction", "hip_internal_rotation", *KNEE, "ankle_dorsiflexion"]
    changes = (
        ("[subject]", '[subject]\nskeleton = "three_axis_knee.toml"'),
        ("[sharing]", f"[sharing]\ndofs = {dofs}"),
    )
    result = ms.run(walk_with(recorded_walk_text, tmp_path, *changes), side="r")
    shared = [f"{dof}_r" for dof in dofs]
    assert_certified(result, shared)
    assert list(result.dof.values[:8]) == [*shared, "ankle_inversion_r"]
    assert list(result.joint.values) == ["hip_r", "knee_r", "ankle_r"]


def test_the_degrees_of_freedom_are_those_that_muscles_cross(tmp_path: Path) -> None:
    bundled, own = load_topology(), load_topology(three_axis_knee(tmp_path))
    leg, arm = muscle_db.load("gait2392"), muscle_db.load(ARM)
    assert served_dofs(bundled, leg, "l") == tuple(f"{dof}_l" for dof in leg.dofs)
    assert served_dofs(bundled, arm, "r") == tuple(f"{dof}_r" for dof in ARM_DOFS)
    found = [name.removesuffix("_r") for name in served_dofs(own, leg, "r")]
    assert found == [*leg.dofs[:3], *KNEE, *leg.dofs[4:6]]


def test_moment_arms_at_the_elbow_are_those_of_an_arm() -> None:
    """Murray, Delp and Buchanan (1995), J Biomech 28:513-525: peak of biceps 4 to 5, triceps -2 to -3 cm."""
    pose = {"elbow_flexion_r": np.radians(np.arange(20.0, 121.0, 10.0))}
    geometry = ms.muscle_geometry(pose, muscles=ARM)
    arm = geometry.moment_arm.sel(dof="elbow_flexion_r")
    assert 0.04 < float(arm.sel(muscle="biceps_brachii_long_r").max()) < 0.055
    assert -0.03 < float(arm.sel(muscle="triceps_brachii_lateral_r").min()) < -0.015
    assert 0.015 < float(arm.sel(muscle="brachialis_r").max()) < 0.03


def test_legs_and_arms_are_groups_apart() -> None:
    """No muscle connects them, so each is its own problem; the muscles of a side of a set are connected."""
    model = human_model()
    legs, arms = (scale_muscles(model, muscle_db.load(name), "r") for name in ("silva_2003", ARM))
    both = joined([legs, arms])
    assert len(legs.apart()) == len(arms.apart()) == 1
    apart = both.apart()
    assert [group.names for group in apart] == [legs.names, arms.names]
    still = np.zeros((1, len(model.topology.dof_names)))

    motion = motion_through(model, still)
    for group, alone in zip(apart, (legs, arms), strict=True):
        found, expected = (muscle_state(model, each, motion) for each in (group, alone))
        np.testing.assert_allclose(found.moment_arm, expected.moment_arm, atol=1e-12)


@pytest.mark.parametrize(
    ("before", "after", "parts"),
    [
        ('"elbow_flexion"]', '"elbow_flex"]', ("elbow_flex'", "dofs", "elbow_flexion")),
        ('body = "upper_arm"', 'body = "uperarm"', ("uperarm", "humerus", "upper_arm")),
        ('end = "elbow"', 'end = "elbo"', ("elbo'", "humerus", "'elbow'")),
    ],
)
def test_a_set_that_does_not_fit_the_body_model_is_refused(
    recorded_walk_text: str, tmp_path: Path, before: str, after: str, parts: tuple[str, ...]
) -> None:
    text = ARM.read_text(encoding="utf-8")
    assert before in text
    (tmp_path / "arm26.toml").write_text(text.replace(before, after, 1), encoding="utf-8")
    changes = (('database = "gait2392_hip"', 'database = "arm26.toml"'),)
    with refused("unknown_name", "walk.toml, line", "[muscles] database", "arm26", *parts):
        ms.run(walk_with(recorded_walk_text, tmp_path, *changes))


def test_a_joint_of_a_parent_that_is_nothing_is_named_with_what_was_meant(tmp_path: Path) -> None:
    path = three_axis_knee(tmp_path)
    text = path.read_text(encoding="utf-8").replace('parent = "thigh_r"', 'parent = "thihg_r"')
    path.write_text(text, encoding="utf-8")
    with refused("bad_model", path.name, "knee_flexion_r", "did you mean 'thigh_r'"):
        load_topology(path)


def test_a_degree_of_freedom_that_the_muscles_do_not_serve_is_refused(
    recorded_walk_text: str, tmp_path: Path
) -> None:
    (tmp_path / "arm26.toml").write_bytes(ARM.read_bytes())
    changes = (
        ('database = "gait2392_hip"', 'database = "arm26.toml"'),
        ("[sharing]", '[sharing]\ndofs = ["knee_flexion"]'),
    )
    with refused("unknown_name", "dofs", "knee_flexion", "elbow_flexion"):
        ms.run(walk_with(recorded_walk_text, tmp_path, *changes))


TRUNK = """
name = "trunk"
source = "an example: two straight muscles beside the spine"
curves = "thelen_2003"
dofs = ["trunk_flexion", "trunk_bending_right"]

[reference]
stature = 1.7

[[reference.segment]]
name = "pelvis"
body = "pelvis"
origin = "back"

[[reference.segment]]
name = "thorax"
body = "thorax"
origin = "back"

[groups]
trunk = ""
"""
TRUNK_MUSCLE = """
[[muscle]]
name = "{name}"
short_name = "{name}"
group = "trunk"
max_isometric_force = 3000
pennation_deg = 0
optimal_fiber_length = 0.2
tendon_slack_length = 0.08
path = [
  {{ frame = "pelvis", position = [{x}, -0.04, -0.1] }},
  {{ frame = "thorax", position = [{x}, -0.04, 0.18] }},
]
"""


def test_muscles_of_both_sides_about_one_joint_are_one_group_of_no_side(
    recorded_walk_text: str, tmp_path: Path
) -> None:
    muscles = (TRUNK_MUSCLE.format(name=name, x=x) for name, x in (("erector", -0.06), ("rectus", 0.08)))
    (tmp_path / "trunk.toml").write_text(TRUNK + "".join(muscles), encoding="utf-8")
    changes = (
        ('database = "gait2392_hip"', 'database = "trunk.toml"'),
        ("[sharing]", '[sharing]\ndofs = ["trunk_flexion", "trunk_bending_right"]'),
    )
    result = ms.run(walk_with(recorded_walk_text, tmp_path, *changes))
    assert list(result.side.values) == ["other"]
    assert_certified(result, ["trunk_flexion", "trunk_bending_right"])
    assert list(result.muscle.values) == ["erector_r", "rectus_r", "erector_l", "rectus_l"]
