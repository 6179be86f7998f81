"""Results that are damaged or of another program are refused before anything is computed of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import xarray as xr
from command_line import typed
from refusals import refused
from stored_results import write_result
from synthetic_result import result, set_status

import musclesolve as ms
from musclesolve import read_result
from musclesolve.laboratory.plotting.figure_sets import figure_files
from musclesolve.laboratory.results.cycles.cycle_averages import average_results
from musclesolve.laboratory.results.dataset.checked import checked_result

Damage = Callable[[xr.Dataset], xr.Dataset]


def flags(**attrs: object) -> Damage:
    return lambda r: r.assign(status=r.status.assign_attrs(attrs))


def strikes(times: object) -> Damage:
    return lambda r: r.assign_attrs(heel_strike_times_r=times)


def number(name: str, value: object) -> Damage:
    return lambda r: r.assign_attrs({name: value})


def lost(name: str, frames: slice = slice(None)) -> Damage:
    def damage(r: xr.Dataset) -> xr.Dataset:
        values = r[name].values.copy()
        values[frames] = np.nan
        return r.assign({name: (r[name].dims, values)})

    return damage


DAMAGES: dict[str, tuple[Damage, str]] = {
    "no frames": (lambda r: r.isel(time=[]), "time"),
    "one frame": (lambda r: r.isel(time=[0]), "time"),
    "time runs back": (lambda r: r.isel(time=slice(None, None, -1)), "time"),
    "no time": (lambda r: r.assign_coords(time=np.full(r.sizes["time"], np.nan)), "time"),
    "no flags": (flags(flag_meanings=""), "flag_meanings"),
    "an unknown status": (lambda r: r.assign(status=(r.status + 77).assign_attrs(r.status.attrs)), "77"),
    "valid in numbers": (lambda r: r.assign(valid=r.valid.astype(float)), "valid"),
    "valid against the status": (lambda r: r.assign(valid=r.valid & (r.time > 1.0)), "202"),
    "no valid": (lambda r: r.drop_vars("valid").assign(status=r.status.drop_attrs()), "valid"),
    "strikes in words": (strikes("abc"), "heel_strike_times_r"),
    "a strike at no time": (strikes([np.nan, 1.0, 2.0]), "heel_strike_times_r"),
    "a strike twice": (strikes([0.2, 0.2, 1.2]), "heel_strike_times_r"),
    "no mass": (number("subject_mass_kg", 0.0), "subject_mass_kg"),
    "a mass in words": (number("subject_mass_kg", "x"), "subject_mass_kg"),
    "a strength of zero": (number("strength", 0.0), "strength"),
    "moments that are no numbers": (lost("joint_moment"), "joint_moment"),
    "a hole in an activation": (lost("activation", slice(100, 110)), "1.000 s"),
    "no force of the ground": (lambda r: r.drop_vars("ground_reaction_force"), "ground_reaction_force"),
    "no muscles": (lambda r: r.isel(muscle=[]), "muscle"),
    "muscles of no leg": (
        lambda r: r.assign_coords(muscle=[f"m{k}x" for k in range(r.sizes["muscle"])]),
        "muscle",
    ),
    "a leg without status": (lambda r: r.sel(side=["r"]), "side"),
    "status of no leg": (lambda r: r.assign(status=r.status[:, 0]), "status"),
    "another program": (
        lambda r: xr.Dataset({name: ("x", [1.0, 2.0]) for name in ("muscle", "valid", "time")}),
        "status",
    ),
}
OF_FIGURES: dict[str, tuple[Damage, str]] = {
    name: (lambda r, name=name: r.drop_vars(name), name)
    for name in ("activation", "muscle_force", "joint_angle", "joint_moment", "group", "dof")
}


@pytest.mark.parametrize("name", DAMAGES)
def test_gait_cycles_of_a_damaged_result_are_refused(name: str) -> None:
    damage, place = DAMAGES[name]
    with refused("bad_result", place):
        ms.laboratory.cycles(damage(result(n_frames=251)), "r", strides=True)


@pytest.mark.in_part(3)
@pytest.mark.parametrize("name", [*DAMAGES, *OF_FIGURES])
def test_average_of_a_damaged_result_is_refused_with_its_file(name, tmp_path) -> None:
    damage, place = (DAMAGES | OF_FIGURES)[name]
    write_result(damage(result(n_frames=251)), tmp_path / "result.nc")
    with refused("bad_result", place) as caught:
        average_results([tmp_path / "result.nc"])
    assert caught.value.file == str(tmp_path / "result.nc")


def test_the_command_says_it_in_one_message(tmp_path) -> None:
    write_result(result(n_frames=251).isel(time=[]), tmp_path / "result.nc")
    done = typed("average", tmp_path / "result.nc", "-o", tmp_path / "out")
    assert done.exit_code == 2 and done.stderr.startswith("musclesolve: ")
    assert not (tmp_path / "out").exists()


NOT_READ: dict[str, tuple[Damage, str]] = {
    "no frames": DAMAGES["no frames"],
    "no forces": OF_FIGURES["muscle_force"],
    "a hole in the forces": (lost("muscle_force", slice(20, 30)), "no number in 10 frames with a valid"),
    "no coordinate of the time": (lambda r: r.drop_vars("time"), "time"),
    "no attributes": (lambda r: r.drop_attrs(deep=False), "attributes are missing"),
}


@pytest.mark.parametrize("name", NOT_READ)
def test_a_damaged_result_is_not_read_whatever_is_made_of_it(name, tmp_path) -> None:
    damage, said = NOT_READ[name]
    write_result(damage(result()), tmp_path / "result.nc")
    commands = (
        ("report",),
        ("export", "--format", "csv"),
        ("export", "--format", "sto"),
        ("picture",),
        ("plot",),
    )
    for command, *options in commands:
        done = typed(command, tmp_path / "result.nc", *options)
        assert done.exit_code == 2 and said in " ".join(done.stderr.split()), (command, done.stderr)
    assert [each.name for each in tmp_path.iterdir()] == ["result.nc"]


def test_what_is_no_result_of_one_run_is_read(tmp_path) -> None:
    for dim in ("cost", "percent", "scenario"):
        data = result().drop_vars("muscle_force").expand_dims({dim: 2})
        write_result(data, tmp_path / f"{dim}.nc")
        assert read_result(tmp_path / f"{dim}.nc").sizes[dim] == 2


def test_what_has_no_valid_solution_need_not_be_a_number() -> None:
    data = lost("activation", slice(40, 43))(result(n_frames=251))
    set_status(data, ms.Status.INFEASIBLE, slice(40, 43), 0)
    assert checked_result(data) is data


def test_a_result_without_a_filter_of_its_own_is_one() -> None:
    for sides in ("r", "l", "rl"):
        assert checked_result(result(sides=sides)).sizes["time"] == 60


@pytest.mark.parametrize(
    "name", ["no flags", "an unknown status", "strikes in words", "time runs back", "no mass"]
)
def test_figures_of_a_damaged_result_are_refused(name: str) -> None:
    damage, place = DAMAGES[name]
    with refused("bad_result", place):
        figure_files(damage(result(n_frames=251)))
