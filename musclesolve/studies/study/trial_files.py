"""The trial file of each trial of a study: the trial's own file, with the common settings of the study.

The file is written beside the result, so that each trial can be computed, checked and viewed by itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from musclesolve.recording.schema import trial_document
from musclesolve.recording.text.toml_text import tables_text, value_text
from musclesolve.recording.trial.trial_paths import with_paths
from musclesolve.settings.schema import tables_of
from musclesolve.settings.trial import ModelSettings, RecordedSettings, is_predicted
from musclesolve.studies.study.study_file import SUBJECT, TIME, Study, StudyTrial

TRIAL_HEAD = (
    "# Written by `musclesolve study`: what the study says of this trial; changes belong in the study file.\n"
)


@dataclass(frozen=True)
class TrialFile:
    """The text of a trial file, its input files, and the differences of the study file from the trial's own file."""

    text: str
    inputs: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()


def trial_file(study: Study, trial: StudyTrial, source: Mapping[str, str | Path], path: Path) -> TrialFile:
    """Return the trial file of a trial of a study.

    Settings and subject of the study file replace the ones of the trial's own file; where the two differ, a note says
    so. Settings of the line of the trial replace those for all trials, key by key.

    Args:
        study, trial: of the study file.
        source: the keys of `StudyTrial.source`, but for b3d the files that it will be unpacked to.
        path: where the trial file is to be.
    """
    here = study.path.parent
    if "file" in source:
        own = study.document.input_file("trials", trial.name, str(source["file"]))
        document = trial_document(own)
        content = with_paths(document.content, own.parent, path)
        of_model = document.of_model
        if "files" not in content:
            raise document.error(
                "studies.study_file" if "trials" in content else "studies.not_a_trial_file", "files"
            )
    else:
        for name in source.values():
            if not is_predicted(name) and "b3d" not in trial.source:
                study.document.input_file("trials", trial.name, str(name))
        content = with_paths({"files": dict(source)}, here, path)
        of_model = "markers" not in source
    known = tables_of(ModelSettings if of_model else RecordedSettings)
    both = dict(study.settings)
    for name, table in trial.settings.items():
        before = both.get(name)
        both[name] = (
            {**before, **table} if isinstance(before, Mapping) and isinstance(table, Mapping) else table
        )
    stated = {name: table for name, table in with_paths(both, here, path).items() if name in known}
    for name, table in stated.items():
        if not known[name].free and not known[name].one_per:
            stated[name] = {key: value for key, value in table.items() if key in known[name].settings}
    if not of_model:
        said = study.subjects.get(trial.subject, {})
        of_subject = {key: value for key, value in said.items() if key in known[SUBJECT].settings}
        stated[SUBJECT] = {"name": trial.subject} | of_subject
    stated[TIME] = dict(trial.time)
    merged, notes = dict(content), list[str]()
    for name, table in stated.items():
        before = merged.get(name, {})
        if isinstance(table, Mapping) and isinstance(before, Mapping):
            notes += [
                f"{name} {key} is {value_text(table[key])} by the study and {value_text(before[key])} by its own file"
                for key in table
                if key in before and before[key] != table[key] and key != "name"
            ]
            merged[name] = {**before, **table}
        else:
            merged[name] = table
    if not of_model:
        of_subject = merged[SUBJECT]
        for key, rule in known[SUBJECT].settings.items():
            if rule.required and key not in of_subject:
                raise study.document.fault(
                    "missing_key",
                    ("trials", trial.name),
                    f"{key} of {trial.subject} is not known",
                    f"{key}: {rule.about}",
                    f"state it in {study.people}: {trial.subject} = {{ {key} = ... }}"
                    if study.people == "[subjects]"
                    else f"state it in {study.people}, in the row of {trial.subject}, column {key}",
                )
    named = [name for name in merged["files"].values() if isinstance(name, str) and not is_predicted(name)]
    inputs = tuple(path.parent / name for name in named)
    return TrialFile(TRIAL_HEAD + "\n" + tables_text(merged), inputs, tuple(notes))
