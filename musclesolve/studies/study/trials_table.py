"""The table of the trials of a study, `trials.csv`: a line a trial, with all that is stated of it and of its subject.

A line at fault costs itself: its trial is refused with line, column and remedy, and the others are computed. What a
line leaves empty of its subject, another line of the subject states.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from muscle_db.similar_names import suggestion
from musclesolve._util.arrays import grouped
from musclesolve._util.messages import as_text, few, listed_beside
from musclesolve._util.written_files import safe
from musclesolve.errors import InputError, file_error
from musclesolve.laboratory.draft.study_trials import SAME_BODY, alike
from musclesolve.laboratory.files.subjects_table import table_cells
from musclesolve.laboratory.recording.file_settings import SubjectLineSettings, trial_line_settings
from musclesolve.laboratory.recording.trial_settings import FileSettings, SubjectSettings, TimeSettings
from musclesolve.models.settings import is_predicted
from musclesolve.studies.many_trials.trial_record import CSV
from musclesolve.tables.number_rows import number_in
from musclesolve.tables.settings import KINDS, Setting, is_number, settings_of

NAME, SUBJECT, SETTINGS, NUMBERS = "name", "subject", "settings", "numbers"
"""Required columns; and beginnings of headings: `settings.TABLE.KEY` of a trial file, `numbers.NAME` of the subject."""
SOURCES = {"file": (), "model": ("coordinates",), "b3d": ("trial",), "markers": ()}
"""Columns of which a trial has one, where its motion is -> columns that it needs besides."""
_OF_SUBJECT = {**settings_of(SubjectSettings), **settings_of(SubjectLineSettings)}
del _OF_SUBJECT[NAME]  # the column subject
_INERT = re.compile(r"'(?=[=+\-@])")
"""Sign before a cell that a spreadsheet would take for a formula."""


@dataclass(frozen=True)
class StudyTrial:
    """One trial of a study.

    Args:
        name: of the trial and its folder.
        subject, condition, session: "" where the table does not state it.
        side: "both", "r" or "l": the leg that is computed and counts.
        exclude: reason why the trial is left out; "" where it is included.
        inner_leg: "r" or "l" in a turn; None where the table does not state it.
        keep: reason why it counts despite an error; "" where it then does not count.
        source: the keys `file`, or `model`, `coordinates` and `moments` or `loads`, or `b3d` and `trial`, or `markers`
            and other keys of [files].
        time: keys of [time] of the trial file.
        settings: table of a trial file -> its keys, for this trial alone.
        body: keys of the subject in this session, by this line or by others of the subject.
        line: of the table.
        fault: of the line; the trial is then refused.
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
    body: Mapping[str, Any] = field(default_factory=dict)
    line: int = 0
    fault: InputError | None = None

    @property
    def included(self) -> bool:
        """Whether the trial is neither excluded nor refused for its line."""
        return not self.exclude and not self.fault


def place(path: Path, line: int, column: str = "") -> tuple[Path, str]:
    """The place of a cell of the table, or of a line, for an error."""
    return path, f"line {line}" + f", column {column!r}" * bool(column)


def columns() -> dict[str, Setting]:
    """The columns of the table, except `settings.TABLE.KEY` and `numbers.NAME`."""
    of_subject = {key: rule.changed(required=False) for key, rule in _OF_SUBJECT.items()}
    every = {
        NAME: Setting("name of the trial and of its folder", kind="text"),
        **of_subject,
        **trial_line_settings(),
    }
    order = dict.fromkeys((NAME, SUBJECT, "group", "condition", "session", *every))
    return {key: every[key] for key in order if key not in (SETTINGS, NUMBERS)}


def read_trials(path: Path) -> tuple[StudyTrial, ...]:
    """Read the table of the trials of a study.

    Raises:
        InputError: a column is missing, unknown or there twice, or there is no line.
    """
    cells = table_cells(path)
    headings = [_text(cell) for cell in cells[0]] if cells else []
    rules = columns()
    _check_headings(path, headings, rules)
    rows = [(line, list(map(_text, row))) for line, row in enumerate(cells[1:], start=2)]
    trials = [_trial(path, line, headings, row, rules) for line, row in rows if any(row)]
    if not trials:
        expected = "a line for every trial"
        raise file_error("missing_key", path, "the study has no trials", expected, "add its lines")
    return tuple(_with_bodies(path, _each_once(path, trials)))


def _text(cell: Any) -> str:
    text = str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell or "").strip()
    return _INERT.sub("", text, count=1)


