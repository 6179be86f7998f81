"""The result of sharing on an OpenSim model: variables of `run`, verdicts by side, the problem again, files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from said import judgement, summary
from small_model import save_model
from small_model_motion import DOFS, feasible_moments, small_motion
from stored_results import write_result

from musclesolve import leg_problem, read_osim, read_result, solve
from musclesolve.laboratory.plotting import save_figures
from musclesolve.laboratory.results.dataset import frame_validity as frames
from musclesolve.laboratory.results.dataset.checked import checked_result
from musclesolve.laboratory.results.dataset.result_quantities import identity
from musclesolve.laboratory.run_trial import share_model

DRAWN = {"activations", "muscle_forces", "joint_powers", "coordinates_and_moments", "reserves"}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> xr.Dataset:
    small = read_osim(save_model(tmp_path_factory.mktemp("small")))
    moments = feasible_moments(small)
    return share_model(small, small_motion(small), moments, "activation_power", dofs=DOFS, passive="table")


def test_forces_and_passive_forces_give_the_moments(shared: xr.Dataset) -> None:
    force = shared["activation"] * shared["force_capacity"] + shared["passive_force"]
    np.testing.assert_allclose(shared["muscle_force"], force)
    produced = (shared["moment_arm"] * shared["muscle_force"]).sum("muscle") + shared["reserve_moment"]
    np.testing.assert_allclose(produced.transpose("time", "dof"), shared["joint_moment"], atol=1e-5)


def test_every_variable_has_a_unit(shared: xr.Dataset) -> None:
    assert all(shared[name].attrs["units"] for name in shared.data_vars)
    assert shared["group"].values.tolist() == ["hip", "ankle", "ankle"]
    assert shared["side"].values.tolist() == ["r"] and judgement(shared).complete


def test_it_says_that_tendons_are_rigid(shared: xr.Dataset) -> None:
    assert (shared.attrs["tendon"], list(shared.attrs["tendon_strain"])) == ("rigid", [])
    assert any(str(note).endswith("tendons rigid.") for note in shared.attrs["notes"])
    assert "tendons" not in identity(shared) and "tendons elastic" in identity(
        shared.assign_attrs(tendon="elastic")
    )


def test_its_problem_has_its_solution(shared: xr.Dataset) -> None:
    again = solve(leg_problem(shared, "r"), "activation_power")
    np.testing.assert_allclose(again.activation, shared["activation"], atol=2e-5)


def test_it_is_written_and_read(shared: xr.Dataset, tmp_path: Path) -> None:
    write_result(shared, tmp_path / "result.nc")
    read = checked_result(read_result(tmp_path / "result.nc"))
    np.testing.assert_array_equal(read["activation"], shared["activation"])
    assert summary(read) == summary(shared)


@pytest.mark.thorough
def test_muscles_without_a_side(tmp_path: Path) -> None:
    """All names without _r: one side, `other`."""
    from small_model import TEXT

    plain = read_osim(save_model(tmp_path, TEXT.replace('_r"', '"').replace("_r<", "<").replace("_r/", "/")))
    motion = {"time": np.linspace(0.0, 1.0, 61)}
    motion |= {name: 0.3 + 0.1 * np.sin(6.0 * motion["time"]) for name in plain.coordinates if name != "beta"}
    result = share_model(plain, motion, {"hip_a": np.full(61, 5.0)}, dofs=["hip_a"], reserve_weight=1.0)
    assert checked_result(result)["side"].values.tolist() == ["other"]
    assert "muscles  " in summary(result)
    assert {path.stem for path in save_figures(result, tmp_path / "figures")} >= DRAWN


@pytest.mark.thorough
def test_what_the_trunk_lacks_is_not_said_of_the_leg(tmp_path: Path) -> None:
    """A coordinate of no side with a muscle of a side: its verdict, its reserves and its reasons stand apart."""
    from small_model import TEXT

    model = read_osim(save_model(tmp_path, TEXT.replace("hip_a_r", "trunk")))
    motion = small_motion(model)
    moments = {"trunk": np.full(61, 1e4), "ankle_a_r": np.zeros(61)}
    choices = {"dofs": ["trunk", "ankle_a_r"], "passive": "none", "least_activation": 0.0}
    result = checked_result(share_model(model, motion, moments, **choices))
    assert frames.sides(result) == ["r", "other"]
    assert frames.muscle_sides(result) == {"one_r": "other", "two_r": "r", "three_r": "r"}
    assert frames.solved(result, "r").all() and frames.solved_with_reserve(result, "other").all()
    assert "reasons_r" not in result.attrs and "trunk lacks" in str(result.attrs["reasons_other"])
    rows = summary(result).splitlines()
    assert [row for row in rows if row.startswith("right leg")] == ["right leg         61 solved"]
    assert [row for row in rows if row.startswith("other muscles     0 solved, 61 with reserve (largest ")]
    assert any("The other muscles have muscle forces in 61 of 61 frames" in row for row in rows)
    assert leg_problem(result, "r").muscle == ("two_r", "three_r")
    assert {path.stem for path in save_figures(result, tmp_path / "figures")} >= DRAWN


@pytest.mark.filterwarnings("ignore:the moment of .* if they are in N mm")
def test_a_coordinate_beyond_its_clamped_range_is_named(tmp_path: Path) -> None:
    """The note states the excess and the share of the frames; it is a cause only where frames need reserves."""
    from small_model import TEXT

    def clamped(lower: float, upper: float) -> str:
        before, after = TEXT.split('<Coordinate name="hip_a_r">')
        limits = f"<clamped>true</clamped><range>{lower} {upper}</range>"
        return f'{before}<Coordinate name="hip_a_r">{after.replace("<range>-2 2</range>", limits, 1)}'

    free = read_osim(save_model(tmp_path, TEXT))
    motion, moments = small_motion(free), feasible_moments(free, cutoff_hz=None)
    greatest = float(motion["hip_a_r"].max())
    narrow = read_osim(save_model(tmp_path, clamped(-1.0, greatest - np.radians(5.0))))
    assert narrow.coordinates["hip_a_r"].clamped and not free.coordinates["hip_a_r"].clamped
    given: dict[str, Any] = {"dofs": DOFS, "cutoff_hz": None, "passive": "table"}
    solved = share_model(narrow, motion, moments, **given)
    (note,) = [each.what for each in judgement(solved).findings if "clamps" in each.what]
    share = 100.0 * np.mean(motion["hip_a_r"] > greatest - np.radians(4.0))
    assert note.startswith("hip_a_r is up to 5 degrees beyond the range")
    assert f"in {share:.0f} % of the frames" in note
    assert "reasons_r" not in solved.attrs
    np.testing.assert_array_equal(
        solved["activation"], share_model(free, motion, moments, **given)["activation"]
    )

    impossible = moments | {"hip_a_r": 100.0 * moments["hip_a_r"]}
    lacking = share_model(narrow, motion, impossible, **given)
    (reason,) = [str(each) for each in lacking.attrs["reasons_r"] if "clamps" in str(each)]
    assert "may be the cause" in reason and reason in summary(lacking)
    # The other group is solved: the hip is no cause of anything there.
    other = share_model(narrow, motion, moments | {"ankle_a_r": 100.0 * moments["ankle_a_r"]}, **given)
    assert not any("clamps" in str(each) for each in other.attrs["reasons_r"])
    wide = read_osim(save_model(tmp_path, clamped(-1.0, greatest - np.radians(0.5))))
    quiet = share_model(wide, motion, impossible, **given)
    assert not any("clamps" in str(each) for each in [*quiet.attrs["notes"], *quiet.attrs["reasons_r"]])
