"""The study file: title, design, units and settings once, subjects and trials a line each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.message_text import as_text
from musclesolve._util.names import suggestion
from musclesolve.errors import InputError
from musclesolve.recording.schema import (
    Document,
    described_keys,
    is_number,
    trial_document,
    trial_keys,
    validated,
    value_problem,
)
from musclesolve.results.cycles.normalisation import chosen_units, quantity_kinds
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.solver.solver_registry import find_solver
from musclesolve.studies.many_trials.run_many import safe
from musclesolve.studies.many_trials.trial_record import CSV

TITLE = "title"
SOURCES = ("file", "model", "b3d")
"""Keys of a trial of which it has one: where its motion is."""
TIME = "time"
SUBJECT = "subject"
GROUP, NUMBERS = "group", "numbers"
DIGITS = re.compile(r"\d+")
SIMILAR = 0.7
"""Likeness (`difflib`) of two names above which one may be a slip of the other."""


@dataclass(frozen=True)
class StudyTrial:
    """One trial of a study.

    Args:
        name: of the trial and its folder.
        subject, condition, session: "" where the study file does not say it.
        side: "both", "r" or "l": which leg is computed and counts.
        exclude: why it is left out; "" where it is not.
        keep: why it counts although an error was found in it; "" where it then does not.
        source: the keys `file`, or `model`, `coordinates` and `moments` or `loads`, or `b3d` and `trial`.
        time: what it says of [time] of the trial file.
    """

    name: str
    subject: str
    condition: str
    session: str
    side: str
    exclude: str
    keep: str
    source: Mapping[str, str]
    time: Mapping[str, Any]


@dataclass(frozen=True)
class Study:
    """What a study file says.

    Args:
        document: the file.
        title: of the page.
        design, units: by the keys of the study file.
        settings: table of a trial file -> its keys, for all trials.
        subjects: name -> its keys, "group" and further numbers among them.
        trials: in the order of the file.
        notes: what is unusual.
    """

    document: Document
    title: str
    design: Mapping[str, Any]
    units: Mapping[str, str]
    settings: Mapping[str, Mapping[str, Any]]
    subjects: Mapping[str, Mapping[str, Any]]
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
        """The trials that are not excluded."""
        return [trial for trial in self.trials if not trial.exclude]

    def of_subject(self, name: str, key: str, default: Any = None) -> Any:
        """What the study file says of a subject."""
        return self.subjects.get(name, {}).get(key, default)

    def __repr__(self) -> str:
        """Path and size in a line."""
        return f"<Study {str(self.path)!r}: {len(self.trials)} trials, {len(self.subjects)} subjects>"


def study_keys() -> dict[str, Any]:
    """Return the description of every table and key of a study file; units are those that quantities may have."""
    usual = chosen_units() | {"angle": "deg"}
    units = {
        kind: {
            "type": "text",
            "choices": list(rules["units"]),
            "default": usual[kind],
            "about": f"unit of {', '.join(rules['variables'][:3])}",
        }
        for kind, rules in quantity_kinds().items()
    }
    return bundled_toml("musclesolve.studies.study", "study_keys.toml") | {"units": {"keys": units}}


def is_study(path: Path) -> bool:
    """Whether a file is a study file, not a trial file; not of what cannot be read."""
    try:
        content = trial_document(path).content
    except InputError:
        return False
    return "trials" in content and "files" not in content


def read_study(path: str | Path) -> Study:
    """Read a study file; the files of its trials are read when they are computed.

    Raises:
        InputError: anything that is missing, contradictory or out of its range, with the line.
    """
    keys = study_keys()
    tables = {name: rules for name, rules in keys.items() if not name.endswith("_line")}
    document = trial_document(Path(path), tables)
    if "files" in document.content and "trials" not in document.content:
        raise document.error(
            "this is a trial file",
            "files",
            expected="a study file, with a table [trials]",
            remedy="musclesolve run computes it; musclesolve init FOLDER --study drafts a study of many",
            code="bad_format",
        )
    title = document.content.pop(TITLE, document.path.stem)
    if not isinstance(title, str):
        raise document.error(
            f"the title is {as_text(title)}", TITLE, expected="a text in quotes", remedy='title = "..."'
        )
    content = validated(document)
    if not content["trials"]:
        problem = "the study has no trials"
        raise document.error(problem, "trials", expected="a line for every trial", code="missing_key")
    subjects = dict(_subjects(document, content["subjects"], keys["subject_line"]["keys"]))
    trials = tuple(_trials(document, content["trials"], keys["trial_line"]["keys"]))
    _check_names(document, trials)
    _check_design(document, content["design"], subjects, trials)
    notes = list(_unusual(content["design"], subjects, trials))
    return Study(
        document,
        title,
        content["design"],
        content["units"],
        _settings(document, content["settings"]),
        subjects,
        trials,
        tuple(notes),
    )


def _unusual(
    design: Mapping[str, Any], subjects: Mapping[str, Mapping[str, Any]], trials: Sequence[StudyTrial]
) -> Iterator[str]:
    """What is right by the rules of the file, but may not be meant."""
    included = [trial for trial in trials if not trial.exclude]
    without = dict.fromkeys(trial.subject for trial in included if trial.subject not in subjects)
    if without and subjects:
        yield f"no line in [subjects]: {', '.join(without)}"
    if unused := [name for name in subjects if all(trial.subject != name for trial in trials)]:
        yield f"subjects without a trial: {', '.join(unused)}"
    labels = {
        "group": Counter(
            str(subjects.get(name, {}).get(GROUP, ""))
            for name in dict.fromkeys(trial.subject for trial in included)
        ),
        "condition": Counter(trial.condition for trial in included),
    }
    for what, count in labels.items():
        if not design[f"{what}s"]:
            for name in [each for each, times in count.items() if each and times == 1]:
                others = [each for each, times in count.items() if times > 1]
                alike = get_close_matches(name.casefold(), others, 1, SIMILAR)
                if meant := [each for each in alike if DIGITS.findall(each) == DIGITS.findall(name)]:
                    yield f"the {what} {name!r} is named once; was {meant[0]!r} meant?"
        if some := count[""] and [each for each in count if each]:
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
    seen: dict[str, str] = {}
    for trial in included:
        files = str((sorted(trial.source.items()), trial.side, sorted(trial.time.items())))
        if (first := seen.setdefault(files, trial.name)) != trial.name:
            yield f"{first} and {trial.name} are of the same files, which count twice"


def _line(document: Document, table: str, name: str, values: Any, rules: Mapping[str, Any]) -> dict[str, Any]:
    """One line of a table of lines, with defaults."""
    if not isinstance(values, dict):
        expected, example = "a line in braces", f'{name} = {{ subject = "S01", file = "walk.toml" }}'
        if table == "subjects":
            example = f'{name} = {{ group = "control", mass_kg = 70.0 }}'
        raise document.error(f"this is {as_text(values)}", table, name, 0, expected, example)
    for key, value in values.items():
        if key not in rules:
            raise document.unknown(f"there is no key '{key}'", key, rules, table, name, code="unknown_key")
        if wrong := value_problem(value, rules[key]):
            problem, expected = wrong
            remedy = "check the value and its unit"
            if "choices" in rules[key]:
                examples = " or ".join(f'{key} = "{choice}"' for choice in rules[key]["choices"])
                remedy = suggestion(str(value), rules[key]["choices"]) or f"write {examples}"
            raise document.error(f"{key}: {problem}", table, name, 0, expected, remedy)
    for key, rule in rules.items():
        if rule.get("required") and key not in values:
            problem, expected = f"'{key}' is missing", f"{key}: {rule['about']}"
            raise document.error(problem, table, name, 0, expected, f'add {key} = "..."', code="missing_key")
    return {key: rule.get("default") for key, rule in rules.items()} | values


def _subjects(
    document: Document, lines: Mapping[str, Any], own: Mapping[str, Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and keys of every subject: those of [subject], the group and further numbers."""
    rules = {**own} | {
        key: {**rule, "required": False} for key, rule in trial_keys()[SUBJECT]["keys"].items()
    }
    for name, values in lines.items():
        line = _line(document, "subjects", name, values, rules)
        stated = {key: line[key] for key in values if key != NUMBERS}
        yield name, stated | dict(line.get(NUMBERS) or {})


