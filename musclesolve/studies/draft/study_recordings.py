"""The recordings below the folder of a study: drafted subject by subject, and what all of them have in common.

Recordings belong together that are of one subject and session and lie in one folder; folders that say what kind of file
they hold (Markers, Forces) count as the folder above. A standing trial may lie in another folder of the subject: taken
is one that is called so before others, of the same session before others, and the one whose path has most in common
with the path of the motion.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from musclesolve._util.arrays import grouped
from musclesolve._util.messages import shortened
from musclesolve.laboratory.draft.draft_folder import NO_PLATES, TrialDraft, draft_trial
from musclesolve.laboratory.draft.draft_text import DraftTable, Line, lines_of
from musclesolve.laboratory.draft.folder_contents import (
    FileRoles,
    MarkerFile,
    file_roles,
    folder_contents,
    is_functional,
    stands_by_name,
)
from musclesolve.laboratory.draft.study_trials import FoundTrial, Role
from musclesolve.laboratory.draft.subject_size import GivenSubject
from musclesolve.laboratory.files.service_folders import subjects_in
from musclesolve.laboratory.recording.trial_settings import FileSettings, SubjectSettings
from musclesolve.tables.document import value_text
from musclesolve.tables.settings import settings_of
from musclesolve.tables.text_file import stem_of

SUBJECT, FILES, TIME = "subject", "files", "time"
_CONFIRM = "confirm"
"""Beginning of the note on a mass from the plates, without a stated one."""


@dataclass(frozen=True)
class RecordedTrial:
    """A motion of a study: where it was found, its draft, and the values of its tables.

    tables: name -> values, of a list of tables the values of each. measured: key of the subject -> what plates show of
    it, which no file states. needs: keys of the subject that the recording needs and nothing states.
    """

    found: FoundTrial
    draft: TrialDraft
    tables: Mapping[str, Any]
    measured: Mapping[str, float]
    needs: tuple[str, ...]


def recorded_trials(
    root: Path, recordings: Mapping[Path, tuple[str, ...]], roles: Mapping[Path, Role], target: Path
) -> tuple[dict[Path, RecordedTrial], list[str], list[str]]:
    """Draft the motions among the recordings of a study; one subject at a time is in memory.

    Args:
        root: the folder of the study.
        recordings: file -> the folders and the name of its trial.
        roles: file -> its role, whose condition is not used.
        target: the study file, from whose folder files are named.

    Returns:
        The motions by the file of their markers; sentences on files that cannot be read, and on those without a motion.
    """
    drafted, unread, left_out = dict[Path, RecordedTrial](), list[str](), list[str]()
    for person, of_one in grouped((role.subject, path) for path, role in roles.items()).items():
        parts = grouped(((recordings[path][:-1], roles[path].session), path) for path in of_one)
        contents = {key: folder_contents(root, sorted(paths)) for key, paths in parts.items()}
        read = {key: file_roles(content) for key, content in contents.items()}
        _part_functional(read)
        others = [path for path, role in roles.items() if role.subject != person]
        for key, content in contents.items():
            content.subjects += subjects_in(_own_places(root, parts[key], others))
            unread += content.every_unread
        for key, part in read.items():
            left_out += part.left_out
            for files_of in part.motions:
                if files_of.static is None and (standing := _standing(key, read)) is not None:
                    other, static = standing
                    unclear = dict(files_of.unclear)
                    if other[1] != key[1]:
                        unclear["static"] = (
                            f"check the standing trial: it belongs to another session, {other[1]}"
                        )
                    files_of = replace(files_of, static=static, unclear=unclear)
                path = files_of.motion.path
                draft = draft_trial(contents[key], part, files_of, target, GivenSubject(person))
                drafted[path] = _recorded(recordings[path], stem_of(path), draft)
    return drafted, unread, left_out


def _own_places(root: Path, files: Sequence[Path], others: Sequence[Path]) -> list[Path]:
    """The folders of some files and two above each, inside the folder of the study, without recordings of others."""
    places = dict.fromkeys(
        place for path in files for place in path.parents[:3] if place.is_relative_to(root)
    )
    return [place for place in places if not any(path.is_relative_to(place) for path in others)]


def _part_functional(read: dict[tuple[tuple[str, ...], str], FileRoles]) -> None:
    """Move functional movements of a separate folder to the motions of the session; they are no motions themselves."""
    other = any(not is_functional(files.motion) for part in read.values() for files in part.motions)
    shown: defaultdict[str, list[MarkerFile]] = defaultdict(list)
    for key, part in read.items():
        moved = [files.motion for files in part.motions if other and is_functional(files.motion)]
        shown[key[1]] += [*part.functional, *moved]
        kept = tuple(files for files in part.motions if files.motion not in moved)
        read[key] = replace(part, motions=kept)
    for key, part in read.items():
        read[key] = replace(part, functional=tuple(shown[key[1]]))


def _standing(
    key: tuple[tuple[str, ...], str], read: Mapping[tuple[tuple[str, ...], str], FileRoles]
) -> tuple[tuple[tuple[str, ...], str], MarkerFile] | None:
    """The standing trial of another folder of the subject, with the folder and session it is of; None without one."""

    def common(folders: tuple[str, ...]) -> int:
        return next(
            (k for k, (a, b) in enumerate(zip(folders, key[0], strict=False)) if a != b), len(folders)
        )

    return min(
        [(other, part.static) for other, part in read.items() if part.static is not None],
        key=lambda entry: (not stands_by_name(entry[1].path), entry[0][1] != key[1], -common(entry[0][0])),
        default=None,
    )


def _recorded(levels: tuple[str, ...], called: str, draft: TrialDraft) -> RecordedTrial:
    """A draft as a trial of a study."""
    source, stated, measured, needs = {}, {}, {}, []
    tables: dict[str, Any] = {}
    notes = []
    for table in draft.tables:
        if table.open:
            continue
        if table.name == FILES:
            of_files = settings_of(FileSettings)
            source = {x.key: x.value for x in table.lines if not x.open and x.key in of_files}
            notes += [x.todo for x in table.lines if x.todo and NO_PLATES not in x.todo]
        elif table.name == SUBJECT:
            rules = settings_of(SubjectSettings)
            for line in table.lines:
                if line.key == "name" or line.key not in rules:
                    continue
                if line.open:
                    needs += (
                        [line.key] if line.todo.startswith("enter") and line.key != "shoe_mass_kg" else []
                    )
                elif line.todo.startswith(_CONFIRM):
                    measured[line.key] = line.value
                else:
                    stated[line.key] = line.value
                    notes += [line.todo] if line.todo else []
        elif table.listed:
            tables.setdefault(table.name, []).append(_values(table))
        elif table.name != TIME and (values := _values(table)):
            outer, _, inner = table.name.partition(".")
            if inner:
                tables.setdefault(outer, {})[inner] = values
            else:
                tables[outer] = {**tables.get(outer, {}), **values}
    trial = FoundTrial(levels, source, stated, "recording", notes=tuple(notes), called=called)
    return RecordedTrial(trial, draft, tables, measured, tuple(needs))


def _values(table: DraftTable) -> dict[str, Any]:
    return {line.key: line.value for line in table.lines if not line.open and line.value is not None}


def common_settings(trials: Sequence[RecordedTrial]) -> dict[str, Any]:
    """Table of a trial file -> what most trials have at each key that all of them have; lists of tables as a whole."""
    if not trials:
        return {}
    common: dict[str, Any] = {}
    for name in dict.fromkeys(name for trial in trials for name in trial.tables):
        tables = [trial.tables[name] for trial in trials if name in trial.tables]
        if len(tables) < len(trials):
            continue
        if isinstance(tables[0], list):
            if len({value_text(table) for table in tables}) == 1:
                common[name] = tables[0]
            continue
        values: dict[str, Any] = {}
        for key in tables[0]:
            at_key = [table[key] for table in tables if key in table]
            if len(at_key) == len(tables):
                most = Counter(map(value_text, at_key)).most_common(1)[0][0]
                values[key] = next(value for value in at_key if value_text(value) == most)
        if values:
            common[name] = values
    return common


def own_settings(trial: RecordedTrial, common: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a trial that differ from the common settings."""
    changed: dict[str, Any] = {}
    for name, table in trial.tables.items():
        usual = common.get(name)
        if isinstance(table, list):
            if usual is None:
                changed[name] = table
            continue
        differing = {
            key: value
            for key, value in table.items()
            if usual is None or key not in usual or value_text(usual[key]) != value_text(value)
        }
        if differing:
            changed[name] = differing
    return changed


