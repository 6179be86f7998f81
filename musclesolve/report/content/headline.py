"""The result in plain words: whether it is usable, contact forces, agreement with EMG, what to be careful about."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr
from markupsafe import Markup

from musclesolve.checking.finding import Report
from musclesolve.report.content.emg import correlations
from musclesolve.report.content.fit import root_residual_percent
from musclesolve.report.content.limits import limits
from musclesolve.report.content.pieces import Number, plain, sentence
from musclesolve.results.dataset import frame_validity as frames
from musclesolve.results.dataset.kinetics.contact_peaks import ContactPeak, peaks_of_joints
from musclesolve.results.dataset.result_quantities import largest_kkt_residual

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


def headline(result: xr.Dataset, checked: Report | str | None = None) -> Headline:
    """The headline of one trial."""
    verdict, why = usability(result, checked)
    careful = [each.sentence for each in limits(result, checked) if each.in_headline]
    return Headline(verdict, why, _contact(peaks_of_joints(result)), _emg(result), careful)


def no_headline(why: str) -> Headline:
    """That of a file which is damaged."""
    return Headline(NOT, sentence("This file is damaged: {}.", why), [], Markup("not known"), [])


def counts(result: xr.Dataset) -> dict[str, int]:
    """Leg-frames that were analysed, that are valid, and that needed a reserve."""
    sides = frames.sides(result)
    return {
        "analysed": sum(int((~frames.not_measured(result, side)).sum()) for side in sides),
        "valid": sum(int(frames.valid(result, side).sum()) for side in sides),
        "with_reserve": sum(int(frames.solved_with_reserve(result, side).sum()) for side in sides),
    }


def usability(result: xr.Dataset, checked: Report | str | None = None) -> tuple[str, Markup]:
    """Whether the result may be used, and why."""
    found = counts(result)
    valid, analysed, helped = (Number(name, found[name], 0) for name in ("valid", "analysed", "with_reserve"))
    legs = "leg-frames" if len(frames.sides(result)) > 1 else "frames"
    if not found["analysed"]:
        return NOT, Markup("No frame was analysed: ground forces were not measured.")
    if not found["valid"]:
        return NOT, sentence("None of the {} analysed {} has a valid solution.", analysed, legs)
    certificate = Number("largest_kkt_residual", largest_kkt_residual(result), -2)
    proved = sentence("The optimality of every one of them is certified (largest residual {}).", certificate)
    if not np.isfinite(certificate.value):
        proved = Markup("The file does not hold their certificates.")
    if found["valid"] < found["analysed"]:
        reserves = sentence(", {} of them with a reserve", helped) if found["with_reserve"] else ""
        text = sentence("{} of {} analysed {} have a valid solution{}.", valid, analysed, legs, reserves)
        return IN_PART, text + " " + proved
    if found["with_reserve"]:
        text = sentence(
            "All {} analysed {} have a solution, {} of them with a reserve.", analysed, legs, helped
        )
        mostly = found["with_reserve"] > MOST * found["valid"]
        return IN_PART if mostly else WITH_CARE, text + " " + proved
    text = sentence("All {} analysed {} are solved without a reserve.", analysed, legs)
    if not np.isfinite(certificate.value):
        return WITH_CARE, text + " " + proved
    if isinstance(checked, Report) and not checked.ok:
        return WITH_CARE, text + " " + proved + " " + Markup("<code>check</code> calls the recording faulty.")
    if (residual := root_residual_percent(result)) is not None and residual > LARGE_RESIDUAL:
        return WITH_CARE, text + " " + proved + " " + Markup(
            "The loads do not carry the motion in every frame."
        )
    return USABLE, text + " " + proved


def _contact(peaks: list[ContactPeak]) -> list[dict[str, object]]:
    """A row for each joint, with the peaks of both legs."""
    rows: dict[str, dict[str, object]] = {}
    for peak in peaks:
        stem, side = frames.split_side(peak.joint)
        known = np.isfinite(peak.body_weights)
        value, unit = (peak.body_weights, "body weights") if known else (peak.newton, "N")
        row = rows.setdefault(stem, {"joint": plain(stem), "unit": unit, "legs": []})
        number = Number(f"contact_peak {peak.joint}", value, 2 if known else 0)
        row["legs"].append((frames.SIDE_NAMES.get(side, ""), number))  # type: ignore[attr-defined]
    return list(rows.values())


def _emg(result: xr.Dataset) -> Markup:
    found = correlations(result)
    if not found:
        return Markup("not measured")
    values = np.array(list(found.values()))
    best, worst = max(found, key=lambda name: found[name]), min(found, key=lambda name: found[name])
    return sentence(
        "median r {} (mean {}) over {} channels; best {} {}, weakest {} {}",
        Number("emg_median", float(np.median(values))),
        Number("emg_mean", float(values.mean())),
        Number("emg_channels", len(found), 0),
        *(best, Number(f"emg_correlation {best}", found[best])),
        *(worst, Number(f"emg_correlation {worst}", found[worst])),
    )
