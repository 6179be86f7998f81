"""A study file drafted from the trials below a folder: a line for each; what their files do not state is marked."""

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unicodedata import normalize

from musclesolve._util.arrays import grouped
from musclesolve._util.messages import natural_place, shortened
from musclesolve._util.written_files import safe
from musclesolve.constants import STUDY_DRAFT
from musclesolve.errors import InputError, file_error
from musclesolve.laboratory.draft.draft_text import DraftTable, Line, draft_text
from musclesolve.laboratory.draft.study_trials import (
    TO_UNPACK,
    FoundStudy,
    FoundTrial,
    Role,
    in_order,
    roles,
    source_names,
    stated_body,
    study_trials,
    trials_of_sources,
)
from musclesolve.laboratory.files.subjects_table import (
    TABLE_SUFFIXES,
    SubjectsTable,
    key_of,
    names_subjects,
    read_subjects,
    table_cells,
)
from musclesolve.laboratory.recording.file_settings import study_schema
from musclesolve.laboratory.results.cycles.normalization import unit_settings
from musclesolve.laboratory.results.files.atomic_writing import write_files
from musclesolve.laboratory.results.tables.lines import csv_text
from musclesolve.tables.document import value_text
from musclesolve.tables.settings import FOLDER, schema_name
from musclesolve.tables.text_file import name_from

NAME, TABLE = STUDY_DRAFT, "subjects.csv"
DRAFT_HEAD = (
    "Drafted by `musclesolve init --study` from what lies in the folder. Comments state where a value comes from.",
    "Decide the lines that begin with TODO; `musclesolve study` computes the rest.",
)
SOURCES_HEAD = (
    "Drafted by `musclesolve dataset` from its sources, again at every call: a change in this file is lost.",
    "To decide the lines that begin with TODO, copy this file beside itself under another name, change the copy, and "
    "name it as the source.",
)
_MOST_LISTED = 6
_Stated = tuple[SubjectsTable, Mapping[str, Any]]
"""The table of its source that has a row for a subject, and the row."""
_BODY = ("mass_kg", "stature_m", "sex")
"""Keys that every subject should have: results are normalized by mass and stature."""
_KNOWN_CELL = "-"
"""Content of a cell of the drafted table of subjects whose value is in a file."""


@dataclass(frozen=True)
class StudyDraft:
    """A draft of a study file: path, text, recognized facts, and open decisions.

    table: text of the table of what lacks of the subjects, "" where nothing does or a table is there.
    """

    path: Path
    text: str
    recognized: tuple[tuple[str, str], ...] = ()
    todos: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    table: str = ""


@dataclass(frozen=True)
class _StudyTrial:
    """A trial: its name in the study, its role, and where it was found."""

    name: str
    role: Role
    found: FoundTrial


@dataclass(frozen=True)
class _People:
    """The subjects: what each line of [subjects] states, what is left open of them, and the table of what lacks.

    values, comments: subject -> keys, and where they come from. lacking: key -> subjects.
    """

    values: Mapping[str, Mapping[str, Any]]
    comments: Mapping[str, str]
    doubts: Mapping[str, Sequence[str]]
    lacking: Mapping[str, Sequence[str]] = field(default_factory=dict)


