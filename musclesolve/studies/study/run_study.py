"""The computation of a study: the trial file and the result of each trial, and the table of all trials."""

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from musclesolve._util.arrays import grouped
from musclesolve._util.messages import Progress, no_progress, shortened
from musclesolve.constants import TRIAL_FILE
from musclesolve.errors import InputError, file_error
from musclesolve.laboratory.draft.study_trials import SAME_BODY, body_of
from musclesolve.laboratory.plotting.figure_names import UNCERTAINTY
from musclesolve.laboratory.recording.trial_document import of_model as is_of_model
from musclesolve.laboratory.recording.trial_document import trial_document
from musclesolve.laboratory.recording.trial_settings import ModelSettings, RecordedSettings
from musclesolve.laboratory.results.cycles.discrete_values import value_of
from musclesolve.laboratory.results.dataset.quantities import QUANTITIES
from musclesolve.laboratory.results.files.atomic_writing import reserved, write_files
from musclesolve.laboratory.trial.dependent_settings import with_paths
from musclesolve.models.settings import replaces_file
from musclesolve.studies.known_names import known_names
from musclesolve.studies.many_trials.one_trial import Further, Job, leave_message
from musclesolve.studies.many_trials.run_many import check_for_all, check_table, compute
from musclesolve.studies.many_trials.trial_record import CSV, Outcome, TrialRecord, csv_bytes
from musclesolve.studies.questions.answers import asked_of
from musclesolve.studies.study.cycles_file import CYCLES, UncertaintyFile, cycles_file
from musclesolve.studies.study.study_file import TIME, Study, complete, lacking, lacking_text, read_study
from musclesolve.studies.study.trials_table import SUBJECT, StudyTrial, unlike
from musclesolve.studies.study.unpacked_trials import source_of, unpacked_notes
from musclesolve.tables.document import tables_text, value_text
from musclesolve.tables.settings import tables_of
from musclesolve.tables.text_file import sha256

TRIALS = "trials"
"""Folder of the folders of the trials."""
COMPUTING = 0.9
"""Share of the work for the trials; the rest is the analysis of all of them."""


@dataclass(frozen=True)
class ComputedStudy:
    """A study whose trials are computed.

    Args:
        study: the study file.
        folder: of all that was written.
        records: name -> record of the trial, for all trials that are not excluded.
        notes: on single trials, and on what else is unusual.
        unusual: name -> notes on the contents of a file of many trials, for the trials that have some.
    """

    study: Study
    folder: Path
    records: Mapping[str, TrialRecord]
    notes: tuple[str, ...]
    unusual: Mapping[str, Sequence[str]] = field(default_factory=dict)


