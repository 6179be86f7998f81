"""The page and the card of a data set: what may be used, what was found, peaks beside implants, unusual subjects."""

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from markupsafe import Markup

from musclesolve._util.messages import count_of
from musclesolve._util.sides import LEG_JOINTS
from musclesolve.constants import RESULT_FILE
from musclesolve.laboratory.plotting.figure_names import DATASET_PAGE
from musclesolve.laboratory.recording.trial_settings import MOVEMENTS
from musclesolve.laboratory.report.content.methods import Citations, study_methods
from musclesolve.laboratory.report.content.pieces import DAMAGE, PageTable, cell, plain
from musclesolve.laboratory.report.inputs import TrialFiles, read_inputs
from musclesolve.laboratory.report.page import versions
from musclesolve.laboratory.report.rendering import rendered, whole_page
from musclesolve.laboratory.results.cycles.outliers import NORMAL
from musclesolve.laboratory.results.dataset.quantities import FRAMES, SIGNS, UNSAID
from musclesolve.laboratory.results.judgement import LABELS, NOT_USABLE, ORDER
from musclesolve.laboratory.results.movement import UNKNOWN
from musclesolve.laboratory.results.plausibility import in_vivo
from musclesolve.sharing.status import verdict_words
from musclesolve.studies.dataset.data_set import FIT_FOR_USE, SUBJECTS, TRIALS, DataSet
from musclesolve.studies.many_trials.trial_record import CSV
from musclesolve.studies.pages.study_page import not_judged, trial_rows
from musclesolve.studies.pages.study_words import COUNTS, left_out_table
from musclesolve.studies.study.analysis import StudyResult
from musclesolve.studies.study.run_study import ComputedStudy

CARD = "DATA_CARD.md"
EXAMPLES, DESCRIBED = 3, 24
"""Largest numbers of trials that a finding leads to, and of trials whose methods are described."""
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
FAR, FEWEST = 3.5, 5
"""Distance from the median of the subjects, in standard deviations by the median absolute deviation (Iglewicz & Hoaglin
1993), beyond which a subject is unusual, and number of subjects from which this is computed.
"""


def page_and_card(data: DataSet, computed: ComputedStudy) -> tuple[str, str]:
    """Return the page of a data set, which needs no other file, and its card in Markdown, with the same tables."""
    result, colors = StudyResult(computed), verdict_words()
    citations, described, unusual = Citations(), _described(data), list(_unusual(data.trials))
    every = count_of(len(data.trials), "trial")
    fit = " or ".join(f"“{LABELS[verdict]}”" for verdict in FIT_FOR_USE)
    columns = ("subject", "movement", "quantity", "subject’s median", "median of all", "distance [SD]")
    values: dict[str, Any] = {
        "title": computed.study.title,
        "lead": f"{count_of(len(data.subjects), 'subject')}, {len(data)} of {every} with a result, "
        f"{count_of(int(data.subjects['frames'].sum()), 'frame')}.",
        "usable": f"A trial can be used if its verdict is {fit}: {len(data.names())} of {every}.",
        "care": len(data.names()) < len(data.trials),
        "verdicts": _verdicts(data.trials),
        "notes": computed.notes,
        "people": [_splits(data), _kinds(data.trials)],
        "findings": _findings(computed),
        "peaks": _peaks(data.trials),
        "unusual": PageTable("Subjects far from the others, by the medians of their trials", columns, unusual)
        if unusual
        else None,
        "nothing_unusual": f"No subject is more than {FAR} standard deviations from the others."
        if data.trials.groupby("movement")["subject"].nunique().max() >= FEWEST
        else f"Subjects are compared where {FEWEST} or more of them made the same movement.",
        "left_out": left_out_table(result),
        "trials": [row | {"message": _codes(computed, row["name"])} for row in trial_rows(result)],
        "total": len(data),
        "key": [(colors[verdict]["color"], plain(count)) for count, verdict in COUNTS],
        "not_judged": not_judged(result),
        "methods": _methods(described, citations),
        "written": f"Written from what the results of {len(described)} of {count_of(len(data), 'trial')} state "
        f"about themselves; {CSV} has the numbers of each trial.",
        "citations": citations,
        "files": [CARD, CSV, SUBJECTS],
        "versions": versions(),
    }
    arrays = {str(name): array for part in described.values() for name, array in part.data_vars.items()}
    signs = f"{SIGNS} {UNSAID}"
    card = rendered(
        "data_card.md", folder=data.folder.name, arrays=arrays, frames=FRAMES, signs=signs, **values
    )
    return whole_page(DATASET_PAGE, **values), card


