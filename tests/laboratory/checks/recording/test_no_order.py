"""All checks look at the same recording: none changes it, and their order does not matter."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from examined import found, loaded
from thorough import some

from musclesolve.data import reference_stride
from musclesolve.laboratory.checks.case import Case, examine
from musclesolve.laboratory.checks.check import all_checks
from musclesolve.studies import synthetic_recording


def spoiled() -> Case:
    """The bundled stride with a leap, a wrong zero, another mass and exchanged labels."""
    case = loaded(reference_stride())
    trial = case.trial
    (heel,), (toe,), (knee,) = (trial.mapping[name] for name in ("heel_r", "toe_r", "knee_lateral_l"))
    markers = trial.markers.exchanged({heel: toe}, slice(None))
    position = markers.position.copy()
    position[60:, markers.names.index(knee)] += 0.1
    first, *others = trial.forces
    plates = (replace(first, force=first.force + np.array([0.0, 0.0, 30.0])), *others)
    subject = replace(trial.subject, mass=1.3 * trial.subject.mass)
    markers = replace(markers, position=position)
    return replace(case, trial=replace(trial, markers=markers, forces=plates, subject=subject))


def test_the_order_of_checks_does_not_matter_and_none_changes_the_recording() -> None:
    case = spoiled()
    before = [case.trial.markers.position.copy(), *(plate.force.copy() for plate in case.trial.forces)]
    one, other = examine(case, all_checks()), examine(case, all_checks()[::-1])
    assert {str(entry) for entry in one} == {str(entry) for entry in other}
    assert {"labels_exchanged", "leap", "plate_baseline", "mass"} <= {entry.code for entry in one}
    after = [case.trial.markers.position, *(plate.force for plate in case.trial.forces)]
    for kept, now in zip(before, after, strict=True):
        np.testing.assert_array_equal(kept, now)


def test_each_fault_is_found_beside_the_others() -> None:
    whole = {entry.code for entry in found(spoiled())}
    assert "check_failed" not in whole


def test_every_check_is_described_and_relies_on_known_facts() -> None:
    for check in all_checks():
        assert check.detect.__doc__ and check.needs <= {"up", "forward", "plates", "mapping", "upright"}


@pytest.mark.parametrize(
    "options",
    some(
        [
            {"noise_mm": 1.2, "force_noise_n": 2.0},
            {"marker_set": "plug_in_gait", "forward": "-y", "up": "+x"},
            {"marker_set": "silva_2003", "decimals": 0},
        ],
        1,
    ),
)
def test_a_sound_recording_has_no_finding(options: dict[str, object], tmp_path) -> None:
    assert not found(loaded(synthetic_recording(tmp_path, truth=False, **options)))
