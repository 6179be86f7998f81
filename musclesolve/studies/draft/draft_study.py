"""A study drafted from the trials below a folder: the study file, the table of trials, and missing trial files."""

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unicodedata import normalize

from musclesolve._util.arrays import grouped
from musclesolve._util.messages import natural_place, shortened
from musclesolve._util.written_files import safe
from musclesolve.constants import STUDY_DRAFT
from musclesolve.errors import InputError, file_error
from musclesolve.laboratory.draft.draft_folder import FolderDraft, draft_folder, write_drafts
from musclesolve.laboratory.draft.draft_text import DraftTable, Line, draft_text
from musclesolve.laboratory.draft.folder_contents import is_static_folder
from musclesolve.laboratory.draft.study_trials import (
    TO_UNPACK,
    FoundStudy,
    FoundTrial,
    Role,
    has_body,
    in_order,
    roles,
    source_names,
    stated_body,
    study_trials,
    trials_of_sources,
)
from musclesolve.laboratory.draft.subject_size import BY_FOLDER
from musclesolve.laboratory.files.subjects_table import (
    TABLE_SUFFIXES,
    names_subjects,
    read_subjects,
    table_cells,
)
from musclesolve.laboratory.recording.file_settings import study_schema
from musclesolve.laboratory.results.cycles.normalization import unit_settings
from musclesolve.laboratory.results.files.atomic_writing import write_files
from musclesolve.laboratory.results.tables.lines import csv_text
from musclesolve.studies.study.study_file import TABLE, TITLE, TRIALS
from musclesolve.studies.study.trials_table import columns
from musclesolve.tables.document import value_text
from musclesolve.tables.settings import FOLDER, schema_name
from musclesolve.tables.text_file import name_from

NAME = STUDY_DRAFT
DRAFT_HEAD = (
    "Drafted by `musclesolve init --study` from what lies in the folder. Every trial is a line of the table of trials.",
    "Decide the lines that begin with TODO, and correct the table; `musclesolve study` computes the rest.",
)
SOURCES_HEAD = (
    "Drafted by `musclesolve dataset` from its sources, again at every call: a change in this file is lost. Cells that "
    "are filled in where the table of trials is empty stay.",
    "To decide the lines that begin with TODO, copy both files beside themselves under other names, change the copies, "
    "and name the copied study file as the source.",
)
_MOST_LISTED = 6
_BODY = ("mass_kg", "stature_m", "sex")
"""Columns that every subject should have: results are normalized by mass and stature."""


@dataclass(frozen=True)
class StudyDraft:
    """A draft of a study: its files, recognized facts, and open decisions.

    path, text: of the study file. table: path and text of the table of trials. recordings: drafts of the trial files of
    recordings that had none.
    """

    path: Path
    text: str
    table: tuple[Path, str]
    recordings: tuple[FolderDraft, ...] = ()
    recognized: tuple[tuple[str, str], ...] = ()
    todos: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class _StudyTrial:
    """A trial: its name in the study, its role, and where it was found."""

    name: str
    role: Role
    found: FoundTrial