def _trials(document: Document, lines: Mapping[str, Any], own: Mapping[str, Any]) -> Iterator[StudyTrial]:
    """Every trial of the study file."""
    of_time = trial_keys()[TIME]["keys"]
    for name, values in lines.items():
        line = _line(document, "trials", name, values, own | of_time)
        source = {
            key: line[key]
            for key in (*SOURCES, "coordinates", "moments", "loads", "trial")
            if line[key] is not None
        }
        if not line["exclude"]:
            _check_source(document, name, source)
        yield StudyTrial(
            name,
            line["subject"],
            line["condition"],
            line["session"],
            line["side"],
            line["exclude"],
            line["keep"],
            source,
            {key: values[key] for key in of_time if key in values},
        )


def _check_source(document: Document, name: str, source: Mapping[str, str]) -> None:
    """Refuse a trial without a motion, or with two."""
    there = [key for key in SOURCES if key in source]
    needs = {"file": (), "model": ("coordinates",), "b3d": ("trial",)}
    expected = 'file = "trial.toml", or model, coordinates and moments or loads, or b3d and trial'
    problem = ""
    if len(there) != 1:
        problem = f"{' and '.join(there)} are named" if there else "no file is named"
    elif lacking := [key for key in needs[there[0]] if key not in source]:
        problem = f"'{lacking[0]}' is missing beside {there[0]}"
    elif there == ["model"] and ("moments" in source) == ("loads" in source):
        problem = (
            "both moments and loads are named" if "loads" in source else "neither moments nor loads are named"
        )
    if problem:
        code = "conflict" if len(there) > 1 or problem.startswith("both") else "missing_key"
        remedy = 'name one of them, or leave the trial out with exclude = "the reason"'
        raise document.error(problem, "trials", name, 0, expected, remedy, code=code)


