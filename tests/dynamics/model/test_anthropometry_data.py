"""The inertia tables as data: complete, and physically possible or flagged where they are not."""

from __future__ import annotations

import tomllib
from importlib.resources import files

import numpy as np
import pytest

from benchmarks.printed_inertia import printed_table
from musclesolve.dynamics import human_model
from musclesolve.dynamics.model.segment_inertia import child_masses, segment_rows, segments_of

TABLES = files("musclesolve").joinpath("dynamics", "model", "anthropometry")
SEXES = ("female", "male")
TRUNK = ("upper_trunk", "middle_trunk", "lower_trunk")
LIMBS = ("upper_arm", "forearm", "hand", "thigh", "shank", "foot")
AXES = ("xi", "eta", "zeta")


def table(name: str) -> dict:
    return tomllib.loads(TABLES.joinpath(f"{name}.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def de_leva() -> dict:
    return table("de_leva_1996")


@pytest.fixture(scope="module")
def bodies() -> dict[int, dict]:
    return {body["number"]: body for body in printed_table("table_3_8")["body"]}


def inertia_margin(moments: np.ndarray) -> float:
    return float(np.sum(moments) - 2 * np.max(moments))


def composite_trunk(segments: dict) -> tuple[float, float, float, np.ndarray]:
    """Length, mass fraction, center of mass from the top, radii of gyration of the three parts together."""
    part = [segments[name] for name in TRUNK]
    length = np.array([p["length"] for p in part])
    mass = np.array([p["mass_fraction"] for p in part])
    com = np.cumsum(length) - length + np.array([p["com_fraction"] for p in part]) * length
    gyration = np.array([p["gyration_fraction"] for p in part]) * length[:, None]
    center = np.average(com, weights=mass)
    # Parallel axes: the parts are stacked along the longitudinal axis, which therefore gains nothing.
    offset = np.outer((com - center) ** 2, [1.0, 1.0, 0.0])
    radii = np.sqrt(np.average(gyration**2 + offset, axis=0, weights=mass))
    return length.sum(), mass.sum(), float(center), radii


@pytest.mark.parametrize("sex", SEXES)
def test_de_leva_has_every_segment_with_all_its_fields(de_leva, sex):
    assert (
        set(de_leva[sex]["segment"]) == set(de_leva["endpoints"]) == {"head", "whole_trunk", *TRUNK, *LIMBS}
    )
    for segment in de_leva[sex]["segment"].values():
        assert set(segment) == {"length", "mass_fraction", "com_fraction", "gyration_fraction"}
        assert len(segment["gyration_fraction"]) == 3
        assert 0 < segment["com_fraction"] < 1


@pytest.mark.parametrize("sex", SEXES)
def test_de_leva_masses_make_a_whole_body(de_leva, sex):
    segment = de_leva[sex]["segment"]
    once = sum(segment[name]["mass_fraction"] for name in ("head", *TRUNK))
    twice = sum(segment[name]["mass_fraction"] for name in LIMBS)
    assert once + 2 * twice == pytest.approx(1.0, abs=5e-4)


@pytest.mark.parametrize("sex", SEXES)
def test_de_leva_lengths_fit_the_stature(de_leva, sex):
    # Vertex to mid-hip, thigh and shank leave the height of the ankle joint above the sole.
    segment = de_leva[sex]["segment"]
    stacked = sum(segment[name]["length"] for name in ("head", *TRUNK, "thigh", "shank"))
    assert 0.03 < de_leva[sex]["stature"] - stacked < 0.09


@pytest.mark.parametrize("sex", SEXES)
def test_de_leva_inertias_satisfy_the_triangle_inequality(de_leva, sex):
    for name, segment in de_leva[sex]["segment"].items():
        assert inertia_margin(np.square(segment["gyration_fraction"])) > 0, name


@pytest.mark.parametrize("sex", SEXES)
def test_limbs_rotate_most_easily_about_their_long_axis(de_leva, sex):
    for name in LIMBS:
        assert np.argmin(de_leva[sex]["segment"][name]["gyration_fraction"]) == 2, name


@pytest.mark.parametrize(("sex", "com_tolerance"), [("female", 1e-4), ("male", 3.2e-3)])
def test_trunk_parts_compose_to_the_whole_trunk(de_leva, sex, com_tolerance):
    # The published male parts put the center of mass 3 mm below that of the published whole trunk.
    whole = de_leva[sex]["segment"]["whole_trunk"]
    length, mass, com, radii = composite_trunk(de_leva[sex]["segment"])
    assert length == pytest.approx(whole["length"], abs=1e-9)
    assert mass == pytest.approx(whole["mass_fraction"], abs=1e-9)
    assert com == pytest.approx(whole["com_fraction"] * whole["length"], abs=com_tolerance)
    np.testing.assert_allclose(radii / length, whole["gyration_fraction"], atol=6e-4)


PRINTED = {  # shares of the body mass [%], of Jensen (1989) at 6 and 18 years, and of Jensen (1986) at 12
    6: dict(
        head=18.2, whole_trunk=43.0, upper_arm=2.4, forearm=1.3, hand=0.8, thigh=8.5, shank=4.6, foot=1.9
    ),
    12: dict(
        head=10.1, whole_trunk=41.7, upper_arm=3.2, forearm=1.7, hand=0.9, thigh=11.0, shank=5.3, foot=2.1
    ),
    18: dict(
        head=7.0, whole_trunk=44.6, upper_arm=3.6, forearm=1.9, hand=0.9, thigh=11.4, shank=4.8, foot=1.7
    ),
}


@pytest.mark.parametrize(("age", "tolerance"), [(6, 1.15), (12, 0.2), (18, 0.1)])
def test_masses_of_children_are_those_that_were_printed(age, tolerance):
    for name, mass in child_masses(float(age)).items():
        assert 100.0 * mass == pytest.approx(PRINTED[age][name], abs=tolerance), name


@pytest.mark.parametrize("sex", SEXES)
def test_a_child_is_a_whole_and_possible_body_that_grows_up_without_a_step(sex):
    adult = segment_rows(sex)
    assert segment_rows(sex, 18.0) == segment_rows(sex, 70.0) == adult
    ages = np.arange(3.0, 18.01, 0.25)
    grown = [segment_rows(sex, age) for age in ages]
    for rows in grown:
        once = sum(rows[name]["mass_fraction"] for name in ("head", *TRUNK))
        assert once + 2 * sum(rows[name]["mass_fraction"] for name in LIMBS) == pytest.approx(1.0, abs=2e-4)
        trunk = sum(rows[name]["mass_fraction"] for name in TRUNK)
        assert trunk == pytest.approx(rows["whole_trunk"]["mass_fraction"])
        for row in rows.values():
            assert 0 < row["com_fraction"] < 1 and inertia_margin(np.square(row["gyration_fraction"])) > 0
    for name in adult:
        mass = np.array([rows[name]["mass_fraction"] for rows in grown])
        assert (mass > 0).all() and np.abs(np.diff(mass)).max() < 0.006, name
    head = [rows["head"]["mass_fraction"] for rows in grown[4:]]
    assert (np.diff(head) < 0).all() and head[0] > 2.5 * adult["head"]["mass_fraction"]


def test_before_they_are_made_to_one_the_masses_of_children_nearly_make_a_body():
    adult, grown = segment_rows("male"), child_masses(18.0)
    for age in np.arange(4.0, 18.1):
        mass = {name: adult[name]["mass_fraction"] * m / grown[name] for name, m in child_masses(age).items()}
        total = mass["head"] + mass["whole_trunk"] + 2 * sum(mass[name] for name in LIMBS)
        assert total == pytest.approx(1.0, abs=0.015)


def test_the_model_of_a_child_has_its_mass_and_inertia_that_can_be():
    child, adult = (human_model(30.0, 1.30, "female", age=age) for age in (9.0, None))
    assert child.mass.total == pytest.approx(30.0) == adult.mass.total
    of = {segment.name: segment for segment in segments_of(child)}
    for segment in segments_of(adult):
        assert inertia_margin(of[segment.name].principal) > 0
    thighs = [next(s.mass for s in segments_of(model) if s.name == "thigh_r") for model in (child, adult)]
    rows = segment_rows("female", 9.0)
    assert thighs[0] == pytest.approx(30.0 * rows["thigh"]["mass_fraction"]) and thighs[0] < 0.95 * thighs[1]


def test_printed_table_has_33_bodies_of_the_printed_total_mass(bodies):
    assert sorted(bodies) == list(range(1, 34))
    assert sum(body["mass"] for body in bodies.values()) == pytest.approx(81.524, abs=1e-9)


def test_printed_table_is_symmetric(bodies):
    def one_side(side: str) -> list[tuple]:
        rows = [body for body in bodies.values() if body["side"] == side]
        return sorted((b["segment"], b["length"], b["com"], b["mass"], *b["principal_inertia"]) for b in rows)

    assert one_side("r") == one_side("l")
    assert len(one_side("r")) == 13


def test_impossible_inertias_are_flagged_and_no_others(bodies):
    impossible = {n for n, b in bodies.items() if inertia_margin(np.array(b["principal_inertia"])) < 0}
    flagged = {n for n, b in bodies.items() if "impossible_inertia" in b.get("flags", [])}
    assert impossible == flagged == {1, 4, 5, 9, 10, 13, 15, 16, 28, 29}
    for number in flagged:
        margin = inertia_margin(np.array(bodies[number]["principal_inertia"]))
        assert bodies[number]["inertia_margin"] == pytest.approx(margin, abs=1e-9)


def test_exchanged_axes_are_flagged_on_shank_and_foot(bodies):
    limbs = {"thigh", "shank", "foot", "upper_arm", "forearm", "hand"}
    wrong = {
        n
        for n, b in bodies.items()
        if b["segment"] in limbs and AXES[int(np.argmin(b["principal_inertia"]))] != b["long_axis"]
    }
    assert wrong == {n for n, b in bodies.items() if "wrong_long_axis" in b.get("flags", [])}
    assert wrong == {1, 2, 3, 11, 12, 13}


def test_geometry_remarks_stand_on_the_bodies_they_concern(bodies):
    def with_flag(flag: str) -> set[int]:
        return {n for n, b in bodies.items() if flag in b.get("flags", [])}

    assert with_flag("misplaced_ankle") == {1, 13}
    assert with_flag("ambiguous_points") == {33}
    assert with_flag("suspicious_trunk_order") == {21, 22, 23}