def draft_study(
    folder: str | Path, output: Path | None = None, sources: Sequence[Path] | None = None
) -> StudyDraft:
    """Draft the study of a folder and all below it; nothing is written.

    Args:
        folder: with recordings of markers, trial files (.toml), results of AddBiomechanics (folders or .b3d files),
            sessions of OpenCap, or OpenSim models with coordinates and loads or moments, in it or below it.
        output: the study file; `study.toml` in the folder when None. A folder means `study.toml` in it. The table of
            trials lies beside it, `trials.csv`, or `NAME_trials.csv` beside another `NAME.toml`.
        sources: of a data set, folders and B3D files below the folder, the only ones that are searched; of B3D files
            only the headers are read, and recordings without a trial file are left out.
    """
    folder = Path(folder)
    study = study_trials(folder) if sources is None else trials_of_sources(sources)
    target = folder / NAME if output is None else output
    target = target / NAME if target.is_dir() else target
    table_path = target.with_name(TABLE if target.name == NAME else f"{target.stem}_{TABLE}")
    recordings, drafted, misread = _recordings(folder, study) if sources is None else ([], [], [])
    every = [*study.trials, *drafted]
    if not every:
        raise _no_trial(folder, study, misread)
    several = sources is not None and len(sources) > 1
    of, notes = roles(every, several)
    trials = _named_trials(every, of)
    beside = dict.fromkeys(place for place in (folder, *(sources or ()), target.parent) if place.is_dir())
    known, unused = _known(
        list(beside), table_path, trials, source_names(sources) if sources and several else {}
    )
    rows, doubts, lacking = _rows(trials, target, known)
    if sources is not None:
        _keep_cells(rows, table_path)
    head = [key for key in columns() if any(row.get(key) not in (None, "") for row in rows)]
    head += [key for key in dict.fromkeys(key for row in rows for key in row) if key not in columns()]
    head += [key for key in lacking if key not in head]
    head.sort(key=lambda key: list(columns()).index(key) if key in columns() else len(columns()))
    absent = {key: [name for name in names if _empty(rows, name, key)] for key, names in lacking.items()}
    said = "; ".join(f"{key} of {_few(names)}" for key, names in absent.items() if names)
    todos = [f"fill in {table_path.name}: {said}"] if said else []
    todos += [*notes, *doubts]
    open_files = [trial.path for draft in recordings for trial in draft.trials if trial.todos]
    if open_files:
        todos.append(
            f"decide the TODO of trial files: {_few([name_from(path, target) for path in open_files])}"
        )
    of_notes = grouped((note, trial.name) for trial in trials for note in trial.found.notes)
    todos += [f"{note} ({_few(names)})" for note, names in of_notes.items()]
    design = _design(trials, rows) if sources is None else DraftTable("design")  # a data set compares nothing
    title, trials_key = value_text(folder.resolve().name or "Study"), value_text(table_path.name)
    begin, _, rest = draft_text(
        DRAFT_HEAD if sources is None else SOURCES_HEAD, (design,), "study"
    ).partition("\n\n")
    above = [text for todo in todos for text in Line("", todo=todo).texts()]
    above += [f"{TITLE} = {title}", f"{TRIALS} = {trials_key}"]
    return StudyDraft(
        target,
        "\n\n".join(filter(None, [begin.rstrip("\n"), "\n".join(above), rest])).rstrip("\n") + "\n",
        (table_path, csv_text([head, *([row.get(key, "") for key in head] for row in rows)])),
        tuple(recordings),
        tuple(_recognized(trials)),
        tuple(dict.fromkeys([*todos, *design.todos])),
        (*study.unread, *misread, *unused),
        (*study.copies, *(_without_trial_file(folder, study) if sources is not None else ())),
    )


def _recordings(folder: Path, study: FoundStudy) -> tuple[list[FolderDraft], list[FoundTrial], list[str]]:
    """Drafts of the trial files of the recordings below a folder, their trials, and why others have none."""
    drafts, trials, unread = list[FolderDraft](), list[FoundTrial](), list[str]()
    standing = {
        path.parent for path, levels in study.recordings.items() if any(map(is_static_folder, levels[:-1]))
    }
    for place in dict.fromkeys(path.parent for path in study.recordings):
        try:
            draft = draft_folder(place)
        except InputError as error:
            if place not in standing:
                unread.append(f"{place.relative_to(folder).as_posix()}: {error.problem}")
            continue
        drafts.append(draft)
        for trial in draft.trials:
            lines = {
                line.key: line for table in trial.tables for line in table.lines if table.name == "subject"
            }
            stated = {
                key: line.value for key, line in lines.items() if not line.open and line.value is not None
            }
            person = (
                ""
                if "name" not in lines or lines["name"].comment == BY_FOLDER
                else str(stated.pop("name", ""))
            )
            stated.pop("name", None)
            files = (line for table in trial.tables for line in table.lines if table.name == "files")
            motion = next(str(line.value) for line in files if line.key == "markers")
            levels = (*place.relative_to(folder).parts, Path(motion).name.partition(".")[0])
            trials.append(FoundTrial(levels, {"file": trial.path}, stated, "recording", person=person))
        unread += draft.unread
    return drafts, trials, unread


