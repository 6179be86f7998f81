"""Averages over gait cycles: what is counted, and that the legs of a symmetric walk have the same."""

from __future__ import annotations

import json

import numpy as np
import pytest
import xarray as xr
from refusals import refused
from stored_results import write_result
from synthetic_result import few_muscles, set_status, with_troubles
from synthetic_result import result as every_muscle

import musclesolve as ms
from musclesolve import read_result
from musclesolve.laboratory.results.cycles.cycle_averages import average_results
from musclesolve.laboratory.results.fact_table import summary
from musclesolve.laboratory.results.finding import FINDINGS, Finding
from musclesolve.laboratory.results.tables.average_tables import average_facts, average_table
from musclesolve.studies.study.cycles_file import cycles_of_trial


def result(**size):
    return few_muscles(every_muscle(**size))


def scaled(factor):
    """A result whose activations are those of the synthetic one times a factor."""
    data = result(n_frames=251)
    data["activation"] *= factor
    data["activation"].attrs["units"] = "1"
    return data


def test_mean_spread_median_and_number():
    cycles = [ms.laboratory.cycles(scaled(factor), "r", strides=True) for factor in (0.5, 0.7, 1.2)]
    average = ms.laboratory.average_cycles(cycles)
    values = np.concatenate([each["activation"] for each in cycles])
    assert values.shape[0] == 6 == int(average["cycles"])
    np.testing.assert_allclose(average["activation"], values.mean(axis=0))
    np.testing.assert_allclose(average["activation_std"], values.std(axis=0, ddof=1))
    np.testing.assert_allclose(average["activation_median"], np.median(values, axis=0))
    assert (average["activation_count"] == 6).all()
    assert len(average.attrs["cycles"]) == 6
    assert average["activation_std"].attrs["units"] == "1"


def test_frames_without_a_solution_do_not_count():
    good, bad = result(n_frames=251), with_troubles(result(n_frames=251))
    bad["activation"] *= 0.5
    average = ms.laboratory.average_cycles(
        [ms.laboratory.cycles(data, "r", strides=True) for data in (good, bad)]
    )
    count = average["activation_count"].isel(muscle=0)
    assert set(np.unique(count)) == {3, 4}
    assert (average["joint_angle_count"] == 4).all()
    assert len(average.attrs["invalid"]) == 1
    alone = ms.laboratory.average_cycles([ms.laboratory.cycles(bad, "r", strides=True).isel(cycle=[0])])
    lost = alone["activation_count"].isel(muscle=0) == 0
    assert lost.any()
    for name in ("activation", "activation_median"):
        np.testing.assert_array_equal(np.isnan(alone[name].isel(muscle=0)), lost)


def test_a_single_cycle_has_no_spread():
    average = ms.laboratory.average_cycles(
        [ms.laboratory.cycles(result(n_frames=251), "r", strides=True).isel(cycle=[0])]
    )
    assert average["joint_angle_std"].isnull().all()
    assert not average["joint_angle"].isnull().any()


def test_legs_can_be_put_together_only_without_side():
    data = result(n_frames=251)
    with refused("not_comparable"):
        ms.laboratory.average_cycles([ms.laboratory.cycles(data, side, strides=True) for side in "rl"])
    legs = [ms.laboratory.cycles(data, side, without_side=True, strides=True) for side in "rl"]
    both = ms.laboratory.average_cycles(legs)
    assert int(both["cycles"]) == 3
    assert all(each["group"].dims == ("muscle",) and "group" not in each.coords for each in (*legs, both))
    assert [cycle.split(",")[1] for cycle in both.attrs["cycles"]] == [
        " right leg",
        " right leg",
        " left leg",
    ]


def test_scaled_copies_of_a_model_are_alike_by_their_muscles():
    cycles = ms.laboratory.cycles(result(n_frames=251), "r", strides=True)
    one, two = (cycles.assign_attrs(muscle_database=f"/data/{name}_scaled.osim") for name in ("S01", "S02"))
    assert int(ms.laboratory.average_cycles([one, two])["cycles"]) == 2 * cycles.sizes["cycle"]
    with refused("not_comparable", "S02_scaled.osim"):
        ms.laboratory.average_cycles([one, two.isel(muscle=slice(1, None))])
    with refused("not_comparable", "silva_2003"):
        ms.laboratory.average_cycles([one, cycles.assign_attrs(muscle_database="silva_2003")])


def test_unlike_percentages_are_refused():
    data = result(n_frames=251)
    with refused("not_comparable"):
        ms.laboratory.average_cycles(
            [ms.laboratory.cycles(data, "r", points=points, strides=True) for points in (101, 51)]
        )


