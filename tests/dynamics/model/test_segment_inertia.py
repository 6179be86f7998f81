"""Inertia tables on a subject: the printed one scaled as the thesis says, de Leva's, and what a subject is made of."""

from dataclasses import replace

import numpy as np
import pytest
from package_tables import package_table
from refusals import refused

from benchmarks.printed_inertia import printed_human, printed_table
from musclesolve.dynamics import (
    Wrench,
    human_model,
    joint_loads,
    lagrange_multipliers,
    load_topology,
    projected_moments,
    segment_motion,
)
from musclesolve.dynamics.kinematics.motion_derivatives import motion_from
from musclesolve.dynamics.model.segment_inertia import compose, segment_table, segments_of

PLAIN = load_topology().standing_layout()
HEIGHT = float(np.ptp(PLAIN[:25, 2]))
TABLE_3_8 = {row["number"]: row for row in printed_table("table_3_8")["body"]}
PRINTED_MASS = sum(row["mass"] for row in TABLE_3_8.values())


def printed(mass=PRINTED_MASS, stature=HEIGHT, **options):
    return printed_human(mass, stature, **options)


def numbered(person, number):
    return next(i for i, body in enumerate(person.topology.bodies) if body.number == number)


def parts(person, numbers):
    mass = person.mass
    chosen = [numbered(person, number) for number in numbers]
    return [(mass.mass[i], mass.center[i], mass.inertia[i]) for i in chosen]


def test_the_bodies_of_the_printed_table_that_cannot_exist_are_refused_elsewhere():
    impossible = printed().mass
    with refused("bad_model", "thigh_r"):
        replace(impossible, allow_impossible=False)


def test_the_printed_table_is_of_a_man():
    with refused("conflict", "female"):
        printed(sex="female")


def test_the_reference_man_has_the_printed_masses_and_moments():
    person = printed()
    for body, mass, inertia in zip(
        person.topology.bodies, person.mass.mass, person.mass.inertia, strict=True
    ):
        row = TABLE_3_8[body.number]
        assert mass == pytest.approx(row["mass"])
        np.testing.assert_allclose(np.linalg.eigvalsh(inertia), sorted(row["principal_inertia"]), atol=1e-12)


def test_seated_axes_stand_up():
    """Thigh, forearm and hand point forward when seated: their xi becomes vertical. The others stay."""
    person = printed()
    for number, turned in ((4, True), (9, True), (16, True), (30, True), (3, False), (17, False), (1, False)):
        row = TABLE_3_8[number]["principal_inertia"]
        inertia = person.mass.inertia[numbered(person, number)]
        np.testing.assert_allclose(inertia, np.diag(row[::-1] if turned else row), atol=1e-14)


@pytest.mark.parametrize(
    ("number", "point", "offset"),
    [
        (4, "hip_r", [0.0, 0.0, -0.215]),
        (2, "knee_r", [0.0, 0.0, -0.151]),
        (1, "ankle_r", [0.0, 0.0, -0.035]),
        (13, "heel_l", [0.091, 0.0, 0.034]),
        (7, "back", [0.0, 0.0, -0.196]),
        (6, "hip_r", [0.0, 0.094, 0.0]),
        (22, "back", [0.0, 0.0, 0.079]),
        (20, "neck_base", [0.0, 0.0, 0.0]),
        (27, "shoulder_l", [0.0, 0.0, -0.153]),
        (28, "elbow_l", [0.0, 0.0, -0.123]),
        (14, "wrist_r", [0.0, 0.0, -0.093]),
        (31, "neck_base", [0.0, 0.0, 0.061]),
        (33, "head_base", [0.051, 0.0, 0.020]),
    ],
)
def test_mass_centers_are_where_table_3_9_puts_them(number, point, offset):
    person = printed()
    place = person.mass.center[numbered(person, number)] - person.standing[person.slot(point)]
    np.testing.assert_allclose(place, offset, atol=6e-4)


@pytest.mark.parametrize(
    ("name", "numbers", "turned"),
    [
        ("lower_torso", [6, 7, 8], False),
        ("upper_torso", [19, 20, 21, 22, 23, 24, 25], False),
        ("upper_arm", [17, 18], False),
        ("forearm_hand", [14, 15, 16], True),
        ("thigh", [4, 5], True),
        ("shank_foot", [1, 2, 3], False),
        ("neck", [31, 32], False),
        ("head", [33], False),
    ],
)
def test_the_bodies_compose_to_the_anatomical_segments(name, numbers, turned):
    """Table 3.8 is a split of Table 3.2: masses, and moments by the parallel-axis theorem (correction C4)."""
    row = next(r for r in printed_table("table_3_2")["segment"] if r["name"] == name)
    mass, _, inertia = compose(parts(printed(), numbers))
    moments = np.diag(inertia)[::-1] if turned else np.diag(inertia)
    assert mass == pytest.approx(row["mass"], abs=2e-3)
    np.testing.assert_allclose(moments, row["principal_inertia"], rtol=6e-3)