def draft_study(
    folder: str | Path, output: Path | None = None, sources: Sequence[Path] | None = None
) -> StudyDraft:
    """Draft the study file of a folder and all below it; nothing is written.

    Args:
        folder: with trial files (.toml), results of AddBiomechanics (folders or .b3d files), sessions of
            OpenCap, or OpenSim models with coordinates and loads or moments, in it or below it.
        output: the study file; `study.toml` in the folder when None. A folder means `study.toml` in it.
        sources: of a data set, folders and B3D files below the folder, the only ones that are searched; of B3D files
            only the headers are read.
    """
    folder = Path(folder)
    study = study_trials(folder) if sources is None else trials_of_sources(sources)
    target = folder / NAME if output is None else output
    target = target / NAME if target.is_dir() else target
    beside = dict.fromkeys(place for place in (folder, *(sources or ()), target.parent) if place.is_dir())
    files = (path for place in beside for path in sorted(place.iterdir()) if path.is_file())
    named = (path for path in files if path.suffix.casefold() in TABLE_SUFFIXES and path.name[0] not in ".~")
    tables = list(filter(names_subjects, named))
    if not study.trials:
        raise _no_trial(folder, study, tables)
    several = sources is not None and len(sources) > 1
    trials = _named_trials(study.trials, roles(study.trials, several))
    subjects = dict.fromkeys(trial.role.subject for trial in trials)
    read = [read_subjects(path) for path in tables]
    if sources is None:
        counts = [sum(table.row_of(name) is not None for name in subjects) for table in read]
        known = read[counts.index(max(counts))] if any(counts) else None
        of_tables = dict[str, _Stated]()
    else:  # the table beside the draft is to be filled in; each of the others is of the source that it lies in
        known = next((table for table in read if table.path == target.parent / TABLE), None)
        others = [table for table in read if table is not known]
        of_tables = _of_tables(others, trials, source_names(sources) if several else {})
    people = _people(trials, known, of_tables)
    lines = (
        Line(name, values, people.comments[name], "; ".join(people.doubts[name]))
        for name, values in people.values.items()
    )
    of_models = (OF_MODELS,) if any("model" in trial.found.source for trial in trials) else ()
    blocks = (
        *([_design(trials, known)] if sources is None else []),  # a data set compares nothing
        DraftTable("subjects", tuple(lines), (*of_models, *_about_people(known))),
        DraftTable("trials", tuple(_trials(trials, target))),
    )
    blank = "" if known is not None and sources is None else _blank_table(people, known)
    todos = [todo for table in blocks for todo in table.todos]
    above = [f"title = {value_text(folder.resolve().name or 'Study')}"]
    if known is not None:
        above.append(f"subjects_table = {value_text(name_from(known.path, target))}")
    elif blank:
        above.append(f"subjects_table = {value_text(TABLE)}")
    if people.lacking:
        place = TABLE if known is None else known.path.name
        said = "; ".join(f"{key} of {_few(names)}" for key, names in people.lacking.items())
        todos.insert(0, f"fill in {place}: {said}")
    first = todos[: bool(people.lacking)]
    comments = [text for todo in first for text in Line("", todo=todo).texts()]
    head, _, rest = draft_text(DRAFT_HEAD if sources is None else SOURCES_HEAD, blocks, "study").partition(
        "\n\n"
    )
    text = "\n\n".join([head, "\n".join([*comments, *above]), rest])
    recognized = tuple(_recognized(trials, known))
    unlike = f"are not called as the folders are ({_few(list(subjects))})"
    used = {table.path for table, _ in of_tables.values()} | {target.parent / TABLE}
    unused = [
        f"{table.path.name}: its subjects ({_few(list(table.rows))}) {unlike}"
        for table in read
        if (known is None if sources is None else table.path not in used)
    ]
    without = [*study.copies, *_without_trial_file(folder, study, tables)]
    once = tuple(dict.fromkeys(todos))
    return StudyDraft(target, text, recognized, once, (*study.unread, *unused), tuple(without), blank)


def _without_trial_file(folder: Path, study: FoundStudy, tables: Sequence[Path]) -> list[str]:
    """A sentence on each folder of recordings of markers that has no trial file."""
    places = dict.fromkeys(
        next((place for place in path.parents if place.name in levels[-2:-1]), path.parent)
        for path, levels in study.recordings.items()
        if path not in tables
    )
    return [
        f"{place.relative_to(folder).as_posix() if place.is_relative_to(folder) else place}: recordings without a "
        f"trial file; `musclesolve init {shlex.quote(str(place))}` drafts it"
        for place in places
    ]


def write_study(draft: StudyDraft, force: bool = False) -> list[Path]:
    """Write a study file."""
    place = draft.path.parent
    for there, *texts in (
        (
            draft.path.exists(),
            f"there is a study file already: {draft.path.name}",
            "a folder without a study file",
            "write to another file with -o, or replace it with --force",
        ),
        (
            draft.table and (place / TABLE).exists(),
            f"there is a table already in which no subject of the study has a row: {TABLE}",
            "a row for each subject, or no such table",
            "rename the table or its subjects, or replace it with --force",
        ),
    ):
        if there and not force:
            raise file_error("occupied_folder", place, *texts)
    write_files(place / FOLDER, {schema_name("study"): study_schema(unit_settings()).encode("utf-8")})
    files = {draft.path.name: draft.text} | ({TABLE: draft.table} if draft.table else {})
    return write_files(place, {name: text.encode("utf-8") for name, text in files.items()})


