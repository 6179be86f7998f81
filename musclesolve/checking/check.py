"""The questions asked of a recording, and ``check``, which asks them all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from musclesolve.checking.analysis.analysed_range import analysed_range, find_time_range
from musclesolve.checking.analysis.analysis_refusals import (
    filter_cutoff,
    named_options,
    refusal,
    refusals_of_reading,
    refused_plates,
)
from musclesolve.checking.analysis.measured_anatomy import measured_anatomy
from musclesolve.checking.case.case import Case, finding_of
from musclesolve.checking.case.containment import contained
from musclesolve.checking.case.loading import load
from musclesolve.checking.files.file_axes_check import (
    forward_axis,
    vertical_axes_of_forces,
    vertical_axis,
    vertical_axis_when_standing,
)
from musclesolve.checking.files.subject_check import body_mass, unusual_values
from musclesolve.checking.files.time_base import (
    copied_frames,
    durations,
    lost_frames,
    sample_times,
    sampling_rates,
)
from musclesolve.checking.files.unit_scale import force_units, marker_units, point_and_moment_units
from musclesolve.checking.finding import Finding, Report, sorted_findings
from musclesolve.checking.forces.center_of_pressure import displaced_plates, pressure_outside_sole
from musclesolve.checking.forces.foot_contact_forces import contacts_and_forces
from musclesolve.checking.forces.plate_axes import horizontal_axes, pressure_direction
from musclesolve.checking.forces.plate_signals import clipped_peaks, plate_sides, plate_zero
from musclesolve.checking.forces.synchrony import synchrony
from musclesolve.checking.markers.anatomical_order import landmark_order
from musclesolve.checking.markers.label_exchanges import (
    labels_exchanged_at_crossings,
    labels_exchanged_between_gaps,
    labels_exchanged_throughout,
)
from musclesolve.checking.markers.left_right_labels import front_spines, pairs_of_landmarks, sides_swapped
from musclesolve.checking.markers.marker_slips import noise_for_a_while, segment_lengths, slips_and_ghosts
from musclesolve.checking.markers.pelvis_labels import front_and_back
from musclesolve.checking.markers.standing_trial import moved_markers, size_when_standing
from musclesolve.checking.markers.trajectories import (
    fill_and_complete,
    gaps,
    held_samples,
    jumps,
    merged_markers,
    noise,
    remove_and_fill_jumps,
)
from musclesolve.checking.stages import Check, Stage, examine
from musclesolve.errors import InputError

# In any order: the stage of a check says what is repaired before it looks.
CHECKS = (
    Check(sample_times, Stage.SAMPLE_TIMES),
    Check(copied_frames, Stage.COPIED_FRAMES),
    Check(lost_frames, Stage.LOST_FRAMES),
    Check(sampling_rates, Stage.UNITS),
    Check(marker_units, Stage.UNITS),
    Check(force_units, Stage.UNITS),
    Check(point_and_moment_units, Stage.UNITS_OF_POINTS),
    Check(front_and_back, Stage.PELVIS_LABELS),
    Check(vertical_axis, Stage.VERTICAL_AXIS),
    Check(forward_axis, Stage.FORWARD_AXIS),
    Check(vertical_axis_when_standing, Stage.OTHER_VERTICAL_AXES),
    Check(vertical_axes_of_forces, Stage.OTHER_VERTICAL_AXES),
    Check(sides_swapped, Stage.SIDES),
    Check(size_when_standing, Stage.SIZE_WHEN_STANDING),
    Check(labels_exchanged_throughout, Stage.LABELS_THROUGHOUT),
    Check(labels_exchanged_at_crossings, Stage.LABELS_AT_CROSSINGS),
    Check(labels_exchanged_between_gaps, Stage.LABELS_BETWEEN_GAPS),
    Check(front_spines, Stage.FRONT_SPINES),
    Check(pairs_of_landmarks, Stage.PAIRS_OF_LANDMARKS),
    Check(landmark_order, Stage.LANDMARK_ORDER),
    Check(noise, Stage.HELD_SAMPLES),
    Check(held_samples, Stage.HELD_SAMPLES),
    Check(gaps, Stage.GAPS),
    Check(merged_markers, Stage.MERGED_MARKERS),
    Check(jumps, Stage.JUMPS),
    Check(slips_and_ghosts, Stage.SLIPS),
    Check(noise_for_a_while, Stage.SLIPS),
    Check(segment_lengths, Stage.SLIPS),
    Check(moved_markers, Stage.STANDING_PLACES),
    Check(clipped_peaks, Stage.PLATES),
    Check(plate_sides, Stage.PLATES),
    Check(synchrony, Stage.SYNCHRONY),
    Check(plate_zero, Stage.PLATE_ZERO),
    Check(horizontal_axes, Stage.PLATE_AXES),
    Check(pressure_direction, Stage.PRESSURE_DIRECTION),
    # Axes that are wrong hide a shift.
    Check(synchrony, Stage.SYNCHRONY_IN_RIGHT_AXES),
    Check(analysed_range, Stage.PLATE_POSITION),
    Check(durations, Stage.PLATE_POSITION),
    Check(displaced_plates, Stage.PLATE_POSITION),
    Check(contacts_and_forces, Stage.SUPPORT),
    Check(pressure_outside_sole, Stage.SUPPORT),
    Check(body_mass, Stage.SUPPORT),
    Check(unusual_values, Stage.SUPPORT),
    Check(filter_cutoff, Stage.SUPPORT),
    Check(named_options, Stage.SUPPORT),
    Check(refusals_of_reading, Stage.ANALYSIS),
    Check(refused_plates, Stage.ANALYSIS),
    Check(measured_anatomy, Stage.ANATOMY),
)
# What is done with the recording before the checks of a stage look at it.
PREPARE: Mapping[Stage, Callable[[Case], Case]] = {
    # Gaps end the time range; axes and sides that are wrong would hide the contacts that do.
    Stage.HELD_SAMPLES: find_time_range,
    Stage.MERGED_MARKERS: fill_and_complete,
    Stage.SLIPS: remove_and_fill_jumps,
    # The forces are right by now.
    Stage.PLATE_POSITION: find_time_range,
}


def check(path: str | Path) -> Report:
    """Examine a trial file and the recordings it names, and report everything that is wrong with them.

    Nothing is computed that a result would need; nothing is changed on disk. A fault that is found is repaired in
    memory, so that what follows from it is not reported as a fault of its own.

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
            code="bad_type",
            where="check",
            expected="the path of a trial file",
            remedy='check("trial.toml")',
        )
    path = Path(path)
    findings = findings_of(path)
    if not any(finding.severity == "error" for finding in findings):
        with contained(findings, "measuring of the recording as it is"):
            refused = refusal(path)
            if refused is not None:
                findings.append(finding_of("refused", refused))
    return Report(path, sorted_findings(findings))


def findings_of(path: Path, checks: Iterable[Check] = CHECKS) -> list[Finding]:
    """Return what some checks find, in any order of them; one that fails is a finding too."""
    failed: list[Finding] = []
    with contained(failed, "reading of the recording"):
        case, findings = load(path)
        return findings if case is None else list(examine(case, checks, PREPARE).findings)
    return failed