def compute_trials(
    study: Study | str | Path,
    output: str | Path,
    *,
    pages: Mapping[str, Further | None] | None = None,
    jobs: int | None = None,
    scheduler: str | None = None,
    again: bool = False,
    samples: int | str | None = None,
    keep: tuple[str, ...] = (),
    progress: Progress | None = None,
) -> ComputedStudy:
    """Compute every trial of a study that is not excluded; keep current results; no failure stops other trials.

    Args:
        study: what `read_study` returned, or the path of the study file.
        output: folder of the results, made when it is missing: trials/NAME has the trial file, result.nc and cycles.nc.
        pages: further files of every trial by name, see `Job`.
        jobs, scheduler, again, progress: see `ManyOptions`.
        samples: of the uncertainty of every trial, uncertainty.nc, as in `uncertainty`; None without one.
        keep: the variables of each result, as of `Job`, without cycles.nc; all of them and the cycles unless given.

    Raises:
        InputError: the study file is at fault, or the folder cannot be written.
        KeyboardInterrupt: after Ctrl-C; the same call goes on with the trials that are left.
    """
    study = study if isinstance(study, Study) else read_study(study)
    output = Path(os.path.realpath(output))
    check_for_all({}, jobs)
    report = progress or no_progress
    with reserved(output):
        check_table(output / CSV)
        report("reading", 0.0)
        jobs_of, refused, notes = prepared(study, output)
        spread = None if samples is None else UncertaintyFile(samples)
        further = {UNCERTAINTY: spread, CYCLES: None if keep else cycles_file, **(pages or {})}
        todo = [replace(job, figures=False, again=again, further=further, keep=keep) for job in jobs_of]

        def write(records: Sequence[TrialRecord]) -> None:
            named = {record.name: record for record in (*records, *refused)}
            write_files(output, {CSV: _table(study, named)})

        done = list[TrialRecord]()
        if not (output / CSV).is_file():
            write(done)  # written at once: a folder with this table holds results, and no trials of a study
        if todo:
            done = compute(
                todo, write, jobs, scheduler, lambda stage, share: report(stage, COMPUTING * share)
            )
        else:
            write(done)
    sources = {job.name: job.source for job in jobs_of if job.source is not None}
    notes += unpacked_notes(sources)
    unusual = {name: source.notes for name, source in sources.items()}
    done = [_at_its_place(study, entry) for entry in done]
    known = {entry.name: entry for entry in (*done, *refused)}
    records = {trial.name: known[trial.name] for trial in study.trials if trial.name in known}
    others = sorted({file.parent.name for file in (output / TRIALS).glob("*/result.nc")} - records.keys())
    if others:
        notes.append(f"results of no trial of this study beside them: {', '.join(others)}")
    return ComputedStudy(study, output, records, (*study.notes, *notes), unusual)


def _at_its_place(study: Study, record: TrialRecord) -> TrialRecord:
    """The record of a trial, whose message names what the user states, and not the trial file that the study wrote."""
    trial, written = study.trial_of[record.name], re.escape(str(record.trial))
    place = re.match(rf"{written}(, line \d+)?(, \[+(?P<table>[\w.]+)\]+ ?(?P<key>\w*))?", record.message)
    if not place:
        return record
    at = study.stated_at(trial, place["table"] or "", place["key"] or "")
    return replace(record, message=", ".join(map(str, filter(None, at))) + record.message[place.end() :])


def prepared(study: Study, output: Path) -> tuple[list[Job], list[TrialRecord], list[str]]:
    """Write the trial file of every trial: the jobs, the records of those that have none, and notes."""
    if not study.included:
        problem, expected = "every trial is excluded", "a trial with an empty cell in the column exclude"
        raise file_error("missing_key", study.table, problem, expected)
    absent = lacking(study.subjects, study.included)
    if not complete(study):
        problem, expected = f"nothing states {lacking_text(absent)}", "mass, stature and sex of each subject"
        remedy = f"enter them in the columns {', '.join(absent)}"
        raise file_error("missing_key", study.table, problem, expected, remedy)
    todo, refused, differing = list[Job](), list[TrialRecord](), list[tuple[str, str]]()
    faults = {trial.line: trial.fault for trial in study.faulty} | _other_bodies(study)
    inputs = dict[str, tuple[str, tuple[Path, ...]]]()
    misspelt: InputError | None = None
    for trial in (trial for trial in study.trials if not trial.exclude):
        folder = output / TRIALS / trial.name
        path = folder / TRIAL_FILE
        job = Job(trial.name, path, folder, {"side": trial.side})
        try:
            if fault := faults.get(trial.line):
                raise fault
            files, source = source_of(study, trial, output)
            job = replace(job, source=source)
            text, named, differs = trial_file(study, trial, files, path)
            content = text.encode("utf-8")
            if not path.is_file() or path.read_bytes() != content:
                # its contents decide whether a result is current
                write_files(path.parent, {path.name: content})
            asked_of(path)
        except InputError as error:
            misspelt = error if "[questions]" in (error.where or "") else misspelt
            record = _at_its_place(study, job.record(Outcome.REFUSED, str(error)))
            leave_message(record)
            refused.append(record)
            continue
        todo.append(job)
        what = (trial.side, sorted(trial.time.items()), trial.settings, source and source.trial)
        inputs[trial.name] = str(what), named if source is None else (source.b3d,)
        differing += [(note, trial.name) for note in differs]
    if misspelt is not None and not todo and "questions" in study.settings:
        raise study.document.placed(misspelt, "settings.questions", str(misspelt.where).split()[-1])
    check_curves(study, todo)
    notes = [f"{note} ({shortened(names)})" for note, names in grouped(differing).items()]
    for same in _alike(inputs):
        notes.append(
            f"the files of {shortened(same)} have the same contents, which count {len(same)} times; where a file was "
            "copied, state so in the column exclude of its trial"
        )
    return todo, refused, notes


