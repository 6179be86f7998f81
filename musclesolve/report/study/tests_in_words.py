"""Sentences of a study page on its tests: where curves differ, by how much, and beside the measurement error."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.message_text import count_of
from musclesolve.report.content.methods import Citations
from musclesolve.report.content.pieces import plain
from musclesolve.results.cycles.curve_test import CurveTest, curve_tests
from musclesolve.results.tables import study_tables
from musclesolve.studies.study.analysis import StudyResult


def families_in_words(result: StudyResult, citations: Citations) -> list[dict[str, Any]]:
    """The outcome of each family of tests in sentences: primary outcomes first, then the smallest p.

    Differences of other outcomes that are smaller than the measurement error are counted only. A family has its title,
    differences that were found and the number of `more` in the table alone, a sentence on `small` ones, and on `none`.
    """
    if result.comparisons is None:
        return []
    tests = curve_tests(result.comparisons)
    families = list[dict[str, Any]]()
    for name in sorted({test.family for test in tests}, key=lambda each: each == "exploratory"):
        own = [test for test in tests if test.family == name and test.follows < 0]
        primary = name == "primary"
        differing = sorted((test for test in own if test.clusters), key=_least_p)
        counted_only = [test for test in differing if not primary and _is_small(test)]
        found = [_sentence(test, tests) for test in differing if test not in counted_only]
        most = len(found) if primary else MOST_SENTENCES
        without: dict[str, list[str]] = {}
        for test in own if primary else ():
            if not test.clusters and np.isfinite(test.threshold):
                size = "" if test.interval is None else f", {_amount(test, test.interval.difference)}"
                p = f"{_effect(test)} p {_p_words(test.p_largest)}{size}"
                without.setdefault(test.words, []).append(p)
        curves = "; ".join(f"{words} ({', '.join(each)})" for words, each in without.items())
        none = f"No difference found, with p of the largest: {curves}." if curves else ""
        title = {"primary": "Primary outcomes", "exploratory": "Exploratory"}.get(name, "")
        if name == "exploratory" and not differing:
            none = f"None of {count_of(len(own), 'exploratory test')} finds a difference."
        small = _small_words([test.unit for test in counted_only], citations)
        families.append(
            {"title": title, "found": found[:most], "more": len(found[most:]), "small": small, "none": none}
        )
    return families


def _small_words(units: Sequence[str], citations: Citations) -> Markup | str:
    """A sentence on differences that are smaller than the measurement error, by their units; "" without any."""
    if not units:
        return ""
    count = len(units)
    errors = Markup(", ").join(
        Markup("{} {}{}").format(f"{error['size']:g}", unit, citations.cite(error["work"]))
        for unit, error in measurement_error().items()
        if unit in units
    )
    are = "is" if count == 1 else "are"
    what = f"{count_of(count, 'difference')} {are} smaller than sessions of one person differ"
    return Markup("{} ({}); {} in the table alone.").format(
        what, errors, "it is" if count == 1 else "they are"
    )


def measurement_error() -> dict[str, Any]:
    """Size and source of the standard error of measurement between sessions, by unit."""
    return bundled_toml("musclesolve.results.tables", "measurement_error.toml")


MOST_SENTENCES = 12
"""Largest number of sentences on differences of other than primary outcomes."""


def _p_words(p: float) -> str:
    text = study_tables.p_text(p)
    return text.replace("<", "< ") if text.startswith("<") else f"= {text}"


def _least_p(test: CurveTest) -> float:
    return min(cluster.p for cluster in test.clusters)


def _effect(test: CurveTest) -> str:
    """Return the effect of a test without its prefix, such as "slow - level"."""
    return plain(test.effect.partition(": ")[2] or test.effect)


def _is_small(test: CurveTest) -> bool:
    """Return whether the largest difference is smaller than the measurement error."""
    error = measurement_error().get(test.unit)
    return error is not None and test.largest is not None and abs(test.largest.difference) < error["size"]


def _amount(test: CurveTest, difference: float) -> str:
    """A difference with its unit, and of a value its confidence interval."""
    interval = study_tables.interval_text(test)
    amount = study_tables.with_unit(f"{difference:+.3g}", test.unit)
    return f"{amount} ({interval})" if interval else amount


def _sentence(test: CurveTest, tests: Sequence[CurveTest]) -> str:
    """Return a sentence on the stretches where the curves of a test differ, the size, and the conditions or groups that
    differ from the first.
    """
    where = ", ".join(study_tables.stretch(cluster, " to ") for cluster in test.clusters)
    where = f", at {where} % of the cycle" if np.isfinite(test.clusters[0].start) else ""
    effect, size = _effect(test), ""
    if (largest := test.largest) is not None:
        of = plain(largest.of) or "difference"
        of = "" if of == effect else f"{of}: "
        share = f", {largest.percent:+z.0f} % of the reference's peak" if np.isfinite(largest.percent) else ""
        small = ", smaller than the measurement error" if _is_small(test) else ""
        size = f"; {of}{_amount(test, largest.difference)}{share}{small}"
    if followed := [other for other in tests if other.follows == test.row]:
        pairs = [other.effect.partition(": ")[2].rpartition(" - ") for other in followed if other.clusters]
        apart = ", ".join(plain(name) for name, _, _ in pairs)
        size += f"; against {plain(pairs[0][2])}: {apart}" if pairs else "; no single one stands out"
    return f"{test.words.capitalize()}: {effect}{where} (p {_p_words(_least_p(test))}{size})"


def none_in_words(result: StudyResult) -> str:
    """Return a sentence on the meaning of tests without any difference."""
    if result.comparisons is None:
        return ""
    tests = result.comparisons
    subjects = int(tests["subjects"].values[tests["tested_percent"].values > 0].max(initial=0))
    return (
        f"No difference that these tests could find with {count_of(subjects, 'subject')}. That does not show that the "
        "curves agree: the fewer the subjects, the larger a difference has to be for a test to find it."
    )
