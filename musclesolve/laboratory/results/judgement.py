"""The judgement of a trial: may its result be used? One rule, which every command, page and study prints.

A trial is judged by its findings, of which there are three kinds:

1. faults of the recording or of the model and its loads (`musclesolve.laboratory.checks`),
2. frames without a valid solution, or with a reserve (the certificates),
3. numbers far from all measurements (`plausibility`).

The verdict on a leg is the worst that applies:

    not usable      an error was found, no analyzed frame has a valid solution, or a criterion of plausibility fails
    with care       a warning was found, on the trial or on its result (`_cautions`), frames have no valid solution, no
                    certificate or need a reserve, the result is at the edge of what was measured, or there is nothing
                    to compare it with
    usable          none of these

The verdict on the trial is the worst of its legs; it is usable with care where one leg is usable and an error, or
frames without a solution, spoil the other. One reason, the first in the order of remedies, stands beside a verdict
(`Judgement.use`). Consequences of an error are no separate findings: a leg with an error has the findings of the first
kind alone.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from musclesolve._util.arrays import grouped
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.messages import capitalized, count_of, shortened
from musclesolve._util.sides import SIDE_NAMES, split_side
from musclesolve.laboratory.results.dataset.frame_validity import frames_word
from musclesolve.laboratory.results.facts import Facts, LegFacts, once
from musclesolve.laboratory.results.finding import (
    SEVERITIES,
    Finding,
    Severity,
    Where,
    codes,
    finding,
    sorted_findings,
)
from musclesolve.laboratory.results.plausibility import (
    AT_EDGE,
    NOT_KNOWN,
    NOT_PLAUSIBLE,
    Plausibility,
    plausibility,
)
from musclesolve.sharing.status import verdict_reason, verdict_words

ORDER = NOT_USABLE, WITH_CARE, USABLE = "not_usable", "with_care", "usable"
"""Verdicts, the worst first; judgement.toml has their words."""
LABELS = {name: entry["label"] for name, entry in bundled_toml(__package__, "judgement.toml").items()}
"""Verdict -> its words."""
WEAK = 0.5
"""Correlation below which activation and EMG disagree."""
USUAL_FIBERS = (0.4, 1.6)
"""Normalized fiber lengths outside of which active forces are uncertain."""
MOST_NAMES = 8
COUNTED = ("truncated",)
"""Codes whose own statement is the reason beside a verdict, because it has the numbers; of others their meaning is."""
FULL_FOR = 0.2
"""Share of the valid frames at full activation beyond which the others take over much of a muscle."""


def counted_verdicts(verdicts: Iterable[str]) -> str:
    """The number of trials of each verdict in words, the worst first."""
    count = Counter(verdicts)
    return ", ".join(f"{count[name]} {LABELS[name].lower()}" for name in ORDER if count[name])


@dataclass(frozen=True)
class Judgement:
    """Findings, the verdicts on every leg and on the trial, and their reasons.

    findings: findings of the trial and of its result, in the order of a report. legs: side -> verdict, of the analyzed
    legs. why: sentences. because: criteria of plausibility on which the verdict "not usable" rests, or the reason of
    a verdict that rests on no finding.
    """

    findings: tuple[Finding, ...]
    legs: Mapping[str, str]
    verdict: str
    why: tuple[str, ...]
    because: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The verdict in words."""
        return LABELS[self.verdict]

    @property
    def use(self) -> str:
        """Use of the result that the verdict allows, in a plain sentence, with the reason that matters most."""
        entry, of_codes = bundled_toml(__package__, "judgement.toml")[self.verdict], codes()
        faults = self.of("error") if self.verdict == NOT_USABLE else self.of("error", "warning")
        unusable = [
            SIDE_NAMES.get(side, side) for side, verdict in self.legs.items() if verdict == NOT_USABLE
        ]
        named = [entry["because"][name] for name in self.because if name in entry.get("because", {})]
        reasons = [text.format(sides=" and ".join(unusable)) for text in named]
        if not reasons or faults:
            reasons += [
                fault.what.partition(": it ")[0].rstrip(".")
                if fault.code in COUNTED
                else of_codes[fault.code]
                for fault in faults
                if fault.code in of_codes
            ]
        return str(entry["use"]).format(because=reasons[0] if reasons else "see the verdict below")

    @property
    def lines(self) -> tuple[str, str]:
        """The verdict with the reason that matters most, and the counts behind it, in two lines."""
        return f"{self.label}. {self.use}", " ".join(self.why)

    @property
    def mark(self) -> str:
        """The verdict as a sign."""
        return words(self.verdict)["mark"]

    @property
    def css(self) -> str:
        """The verdict as the class of an element of a page."""
        return words(self.verdict)["css"]

    @property
    def sentence(self) -> str:
        """The verdict and its reasons, in a line."""
        return f"{self.label}. {' '.join(self.why)}"

    def of(self, *severities: Severity) -> tuple[Finding, ...]:
        """The findings of some severities."""
        return tuple(entry for entry in self.findings if entry.severity in severities)

    @property
    def ok(self) -> bool:
        """Whether no error was found."""
        return not self.of("error")

    @property
    def usable(self) -> bool:
        """Whether the forces, or a part of them, may be used: no error spoils them, and they are plausible."""
        return self.verdict != NOT_USABLE

    @property
    def complete(self) -> bool:
        """Return whether no error was found and every analyzed frame has a valid solution: exit code 0, else 3."""
        return self.ok and not any(entry.code == "no_solution" for entry in self.findings)

    def __str__(self) -> str:
        """The findings and the verdict, a line each."""
        return "\n".join([*map(str, self.findings), self.sentence])

    def as_dict(self) -> dict[str, Any]:
        """Return the judgement as values for JSON."""
        return {
            "verdict": self.verdict,
            "label": self.label,
            "usable": self.usable,
            "why": list(self.why),
            "because": list(self.because),
            "legs": {SIDE_NAMES.get(side, side): verdict for side, verdict in self.legs.items()},
            "findings": [entry.as_dict() for entry in self.findings],
        }


