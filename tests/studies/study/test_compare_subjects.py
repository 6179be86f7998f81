"""Planted faults of a subject are found and named, and sound subjects are left in peace, also unlike groups."""

from __future__ import annotations

import numpy as np
import pytest
from synthetic_study import SUBJECT_FAULTS, walkers, with_fault
from thorough import THOROUGH

from musclesolve.studies import subject_means
from musclesolve.studies.study.compare_subjects import compare_subjects
from musclesolve.studies.study.means import without


def severities(compared) -> set[str]:
    return {found.severity for found in compared.findings}


def errors(compared) -> set[tuple[str, str | None]]:
    return {(found.code, found.where.subject) for found in compared.findings if found.severity == "error"}


@pytest.mark.parametrize("fault", SUBJECT_FAULTS)
@pytest.mark.parametrize("count", [4, 8, 20])
def test_a_planted_fault_is_found_and_nobody_else_is_accused(fault, count):
    """Among four subjects a sign or side may lie within the differences of the others: half are found at least."""
    studies = 8 if THOROUGH else 4
    found = 0
    for seed in range(studies):
        compared = compare_subjects(with_fault(walkers(count, np.random.default_rng(seed)), 1, fault))
        assert {subject for _, subject in errors(compared)} <= {"S02"}
        found += (SUBJECT_FAULTS[fault][0], "S02") in errors(compared)
        assert set(compared.wrong) == ({("S02", "C1")} if errors(compared) else set())
    large = SUBJECT_FAULTS[fault][0] == "subject_scale"
    assert found >= (studies if large else 0.5 * studies if count == 4 else 0.8 * studies)


@pytest.mark.parametrize("count", [3, 4, 8, 20])
@pytest.mark.parametrize("normal", [True, False])
def test_sound_subjects_are_not_accused(count, normal):
    """Heavy tails as well: one in 20 studies of 20 has a warning, here of 20 studies at most 3."""
    compared = [
        compare_subjects(walkers(count, np.random.default_rng(100 + seed), normal=normal))
        for seed in range(20)
    ]
    assert not any(errors(each) or each.wrong for each in compared)
    warned = sum("warning" in severities(each) for each in compared)
    assert warned == 0 if normal else warned <= 3


@pytest.mark.parametrize(("controls", "patients"), [(4, 2), (6, 3), (10, 10), (8, 1)])
def test_patients_are_not_accused(controls, patients):
    """Weak, stiff and twice as unlike each other."""
    count = controls + patients
    groups = ["control"] * controls + ["patient"] * patients
    for seed in range(5):
        spread = np.where(np.arange(count) < controls, 1.0, 2.0)
        means = walkers(count, np.random.default_rng(seed), spread=spread, groups=groups)
        means["joint_moment"].values[controls:] *= [0.6, 0.5, 0.6]
        means["joint_angle"].values[controls:] *= [0.6, 0.5, 0.5]
        assert not compare_subjects(means).findings
        # a unit is found across the groups, and a whole group in another unit as well
        if patients < controls:
            faulty = means.copy(deep=True)
            faulty["joint_moment"].values[controls:] *= 1000.0
            patient = {f"S{k + 1:02d}" for k in range(controls, count)}
            assert errors(compare_subjects(faulty)) == {("subject_scale", name) for name in patient}


def test_conditions_are_held_apart():
    means = walkers(8, np.random.default_rng(0), conditions=2)
    means["joint_moment"].values[:, 1] *= [1.5, -3.0, 2.2]
    means["ground_reaction_force"].values[:, 1] *= 2.2
    assert not compare_subjects(means).findings
    means["joint_moment"].values[3, 1] /= 75.0
    compared = compare_subjects(means, {}, {("S04", "C2"): ["a", "b"]})
    assert set(compared.wrong) == {("S04", "C2")}
    (found,) = compared.findings
    assert found.where.trials == ("a", "b") and found.where.subject == "S04" and found.where.quantity


def test_an_unusual_subject_is_a_warning_with_its_cost():
    means = walkers(12, np.random.default_rng(2))
    means["joint_angle"].values[3, 0, :, 0] += 60.0  # ten times the spread between subjects
    compared = compare_subjects(means)
    (found,) = compared.findings
    assert (found.code, found.severity, found.where.subject) == ("subject_outlying", "warning", "S04")
    values = means["joint_angle"].values[:, 0, :, 0]
    change = np.abs(values.mean(axis=0) - np.delete(values, 3, axis=0).mean(axis=0)).max()
    assert found.cost is not None and found.cost.unit == "deg"
    assert found.cost.size == pytest.approx(change, rel=1e-3)
    assert not compared.wrong and len(compared.said) == 1


