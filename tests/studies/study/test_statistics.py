"""Means of subjects and groups, and tests of curves: against scipy and spm1d, by symmetry, by random null studies."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import spm1d
import xarray as xr
from refusals import refused
from scipy import stats
from synthetic_study import PERCENT, bump, cycles, smooth
from thorough import THOROUGH

from musclesolve.laboratory.results.plausibility import NOT_PLAUSIBLE, PLAUSIBLE
from musclesolve.studies import compare_curves, group_means, subject_means
from musclesolve.studies.study import random_field as module
from musclesolve.studies.study.study_findings import LegVerdict, believable, sensitivity

ALONE = {"correction": "none"}


def means_of(curves, **names):
    return subject_means(cycles(curves, **names))


def compared(curves, design=ALONE, **names):
    return compare_curves(means_of(curves, **names), design)


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def test_a_subject_counts_once_however_many_cycles_it_has(rng):
    data = cycles(smooth(rng, 4, 2, 1), conditions=["slow", "fast"], noise=0.3)
    more = xr.concat([data, *[data.isel(cycle=[0])] * 5], "cycle")
    means = subject_means(more)
    first = more.where((more.subject == "S01") & (more.condition == "slow"), drop=True)["joint_moment"]
    np.testing.assert_allclose(means["joint_moment"].values[0, 0], first.mean("cycle"))
    np.testing.assert_allclose(means["joint_moment_std"].values[0, 0], first.std("cycle", ddof=1))
    assert means["cycles"].values.tolist() == [[7, 2], [2, 2], [2, 2], [2, 2]]
    group = group_means(means)
    np.testing.assert_allclose(group["joint_moment"].values[0], means["joint_moment"].mean("subject"))
    assert group["subjects"].values.tolist() == [[4, 4]]


def test_conditions_that_nobody_has_all_of_are_compared_in_pairs(rng):
    """Ten subjects lack one of five conditions each; each pair is the paired test of those who have both."""
    curves = smooth(rng, 10, 5, 1)
    curves[:, 2] += 4.0 * bump(40)
    curves[np.arange(10), 1 + np.arange(10) % 4] = np.nan
    names = [f"c{k}" for k in range(5)]
    found = compared(curves, conditions=names)
    assert found["effect"].values.tolist() == [f"condition: c{k} - c0" for k in range(1, 5)]
    assert found.attrs["tests"] == 4 and found["subjects"].values.tolist() == [7, 7, 8, 8]
    for place, row in enumerate(found["statistic"].values, start=1):
        both = np.isfinite(curves[:, place, 0, 0])
        alone = compared(curves[both][:, [0, place]], conditions=["c0", f"c{place}"])
        np.testing.assert_allclose(row, alone["statistic"].values[0])
    assert 1 in found["cluster_test"].values
    assert any("all conditions" in each for each in found.attrs["said"])


def test_function_groups_of_muscles_are_no_groups_of_subjects(rng):
    data = cycles(smooth(rng, 3, 1, 2)).rename(dof="muscle", joint_moment="muscle_force")
    means = subject_means(data.assign_coords(group=("muscle", ["triceps_surae", "hamstrings"])))
    assert means.attrs["groups"] == [""] and means["group"].dims == ("subject",)
    assert means["function_group"].values.tolist() == ["triceps_surae", "hamstrings"]


def test_sides_apart_and_outliers_left_out(rng):
    data = cycles(smooth(rng, 3, 1, 1), noise=0.3).assign_coords(outlier=("cycle", [True] + [False] * 5))
    apart = subject_means(data, by_side=True)
    assert apart["joint_moment"].dims == ("subject", "condition", "side", "percent", "dof")
    np.testing.assert_allclose(apart["joint_moment"].values[1, 0, 1], data["joint_moment"].values[2])
    assert subject_means(data)["cycles"].values[0, 0] == 2
    kept = subject_means(data, outliers=False)
    np.testing.assert_allclose(kept["joint_moment"].values[0, 0], data["joint_moment"].values[1])


def test_the_pointwise_band_is_that_of_student(rng):
    curves = smooth(rng, 9, 1, 1)
    band = group_means(means_of(curves))
    low, high = stats.t.interval(0.95, 8, curves.mean(0), stats.sem(curves, axis=0))
    np.testing.assert_allclose(band["joint_moment_low"].values[0, 0, :, 0], low[0, 0])
    np.testing.assert_allclose(band["joint_moment_high"].values[0, 0, :, 0], high[0, 0])


def test_the_simultaneous_band_is_that_of_spm1d(rng):
    curves = smooth(rng, 9, 1, 1)
    band = group_means(means_of(curves), band="simultaneous")
    expected = spm1d.stats.ci_onesample(curves[:, 0, 0], 0.05).ci
    np.testing.assert_allclose(band["joint_moment_low"].values[0, 0, :, 0], expected[0])
    np.testing.assert_allclose(band["joint_moment_high"].values[0, 0, :, 0], expected[1])
    assert "random field" in band.attrs["band"]


def test_what_is_no_mean_of_subjects_and_no_band_is_refused(rng):
    means = means_of(smooth(rng, 4, 1, 1))
    for other in (None, cycles(smooth(rng, 4, 1, 1))):
        with refused("bad_type"):
            group_means(other)
    with refused("unknown_name", "band"):
        group_means(means, band="both")
    with refused("bad_number", "level"):
        group_means(means, level=95)


def test_errors_common_to_all_subjects_are_not_averaged_out(rng):
    data = cycles(smooth(rng, 9, 1, 1))
    data["joint_moment_uncertainty_sd"] = xr.full_like(data["joint_moment"], 0.5)
    means = subject_means(data)
    np.testing.assert_allclose(means["joint_moment_uncertainty_sd"], 0.5)
    apart, common = group_means(means), group_means(means, common_errors=True)
    factor = stats.t.isf(0.025, 8)
    half = [(each["joint_moment_high"] - each["joint_moment"]) / factor for each in (apart, common)]
    np.testing.assert_allclose(half[1] ** 2 - half[0] ** 2, 0.25)


def test_a_paired_test_is_that_of_scipy_and_of_spm1d(rng):
    curves = smooth(rng, 8, 2, 3)
    curves[:, 1] += 4.0 * bump(40)
    found = compared(curves, conditions=["slow", "fast"])
    for k in range(3):
        slow, fast = curves[:, 0, k], curves[:, 1, k]
        np.testing.assert_allclose(found["statistic"].values[k], stats.ttest_rel(fast, slow).statistic)
        expected = spm1d.stats.ttest_paired(fast, slow).inference(0.05)
        assert found["threshold"].values[k] == pytest.approx(expected.zstar)
        assert found["fwhm"].values[k] == pytest.approx(expected.fwhm)
        own = found.isel(cluster=found["cluster_test"].values == k)
        assert own["p"].values == pytest.approx(expected.p)
        ends = np.array([cluster.endpoints for cluster in expected.clusters]).reshape(-1, 2)
        np.testing.assert_allclose(np.stack([own["start"], own["end"]], axis=1), ends)
    assert found.sizes["cluster"] >= 2
    inside = (PERCENT >= found["start"].values[0]) & (PERCENT <= found["end"].values[0])
    difference = (curves[:, 1, 0] - curves[:, 0, 0]).mean(axis=0)
    assert found["mean_difference"].values[0] == pytest.approx(difference[inside].mean())
    share = 100.0 * difference[inside].mean() / np.abs(curves[:, 0, 0].mean(axis=0)).max()
    assert found["mean_difference_percent"].values[0] == pytest.approx(share)
    assert found["difference_of"].values[0] == "fast - slow"


def test_two_groups_are_compared_without_pooled_variance(rng):
    curves = smooth(rng, 17, 1, 1)
    curves[:6] *= 3.0
    found = compared(curves, groups=["control"] * 6 + ["patient"] * 11)
    expected = stats.ttest_ind(curves[6:, 0, 0], curves[:6, 0, 0], equal_var=False)
    np.testing.assert_allclose(found["statistic"].values[0], expected.statistic)
    low, high = expected.df.min(), expected.df.max()
    assert low < found["df"].values[0, 1] < high


def test_groups_of_equal_size_have_the_statistic_of_spm1d(rng):
    curves = smooth(rng, 16, 1, 1)
    found = compared(curves, groups=["a"] * 8 + ["b"] * 8)
    expected = spm1d.stats.ttest2(curves[8:, 0, 0], curves[:8, 0, 0])
    np.testing.assert_allclose(found["statistic"].values[0], expected.z)
    assert found["df"].values[0, 1] == pytest.approx(expected.df[1], rel=0.02)
    assert found["fwhm"].values[0] == pytest.approx(expected.fwhm)


def test_several_groups_have_the_f_of_scipy(rng):
    curves, names = smooth(rng, 15, 1, 2), np.repeat(["a", "b", "c"], 5)
    found = compared(curves, groups=names)
    parts = np.split(curves[:, 0], 3)
    np.testing.assert_allclose(found["statistic"].values, stats.f_oneway(*parts).statistic)
    expected = spm1d.stats.anova1([part[:, 0] for part in parts], equal_var=True)
    assert found["fwhm"].values[0] == pytest.approx(expected.fwhm)
    np.testing.assert_allclose(found["df"].values[0], expected.df, rtol=0.1)


def test_groups_of_unequal_size_have_the_f_of_brown_and_forsythe(rng):
    curves, sizes = smooth(rng, 15, 1, 1), np.array([4, 5, 6])
    curves[:4] *= 3.0
    found = compared(curves, groups=np.repeat(["a", "b", "c"], sizes))
    parts = np.split(curves[:, 0, 0], [4, 9])
    grand = curves[:, 0, 0].mean(axis=0)
    above = sum(n * (part.mean(axis=0) - grand) ** 2 for n, part in zip(sizes, parts, strict=True))
    below = sum((1 - n / 15) * part.var(axis=0, ddof=1) for n, part in zip(sizes, parts, strict=True))
    np.testing.assert_allclose(found["statistic"].values[0], above / below)
    variances = np.array([9.0, 1.0, 1.0])
    terms = (1 - sizes / 15) * variances
    mehrotra = terms.sum() ** 2 / (
        (sizes * variances / 15).sum() ** 2 + (variances**2 * (1 - 2 * sizes / 15)).sum()
    )
    constants = module.variance_ratio(
        [np.sqrt(v) * exact_spread(n)[:, None, None] for n, v in zip(sizes, variances, strict=True)], True
    )
    satterthwaite = terms.sum() ** 2 / (terms**2 / (sizes - 1)).sum()
    assert constants.df == pytest.approx((mehrotra, satterthwaite))


def exact_spread(count):
    """Numbers whose sample standard deviation is exactly 1."""
    numbers = np.arange(count, dtype=float)
    return numbers / numbers.std(ddof=1)


def test_repeated_measures_have_the_f_of_spm1d(rng):
    curves = smooth(rng, 8, 3, 1)
    curves[:, 1] += 3.0 * bump(40)
    found = compared(curves, conditions=["a", "b", "c"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own: residuals of single observations are approximate
        expected = spm1d.stats.anova1rm(
            curves[:, :, 0].reshape(24, -1), np.tile([0, 1, 2], 8), np.repeat(np.arange(8), 3)
        )
    np.testing.assert_allclose(found["statistic"].values[0], expected.z, rtol=1e-8)
    epsilon = found["df"].values[0, 0] / 2.0
    assert 0.5 < epsilon <= 1.0
    assert found["df"].values[0, 1] == pytest.approx(14.0 * epsilon)
    assert {"b - a", "c - b"} & set(found["difference_of"].values.tolist())


def test_two_conditions_give_f_that_is_t_squared(rng):
    """The two ways that a difference of two conditions can be tested, and so for groups."""
    pairs = smooth(rng, 9, 2, 1)[:, :, 0]
    t, f = (
        module.contrast([pairs[:, 1] - pairs[:, 0]], [1.0]),
        module.variance_ratio(profiles([pairs]), False),
    )
    np.testing.assert_allclose(t.statistic**2, f.statistic)
    assert f.df == pytest.approx(t.df)
    parts = [2.0 * pairs[:4], pairs[4:]]
    changes = [part[:, 1] - part[:, 0] for part in parts]
    for weights, between in (([-1.0, 1.0], True), ([0.5, 0.5], False)):
        t, f = module.contrast(changes, weights), module.variance_ratio(profiles(parts), between)
        np.testing.assert_allclose(t.statistic**2, f.statistic)
        assert f.df[0] == pytest.approx(1.0, abs=0.05) and f.df[1] == pytest.approx(t.df[1], rel=0.1)


def profiles(samples):
    return [each - each.mean(axis=1, keepdims=True) for each in samples]


def test_a_mixed_design_has_the_interaction_of_spm1d(rng):
    curves = smooth(rng, 12, 3, 1) + smooth(rng, 12, 1, 1)
    found = compared(curves, groups=["a"] * 6 + ["b"] * 6, conditions=["x", "y", "z"])
    assert found["effect"].values.tolist() == ["group", "condition", "group x condition"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = spm1d.stats.anova2onerm(
            curves[:, :, 0].reshape(36, -1),
            np.repeat([0] * 6 + [1] * 6, 3),
            np.tile([0, 1, 2], 12),
            np.repeat(np.arange(12), 3),
        )
    for row in (1, 2):
        np.testing.assert_allclose(found["statistic"].values[row], expected[row].z, rtol=1e-8)
    averages = curves[:, :, 0].mean(axis=1)
    welch = stats.ttest_ind(averages[6:], averages[:6], equal_var=False)
    np.testing.assert_allclose(found["statistic"].values[0], welch.statistic)


def test_regression_on_a_number_of_the_subjects(rng):
    age = rng.uniform(20.0, 80.0, 12)
    curves = smooth(rng, 12, 1, 1) + (age[:, None, None, None] - 50.0) * 0.1 * bump(60)
    data = cycles(curves, repeats=1).assign_coords(age_years=("cycle", age))
    found = compare_curves(subject_means(data), {"covariate": "age_years", "correction": "none"})
    expected = spm1d.stats.regress(curves[:, 0, 0], age)
    np.testing.assert_allclose(found["statistic"].values[0], expected.z)
    assert found["threshold"].values[0] == pytest.approx(expected.inference(0.05).zstar)
    slope = [stats.linregress(age, column).slope for column in curves[:, 0, 0].T]
    np.testing.assert_allclose(found["difference"].values[0], slope)
    with refused("unknown_name", "weight", "age_years"):
        compare_curves(subject_means(data), {"covariate": "weight"})


def test_a_value_is_regressed_on_the_covariate_as_by_scipy(rng):
    age = rng.uniform(20.0, 80.0, 9)
    means = means_of(smooth(rng, 9, 1, 1)).assign_coords(age=("subject", age))
    means["stride_time"] = (
        ("subject", "condition"),
        (0.01 * age + rng.normal(size=9))[:, None],
        {"units": "s"},
    )
    found = compare_curves(means, {"outcomes": ["stride_time"], "covariate": "age", "correction": "none"})
    row = found["variable"].values.tolist().index("stride_time")
    expected = stats.linregress(age, means["stride_time"].values[:, 0])
    assert found["p_largest"].values[row] == pytest.approx(expected.pvalue)
    assert found["largest"].values[row] == pytest.approx(expected.slope / expected.stderr)
    half = stats.t.ppf(0.975, 7) * expected.stderr
    ends = [float(found[f"value_{end}"].values[row]) for end in ("low", "difference", "high")]
    assert ends == pytest.approx([expected.slope - half, expected.slope, expected.slope + half])


def test_groups_without_a_complete_subject_are_no_traceback(rng):
    curves, names = smooth(rng, 6, 2, 1), ["a", "a", "b", "b", "c", "c"]
    found = compared(curves, groups=names, conditions=["slow", "fast"])
    assert found.attrs["tests"] == 0 and not np.isfinite(found["threshold"].values).any()
    assert all("a test needs 3 subjects" in str(note) for note in found["note"].values)


def test_regression_within_groups_ignores_what_differs_between_them(rng):
    age = np.r_[rng.uniform(20.0, 40.0, 7), rng.uniform(60.0, 80.0, 7)]
    curves, names = smooth(rng, 14, 1, 1), ["a"] * 7 + ["b"] * 7
    shifted = curves + np.repeat([0.0, 5.0], 7)[:, None, None, None]
    both = []
    for each in (curves, shifted):
        data = cycles(each, groups=names, repeats=1).assign_coords(age=("cycle", age))
        found = compare_curves(subject_means(data), {"covariate": "age"})
        both.append(found["statistic"].values[found["effect"].values == "age"])
    np.testing.assert_allclose(both[0], both[1])


def test_symmetry_and_invariance(rng):
    curves = smooth(rng, 8, 2, 1)
    curves[:, 1] += 4.0 * bump(40)
    names = {"conditions": ["slow", "fast"]}
    found, flipped = compared(curves, **names), compared(-curves, **names)
    np.testing.assert_allclose(flipped["statistic"], -found["statistic"])
    exchanged = compare_curves(
        means_of(curves, **names), {"conditions": ["fast", "slow"], "correction": "none"}
    )
    np.testing.assert_allclose(exchanged["statistic"], -found["statistic"])
    moved = compared(curves + 7.0 + 3.0 * np.sin(PERCENT), **names)
    np.testing.assert_allclose(moved["statistic"], found["statistic"], rtol=1e-7)
    scaled = compared(1e-3 * curves, **names)
    for key in ("statistic", "threshold", "p", "start", "end", "mean_difference_percent"):
        for other in (flipped, scaled):
            sign = -1.0 if other is flipped and key == "statistic" else 1.0
            if not (other is flipped and key == "mean_difference_percent"):
                np.testing.assert_allclose(sign * other[key], found[key], rtol=1e-7)


def test_the_level_is_divided_over_all_tests(rng):
    curves = smooth(rng, 8, 2, 5)
    names = {"conditions": ["slow", "fast"]}
    together, alone = compared(curves, {}, **names), compared(curves, {"level": 0.01, **ALONE}, **names)
    assert together.attrs["level_of_each"] == pytest.approx(0.01)
    np.testing.assert_allclose(together["threshold"], alone["threshold"])
    assert any("Bonferroni" in said for said in together.attrs["said"])


def test_percentages_that_a_subject_lacks_are_not_tested(rng):
    curves = smooth(rng, 8, 2, 1)
    curves[2, 0, 0, 30:45] = np.nan
    found = compared(curves, conditions=["slow", "fast"])
    assert np.isnan(found["statistic"].values[0, 30:45]).all()
    assert int(found["tested_percent"].values[0]) == 86
    assert found["resels"].values[0, 0] == 2
    assert "15 of 101" in str(found["note"].values[0])
    there = np.r_[0:30, 45:101]
    expected = stats.ttest_rel(curves[:, 1, 0], curves[:, 0, 0]).statistic[there]
    np.testing.assert_allclose(found["statistic"].values[0, there], expected)


def test_who_lacks_a_condition_is_left_out_by_name(rng):
    data = cycles(smooth(rng, 8, 2, 1), conditions=["slow", "fast"])
    one = data.sel(cycle=~((data.subject == "S03") & (data.condition == "fast")))
    found = compare_curves(subject_means(one), ALONE)
    assert "S03 (fast)" in str(found["note"].values[0])
    without = compare_curves(subject_means(data.sel(cycle=data.subject != "S03")), ALONE)
    np.testing.assert_allclose(found["statistic"], without["statistic"])
    assert int(found["subjects"].values[0]) == 7
    assert found.attrs["said"][0] == "Condition: paired t test (7 subjects)."


@pytest.mark.parametrize("what", ["constant", "few", "unpaired"])
def test_what_cannot_be_tested_is_said_and_not_tested(rng, what):
    curves = smooth(rng, 6, 2, 2)
    if what == "constant":
        curves[:, :, 0] = 3.0
    data = cycles(curves, conditions=["slow", "fast"])
    if what == "few":
        data = data.sel(cycle=data.subject.isin(["S01", "S02"]))
    if what == "unpaired":
        data = data.sel(cycle=(data.condition == "slow") == data.subject.isin(["S01", "S02", "S03"]))
    found = compare_curves(subject_means(data))
    assert "not tested" in str(found["note"].values[0])
    assert np.isnan(found["threshold"].values[0])
    assert found.attrs["tests"] == (1 if what == "constant" else 0)


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        (None, "not tested: a test needs 3 subjects with every condition, there is 1"),
        (["a"] * 4 + [""], "no group: a test needs 3 subjects with every condition, there is 1"),
        (["a"] * 4 + ["b"], "group b: a test needs 3 subjects with every condition, there is 1"),
    ],
)
def test_a_group_that_is_too_small_is_named(rng, groups, said):
    data = cycles(smooth(rng, 5 if groups else 1, 2, 1), groups=groups, conditions=["slow", "fast"])
    assert said in str(compare_curves(subject_means(data))["note"].values[0])


def test_subjects_without_a_group_are_compared_under_a_name(rng):
    curves = smooth(rng, 12, 1, 1)
    curves[6:] += 10.0
    found = compare_curves(subject_means(cycles(curves, groups=["a"] * 6 + [""] * 6, conditions=["slow"])))
    sign = {"no group - a": 1.0, "a - no group": -1.0}[str(found["difference_of"].values[0])]
    assert sign * float(found["mean_difference"][0]) == pytest.approx(10.0, abs=2.0)


def test_where_nothing_varies_the_rest_is_tested(rng):
    curves = smooth(rng, 6, 2, 1)
    curves[..., :20] = 0.0
    found = compared(curves, conditions=["slow", "fast"])
    assert np.isnan(found["statistic"].values[0, :20]).all()
    assert int(found["tested_percent"].values[0]) == 81


def test_one_group_and_one_condition_compare_nothing(rng):
    found = compare_curves(means_of(smooth(rng, 6, 1, 1)))
    assert found.sizes["test"] == 0
    assert "no two groups, conditions or legs" in found.attrs["said"][0]


def test_two_conditions_without_a_curve_compare_nothing(rng):
    means = means_of(smooth(rng, 6, 2, 1), conditions=["slow", "fast"])
    found = compare_curves(means.where(means["cycles"] < 0))
    assert found.sizes["test"] == 0
    assert "no curve" in found.attrs["said"][0] and "groups" not in found.attrs["said"][0]


def test_axes_and_sides_are_curves_of_their_own(rng):
    curves = smooth(rng, 6, 2, 3)
    data = cycles(curves, conditions=["slow", "fast"], noise=0.1).rename(dof="axis")
    data = data.assign_coords(axis=list("xyz"))
    found = compare_curves(subject_means(data, by_side=True), {"quantities": ["joint_moment"]})
    assert found["name"].values.tolist()[:2] == ["l x", "l y"]
    assert found.sizes["test"] == 6


@pytest.mark.parametrize("groups", [None, ["a"] * 6, ["a"] * 3 + ["b"] * 3])
def test_means_and_tests_are_stored_and_read_again(rng, tmp_path, groups):
    means = means_of(smooth(rng, 6, 2, 2), conditions=["slow", "fast"], groups=groups)
    found = compare_curves(means)
    means.to_netcdf(tmp_path / "means.nc")
    found.to_netcdf(tmp_path / "comparisons.nc")
    with (
        xr.open_dataset(tmp_path / "means.nc") as again,
        xr.open_dataset(tmp_path / "comparisons.nc") as stored,
    ):
        np.testing.assert_array_equal(stored["statistic"], found["statistic"])
        np.testing.assert_array_equal(compare_curves(again)["statistic"], found["statistic"])
        xr.testing.assert_equal(group_means(again), group_means(means))


def test_bad_input_is_refused(rng):
    means = means_of(smooth(rng, 6, 2, 1), conditions=["slow", "fast"])
    with refused("unknown_name", "knee_angle", "joint_moment"):
        compare_curves(means, {"quantities": ["knee_angle"]})
    with refused("bad_number", "level"):
        compare_curves(means, {"level": 5.0})
    with refused("bad_number", "holm"):
        compare_curves(means, {"correction": "holm"})
    with refused("bad_result", "subject"):
        subject_means(means)
    with refused("bad_type", "subject_means"):
        compare_curves(cycles(smooth(rng, 3, 1, 1)))
    twice = cycles(smooth(rng, 3, 2, 1)).assign_coords(group=("cycle", ["a", "b"] * 6))
    with refused("conflict", "S01"):
        subject_means(twice)
    with refused("not_comparable"):
        subject_means(twice, groups=["c"])


@pytest.mark.in_part(3)
@pytest.mark.parametrize("design", ["paired", "Welch", "repeated"])
def test_differences_are_found_where_there_are_none_as_often_as_the_level_says(design):
    """Many null studies; limits of 99.9 %. Welch: the smaller group is three times as variable."""
    many, rng = 300 if THOROUGH else 150, np.random.default_rng(11)
    subjects, conditions = {"paired": (10, 2), "Welch": (24, 1), "repeated": (10, 3)}[design]
    curves, names = smooth(rng, subjects, conditions, many), {"conditions": ["c0", "c1", "c2"][:conditions]}
    if design == "Welch":
        curves[:6] *= 3.0
        names = {"groups": ["a"] * 6 + ["b"] * 18}
    found = compared(curves, **names)
    wrong = np.intersect1d(found["cluster_test"].values, np.flatnonzero(found["follows"].values < 0)).size
    low, high = stats.binom.interval(0.999, many, 0.05)
    assert low <= wrong <= high


def test_a_difference_is_found_where_it_was_put(rng):
    curves = smooth(rng, 12, 2, 40)
    curves[:, 1] += 4.0 * bump(40)
    found = compared(curves, conditions=["slow", "fast"])
    over = (found["start"].values < 40) & (found["end"].values > 40)
    assert np.unique(found["cluster_test"].values[over]).size >= 38


def named(found, effect):
    return found.isel(test=np.flatnonzero(found["effect"].values == effect))


def test_where_conditions_differ_each_is_compared_with_the_first(rng):
    curves = smooth(rng, 12, 5, 2)
    curves[:, 3, 0] += 5.0 * bump(40)
    names = ["level", "slow", "fast", "up", "down"]
    found = compared(curves, {}, conditions=names)
    assert found["effect"].values.tolist().count("condition") == found.attrs["tests"] == 2
    single = found.isel(test=np.flatnonzero(found["follows"].values == 0))
    assert single["effect"].values.tolist() == [f"condition: {name} - level" for name in names[1:]]
    assert (
        found["follows"].values[found["name"].values == "dof_1"] == -1
    ).all()  # nothing differs: none follows
    np.testing.assert_allclose(single["level_of_test"], 0.05 / 2 / 4)
    expected = stats.ttest_rel(curves[:, 3, 0], curves[:, 0, 0]).statistic
    np.testing.assert_allclose(named(found, "condition: up - level")["statistic"].values[0], expected)
    of = found["effect"].values[found["cluster_test"].values]
    assert set(of) == {"condition", "condition: up - level"}


def test_where_groups_differ_each_is_compared_with_the_first(rng):
    curves = smooth(rng, 30, 1, 1)
    curves[20:] += 4.0 * bump(60)
    found = compared(curves, {}, groups=np.repeat(["a", "b", "c"], 10))
    expected = stats.ttest_ind(curves[20:, 0, 0], curves[:10, 0, 0], equal_var=False).statistic
    np.testing.assert_allclose(named(found, "group: c - a")["statistic"].values[0], expected)
    assert set(found["effect"].values[found["cluster_test"].values]) == {"group", "group: c - a"}


@pytest.mark.thorough
def test_single_comparisons_are_wrong_no_more_often_than_the_analysis():
    """One of four conditions differs always, so the analysis does not protect the two others."""
    many, rng = 200 if THOROUGH else 100, np.random.default_rng(12)
    curves = smooth(rng, 10, 4, many)
    curves[:, 3] += 8.0 * bump(40)
    found = compared(curves, conditions=["c0", "c1", "c2", "c3"])
    wrong = set()
    for test in np.unique(found["cluster_test"].values):
        if str(found["effect"].values[test]) in ("condition: c1 - c0", "condition: c2 - c0"):
            wrong.add(str(found["name"].values[test]))
    assert len(wrong) <= stats.binom.ppf(0.999, many, 0.05)


def test_primary_outcomes_have_a_level_of_their_own(rng):
    curves = smooth(rng, 10, 2, 20)
    curves[:, 1, 3] += 2.2 * bump(40)
    names = {"conditions": ["slow", "fast"]}
    outcomes = {"outcomes": ["joint_moment dof_3"]}
    together, found = compared(curves, {}, **names), compared(curves, outcomes, **names)
    assert found["name"].values[0] == "dof_3" and found["family"].values.tolist() == ["primary"] + 19 * [
        "exploratory"
    ]
    np.testing.assert_allclose(found["level_of_test"], [0.05] + 19 * [0.05 / 19])
    # hidden among twenty curves, found as the one that was asked for
    assert not (together["name"].values[together["cluster_test"].values] == "dof_3").any()
    assert (found["name"].values[found["cluster_test"].values] == "dof_3").any()
    with refused("unknown_name", "joint_moment dof_3"):
        compared(curves, {"outcomes": ["joint_moment dof_33"]}, **names)


@pytest.mark.parametrize("design", ["paired", "repeated", "groups"])
def test_a_value_is_tested_as_scipy_does(rng, design):
    conditions = {"paired": 2, "repeated": 3, "groups": 1}[design]
    curves = smooth(rng, 12, conditions, 1)
    names = {"conditions": [f"c{k}" for k in range(conditions)]}
    names |= {"groups": ["a"] * 5 + ["b"] * 7} if design == "groups" else {}
    peaks = curves[:, :, 0].max(axis=-1)
    text = "joint_moment dof_0 max"
    means = means_of(curves, **names)
    found = compare_curves(
        means.assign({text: (("subject", "condition"), peaks, {"units": "N m/kg"})}), {"outcomes": [text]}
    )
    test = found.isel(test=0)
    if design == "paired":
        expected = stats.ttest_rel(peaks[:, 1], peaks[:, 0])
    elif design == "groups":
        expected = stats.ttest_ind(peaks[5:, 0], peaks[:5, 0], equal_var=False)
    else:  # of equal variances and covariances the correction is small
        assert float(test["largest"]) == pytest.approx(_repeated(peaks))
        return
    assert float(test["largest"]) == pytest.approx(expected.statistic)
    assert float(test["p_largest"]) == pytest.approx(expected.pvalue)
    interval = expected.confidence_interval(0.95)
    assert [float(test[f"value_{end}"]) for end in ("low", "high")] == pytest.approx([*interval])
    assert np.isnan(test["largest_at"]) and np.isnan(test["statistic"]).all()


def _repeated(values):
    """F of one-way repeated measures (S, C) by sums of squares."""
    subjects, count = values.shape
    center = values.mean()
    between = subjects * ((values.mean(0) - center) ** 2).sum() / (count - 1)
    rest = values - values.mean(0) - values.mean(1, keepdims=True) + center
    return between / ((rest**2).sum() / ((subjects - 1) * (count - 1)))


def test_legs_are_a_factor(rng):
    """The affected leg differs from the sound one, and more so in one condition."""
    curves = np.repeat(smooth(rng, 10, 2, 1), 2, axis=0)  # a row for each leg of each subject
    own = 0.5 * smooth(rng, 20, 2, 1)
    shift = np.tile([0.0, 1.0], 10)[:, None, None, None] * np.array([1.0, 2.5])[:, None, None]
    data = cycles(curves + own + 3.0 * shift * bump(50), conditions=["slow", "fast"])
    row = np.array([int(name[1:]) - 1 for name in data["subject"].values])
    data = data.assign_coords(
        subject=("cycle", [f"P{k // 2}" for k in row]),
        cycle_leg=("cycle", np.array(["sound", "affected"])[row % 2]),
    )
    means = subject_means(data, legs=["sound", "affected"])
    assert means["joint_moment"].dims == ("subject", "condition", "leg", "percent", "dof")
    found = compare_curves(means, ALONE)
    assert found["effect"].values.tolist() == ["condition", "leg", "condition x leg"]
    values = means["joint_moment"].values[..., 0]  # (S, C, L, Q)
    leg = stats.ttest_rel(values[:, :, 1].mean(1), values[:, :, 0].mean(1)).statistic
    apart = values[:, :, 1] - values[:, :, 0]
    both = stats.ttest_rel(apart[:, 1], apart[:, 0]).statistic
    np.testing.assert_allclose(named(found, "leg")["statistic"].values[0], leg)
    np.testing.assert_allclose(named(found, "condition x leg")["statistic"].values[0], both)
    assert found["difference_of"].values.tolist().count("affected - sound") >= 1
    together = compare_curves(subject_means(data), ALONE)
    np.testing.assert_allclose(
        named(found, "condition")["statistic"], named(together, "condition")["statistic"]
    )


def test_arms_and_curves_without_values_are_left_out_unless_they_are_outcomes(rng):
    curves = smooth(rng, 8, 2, 5)
    curves[:, :, 2] = 0.0
    curves[:, :, 3] = np.nan
    data = cycles(curves, conditions=["slow", "fast"])
    dofs = ["hip_flexion", "elbow_flexion", "mtp_angle", "knee_angle", "girdle_elevation"]
    means = subject_means(data.assign_coords(dof=dofs))
    found = compare_curves(means)
    assert found["name"].values.tolist() == ["hip_flexion"] and found.attrs["tests"] == 1
    said = " ".join(found.attrs["said"])
    assert (
        "arms and shoulder girdles are not compared: elbow_flexion" in said
        and "joint_moment mtp_angle" in said
    )
    found = compare_curves(means, {"outcomes": ["joint_moment elbow_flexion"]})
    assert found["name"].values.tolist() == ["elbow_flexion", "hip_flexion"]


def test_primary_outcomes_legs_and_sensitivity_of_one_planted_study(rng):
    """A difference of the affected leg in a primary outcome is found with all trials and with the plausible ones. An
    exploratory difference of the slope that implausible trials hide is found without them.
    """
    conditions, legs = ["level", "slope"], ["sound", "affected"]
    curves = 0.3 * smooth(rng, 10, 2, 2, 4)  # (subject, condition, leg, dof, percent)
    curves[:, :, 1, 0] += 1.2 * bump(40)
    curves[:, 1, :, 2] += 1.5 * bump(60)
    curves[[2, 5], 1, :, 2] -= 8.0 * bump(60)
    rows = curves.transpose(0, 2, 1, 3, 4).reshape(20, 2, 4, -1)  # a row for each leg of each subject
    data = cycles(rows, conditions=conditions, repeats=1)
    row = np.repeat(np.arange(20), 2)
    names = np.array([f"S{k // 2 + 1:02d}" for k in row])
    data = data.assign_coords(
        subject=("cycle", names),
        cycle_leg=("cycle", np.array(legs)[row % 2]),
        cycle_side=("cycle", np.array(["r", "l"])[row % 2]),
        trial=("cycle", np.char.add(np.char.add(names, "_"), data["condition"].values.astype(str))),
    )
    verdicts = [
        LegVerdict(trial, side, NOT_PLAUSIBLE if trial in ("S03_slope", "S06_slope") else PLAUSIBLE, ())
        for trial in dict.fromkeys(data["trial"].values.tolist())
        for side in "rl"
    ]
    design = {"outcomes": ["joint_moment dof_0", "joint_moment dof_1"]}
    kept = data.isel(cycle=np.flatnonzero(believable(data, verdicts)))
    every, plausible = (compare_curves(subject_means(each, legs=legs), design) for each in (data, kept))
    for tests in (every, plausible):
        found = np.unique(tests["cluster_test"].values)
        primary = found[tests["family"].values[found] == "primary"]
        assert tests["name"].values[primary].tolist() == ["dof_0"]
        assert tests["effect"].values[primary].tolist() == ["leg"]
    assert int(every["subjects"].values.max()) == 10 and int(plausible["subjects"].values.max()) == 8
    said = sensitivity(every, plausible, "", verdicts)
    assert (
        said.startswith("4 of 40 legs of trials are not plausible")
        and "Without such legs these are found as well" in said
    )
    assert "dof 2" in said and "dof 0" not in said
