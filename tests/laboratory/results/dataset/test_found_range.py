"""A walk over two plates without [time], files to muscle forces: each leg where it was measured, and nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from command_line import typed
from said import judgement, summary

import musclesolve as ms
from musclesolve.laboratory.results.dataset import frame_validity as frames
from musclesolve.laboratory.results.dataset.checked import checked_result
from musclesolve.laboratory.results.tables.comparison_tables import ComparisonFacts
from musclesolve.studies.many_trials.trial_record import Measures

OF_LEG = (
    "activation",
    "muscle_force",
    "joint_reaction",
    "joint_reaction_net",
    "joint_moment",
    "ground_reaction_force",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("walk")
    ms.studies.synthetic_recording(where, strides=3, steps=("r2", "l2"))
    return where


@pytest.fixture(scope="module")
def result(folder: Path) -> xr.Dataset:
    return ms.run(folder / "trial.toml")


def own(result: xr.Dataset, side: str) -> np.ndarray:
    return ~frames.not_measured(result, side)


def of_side(result: xr.Dataset, name: str, side: str) -> np.ndarray:
    """A variable of one leg, time first."""
    values = result[name]
    for dim in ("dof", "muscle", "joint"):
        if dim in values.dims:
            legs = [
                n
                for n in values[dim].values
                if n.endswith(f"_{side}") and not n.startswith(("shoulder", "elbow", "wrist"))
            ]
            values = values.sel({dim: legs})
    values = values.sel(side=side) if "side" in values.dims else values
    return values.transpose("time", ...).values.reshape(values.sizes["time"], -1)


@pytest.mark.in_part(2)
@pytest.mark.parametrize("side", ["r", "l"])
def test_each_leg_has_numbers_where_it_was_measured_and_none_elsewhere(result, side):
    measured = own(result, side)
    assert 130 < measured.sum() < 160 and (~measured).sum() > 40
    status = result.status.sel(side=side).values
    assert set(status[measured]) <= {ms.Status.SOLVED, ms.Status.SOLVED_WITH_RESERVE}
    assert set(status[~measured]) == {ms.Status.NOT_MEASURED}
    for name in OF_LEG:
        values = of_side(result, name, side)
        assert np.isfinite(values[measured]).all() and np.isnan(values[~measured]).any(axis=1).all(), name
    assert np.isfinite(result.joint_angle.values).all()


def test_the_residual_is_known_where_both_feet_were_measured(result):
    both = own(result, "r") & own(result, "l")
    known = np.isfinite(result.pelvis_residual.values).all(axis=1)
    np.testing.assert_array_equal(known, both)
    assert result.balanced.all()


def test_it_is_a_result_that_did_not_fail_and_says_what_was_analyzed(result):
    assert checked_result(result) is result and judgement(result).complete
    text = summary(result)
    assert "analyzed          right leg: 1.07 to 2.5" in text
    assert "not analyzed (forces not measured)" in text and "WITHOUT VALID" not in text


@pytest.mark.parametrize("side", ["r", "l"])
def test_numbers_are_those_of_a_range_that_is_given(folder, result, side):
    start, end = result.time.values[own(result, side)][[0, -1]]
    text = (folder / "trial.toml").read_text(encoding="utf-8")
    given = folder / f"given_{side}.toml"
    given.write_text(f"{text}\n[time]\nstart_s = {start}\nend_s = {end}\n", encoding="utf-8")
    by_hand = ms.run(given, side=side)
    # The other foot stands beside the plates for a part of the range: only the found one knows.
    answered = frames.solved(by_hand, side)
    assert answered.sum() > 60
    for name, scale in (("muscle_force", 1000.0), ("joint_moment", 50.0), ("joint_reaction", 1000.0)):
        found = of_side(result, name, side)[own(result, side)]
        np.testing.assert_allclose(found[answered], of_side(by_hand, name, side)[answered], atol=1e-5 * scale)


@pytest.mark.parametrize("side", ["r", "l"])
def test_moments_are_the_true_ones(folder, result, side):
    """To what the filter of 6 Hz leaves of them, as where every step is on a plate."""
    truth = xr.open_dataset(folder / "truth.nc")
    measured = result.isel(time=own(result, side))
    dofs = [f"{dof}_{side}" for dof in ("hip_flexion", "hip_adduction", "knee_flexion", "ankle_dorsiflexion")]
    true = truth.joint_moment.sel(dof=dofs).interp(time=measured.time)
    error = measured.joint_moment.sel(dof=dofs) - true
    assert float(np.sqrt((error**2).mean())) < 5.0


def test_check_and_run_end_well(folder, tmp_path):
    checked = typed("check", folder / "trial.toml")
    assert checked.exit_code == 0 and "analyzed" in checked.output
    ran = typed("run", folder / "trial.toml", "-o", tmp_path / "out", "--no-figures", "--side", "r")
    assert ran.exit_code == 0, ran.output
    assert "not analyzed" in ran.output


@pytest.mark.thorough
def test_comparing_and_many_count_only_what_was_analyzed(folder):

    compared = ms.compare(folder / "trial.toml", costs=["stress_cubed", "force_squared"], side="r")
    assert ComparisonFacts(compared).complete
    measures = Measures.from_result(ms.run(folder / "trial.toml", side="r"))
    assert measures.without_solution == 0 and measures.solved + measures.with_reserve < 160
    assert measures.residual_percent < 5.0


@pytest.mark.thorough
def test_uncertainty_is_that_of_the_measured_frames(folder, result):
    spread = ms.studies.uncertainty(
        folder / "trial.toml", samples=3, seed=1, side="r", jobs=1, contributions=False
    )
    known = np.isfinite(spread["muscle_force_sd"].values).all(axis=1)
    measured = own(ms.run(folder / "trial.toml", side="r"), "r")
    assert not known[~measured].any() and known[measured].mean() > 0.9
