"""Trials that another service keeps in one file, each unpacked by the process that computes it."""

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from muscle_db.regular_file import file_state
from musclesolve._util.messages import alike, check_known, shortened
from musclesolve._util.written_files import safe
from musclesolve.laboratory.files.b3d import read_b3d, unpacked_files
from musclesolve.studies.many_trials.b3d_source import B3DSource
from musclesolve.studies.study.study_file import Study, StudyTrial

INPUTS, RECORDS = "inputs", "unpacked"
"""Folder of the unpacked files of a study, and folder in it with a record of each unpacked trial."""


def source_of(
    study: Study, trial: StudyTrial, output: Path
) -> tuple[Mapping[str, str | Path], B3DSource | None]:
    """The keys of [files] of the trial file of a model, or the trial's own file; and how the files are made.

    Only the header of a B3D file is read here.
    """
    if "b3d" not in trial.source:
        return trial.source, None
    name, wanted = trial.source["b3d"], trial.source["trial"]
    b3d = study.file_of(trial, "b3d")
    parts = Path(name).with_suffix("").parts
    # folders above the study are in the name of the file: the folder of the subject is numbered
    kept = "-".join(part for part in parts if part not in ("..", "/"))
    kept += f"-{hashlib.sha256(name.encode()).hexdigest()[:8]}" * (".." in parts)
    trials = _files(b3d, output / INPUTS / safe(kept), file_state(b3d))
    known = [trial for trial, files in trials.items() if files]
    check_known([wanted], f"trial of {b3d.name}", known, "", study.table, study.place(trial, "trial")[1])
    files = trials[wanted]
    stated = study.place(trial, "trial")
    folder = files["model"].parents[1]
    # the file of the coordinates has another name for each trial, "walk 1" and "walk/1" included
    record = folder / RECORDS / f"{files['coordinates'].stem.removesuffix('_ik')}.json"
    return files, B3DSource(b3d, wanted, folder, record, stated)


@lru_cache(maxsize=2)
def _files(b3d: Path, place: Path, state: object) -> dict[str, dict[str, Path]]:
    """The unpacked files of the trials of a B3D file, by the name of the trial."""
    return unpacked_files(read_b3d(b3d, ()), place)


def unpacked_notes(sources: Mapping[str, B3DSource]) -> list[str]:
    """Notes on unusual contents of trials that were unpacked, by the names of the trials, each kind of note once."""
    said = ((name, note) for name, source in sources.items() for note in source.notes)
    return [
        f"{next(iter(one.values()))} ({shortened(list(one))}{', with other numbers' * (len(set(one.values())) > 1)})"
        for one in alike(said)
    ]