@dataclass(frozen=True)
class Report:
    """Report of `check` on a trial: its findings, and the judgement of the result of a run.

    findings: on the recording or model, in the order of their remedies (`Finding.urgency`).
    judgement: with the findings on the result; of the findings alone unless given.
    """

    path: Path  # the trial file
    findings: tuple[Finding, ...]
    judgement: Judgement | None = None

    def __post_init__(self) -> None:
        """Judge by the findings where there is no result."""
        if self.judgement is None:
            object.__setattr__(self, "judgement", judge_findings(self.findings))

    @property
    def all_findings(self) -> tuple[Finding, ...]:
        """The findings on the trial and on its result."""
        assert self.judgement is not None
        return sorted_findings([*self.findings, *self.judgement.findings])

    def of(self, severity: Severity) -> tuple[Finding, ...]:
        """Return the findings on the trial of one severity."""
        return tuple(finding for finding in self.findings if finding.severity == severity)

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of all errors and warnings on the trial, in order."""
        return tuple(finding.code for finding in self.findings if finding.severity != "note")

    @property
    def ok(self) -> bool:
        """Whether there is no error on the trial. Whether its result may be used says `judgement.usable`."""
        return not self.of("error")

    @property
    def verdict(self) -> str:
        """The judgement in a line."""
        assert self.judgement is not None
        return self.judgement.sentence

    def __str__(self) -> str:
        """Return all findings and the verdict."""
        return "\n".join([*(str(finding) for finding in self.all_findings), self.verdict])

    __repr__ = __str__

    def as_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        assert self.judgement is not None
        return {
            "trial": str(self.path),
            "ok": self.ok,
            "verdict": self.verdict,
            "findings": [finding.as_dict() for finding in self.findings],
            "judgement": self.judgement.as_dict(),
        }


def judge_findings(findings: Sequence[Finding]) -> Judgement:
    """Judge a trial without a result, by its findings alone."""
    ordered = sorted_findings(findings)
    severities = {entry.severity for entry in ordered}
    verdict = NOT_USABLE if "error" in severities else WITH_CARE if "warning" in severities else USABLE
    return Judgement(ordered, {}, verdict, tuple(_counts(ordered)) or ("Nothing is wrong with this trial.",))


@once
def judge(facts: Facts) -> Judgement:
    """Judge a result by its findings, its frames and its facts."""
    judged, legs, of_verdict = plausibility(facts), dict[str, str](), set[str]()
    on_trial = judged.with_deciding(facts.findings)
    findings, cautions = list(on_trial), list(_cautions(facts))
    for side, leg in facts.legs.items():
        of_leg, plausible = [entry for entry in on_trial if entry.side in ("", side)], NOT_KNOWN
        if not any(entry.severity == "error" for entry in of_leg):
            known = {entry.code for entry in of_leg}
            on_result = [*_of_frames(leg), *_of_plausibility(judged, side, known), *cautions]
            findings += on_result
            of_leg += on_result
            plausible = judged.verdict_of(side)
        verdict = _verdict_of_leg(leg, plausible, of_leg)
        if verdict is not None:
            legs[side] = verdict
            of_verdict.add(plausible if leg.valid else NOT_KNOWN)
    ordered = sorted_findings(findings)
    verdict = min(legs.values(), key=ORDER.index, default=NOT_USABLE)
    if verdict == NOT_USABLE and NOT_PLAUSIBLE not in of_verdict and set(legs.values()) - {NOT_USABLE}:
        verdict = WITH_CARE  # one leg is usable, and what spoils the other is of this leg alone
    why = [*_counts(ordered), certified(facts)]
    if NOT_PLAUSIBLE in of_verdict or any(verdict != NOT_USABLE for verdict in legs.values()):
        why.append(_compared(judged))
    severities, because = {fault.severity for fault in ordered}, tuple[str, ...]()
    if verdict == NOT_USABLE and NOT_PLAUSIBLE in of_verdict:
        because = judged.decisive
    elif verdict == NOT_USABLE and "error" not in severities:
        because = ("no_solution",)
    elif verdict == WITH_CARE and NOT_USABLE in legs.values():
        because = ("one_leg",)
    elif verdict == WITH_CARE and "warning" not in severities:
        because = ("not_compared" if judged.why_not_known else "not_certified",)
    elif verdict == WITH_CARE and ordered[0].code == "at_edge" and judged.at_edge:
        because = (judged.at_edge[0].criterion,)
    return Judgement(ordered, legs, verdict, tuple(why), because)


def _verdict_of_leg(leg: LegFacts, plausible: str, findings: Sequence[Finding]) -> str | None:
    """The verdict on a leg with its findings; None for a leg whose forces were measured in no frame."""
    severities = {entry.severity for entry in findings}
    analyzed = leg.valid + leg.without_solution
    if not analyzed:
        return None
    if "error" in severities or not leg.valid or plausible == NOT_PLAUSIBLE:
        return NOT_USABLE
    certified = np.isfinite(leg.largest_gap) and not leg.without_solution
    care = "warning" in severities or plausible in (NOT_KNOWN, AT_EDGE) or not certified
    return WITH_CARE if care else USABLE


def _of_frames(leg: LegFacts) -> list[Finding]:
    """Return the findings on frames of a leg without a valid solution, and on frames with a reserve."""
    findings, total = [], leg.valid + leg.without_solution
    if leg.without_solution:
        reasons = ", ".join(
            f"{verdict_reason(name)} ({sum(stretch.count for stretch in stretches)})"
            for name, stretches in leg.failures.items()
        )
        known = verdict_words()
        of_each = dict.fromkeys(known.get(name, known["other"])["remedy"] for name in leg.failures)
        ways = "; ".join(f"{way[0].lower()}{way[1:].rstrip('.')}" for way in of_each)
        values = {
            "count": leg.without_solution,
            "total": total,
            "part": leg.part,
            "reasons": reasons,
            "ways": ways,
        }
        times = tuple(
            (stretch.start, stretch.end) for stretches in leg.failures.values() for stretch in stretches
        )
        findings.append(finding("no_solution", "warning", values, Where(times=times), side=leg.side))
    if (most := leg.largest_reserve) is not None:
        largest = {"size": most["moment_nm"], "dof": most["dof"], "time": most["time_s"]}
        helped = {"count": leg.with_reserve, "total": total, "part": leg.part, **largest}
        findings.append(finding("reserves", "warning", helped, side=leg.side))
    return findings


def _cautions(facts: Facts) -> Iterator[Finding]:
    """Find what makes muscle forces less certain: long full activation, fibers far from optimal, EMG that disagrees."""
    if full := [entry.muscle for entry in facts.muscles_at_limit if entry.share > FULL_FOR]:
        yield finding("full_activation", "warning", {"muscles": muscle_names(full), "limit": FULL_FOR})
    if "least_normalized_fiber_length" in facts.result:
        least, greatest = (
            facts.result[f"{end}_normalized_fiber_length"].values for end in ("least", "greatest")
        )
        low, high = USUAL_FIBERS
        beyond = map(str, facts.result["muscle"].values[(least < low) | (greatest > high)])
        if names := muscle_names(beyond):
            yield finding("far_fibers", "warning", {"muscles": names, "low": low, "high": high})
    if not facts.follows_emg or facts.predicts_emg:
        if weak := [f"{name} {r:.2f}" for name, r in facts.correlations.items() if r < WEAK]:
            yield finding("emg_disagrees", "warning", {"channels": ", ".join(weak), "limit": WEAK})


def muscle_names(names: Iterable[str]) -> str:
    """Muscles with their sides, each name once: "soleus (right, left)"."""
    sides = grouped((stem.replace("_", " "), side) for stem, side in map(split_side, names))
    texts = []
    for stem, legs_of in sides.items():
        legs = ", ".join(SIDE_NAMES[side] for side in SIDE_NAMES if side in legs_of)
        texts.append(stem + (f" ({legs})" if legs else ""))
    return shortened(texts, MOST_NAMES)


def _of_plausibility(judged: Plausibility, side: str, known: Collection[str]) -> list[Finding]:
    """Return findings on quantities outside or at the edge of the plausible range, of a leg and of the whole body.

    known: codes of the findings on the trial; a criterion of the same name would repeat them.
    """
    findings, is_outside = [], judged.verdict_of(side) == NOT_PLAUSIBLE
    # what alone makes a result implausible stands before what only makes it less certain
    for comparison in sorted((*judged.failed, *judged.at_edge), key=lambda one: not one.is_decisive):
        if comparison.side in ("", side) and comparison.criterion not in known:
            values = {"sentence": comparison.sentence, "remedy": judged.remedy(comparison)}
            outside = is_outside and comparison.passed is False and comparison.is_decisive
            code = "implausible" if outside else "at_edge"
            findings.append(
                replace(finding(code, "warning", values, side=comparison.side), decides=code == "implausible")
            )
    return findings


def certified(facts: Facts) -> str:
    """Return a sentence on the number of solved frames, and on the certificate of their optimality."""
    counts, gap = facts.counts, facts.largest_gap
    units = frames_word(facts.result)
    if not counts.analyzed:
        return "No frame was analyzed: ground forces or joint moments were not measured."
    if not counts.valid:
        return f"None of the {counts.analyzed} analyzed {units} has a valid solution."
    helped = f", {counts.with_reserve} of them with a reserve" if counts.with_reserve else ""
    solved = (
        f"{counts.valid} of {counts.analyzed} analyzed {units} have a valid solution{helped}"
        if counts.valid < counts.analyzed
        else f"All {counts.analyzed} analyzed {units} are solved{helped or ' without a reserve'}"
    )
    proof = (
        f"every one of them {facts.optimality}, within a gap of {gap:.1e}"
        if np.isfinite(gap)
        else "the file does not hold their certificates"
    )
    return f"{solved}; {proof}."


def _compared(judged: Plausibility) -> str:
    """Return a sentence that compares the contact forces with measurements by implants."""
    if judged.verdict == NOT_PLAUSIBLE:
        return f"{capitalized(judged.use)}."
    if judged.verdict == AT_EDGE:
        unknown = f" Peaks are not compared: {judged.why_not_known}." if judged.why_not_known else ""
        return f"The result lies at the edge of what is plausible.{unknown}"
    if judged.verdict == NOT_KNOWN:
        return f"Whether the result is plausible is not known: {judged.why_not_known}."
    where = f" at {' and '.join(judged.joints_within)}" if judged.joints_within else ""
    range_ = f"the widest range that implants measured in {judged.movement_words}"
    return f"Peaks of contact forces{where} lie within {range_}."


def _counts(findings: Sequence[Finding]) -> list[str]:
    """Return the numbers of errors and warnings in words; empty without any."""
    count = Counter(entry.severity for entry in findings)
    parts = [count_of(count[name], name) for name in SEVERITIES[:2] if count[name]]
    return [f"{' and '.join(parts)}."] if parts else []


def words(verdict: str) -> dict[str, str]:
    """Label, sign and class of a verdict."""
    entry: dict[str, str] = bundled_toml(__package__, "judgement.toml")[verdict]
    return entry