def test_no_cycle_at_all_is_refused_with_the_reason():
    data = result(n_frames=251).isel(time=slice(0, 60))
    data.attrs["heel_strike_times_r"] = [-0.5, 0.5]
    with refused("not_comparable", "50 %"):
        ms.laboratory.average_cycles([ms.laboratory.cycles(data, "r", strides=True)])
    with refused("not_comparable"):
        ms.laboratory.average_cycles([])


def test_results_in_files_are_averaged_leg_by_leg(tmp_path):
    for number, factor in enumerate((0.5, 1.0)):
        write_result(scaled(factor), tmp_path / f"{number}.nc")
    paths = [tmp_path / "0.nc", tmp_path / "1.nc"]
    average = average_results(paths)
    assert average["side"].values.tolist() == ["r", "l"]
    assert average["cycles"].values.tolist() == [4, 2]
    np.testing.assert_allclose(
        average["activation"].sel(side="l"), average["activation"].sel(side="r"), atol=0.02
    )
    write_result(average, tmp_path / "average.nc")
    xr.testing.assert_allclose(read_result(tmp_path / "average.nc"), average)


def test_a_result_counts_once(tmp_path):
    write_result(scaled(1.0), tmp_path / "a.nc")
    with refused("duplicate_name", "a.nc"):
        average_results([tmp_path / "a.nc", tmp_path / "sub" / ".." / "a.nc"])


@pytest.fixture(scope="module")
def stride(stride_result):
    return stride_result.copy(deep=True)


def test_the_bundled_stride_is_one_complete_right_cycle(stride):
    cycles = ms.laboratory.cycles(stride, "r", strides=True)
    assert cycles.sizes["cycle"] == 1
    assert not cycles["activation"].isnull().any()
    # A periodic motion: what it is at 0 % it is at 100 %, to the noise of the events (2 ms).
    angle = cycles["joint_angle"].isel(cycle=0)
    np.testing.assert_allclose(angle.sel(percent=0.0), angle.sel(percent=100.0), atol=np.deg2rad(0.5))
    assert float(cycles["cadence"][0]) == pytest.approx(110.8, abs=0.05)
    assert ms.laboratory.cycles(stride, "l", strides=True).sizes["cycle"] == 0


def test_the_legs_of_the_bundled_stride_are_alike(stride):
    """It was made so that the left leg does what the right one does, mirrored, half a stride later."""
    right, left = (
        ms.laboratory.average_cycles(
            [ms.laboratory.cycles(stride, side, partial=True, without_side=True, strides=True)]
        )
        for side in "rl"
    )
    assert (left["joint_angle_count"] >= 1).all(), "the two halves of the left cycle do not meet"
    for name, share in (
        ("joint_angle", 0.01),
        ("joint_moment", 0.02),
        ("ground_reaction_force", 0.02),
        ("joint_reaction_net", 0.02),
    ):
        largest = np.abs(right[name]).max("percent")
        size = float(largest.max())
        # Beside the strike the two differ by the time that lies between events and frames.
        inner = {"percent": slice(3.0, 97.0)}
        difference = np.abs(right[name] - left[name]).sel(inner)
        assert float(difference.max()) < share * size, name
    lateral = right["ground_reaction_force"].sel(axis="y", percent=slice(15.0, 45.0))
    assert float(lateral.min()) > 10.0, "the ground pushes the standing leg toward the median plane"


def of_recording(digest, side="r", **attrs):
    """Two cycles of a result that says which marker file it is from."""
    data = result(n_frames=251)
    inputs = [f"trial trial.toml sha256:{digest}{attrs}", f"markers walk.trc sha256:{digest}"]
    data.attrs |= {"inputs": inputs, "trial_file": f"{digest}/trial.toml", **attrs}
    return ms.laboratory.cycles(data, side, without_side=True, strides=True)


def test_one_dataset_is_a_list_of_one():
    cycles = ms.laboratory.cycles(result(n_frames=251), "r", strides=True)
    xr.testing.assert_identical(ms.laboratory.average_cycles(cycles), ms.laboratory.average_cycles([cycles]))


@pytest.mark.parametrize("given", [None, "cycles", 3, [None], [result(n_frames=5)]])
def test_what_is_no_gait_cycle_is_refused(given):
    with refused("bad_type"):
        ms.laboratory.average_cycles(given)
    cycles = ms.laboratory.cycles(result(n_frames=251), "r", strides=True)
    with refused("bad_type"):
        ms.laboratory.average_cycles(cycles.isel(cycle=0))


