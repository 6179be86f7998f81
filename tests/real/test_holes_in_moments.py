"""Holes planted in the moments and ground reactions of the recorded walk: no force is made up in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from thorough import some

import musclesolve as ms
from musclesolve import Status
from musclesolve.tables import Table

SHORT, LONG = (1, 2), (3, 5, 30)
"""Rows of 10 ms: 6 Hz has a period of 167 ms, of which a fifth is filled."""


@pytest.fixture(scope="module")
def model(recorded_walk: Path):
    return ms.read_osim(recorded_walk / "reference" / "rajagopal_lai_uhlrich_2023_scaled.osim")


@pytest.fixture(scope="module")
def share(recorded_walk: Path, model) -> Callable[..., xr.Dataset]:
    return lambda moments=None, **more: ms.share_model(
        model, recorded_walk / "reference" / "opensim_ik.mot", moments, **more
    )


@pytest.fixture(scope="module")
def moments(recorded_walk: Path) -> Table:
    return ms.tables.read_mot(recorded_walk / "reference" / "opensim_id.sto")


@pytest.fixture(scope="module")
def whole(share: Callable[..., xr.Dataset], moments: Table) -> xr.Dataset:
    return share(moments)


def empty_cells(path: Path, table: Table, rows: np.ndarray) -> None:
    """As nan, or as nothing between two tabs, in turn."""
    values = table.values.copy()
    values[rows] = np.nan
    ms.tables.write_mot(path, replace(table, values=values))


def missing_rows(path: Path, table: Table, rows: np.ndarray) -> None:
    kept = np.setdiff1d(np.arange(len(table.time)), rows)
    ms.tables.write_mot(path, replace(table, time=table.time[kept], values=table.values[kept]))


@pytest.mark.in_part(2)
@pytest.mark.parametrize(
    ("plant", "count"),
    some([(plant, count) for count in (*SHORT, *LONG) for plant in (empty_cells, missing_rows)], 3),
)
def test_frames_in_a_hole(
    share: Callable[..., xr.Dataset],
    moments: Table,
    whole: xr.Dataset,
    tmp_path: Path,
    plant: Callable[..., None],
    count: int,
) -> None:
    """In a long one they are not measured; beside it, and in a short one, forces are those of the whole file."""
    rows = np.concatenate([first + np.arange(count) for first in (20, 75)])
    plant(tmp_path / "id.sto", moments, rows)
    found = share(tmp_path / "id.sto")
    np.testing.assert_allclose(found["time"], whole["time"])
    inside = np.isin(np.arange(found.sizes["time"]), rows)
    apart = np.abs(found["muscle_force"] - whole["muscle_force"]).values
    assert apart[~inside].max() < 1e-3 and (found["status"][~inside] == int(Status.SOLVED)).all()
    notes = [note for note in np.atleast_1d(found.attrs["notes"]) if "id.sto lacks" in note]
    if count in SHORT:
        assert (found["status"] == int(Status.SOLVED)).all() and apart[inside].max() < 15.0 and not notes
    else:
        assert (found["status"][inside] == int(Status.NOT_MEASURED)).all() and not found["valid"][
            inside
        ].any()
        assert np.isnan(found["muscle_force"][inside]).all() and np.isnan(found["joint_moment"][inside]).all()
        assert len(notes) == 1 and "hip_flexion_r_moment" in notes[0] and " in all)" in notes[0]


@pytest.mark.thorough
def test_a_hole_of_one_column_concerns_its_leg_alone(
    share: Callable[..., xr.Dataset], moments: Table, whole: xr.Dataset
) -> None:
    values = moments.values.copy()
    values[40:60, moments.names.index("knee_angle_l_moment")] = np.nan
    for tendon, first, last in (("rigid", 0, None), ("elastic", 25, 75)):
        time = whole["time"].values[slice(first, last)]
        found = share(replace(moments, values=values), tendon=tendon, start_s=time[0], end_s=time[-1])
        lost = (found["status"] == int(Status.NOT_MEASURED)).values
        assert found.sizes["time"] == time.size and not lost[:, 0].any()
        assert (first + np.flatnonzero(lost[:, 1])).tolist() == list(range(40, 60))
        assert (found["status"].values[~lost] == int(Status.SOLVED)).all()


def test_a_file_without_a_number_is_refused(share: Callable[..., xr.Dataset], moments: Table) -> None:
    with pytest.raises(ms.InputError) as refused:
        share(replace(moments, values=np.full_like(moments.values, np.nan)))
    assert refused.value.code == "missing_samples" and len(str(refused.value)) < 500


@pytest.fixture(scope="module")
def plain(share: Callable[..., xr.Dataset], recorded_walk: Path) -> xr.Dataset:
    return share(loads=recorded_walk / "walk_grf.mot", start_s=0.6, end_s=1.4)


@pytest.mark.in_part(2)
@pytest.mark.parametrize("count", [20, 60, 100, 600])
def test_missing_rows_of_ground_reactions(
    share: Callable[..., xr.Dataset], plain: xr.Dataset, recorded_walk: Path, tmp_path: Path, count: int
) -> None:
    """0.5 ms each, in the middle of double support: 10 and 30 ms are filled, 50 and 300 ms are not measured."""
    table = ms.tables.read_mot(recorded_walk / "walk_grf.mot")
    first = int(np.searchsorted(table.time, 0.95))
    missing_rows(tmp_path / "grf.mot", table, first + np.arange(count))
    found = share(loads=tmp_path / "grf.mot", start_s=0.6, end_s=1.4)
    time = found["time"].values
    inside = (time > table.time[first - 1] + 1e-6) & (time < table.time[first + count] - 1e-6)
    apart = np.abs(found["muscle_force"] - plain["muscle_force"]).values
    assert inside.any() and apart[~inside].max() < 1e-3
    if count <= 60:
        assert (found["status"] == int(Status.SOLVED)).all() and apart[inside].max() < 50.0
        return
    assert (found["status"][inside] == int(Status.NOT_MEASURED)).all()
    assert (found["status"][~inside] == int(Status.SOLVED)).all()
    for name in ("muscle_force", "joint_moment", "joint_reaction", "joint_reaction_net", "external_force"):
        assert np.isnan(found[name][inside]).all(), name
    assert np.isfinite(found.attrs["root_residual_n"])
    assert any("grf.mot lacks rows" in note for note in found.attrs["notes"])
