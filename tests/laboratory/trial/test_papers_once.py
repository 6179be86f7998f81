"""The trial file is asked once: reading ends in validated numbers, and no stage after it asks the document again."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType

import musclesolve as ms
from musclesolve.laboratory.forces import muscle_forces
from musclesolve.laboratory.recording import trial_document
from musclesolve.tables import document, settings

PAPERS = {Path(module.__file__).resolve() for module in (document, settings, trial_document)}


def entered(call) -> set[str]:
    """The functions of the modules that read settings which a call enters."""
    names: set[str] = set()

    def see(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and Path(frame.f_code.co_filename).resolve() in PAPERS:
            names.add(frame.f_code.co_qualname)

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        call()
    finally:
        sys.setprofile(before)
    return names


def test_no_stage_of_the_forces_asks_the_trial_file() -> None:
    path = ms.data.reference_stride()
    assert entered(lambda: ms.read_trial(path))  # the hook sees them
    trial = ms.read_trial(path)
    assert not entered(lambda: muscle_forces(trial))
