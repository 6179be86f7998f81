"""The linter: every check in the order in which faults cause each other, each on what the ones before have mended."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from musclesolve.checking.case.analysis_checks import (
    cutoff,
    measured_anatomy,
    options,
    own_checks,
    own_plate_checks,
    refusal,
)
from musclesolve.checking.case.case import Case, finding_of
from musclesolve.checking.case.containment import attempt, contained
from musclesolve.checking.case.loading import load
from musclesolve.checking.case.range_report import analysed, found_range
from musclesolve.checking.files.file_axes_check import all_axes
from musclesolve.checking.files.subject_check import all_of_person
from musclesolve.checking.files.time_base import all_of_time, durations
from musclesolve.checking.files.unit_scale import all_units
from musclesolve.checking.finding import Finding, Report, sorted_findings
from musclesolve.checking.forces.center_of_pressure import displacement, outside
from musclesolve.checking.forces.foot_contact_forces import all_contacts
from musclesolve.checking.forces.plate_axes import horizontal_axes
from musclesolve.checking.forces.plate_signals import baseline, clipping, ownership
from musclesolve.checking.forces.synchrony import synchrony
from musclesolve.checking.markers.anatomical_order import all_order
from musclesolve.checking.markers.label_exchanges import all_exchanges
from musclesolve.checking.markers.left_right_labels import single_pairs, whole_sides
from musclesolve.checking.markers.marker_slips import all_lengths
from musclesolve.checking.markers.pelvis_labels import front_and_back
from musclesolve.checking.markers.standing_trial import all_standing, another_person
from musclesolve.checking.markers.trajectories import all_trajectories
from musclesolve.errors import InputError

CHECKS: tuple[Callable[[Case], None], ...] = (
    all_of_time,
    all_units,
    # Before the axes, which are read from the pelvis.
    front_and_back,
    all_axes,
    whole_sides,
    another_person,
    all_exchanges,
    single_pairs,
    all_order,
    # Gaps end the time range; axes and sides that are wrong would hide the contacts that do.
    found_range,
    all_trajectories,
    all_lengths,
    all_standing,
    clipping,
    ownership,
    # Before the zero of the plates, which is looked for while a foot swings; axes that are wrong hide a shift, so
    # it is looked for again once they are right.
    synchrony,
    baseline,
    horizontal_axes,
    synchrony,
    # The forces are right by now.
    found_range,
    analysed,
    # A shift of the forces makes them begin and end at other times: that is no fault of its own.
    durations,
    displacement,
    all_contacts,
    outside,
    all_of_person,
    cutoff,
    options,
    own_checks,
    own_plate_checks,
    measured_anatomy,
)


def check(path: str | Path) -> Report:
    """Examine a trial file and the recordings it names, and tell everything that is wrong with them.

    Nothing is computed that a result would need; nothing is changed on disk. A fault that is found is mended in
    memory, so that what follows from it is not told as a fault of its own.

    Args:
        path: the trial file.

    Returns:
        The findings. At least one is an error whenever ``read_trial`` or ``run`` would refuse the recording.

    Raises:
        InputError: the argument is no path.
    """
    if not isinstance(path, str | Path):
        raise InputError(
            f"{path!r} is not a path",
            where="check",
            expected="the path of a trial file",
            remedy='check("trial.toml")',
        )
    path = Path(path)
    findings = _examined(path)
    if not any(finding.severity == "error" for finding in findings):
        with contained(findings, "measuring of the recording as it is"):
            refused = refusal(path)
            if refused is not None:
                findings.append(finding_of("refused", refused))
    return Report(path, sorted_findings(findings))


def _examined(path: Path) -> list[Finding]:
    """Return what every check finds; one that fails is a finding too."""
    failed: list[Finding] = []
    with contained(failed, "reading of the recording"):
        case, findings = load(path)
        if case is not None:
            attempt(case, *CHECKS)
        return findings
    return failed
