"""A model whose joints, bodies and constraints do not agree is refused, by what is wrong with it."""

from dataclasses import replace

import numpy as np
import pytest
from refusals import refused

from musclesolve.dynamics import (
    MassProperties,
    Model,
    differentiate,
    forward_human_model,
    human_model,
    joint_moments_by_route,
    load_topology,
)

RIG = """
name = "rig"
root = "stand"
origin = "o"
universal = []
point = [
    { name = "a", from = "o", offset = [0, 0, 0] },
    { name = "b", from = "a", offset = [0, 0, -1.0] },
    { name = "c", from = "b", offset = [0, 0, -0.5] },
    { name = "top", from = "o", offset = [0, 0, 1.0] },
]
vector = [
    { name = "axis", direction = [0, 1, 0] },
    { name = "front", direction = [1, 0, 0] },
    { name = "upper_front", direction = [1, 0, 0] },
]
body = [
    { name = "stand", points = ["a", "top"], vectors = ["axis", "front"] },
    { name = "upper", points = ["a", "b"], vectors = ["axis", "upper_front"] },
    { name = "lower", points = ["b", "c"], vectors = ["axis"] },
]
dof = [
  { name="hip", parent="stand", child = "upper", axis = "axis", sign = 1, pivot = "a", driver = ["a->top", "a->b"] },
  { name = "knee", parent = "upper", child = "lower", axis = "axis", sign = 1, pivot = "b", driver = ["a->b", "b->c"] },
]
"""
KNEE = RIG.splitlines()[-2]
MASS = MassProperties(
    np.array([1.0, 2.0, 1.0]),
    np.array([[0, 0, 0.5], [0, 0, -0.5], [0, 0, -1.25]]),
    np.tile(np.diag([0.1, 0.1, 0.05]), (3, 1, 1)),
)
LOOP = KNEE.replace("knee", "loop").replace('"upper"', '"stand"').replace('pivot = "b"', 'pivot = "a"')


@pytest.fixture
def load(tmp_path):
    """Topology of a text."""

    def read(text):
        file = tmp_path / "rig.toml"
        file.write_text(text)
        return load_topology(file)

    return read


def made(topology, **other):
    return Model(topology, topology.standing_layout(), MASS, **other)


def test_a_small_definition_needs_no_numbers_segments_shares_and_scales(load):
    topology = load(RIG)
    assert [point.number for point in topology.points] == [1, 2, 3, 4]
    assert [(body.number, body.segment, body.share) for body in topology.bodies] == [
        (1, "stand", 1.0),
        (2, "upper", 1.0),
        (3, "lower", 1.0),
    ]
    model = made(topology)
    time = np.linspace(0.0, 1.0, 21)
    coordinates = np.zeros((21, 8))
    coordinates[:, :2] = np.column_stack([0.3 * np.sin(3.0 * time), 0.5 * np.cos(2.0 * time)])
    motion = differentiate(model, time, coordinates)
    assert max(joint_moments_by_route(model, motion, []).disagreement().values()) < 1e-11


