"""The study file: title, design, units and settings once, subjects and trials a line each."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

from musclesolve._util.messages import as_text, suggestion
from musclesolve._util.sides import SIDES
from musclesolve._util.written_files import safe
from musclesolve.errors import InputError
from musclesolve.laboratory.files.subjects_table import SubjectsTable, read_subjects
from musclesolve.laboratory.recording.file_settings import (
    DesignSettings,
    SubjectLineSettings,
    study_settings,
    trial_line_settings,
)
from musclesolve.laboratory.recording.trial_document import trial_document
from musclesolve.laboratory.recording.trial_settings import (
    FileSettings,
    ModelSettings,
    RecordedSettings,
    SubjectSettings,
    TimeSettings,
)
from musclesolve.laboratory.results.cycles.discrete_values import is_number_of_cycle
from musclesolve.laboratory.results.cycles.normalization import unit_settings
from musclesolve.laboratory.results.dataset.quantities import KINDS, QUANTITIES, in_set
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.solver.solver_registry import find_solver
from musclesolve.studies.many_trials.trial_record import CSV
from musclesolve.studies.questions.answers import check_texts
from musclesolve.tables.document import Document, validated
from musclesolve.tables.settings import Setting, is_number, settings_of, tables_of
from musclesolve.tables.text_file import file_path

TITLE, SUBJECTS_TABLE = "title", "subjects_table"
SOURCES = ("file", "model", "b3d", "markers")
"""Keys of a trial of which it has one: where its motion is."""
OF_EACH_TRIAL = ("subject", "files", "time")
"""Tables of a trial file that differ from trial to trial."""
TIME = "time"
SUBJECT = "subject"
GROUP, NUMBERS = "group", "numbers"
Tables = Mapping[str, Mapping[str, Any]]
"""Name of a subject, or of a table of a trial file -> its keys."""
REQUIRED = tuple(key for key, rule in settings_of(SubjectSettings).items() if rule.required)
"""Data of a subject that a recording needs."""
DIGITS = re.compile(r"\d+")
SIMILAR = 0.7
"""Similarity (`difflib`) of two names above which one may be a misspelling of the other."""


@dataclass(frozen=True)
class StudyTrial:
    """One trial of a study.

    Args:
        name: of the trial and its folder.
        subject, condition, session: "" where the study file does not say it.
        side: "both", "r" or "l": the leg that is computed and counts.
        exclude: reason why the trial is left out; "" where it is included.
        inner_leg: "r" or "l" in a turn; None where the study file does not say it.
        keep: reason why it counts despite an error; "" where it then does not count.
        source: the keys `file`, or `model`, `coordinates` and `moments` or `loads`, or `b3d` and `trial`, or `markers`
            and other keys of [files].
        time: keys of [time] of the trial file.
        settings: table of a trial file -> its keys, for this trial alone.
    """

    name: str
    subject: str
    condition: str
    session: str
    side: str
    inner_leg: str | None
    exclude: str
    keep: str
    source: Mapping[str, str]
    time: Mapping[str, Any]
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Study:
    """Contents of a study file.

    Args:
        document: the file.
        title: of the page.
        design, units: by the keys of the study file.
        settings: table of a trial file -> its keys, for all trials.
        subjects: name -> its keys, "group" and further numbers among them.
        trials: in the order of the file.
        notes: sentences on unusual contents.
        people: place for data of the subjects: name of the laboratory's table, or "[subjects]".
    """

    document: Document
    title: str
    design: DesignSettings
    units: Mapping[str, str]
    settings: Tables
    subjects: Tables
    trials: tuple[StudyTrial, ...]
    notes: tuple[str, ...] = ()
    people: str = "[subjects]"

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
        """The trials that are not excluded."""
        return [trial for trial in self.trials if not trial.exclude]

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
            "a study file, with a table [trials]",
            "musclesolve run computes it; musclesolve init FOLDER --study drafts a study of many",
        )
    title = document.content.pop(TITLE, document.path.stem)
    if not isinstance(title, str):
        raise document.fault(
            "bad_value", TITLE, f"the title is {as_text(title)}", "a text in quotes", 'title = "..."'
        )
    people = _subjects_table(document)
    of_trials = {*tables_of(RecordedSettings), *tables_of(ModelSettings)} - {*document.tables, *OF_EACH_TRIAL}
    for table in sorted(of_trials & document.content.keys()):
        problem, remedy = "there is no such table", f"write [settings.{table}], which holds for all trials"
        raise document.unknown("unknown_key", table, document.tables, table, problem=problem, remedy=remedy)
    stated: Any = validated(document, kind)
    if not stated.trials:
        raise document.fault("missing_key", "trials", "the study has no trials", "a line for every trial")
    subjects = dict(_subjects(document, stated.subjects))
    trials = tuple(_trials(document, stated.trials))
    subjects, of_table = _with_table(subjects, trials, people)
    _check_names(document, trials)
    _check_design(document, stated.design, subjects, trials)
    place = "[subjects]" if people is None else people.path.name
    absent = lacking(subjects, trials)
    lacks = [f"nothing states {lacking_text(absent)}: enter it in {place}"] if absent else []
    notes = [*of_table, *lacks, *_unusual(stated.design, subjects, trials)]
    return Study(
        document,
        title,
        stated.design,
        stated.units.stated,
        _settings(document, stated.settings, None),
        subjects,
        trials,
        tuple(notes),
        place,
    )


def _unusual(design: DesignSettings, subjects: Tables, trials: Sequence[StudyTrial]) -> Iterator[str]:
    """Yield notes on contents that follow the rules of the file, but may not be meant."""
    included = [trial for trial in trials if not trial.exclude]
    without = dict.fromkeys(trial.subject for trial in included if trial.subject not in subjects)
    if without and subjects:
        yield f"no line in [subjects]: {', '.join(without)}"
    if unused := [name for name in subjects if all(trial.subject != name for trial in trials)]:
        yield f"subjects without a trial: {', '.join(unused)}"
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


def _subjects_table(document: Document) -> SubjectsTable | None:
    """The laboratory's table of subjects that the study names; None where it names none."""
    name = document.content.pop(SUBJECTS_TABLE, None)
    if name is None:
        return None
    if not isinstance(name, str):
        raise document.fault(
            "bad_value",
            SUBJECTS_TABLE,
            f"the table of subjects is {as_text(name)}",
            "the name of a file (CSV, XLSX) with a row for each subject",
            'subjects_table = "subjects.csv"',
        )
    return read_subjects(document.input_file(SUBJECTS_TABLE, SUBJECTS_TABLE, name))


