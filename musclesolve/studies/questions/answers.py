"""Answers beside a result: the answer to each question of a trial file or a command is in a file of its name.

Answers use the options of the result: its cost, its legs, its settings. A question without an answer, such as
contributions without ground reactions, does not prevent the result: the file then has the reason.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from musclesolve._util.messages import Progress, check_known, no_progress
from musclesolve.errors import InputError, file_error, input_error
from musclesolve.laboratory.bodies.run_options import with_arguments
from musclesolve.laboratory.checks.case import finding_of
from musclesolve.laboratory.checks.check import check
from musclesolve.laboratory.recording.data import AnyTrial
from musclesolve.laboratory.recording.trial_document import trial_document
from musclesolve.laboratory.recording.trial_settings import QUESTIONS, QuestionSettings
from musclesolve.laboratory.report.inputs import RESULT, analyzed_trial, read_inputs
from musclesolve.laboratory.results.files.atomic_writing import reserved, write_files
from musclesolve.laboratory.results.files.result_netcdf import (
    ASKED,
    check_folder,
    netcdf_bytes,
    result_attributes,
    trial_from,
    trial_path,
)
from musclesolve.laboratory.results.finding import sorted_findings
from musclesolve.laboratory.results.judgement import Report
from musclesolve.laboratory.results.tables.question_tables import NO_ANSWER, QUESTION
from musclesolve.laboratory.trial.trial_file import read_trial
from musclesolve.tables.document import Document, examined


def asked_of(path: Path, more: Iterable[str] = ()) -> tuple[str, ...]:
    """The questions about a trial, from its file and `more`, in the order of `QUESTIONS`.

    An unreadable file, or another fault in it, is reported by the computation of the trial.
    """
    check_known(more, "question", QUESTIONS)
    try:
        document = trial_document(path)
        examination, faults = examined(document, document.kind)
        settings: QuestionSettings = examination["questions"]
    except InputError:
        return ()
    if any("[questions]" in str(fault.where) for fault in faults):
        return ()
    questions = tuple(name for name in QUESTIONS if name in {*(settings.ask or ()), *more})
    check_texts(document, settings, "questions")
    if "what_if" in questions and not settings.scenarios:
        raise document.fault(
            "missing_key",
            ("questions", "scenarios"),
            "the question what_if has no scenario",
            "one scenario or more, as `what-if --set` takes them",
            'state scenarios = ["weak calf: triceps_surae=0.6"] in [questions], or leave what_if out of the questions',
        )
    if {"margins", "what_if"} & set(questions):
        _check_names(path, document, settings)
    return questions


def check_with_questions(path: str | Path, progress: Progress | None = None) -> Report:
    """Examine a trial as `ms.check` does, and its [questions]: what is misspelt there is a finding, too."""
    report = check(path, progress)
    try:
        asked_of(report.path)
    except InputError as error:
        return Report(report.path, sorted_findings([*report.findings, finding_of("trial_file", error)]))
    return report


def _check_names(path: Path, document: Document, settings: QuestionSettings) -> None:
    """Refuse names of muscles, degrees of freedom and joints in [questions] that the trial does not have."""
    from musclesolve.studies.known_names import known_names
    from musclesolve.studies.questions.what_if import stated_scenarios

    try:
        known = known_names(path)
    except InputError:
        return
    scenarios = stated_scenarios(settings.scenarios or ())
    muscles = "muscle", "part"
    stated: list[tuple[str, Iterable[str], str, tuple[str, ...]]] = [
        ("strength", settings.strength, "muscle or group of muscles", muscles)
    ]
    for scenario in scenarios:
        target, of_target = [scenario.minimize] * bool(scenario.minimize), ("place", *muscles)
        stated += [
            ("scenarios", scenario.strength, "muscle or group of muscles", muscles),
            ("scenarios", (*scenario.torque, *scenario.spring), "degree of freedom", ("dof",)),
            ("scenarios", target, "joint, side of the knee, muscle or group", of_target),
        ]
    for key, names, what, dims in stated:
        for name in names:
            try:
                known.check(name, what, dims)
            except InputError as error:
                raise document.placed(error, "questions", key) from None


def check_texts(document: Document, settings: Mapping[str, Any] | QuestionSettings, table: str) -> None:
    """Refuse scenarios of a table [questions] that cannot be read."""
    scenarios = dict(settings.items()).get("scenarios")
    if not scenarios:
        return
    from musclesolve.studies.questions.what_if import stated_scenarios

    try:
        stated_scenarios(scenarios)
    except InputError as error:
        raise document.placed(error, table, "scenarios") from None


def answer(
    name: str, trial: AnyTrial, options: Mapping[str, Any] | None = None, progress: Progress | None = None
) -> xr.Dataset:
    """Answer a question about a trial; without an answer an attribute of the dataset has the reason.

    [questions] of the trial states scenarios and strengths; options are keyword arguments of `run` with which the
    result was computed.
    """
    settings = trial.settings.questions
    stated = {key: value for key, value in (options or {}).items() if value is not None and key != "solver"}
    cost, side = stated.pop("cost", None), str(stated.pop("side", "both"))
    try:
        changed = with_arguments(trial, **stated)
        match name:
            case "contributions":
                from musclesolve.studies.questions.contributions import contributions

                return contributions(changed, cost, progress)
            case "margins":
                from musclesolve.studies.questions.margins import margins

                return margins(changed, settings.strength, cost=cost, side=side, progress=progress)
            case _:
                from musclesolve.studies.questions.what_if import what_if

                if cost is not None and not isinstance(cost, str):
                    raise input_error(
                        "unsupported",
                        where=name,
                        problem="scenarios of a cost that is an object of Python",
                        expected="a cost by its name",
                        remedy="register the cost, or ask `what_if` from Python",
                    )
                named = changed if cost is None else changed.with_settings(sharing={"cost": cost})
                return what_if(named, settings.scenarios or (), side, progress)
    except InputError as error:
        return xr.Dataset(attrs={NO_ANSWER: "; ".join(filter(None, (error.problem, error.remedy)))})


@dataclass(frozen=True)
class AnswerFile:
    """Makes NAME.nc of a question beside a result, with the options with which the result was computed."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def made(self, path: Path) -> bool:
        """Whether a file is the answer to this question with these settings; commands may have used others."""
        stored = result_attributes(path)
        file = trial_path(stored, path.parent)
        return file is not None and file.is_file() and stored.get(ASKED) == _asked(read_trial(file))

    def __call__(self, result: xr.Dataset, path: Path) -> bytes:
        """The content of the file."""
        from musclesolve.studies.written_answer import of_trial

        file = trial_path(result.attrs, path.parent)
        if file is None:
            raise file_error(
                "missing_file",
                path,
                "the result names no trial file, and answers need it",
                "a result of `musclesolve run`",
                "compute the result from a trial file",
            )
        trial = read_trial(file)
        answers = answer(self.name, trial, self.options)
        stated = {**of_trial(result), **trial_from(file, path.parent), ASKED: _asked(trial)}
        stated[QUESTION] = self.name
        # for every muscle, joint and contact model: a tenth of the bytes
        for variable in answers.data_vars.values() if self.name == "contributions" else ():
            if variable.dtype == np.float64:
                variable.encoding |= {"dtype": "float32", "zlib": True, "complevel": 4}
        return netcdf_bytes(answers.assign_attrs(stated))


