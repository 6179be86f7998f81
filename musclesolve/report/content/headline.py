"""The result in plain words: whether it is usable, contact forces, agreement with EMG, what to be careful about."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from musclesolve.checking.finding import Report
from musclesolve.report.content.limits import limits
from musclesolve.report.content.pieces import Number, plain, sentence
from musclesolve.results.dataset import frame_validity as frames
from musclesolve.results.facts import Facts

USABLE, WITH_CARE, IN_PART, NOT = "usable", "with care", "in part", "not usable"
LABELS = {USABLE: "Usable", WITH_CARE: "Usable with care", IN_PART: "Usable in part", NOT: "Not usable"}
MARKS = {USABLE: "✓", WITH_CARE: "!", IN_PART: "◐", NOT: "✕"}
LARGE_RESIDUAL = 30.0
"""Per cent of body weight; a run calls frames beyond about this residual invalid, on an OpenSim model none is."""
MOST = 0.5
"""Where more than this share of the valid frames needs a reserve, muscle forces are mostly lower bounds."""


@dataclass(frozen=True)
class Headline:
    """What stands at the top."""

    verdict: str  # a key of LABELS
    why: Markup
    contact: list[dict[str, object]]  # joint, and a Number for each leg
    emg: Markup
    careful: list[Markup]

    @property
    def label(self) -> str:
        """The verdict in words."""
        return LABELS[self.verdict]

    @property
    def mark(self) -> str:
        """The verdict as a sign."""
        return MARKS[self.verdict]

    @property
    def css(self) -> str:
        """The verdict as the name of a class."""
        return self.verdict.replace(" ", "-")


def headline(facts: Facts, checked: Report | str | None = None) -> Headline:
    """The headline of one trial."""
    verdict, why = usability(facts, checked)
    careful = [each.sentence for each in limits(facts, checked) if each.in_headline]
    return Headline(verdict, why, _contact(facts), _emg(facts), careful)


def no_headline(why: str) -> Headline:
    """That of a file which is damaged."""
    return Headline(NOT, sentence("This file is damaged: {}.", why), [], Markup("not known"), [])


def usability(facts: Facts, checked: Report | str | None = None) -> tuple[str, Markup]:
    """Whether the result may be used, and why."""
    counts, residual = facts.counts, facts.largest_kkt_residual
    valid, analysed, helped = (
        Number(name, getattr(counts, name), 0) for name in ("valid", "analysed", "with_reserve")
    )
    legs = "leg-frames" if len(facts.legs) > 1 else "frames"
    if not counts.analysed:
        return NOT, Markup("No frame was analysed: ground forces were not measured.")
    if not counts.valid:
        return NOT, sentence("None of the {} analysed {} has a valid solution.", analysed, legs)
    certified = bool(np.isfinite(residual))
    proved = Markup(" The file does not hold their certificates.")
    if certified:
        certificate = Number("largest_kkt_residual", residual, -2)
        proved = sentence(
            " The optimality of every one of them is certified (largest residual {}).", certificate
        )
    if counts.valid < counts.analysed:
        reserves = sentence(", {} of them with a reserve", helped) if counts.with_reserve else ""
        text = sentence("{} of {} analysed {} have a valid solution{}.", valid, analysed, legs, reserves)
        return IN_PART, text + proved
    if counts.with_reserve:
        text = sentence(
            "All {} analysed {} have a solution, {} of them with a reserve.", analysed, legs, helped
        )
        return IN_PART if counts.with_reserve > MOST * counts.valid else WITH_CARE, text + proved
    text = sentence("All {} analysed {} are solved without a reserve.", analysed, legs) + proved
    if not certified:
        return WITH_CARE, text
    if isinstance(checked, Report) and not checked.ok:
        return WITH_CARE, text + Markup(" <code>check</code> calls the recording faulty.")
    if (facts.root_residual_percent or 0.0) > LARGE_RESIDUAL:
        return WITH_CARE, text + Markup(" The loads do not carry the motion in every frame.")
    return USABLE, text


def _contact(facts: Facts) -> list[dict[str, object]]:
    """A row for each joint, with the peaks of both legs."""
    known = bool(np.isfinite(facts.body_weight))
    rows: dict[str, list[tuple[str, Number]]] = {}
    for peak in facts.contact_peaks:
        value = peak.body_weights if known else peak.newton
        number = Number(f"contact_peak {peak.joint}", value, 2 if known else 0)
        rows.setdefault(peak.stem, []).append((frames.SIDE_NAMES.get(peak.side, ""), number))
    unit = "body weights" if known else "N"
    return [{"joint": plain(stem), "unit": unit, "legs": legs} for stem, legs in rows.items()]


def _emg(facts: Facts) -> Markup:
    known, both = facts.correlations, facts.median_and_mean_correlation
    if both is None:
        return Markup("not measured")
    best, worst = max(known, key=lambda name: known[name]), min(known, key=lambda name: known[name])
    return sentence(
        "median r {} (mean {}) over {} channels; best {} {}, weakest {} {}",
        Number("emg_median", both[0]),
        Number("emg_mean", both[1]),
        Number("emg_channels", len(known), 0),
        *(best, Number(f"emg_correlation {best}", known[best])),
        *(worst, Number(f"emg_correlation {worst}", known[worst])),
    )
