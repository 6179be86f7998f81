"""Notes of a trial: what the readers of its files say, and what the trial file does not give."""

from collections.abc import Iterator

from musclesolve.recording.data import SIDE_NAMES, SIDES, PlateForce
from musclesolve.recording.file_axes import standing_axes
from musclesolve.recording.markers.marker_mapping import MarkerMapping
from musclesolve.recording.plates.foot_forces import (
    is_stated,
)
from musclesolve.recording.trial.analyzed_range import finds_range
from musclesolve.recording.trial.functional_trials import FunctionalTrials
from musclesolve.settings.trial import (
    AUTO,
    PREDICTED,
    PREDICTED_NOTE,
    RecordedSettings,
)


def marker_notes(mapped: MarkerMapping, functional: FunctionalTrials) -> tuple[str, ...]:
    """Return the notes of the readers of the marker files."""
    standing = (
        () if mapped.static is None else (f"Standing trial: {note}" for note in mapped.static.sentences)
    )
    notes = (note for markers in functional.recordings for note in markers.sentences)
    return (*mapped.walk.sentences, *standing, *dict.fromkeys(f"Functional trial: {note}" for note in notes))


def _plate_notes(settings: RecordedSettings, forces: tuple[PlateForce, ...]) -> Iterator[str]:
    """Yield notes on plates and moments that are not in the trial file."""
    if settings.plates.unmeasured_steps == PREDICTED:
        without = "all its steps are predicted"
    elif finds_range(settings):
        without = "only swings of its leg are analyzed"
    else:
        without = "it is taken as unloaded all the time"
    for side in SIDES:
        if all(map(is_stated, settings.force)) and not any(plate.side == side for plate in forces):
            yield f"No plate is given for the {SIDE_NAMES[side]} foot: {without}."
    for entry in settings.force:
        if entry.moment is None and entry.plate is None and entry.side is not None:
            whose = {AUTO: "a plate"} | {
                side: f"the plate of the {name} foot" for side, name in SIDE_NAMES.items()
            }
            yield f"No moment is given for {whose[entry.side]}: it is set to zero."


def trial_notes(settings: RecordedSettings, forces: tuple[PlateForce, ...]) -> Iterator[str]:
    """Yield notes on data that are not in the trial file."""
    if settings.files.predicted:
        yield PREDICTED_NOTE
    else:
        yield from _plate_notes(settings, forces)
    laboratory = settings.laboratory
    if settings.files.static is None:
        yield "There is no standing trial: segments are measured on the motion itself."
    elif standing_axes(laboratory) != (laboratory.forward, laboratory.up):
        forward, up = standing_axes(laboratory)
        yield f"The standing trial is read in axes of its own: forward {forward}, up {up}."
