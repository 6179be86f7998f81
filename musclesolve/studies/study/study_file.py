"""The study file: title, design, units and settings once; and the table of its trials."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

from musclesolve._util.messages import as_text
from musclesolve._util.sides import SIDES
from musclesolve.errors import InputError, file_error
from musclesolve.laboratory.recording.file_settings import DesignSettings, study_settings
from musclesolve.laboratory.recording.trial_document import trial_document
from musclesolve.laboratory.recording.trial_settings import ModelSettings, RecordedSettings, SubjectSettings
from musclesolve.laboratory.results.cycles.discrete_values import is_number_of_cycle
from musclesolve.laboratory.results.cycles.normalization import unit_settings
from musclesolve.laboratory.results.dataset.quantities import KINDS, QUANTITIES, in_set
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.solver.solver_registry import find_solver
from musclesolve.studies.questions.answers import check_texts
from musclesolve.studies.study.trials_table import SETTINGS, StudyTrial, people_of, place, read_trials
from musclesolve.tables.document import Document, validated
from musclesolve.tables.settings import is_number, settings_of, tables_of
from musclesolve.tables.text_file import file_path, is_file, no_file, without_detours

TITLE, TRIALS, TABLE = "title", "trials", "trials.csv"
OF_EACH_TRIAL = ("subject", "files", "time")
"""Tables of a trial file that differ from trial to trial."""
TIME = "time"
GROUP = "group"
Tables = Mapping[str, Mapping[str, Any]]
"""Name of a subject, or of a table of a trial file -> its keys."""
REQUIRED = tuple(key for key, rule in settings_of(SubjectSettings).items() if rule.required)
"""Data of a subject that a recording needs."""
DIGITS = re.compile(r"\d+")
SIMILAR = 0.7
"""Similarity (`difflib`) of two names above which one may be a misspelling of the other."""


@dataclass(frozen=True)
class Study:
    """Contents of a study file.

    Args:
        document: the file.
        title: of the page.
        design, units: by the keys of the study file.
        settings: table of a trial file -> its keys, for all trials.
        table: path of the table of the trials.
        subjects: name -> its keys, "group" and further numbers among them: means of the numbers of its lines.
        trials: in the order of the table.
        notes: sentences on unusual contents.
    """

    document: Document
    title: str
    design: DesignSettings
    units: Mapping[str, str]
    settings: Tables
    table: Path
    subjects: Tables
    trials: tuple[StudyTrial, ...]
    notes: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        """Path of the study file."""
        return self.document.path

    @cached_property
    def trial_of(self) -> dict[str, StudyTrial]:
        """The trials by name."""
        return {trial.name: trial for trial in self.trials}

    @property
    def included(self) -> list[StudyTrial]:
        """The trials that are neither excluded nor at fault by their lines."""
        return [trial for trial in self.trials if trial.included]

    @property
    def faulty(self) -> list[StudyTrial]:
        """The trials that are refused, as their lines are at fault."""
        return [trial for trial in self.trials if trial.fault]

    def place(self, trial: StudyTrial, column: str = "") -> tuple[Path, str]:
        """The place of a trial in the table, for an error."""
        return place(self.table, trial.line, column)

    def stated_at(self, trial: StudyTrial, table: str, key: str) -> tuple[Path, str | None]:
        """The place where a key of the trial file of a trial is stated: its line, the study file, or its own file.

        A key that is not stated belongs in its own file, else in its line.
        """
        of_line = {**trial.settings, "subject": trial.body, "files": trial.source, TIME: trial.time}

        def states(tables: Mapping[str, Any]) -> bool:
            stated = tables.get(table, ())
            return key in stated or (bool(stated) and isinstance(stated, list))

        if not states(of_line):
            if states(self.settings):
                return self.path, self.document.place(f"{SETTINGS}.{table}", key)
            if "file" in trial.source:
                own = trial_document(self.file_of(trial, "file"))
                return own.path, own.place(table, key or None) if table else None
        column = [key] if table in OF_EACH_TRIAL else [SETTINGS, table, key] if table else []
        return self.place(trial, ".".join(filter(None, column)))

    def file_of(self, trial: StudyTrial, column: str) -> Path:
        """The path of a file that the line of a trial names.

        Raises:
            InputError: there is no such file, with line and column.
        """
        path = without_detours(self.path.parent / trial.source[column])
        if not is_file(path):
            file, where = place(self.table, trial.line, column)
            raise no_file(path).moved(file, where, before=f"{trial.source[column]!r}: ")
        return path

    @property
    def conditions(self) -> list[str]:
        """The conditions of the trials that are not excluded; conditions of [design] first, in its order."""
        return _stated_first(self.design.conditions, [trial.condition for trial in self.included])

    @property
    def people_of_groups(self) -> dict[str, list[str]]:
        """Group -> its subjects with trials that are not excluded; groups of [design] first, in its order."""
        subjects = dict.fromkeys(trial.subject for trial in self.included)
        group = {name: str(self.of_subject(name, "group", "")) for name in subjects}
        order = _stated_first(self.design.groups, list(group.values()))
        return {label: [name for name in subjects if group[name] == label] for label in order}

    @property
    def outcome_variables(self) -> list[str]:
        """The quantities of the outcomes."""
        return list(dict.fromkeys(text.split()[0] for text in self.design.outcomes or ()))

    def of_subject(self, name: str, key: str, default: Any = None) -> Any:
        """Return the value of a key of a subject in the study file."""
        return self.subjects.get(name, {}).get(key, default)

    def __repr__(self) -> str:
        """Path and size in a line."""
        return f"<Study {str(self.path)!r}: {len(self.trials)} trials, {len(self.subjects)} subjects>"


def _stated_first(stated: Sequence[str] | None, there: Sequence[str]) -> list[str]:
    """The names that are there, without repetition: the stated ones first, in their order."""
    return [name for name in dict.fromkeys((*(stated or ()), *there)) if name in there]


def read_study(path: str | Path) -> Study:
    """Read a study file; the files of its trials are read when they are computed.

    Args:
        path: of the study file (.toml).

    Returns:
        Title, design, units, settings, subjects and trials (docs/study.md).

    Raises:
        InputError: anything that is missing, contradictory or out of its range, with the line.

    Examples:
        >>> data = ms.studies.make_dataset(ms.data.reference_stride().parent, "walks", jobs=1)   # drafts a study
        >>> study = ms.studies.read_study("walks/inputs/study.toml")
        >>> [trial.name for trial in study.trials]
        ['reference_stride_trial']
    """
    kind = study_settings(unit_settings())
    document = trial_document(file_path(path), kind)
    if "files" in document.content and "trials" not in document.content:
        raise document.fault(
            "bad_format",
            "files",
            "this is a trial file",
            "a study file, which names the table of its trials",
            "musclesolve run computes it; musclesolve init FOLDER --study drafts a study of many",
        )
    title = document.content.pop(TITLE, document.path.stem)
    if not isinstance(title, str):
        problem = f"the title is {as_text(title)}"
        raise file_error("bad_value", (document.path, TITLE), problem, "a text in quotes", 'title = "..."')
    name = document.content.pop(TRIALS, None)
    if not isinstance(name, str):
        problem = (
            "no table of the trials is named"
            if name is None
            else f"the table of the trials is {as_text(name)}"
        )
        expected, remedy = (
            "the name of a file (CSV, XLSX) with a line for each trial",
            f'write {TRIALS} = "{TABLE}" above all tables',
        )
        code = "missing_key" if name is None else "bad_value"
        raise file_error(code, (document.path, TRIALS), problem, expected, remedy)
    table = without_detours(document.path.parent / name)
    if not is_file(table):
        raise no_file(table).moved(document.path, TRIALS, before=f"{name!r}: ")
    of_trials = {*tables_of(RecordedSettings), *tables_of(ModelSettings)} - {*document.tables, *OF_EACH_TRIAL}
    for key in sorted(of_trials & document.content.keys()):
        problem, remedy = "there is no such table", f"write [settings.{key}], which holds for all trials"
        raise document.unknown("unknown_key", key, document.tables, key, problem=problem, remedy=remedy)
    stated: Any = validated(document, kind)
    trials = tuple(_with_settings(document, table, trial) for trial in read_trials(table))
    if not any(trial.included for trial in trials):
        for trial in trials:
            if trial.fault:
                raise trial.fault
    subjects = people_of(trials)
    _check_design(document, stated.design, subjects, trials)
    absent = lacking(subjects, trials)
    lacks = [f"nothing states {lacking_text(absent)}: enter it in {table.name}"] if absent else []
    return Study(
        document,
        title,
        stated.design,
        stated.units.stated,
        _settings(document, stated.settings),
        table,
        subjects,
        trials,
        tuple([*lacks, *_unusual(stated.design, subjects, trials)]),
    )


def _with_settings(document: Document, table: Path, trial: StudyTrial) -> StudyTrial:
    """The trial, at fault where a setting of its line is."""
    if not trial.included or not trial.settings:
        return trial
    for name, keys in trial.settings.items():
        for key, value in keys.items() if isinstance(keys, Mapping) else [("", keys)]:
            try:
                _settings(document, {name: {key: value} if key else value})
            except InputError as error:
                column = ".".join(filter(None, (SETTINGS, name, key)))
                return replace(trial, fault=error.moved(*place(table, trial.line, column)))
    return trial


def _unusual(design: DesignSettings, subjects: Tables, trials: Sequence[StudyTrial]) -> Iterator[str]:
    """Yield notes on contents that follow the rules of the file, but may not be meant."""
    included = [trial for trial in trials if trial.included]
    of_groups = {trial.subject: str(subjects.get(trial.subject, {}).get(GROUP, "")) for trial in included}
    labels = {
        "group": [(group, name) for name, group in of_groups.items()],
        "condition": [(trial.condition, trial.subject) for trial in included],
    }
    for what, named in labels.items():
        count = Counter(label for label, _ in named)
        persons = {label: {subject for one, subject in named if one == label} for label in count}
        for name in filter(None, count):
            alike = {one.casefold(): one for one in count if DIGITS.findall(one) == DIGITS.findall(name)}
            del alike[name.casefold()]
            once = count[name] == 1 and not design[f"{what}s"]
            alone = len(persons[name]) == 1
            for other in map(alike.__getitem__, get_close_matches(name.casefold(), alike, 1, SIMILAR)):
                if once and count[other] > 1:
                    yield f"the {what} {name!r} is named once; was {other!r} meant?"
                elif alone and len(persons[other]) > 1 and persons[name].isdisjoint(persons[other]):
                    yield f"the {what} {name!r} is of {', '.join(persons[name])} alone; was {other!r} meant?"
        if some := count[""] and [one for one in count if one]:
            yield (
                f"{count['']} {'subjects' if what == 'group' else 'trials'} have no {what}, others have "
                f"{', '.join(some)}: they are in no mean and no test"
            )
    sessions: dict[tuple[str, str], dict[str, None]] = {}
    for trial in included:
        if trial.session:
            sessions.setdefault((trial.subject, trial.condition), {})[trial.session] = None
    if pooled := [names for names in sessions.values() if len(names) > 1]:
        names = ", ".join(pooled[0])
        yield f"sessions of a subject ({names}) are averaged; state them as condition to compare them"


def lacking(subjects: Tables, trials: Sequence[StudyTrial]) -> dict[str, list[str]]:
    """Return data that recordings need and no file states: key of a subject -> the subjects who lack it."""
    persons = dict.fromkeys(t.subject for t in trials if "markers" in t.source and t.included)
    missing = {key: [name for name in persons if key not in subjects.get(name, {})] for key in REQUIRED}
    return {key: names for key, names in missing.items() if names}


def complete(study: Study) -> list[StudyTrial]:
    """The trials of a study of whose subject nothing is lacking."""
    absent = lacking(study.subjects, study.included)
    without = {name for names in absent.values() for name in names}
    return [t for t in study.included if "markers" not in t.source or t.subject not in without]


def lacking_text(missing: Mapping[str, Sequence[str]]) -> str:
    """Return the missing keys and their subjects, in words."""
    return "; ".join(f"{key} of {', '.join(names)}" for key, names in missing.items())


def _check_design(
    document: Document, design: DesignSettings, subjects: Tables, trials: tuple[StudyTrial, ...]
) -> None:
    """Refuse groups and conditions that no subject or trial has, and an unusable covariate."""
    included = [trial for trial in trials if not trial.exclude]
    there, used = (
        {
            "groups": {str(subjects[name][GROUP]) for name in names if GROUP in subjects.get(name, ())},
            "conditions": {trial.condition for trial in some if trial.condition},
        }
        for names, some in ((subjects, trials), ({trial.subject for trial in included}, included))
    )
    studied = set(in_set("study"))
    names_of_kinds = (name for kind in KINDS.values() for name in kind.names)
    curves = [name for name in names_of_kinds if name in studied or not QUANTITIES[name].answer]
    both, outcomes = there["groups"] | there["conditions"], [*curves, *filter(is_number_of_cycle, QUANTITIES)]
    names: list[tuple[str, Collection[str], str]] = [
        ("groups", there["groups"], "no subject is of the group"),
        ("conditions", there["conditions"], "no trial has the condition"),
        ("quantities", [name for name in curves if not is_number_of_cycle(name)], "there is no quantity"),
        ("drawn", both, "no subject or trial is of the group or condition"),
        ("outcomes", outcomes, "there is no quantity"),
    ]
    for key, known, problem in names:
        for text in design[key] or ():
            name = next(iter(text.split()), text) if key == "outcomes" else text
            likely = sorted(known) if isinstance(known, set) else known
            document.check_known([name], problem, likely, "design", key)
    for key in used:
        if design[key] and (missing := used[key] - set(design[key])):
            raise document.fault(
                "unknown_name",
                ("design", key),
                f"{sorted(missing)[0]!r} is not among them",
                f"all {key} of the study, in their order",
                "add it, or state in the column exclude why its trials are left out",
            )
    stated_legs = {
        "affected": any(subject.get("affected_side") in SIDES for subject in subjects.values()),
        "inner": any(trial.inner_leg for trial in trials),
    }
    if not stated_legs.get(design.legs, True):
        column = {"affected": "affected_side", "inner": "inner_leg"}[design.legs]
        raise document.fault(
            "missing_key",
            ("design", "legs"),
            f"no line says which leg is the {design.legs} one",
            f"r or l in the column {column}",
            'fill in this column of the table of trials, or write legs = "together"',
        )
    numbers = {key for subject in subjects.values() for key, value in subject.items() if is_number(value)}
    if design.covariate is not None:
        state = (
            {}
            if numbers
            else {
                "expected": "a number of the subjects",
                "remedy": "state it in the table of trials, in a column age_years or numbers.NAME",
            }
        )
        place = "design", "covariate"
        document.check_known(
            [design.covariate], "no subject has the number", sorted(numbers), *place, **state
        )


def _settings(document: Document, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The tables of trial files that the study sets; refused where neither kind of trial file has them."""
    kinds = [tables_of(RecordedSettings), tables_of(ModelSettings)]

    def at(table: str, key: str | None = None) -> tuple[str, str | None]:
        """The place of a table or its key."""
        return f"settings.{table}", key

    known = sorted({name for kind in kinds for name in kind} - {*OF_EACH_TRIAL})
    for table, values in settings.items():
        if table in OF_EACH_TRIAL:
            raise document.error(
                "bad_value",
                *at(table),
                problem=f"[{table}] is no table of settings",
                expected=f"one of {', '.join(map(str, known))}",
                remedy="state it in the table of the trials",
            )
        if table not in known:
            raise document.unknown(
                "unknown_key", table, known, *at(table), problem=f"a trial file has no table [{table}]"
            )
        described = [kind[table] for kind in kinds if table in kind]
        listed = isinstance(values, list) and all(isinstance(part, dict) for part in values)
        if not isinstance(values, dict) and not (
            listed and any(description.one_per for description in described)
        ):
            expected = f"[settings.{table}] on a line of its own, with its keys below"
            raise document.fault("bad_value", ("settings", table), "this is not a table", expected)
        if any(description.free or description.one_per for description in described):
            continue
        for key, value in values.items():
            rules = [description.settings[key] for description in described if key in description.settings]
            if not rules:
                names = sorted({name for description in described for name in description.settings})
                problem = f"there is no key '{key}' in [{table}] of a trial file"
                raise document.unknown("unknown_key", key, names, *at(table, key), problem=problem)
            wrong = [rule.problem(value) for rule in rules]
            if all(wrong) and wrong[0]:
                problem, expected = wrong[0]
                remedy = "check the value and its unit"
                raise document.fault("bad_value", at(table, key), problem, expected, remedy)
    if questions := settings.get("questions"):
        check_texts(document, questions, at("questions")[0])
    for key, find in (("cost", find_cost), ("solver", find_solver)):
        if (name := settings.get("sharing", {}).get(key)) is not None:
            try:
                find(name)
            except InputError as error:
                raise document.placed(error, *at("sharing", key)) from None
    return {
        table: dict(entries) if isinstance(entries, dict) else list(entries)
        for table, entries in settings.items()
    }
