"""Files are recognized by their content, and put together by trial."""

from __future__ import annotations

import pytest
import xarray as xr
from refusals import refused
from report_inputs import compared, small, uncertain, with_emg, written

from musclesolve.laboratory import cycles
from musclesolve.laboratory.report import inputs as given
from musclesolve.laboratory.report.inputs import read_inputs
from musclesolve.laboratory.results.cycles.cycle_averages import average_results


def test_kinds_are_recognized_by_content_in_any_order(tmp_path):
    data = small()
    paths = [
        written(compared(data), tmp_path, "a.nc"),
        written(uncertain(data), tmp_path, "b.nc"),
        written(data, tmp_path, "c.nc"),
    ]
    averaged = written(average_results([paths[2]]), tmp_path, "d.nc")
    found = read_inputs([averaged, *paths])
    assert [source.kind for source in found.sources] == ["average", "comparison", "uncertainty", "result"]
    (trial,) = found.trials
    assert trial.origin == given.RESULT
    assert trial.uncertainty is not None and trial.comparison is not None
    assert [source.path.name for source in found.averages] == ["d.nc"]


def test_what_is_of_another_recording_stays_apart(tmp_path):
    other = small(inputs=["markers other.trc sha256:ff"])
    paths = [written(small(), tmp_path, "a.nc"), written(uncertain(other), tmp_path, "b.nc")]
    assert [trial.origin for trial in read_inputs(paths).trials] == ["result", "uncertainty"]


def test_uncertainty_of_another_cost_is_not_shown_with_a_result(tmp_path):
    paths = [
        written(small(), tmp_path, "a.nc"),
        written(uncertain(small(cost="force_squared")), tmp_path, "b.nc"),
    ]
    assert len(read_inputs(paths).trials) == 2


def test_a_comparison_alone_shows_its_first_cost(tmp_path):
    (trial,) = read_inputs([written(compared(with_emg(small())), tmp_path, "a.nc")]).trials
    assert trial.origin == given.COMPARISON
    assert "cost" not in trial.base.dims and trial.base.attrs["cost"] == "activation_volume"
    xr.testing.assert_allclose(trial.base["muscle_force"], small()["muscle_force"].drop_attrs())


def test_a_file_named_twice_counts_once(tmp_path):
    path = written(small(), tmp_path, "a.nc")
    assert len(read_inputs([path, path, tmp_path / "." / "a.nc"]).trials) == 1


def test_a_damaged_file_beside_a_good_one_is_left_out(tmp_path):
    path = written(small(), tmp_path, "a.nc")
    (tmp_path / "b.nc").write_bytes(path.read_bytes()[:2000])
    found = read_inputs([tmp_path / "b.nc", path])
    assert [path.name for path in found.unreadable] == ["b.nc"]
    assert len(found.trials) == 1


def test_what_cannot_be_a_report_is_refused(tmp_path):
    (tmp_path / "b.nc").write_bytes(b"no NetCDF")
    with refused("bad_format"):
        read_inputs([tmp_path / "b.nc"])
    with refused("missing_file"):
        read_inputs([written(small(), tmp_path, "a.nc"), tmp_path / "none.nc"])
    with refused("missing_argument", "report"):
        read_inputs([])
    with refused("bad_result"):
        read_inputs([written(xr.Dataset({"a": ("x", [1.0])}), tmp_path, "c.nc")])


@pytest.mark.parametrize("dropped", ["status", "muscle"])
def test_gait_cycles_and_parts_of_results_are_no_result(tmp_path, dropped):
    data = cycles(small(), "r", strides=True) if dropped == "muscle" else small().drop_vars("status")
    with refused("bad_result"):
        read_inputs([written(data, tmp_path, "a.nc")])


def test_a_file_with_two_muscles_of_one_name_is_refused(tmp_path):
    data = small()
    twice = [data["muscle"].values[0], *data["muscle"].values[:-1]]
    file = written(data.assign_coords(muscle=twice), tmp_path, "twice.nc")
    with refused("bad_result", "muscle", str(twice[0])):
        read_inputs([file])


def test_a_leg_without_status_or_a_status_without_names_is_refused(tmp_path):
    nameless = small()
    nameless["status"].attrs.clear()
    with refused("bad_result", "status"):
        read_inputs([written(nameless, tmp_path, "a.nc")])
    with refused("bad_result", "side"):
        read_inputs([written(small().sel(side=["r"]), tmp_path, "b.nc")])