def test_a_stride_counts_once_under_whatever_name_and_method():
    once = of_recording("aa", cost="fatigue")
    for again in (once, of_recording("aa", cost="sum_cubed")):
        with refused("not_comparable", "aa/trial.toml, right leg"):
            ms.laboratory.average_cycles([once, again])
    later = once.assign_coords(cycle_start=once.cycle_start + 0.3, cycle_end=once.cycle_end + 0.3)
    with refused("not_comparable", "aa/trial.toml"):
        ms.laboratory.average_cycles([once, later])
    apart = once.assign_coords(cycle_start=once.cycle_start + 2.0, cycle_end=once.cycle_end + 2.0)
    for other in (apart, of_recording("bb", cost="fatigue"), of_recording("aa", "l", cost="fatigue")):
        average = ms.laboratory.average_cycles([once, other])
        assert int(average["cycles"]) == 2 + other.sizes["cycle"]
        assert average.attrs["unlike"] == []


def test_a_copied_result_is_found_out(tmp_path):
    data = result(n_frames=251).assign_attrs(inputs=["markers walk.trc sha256:aa"])
    for name in ("a.nc", "copy.nc"):
        write_result(data, tmp_path / name)
    with refused("not_comparable", "/a.nc", "/copy.nc"):
        average_results([tmp_path / "a.nc", tmp_path / "copy.nc"])


def test_unlike_methods_are_listed(tmp_path):
    choices = {
        "a": {"hip_method": "mapped", "cutoff_hz": 6.0},
        "b": {"hip_method": "harrington", "cutoff_hz": 6.0},
        "c": {},
    }
    for digest, attrs in choices.items():
        data = result(n_frames=251).assign_attrs(inputs=[f"markers walk.trc sha256:{digest}"], **attrs)
        write_result(data, tmp_path / f"{digest}.nc")
    average = average_results([tmp_path / f"{digest}.nc" for digest in "ab"])
    assert average.attrs["unlike"] == ["hip method: mapped or harrington"]
    assert (
        summary(average_facts(average.assign_attrs(verdicts=[])))
        == "unlike methods    hip method: mapped or harrington"
    )
    assert average.attrs["cutoff_hz"] == 6.0 and "hip_method" not in average.attrs
    average = average_results([tmp_path / f"{digest}.nc" for digest in "ac"])
    assert average.attrs["unlike"] == ["cutoff hz: 6 or not stated", "hip method: mapped or not stated"]


def test_the_table_says_how_many_strides_its_means_are_of(tmp_path):
    data = result(n_frames=251).assign(stride_time=("stride", [1.0]), cadence=("stride", [120.0]))
    data = data.assign_coords(stride_side=("stride", ["r"]), stride_start=("stride", [0.2]))
    data.attrs |= {"heel_strike_times_r": [0.2, 1.2, 2.2], "heel_strike_times_l": [0.7, 1.7]}
    write_result(data, tmp_path / "a.nc")
    columns = [list(column.cells) for column in average_table(average_results([tmp_path / "a.nc"])).columns]
    cells = {str(name): legs for name, *legs in zip(*columns, strict=True)}
    assert cells["cycles"] == ["2", "1"] and cells["strides"] == ["1", "0"]
    assert cells["cadence [steps/min]"] == ["120.0", "-"]


@pytest.mark.in_part(2)
@pytest.mark.parametrize(
    "choice",
    [
        ("cost", "fatigue", "sum_cubed"),
        ("muscle_database", "a/own.toml", "b/other.toml"),
        ("passive", "calibrated", "none"),
        ("fiber_lengths", "operating_range", "standing"),
        ("tendon", "rigid", "elastic"),
        ("curves", "de_groote_2016", "millard_2013"),
    ],
)
def test_solutions_of_different_problems_have_no_mean(tmp_path, choice):
    key, *values = choice
    for digest, value in zip("ab", values, strict=True):
        attrs = {"inputs": [f"markers walk.trc sha256:{digest}"], key: value}
        write_result(result(n_frames=251).assign_attrs(attrs), tmp_path / f"{digest}.nc")
    first, second = (of_recording(digest, **{key: value}) for digest, value in zip("ab", values, strict=True))
    with refused("not_comparable", key.replace("_", " ")):
        ms.laboratory.average_cycles([first, second])
    with refused("not_comparable", key.replace("_", " ")):
        average_results([tmp_path / "a.nc", tmp_path / "b.nc"])
    ms.laboratory.average_cycles([first, of_recording("b")])  # an older result that does not say it


def test_older_results_have_rigid_tendons():
    with refused("not_comparable", "rigid", "elastic"):
        ms.laboratory.average_cycles([of_recording("a", tendon="elastic"), of_recording("b")])