def _check_headings(path: Path, headings: Sequence[str], rules: Mapping[str, Setting]) -> None:
    at = place(path, 1)
    for heading in headings:
        if headings.count(heading) > 1:
            expected, remedy = "one column for each", "rename or remove one of them"
            raise file_error("conflict", at, f"two columns are called {heading!r}", expected, remedy)
        if heading not in rules and not re.match(rf"({SETTINGS}\.\w+|{NUMBERS}\.\S)", heading):
            meant = suggestion(heading, list(rules))
            raise file_error(
                "unknown_key",
                at,
                f"there is no column {heading!r}",
                f"one of {listed_beside(meant, list(rules))}, {NUMBERS}.NAME, {SETTINGS}.TABLE.KEY",
                meant or f"rename it; a further number of the subject is {NUMBERS}.{heading or 'NAME'}",
            )
    lacks = [f"the column {name!r} is missing" for name in (NAME, SUBJECT) if name not in headings]
    if not lacks and not {*SOURCES} & {*headings}:
        lacks = [f"no column names the files of the trials: {', '.join(SOURCES)}"]
    if lacks:
        there = f"the headings are {', '.join(headings)}" if headings else "the table is empty"
        expected = f"a first line with {NAME}, {SUBJECT} and one of {', '.join(SOURCES)}"
        raise file_error("missing_key", at, f"{lacks[0]}; {there}", expected, "add the column")


def _trial(
    path: Path, line: int, headings: Sequence[str], row: Sequence[str], rules: Mapping[str, Setting]
) -> StudyTrial:
    """The trial of a line, with the first fault of it."""
    faults = list[InputError]()

    def refuse(code: str, column: str, problem: str, expected: str, remedy: str) -> None:
        faults.append(file_error(code, place(path, line, column), problem, expected, remedy))

    values, settings, numbers = dict[str, Any](), dict[str, Any](), dict[str, float]()
    if any(row[len(headings) :]):
        remedy = "write numbers with a decimal point and cells with commas in quotes, or separate cells by semicolons"
        refuse("bad_format", "", f"the line has {len(row)} cells", f"at most {len(headings)} cells", remedy)
    for heading, text in zip(headings, row, strict=False):
        beginning, _, rest = heading.partition(".")
        if not text:
            continue
        if beginning == SETTINGS:
            table, _, key = rest.partition(".")
            if key:
                settings.setdefault(table, {})[key] = _of_toml(text)
            else:
                settings[table] = _of_toml(text)
        elif beginning == NUMBERS:
            numbers[rest] = number_in(text)
            if not np.isfinite(numbers[rest]):
                refuse("bad_value", heading, f"the cell is {as_text(text)}", "a number", "correct the cell")
        else:
            rule, number = rules[heading], number_in(text)
            forms = (text, number, parsed := _of_toml(text))
            usual = number if number == number else parsed if isinstance(parsed, list) else text
            value = next((form for form in forms if not rule.problem(form)), usual)
            if wrong := rule.problem(value):
                remedy = rule.in_another_unit(value) if is_number(value) else ""
                remedy = remedy or (suggestion(text, rule.choices) or "" if rule.choices else "")
                form = KINDS[rule.kind].form
                such_as = f", such as {form}" * form.startswith("[")
                remedy = remedy or f"correct the cell{such_as}, or leave it empty"
                problem = f"the cell is {as_text(text)}"
                if isinstance(value, list):
                    problem = wrong[0].replace("the value", "the cell", 1)
                refuse("bad_value", heading, problem, wrong[1], remedy)
            values[heading] = value
    of_line = {
        key: rules[key].default for key in ("condition", "session", "side", "inner_leg", "exclude", "keep")
    }
    of_line |= {key: values[key] for key in of_line if key in values}
    files = dict.fromkeys((*SOURCES, "coordinates", "moments", "loads", "trial", *settings_of(FileSettings)))
    source = {key: values[key] for key in files if key in values}
    if SUBJECT not in values:
        refuse("missing_key", SUBJECT, "the cell is empty", rules[SUBJECT].about, "enter the subject")
    for fault in _faults_of_source(source):
        refuse(*fault)
    name = values.get(NAME, "")
    if safe(name) != name or name.casefold() in ("", CSV, "average"):
        problem = f"{name!r} cannot be the name of a folder on every system" if name else "the cell is empty"
        meant = safe(re.sub("[^0-9A-Za-z_-]+", "_", name).strip("_") or f"trial_{line}")
        refuse("bad_value", NAME, problem, "letters, digits, - and _", f"such as {meant}")
        name = f"line_{line}"
    return StudyTrial(
        name=name,
        subject=values.get(SUBJECT, ""),
        source=source,
        time={key: values[key] for key in settings_of(TimeSettings) if key in values},
        settings=settings,
        body={key: values[key] for key in _OF_SUBJECT if key in values} | numbers,
        line=line,
        fault=faults[0] if faults and not of_line["exclude"] else None,
        **of_line,
    )


def _of_toml(text: str) -> Any:
    """The value that a cell states in TOML, such as a list; else its text."""
    try:
        return tomllib.loads(f"cell = {text}")["cell"]
    except tomllib.TOMLDecodeError:
        return text