def _no_trial(folder: Path, study: FoundStudy, tables: Sequence[Path]) -> InputError:
    remedy = "name the folder above the folders of the subjects"
    problem = "no trial was found in this folder or below it"
    if study.unread:
        problem = f"no trial can be read: {'; '.join(study.unread[:_MOST_LISTED])}"
        packed = all(text.endswith(TO_UNPACK) for text in study.unread)
        remedy = (
            "unpack them, and give the command again"
            if packed
            else "mend each fault, or export the files again"
        )
    elif without := _without_trial_file(folder, study, tables):
        problem = (
            f"the recordings have no trial files, in {_few([text.partition(': ')[0] for text in without])}"
        )
        remedy = (
            f"draft the trial files of each subject first: {without[0].partition('`')[2].partition('`')[0]}"
        )
    return file_error(
        "missing_file",
        folder,
        problem,
        "trial files (.toml), results of AddBiomechanics (folders or .b3d files), sessions of OpenCap, or OpenSim "
        "models with coordinates and loads or moments",
        remedy,
    )


def _design(trials: Sequence[_StudyTrial], known: SubjectsTable | None) -> DraftTable:
    """Groups of the table of subjects, and conditions; the first one is the reference."""
    groups = set[str]()
    if known is not None:
        rows = (known.rows.get(known.row_of(trial.role.subject) or "", {}) for trial in trials)
        groups = {str(row.get("group", "")) for row in rows} - {""}
    named = grouped((trial.role.condition, trial.name) for trial in trials)
    lines, of_groups = list[Line](), "" if known is None else f"by {known.path.name}"
    listed_by = (
        ("groups", groups, of_groups),
        ("conditions", named.keys() - {""}, "by the names of folders and files"),
    )
    for key, values, source in listed_by:
        if listed := in_order(set(values)):
            todo = f"check the order: the first of the {key} is what the others are compared with"
            lines.append(Line(key, listed, source, todo if len(listed) > 1 else ""))
    about = (f"{condition}: {_few(named[condition])}" for condition in in_order(named.keys() - {""}))
    return DraftTable("design", tuple(lines), tuple(about))


def _of_tables(
    tables: Sequence[SubjectsTable], trials: Sequence[_StudyTrial], names: Mapping[Path, str]
) -> dict[str, _Stated]:
    """Subject -> what the table of its source states, or of a folder above all sources; names: of several sources."""
    stated = dict[str, _Stated]()
    for table in tables:
        source = names.get(table.path.parent, "")
        for trial in trials:
            person = trial.role.subject
            names_of = (person, person.removeprefix(f"{source}_"), *trial.found.levels[1:-1])
            row = next(filter(None, map(table.row_of, names_of)), None)
            if row is not None and source in ("", trial.found.levels[0]):
                stated.setdefault(person, (table, table.rows[row]))
    return stated


def _people(
    trials: Sequence[_StudyTrial], known: SubjectsTable | None, of_tables: Mapping[str, _Stated]
) -> _People:
    """Return the data of each subject: the body by all sources that state it, files before tables."""
    values: dict[str, dict[str, Any]] = {}
    comments, doubts = dict[str, str](), dict[str, list[str]]()
    lacking = dict[str, list[str]]()
    for name in dict.fromkeys(trial.role.subject for trial in trials):
        here = [trial for trial in trials if trial.role.subject == name]
        # A study takes the mass of a model by itself; trial files beside it are to agree with it.
        with_body = not all("model" in trial.found.source for trial in here)
        bodies = [stated_body(trial.found) if with_body else trial.found.subject for trial in here]
        row = None if known is None else known.row_of(name)
        source, of_table = of_tables.get(name, (None, {}))
        tabled = {**of_table, **({} if known is None or row is None else known.rows[row])}
        values[name], doubts[name] = {}, []
        differing = set[str]()
        for key in dict.fromkeys(key for body in bodies for key in body):
            stated = Counter(value_text(body[key]) for body in bodies if key in body)
            if len(stated) == 1:
                values[name][key] = next(body[key] for body in bodies if key in body)
            else:
                differing.add(key)
                counts = ", ".join(f"{value} in {count}" for value, count in stated.items())
                doubts[name].append(f"{key} of {name} differs between its trials ({counts})")
        for key in _BODY if with_body else ():
            if key not in {*values[name], *tabled, *differing}:
                lacking.setdefault(key, []).append(name)
        for key, value in of_table.items():
            if values[name].setdefault(key, value) != value and source is not None:
                said = f"{values[name][key]} in its files and {value} in {source.path.name}"
                doubts[name].append(f"{key} of {name} is {said}: the files hold")
        kinds = ", ".join(sorted({trial.found.kind for trial in here}))
        comments[name] = f"{len(here)} trial{'s' * (len(here) > 1)}: {kinds}"
    return _People(values, comments, doubts, lacking)