def _without_trial_file(folder: Path, study: FoundStudy) -> list[str]:
    """A sentence on each folder of recordings of markers that has no trial file."""
    return [
        f"{place.relative_to(folder).as_posix() if place.is_relative_to(folder) else place}: recordings without a "
        f"trial file; `musclesolve init {shlex.quote(str(place))}` drafts it"
        for place in dict.fromkeys(path.parent for path in study.recordings)
    ]


def write_study(draft: StudyDraft, force: bool = False) -> list[Path]:
    """Write a study file, its table of trials, and the trial files of recordings that had none."""
    place, (table, text) = draft.path.parent, draft.table
    there = [path.name for path in (draft.path, table) if path.exists()]
    if there and not force:
        raise file_error(
            "occupied_folder",
            place,
            f"there is a study already: {' and '.join(there)}",
            "a folder without a study file and its table of trials",
            "write to another file with -o, or replace both with --force",
        )
    written = [path for recording in draft.recordings for path in write_drafts(recording, force)]
    write_files(place / FOLDER, {schema_name("study"): study_schema(unit_settings()).encode("utf-8")})
    return [*write_files(place, {draft.path.name: draft.text.encode(), table.name: text.encode()}), *written]


def _no_trial(folder: Path, study: FoundStudy, misread: Sequence[str]) -> InputError:
    remedy = "name the folder above the folders of the subjects"
    problem = "no trial was found in this folder or below it"
    if unread := [*study.unread, *misread]:
        problem = f"no trial can be read: {'; '.join(unread[:_MOST_LISTED])}"
        packed = all(text.endswith(TO_UNPACK) for text in unread)
        remedy = (
            "unpack them, and give the command again"
            if packed
            else "mend each fault, or export the files again"
        )
    elif without := _without_trial_file(folder, study):  # of a data set
        problem = (
            f"the recordings have no trial files, in {_few([text.partition(': ')[0] for text in without])}"
        )
        remedy = f"draft their study first: musclesolve init --study {shlex.quote(str(folder))}"
    return file_error(
        "missing_file",
        folder,
        problem,
        "recordings of markers, trial files (.toml), results of AddBiomechanics (folders or .b3d files), sessions of "
        "OpenCap, or OpenSim models with coordinates and loads or moments",
        remedy,
    )


def _design(trials: Sequence[_StudyTrial], rows: Sequence[Mapping[str, Any]]) -> DraftTable:
    """Groups and conditions of the table; the first one is the reference."""
    lines = list[Line]()
    for key in ("groups", "conditions"):
        named = {str(row.get(key[:-1]) or "") for row in rows} - {""}
        if listed := in_order(named):
            todo = f"check the order: the first of the {key} is what the others are compared with"
            lines.append(Line(key, listed, "", todo if len(listed) > 1 else ""))
    return DraftTable("design", tuple(lines))


def _known(
    places: Sequence[Path], own: Path, trials: Sequence[_StudyTrial], names: Mapping[Path, str]
) -> tuple[dict[str, tuple[Path, Mapping[str, Any]]], list[str]]:
    """Subject -> its row in a laboratory's table of subjects and the file, and sentences on tables without use.

    names: folder of a source -> its name, of several sources: a table in it is of its trials alone.
    """
    files = (path for place in places for path in sorted(place.iterdir()) if path.is_file() and path != own)
    named = (path for path in files if path.suffix.casefold() in TABLE_SUFFIXES and path.name[0] not in ".~")
    tables = [read_subjects(path) for path in named if not path.name.endswith(TABLE) and names_subjects(path)]
    found, unused = dict[str, tuple[Path, Mapping[str, Any]]](), list[str]()
    for table in tables:
        source, before = names.get(table.path.parent, ""), len(found)
        for trial in trials:
            person = trial.role.subject
            called = (person, person.removeprefix(f"{source}_"), *trial.found.levels[1:-1])
            row = next(filter(None, map(table.row_of, called)), None)
            if row is not None and source in ("", trial.found.levels[0]):
                found.setdefault(person, (table.path, table.rows[row]))
        if len(found) == before:
            who = _few(list(dict.fromkeys(trial.role.subject for trial in trials)))
            unused.append(
                f"{table.path.name}: its subjects ({_few(list(table.rows))}) are not called as here ({who})"
            )
    return found, unused


