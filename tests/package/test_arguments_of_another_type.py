"""Public functions that take a file, a trial or a table refuse an argument of another type in one sentence."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from refusals import refused

import musclesolve as ms

TAKE_A_FILE = {
    "read_trial": ms.read_trial,
    "read_result": ms.read_result,
    "read_study": ms.studies.read_study,
    "check_study": ms.studies.check_study,
    "open_study": ms.studies.open_study,
    "read_osim": ms.read_osim,
    "export": lambda given: ms.export(given, "walk.sto"),
    "share_model": lambda given: ms.share_model("leg.osim", "ik.mot", loads=given),
    "check": ms.check,
    "gait_events": ms.laboratory.gait_events,
    "run_many": lambda given: ms.run_many([given], "results"),
    "run_many into": lambda given: ms.run_many("trial.toml", given),
    "save_picture": lambda given: ms.laboratory.save_picture(None, given),
    "read_frames": ms.apps.live.read_frames,
    "calibrate_muscles": lambda given: ms.studies.calibrate_muscles([given]),
    "export of values": lambda given: ms.export(pd.DataFrame(), given),
}
TAKE_VALUES = {
    "discrete_values": ms.laboratory.discrete_values,
    "normalized": ms.laboratory.normalized,
    "with_outliers": ms.laboratory.with_outliers,
    "muscle_geometry": ms.muscle_geometry,
}


@pytest.mark.every_pair
@pytest.mark.parametrize("name", TAKE_A_FILE)
@pytest.mark.parametrize("given", [3, np.nan, ["walk"], b"walk"])
def test_what_is_no_path_is_refused(name, given):
    with refused("bad_type", "not a path"):
        TAKE_A_FILE[name](given)


def test_cycles_and_names_that_cannot_be():
    with refused("bad_type", "units"):
        ms.laboratory.normalized(xr.Dataset(), "N m")
    for function in (ms.laboratory.discrete_values, ms.laboratory.with_outliers):
        with refused("bad_type"):
            function(xr.Dataset())
    nothing = xr.Dataset(coords={"cycle": [0]})
    with refused("unknown_name", "nothing"):
        ms.laboratory.discrete_values(nothing, "nothing")
    with refused("bad_result"):
        ms.laboratory.with_outliers(nothing)


@pytest.mark.every_pair
@pytest.mark.parametrize("name", TAKE_VALUES)
@pytest.mark.parametrize("given", [3, None, "walk.nc", ["walk"]])
def test_values_of_another_type_are_refused(name, given):
    with refused("bad_type"):
        TAKE_VALUES[name](given)


@pytest.mark.parametrize(
    "function", [ms.run, lambda given: ms.run_many(given, "results"), ms.studies.calibrate_muscles]
)
def test_one_thing_that_is_no_trial_is_refused(function):
    with refused("bad_type", "3 is not a path"):
        function(3)


@pytest.mark.parametrize("name", ["max_isometric_force", "moment", "lower", "reserve_weight"])
def test_true_is_no_number(name):
    arrays = {
        "moment_arm": [[0.05]],
        "moment": [1.0],
        "force_capacity": [100.0],
        "max_isometric_force": [100.0],
    }
    with refused("not_numbers", "True"):
        ms.Problem(**arrays | {name: [True]})


def test_a_refused_option_of_a_recording_is_named_once(tmp_path):
    with pytest.raises(ms.InputError) as error:
        ms.studies.synthetic_recording(tmp_path, noise_mm="x")
    assert str(error.value).splitlines()[0].count("noise_mm") == 1


def test_an_unknown_keyword_is_the_type_error_of_python_in_every_function():
    """With the name that the user called and the nearest keyword."""
    stride, moment = ms.data.reference_stride(), {"knee_flexion_r": 1.0}
    calls = {
        r"run\(\).*'sied'; did you mean 'side'": lambda: ms.run(stride, sied="r"),
        r"run\(\).*'foo'; known: .*residual": lambda: ms.run(stride, foo=1),
        r"pose_problem\(\).*'strength'": lambda: ms.pose_problem({}, None, moment, strenght=1.0),
        r"synthetic_recording\(\).*'noise_mm'": lambda: ms.studies.synthetic_recording("none", noise_m=1.0),
        r"opensim_problem\(\).*'dofs'": lambda: ms.opensim_problem("m.osim", "q.mot", "m.sto", dof=[]),
        r"share_model\(\).*'side'": lambda: ms.share_model("m.xml", "q.csv", sied="r"),
        r"make_dataset\(\).*'job'": lambda: ms.studies.make_dataset(".", "none", job=1),
        r"'shares'; did you mean 'sharing'": lambda: ms.read_trial(stride).with_settings(shares={}),
    }
    for words, call in calls.items():
        with pytest.raises(TypeError, match=words):
            call()


def test_records_and_shapes_of_another_kind_are_refused():
    with refused("wrong_type", "markers"):
        ms.tables.write_trc("none.trc", None)
    with refused("wrong_type", "table"):
        ms.tables.write_mot("none.mot", "table")
    with refused("bad_shape", "(2, 2, 2)"):
        ms.laboratory.gait_deviation_index(np.ones((2, 2, 2)), np.ones((2, 2, 2)))
    with refused("no_numbers", "Dataset"):
        ms.laboratory.calibrate_cameras(xr.Dataset(), xr.Dataset(), xr.Dataset())
