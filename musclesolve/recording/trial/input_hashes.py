"""SHA-256 of the files of a trial as read, and warnings of files that changed during the analysis.

The hash of a trial file is the hash of the parsed text. Recordings are hashed while they are read, or at the end of
`read_trial`; a file whose size or time of change has changed since it was opened is refused. The files of an OpenSim
model are read later, in the analysis.
"""

from muscle_db.regular_file import file_state
from musclesolve._util.message_text import WarningNote
from musclesolve.errors import file_error
from musclesolve.recording.data import AnyTrial
from musclesolve.recording.text.text_file import hash_of, name_in, sha256


def hashes_as_read(trial: AnyTrial) -> dict[str, str]:
    """Return role -> SHA-256 of the files of a trial that has just been read.

    A missing muscle set is refused later, when it is needed.
    """
    document, known = trial.document, {"trial": trial.document.sha256, **trial.hashes}
    hashes = {role: known.get(role) or sha256(path) for role, path in trial.files.items() if path.is_file()}
    for role, path in trial.files.items():
        if role != "trial" and path in document.states and document.states[path] != file_state(path):
            raise file_error(
                "file_changed",
                path,
                "the file was changed while it was read",
                "a file that nothing writes to",
                "wait until it has been written, then run again",
            )
    return hashes


def named_hashes(trial: AnyTrial) -> dict[str, tuple[str, str]]:
    """Return role -> path of a file from the folder of the trial file, and SHA-256 of the file as read.

    For a trial that is not from `read_trial` the files are hashed as they are now.
    """
    folder, read = trial.path.resolve().parent, trial.hashes
    return {
        role: (name_in(folder, path.resolve()), read.get(role) or sha256(path))
        for role, path in trial.files.items()
    }


def input_lines(trial: AnyTrial) -> list[str]:
    """Return the lines "role path sha256:..." of `named_hashes`; no role contains a space."""
    return [f"{role} {name} sha256:{sha}" for role, (name, sha) in named_hashes(trial).items()]


def change_notes(trial: AnyTrial, read_later: bool = False) -> list[str]:
    """Return a warning for every file of a trial that has changed since `read_trial`.

    A file of the same size and time of change as before it was read has not changed.
    `read_later`: the files, except the trial file, were hashed before they were read, as for an OpenSim model.
    """
    notes, states = list[str](), trial.document.states
    for role, path in trial.files.items():
        if path in states and states[path] == file_state(path):
            continue
        if role in trial.hashes and hash_of(path) != trial.hashes[role]:
            changed = (
                "may be of either content"
                if read_later and role != "trial"
                else "is the hash of the content read before"
            )
            notes.append(
                WarningNote(
                    f"{path.name} was changed or removed during the analysis: the result {changed}. "
                    "Run again to analyze the file as it is now.",
                    "file_changed",
                )
            )
    return notes
