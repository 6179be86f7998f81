"""Plates as reading tests them: samples that no foot can cause, gaps, a channel of the free moment."""

from collections.abc import Iterator
from functools import partial

from musclesolve.laboratory.checks.case import TABLES, Case, finding_of, on_plate, recording_check, refusal
from musclesolve.laboratory.results.finding import Finding, finding
from musclesolve.laboratory.trial.plates.plate_checks import instants_of, plate_error, without_instants
from musclesolve.laboratory.trial.recording_checks import check_plate_gaps


@recording_check("plates", "upright")
def impossible_forces(case: Case) -> Iterator[Finding]:
    """Report samples that count as not measured, and plates that no foot can load so throughout."""
    trial = case.trial
    for index, recorded in enumerate(trial.forces):
        plate = without_instants(trial, recorded)
        if plate.impossible:
            place = on_plate(plate, tuple((span.first, span.last) for span in plate.impossible))
            yield Finding("plate_instant", "note", *instants_of(trial, plate), place, side=plate.side)
        if (refused := plate_error(trial, plate, index, case.document)) is not None:
            yield finding_of(TABLES["plate_codes"][refused[0]], refused[1])
    yield from refusal("refused", partial(check_plate_gaps, trial))


@recording_check("plates")
def moment_channels(case: Case) -> Iterator[Finding]:
    """Report plates whose free moment was set to zero, because the channel of their vertical moment is wrong."""
    faults = {plate.moment_fault: plate for plate in case.trial.forces if plate.moment_fault}
    for fault, plate in faults.items():
        yield finding("moment_channel", "warning", {"fault": fault}, on_plate(plate))