def test_table_3_2_adds_up_and_flags_what_cannot_be():
    table = printed_table("table_3_2")
    total = sum(row["count"] * row["mass"] for row in table["segment"])
    assert total == pytest.approx(table["reference_mass"], abs=5e-3)
    for row in table["segment"]:
        moments = np.array(row["principal_inertia"])
        impossible = 2.0 * moments.max() > moments.sum()
        assert impossible == ("impossible_inertia" in row.get("flags", [])), row["name"]


def test_scaling_is_that_of_equation_3_1():
    """chi_m for masses, chi_L for places, chi_m chi_L^2 for moments; a measured thigh changes the thigh alone."""
    plain, person = printed(), printed(0.9 * PRINTED_MASS, 1.1 * HEIGHT)
    np.testing.assert_allclose(person.mass.mass, 0.9 * plain.mass.mass)
    np.testing.assert_allclose(person.mass.center, 1.1 * plain.mass.center, atol=1e-12)
    np.testing.assert_allclose(person.mass.inertia, 0.9 * 1.1**2 * plain.mass.inertia, atol=1e-12)
    longer = printed(lengths={"thigh": 0.5})
    factor = longer.mass.inertia[:, 1, 1] / plain.mass.inertia[:, 1, 1]
    thighs = [body.segment.startswith("thigh") for body in plain.topology.bodies]
    np.testing.assert_allclose(factor, np.where(thighs, (0.5 / 0.434) ** 2, 1.0))


def test_inverse_dynamics_routes_agree_on_the_printed_table(motion):
    person = printed()
    state = motion_from(person, motion.time, motion.coordinates, motion.rates, motion.second)
    push = np.tile([10.0, -20.0, 600.0], (len(motion.time), 1))
    feet = [Wrench("foot_r", push, 0.1 * push)]
    projected = projected_moments(person, state, feet)
    multiplied = lagrange_multipliers(person, state, feet).moments
    assert np.abs(projected - multiplied).max() < 1e-9 * np.abs(projected).max()
    load = joint_loads(person, state, segment_motion(person, state), feet)["hip_flexion_r"].moment
    about = np.einsum("tx,tx->t", load, person.tree.axes(state.q)[:, person.dof("hip_flexion_r")])
    np.testing.assert_allclose(about, projected[:, person.dof("hip_flexion_r")], atol=1e-8)


def test_a_shoe_makes_the_printed_foot_heavier_too():
    person = printed(mass=80.0, shoe_mass=0.4)
    assert person.mass.total == pytest.approx(80.0)
    bare = printed(mass=79.2)
    foot = person.body("foot_r")
    assert person.mass.mass[foot] - bare.mass.mass[foot] == pytest.approx(0.4)


@pytest.mark.parametrize("sex", ["female", "male"])
def test_measured_lengths_are_the_subjects(sex):
    lengths = {"thigh": 0.44, "shank": 0.40, "foot": 0.25, "forearm": 0.26, "trunk": 0.55, "shoulder": 0.36}
    person = human_model(60.0, 1.65, sex, lengths=lengths)
    found = {segment.name: segment for segment in segments_of(person)}
    for name in ("thigh", "shank", "foot", "forearm"):
        assert found[f"{name}_r"].length == pytest.approx(lengths[name])
        assert found[f"{name}_l"].length == pytest.approx(lengths[name])
    assert found["lower_torso"].length + found["upper_torso"].length == pytest.approx(0.55)
    assert person.mass.total == pytest.approx(60.0)


def test_segments_of_a_subject_are_those_of_the_table():
    rows = package_table("dynamics/model/anthropometry/de_leva_1996.toml")["female"]["segment"]
    found = {segment.name: segment for segment in segments_of(human_model(62.0, 1.70, "female"))}
    for name in ("thigh", "shank", "foot", "upper_arm", "forearm", "hand"):
        segment, row = found[f"{name}_r"], rows[name]
        assert segment.mass == pytest.approx(62.0 * row["mass_fraction"], rel=1e-3)
        assert segment.center == pytest.approx(row["com_fraction"])
        radii = np.sqrt(segment.principal / segment.mass) / segment.length
        np.testing.assert_allclose(radii, sorted(row["gyration_fraction"]), rtol=1e-9)


def test_the_segment_table_prints_every_segment_and_the_total(model):
    lines = segment_table(model).splitlines()
    assert len(lines) == 1 + 15 + 1
    assert lines[-1].split() == ["total", "70.250", "100.00"]
    assert sum(float(line.split()[1]) for line in lines[1:-1]) == pytest.approx(70.25, abs=0.01)
    assert len({len(line) for line in lines[:-1]}) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"lengths": {"tail": 0.3}}, ("unknown_name", "tail")),
        ({"lengths": {"thigh": 43.0}}, ("bad_number", "43")),
        ({"lengths": {"thigh": float("nan")}}, ("bad_number",)),
    ],
)
def test_impossible_requests_are_refused(arguments, words):
    with refused(*words):
        human_model(**arguments)