def _check_names(document: Document, trials: tuple[StudyTrial, ...]) -> None:
    """Refuse names that cannot be those of folders, or would be of the same folder on some system."""
    seen: dict[str, str] = {}
    for trial in trials:
        name = trial.name
        if safe(name) != name or name.casefold() in (CSV, "average"):
            problem = f"{name!r} cannot be the name of a folder on every system"
            remedy = f"such as {re.sub(r'[^0-9A-Za-z_-]+', '_', name).strip('_') or 'trial_1'}"
            raise document.error(problem, "trials", name, 0, "letters, digits, - and _", remedy)
        if (other := seen.setdefault(name.casefold(), name)) != name:
            problem = f"{other!r} and {name!r} would be the same folder on some systems"
            expected = "names that differ in more than capital letters"
            raise document.error(
                problem, "trials", name, 0, expected, "rename one of them", code="duplicate_name"
            )


def _check_design(
    document: Document,
    design: Mapping[str, Any],
    subjects: Mapping[str, Mapping[str, Any]],
    trials: tuple[StudyTrial, ...],
) -> None:
    """Refuse groups and conditions that no subject or trial has, and a covariate that is none."""
    persons = {trial.subject for trial in trials if not trial.exclude}
    there = {
        "groups": {str(each[GROUP]) for each in subjects.values() if GROUP in each},
        "conditions": {trial.condition for trial in trials if trial.condition},
    }
    used = {
        "groups": {str(each[GROUP]) for name, each in subjects.items() if GROUP in each and name in persons},
        "conditions": {trial.condition for trial in trials if trial.condition and not trial.exclude},
    }
    for key, known in there.items():
        for name in design[key] or ():
            if name not in known:
                problem = f"no {'subject is of the group' if key == 'groups' else 'trial has the condition'} {name!r}"
                raise document.unknown(problem, name, sorted(known), "design", key)
        if design[key] and (missing := used[key] - set(design[key])):
            problem = f"{sorted(missing)[0]!r} is not among them"
            expected = f"all {key} of the study, in their order"
            remedy = 'add it, or exclude its trials: exclude = "the reason"'
            raise document.error(problem, "design", key, 0, expected, remedy, code="unknown_name")
    quantities = [name for rules in quantity_kinds().values() for name in rules["variables"]]
    for name in design["quantities"] or ():
        if name not in quantities:
            problem = f"there is no quantity {name!r}"
            raise document.unknown(problem, name, quantities, "design", "quantities")
    covariate = design["covariate"]
    numbers = {key for each in subjects.values() for key, value in each.items() if is_number(value)}
    if covariate is not None and covariate not in numbers:
        raise document.unknown(
            f"no subject has the number {covariate!r}", covariate, sorted(numbers), "design", "covariate"
        )


def _settings(document: Document, settings: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The tables of trial files that the study sets; refused where neither kind of trial file has them."""
    kinds = [trial_keys(), described_keys("model_keys.toml")]
    of_trials = ("subject", "files", "time")
    for table, values in settings.items():
        known = sorted({name for kind in kinds for name in kind} - set(of_trials))
        if table in of_trials:
            problem = f"[{table}] is not a setting of all trials"
            remedy = {"subject": "say it in [subjects]"}.get(table, "say it in the line of the trial")
            raise document.error(
                problem, f"settings.{table}", expected=f"one of {', '.join(known)}", remedy=remedy
            )
        if table not in known:
            problem = f"a trial file has no table [{table}]"
            raise document.unknown(problem, table, known, f"settings.{table}", code="unknown_key")
        if not isinstance(values, dict):
            expected = f"[settings.{table}] on a line of its own, with its keys below"
            raise document.error("this is not a table", "settings", table, 0, expected)
        described = [kind[table] for kind in kinds if table in kind]
        if any(each.get("free") or each.get("list") for each in described):
            continue
        for key, value in values.items():
            rules = [each["keys"][key] for each in described if key in each["keys"]]
            if not rules:
                names = sorted({name for each in described for name in each["keys"]})
                problem = f"there is no key '{key}' in [{table}] of a trial file"
                raise document.unknown(problem, key, names, f"settings.{table}", key, code="unknown_key")
            wrong = [value_problem(value, rule) for rule in rules]
            if all(wrong) and wrong[0]:
                problem, expected = wrong[0]
                raise document.error(
                    problem, f"settings.{table}", key, 0, expected, "check the value and its unit"
                )
    for key, find in (("cost", find_cost), ("solver", find_solver)):
        if (name := settings.get("sharing", {}).get(key)) is not None:
            try:
                find(name)
            except InputError as error:
                raise document.placed(error, "settings.sharing", key) from None
    return {table: dict(values) for table, values in settings.items()}