def _other_bodies(study: Study) -> dict[int, InputError]:
    """Line -> its error, of lines that state nothing of the body, and whose files contradict each other."""
    stated = list[StudyTrial]()
    for trial in study.included:
        of_file = {} if {*SAME_BODY} <= {*trial.body} else body_of(study.path.parent, trial.source)
        stated.append(replace(trial, body={**of_file, **trial.body}))
    of_subject = grouped((trial.subject, trial) for trial in stated).values()
    return {line: fault for trials in of_subject for line, fault in unlike(study.table, trials).items()}


def _alike(inputs: Mapping[str, tuple[str, Sequence[Path]]]) -> list[list[str]]:
    """Return trials whose input files have the same contents.

    Args:
        inputs: name of a trial -> what else is to be the same, and its files; only files of one size are read.
    """

    def parts(trials: Iterable[str], mark: Callable[[Path], object]) -> list[list[str]]:
        groups = grouped(((inputs[name][0], *map(mark, inputs[name][1])), name) for name in trials)
        return [names for names in groups.values() if len(names) > 1]

    there = [name for name, (_, files) in inputs.items() if all(file.is_file() for file in files)]
    return [names for sized in parts(there, lambda x: x.stat().st_size) for names in parts(sized, sha256)]


def write_table(computed: ComputedStudy, not_counted: Mapping[str, str]) -> None:
    """Write the table of all trials again, with the reasons why trials are in no mean and no test."""
    write_files(computed.folder, {CSV: _table(computed.study, computed.records, not_counted)})


def _table(
    study: Study, records: Mapping[str, TrialRecord], not_counted: Mapping[str, str] | None = None
) -> bytes:
    """The table of all trials of a study, with entries of the study file and why trials do not count."""

    def said(trial: StudyTrial) -> list[str]:
        group = str(study.of_subject(trial.subject, "group", ""))
        why = (not_counted or {}).get(trial.name, "")
        return [trial.subject, group, trial.condition, trial.session, trial.side, trial.exclude, why]

    header = ["subject", "group", "condition", "session", "legs", "excluded", "not_counted"]
    files = {trial.name: Path(trial.source.get("file", "")) for trial in study.trials if trial.exclude}
    excluded = {name: TrialRecord(name, file, Path(), Outcome.EXCLUDED) for name, file in files.items()}
    every = dict(records) | excluded
    trials = [trial for trial in study.trials if trial.name in every]
    return csv_bytes([every[trial.name] for trial in trials], header, [said(trial) for trial in trials])


RESULTANT = "resultant"