def _codes(computed: ComputedStudy, name: str) -> str:
    """Return the kinds of the findings of a trial, whose sentences are in the table of trials."""
    measures = computed.records[name].measures
    codes = [] if measures is None else [plain(code.partition(" ")[2]) for code in measures.codes]
    return ", ".join(dict.fromkeys(codes))


def _verdicts(trials: pd.DataFrame) -> PageTable:
    """Return the numbers of trials by verdict, of each movement."""
    done = trials[trials["verdict"].notna()]
    movements = list(dict.fromkeys(done["movement"]))
    rows = []
    for verdict in reversed(ORDER):
        judged = done[done["verdict"] == verdict]
        if len(judged):
            counts = [int((judged["movement"] == movement).sum()) for movement in movements]
            rows.append([LABELS[verdict], *counts, len(judged), int(judged["frames"].sum())])
    rows += [
        [status, *("" for _ in movements), count, ""]
        for status, count in Counter(trials["status"][trials["verdict"].isna()]).items()
    ]
    heads = ("verdict", *map(_movement, movements), "all trials", "frames")
    return PageTable("Trials by their verdict", heads, rows)


def _movement(name: object) -> str:
    return "movement not known" if name == UNKNOWN else MOVEMENTS.get(str(name), str(name))


def _splits(data: DataSet) -> PageTable:
    """Return the numbers of subjects, trials and frames of each part of the split."""
    rows = [
        [split, len(part), int(part["with_result"].sum()), int(part["frames"].sum())]
        for split, part in data.subjects.fillna({"split": "none, without a result"}).groupby("split")
    ]
    return PageTable("Parts of the data set, by subject", ("split", "subjects", "trials", "frames"), rows)


def _kinds(trials: pd.DataFrame) -> PageTable:
    """Return what trials differ in, which a user of all of them has to know."""
    done = trials[trials["file"].notna()]
    ground = done["ground_forces"].fillna("none, joint moments alone")
    kinds = Counter(
        zip(done["muscles"].astype(int), ground, done["extension_positive"].fillna("none"), strict=True)
    )
    rows = [[str(muscles), *others, count] for (muscles, *others), count in sorted(kinds.items())]
    heads = ("muscles", "ground forces", "positive in extension", "trials")
    return PageTable("Kinds of trials", heads, rows)


def _findings(computed: ComputedStudy) -> PageTable | None:
    """Return errors and warnings by their kind, the most frequent first, with trials that have it and one sentence."""
    of_code: dict[str, dict[str, str]] = {}
    for name, record in computed.records.items():
        if record.measures is not None:
            for code, sentence in zip(record.measures.codes, record.measures.findings, strict=True):
                of_code.setdefault(code, {}).setdefault(name, sentence)
    rows = []
    for code, trials in sorted(
        of_code.items(), key=lambda entry: (not entry[0].startswith("error"), -len(entry[1]))
    ):
        severity, _, kind = code.partition(" ")
        links = Markup(", ").join(
            Markup('<a href="trials/{0}/">{0}</a>').format(name) for name in list(trials)[:EXAMPLES]
        )
        rows.append([plain(kind), severity, len(trials), links, next(iter(trials.values()))])
    columns = ("finding", "severity", "trials", "examples", "what it says of the first")
    return PageTable("Findings by their kind", columns, rows, prose=True) if rows else None


