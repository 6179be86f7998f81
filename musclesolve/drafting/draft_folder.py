"""Trial files drafted from the recordings in a folder: one for every motion."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from musclesolve.drafting.file_roles import FileRoles, file_roles
from musclesolve.drafting.folder_contents import FolderContents, folder_contents
from musclesolve.drafting.subject_size import GivenSubject, check_given
from musclesolve.drafting.trial_draft import TrialDraft, draft_trial
from musclesolve.errors import InputError
from musclesolve.recording.text.text_file import file_path
from musclesolve.results.files.atomic_writing import write_files

NAME = "trial.toml"
_NOBODY = GivenSubject()


@dataclass(frozen=True)
class FolderDraft:
    """The drafts of a folder, and sentences on files that are no part of them."""

    folder: Path
    trials: tuple[TrialDraft, ...]
    unread: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


def draft_folder(
    folder: str | Path, output: Path | None = None, subject: GivenSubject = _NOBODY
) -> FolderDraft:
    """Draft a trial file for every motion in a folder; nothing is written.

    Args:
        folder: the folder with the recordings; its subfolders are not looked at.
        output: the trial file; `trial.toml` in the folder when None. With several motions every one has a file of its
            own, whose name ends in that of the recording. A folder means `trial.toml` in it.
        subject: what is stated of the subject.

    Raises:
        InputError: there is no such folder, or no motion in it.
    """
    check_given(subject)
    folder = file_path(folder)
    contents = folder_contents(folder)
    roles = file_roles(contents)
    if not roles.motions:
        raise _no_motion(contents, roles)
    target = folder / NAME if output is None else output
    target = target / NAME if target.is_dir() else target
    paths, recordings = [target], [files.motion.path for files in roles.motions]
    if len(recordings) > 1:
        stems = [path.stem for path in recordings]
        names = [f"{p.stem}_{p.suffix[1:]}" if stems.count(p.stem) > 1 else p.stem for p in recordings]
        paths = [target.with_name(f"{target.stem}_{name}.toml") for name in names]
    trials = tuple(
        draft_trial(contents, roles, files, path, subject)
        for files, path in zip(roles.motions, paths, strict=True)
    )
    drafted = {trial.path.absolute() for trial in trials}
    others = tuple(
        text for text in contents.others if (folder / text.partition(" (")[0]).absolute() not in drafted
    )
    return FolderDraft(folder, trials, tuple(contents.unread), roles.left_out, others)


def write_drafts(draft: FolderDraft, force: bool = False) -> list[Path]:
    """Write the trial files of a folder; all of them appear, or none.

    Raises:
        InputError: one is there already and `force` is not given, or it cannot be written.
    """
    there = [trial.path for trial in draft.trials if trial.path.exists()]
    if there and not force:
        problem = f"there is a trial file already: {', '.join(path.name for path in there)}"
        expected = "a folder without a trial file"
        remedy = "write to another file with -o, or replace it with --force"
        folder = there[0].parent
        raise InputError(problem, code="occupied_folder", file=folder, expected=expected, remedy=remedy)
    folder = draft.trials[0].path.parent
    return write_files(folder, {trial.path.name: trial.text.encode("utf-8") for trial in draft.trials})


def _no_motion(contents: FolderContents, roles: FileRoles) -> InputError:
    """The error of a folder without a motion: what was found instead."""
    if contents.unread:
        problem = "no recording can be read: " + "; ".join(contents.unread)
        remedy = "export the recordings again"
    elif roles.static is not None:
        problem = f"{roles.static.path.name} shows a subject who stands, and no file shows a motion"
        remedy = "add the recording of the motion"
    elif contents.others or contents.forces or contents.emg:
        tables = [*(file.path.name for file in contents.forces), *(file.path.name for file in contents.emg)]
        listed = [*contents.others, *dict.fromkeys(tables)]
        shown = ", ".join(listed[:6]) + (", ..." if len(listed) > 6 else "")
        problem = f"no file holds markers; there are {shown}"
        remedy = "name the folder with the recorded markers"
    else:
        problem, remedy = "the folder has no files", "name the folder with the recordings, not one above it"
    if roles.left_out:
        problem += f" ({'; '.join(roles.left_out)})"
    expected = "markers of a motion: TRC, C3D, CSV, or a camera file (.toml)"
    return InputError(problem, code="missing_file", file=contents.folder, expected=expected, remedy=remedy)
