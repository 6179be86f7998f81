"""A study file drafted from the folders of its trials: subjects, groups, conditions by their names, the rest marked."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from musclesolve.drafting.draft_text import DraftTable, Line, draft_text
from musclesolve.drafting.study.study_trials import (
    FoundStudy,
    FoundTrial,
    Role,
    in_order,
    roles,
    study_trials,
)
from musclesolve.errors import InputError, input_error
from musclesolve.recording.text.text_file import name_from
from musclesolve.recording.text.toml_text import value_text
from musclesolve.results.cycles.normalisation import unit_settings
from musclesolve.results.files.atomic_writing import write_files
from musclesolve.settings.json_schema import FOLDER, schema_name
from musclesolve.settings.other_files import study_schema

NAME = "study.toml"
HEAD = (
    "Drafted by `musclesolve init --study` from what lies in the folder. Comments state where a value comes from.",
    "Lines that begin with TODO are left to decide; `musclesolve study` computes the rest.",
)
_SIGNS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
_MOST_LISTED = 6
_BODY = ("mass_kg", "stature_m", "sex")
"""What every subject should state: results are normalised by mass and stature."""


@dataclass(frozen=True)
class StudyDraft:
    """A study file that is not written yet: its path and text, what was recognised, and what is left open."""

    path: Path
    text: str
    recognised: tuple[tuple[str, str], ...] = ()
    todos: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


def draft_study(folder: str | Path, output: Path | None = None) -> StudyDraft:
    """Draft the study file of a folder and all below it; nothing is written.

    Args:
        folder: with trial files (.toml), results of AddBiomechanics (folders or .b3d files), sessions of OpenCap, or
            OpenSim models with coordinates and loads or moments, in it or below it.
        output: the study file; `study.toml` in the folder when None. A folder means `study.toml` in it.

    Raises:
        InputError: there is no such folder, or no trial in it.
    """
    folder = Path(folder)
    found = study_trials(folder)
    if not found.trials:
        raise _no_trial(folder, found)
    target = folder / NAME if output is None else output
    target = target / NAME if target.is_dir() else target
    in_folders = sorted(found.trials, key=lambda trial: _natural("/".join(trial.levels)))
    by_path = roles([trial.levels for trial in in_folders], [trial.of_service for trial in in_folders])
    numbered = zip(_trial_names(by_path), in_folders, by_path, strict=True)
    # in the order of subjects, conditions and repetitions, as they are looked for
    listed = sorted(numbered, key=lambda each: _natural(each[0]))
    names, trials, named = (
        [name for name, _, _ in listed],
        [trial for _, trial, _ in listed],
        [role for *_, role in listed],
    )
    raw = [
        Line("", todo=f"draft the trial files of these recordings and add them: musclesolve init {place}")
        for place in (shlex.quote(str(each)) for each in found.raw)
    ]
    tables = (
        _design(named),
        DraftTable("subjects", tuple(_subjects(trials, named)), _about_models(trials)),
        DraftTable("trials", (*_trials(trials, named, names, target), *raw)),
    )
    title = f"title = {value_text(folder.resolve().name or 'Study')}\n"
    head, _, rest = draft_text(HEAD, tables, "study").partition("\n\n")
    todos = tuple(todo for table in tables for todo in table.todos)
    recognised = tuple(_recognised(found, trials, named))
    return StudyDraft(target, f"{head}\n\n{title}\n{rest}", recognised, todos, found.unread)


def write_study(draft: StudyDraft, force: bool = False) -> list[Path]:
    """Write a study file.

    Raises:
        InputError: it is there already and `force` is not given, or it cannot be written.
    """
    if draft.path.exists() and not force:
        raise input_error("drafting.study_file_already", file=draft.path.parent, name=draft.path.name)
    schema = study_schema(unit_settings()).encode("utf-8")
    write_files(draft.path.parent / FOLDER, {schema_name("study"): schema})
    return write_files(draft.path.parent, {draft.path.name: draft.text.encode("utf-8")})


def _no_trial(folder: Path, found: FoundStudy) -> InputError:
    remedy = "name the folder above those of the subjects"
    problem = "no trial was found in this folder or below it"
    if found.unread:
        problem, remedy = (
            f"no trial can be read: {'; '.join(found.unread[:_MOST_LISTED])}",
            "export the files again",
        )
    elif found.raw:
        places = ", ".join(place.relative_to(folder).as_posix() for place in found.raw[:_MOST_LISTED])
        problem = f"there are recordings without trial files, in {places}"
        remedy = f"draft trial files first: musclesolve init {shlex.quote(str(found.raw[0]))}"
    return input_error("drafting.no_trial", file=folder, remedy=remedy, fault=problem)


def _design(named: Sequence[Role]) -> DraftTable:
    """Groups and conditions in an order in which the first is the one that others are compared with."""
    lines = []
    for key, values in (
        ("groups", {role.group for role in named}),
        ("conditions", {role.condition for role in named}),
    ):
        if listed := in_order(values - {""}):
            todo = f"check the order: the first of the {key} is what the others are compared with"
            lines.append(
                Line(key, listed, "by the names of folders and files", todo if len(listed) > 1 else "")
            )
    return DraftTable("design", tuple(lines))


def _subjects(trials: Sequence[FoundTrial], named: Sequence[Role]) -> Iterator[Line]:
    """A line of [subjects] for each: the group, and what is stated of the body by all sources that state it."""
    for name in dict.fromkeys(role.subject for role in named):
        own = [k for k, role in enumerate(named) if role.subject == name]
        values: dict[str, Any] = {"group": named[own[0]].group} if named[own[0]].group else {}
        todos = [named[own[0]].doubt] if named[own[0]].doubt else []
        for key in dict.fromkeys(key for k in own for key in trials[k].subject):
            stated = Counter(value_text(trials[k].subject[key]) for k in own if key in trials[k].subject)
            if len(stated) == 1:
                values[key] = next(trials[k].subject[key] for k in own if key in trials[k].subject)
            else:
                counts = ", ".join(f"{value} in {count}" for value, count in stated.items())
                todos.append(f"{key} of {name} differs between its trials ({counts})")
        lacking = [key for key in _BODY if key not in values and not any(key in todo for todo in todos)]
        if lacking and not all("model" in trials[k].source for k in own):
            todos.append(f"enter {', '.join(lacking)} of {name}: no file states it")
        sources = sorted({trials[k].kind for k in own})
        yield Line(
            name, values, f"{len(own)} trial{'s' * (len(own) > 1)}: {', '.join(sources)}", "; ".join(todos)
        )


def _about_models(trials: Sequence[FoundTrial]) -> tuple[str, ...]:
    """What a study takes from models where the study file says nothing."""
    if not any("model" in trial.source for trial in trials):
        return ()
    return (
        "The mass of a subject is that of the model unless it is stated; N m/(kg m) needs stature_m as well.",
    )


def _trials(
    trials: Sequence[FoundTrial], named: Sequence[Role], names: Sequence[str], target: Path
) -> Iterator[Line]:
    """A line of [trials] for each."""
    for trial, role, name in zip(trials, named, names, strict=True):
        values: dict[str, Any] = {"subject": role.subject}
        values |= {key: value for key in ("condition", "session") if (value := getattr(role, key))}
        for key, source in trial.source.items():
            values[key] = name_from(source, target) if isinstance(source, Path) else source
        if trial.exclude:
            values["exclude"] = trial.exclude
        yield Line(name, values, todo="; ".join(trial.notes))


def _trial_names(named: Sequence[Role]) -> list[str]:
    """Names of trials, each once: subject, session, condition and a number among those that have the same."""
    stems = [
        "_".join(part for part in (each.subject, each.session, each.condition) if part) for each in named
    ]
    plain = [
        "".join(sign if sign in _SIGNS else "_" for sign in stem).strip("_") or "trial" for stem in stems
    ]
    count: Counter[str] = Counter()
    found = []
    for stem in plain:
        count[stem.casefold()] += 1
        found.append(f"{stem}_{count[stem.casefold()]}")
    return found


def _natural(name: str) -> list[tuple[bool, int, str]]:
    """What sorts names with numbers as people do: trial_2 before trial_10."""
    parts, digits = list[str](), False
    for sign in name.casefold():
        if not parts or sign.isdecimal() != digits:
            parts.append("")
        digits = sign.isdecimal()
        parts[-1] += sign
    return [(False, int(part), "") if part.isdecimal() else (True, 0, part) for part in parts]


def _recognised(
    found: FoundStudy, trials: Sequence[FoundTrial], named: Sequence[Role]
) -> Iterator[tuple[str, str]]:
    """What was found, subject and statement, for the terminal."""
    kinds = Counter(trial.kind for trial in trials)
    yield (
        "trials",
        f"{len(trials)} ({', '.join(f'{kind}: {count}' for kind, count in sorted(kinds.items()))})",
    )
    subjects = list(dict.fromkeys(role.subject for role in named))
    yield "subjects", f"{len(subjects)}: {_few(subjects)}"
    counted: Mapping[str, Counter[str]] = {
        "groups": Counter({role.subject: role.group for role in named}.values()),
        "conditions": Counter(role.condition for role in named),
        "sessions": Counter(role.session for role in named),
    }
    for what, values in counted.items():
        if any(values):
            unit = "subjects" if what == "groups" else "trials"
            yield (
                what,
                _few([f"{name or 'not known'} ({values[name]})" for name in in_order(set(values))])
                + f" {unit}",
            )
    reasons = Counter(trial.exclude for trial in trials if trial.exclude)
    for reason, count in reasons.items():
        yield "excluded", f"{count} trial{'s' * (count > 1)}: {reason}"
    for place in found.raw[:_MOST_LISTED]:
        yield "no trial file", f"musclesolve init {shlex.quote(str(place))}"


def _few(parts: Sequence[str]) -> str:
    more = f" and {len(parts) - 2 * _MOST_LISTED} more" if len(parts) > 2 * _MOST_LISTED else ""
    return ", ".join(parts[: 2 * _MOST_LISTED]) + more