def test_another_speed_is_at_most_a_warning():
    """Half the speed of the others: longer strides, smaller forces and moments, all of a person."""
    for seed in range(5):
        means = walkers(8, np.random.default_rng(seed))
        means["speed"].values[2] *= 0.5
        means["stride_time"].values[2] *= 1.35
        means["joint_moment"].values[2] *= 0.75
        assert not errors(compare_subjects(means))


def test_two_sets_of_as_many_are_an_error_of_nobody():
    means = walkers(4, np.random.default_rng(1))
    for subject in (0, 2):
        means = with_fault(means, subject, "N mm")
    compared = compare_subjects(means)
    assert [found.code for found in compared.findings] == ["subjects_split"] and not compared.wrong
    assert not compare_subjects(means.isel(subject=[0])).findings


def test_several_subjects_with_the_same_fault():
    means = walkers(8, np.random.default_rng(1))
    for subject in (0, 3, 6):
        means = with_fault(means, subject, "N m/kg")
    assert errors(compare_subjects(means)) == {("subject_scale", name) for name in ("S01", "S04", "S07")}


def test_moments_in_newton_meters_are_held_over_the_mass():
    """A child of 20 kg among adults is sound, in N m too; an adult in N m/kg is not, and the mass names the unit."""
    means = walkers(8, np.random.default_rng(3))
    mass = np.array([20.0, *np.linspace(60.0, 95.0, 7)])
    means["joint_moment"].values *= mass[:, None, None, None]
    means["joint_moment"].attrs["units"] = "N m"
    masses = dict(zip(means["subject"].values.tolist(), mass.tolist(), strict=True))
    assert not compare_subjects(means, masses).findings
    means["joint_moment"].values[4] /= mass[4]
    (found,) = compare_subjects(means, masses).findings
    assert (found.code, found.where.subject) == ("subject_scale", "S05")
    assert f"1/{mass[4]:.3g}" in found.what


def test_a_factor_of_no_unit_is_a_warning():
    means = walkers(4, np.random.default_rng(1))
    means["joint_angle"].values[2] *= 9.0
    compared = compare_subjects(means)
    assert {(found.code, found.severity) for found in compared.findings} == {("subject_outlying", "warning")}
    assert not compared.wrong


def test_curves_of_zeros_and_missing_curves_are_no_fault():
    means = walkers(6, np.random.default_rng(4))
    means["ground_reaction_force"].values[2] = 0.0
    means["joint_moment"].values[1] = np.nan
    means["joint_moment"].values[3, 0, :40] = np.nan
    assert not errors(compare_subjects(means))
    groups = walkers(8, np.random.default_rng(4), groups=["a"] * 4 + ["b"] * 4)
    groups["joint_angle"].values[4:, ..., 0] = 0.0  # a coordinate that no marker of group b shows
    assert not errors(compare_subjects(groups))


def test_means_without_a_subject():
    means = walkers(4, np.random.default_rng(0), conditions=2, groups=["a", "b", "b", "b"])
    rest = without(means, {("S02", "C1"), ("S01", "C1"), ("S01", "C2")})
    assert rest["subject"].values.tolist() == ["S02", "S03", "S04"] and rest.attrs["groups"] == ["b"]
    assert rest["cycles"].values.tolist() == [[0, 4], [4, 4], [4, 4]]
    assert np.isnan(rest["joint_moment"].values[0, 0]).all()
    np.testing.assert_array_equal(rest["joint_moment"].values[0, 1], means["joint_moment"].values[1, 1])


def test_cycles_that_do_not_count_are_in_no_mean():
    from synthetic_study import cycles, smooth

    data = cycles(smooth(np.random.default_rng(0), 3, 1, 1))
    data = data.assign_coords(counts=("cycle", data["subject"].values != "S02"))
    assert subject_means(data)["subject"].values.tolist() == ["S01", "S03"]
    assert subject_means(data.drop_vars("counts")).sizes["subject"] == 3