def settings_tables(
    trials: Mapping[str, RecordedTrial], common: Mapping[str, Any], every: int
) -> Iterator[DraftTable]:
    """The tables [settings.NAME] of a study file; what is open in several trials is there once.

    Args:
        trials: the recordings by the names of their trials, which a decision on some of them states.
        common: their common settings.
        every: number of all trials of the study, recordings and others.
    """
    drafted = [(name, table) for name, trial in trials.items() for table in trial.draft.tables]
    for name in dict.fromkeys(table.name for _, table in drafted):
        if name in (FILES, SUBJECT, TIME):
            continue
        named = [(trial, table) for trial, table in drafted if table.name == name and not table.listed]
        tables = [table for _, table in named]
        outer, _, inner = name.partition(".")
        usual = common.get(outer, {})
        usual = usual.get(inner, {}) if inner and isinstance(usual, Mapping) else usual
        if isinstance(usual, list):
            for values in usual:
                yield DraftTable(f"settings.{name}", lines_of(values), listed=True)
            continue
        lines: dict[str, Line] = {}
        open_in = grouped((line.key, trial) for trial, table in named for line in table.lines if line.todo)
        for line in (line for table in tables for line in table.lines):
            if line.key in usual:
                kept = not line.open and value_text(line.value) == value_text(usual[line.key])
            else:
                kept = line.open and bool(line.todo)
            if kept:
                todo = _of_some(line.todo, open_in.get(line.key, []), every)
                lines.setdefault(line.key, replace(line, todo=todo))
        todo = next((table.todo for table in tables if table.todo), "")
        todo = _of_some(todo, [trial for trial, table in named if table.todo == todo], every)
        if not (lines or todo):
            continue
        about = next((table.about for table in tables if table.about), ()) if lines else ()
        is_open = not any(not line.open for line in lines.values())
        if is_open:
            lines = {key: replace(line, open=False) for key, line in lines.items()}
        yield DraftTable(f"settings.{name}", tuple(lines.values()), about, todo, open=is_open)


def _of_some(todo: str, names: Sequence[str], every: int) -> str:
    """An open decision with the names of its trials, unless all trials have it."""
    return f"{todo} (of {shortened(names)})" if todo and len(names) < every else todo
