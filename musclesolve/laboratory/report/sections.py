"""The headline of a trial and its sections: content, figures, or the reason of absence."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.sides import SIDE_NAMES
from musclesolve.laboratory.plotting.figure_names import figures_by
from musclesolve.laboratory.plotting.page.chart_figure import chart_of
from musclesolve.laboratory.report.content import trial_sections as content
from musclesolve.laboratory.report.content.pieces import Absent, Picture, drawn, figures_of
from musclesolve.laboratory.report.inputs import (
    ANSWERS,
    COMPARISON,
    DAMAGE,
    RESULT,
    UNCERTAINTY,
    TrialFiles,
    reason,
)
from musclesolve.laboratory.results.fact_table import ROW, Fact, Number, chosen, number
from musclesolve.laboratory.results.facts import Facts
from musclesolve.laboratory.results.finding import Finding
from musclesolve.laboratory.results.judgement import Judgement, judge, judge_findings

KINDS = (RESULT, UNCERTAINTY, COMPARISON, *ANSWERS)
"""Kinds of the datasets of a trial with figures."""
PICTURE_FRAMES = 75
"""Most frames of the moving picture in a page; `musclesolve picture` writes all of them."""
ONE_FRAME = "A result of a single frame has no curves to draw."
LAST = "further"
EXACT = "The calculation is exact. That does not make the forces true."
NOT_EXACT = "How much of the trial is solved, and how exactly"
IN_HEADLINE = "picture"
"""Section that stands beside the verdict."""


@dataclass(frozen=True)
class Headline:
    """Headline at the top of a page."""

    judgement: Judgement
    why: str  # whether the forces may be used, and the reason that matters most
    exact: str = ""  # whether the calculation is exact, in plain words
    detail: str = ""  # certificates, and the comparison with implants
    contact: Sequence[dict[str, Any]] = ()  # joint, unit, and a number for each leg
    emg: Fact | str = "not known"
    findings: Sequence[Fact] = ()  # errors and warnings with their remedies
    remarks: Sequence[Fact] = ()

    @property
    def marks_far(self) -> bool:
        """Whether a contact force has the mark of being far above what implants measured."""
        return any(mark for row in self.contact for _, _, mark in row["legs"])


def headline(facts: Facts, table: Sequence[Fact]) -> Headline:
    """Make the headline of a trial from the table of its facts."""
    judged, (_, unit) = judge(facts), facts.force_unit
    known = unit != "N"
    rows: dict[str, list[tuple[str, Number, str]]] = {}  # by joint: peaks of both legs, and their marks
    implants: dict[str, str] = {}
    for peak in chosen(table, ROW, section="contact"):
        value, of_implants = peak.value, peak.value["implants"]
        size, digits = (value["body_weights"], ".2f") if known else (value["newton"], ".0f")
        shown, far = number(f"contact_peak {value['joint']}", size, digits), of_implants["far"]
        rows.setdefault(peak.subject, []).append((SIDE_NAMES.get(value["side"], ""), shown, far))
        if far or peak.subject not in implants:
            implants[peak.subject] = _in_implants(of_implants, bool(far))
    counts = facts.counts
    is_exact = 0 < counts.analyzed == counts.valid and np.isfinite(facts.largest_gap)
    of_emg = [each for each in table if each.name == ("emg",) and each.value]
    return Headline(
        judged,
        judged.use,
        EXACT if is_exact else NOT_EXACT,
        " ".join(judged.why[bool(judged.of("error", "warning")) :]),  # without the number of cautions
        [
            {"joint": joint, "unit": unit, "legs": legs, "implants": implants[joint]}
            for joint, legs in rows.items()
        ],
        of_emg[0] if of_emg and facts.correlations else "not measured",
        chosen(table, "error", "warning"),
        chosen(table, "remark"),
    )


def _in_implants(implants: Mapping[str, str], marked: bool) -> str:
    """The range that implants measured at a joint, in words, with the meaning of the mark that a leg has."""
    if not implants["mean_words"]:
        return implants["about"]
    meaning = f"; {implants['far_words']}" if marked else ""
    return f"implants measured {implants['mean_words']}{meaning}"


def no_headline(why: str) -> Headline:
    """The headline of a damaged file, with the reason."""
    judged = judge_findings([Finding("unreadable", "error", why, "compute it again")])
    return Headline(judged, f"This file is damaged: {why}.")


def specifications() -> dict[str, dict[str, Any]]:
    """Title, lead and figures of every section."""
    of_sections = figures_by("section")
    return {
        name: {**spec, "figures": [page for part in of_sections.get(name, ()) for page in part.pages]}
        for name, spec in bundled_toml("musclesolve.laboratory.report", "texts", "sections.toml").items()
    }


def pictures_of(trial: TrialFiles, key: str) -> Iterator[Picture]:
    """Draw the figures of a trial, one after the other."""
    of_trial = {RESULT: trial.base, UNCERTAINTY: trial.uncertainty, COMPARISON: trial.comparison}
    for kind in KINDS:
        data = (of_trial | trial.answers).get(kind)
        if data is None or data.sizes.get("time", 0) < 2 or (kind == RESULT and trial.origin == UNCERTAINTY):
            continue
        for name, draw in figures_of(data, kind).items():
            if kind != RESULT:
                yield drawn(f"{key}-{name}", name, draw, data)
            elif chart_of(draw):  # figures with a bar for each point or marker are files alone
                yield drawn(f"{key}-{name}", name, draw, trial.facts)


def moving(trial: TrialFiles) -> Picture:
    """The moving picture of a trial."""
    from musclesolve.laboratory.report.picture.moving_picture import picture_fragment
    from musclesolve.laboratory.report.picture.picture_data import thinned

    try:
        fragment = picture_fragment(thinned(trial.base, -(-trial.base.sizes["time"] // PICTURE_FRAMES)))
    except DAMAGE as error:
        return Picture("", "picture", "", fault=f"The moving picture could not be made: {reason(error)}")
    return Picture("", "picture", "", Markup(fragment))


def sections_of(
    trial: TrialFiles, key: str, figures: Mapping[str, Picture], shown: Picture
) -> list[dict[str, Any]]:
    """The sections of a trial for the templates, in order, with its figures by name; shown: its moving picture."""
    named = {name for spec in specifications().values() for name in spec["figures"]}
    sections = []
    for name, spec in specifications().items():
        # a missing answer has a reason
        if name not in trial.answers and spec.get("only_with", "time") not in trial.base:
            continue
        if spec.get("of_legs", False) and not trial.facts.shows_legs:
            continue
        wanted = spec["figures"]
        if name == LAST:
            wanted = [figure for figure in figures if figure not in named]
            if not wanted:
                continue
        # a result with a missing or damaged part still has the other sections
        said, absent = dict[str, Any](), ""
        try:
            said = _content(name, trial, key, shown)
        except Absent as why:
            absent = str(why)
        except DAMAGE as error:
            absent = f"This section cannot be made of this file: {reason(error)}"
        sections.append(
            {
                "name": name,
                "title": spec["title"],
                "lead": spec.get("lead", "" if trial.of_model else spec.get("lead_of_recording", "")),
                "printed": spec.get("printed", False),
                "content": said,
                "figures": [] if absent else [figures[key] for key in wanted if key in figures],
                "said": chosen(trial.table, "", section=name),
                "absent": absent,
                "note": ONE_FRAME if wanted and not absent and trial.base.sizes["time"] < 2 else "",
                "template": "answer" if name in ANSWERS else name,
                "beside": name == IN_HEADLINE and not absent,
                # number of figures and of tables that are shown at once; None where the section is folded
                "first": None if absent else spec.get("first"),
            }
        )
    return sections


def _content(name: str, trial: TrialFiles, key: str, picture: Picture) -> dict[str, Any]:
    """Return the content of a section.

    Raises:
        Absent: why it says nothing.
    """
    match name:
        case "check":
            notes = judge(trial.facts).of("note")  # errors and warnings are in the headline
            if not notes and not trial.recording:
                raise Absent("There is nothing to note.")
            return {"notes": notes, "state": trial.recording}
        case "picture":
            if picture.fault:
                raise Absent(picture.fault)
            return {"html": picture.data}
        case "verdicts":
            return content.verdicts(trial, key)
        case "limits":
            return {"own": chosen(trial.table, "limit"), "general": chosen(trial.table, "method")}
        case _ if name == LAST:
            return {}
        case _ if name in ANSWERS:
            return content.answer(trial.answers[name], name)
        case _:  # a section that needs only the files of the trial
            build: Callable[[TrialFiles], dict[str, Any]] = getattr(content, name)
            return build(trial)