def _faults_of_source(source: Mapping[str, str]) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield the fault of a trial without a motion, or with two."""
    there = [key for key in SOURCES if key in source]
    expected = "file, or model, coordinates and moments or loads, or b3d and trial, or markers"
    remedy = "name one of them, or state in the column exclude why the trial is left out"
    if len(there) > 1:
        yield "conflict", there[1], f"{' and '.join(there)} are named", expected, remedy
    elif not there:
        yield "missing_key", "", "no file is named", expected, remedy
    elif absent := [key for key in SOURCES[there[0]] if key not in source]:
        yield "missing_key", absent[0], f"the cell is empty beside {there[0]}", expected, remedy
    elif there == ["model"] and "moments" in source and is_predicted(source.get("loads")):
        problem = "both moments and loads are named, and the loads are predicted"
        yield "conflict", "loads", problem, expected, remedy
    elif there == ["model"] and "moments" not in source and "loads" not in source:
        yield "missing_key", "loads", "neither moments nor loads are named", expected, remedy


def _each_once(path: Path, trials: Iterable[StudyTrial]) -> Iterator[StudyTrial]:
    """Refuse lines with the name or the files of a line before."""
    names, files = dict[str, StudyTrial](), dict[str, int]()
    for trial in trials:
        of_files = repr(
            (sorted(trial.source.items()), sorted(trial.time.items()), trial.settings, trial.side)
        )
        same, name = names.setdefault(trial.name.casefold(), trial), trial.name
        error = trial.fault
        if same is not trial:
            problem = f"line {same.line} has the name {same.name!r} already"
            expected, remedy = "names that differ in more than capital letters", "rename one of the trials"
            error = file_error("duplicate_name", place(path, trial.line, NAME), problem, expected, remedy)
            name = f"line_{trial.line}"
        elif trial.included:
            if (first := files.setdefault(of_files, trial.line)) != trial.line:
                problem = f"line {first} names the same files, with the same times and settings"
                expected, remedy = "a line for each trial", "remove one of the lines, or correct its files"
                error = file_error("duplicate_name", place(path, trial.line), problem, expected, remedy)
        yield replace(trial, name=name, fault=error)


def _with_bodies(path: Path, trials: Iterable[StudyTrial]) -> list[StudyTrial]:
    """Complete the bodies of trials by other lines of their subjects, and refuse lines that contradict each other."""
    of_subject = grouped((trial.subject, trial) for trial in trials)
    done = list[StudyTrial]()
    for lines in of_subject.values():
        counting = [trial for trial in lines if trial.included]
        faults = unlike(path, counting)
        for trial in lines:
            others = [
                other
                for same in (True, False)
                for other in counting
                if (other.session == trial.session) is same
            ]
            said = [trial.body, *(other.body for other in (*others, *lines))]
            body = {key: value for stated in reversed(said) for key, value in stated.items()}
            done.append(replace(trial, body=body, fault=trial.fault or faults.get(trial.line)))
    return sorted(done, key=lambda trial: trial.line)


def unlike(path: Path, trials: Sequence[StudyTrial]) -> dict[int, InputError]:
    """Line -> its error, of the lines of a subject that contradict each other.

    Sizes of one session that differ by more than `SAME_BODY`, or words on the subject that differ. Sessions may lie
    months apart, and are not compared.
    """
    faults = dict[int, InputError]()
    for key in dict.fromkeys(key for trial in trials for key in trial.body):
        stated = [trial for trial in trials if key in trial.body]
        numbers = all(is_number(trial.body[key]) for trial in stated)
        if numbers and key not in SAME_BODY:
            continue
        for lines in grouped((trial.session if numbers else "", trial) for trial in stated).values():
            lines_of = grouped((trial.body[key], trial.line) for trial in lines)
            if len(lines_of) > 1 and not (numbers and alike(key, lines_of)):
                said = " and ".join(
                    f"{value:g} in line {few(map(str, of))}"
                    if numbers
                    else f"{value!r} in line {few(map(str, of))}"
                    for value, of in lines_of.items()
                )
                limit, remedy = f"one {key} for each subject", "correct the cells"
                if numbers:
                    limit += f" and session, within {100 * SAME_BODY[key]:g} %"
                    remedy += ", give each person a subject of its own, or state sessions that lie apart"
                for trial in lines:
                    problem, at = f"{key} of {trial.subject} is {said}", place(path, trial.line, key)
                    faults.setdefault(trial.line, file_error("conflict", at, problem, limit, remedy))
    return faults


def people_of(trials: Sequence[StudyTrial]) -> dict[str, dict[str, Any]]:
    """Subject -> what its lines state: the mean of numbers, the first of words."""
    people = dict[str, dict[str, Any]]()
    for trial in trials:
        if trial.subject and not trial.fault:
            people.setdefault(trial.subject, {})
    for name, stated in people.items():
        bodies = [trial.body for trial in trials if trial.subject == name and not trial.fault]
        for key in dict.fromkeys(key for body in bodies for key in body):
            values = [body[key] for body in bodies if key in body]
            stated[key] = (
                float(np.mean(values)) if len(set(values)) > 1 and is_number(values[0]) else values[0]
            )
    return people