def test_several_subjects_are_listed(tmp_path):
    people = {"a": ("S01", 70.25), "b": ("S02", 70.25), "c": ("S01", 70.25)}
    for digest, (name, mass) in people.items():
        attrs = {"inputs": [f"markers walk.trc sha256:{digest}"], "subject": name, "subject_mass_kg": mass}
        write_result(result(n_frames=251).assign_attrs(attrs), tmp_path / f"{digest}.nc")
    mixed = average_results([tmp_path / "a.nc", tmp_path / "b.nc"])
    assert mixed.attrs["subject"] == "several persons"
    assert (
        summary(average_facts(mixed.assign_attrs(verdicts=[])))
        == "several persons   S01 (70.25 kg); S02 (70.25 kg)"
    )
    own = average_results([tmp_path / "a.nc", tmp_path / "c.nc"])
    assert own.attrs["subject"] == "S01" and average_facts(own.assign_attrs(verdicts=[])) == []


def test_a_mean_states_which_of_its_results_are_not_usable(stride_result, tmp_path):
    error = Finding("mass", "error", "the plates carry 20 kg more", "weigh the subject")
    unfit = stride_result.assign_attrs({FINDINGS: json.dumps([error.as_dict()])})
    for digest, data in (("good", stride_result), ("unfit", unfit)):
        write_result(data, tmp_path / f"{digest}.nc")
    good, bad = (average_results([tmp_path / f"{digest}.nc"]) for digest in ("good", "unfit"))
    assert good.attrs["verdicts"] == [] and "verdict" not in summary(average_facts(good))
    (sentence,) = bad.attrs["verdicts"]
    assert "unfit.nc: Do not use the muscle forces" in sentence and sentence in " ".join(
        summary(average_facts(bad)).split()
    )
    write_result(stride_result.drop_vars("plausible"), tmp_path / "slim.nc")
    assert "not judged" in average_results([tmp_path / "slim.nc"]).attrs["verdicts"][0]


def test_percentages_that_needed_reserves_are_counted_and_listed(tmp_path):
    """0.20 to 0.25 s of the right leg, the first 5 % of its first cycle."""
    for digest, data in (("a", result(n_frames=251)), ("b", with_troubles(result(n_frames=251)))):
        data = data.assign_attrs(
            inputs=[f"markers walk.trc sha256:{digest}"],
            heel_strike_times_r=[0.2, 1.2, 2.2],
            heel_strike_times_l=[0.7, 1.7],
        )
        set_status(data, ms.Status.SOLVED, slice(40, 43))
        set_status(data, ms.Status.SOLVED, 50)
        write_result(data, tmp_path / f"{digest}.nc")
    average = average_results([tmp_path / "a.nc", tmp_path / "b.nc"])
    count = average["cycles_with_reserve"]
    assert not count.sel(side="l").any()
    assert count.sel(side="r").values.tolist() == [1] * 6 + [0] * 95
    assert len(average.attrs["reserves"]) == 1 and average.attrs["reserves"][0].endswith(
        "6 frames with a reserve"
    )
    (line,) = summary(average_facts(average.assign_attrs(verdicts=[]))).splitlines()
    assert line.startswith("with reserve      1 of 6 cycles, 6 % of the right mean and 0 % of the left mean")
    write_result(average, tmp_path / "average.nc")
    np.testing.assert_array_equal(read_result(tmp_path / "average.nc")["cycles_with_reserve"], count)


def test_axes_of_a_joint_are_named_without_their_side(stride):
    """With a side the words of one leg would not be those of the other."""
    words = [[f"{axis} of {joint}" for axis in "xyz"] for joint in stride["joint"].values.tolist()]
    force = stride["joint_reaction"].rename(axis="joint_axis").reset_coords(drop=True)
    legs = stride.assign(joint_axis_force=force.assign_attrs(units="N"))
    legs = legs.assign_coords(joint_axis_words=(("joint", "joint_axis"), words))
    assert "hip_r" in legs["joint"].values
    together = cycles_of_trial(legs)
    assert together["joint_axis_words"].sel(joint="hip").values.tolist() == [
        "x of hip",
        "y of hip",
        "z of hip",
    ]


def test_a_leg_whose_joints_have_other_names_has_strides():
    """Heel strikes show a leg; without them and without names of a leg there are no strides."""
    data = result(n_frames=251)
    data = data.assign_coords(joint=[f"joint_{k}_r" for k in range(data.sizes["joint"])])
    assert ms.laboratory.cycles(data.assign_attrs(heel_strike_times_r=[0.2, 1.4]), "r").sizes["cycle"] == 1
    none = ms.laboratory.cycles(data.assign_attrs(heel_strike_times_r=[]), "r")
    assert (
        none.sizes["cycle"] == 0 and "without legs only cycles that are stated" in none.attrs["left_out"][0]
    )
