"""How often the tests of a study find a difference where there is none, and where there is one.

    python -m benchmarks.study_statistics [STUDIES]

Curves are Gaussian random curves of 101 percentages, FWHM 20 % unless stated. A study is one curve of every subject; a
positive is any cluster at a level of 5 %. Below the table stands the range in which a rate lies with probability 99 %
if the true one is 5 %. The tests that spm1d offers for the same data are measured on the same curves.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import spm1d
import xarray as xr
from rich.console import Console
from rich.table import Table
from scipy import stats
from scipy.ndimage import gaussian_filter1d

from musclesolve.studies.study.curve_tests import compare_curves
from musclesolve.studies.study.means import subject_means

LEVEL, STUDIES = 0.05, 600
PERCENT = np.linspace(0.0, 100.0, 101)
MARGIN = 150
AT, WIDTH, FWHM = 40.0, 8.0, 20.0
Curves = np.ndarray


def smooth(rng: np.random.Generator, *shape: int, fwhm: float = FWHM) -> Curves:
    """Gaussian random curves (*shape, 101) of unit variance and stationary smoothness [%]."""
    sigma = fwhm / np.sqrt(8.0 * np.log(2.0))
    noise = rng.standard_normal((*shape, PERCENT.size + 2 * MARGIN))
    kernel = gaussian_filter1d(np.eye(1, 1001, 500)[0], sigma)
    return (gaussian_filter1d(noise, sigma, axis=-1) / np.sqrt((kernel**2).sum()))[..., MARGIN:-MARGIN]


def uneven(rng: np.random.Generator, *shape: int) -> Curves:
    """Curves as of joints: twice as smooth in one half as in the other, and four times as variable in its middle."""
    rough, even = smooth(rng, *shape, fwhm=15.0), smooth(rng, *shape, fwhm=30.0)
    share = 1.0 / (1.0 + np.exp(-(PERCENT - 50.0) / 5.0))
    mixed = np.sqrt(share) * rough + np.sqrt(1.0 - share) * even
    return mixed * (1.0 + 3.0 * np.exp(-0.5 * ((PERCENT - 70.0) / 10.0) ** 2))


def bump() -> Curves:
    """A bell of height 1 (101,)."""
    return np.exp(-0.5 * ((PERCENT - AT) / WIDTH) ** 2)


def study(curves: Curves, groups: list[str] | None = None, age: Curves | None = None) -> xr.Dataset:
    """Means of subjects from curves (S, C, K, 101): K studies beside each other."""
    subjects, conditions, many = curves.shape[:3]
    row, column = (axis.ravel() for axis in np.indices((subjects, conditions)))
    over = {"subject": np.array([f"S{k}" for k in row]), "condition": np.array([f"c{k}" for k in column])}
    over |= {} if groups is None else {"group": np.array(groups)[row]}
    over |= {} if age is None else {"age": age[row]}
    cycles = xr.Dataset(
        {"joint_angle": (("cycle", "dof", "percent"), curves[row, column])},
        {
            **{name: ("cycle", each) for name, each in over.items()},
            "percent": PERCENT,
            "dof": np.arange(many),
        },
    )
    return subject_means(cycles)


def rates(means: xr.Dataset, correction: str = "none", covariate: str | None = None) -> dict[str, float]:
    """Share of the curves with a cluster, by effect."""
    found = compare_curves(means, {"correction": correction, "level": LEVEL, "covariate": covariate})
    positive = np.isin(np.arange(found.sizes["test"]), found["cluster_test"].values)
    first = found["follows"].values < 0  # the others are made where these find something
    positive, effect = positive[first], found["effect"].values[first]
    return {str(name): float(positive[effect == name].mean()) for name in dict.fromkeys(effect)}


def of_spm1d(curves: Curves, test: Callable[[Curves], Any]) -> float:
    """Share of the studies (..., K, 101) in which a test of spm1d has a cluster."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # spm1d warns that residuals of single observations are approximate
        found = [test(curves[..., k, :]).inference(LEVEL).h0reject for k in range(curves.shape[-2])]
    return float(np.mean(found))