FAULTS = {
    "missing key": ('pivot = "b", ', "", ("missing_key", "knee", "pivot")),
    "unknown key": ('points = ["b", "c"],', 'points = ["b", "c"], shar = 0.5,', ("unknown_key", "shar")),
    "root": ('root = "stand"', 'root = "stnad"', ("bad_model", "stnad")),
    "child": ('child = "lower"', 'child = "lowre"', ("bad_model", "lowre", "knee")),
    "parent": ('parent = "upper"', 'parent = "uper"', ("bad_model", "uper")),
    "no joint": (KNEE, "", ("bad_model", "lower")),
    "two parents": (KNEE, KNEE + "\n" + LOOP, ("bad_model", "lower", "knee")),
    "root as child": ('child = "upper"', 'child = "stand"', ("bad_model", "upper")),
    "points of one name": ('name = "c"', 'name = "b"', ("duplicate_name", "b")),
    "vectors of one name": ('name = "front"', 'name = "axis"', ("duplicate_name", "axis")),
    "bodies of one name": ('name = "lower"', 'name = "upper"', ("duplicate_name", "upper")),
    "dofs of one name": ('name = "knee"', 'name = "hip"', ("duplicate_name", "hip")),
    "dof of the base": ('name = "knee"', 'name = "pelvis_tx"', ("duplicate_name", "pelvis_tx")),
    "pivot": ('pivot = "b"', 'pivot = "c"', ("bad_model", "knee", "c", "upper")),
    "pivot a vector": ('pivot = "b"', 'pivot = "axis"', ("bad_model", "axis")),
    "axis": ('"lower", axis = "axis"', '"lower", axis = "front"', ("bad_model", "knee")),
    "axis of one body": ('"lower", axis = "axis"', '"lower", axis = "b->c"', ("bad_model", "knee", "b->c")),
    "unknown axis": ('"lower", axis = "axis"', '"lower", axis = "axiss"', ("unknown_name", "axiss", "knee")),
    "empty axis": ('"lower", axis = "axis"', '"lower", axis = "b->"', ("bad_value", "knee", "b->")),
    "driver": ('["a->b", "b->c"]', '["a->b", "front"]', ("bad_model", "knee", "s front is not of body ")),
    "skew driver": ('["a->b", "b->c"]', '["axis", "b->c"]', ("bad_model", "knee")),
    "sign": ("sign = 1", "sign = 2", ("bad_value", "hip", "2", "-1")),
    "short offset": ("[0, 0, -0.5]", "[0, -0.5]", ("bad_value", "c")),
    "text for an offset": ("[0, 0, -0.5]", '"abc"', ("bad_value", "c")),
    "offset not finite": ("[0, 0, -0.5]", "[0, 0, nan]", ("bad_value", "c")),
    "long direction": ("[0, 1, 0]", "[0, 2, 0]", ("bad_model", "axis", "2")),
    "zero direction": ("[0, 1, 0]", "[0, 0, 0]", ("bad_model", "axis")),
    "hanging point": ('from = "b"', 'from = "bb"', ("bad_model", "c", "bb")),
    "idle point": ('points = ["b", "c"]', 'points = ["b", "a"]', ("bad_model",)),
    "unknown point": ('points = ["b", "c"]', 'points = ["b", "cc"]', ("unknown_name", "cc", "lower")),
    "kind of body": ('points = ["b", "c"]', 'points = ["c"]', ("bad_model", "lower", "1")),
    "names in no list": ('points = ["b", "c"]', 'points = "bc"', ("bad_value", "lower")),
    "universal": ("universal = []", 'universal = [["axis", "frnt"]]', ("unknown_name", "frnt")),
    "no tables": ("point = [", "point = 3\nother = [", ("unknown_key", "other")),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_definition_that_contradicts_itself_is_refused(load, fault):
    old, new, words = FAULTS[fault]
    assert old in RIG
    with refused(*words) as caught:
        load(RIG.replace(old, new))
    assert "rig.toml" in str(caught.value)


def test_a_topology_made_in_code_is_checked_as_well(load):
    topology = load(RIG)
    hip, knee = topology.dofs
    with refused("bad_model", "lowre"):
        made(replace(topology, dofs=(hip, replace(knee, child="lowre"))))


def test_joints_that_break_a_constraint_are_refused(load):
    """The axes of the universal joint must be listed as square to each other, and a joint must turn all behind it."""
    topology = load(RIG)
    tied = replace(topology, universal=(("front", "upper_front"),))
    with refused("bad_model", "hip", "upper_front"):
        made(tied)


def test_motions_that_belong_to_no_joint_are_refused(model):
    """Without its row a universal joint has a third turn, which no joint of the tree makes."""
    loose = replace(model.topology, universal=model.topology.universal[1:])
    with refused("bad_model", "1", "shank_forward_r"):
        Model(loose, model.standing, model.mass)


def test_masses_must_be_those_of_the_bodies(load):
    topology = load(RIG)
    standing = topology.standing_layout()
    two = MassProperties(MASS.mass[:2], MASS.center[:2], MASS.inertia[:2])
    with refused("bad_model", "2", "3"):
        Model(topology, standing, two)
    with refused("bad_model"):
        Model(topology, standing, replace(MASS, names=("upper", "stand", "lower")))
    Model(topology, standing, replace(MASS, names=("stand", "upper", "lower")))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda s: s[:-1], ("bad_shape", "(6, 3)")),
        (lambda s: np.where(np.arange(7)[:, None] == 2, np.nan, s), ("not_finite", "c")),
        (lambda s: s * np.where(np.arange(7)[:, None] == 4, 1.1, 1.0), ("bad_model", "axis", "1.1")),
    ],
)
def test_a_standing_layout_that_cannot_be_is_refused(load, change, words):
    topology = load(RIG)
    with refused(*words):
        Model(topology, change(topology.standing_layout()), MASS)


def test_gravity_is_three_numbers(load):
    with refused("not_finite"):
        made(load(RIG), gravity=np.array([0.0, np.nan, -9.81]))


@pytest.mark.parametrize("change", ["negative", "skew", "impossible"])
def test_a_body_with_impossible_mass_is_named(model, change):
    mass, inertia, foot = model.mass.mass.copy(), model.mass.inertia.copy(), model.body("foot_r")
    if change == "negative":
        mass[foot] = -1.0
    elif change == "skew":
        inertia[foot, 0, 1] += 1e-4
    else:
        inertia[foot] = np.diag([1.0, 1.0, 3.0])
    with refused("bad_model", "foot_r"):
        replace(model.mass, mass=mass, inertia=inertia)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("center", np.zeros((2, 3)), ("bad_shape", "(2, 3)")),
        ("inertia", np.ones((3, 3)), ("bad_shape", "(3, 3, 3)")),
        ("mass", ["a", "b", "c"], ("not_numbers", "'a'")),
        ("center", np.full((3, 3), np.nan), ("not_finite",)),
        ("names", ("one",), ("bad_shape", "1", "3")),
    ],
)
def test_mass_properties_of_another_shape_are_refused(field, value, words):
    with refused(*words):
        replace(MASS, **{field: value})


def test_bundled_models_agree_with_themselves():
    assert forward_human_model(human_model()).topology.name == "forward_human"


def test_frames_that_no_joint_reaches_are_not_numbers(load):
    """Should a tree of unreached bodies be built all the same, it shows."""
    topology = load(RIG)
    tree = made(topology).tree
    short = replace(tree, parent=tree.parent[:1], child=tree.child[:1])
    rotation, shift = short.frames(np.zeros((1, 1)), np.zeros((1, 3)), np.eye(3)[None])
    lower = topology.body_index["lower"]
    assert np.isnan(rotation[:, lower]).all() and np.isnan(shift[:, lower]).all()