def _asked(trial: AnyTrial) -> str:
    settings: QuestionSettings = trial.settings.questions
    return json.dumps({key: value for key, value in settings.items() if key != "ask"}, default=list)


def answer_files(
    names: Iterable[str], options: Mapping[str, Any] | None = None
) -> dict[str, AnswerFile | None]:
    """Makers of the answer files of the requested questions, by file name; None for the other questions."""
    stated = dict(options or {})
    return {f"{name}.nc": AnswerFile(name, stated) if name in set(names) else None for name in QUESTIONS}


def files_again(questions: Iterable[str], result: xr.Dataset) -> dict[str, AnswerFile]:
    """Makers of the files of questions beside a stored result, with the options that its file names."""
    from musclesolve.laboratory.results.recipe import ATTRIBUTE, options_in

    options = options_in(str(result.attrs.get(ATTRIBUTE, "")))
    return {name: make for name, make in answer_files(questions, options).items() if make is not None}


def answer_results(
    paths: Sequence[str | Path], questions: Sequence[str], report: Progress = no_progress
) -> None:
    """Write the answers to questions beside every result; the trial file states scenarios and strengths."""
    for source in read_inputs(paths).sources:
        if source.kind != RESULT:
            continue
        trial = analyzed_trial(source.data)
        if trial is None or trial.suffix != ".toml" or not trial.is_file():
            raise file_error(
                "missing_file",
                source.path,
                "the trial file of the result is not there, and answers need it",
                "a result of `musclesolve run`, with its trial file where it was",
                "compute the result again from its trial file",
            )
        makers = files_again(asked_of(trial, questions), source.data)
        for place, (name, content) in enumerate(makers.items()):
            report(name.removesuffix(".nc").replace("_", "-"), place / len(makers))
            with reserved(source.path.parent):
                check_folder(source.path.parent, name, trial)
                write_files(source.path.parent, {name: content(source.data, source.path)})
