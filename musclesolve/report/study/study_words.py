"""Numbers of a study in words: its lead sentence, and its methods."""

from pathlib import Path

from markupsafe import Markup

from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.message_text import count_of
from musclesolve.report.content.methods import OF_METHODS, Citations, study_methods
from musclesolve.report.content.pieces import DAMAGE, plain
from musclesolve.report.inputs import TrialFiles, read_inputs
from musclesolve.results.dataset.result_quantities import listed
from musclesolve.results.files.result_netcdf import result_attributes
from musclesolve.results.judgement import counted_verdicts
from musclesolve.studies.many_trials.one_trial import RESULT
from musclesolve.studies.study.analysis import StudyResult

COUNTS = (("solved", "solved"), ("with_reserve", "solved_with_reserve"), ("without_solution", "infeasible"),
         ("not_measured", "not_measured"))  # fmt: skip
"""Counts of a trial's record, and the verdict whose color they have."""


def verdicts_of(result: StudyResult) -> list[str]:
    """The verdicts of the trials with a result."""
    return [record.measures.verdict for record in result.computed.records.values() if record.measures]


def lead_of(result: StudyResult) -> str:
    """Return a sentence on the numbers of subjects, groups, conditions, trials and cycles, all and averaged."""
    study, records = result.computed.study, result.computed.records
    subjects = {trial.subject for trial in study.included}
    groups = {str(study.of_subject(name, "group", "")) for name in subjects} - {""}
    conditions = {trial.condition for trial in study.included} - {""}
    parts, averaged, cycles = [count_of(len(subjects), "subject")], 0, 0
    if result.cycles is not None:
        counting = result.cycles["counts"].values.astype(bool)
        people, averaged = (
            len(set(result.cycles[key].values[counting].tolist())) for key in ("subject", "trial")
        )
        cycles = int(counting.sum())
        parts = [f"{people} of {parts[0]}"] if people < len(subjects) else parts
    parts += [count_of(len(groups), "group")] if len(groups) > 1 else []
    parts += [count_of(len(conditions), "condition")] if len(conditions) > 1 else []
    without = sum(not record.outcome.has_result for record in records.values())
    excluded = len(study.trials) - len(study.included)
    trials = f"{len(records) - without} of {count_of(len(study.trials), 'trial')} with a result"
    trials += f", {excluded} excluded" if excluded else ""
    trials += f", {without} without one" if without else ""
    trials += f", {averaged} averaged" if averaged < len(records) - without else ""
    verdicts = counted_verdicts(verdicts_of(result))
    return f"{'; '.join(filter(None, (', '.join(parts), trials, count_of(cycles, 'cycle'), verdicts)))}."


def methods_of(result: StudyResult, citations: Citations) -> list[Markup]:
    """Return the methods paragraph: steps for all trials or for some of them, then steps of the study."""
    texts = bundled_toml("musclesolve.report", "texts", "study_methods.toml")
    computed = [record for record in result.computed.records.values() if record.outcome.has_result]
    alike: dict[str, list[Path]] = {}
    for record in computed:
        try:
            stated = result_attributes(record.folder / RESULT)
        except DAMAGE:
            continue
        key = str([stated.get(name) for name in OF_METHODS])
        alike.setdefault(key, []).append(record.folder / RESULT)
    trials = list[tuple[TrialFiles, int]]()
    for paths in alike.values():
        try:
            trials.append((read_inputs([paths[0]]).trials[0], len(paths)))
        except DAMAGE:
            continue
    found = [record.measures for record in computed if record.measures is not None]
    total = {key: sum(getattr(each, key) for each in found) for key, _ in COUNTS}
    sentences = [
        texts["subjects"].format(lead=lead_of(result).rstrip(".")),
        texts["solved"].format(
            valid=total["solved"] + total["with_reserve"],
            analyzed=sum(total.values()) - total["not_measured"],
            reserve=total["with_reserve"],
        ),
        texts["means"],
    ]
    if result.groups is not None:
        sentences.append(texts["band"].format(band=result.groups.attrs["band"]))
    if result.comparisons is not None and int(result.comparisons.attrs["tests"]):
        sentences += [texts["mapping"], *listed(result.comparisons, "said")]
    if result.sensitivity:
        sentences.append(texts["sensitivity"])
    sentences.append(
        texts["units"].format(
            units=", ".join(f"{plain(kind)} {unit}" for kind, unit in result.computed.study.units.items())
        )
    )
    return [*study_methods(trials, citations), *(citations.marked(sentence) for sentence in sentences)]