def _with_table(
    subjects: Tables, trials: Sequence[StudyTrial], people: SubjectsTable | None
) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Add data of the laboratory's table to the subjects where the study file has none; notes on the table."""
    filled = {name: dict(stated) for name, stated in subjects.items()}
    if people is None:
        return filled, []
    of_trials, differing = dict.fromkeys(trial.subject for trial in trials), dict[str, list[str]]()
    row_of = {name: people.row_of(name) for name in dict.fromkeys([*subjects, *of_trials])}
    for name, row in row_of.items():
        if row is not None:
            said, stated = dict(people.rows[row]), filled.setdefault(name, {})
            for key, value in (said | said.pop(NUMBERS, {})).items():
                if stated.setdefault(key, value) != value:
                    differing.setdefault(key, []).append(name)
    table = people.path.name
    notes = [
        f"{key} of {', '.join(names)} is another one in [subjects] than in {table}: [subjects] holds"
        for key, names in differing.items()
    ]
    if without := [
        name for name in of_trials if row_of[name] is None and not {*REQUIRED} <= {*filled.get(name, ())}
    ]:
        notes.append(f"no row in {table}: {', '.join(without)}")
    if idle := [name for name in people.rows if name not in row_of.values()]:
        notes.append(f"rows of {table} without a trial: {', '.join(idle)}")
    return filled, notes


def lacking(subjects: Tables, trials: Sequence[StudyTrial]) -> dict[str, list[str]]:
    """Return data that recordings need and no file states: key of a subject -> the subjects who lack it."""
    persons = dict.fromkeys(t.subject for t in trials if "markers" in t.source and not t.exclude)
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


def _line(
    document: Document, table: str, name: str, values: Any, rules: Mapping[str, Setting]
) -> dict[str, Any]:
    """One line of a table of lines, with defaults."""
    if not isinstance(values, dict):
        expected, example = "a line in braces", f'{name} = {{ subject = "S01", file = "walk.toml" }}'
        if table == "subjects":
            example = f'{name} = {{ group = "control", mass_kg = 70.0 }}'
        raise document.fault("bad_value", (table, name), f"this is {as_text(values)}", expected, example)
    for key, value in values.items():
        if key not in rules:
            raise document.unknown("unknown_key", key, rules, table, name, problem=f"there is no key '{key}'")
        if wrong := rules[key].problem(value):
            problem, expected = wrong
            remedy = "check the value and its unit"
            if choices := rules[key].choices:
                examples = " or ".join(f'{key} = "{choice}"' for choice in choices)
                remedy = suggestion(str(value), choices) or f"write {examples}"
            raise document.fault("bad_value", (table, name), f"{key}: {problem}", expected, remedy)
    for key, rule in rules.items():
        if rule.required and key not in values:
            expected, remedy = f"{key}: {rule.about}", f'add {key} = "..."'
            raise document.fault("missing_key", (table, name), f"'{key}' is missing", expected, remedy)
    return {key: rule.default for key, rule in rules.items()} | values