def families(many: int, console: Console) -> None:
    """How often what is beside the usual tests is wrong: primary and exploratory curves, single conditions, legs."""
    rng, count = np.random.default_rng((2026, 100)), dict.fromkeys(("primary", "exploratory"), 0)
    for _ in range(many):
        means = study(smooth(rng, 10, 2, 20))
        found = compare_curves(means, {"outcomes": ["joint_angle 0", "joint_angle 1"], "level": LEVEL})
        for family in set(found["family"].values[found["cluster_test"].values]):
            count[str(family)] += 1
    rng = np.random.default_rng((2026, 101))
    curves = smooth(rng, 10, 4, many)
    curves[:, 3] += 8.0 * bump()  # the analysis finds it always and does not protect the two others
    found = compare_curves(study(curves), {"correction": "none", "level": LEVEL})
    positive = np.unique(found["cluster_test"].values)
    wrong = [each for each in positive if "c1 - " in str(found["effect"].values[each])]
    wrong += [each for each in positive if "c2 - " in str(found["effect"].values[each])]
    count["single conditions of which none differs, beside one that does"] = len(
        set(found["name"].values[wrong].tolist())
    )
    rng = np.random.default_rng((2026, 102))
    subject, leg = smooth(rng, 10, 2, many)[:, :, None], smooth(rng, 10, 2, many * 2)
    both = subject + 0.5 * leg.reshape(10, 2, 2, many, -1)
    over = ("subject", "condition", "leg", "dof", "percent")
    legs = study(both[:, :, 0]).drop_vars(["joint_angle", "joint_angle_std"])
    legs = legs.assign(joint_angle=(over, both)).assign_coords(leg=["right", "left"])
    for effect, rate in rates(legs).items():
        count[f"{effect}, where legs are compared"] = round(rate * many)
    low, high = (100.0 * value / many for value in stats.binom.interval(0.99, many, LEVEL))
    table = Table("what", "positive [%]", title=f"{many} studies each, level 5 %: {low:.1f} to {high:.1f} %")
    for what, times in count.items():
        table.add_row(what, f"{100.0 * times / many:.1f}")
    console.print(table)


def of_pairs(many: int, rng: np.random.Generator) -> float:
    """Share of studies with a positive: 10 subjects, 5 conditions, of which each subject lacks one but the first."""
    positive = []
    for _ in range(many):
        curves = smooth(rng, 10, 5, 1)
        curves[np.arange(10), 1 + np.arange(10) % 4] = np.nan
        found = compare_curves(study(curves), {"correction": "bonferroni", "level": LEVEL})
        positive.append(found.sizes["cluster"] > 0)
    return float(np.mean(positive))