def _about_people(known: SubjectsTable | None) -> tuple[str, ...]:
    """Return the comment on the source of data that the study file does not state."""
    if known is None:
        return ()
    said = f"{known.path.name} states {', '.join(known.columns)}; what stands here replaces it."
    unused = f" Columns that were not understood: {', '.join(known.unused)}." if known.unused else ""
    return (said + unused,)


def _blank_table(people: _People, known: SubjectsTable | None) -> str:
    """A table with a row for each subject of whom something lacks, to be filled in, below the rows of the known one;
    "" where no row and no column is to be added.
    """
    head, *rows = [["subject"]] if known is None else table_cells(known.path)
    there = ["name", *people.lacking] if known is None else [key_of(str(heading)) for heading in head]
    keys = [*there, *(key for key in people.lacking if key not in there)]
    lacking = [name for name in people.values if any(name in of for of in people.lacking.values())]
    persons = [name for name in lacking if known is None or known.row_of(name) is None]
    if not persons and len(keys) == len(there):
        return ""
    head = [*head, *filter(None, keys[len(head) :])]
    rows = [[*row, *[""] * (len(keys) - len(row))] for row in rows]
    for name in persons:
        row = ["" if name in people.lacking.get(key or "", ()) else _KNOWN_CELL for key in keys]
        rows.append([name if key == "name" else cell for key, cell in zip(keys, row, strict=True)])
    return csv_text([head, *rows])


OF_MODELS = (
    "The mass of a subject is the mass of the model unless it is stated; N m/(kg m) needs stature_m as well."
)


def _trials(trials: Sequence[_StudyTrial], target: Path) -> Iterator[Line]:
    """A line of [trials] for each."""
    for trial in trials:
        values: dict[str, Any] = {"subject": trial.role.subject}
        if trial.role.condition:
            values["condition"] = trial.role.condition
        for key, source in trial.found.source.items():
            values[key] = name_from(source, target) if isinstance(source, Path) else source
        if trial.found.exclude:
            values["exclude"] = trial.found.exclude
        yield Line(trial.name, values, todo="; ".join(trial.found.notes))


def _named_trials(found: Sequence[FoundTrial], of: Sequence[Role]) -> list[_StudyTrial]:
    """The trials in the order of their names, as people look for them.

    The name of a trial, which no other one has, is the name of its file behind the missing words on subject and
    condition.
    """
    count: Counter[str] = Counter()
    trials = []
    rows = zip(found, of, strict=True)
    for trial, role in sorted(rows, key=lambda row: natural_place("/".join(row[0].levels))):
        called = trial.called or trial.levels[-1]
        parts = [
            part
            for part in (role.subject, *role.condition.split("_"))
            if part.casefold() not in called.casefold()
        ]
        stem = re.sub(r"[^\w-]", "_", normalize("NFC", "_".join([*filter(None, parts), called]))).strip("_")
        stem = stem or "trial"
        count[stem.casefold()] += 1
        times = count[stem.casefold()]
        trials.append(_StudyTrial(safe(stem if times == 1 else f"{stem}_{times}"), role, trial))
    return sorted(trials, key=lambda trial: natural_place(trial.name))


def _recognized(trials: Sequence[_StudyTrial], known: SubjectsTable | None) -> Iterator[tuple[str, str]]:
    """Yield the recognized facts, subject and statement, for the terminal."""
    named = [trial.role for trial in trials]
    kinds = Counter(trial.found.kind for trial in trials)
    yield ("trials", f"{len(trials)} ({', '.join(f'{of}: {count}' for of, count in sorted(kinds.items()))})")
    subjects = list(dict.fromkeys(role.subject for role in named))
    yield "subjects", f"{len(subjects)}: {_few(subjects)}"
    conditions = Counter(role.condition for role in named)
    if any(conditions):
        listed = [f"{name or 'not known'} ({conditions[name]})" for name in in_order(set(conditions))]
        yield "conditions", f"{_few(listed)} trials"
    for reason, count in Counter(trial.found.exclude for trial in trials if trial.found.exclude).items():
        yield "excluded", f"{count} trial{'s' * (count > 1)}: {reason}"
    if known is not None:
        yield "of the subjects", f"{known.path.name}: {', '.join(known.columns)}"


def _few(parts: Sequence[str]) -> str:
    return shortened(parts, 2 * _MOST_LISTED)