def _subjects(document: Document, lines: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and keys of every subject: the keys of [subject], the group and further numbers."""
    of_trial = {key: rule.changed(required=False) for key, rule in settings_of(SubjectSettings).items()}
    rules = {**settings_of(SubjectLineSettings), **of_trial}
    for name, values in lines.items():
        line = _line(document, "subjects", name, values, rules)
        stated = {key: line[key] for key in values if key != NUMBERS}
        yield name, stated | dict(line.get(NUMBERS) or {})


def _trials(document: Document, lines: Mapping[str, Any]) -> Iterator[StudyTrial]:
    """Every trial of the study file."""
    of_time = settings_of(TimeSettings)
    rules = trial_line_settings()
    keys = dict.fromkeys((*SOURCES, "coordinates", "moments", "loads", "trial", *settings_of(FileSettings)))
    for name, values in lines.items():
        line = _line(document, "trials", name, values, rules)
        source = {key: line[key] for key in keys if line[key] is not None}
        if not line["exclude"]:
            _check_source(document, name, source)
        of_line = ("subject", "condition", "session", "side", "inner_leg", "exclude", "keep")
        yield StudyTrial(
            name=name,
            source=source,
            time={key: values[key] for key in of_time if key in values},
            settings=_settings(document, line["settings"] or {}, name),
            **{key: line[key] for key in of_line},
        )


def _check_source(document: Document, name: str, source: Mapping[str, str]) -> None:
    """Refuse a trial without a motion, or with two."""
    there = [key for key in SOURCES if key in source]
    needs = {"file": (), "model": ("coordinates",), "b3d": ("trial",), "markers": ()}
    expected = 'file = "trial.toml", or model, coordinates and moments or loads, or b3d and trial, or markers'
    problem = ""
    if len(there) != 1:
        problem = f"{' and '.join(there)} are named" if there else "no file is named"
    elif lacking := [key for key in needs[there[0]] if key not in source]:
        problem = f"'{lacking[0]}' is missing beside {there[0]}"
    elif there == ["model"] and ("moments" in source) == ("loads" in source):
        problem = f"{'both moments and' if 'loads' in source else 'neither moments nor'} loads are named"
    if problem:
        raise document.fault(
            "conflict" if len(there) > 1 or problem.startswith("both") else "missing_key",
            ("trials", name),
            problem,
            expected,
            'name one of them, or leave the trial out with exclude = "the reason"',
        )


def _check_names(document: Document, trials: tuple[StudyTrial, ...]) -> None:
    """Refuse names that are impossible for folders, or equal on some system."""
    seen: dict[str, str] = {}
    for trial in trials:
        name = trial.name
        if safe(name) != name or name.casefold() in (CSV, "average"):
            sub = safe(re.sub("[^0-9A-Za-z_-]+", "_", name).strip("_") or "trial_1")
            problem, remedy = f"{name!r} cannot be the name of a folder on every system", f"such as {sub}"
            raise document.fault("bad_value", ("trials", name), problem, "letters, digits, - and _", remedy)
        if (other := seen.setdefault(name.casefold(), name)) != name:
            raise document.fault(
                "duplicate_name",
                ("trials", name),
                f"{other!r} and {name!r} would be the same folder on some systems",
                "names that differ in more than capital letters",
                "rename one of them",
            )


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
                'add it, or exclude its trials: exclude = "the reason"',
            )
    stated_legs = {
        "affected": any(subject.get("affected_side") in SIDES for subject in subjects.values()),
        "inner": any(trial.inner_leg for trial in trials),
    }
    if not stated_legs.get(design.legs, True):
        raise document.fault(
            "missing_key",
            ("design", "legs"),
            f"no line says which leg is the {design.legs} one",
            'legs = "affected" with affected_side = "r" or "l" in lines of '
            '[subjects], legs = "inner" with inner_leg in lines of [trials]',
        )
    numbers = {key for subject in subjects.values() for key, value in subject.items() if is_number(value)}
    if design.covariate is not None:
        place = "design", "covariate"
        document.check_known([design.covariate], "no subject has the number", sorted(numbers), *place)


def _settings(document: Document, settings: Mapping[str, Any], trial: str | None) -> dict[str, Any]:
    """The tables of trial files that the study sets; refused where neither kind of trial file has them.

    trial: the line that sets them; None for the settings of all trials.
    """
    kinds = [tables_of(RecordedSettings), tables_of(ModelSettings)]

    def at(table: str, key: str | None = None) -> tuple[str, str | None]:
        """The place of a table or its key."""
        return ("trials", trial) if trial is not None else (f"settings.{table}", key)

    known = sorted({name for kind in kinds for name in kind} - {*OF_EACH_TRIAL})
    for table, values in settings.items():
        if table in OF_EACH_TRIAL:
            raise document.error(
                "bad_value",
                *at(table),
                problem=f"[{table}] is not a setting of all trials",
                expected=f"one of {', '.join(map(str, known))}",
                remedy={"subject": "say it in [subjects]"}.get(table, "say it in the line of the trial"),
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