def check_curves(study: Study, trials: Iterable[Job]) -> None:
    """Refuse quantities and outcomes of [design] that no trial of a study has, before any computation.

    Trials are searched until all names are found. Where a trial cannot be read, or its names are known only from its
    result, such as groups of a model's muscles without a known function, the outcome is looked up again in the means.
    """
    design = study.design
    stated = [("quantities", name, name, "") for name in design.quantities or ()]
    for text in design.outcomes or ():
        variable, _, name = text.partition(" ")
        if (value := value_of(text)) is not None:
            variable, name = value[0], value[1]
        stated.append(("outcomes", text, variable, name or variable))
    open_ones = [wanted for wanted in stated if wanted[2] in QUANTITIES]
    there, unasked = dict[str, dict[str, None]](), dict[str, str]()
    for trial in trials:
        if not open_ones:
            return
        try:
            known = known_names(trial.ready())
        except InputError:
            return  # the trial itself is refused, with the reason
        for outcome in list(open_ones):
            _, text, variable, name = outcome
            answer, curves = QUANTITIES[variable].answer, known.curves(variable)
            stems = [curve.rpartition(" ")[0] for curve in curves or ()]
            vectors = QUANTITIES[variable].dims[-1:] == ("axis",)  # values of vectors have magnitudes, too
            magnitudes = {f"{stem} {RESULTANT}".strip() for stem in stems if vectors}
            if answer and answer not in known.questions:
                unasked[text] = answer
            elif name and curves is not None and name not in {*curves, *magnitudes}:
                names, measure = curves, ""
                if value_of(text) is not None:  # which magnitudes have, too
                    names, measure = [*sorted(magnitudes), *curves], text.removeprefix(f"{variable} {name}")
                said = [f"{variable} {curve}{measure}" for curve in names]
                there.setdefault(text, {}).update(dict.fromkeys(said))
            else:
                open_ones.remove(outcome)
    for key, text, _, _ in open_ones:
        if text in there:
            study.document.check_known([text], "no trial has", there[text], "design", key)
        raise study.document.fault(
            "missing_key",
            ("design", key),
            f"{text!r} needs the question {unasked[text]}, which no trial has",
            "the question in [questions] of a trial",
            f'state [settings.questions] with ask = ["{unasked[text]}"]',
        )


TRIAL_HEAD = (
    "# Written by `musclesolve study`: what the study says of this trial; changes belong in the study file.\n"
)


def trial_file(
    study: Study, trial: StudyTrial, source: Mapping[str, str | Path], path: Path
) -> tuple[str, tuple[Path, ...], list[str]]:
    """Return the text of the trial file of a trial of a study, its input files, and notes.

    Settings and subject of the study file replace the ones of the trial's own file; where the two differ, a note says
    so. Settings of the line of the trial replace those for all trials, key by key.

    source: the keys of `StudyTrial.source`, but for b3d the files that it will be unpacked to.
    """
    here = study.path.parent
    if "file" in source:
        source_path = study.file_of(trial, "file")
        document = trial_document(source_path)
        content = with_paths(document.content, source_path.parent, path)
        of_model = is_of_model(document)
        if "files" not in content:
            raise document.error(
                "studies.study_file" if "trials" in content else "studies.not_a_trial_file", "files"
            )
    else:
        for key, name in source.items():
            if not replaces_file(name) and "b3d" not in trial.source:
                study.file_of(trial, key)
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
    notes, of_header = list[str](), dict[str, float]()
    if "b3d" in trial.source:
        lacking_keys = known[SUBJECT].settings.keys() - trial.body.keys()
        of_header = {key: x for key, x in body_of(here, trial.source).items() if key in lacking_keys}
        if of_header:
            said = ", ".join(f"{key} {value:g}" for key, value in of_header.items())
            notes.append(f"the header of {Path(trial.source['b3d']).name} states the body: {said}")
    of_subject = {key: value for key, value in trial.body.items() if key in known[SUBJECT].settings}
    stated[SUBJECT] = ({} if of_model else {"name": trial.subject}) | of_header | of_subject
    if not stated[SUBJECT]:
        del stated[SUBJECT]
    stated[TIME] = dict(trial.time)
    merged = dict(content)
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
                problem, expected = f"{key} of {trial.subject} is not known", f"{key}: {rule.about}"
                remedy = f"enter it, in this line or in another one of {trial.subject}"
                raise file_error("missing_key", study.place(trial, key), problem, expected, remedy)
    named = [name for name in merged["files"].values() if isinstance(name, str) and not replaces_file(name)]
    inputs = tuple(path.parent / name for name in named)
    # in one order, however the study file states them: a result is current while the text is the same
    ordered = {name: merged[name] for name in (*known, *merged) if name in merged}
    for name, table in ordered.items():
        if name in known and isinstance(table, Mapping):
            ordered[name] = {key: table[key] for key in (*known[name].settings, *table) if key in table}
    return TRIAL_HEAD + "\n" + tables_text(ordered), inputs, notes
