"""A trial of a B3D file, which is written as files of OpenSim before it is computed."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from muscle_db.regular_file import file_state
from musclesolve.errors import file_error
from musclesolve.laboratory.files.b3d import read_b3d, unpack_b3d
from musclesolve.laboratory.results.files.atomic_writing import patient, write_files
from musclesolve.version import __version__

WRITTEN_WITHIN_S = 60.0
"""How long a process waits until others have written the records of their trials of the same subject."""


def _read(path: Path) -> dict[str, Any]:
    """A record; an empty one where there is none."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        content = None
    empty: dict[str, Any] = {"files": [], "reason": "", "notes": []}
    return empty | content if isinstance(content, dict) else empty


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
                remedy="leave it out: state the reason in the column exclude",
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
