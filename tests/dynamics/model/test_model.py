"""The inverse human model is the one of the source: counts, numbers, and an inertia that a body can have."""

import numpy as np
import pytest
from refusals import refused

from musclesolve.dynamics import MassProperties, human_model, load_topology, mass_matrix


def test_counts_of_the_inverse_model(model):
    topology = model.topology
    assert len(topology.bodies) == 33
    assert topology.point_count == 25
    assert len(topology.vectors) == 22
    assert 3 * len(topology.coordinate_names) == 141
    assert len(topology.dof_names) == 44
    assert len(model.constraints.names) == 141 - 44


def test_constraint_rows_are_independent(model, motion):
    jacobian = model.constraints.jacobian(motion.q[:3]).reshape(3, -1, 141)
    assert (np.linalg.matrix_rank(jacobian) == 97).all()


def test_bodies_have_the_printed_numbers():
    numbers = {body.name: body.number for body in load_topology().bodies}
    assert numbers["foot_r"] == 1 and numbers["shank_r"] == 3 and numbers["thigh_r"] == 4
    assert (
        numbers["pelvis"] == 7
        and numbers["thigh_l"] == 10
        and numbers["foot_l"] == 13
        and numbers["head"] == 33
    )


def test_left_is_the_mirror_of_right(model):
    mirror = np.array([1.0, -1.0, 1.0])
    for name in model.topology.coordinate_names[: model.topology.point_count]:
        if name.endswith("_r"):
            left = model.standing[model.slot(name[:-1] + "l")]
            np.testing.assert_array_equal(model.standing[model.slot(name)], mirror * left)


@pytest.mark.parametrize("sex", ["female", "male"])
def test_mass_and_stature_are_the_subjects(sex):
    person = human_model(61.0, 1.66, sex)
    assert person.mass.total == pytest.approx(
        61.0, rel=6e-4
    )  # the printed percentages sum to 100 within rounding
    assert np.ptp(person.standing[:25, 2]) == pytest.approx(1.66)


def test_measured_offsets_win(model):
    person = human_model(offsets={"knee_r": np.array([0.0, 0.0, -0.5])})
    thigh = person.standing[person.slot("hip_r")] - person.standing[person.slot("knee_r")]
    assert np.linalg.norm(thigh) == pytest.approx(0.5)


def test_segment_inertia_of_a_thigh_follows_the_table(model):
    halves = [model.body("thigh_r"), model.body("thigh_proximal_r")]
    length = np.linalg.norm(model.standing[model.slot("hip_r")] - model.standing[model.slot("knee_r")])
    mass = 70.25 * 0.1416  # the male fractions sum to one
    np.testing.assert_allclose(model.mass.mass[halves].sum(), mass)
    expected = mass * (np.array([0.329, 0.329, 0.149]) * length) ** 2
    np.testing.assert_allclose(np.diag(model.mass.inertia[halves].sum(axis=0)), expected)


def test_mass_matrix_is_positive_definite_and_constant_only_where_it_should(model, motion):
    matrix = mass_matrix(model.rigid_bodies, model.basic_mass, motion.q)
    assert (np.linalg.eigvalsh(matrix)[:, 0] > 0.0).all()
    foot = [3 * model.slot(name) + k for name in ("heel_r", "toe_r", "ankle_axis_r") for k in range(3)]
    block = matrix[:, foot][:, :, foot]
    np.testing.assert_allclose(block, np.broadcast_to(block[0], block.shape), atol=1e-14)
    knee = [3 * model.slot("knee_axis_r") + k for k in range(3)]
    assert np.ptp(matrix[:, knee][:, :, knee], axis=0).max() > 1e-3


def test_an_inertia_that_no_body_can_have_is_refused():
    with refused("bad_model"):
        MassProperties(np.ones(1), np.zeros((1, 3)), np.diag([1.0, 1.0, 2.5])[None])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"mass": -3.0}, ("bad_number", "-3")),
        ({"stature": 18.3}, ("bad_number", "18.3")),
        ({"sex": "other"}, ("unknown_name", "other")),
        ({"sex": ["female"]}, ("unknown_name", "female")),
        ({"age": "nine"}, ("bad_number", "nine")),
        ({"offsets": {"tail": np.zeros(3)}}, ("unknown_name", "tail")),
    ],
)
def test_impossible_people_are_refused(arguments, words):
    with refused(*words):
        human_model(**arguments)


def test_a_broken_model_file_is_refused(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text("name = 'x'\n")
    with refused("missing_key", "mine.toml"):
        load_topology(file)
