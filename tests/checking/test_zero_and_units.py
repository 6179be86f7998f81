"""The zero of the plates in every direction, units of points and markers, and what is no fault of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import musclesolve
from musclesolve.checking.check import check
from musclesolve.checking.forces.plate_signals import LARGEST_ZERO, ZERO
from musclesolve.synthetic.faults.trial_copy import Copy, open_copy, write_copy
from musclesolve.synthetic.recording.synthetic_recording import synthetic_recording

STRIDE = Path(musclesolve.__file__).with_name("data") / "reference_stride" / "trial.toml"


def add(copy: Copy, side: str, force: np.ndarray) -> None:  # type: ignore[type-arg]
    """Add a force (3,) or (S, 3) to what the channels of a plate show; the point is computed from them."""
    for plate in copy.plates(side):  # type: ignore[arg-type]
        copy.set_plate(plate, "force", copy.plate(plate, "force") + force)


@pytest.mark.parametrize(
    ("axis", "side", "sign"), [(0, "r", 1.0), (0, "l", -1.0), (1, "r", -1.0), (1, "l", 1.0), (2, "r", -1.0)]
)
def test_a_wrong_zero_is_found_in_every_direction(axis: int, side: str, sign: float, tmp_path: Path) -> None:
    copy = open_copy(STRIDE)
    add(copy, side, 20.0 * sign * np.eye(3)[axis])
    report = check(write_copy(copy, tmp_path))
    assert set(report.codes) == {"plate_baseline"}, str(report)
    off = f"{20.0 * sign:.1f} N {('forward', 'to the left', 'upwards')[axis]}"
    assert off in report.findings[0].what


@pytest.mark.parametrize(("share", "codes"), [(0.7, set()), (1.3, {"plate_baseline"})])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_the_limit_of_the_zero(axis: int, share: float, codes: set[str], tmp_path: Path) -> None:
    copy = open_copy(STRIDE)
    add(copy, "r", share * ZERO * np.eye(3)[axis])
    assert set(check(write_copy(copy, tmp_path)).codes) == codes


@pytest.mark.parametrize(("share", "told"), [(0.7, True), (1.3, False)])
def test_a_great_force_in_the_swing_is_no_zero(share: float, told: bool, tmp_path: Path) -> None:
    copy = open_copy(STRIDE)
    add(copy, "r", share * LARGEST_ZERO * np.eye(3)[2])
    assert ("plate_baseline" in check(write_copy(copy, tmp_path)).codes) == told


@pytest.mark.parametrize("size", [-30.0, 12.0, 60.0])
def test_a_step_of_the_zero_is_not_blamed_on_the_feet(size: float, tmp_path: Path) -> None:
    copy = open_copy(synthetic_recording(tmp_path / "whole", strides=4, truth=False))
    late = copy.forces.time > np.mean(copy.span)
    add(copy, "r", size * late[:, None] * np.eye(3)[2])
    report = check(write_copy(copy, tmp_path / "spoiled"))
    assert report.codes[:1] == ("plate_drift",), str(report)
    assert not {"force_without_contact", "contact_without_force"} & set(report.codes), str(report)


@pytest.mark.parametrize(("size", "told"), [(7.0, False), (16.0, True), (120.0, True)])
def test_a_drift_is_no_unit(size: float, told: bool, tmp_path: Path) -> None:
    copy = open_copy(synthetic_recording(tmp_path / "whole", strides=3, truth=False))
    add(copy, "l", np.linspace(0.0, size, copy.forces.time.size)[:, None] * np.eye(3)[2])
    report = check(write_copy(copy, tmp_path / "spoiled"))
    assert ("plate_drift" in report.codes) == told, str(report)
    assert "point_units" not in report.codes


@pytest.mark.parametrize(
    ("per_metre", "name"), [(1000.0, "millimetres"), (100.0, "centimetres"), (1 / 0.0254, "inches")]
)
def test_points_are_brought_to_metres_from_their_unit(per_metre: float, name: str, tmp_path: Path) -> None:
    copy = open_copy(STRIDE)
    for plate in copy.plates():
        copy.set_plate(plate, "point", per_metre * copy.plate(plate, "point"))
    report = check(write_copy(copy, tmp_path))
    assert set(report.codes) == {"point_units"}, str(report)
    assert all(f"in {name}" in finding.what for finding in report.of("error"))


@pytest.mark.parametrize("per_metre", [0.001, 1 / 25.4, 1 / 304.8, 1 / 0.0254])
def test_markers_are_brought_to_metres_from_their_unit(per_metre: float, tmp_path: Path) -> None:
    copy = open_copy(STRIDE)
    copy.put(per_metre * copy.walk.position)
    assert copy.static is not None
    copy.put(per_metre * copy.static.position, static=True)
    report = check(write_copy(copy, tmp_path))
    # Five decimals of a millimetre: what is far too small has lost its digits.
    assert report.codes[:1] == ("marker_units",), str(report)
    if per_metre > 0.001:
        assert set(report.codes) == {"marker_units"}, str(report)


@pytest.mark.parametrize(("rate_hz", "marker_set"), [(200.0, "plug_in_gait"), (500.0, "gait2392")])
def test_a_resting_marker_in_whole_millimetres_is_not_frozen(
    marker_set: str, rate_hz: float, tmp_path: Path
) -> None:
    trial = synthetic_recording(
        tmp_path, truth=False, marker_set=marker_set, decimals=0, marker_rate_hz=rate_hz
    )
    assert check(trial).codes == ()