def _rows(
    trials: Sequence[_StudyTrial], target: Path, known: Mapping[str, tuple[Path, Mapping[str, Any]]]
) -> tuple[list[dict[str, Any]], list[str], dict[str, list[str]]]:
    """The lines of the table, doubts about subjects, and column -> subjects of whom nothing states it."""
    rows, doubts, lacking = list[dict[str, Any]](), list[str](), dict[str, list[str]]()
    for trial in trials:
        role, path = trial.role, Path()
        path, tabled = known.get(role.subject, (path, {}))
        of_table = {key: value for key, value in tabled.items() if key != "numbers"}
        of_table |= {f"numbers.{key}": value for key, value in tabled.get("numbers", {}).items()}
        # A study takes the mass of a model by itself; trial files beside it are to agree with it.
        stated = dict(stated_body(trial.found) if "model" not in trial.found.source else trial.found.subject)
        for key in _BODY if "model" not in trial.found.source and has_body(trial.found) else ():
            if key not in stated and key not in of_table:
                lacking.setdefault(key, []).append(role.subject)
        for key in stated.keys() & of_table.keys():
            if stated[key] != of_table[key]:
                said = f"{stated[key]} in its files and {of_table[key]} in {path.name}"
                doubts.append(f"{key} of {role.subject} is {said}: the files hold")
        row = {"name": trial.name, "subject": role.subject, "group": role.group, "condition": role.condition}
        row |= {
            "session": role.session,
            **{key: value for key, value in of_table.items() if value is not None},
            **stated,
        }
        row |= {
            key: name_from(source, target) if isinstance(source, Path) else source
            for key, source in trial.found.source.items()
        }
        rows.append(row | {"exclude": trial.found.exclude})
    return rows, list(dict.fromkeys(doubts)), {key: list(dict.fromkeys(of)) for key, of in lacking.items()}


def _empty(rows: Sequence[Mapping[str, Any]], subject: str, key: str) -> bool:
    """Whether no line of a subject states a value."""
    return all(row.get(key) in (None, "") for row in rows if row["subject"] == subject)


def _keep_cells(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Fill empty cells of the lines by the lines of the same trials in the table that is there."""
    if not path.is_file():
        return
    head, *cells = table_cells(path)
    before = {row["name"]: row for line in cells if (row := dict(zip(head, line, strict=False))).get("name")}
    for row in rows:
        for key, cell in before.get(row["name"], {}).items():
            if cell and row.get(key) in (None, ""):
                row[key] = cell


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
            for part in (role.subject, role.session, *role.condition.split("_"))
            if part.casefold() not in called.casefold()
        ]
        stem = re.sub(r"[^\w-]", "_", normalize("NFC", "_".join([*filter(None, parts), called]))).strip("_")
        stem = stem or "trial"
        count[stem.casefold()] += 1
        times = count[stem.casefold()]
        trials.append(_StudyTrial(safe(stem if times == 1 else f"{stem}_{times}"), role, trial))
    return sorted(trials, key=lambda trial: natural_place(trial.name))


def _recognized(trials: Sequence[_StudyTrial]) -> Iterator[tuple[str, str]]:
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


def _few(parts: Sequence[str]) -> str:
    return shortened(parts, 2 * _MOST_LISTED)
