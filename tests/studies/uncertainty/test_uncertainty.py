"""Monte Carlo over the sources of error: reproducible, zero where nothing errs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from refusals import refused
from replays import NO_ERRORS
from stored_results import write_result
from synthetic_result import few_muscles

import musclesolve as ms
from musclesolve import read_result, read_trial
from musclesolve.data import reference_stride
from musclesolve.laboratory import Trial
from musclesolve.laboratory.plotting.figure_names import pages_of
from musclesolve.laboratory.plotting.page.page_style import figures_of
from musclesolve.laboratory.results.dataset.frame_validity import MUSCLE_WORDS

FEW = {"soft_tissue_mm": 0.0, "marker_placement_mm": 0.0, "muscle_path_mm": 0.0}
"""Without the sources of many parameters derivatives are computed in no time."""


@pytest.fixture(scope="module")
def trial() -> Trial:
    return replace(read_trial(reference_stride()), time_range=(0.55, 0.75))


@pytest.fixture(scope="module")
def found(trial: Trial):
    return ms.studies.uncertainty(trial, samples=6, seed=3, sd=FEW, side="r", jobs=1)


def test_without_errors_there_is_no_spread(trial: Trial) -> None:
    found = ms.studies.uncertainty(trial, samples=3, sd=NO_ERRORS, side="r", jobs=1)
    for name in ("muscle_force", "contact_force", "joint_moment", "contact_force_peak"):
        assert (found[f"{name}_sd"] == 0.0).all()
        assert (found[f"{name}_mean"] == found[name]).all()
        assert (found[f"{name}_quantile"] == found[name]).all()


@pytest.mark.usefixtures("in_processes")
def test_the_seed_alone_decides(trial: Trial, found) -> None:
    again = ms.studies.uncertainty(trial, samples=6, seed=3, sd=FEW, side="r", jobs=2)
    # code that a process compiled itself and code from the cache of numba differ by round-off
    xr.testing.assert_allclose(again, found, rtol=1e-9, atol=1e-12)
    assert repr(again.attrs) == repr(found.attrs)
    other = ms.studies.uncertainty(trial, samples=2, seed=4, side="r", contributions=False, jobs=1)
    assert other.attrs["seed"] == 4
    assert not np.array_equal(other["muscle_force_mean"], found["muscle_force_mean"])


@pytest.mark.parametrize("database", ["silva_2003", "gait2392", "rajagopal_2023"])
def test_paths_alone(trial: Trial, database: str) -> None:
    """The spread of the samples is that of the derivatives, as far as twelve samples tell.

    But not where a muscle begins on a surface that it wraps: the medial gastrocnemius of rajagopal_2023 begins a
    fraction of a millimeter outside of the cylinder of the condyles, and a point inside of one does not wrap it.
    """
    other = replace(trial.with_settings(muscles={"database": database}), time_range=(0.6, 0.66))
    sd = NO_ERRORS | {"muscle_path_mm": 1.0}
    found = ms.studies.uncertainty(other, samples=12, seed=1, sd=sd, side="r", jobs=1)
    assert found.attrs["failed_samples"] == 0 and found["valid_samples"].max() == 12
    for name in ("contact_force", "muscle_force"):
        sampled, expected = (float(np.square(found[f"{name}_{of}"]).sum()) for of in ("sd", "first_order_sd"))
        assert 0.75 < np.sqrt(sampled / expected) < (3.0 if database == "rajagopal_2023" else 1.33)
        share = found[f"{name}_contribution"]
        assert float(share.sel(source="muscle_path").max()) > 0.0
        assert float(share.sel(source="strength").max()) == 0.0


def test_words_on_the_muscles_are_variables(found) -> None:
    assert {*MUSCLE_WORDS[:2]} <= {*found.data_vars} and found["short_name"].dims == ("muscle",)
    assert {*found["muscle_force_sd"].coords} == {"muscle", "time"}
    assert found["muscle_force_sd"].groupby(found["group"]).sum().sizes["group"] > 1


def test_what_errs_spreads(found) -> None:
    assert (found["joint_moment_sd"].max("time") > 0.01).all()
    low, middle, high = (found["muscle_force_quantile"].sel(quantile=q) for q in (0.025, 0.5, 0.975))
    assert ((low <= middle) & (middle <= high)).all()
    assert found["valid_samples"].max() == 6
    assert ((found["reserve_share"] >= 0.0) & (found["reserve_share"] <= 1.0)).all()
    assert found.attrs["failed_samples"] == 0


def test_plates_cannot_change_the_angles(trial: Trial) -> None:
    found = ms.studies.uncertainty(trial, 3, sd=NO_ERRORS | {"center_of_pressure_mm": 5.0}, side="r", jobs=1)
    assert (found["joint_angle_sd"] == 0.0).all()
    assert (found["joint_moment_sd"].sel(dof="ankle_dorsiflexion_r").max()) > 1.0


@pytest.mark.thorough
def test_it_is_kept_in_a_file_and_drawn(found, tmp_path) -> None:
    write_result(found, tmp_path / "uncertainty.nc")
    read = read_result(tmp_path / "uncertainty.nc")
    assert (read["muscle_force_sd"] == found["muscle_force_sd"]).all()
    figures = figures_of(few := few_muscles(read), pages_of(few, "uncertainty"))
    assert all(content.startswith(b"\x89PNG") for content in figures.values())


@pytest.mark.parametrize("wrong", [{"samples": 1}, {"samples": 2.5}, {"seed": -1}, {"jobs": 0}])
def test_numbers_that_cannot_be_are_refused(trial: Trial, wrong: dict[str, object]) -> None:
    with refused("bad_number", next(iter(wrong))):
        ms.studies.uncertainty(trial, **({"samples": 2} | wrong))  # type: ignore[arg-type]


def test_another_word_than_fast_is_refused(trial: Trial) -> None:
    with refused("bad_number", "'slow'", "'fast'"):
        ms.studies.uncertainty(trial, "slow")
