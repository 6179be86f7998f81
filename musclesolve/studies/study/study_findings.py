"""Verdicts and findings of the trials of a study: whether legs are plausible, why not, tests without the others, and
the findings on subjects and trials in one list, each fault once.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import netCDF4
import numpy as np
import xarray as xr

from musclesolve._util.arrays import AnyArray, Array, Mask
from musclesolve._util.messages import count_of, shortened
from musclesolve._util.sides import ALL_SIDES
from musclesolve.laboratory.recording.data import SIDES
from musclesolve.laboratory.results.finding import FINDINGS, Finding, Run, stored_findings, texts
from musclesolve.laboratory.results.plausibility import (
    AT_EDGE,
    DEGREES,
    FLAGS,
    NOT_KNOWN,
    NOT_PLAUSIBLE,
    PLAUSIBLE,
)
from musclesolve.laboratory.results.tables.study_tables import curve_tests

VERDICTS = (PLAUSIBLE, AT_EDGE, NOT_PLAUSIBLE, NOT_KNOWN)


@dataclass(frozen=True)
class LegVerdict:
    """The verdict on a leg of a trial.

    Args:
        trial: its name.
        side: "r" or "l"; "other" of a model without legs.
        verdict: one of `VERDICTS`.
        reasons: criterion (of contact forces with the joint), "outside" or "at the edge", sentence; of the leg and of
            the whole body.
    """

    trial: str
    side: str
    verdict: str
    reasons: tuple[tuple[str, str, str], ...] = ()


def leg_verdicts(trial: str, result: netCDF4.Dataset) -> list[LegVerdict]:
    """The verdicts stored with the result of a trial; none where it was not judged."""
    if "plausible" not in result.variables:
        return []
    stored = result["plausible"]
    flags = dict(zip(map(str, result["side"][:]), map(int, stored[:]), strict=True))
    lines = str(getattr(stored, "criteria", "")).splitlines()
    names = {flag: verdict for verdict, flag in FLAGS.items()}
    verdicts = []
    for side, flag in flags.items():
        if side not in SIDES and any(leg in flags for leg in SIDES):
            continue  # the trunk beside legs has no cycles
        reasons = []
        for line in lines:
            head, _, sentence = line.partition(": ")
            criterion, of, degree = head.split(" ", 2)
            if of in (side, "body") and degree in (DEGREES[NOT_PLAUSIBLE], DEGREES[AT_EDGE]):
                joint = f", {sentence.split()[1]}" if criterion == "contact" else ""
                reasons.append((criterion + joint, degree, sentence))
        verdicts.append(LegVerdict(trial, side, names[flag], tuple(reasons)))
    return verdicts


def has_legs(verdicts: Iterable[LegVerdict]) -> bool:
    """Whether verdicts are of legs, and not of trials of models without any."""
    return any(verdict.side in SIDES for verdict in verdicts)


Label = TypeVar("Label")


def counted(verdicts: Iterable[LegVerdict], label: Mapping[str, Label]) -> dict[Label, Counter[str]]:
    """Label of a trial, such as its condition -> how many legs have each verdict."""
    counts: dict[Label, Counter[str]] = {}
    for verdict in verdicts:
        counts.setdefault(label[verdict.trial], Counter())[verdict.verdict] += 1
    return counts


def reasons(verdicts: Iterable[LegVerdict]) -> list[tuple[str, int, int, str, str]]:
    """Criterion, legs outside, legs at the edge, a sentence, the trial it is of; the commonest first."""
    count: dict[str, Counter[str]] = {}
    example: dict[str, tuple[str, str]] = {}
    for verdict in verdicts:
        for criterion, degree, sentence in verdict.reasons:
            count.setdefault(criterion, Counter())[degree] += 1
            if criterion not in example or (degree != DEGREES[AT_EDGE] and count[criterion][degree] == 1):
                example[criterion] = (sentence, verdict.trial)
    outside, edge = DEGREES[NOT_PLAUSIBLE], DEGREES[AT_EDGE]
    rows = [(name, of[outside], of[edge], *example[name]) for name, of in count.items()]
    return sorted(rows, key=lambda row: (-row[1], -row[2]))


def believable(cycles: xr.Dataset, verdicts: Iterable[LegVerdict]) -> np.ndarray:
    """Return which cycles (cycle,) are of a leg whose verdict is not "not plausible"."""
    wrong = {(verdict.trial, verdict.side) for verdict in verdicts if verdict.verdict == NOT_PLAUSIBLE}
    legs = zip(cycles["trial"].values.astype(str), cycles["cycle_side"].values.astype(str), strict=True)
    return np.array([leg not in wrong for leg in legs], bool)


def differing(tests: xr.Dataset | None) -> dict[tuple[str, str, str], str]:
    """Variable, name and effect of the tests that find a difference -> the difference in words."""
    if tests is None:
        return {}
    differ = [test for test in curve_tests(tests) if test.clusters]
    return {(test.variable, test.name, test.effect): f"{test.words} ({test.effect})" for test in differ}


def untested_reason(why: str) -> str:
    """The reason without tests, to stand within a sentence."""
    return why.replace("not tested: ", "").removeprefix("Nothing is compared: ").rstrip(".")


def sensitivity(
    every: xr.Dataset | None, plausible: xr.Dataset | None, why: str, verdicts: list[LegVerdict]
) -> str:
    """Return the change of the differences without the legs that are not plausible, in a sentence; "" where all are
    plausible.

    Args:
        every, plausible: tests with all legs, and without those that are not plausible.
        why: why there are no tests without them.
        verdicts: of all legs that count.
    """
    count = Counter(verdict.verdict for verdict in verdicts)
    wrong = count[NOT_PLAUSIBLE]
    if not wrong or every is None:
        return ""
    are_they = "is not plausible. It counts" if wrong == 1 else "are not plausible. They count"
    of_legs = has_legs(verdicts)
    start = f"{wrong} of {len(verdicts)} {'legs of ' * of_legs}trials {are_they} in the results above."
    such = f"Without such {'legs' if of_legs else 'trials'}"
    if plausible is None:
        return f"{start} {such} nothing can be tested: {untested_reason(why)}."
    before, after = differing(every), differing(plausible)
    gone = [words for key, words in before.items() if key not in after]
    new = [words for key, words in after.items() if key not in before]
    parts = [f"these differences are no longer found: {shortened(gone)}"] if gone else []
    parts += [f"these are found as well: {shortened(new)}"] if new else []
    are = "is" if len(before) == 1 else "are"
    same = "no difference is found either"
    if before:
        same = f"the same {count_of(len(before), 'difference')} {are} found"
    return f"{start} {such} {'; '.join(parts) or same}."


Listed = tuple[Finding, tuple[str, ...]]
"""A finding, and the names of its trials."""


def findings_of_result(result: netCDF4.Dataset) -> tuple[Finding, ...]:
    """The findings that are stored with a result; none where its recording was not examined."""
    return stored_findings(str(getattr(result, FINDINGS, "[]")))


@dataclass(frozen=True)
class Unusable:
    """Part of a trial that an error makes unusable: a leg, or its cycles at some times."""

    side: str
    what: str
    times: tuple[Run, ...] = ()  # first and last of each stretch [s]; none: throughout

    def spoils(self, side: AnyArray, start: Array, end: Array) -> Mask:
        """Return which cycles (C,) of a trial the error spoils, by their legs, starts and ends [s]."""
        reached = np.full(start.shape, not self.times)
        for first, last in self.times:
            reached |= (start <= last) & (end >= first)
        return np.asarray((side == self.side) & reached)


def unusable(findings: Iterable[Finding]) -> list[Unusable]:
    """Return the parts that the errors among some findings make unusable; an error without a leg counts for all.

    `at_times` of findings.toml marks faults of an instant, such as a marker that jumps.
    """
    return [
        Unusable(
            side,
            f"{entry.what} ({entry.code})",
            entry.where.times if texts().get(entry.code, {}).get("at_times") else (),
        )
        for entry in findings
        if entry.severity == "error"
        for side in (ALL_SIDES if entry.side not in SIDES else (entry.side,))
    ]


def each_once(findings_of: Mapping[str, Sequence[Finding]]) -> list[Listed]:
    """List every code and severity once, with its trials; the words come from the trial with the highest cost, or
    from one whose verdict rests on the fault.

    Args:
        findings_of: name of a trial -> its findings.

    Returns:
        In the order of their remedies (`Finding.urgency`).
    """
    alike: dict[tuple[str, str], dict[str, Finding]] = {}
    for name, findings in findings_of.items():
        for entry in findings:
            by_name = alike.setdefault((entry.severity, entry.code), {})
            by_name[name] = max((by_name.get(name, entry), entry), key=_cost)
    largest = [(max(by_name.values(), key=_cost), tuple(by_name)) for by_name in alike.values()]
    return sorted(largest, key=lambda entry: entry[0].urgency)


def of_kind(findings_of: Mapping[str, Sequence[Finding]], one: Finding) -> list[tuple[str, Finding]]:
    """The findings of all trials that have the code and severity of one, each with its trial; this one first."""
    named = ((name, entry) for name, findings in findings_of.items() for entry in findings)
    alike = [pair for pair in named if (pair[1].severity, pair[1].code) == (one.severity, one.code)]
    return sorted(alike, key=lambda named_finding: named_finding[1] is not one)


def _cost(entry: Finding) -> tuple[bool, float]:
    return entry.decides, 0.0 if entry.cost is None else entry.cost.size