def main() -> None:
    many = int(sys.argv[1]) if len(sys.argv) > 1 else STUDIES
    rng = np.random.default_rng(2026)
    low, high = (100.0 * value / many for value in stats.binom.interval(0.99, many, LEVEL))
    table = Table("curves", "test", "positive [%]", "of spm1d [%]", title=f"{many} studies each, level 5 %")

    def add(what: str, found: dict[str, float], other: float | None = None) -> None:
        for number, (effect, rate) in enumerate(found.items()):
            beside = "" if other is None or number else f"{100.0 * other:.1f}"
            table.add_row(what if not number else "", effect, f"{100.0 * rate:.1f}", beside)

    for n in (3, 4, 5, 8, 12, 20):
        own = rng if n > 4 else np.random.default_rng((2026, n))  # the other rows stay what they were
        curves = smooth(own, n, 2, many)
        add(f"{n} subjects, 2 conditions", rates(study(curves)),
            of_spm1d(curves, lambda y: spm1d.stats.ttest_paired(y[:, 1], y[:, 0])))  # fmt: skip
    for fwhm in (5.0, 10.0, 40.0):
        curves = smooth(rng, 10, 2, many, fwhm=fwhm)
        add(f"10 subjects, 2 conditions, FWHM {fwhm:g} %", rates(study(curves)),
            of_spm1d(curves, lambda y: spm1d.stats.ttest_paired(y[:, 1], y[:, 0])))  # fmt: skip
    curves = uneven(rng, 10, 2, many)
    add("10 subjects, 2 conditions, uneven smoothness and spread", rates(study(curves)),
        of_spm1d(curves, lambda y: spm1d.stats.ttest_paired(y[:, 1], y[:, 0])))  # fmt: skip
    for first, second, spread in ((10, 10, 1.0), (10, 10, 3.0), (6, 18, 1.0), (6, 18, 3.0), (18, 6, 3.0)):
        curves = smooth(rng, first + second, 1, many)
        curves[:first] *= spread
        add(f"groups of {first} and {second}, spread {spread:g} and 1",
            rates(study(curves, ["a"] * first + ["b"] * second)),
            of_spm1d(curves[:, 0], lambda y, n=first: spm1d.stats.ttest2(y[:n], y[n:])))  # fmt: skip
    labels = np.repeat([0, 1, 2], 8)
    for spread in (1.0, 3.0):
        curves = smooth(rng, 24, 1, many)
        curves[:8] *= spread
        add(f"3 groups of 8, spread {spread:g}, 1 and 1", rates(study(curves, list(np.array(["a", "b", "c"])[labels]))),
            of_spm1d(curves[:, 0], lambda y: spm1d.stats.anova1(y, labels, equal_var=True)))  # fmt: skip
    curves = smooth(rng, 30, 1, many)
    curves[:6] *= 3.0
    add(
        "groups of 6, 10 and 14, spread 3, 1 and 1", rates(study(curves, ["a"] * 6 + ["b"] * 10 + ["c"] * 14))
    )
    for spread in (1.0, 3.0):
        curves = smooth(rng, 10, 3, many)
        curves[:, 0] *= spread
        add(f"10 subjects, 3 conditions, spread {spread:g}, 1 and 1", rates(study(curves)),
            of_spm1d(curves, lambda y: spm1d.stats.anova1rm(
                y.reshape(30, -1), np.tile([0, 1, 2], 10), np.repeat(np.arange(10), 3))))  # fmt: skip
    for conditions in (2, 3):
        curves = smooth(rng, 16, conditions, many) + smooth(rng, 16, 1, many)
        curves[:6] *= 2.0
        add(f"groups of 6 and 10, spread 2 and 1, {conditions} conditions",
            rates(study(curves, ["a"] * 6 + ["b"] * 10)))  # fmt: skip
    age = rng.uniform(20.0, 80.0, 12)
    curves = smooth(rng, 12, 1, many)
    add("12 subjects, covariate", rates(study(curves, age=age), covariate="age"),
        of_spm1d(curves[:, 0], lambda y: spm1d.stats.regress(y, age)))  # fmt: skip
    console = Console(width=110)
    console.print(table)
    console.print(f"A rate of 5 % is measured between {low:.1f} and {high:.1f} % (binomial, 99 %).\n")

    each, curves_of_study = max(many // 5, 40), 20
    positive = []
    for _ in range(each):
        means = study(smooth(rng, 10, 2, curves_of_study))
        positive.append(rates(means, "bonferroni")["condition"] > 0.0)
    low, high = (100.0 * value / each for value in stats.binom.interval(0.99, each, LEVEL))
    console.print(
        f"{each} studies of {curves_of_study} independent curves, Bonferroni: any positive in "
        f"{100.0 * np.mean(positive):.1f} % (5 % is measured between {low:.1f} and {high:.1f} %)\n"
    )
    families(max(many // 3, 40), console)
    pairs = of_pairs(many, np.random.default_rng((2026, 5)))
    console.print(f"In pairs, as nobody has all of 5 conditions: any positive in {100.0 * pairs:.1f} %\n")
    table = Table(
        "subjects", "height [SD of a curve]", "found [%]", "cluster over the peak [%]", title="Power, paired"
    )
    for n in (8, 12, 20):
        for height in (1.0, 2.0, 3.0):
            curves = smooth(rng, n, 2, many // 5)
            curves[:, 1] += height * bump()
            found = compare_curves(study(curves), {"correction": "none", "level": LEVEL})
            over = (found["start"].values <= AT) & (found["end"].values >= AT)
            shares = [
                np.unique(found["cluster_test"].values[mask]).size / found.sizes["test"]
                for mask in (over | True, over)
            ]
            table.add_row(f"{n}", f"{height:g}", *(f"{100.0 * share:.0f}" for share in shares))
    console.print(table)


if __name__ == "__main__":
    main()