def _peaks(trials: pd.DataFrame) -> PageTable | None:
    """Return quantiles of the peaks of contact forces, and what implants measured."""
    done = trials[trials["verdict"].notna() & (trials["verdict"] != NOT_USABLE)]
    rows = []
    for movement, part in done.groupby("movement", sort=False):
        for joint in LEG_JOINTS:
            peaks = part[_peak(joint)].dropna()
            if peaks.empty:
                continue
            entries = in_vivo().get(str(movement), {}).get(joint, ())
            lowest = min((entry.get("lowest", np.nan) for entry in entries), default=np.nan)
            highest = max((entry["highest"] for entry in entries), default=np.nan)
            implants = f"{cell(lowest, 1)} to {cell(highest, 1)}" if entries else "not measured"
            above = f"{100.0 * float((peaks > highest).mean()):.0f} %" if entries else ""
            quantiles = [cell(float(peaks.quantile(share)), 1) for share in QUANTILES]
            rows.append([f"{joint}, {_movement(movement)}", len(peaks), *quantiles, implants, above])
    heads = [f"{100 * share:.0f} %" for share in QUANTILES]
    columns = ("joint", "trials", *heads, "implants", "trials above")
    note = (
        "Quantiles over trials of the larger peak of both legs [body weights], without trials that are not usable. "
        "Implants: over all speeds at which they measured."
    )
    return PageTable("Peaks of joint contact forces", columns, rows, note) if rows else None


def _peak(joint: str) -> str:
    return f"peak_{joint}_contact_force_body_weights"


def _unusual(trials: pd.DataFrame) -> Iterator[list[str]]:
    """Yield subjects whose medians over their trials lie far from the other subjects, the farthest first."""
    done, rows = trials[trials["verdict"].notna()], list[tuple[float, list[str]]]()
    quantities = {f"peak contact force of the {joint} [BW]": _peak(joint) for joint in LEG_JOINTS}
    quantities["residual at the pelvis [% BW]"] = "peak_pelvis_residual_percent_body_weight"
    for movement, part in done.groupby("movement", sort=False):
        for words, column in quantities.items():
            medians = part.groupby("subject")[column].median().dropna()
            center = float(medians.median()) if len(medians) else np.nan
            spread = NORMAL * float((medians - center).abs().median()) if len(medians) else 0.0
            if len(medians) < FEWEST or spread <= 0.0:
                continue
            for subject, value in medians.items():
                if (distance := abs(value - center) / spread) > FAR:
                    cells = [cell(float(value), 1), cell(center, 1), cell(distance, 1)]
                    rows.append((distance, [str(subject), _movement(movement), words, *cells]))
    yield from (row for _, row in sorted(rows, key=lambda pair: -pair[0]))


def _described(data: DataSet) -> dict[Path, xr.Dataset]:
    """Return the results of trials at equal distances in the list of all, and of one trial of each kind, by their
    paths, without damaged ones.
    """
    results = dict[Path, xr.Dataset]()
    kinds = data.trials.loc[data.computed, ["muscles", "ground_forces", "extension_positive"]]
    one_of_each = map(str, kinds.drop_duplicates().index)
    for name in dict.fromkeys((*data.computed[:: -(-len(data) // DESCRIBED) or 1], *one_of_each)):
        with contextlib.suppress(*DAMAGE):
            results[data.folder / TRIALS / name / RESULT_FILE] = data.read(name)
    return results


def _methods(described: Mapping[Path, xr.Dataset], citations: Citations) -> list[Markup]:
    """Return the methods paragraph by some results."""
    trials = list[tuple[TrialFiles, int]]()
    for path in described:
        with contextlib.suppress(*DAMAGE):
            trials.append((read_inputs([path], described).trials[0], 1))
    return study_methods(trials, citations) if trials else []
