"""The command `init`: a trial file drafted from the recordings in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from musclesolve.cli.printing import print_files, print_summary

if TYPE_CHECKING:
    from musclesolve.drafting.draft_folder import FolderDraft


def init(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="The folder with the recordings of one subject.")
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The trial file; default: trial.toml in the folder.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a trial file that is there.")] = False,
    mass_kg: Annotated[
        float | None, typer.Option(help="Body mass with shoes \\[kg], if you know it.")
    ] = None,
    stature_m: Annotated[float | None, typer.Option(help="Stature \\[m], if you know it.")] = None,
    sex: Annotated[str | None, typer.Option(help="female or male.")] = None,
) -> None:
    """Draft a trial file from the recordings in a folder: all that they show is filled in, the rest marked TODO."""
    from musclesolve.drafting.draft_folder import draft_folder, write_drafts
    from musclesolve.drafting.subject_size import GivenSubject

    draft = draft_folder(folder, output, GivenSubject(None, mass_kg, stature_m, sex))
    paths = write_drafts(draft, force)
    _print_draft(draft)
    print_files(paths)
    _print_next(paths, draft)


def _print_draft(draft: FolderDraft) -> None:
    """Print what was recognised, what was left out, and what is open, trial by trial."""
    from musclesolve.results.tables.lines import line, lines

    for trial in draft.trials:
        for subject, statement in trial.recognised:
            print_summary(line(subject, statement))
        for text in lines("left open", trial.todos or ("nothing",)):
            print_summary(text)
        if len(draft.trials) > 1:
            print_summary(line("trial file", f"{trial.path.name}\n"))
    for subject, sentences in (
        ("not read", draft.unread),
        ("left out", draft.left_out),
        ("not used", draft.others),
    ):
        for text in lines(subject, sentences):
            print_summary(text)


def _print_next(paths: list[Path], draft: FolderDraft) -> None:
    from musclesolve.results.tables.lines import line

    names = " ".join(str(path) for path in paths[:1])
    todo = any(trial.todos for trial in draft.trials)
    edit = f"search for TODO in {names}, then " if todo else ""
    more = "; the others likewise" if len(paths) > 1 else ""
    print_summary(line("next", f"{edit}musclesolve check {names}{more}"))
