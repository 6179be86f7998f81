"""The diameter of the markers that a C3D file states stands for the one that is not stated in the trial file."""

from __future__ import annotations

from pathlib import Path

import pytest
from drafted_folders import as_c3d, drafted, recordings
from examined import loaded

from musclesolve import read_trial
from musclesolve.laboratory.recording.trial_settings import SubjectSettings

MARKER_DIAMETER = SubjectSettings().marker_diameter_m


@pytest.mark.in_part(2)
@pytest.mark.parametrize(
    ("in_file", "stated", "used", "noted"),
    [
        (None, None, MARKER_DIAMETER, ""),
        (("PROCESSING", 10.0), None, 0.010, "10 mm, as walk.c3d states it"),
        (("SUBJECTS", 9.5), None, 0.0095, "9.5 mm, as walk.c3d states it"),
        (("PROCESSING", 0.0), None, MARKER_DIAMETER, ""),
        (("PROCESSING", 10.0), 0.016, 0.016, "16 mm as the trial file states it; walk.c3d states 10 mm"),
        (("PROCESSING", 16.0), 0.016, 0.016, ""),
    ],
)
def test_the_diameter_of_the_file_is_used_unless_the_trial_file_states_one(
    in_file: tuple[str, float] | None, stated: float | None, used: float, noted: str, tmp_path: Path
) -> None:
    def change(file) -> None:
        if in_file is not None:
            file.add_parameter(in_file[0], "MarkerDiameter", [in_file[1]])

    path = drafted(as_c3d(recordings(tmp_path / "text"), tmp_path / "c3d", change))
    if stated is not None:
        text = path.read_text(encoding="utf-8")
        path.write_text(
            text.replace("[subject]\n", f"[subject]\nmarker_diameter_m = {stated}\n"), encoding="utf-8"
        )
    trial = read_trial(path)
    assert trial.subject.marker_diameter == pytest.approx(used)
    notes = [note for note in trial.notes if "diameter of the markers" in note]
    assert len(notes) == bool(noted) and all(noted in note for note in notes)
    case = loaded(path)
    assert case.trial.subject.marker_diameter == pytest.approx(used)
