"""Trials that another service keeps in one file, unpacked once beside the results of a study."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from musclesolve.errors import InputError, input_error
from musclesolve.opensim.unpack_b3d import unpack_b3d
from musclesolve.recording.text.text_file import is_file, sha256
from musclesolve.results.files.atomic_writing import reserved, write_files
from musclesolve.studies.many_trials.run_many import safe
from musclesolve.studies.study.study_file import Study, StudyTrial
from musclesolve.version import __version__

INPUTS = "inputs"
"""Folder of the unpacked files."""
RECORD = "unpacked.json"
"""File with the source of an unpacked folder, and its trials."""


class Unpacked:
    """The files of trials; the trials of a B3D file unpacked once, and again where the file has changed."""

    def __init__(self, study: Study, output: Path) -> None:
        self.study, self.folder = study, output / INPUTS
        self.known: dict[str, dict[str, Any]] = {}  # B3D file as the study names it -> its record

    def source(self, trial: StudyTrial) -> Mapping[str, str | Path]:
        """The keys of [files] of the trial file of a model, or the trial's own file."""
        if "b3d" not in trial.source:
            return trial.source
        name, wanted = trial.source["b3d"], trial.source["trial"]
        if name not in self.known:
            self.known[name] = self._record(name)
        record = self.known[name]
        if isinstance(fault := record.get("fault"), InputError):
            raise fault
        document, trials = self.study.document, record["trials"]
        if wanted not in trials:
            raise document.unknown(
                "studies.no_trial",
                wanted,
                trials,
                "trials",
                trial.name,
                problem=f"{Path(name).name} has no trial {wanted!r}",
                code="unknown_name",
            )
        found = trials[wanted]
        if found["reason"]:
            raise document.error(
                "studies.no_muscle_forces_follow",
                "trials",
                trial.name,
                problem=f"no muscle forces follow from {wanted!r} of {Path(name).name}: {found['reason']}",
                code="unsupported",
                remedy='leave it out: exclude = "the reason"',
            )
        return {key: self.folder / record["folder"] / path for key, path in found["files"].items()}

    def _record(self, name: str) -> dict[str, Any]:
        """Return the record of the trials unpacked from a B3D file, or of the fault that prevents it."""
        path = self.study.path.parent / name
        folder = safe(Path(name).with_suffix("").as_posix().replace("/", "-").replace("..-", ""))
        place = self.folder / folder
        try:
            if not is_file(path):
                raise input_error(
                    "studies.no_file",
                    file=path,
                    problem=f"there is no file {name!r}",
                    code="missing_file",
                    expected="a file of AddBiomechanics (.b3d)",
                )
            digest = sha256(path)
            record = _read(place / RECORD)
            if record.get("sha256") != digest or record.get("version") != __version__:
                with reserved(place):
                    trials = unpack_b3d(path, place).trials
                    record = {
                        "sha256": digest,
                        "version": __version__,
                        "folder": folder,
                        "trials": {
                            trial.name: {
                                "files": {
                                    key: Path(file).relative_to(place).as_posix()
                                    for key, file in trial.source.items()
                                },
                                "reason": trial.reason,
                                "notes": list(trial.notes),
                            }
                            for trial in trials
                        },
                    }
                    write_files(place, {RECORD: json.dumps(record, indent=1).encode()})
            return record
        except InputError as error:
            return {"fault": error}

    @property
    def notes(self) -> list[str]:
        """Notes on unusual contents of the files, each with its trial."""
        return [
            f"{Path(name).name}, {trial}: {note}"
            for name, record in self.known.items()
            for trial, found in record.get("trials", {}).items()
            for note in found["notes"]
        ]


def _read(path: Path) -> dict[str, Any]:
    """A record, empty where there is none."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
