"""Truth recovered: from cameras through filter, consistent motion and inverse dynamics to the moments that were.

Measure: root mean square error of a joint moment over a stride, as a share of the largest magnitude of the true moment.
"""

import numpy as np
import pytest

from musclesolve import read_trial
from musclesolve.dynamics import projected_moments
from musclesolve.laboratory.forces import mechanics
from musclesolve.studies import synthetic_recording
from musclesolve.studies.synthetic import reference_stride

DOFS = [
    f"{dof}_{side}"
    for dof in ("hip_flexion", "hip_adduction", "knee_flexion", "ankle_dorsiflexion")
    for side in "rl"
]


def columns(names):
    return [list(names).index(dof) for dof in DOFS]


def recovered(folder, **options):
    """Trial and its mechanics, true moments (T, 8) and recovered ones, of a synthetic recording."""
    trial = read_trial(synthetic_recording(folder, truth=False, **options))
    found, stride = mechanics(trial), reference_stride()
    moments = projected_moments(found.model, found.motion, found.wrenches)
    true = stride.joint_moments(found.motion.time - trial.time_range[0])
    names = found.model.topology.dof_names
    return trial, found, true[:, columns(stride.dof_names)], moments[:, columns(names)]


def errors(true, found):
    """Root mean square and largest error of each moment, per cent of its peak."""
    off, peak = found - true, np.abs(true).max(axis=0)
    return 100 * np.sqrt(np.mean(off**2, axis=0)) / peak, 100 * np.abs(off).max(axis=0) / peak


def marker_error(trial):
    """Root mean square error of a marker coordinate [mm]."""
    true = reference_stride().markers(trial.markers.time - trial.time_range[0])
    return 1000 * np.sqrt(np.mean((trial.markers.position - true) ** 2))


def test_without_noise_from_the_pixels_of_four_cameras(tmp_path):
    """Here: at most 0.3 % and 3.3 %, at the knee at heel strike."""
    trial, _, true, found = recovered(tmp_path, cameras=4, cutoff_hz="residual_analysis")
    assert marker_error(trial) < 1e-3
    rms, largest = errors(true, found)
    assert rms.max() < 2.0
    assert largest.max() < 5.0


@pytest.mark.in_part(2)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_with_three_millimeters_of_noise_from_the_pixels_of_four_cameras(tmp_path, seed):
    """100 frames a second, one pixel of noise, which is 3 mm; the recording chooses the cut-offs of its markers.

    Here: hip 3 to 5 %, knee 3 to 4 %, ankle 1 % rms; 14 % at one instant.
    """
    trial, _, true, found = recovered(
        tmp_path, cameras=4, noise_px=1.07, cutoff_hz="residual_analysis", force_cutoff_hz=20.0, seed=seed
    )
    assert marker_error(trial) == pytest.approx(3.0, abs=0.15)
    rms, largest = errors(true, found)
    assert rms.max() < 8.0
    assert largest.max() < 20.0


def test_with_three_millimeters_of_noise_on_the_markers_and_one_filter_for_all(tmp_path):
    """Forces filtered like the feet: below 8 % at 200 frames a second; 100 give up to 9 % at the knee."""
    trial, _, true, found = recovered(
        tmp_path, noise_mm=3.0, marker_rate_hz=200.0, cutoff_hz="residual_analysis", seed=1
    )
    assert marker_error(trial) == pytest.approx(3.0, abs=0.1)
    assert errors(true, found)[0].max() < 8.0


def test_what_the_error_at_knee_and_ankle_comes_from(tmp_path):
    """It is the filter of the forces where they get the low cut-off of the feet's markers."""
    options = {"noise_mm": 3.0, "cutoff_hz": "residual_analysis", "seed": 1}
    _, _, true, alike = recovered(tmp_path / "alike", **options)
    _, _, _, apart = recovered(tmp_path / "apart", force_cutoff_hz=20.0, **options)
    before, after = errors(true, alike)[0], errors(true, apart)[0]
    assert (after[4:] < 0.6 * before[4:]).all()
    assert (after < 1.1 * before).all()


def test_skin_that_slides_costs_less_than_noise_of_its_size(tmp_path):
    """It is slow: 3 mm of it leave the accelerations nearly alone, and no filter can see it."""
    _, _, true, found = recovered(tmp_path, noise_mm=3.0, noise="skin", cutoff_hz="residual_analysis", seed=2)
    assert errors(true, found)[0].max() < 6.0


@pytest.mark.parametrize(
    ("marker_set", "most"),
    [
        ("silva_2003", 2.0),
        ("rajagopal", 2.5),
        ("plug_in_gait", 14.0),
        ("helen_hayes", 14.0),
        ("gait2392", 14.0),
    ],
)
def test_marker_sets(tmp_path, marker_set, most):
    """Where a regression places the hips, on this person 15 mm ahead, hip flexion is wrong by 12 % of its peak."""
    trial, _, true, found = recovered(tmp_path, marker_set=marker_set, cutoff_hz=15.0)
    assert trial.hip_method == ("mapped" if most < 3.0 else "harrington_2007")
    assert errors(true, found)[0].max() < most
