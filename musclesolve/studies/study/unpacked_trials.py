"""Trials that another service keeps in one file, each unpacked by the process that computes it."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from muscle_db.regular_file import file_state
from musclesolve._util.messages import alike, shortened
from musclesolve._util.written_files import safe
from musclesolve.errors import file_error
from musclesolve.opensim.b3d import read_b3d, unpack_b3d, unpacked_files
from musclesolve.recording.text.text_file import is_file
from musclesolve.results.files.atomic_writing import patient, write_files
from musclesolve.studies.study.study_file import Study, StudyTrial
from musclesolve.version import __version__

INPUTS, RECORDS = "inputs", "unpacked"
"""Folder of the unpacked files of a study, and folder in it with a record of each unpacked trial."""
WRITTEN_WITHIN_S = 60.0
"""How long a process waits until others have written the records of their trials of the same subject."""


@dataclass(frozen=True)
class B3DSource:
    """A trial of a B3D file, which `unpack` writes as files of OpenSim.

    Args:
        b3d: the file. trial: name of the trial in it.
        folder: of the unpacked files of the subject.
        record: file with the state of the B3D file when the trial was unpacked, and with what was found in the trial.
        stated: file and place that name the trial, for messages.
    """

    b3d: Path
    trial: str
    folder: Path
    record: Path
    stated: tuple[Path, str | None]

    @property
    def notes(self) -> list[str]:
        """Notes on what is unusual in the trial; none before it was unpacked."""
        return list(_read(self.record)["notes"])

    @property
    def _state(self) -> list[Any]:
        return [*(file_state(self.b3d) or ()), __version__]

    @property
    def is_unpacked(self) -> bool:
        """Whether the files were written from the B3D file as it is, or the trial has none."""
        known = _read(self.record)
        return known.get("state") == self._state and all(
            (self.folder / name).is_file() for name in known["files"]
        )

    def unpack(self) -> None:
        """Write the files of the trial, unless they were written from the B3D file as it is.

        Raises:
            InputError: the file cannot be read, or no muscle forces follow from the trial.
        """
        with patient(WRITTEN_WITHIN_S):
            known = _read(self.record) if self.is_unpacked else self._unpacked()
        if known["reason"]:
            file, where = self.stated
            raise file_error(
                "unsupported",
                (file, where),
                f"no muscle forces follow from {self.trial!r} of {self.b3d.name}: {known['reason']}",
                remedy='leave it out: exclude = "the reason"',
            )

    def _unpacked(self) -> dict[str, Any]:
        """Write the files of the trial, and return its record, which is written, too."""
        state = self._state
        (trial,) = unpack_b3d(read_b3d(self.b3d, (self.trial,)), self.folder, (self.trial,)).trials
        files = () if trial.reason else trial.source.values()
        record = {
            "state": state,
            "files": [Path(file).relative_to(self.folder).as_posix() for file in files],
            "reason": trial.reason,
            "notes": trial.notes,
        }
        write_files(self.record.parent, {self.record.name: json.dumps(record, indent=1).encode()})
        return record


def source_of(
    study: Study, trial: StudyTrial, output: Path
) -> tuple[Mapping[str, str | Path], B3DSource | None]:
    """The keys of [files] of the trial file of a model, or the trial's own file; and how the files are made.

    Only the header of a B3D file is read here.
    """
    if "b3d" not in trial.source:
        return trial.source, None
    name, wanted, document = trial.source["b3d"], trial.source["trial"], study.document
    b3d = Path(os.path.normpath(study.path.parent / name))
    parts = Path(name).with_suffix("").parts
    # folders above the study are in the name of the file: the folder of the subject is numbered
    kept = "-".join(part for part in parts if part not in ("..", "/"))
    kept += f"-{hashlib.sha256(name.encode()).hexdigest()[:8]}" * (".." in parts)
    trials = _files(b3d, output / INPUTS / safe(kept), file_state(b3d))
    known = [trial for trial, files in trials.items() if files]
    document.check_known([wanted], f"{Path(name).name} has no trial", known, "trials", trial.name)
    files = trials[wanted]
    stated = document.path, f"{document.header('trials')} {trial.name}"
    folder = files["model"].parents[1]
    # the file of the coordinates has another name for each trial, "walk 1" and "walk/1" included
    record = folder / RECORDS / f"{files['coordinates'].stem.removesuffix('_ik')}.json"
    return files, B3DSource(b3d, wanted, folder, record, stated)


@lru_cache(maxsize=2)
def _files(b3d: Path, place: Path, state: object) -> dict[str, dict[str, Path]]:
    """The unpacked files of the trials of a B3D file, by the name of the trial."""
    if not is_file(b3d):
        raise file_error(
            "missing_file", b3d, f"there is no file {b3d.name!r}", "a file of AddBiomechanics (.b3d)"
        )
    return unpacked_files(read_b3d(b3d, ()), place)


def unpacked_notes(sources: Mapping[str, B3DSource]) -> list[str]:
    """Notes on unusual contents of trials that were unpacked, by the names of the trials, each kind of note once."""
    said = ((name, note) for name, source in sources.items() for note in source.notes)
    return [
        f"{next(iter(one.values()))} ({shortened(list(one))}{', with other numbers' * (len(set(one.values())) > 1)})"
        for one in alike(said)
    ]


def _read(path: Path) -> dict[str, Any]:
    """A record; an empty one where there is none."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        content = None
    empty: dict[str, Any] = {"files": [], "reason": "", "notes": []}
    return empty | content if isinstance(content, dict) else empty
