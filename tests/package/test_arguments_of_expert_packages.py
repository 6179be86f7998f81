"""Functions of the expert packages refuse what is no model, motion, camera or set in one sentence, by name."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from refusals import refused

import muscle_db
import musclesolve as ms

NONE = [None, 3, np.nan, "nonsense", [], {}, [None], np.full((2, 2), np.nan), xr.Dataset(), object()]
D, M = ms.dynamics, ms.muscles
STANDING = np.zeros((33, 3))

TAKE_A_MODEL = {
    "differentiate": lambda given: D.differentiate(given, np.arange(8.0), np.zeros((8, 44))),
    "expand": D.expand,
    "joint_reactions": lambda given: D.joint_reactions(given, None, []),
    "fit_pose": lambda given: D.fit_pose(given, given),
    "segment_motion": lambda given: D.segment_motion(given, None),
    "projected_moments": lambda given: D.projected_moments(given, None, []),
    "simulate": lambda given: D.simulate(given, STANDING, STANDING, 0.1),
    "Start": lambda given: D.Start(given, STANDING, STANDING),
    "body_surfaces": D.body_surfaces,
    "JointMoments": lambda given: D.JointMoments.build(given, {"knee": 1.0}),
    "JointResistance": D.JointResistance.build,
    "three_point_belt": lambda given: D.three_point_belt(given, "driver"),
    "mass_matrix": lambda given: D.mass_matrix(given, STANDING, STANDING),
    "coincident": lambda given: D.coincident(given, []),
    "fixed": lambda given: D.fixed(given, STANDING, []),
    "by_mass": lambda given: D.Sensitivity.by_mass(given, None, None),
    "assemble": lambda given: D.assemble([given], np.zeros(1), STANDING),
    "scale_muscles": lambda given: M.scale_muscles(given, given, "r"),
    "muscle_state": lambda given: M.muscle_state(given, None, None),
    "muscle_change": M.muscle_change,
    "muscle_rows": lambda given: M.muscle_rows(given, None, None),
    "ElasticMuscles": M.ElasticMuscles.from_parameters,
    "opensim_geometry": lambda given: ms.models.opensim.opensim_geometry(given, {}),
    "inverse_dynamics": lambda given: ms.models.opensim.inverse_dynamics(given, None),
    "write_person": lambda given: ms.models.write_person(given, "none.toml"),
    "reconstruct": lambda given: ms.laboratory.reconstruct([given] * 2, np.zeros((2, 1, 1, 2))),
    "cost_shapes": lambda given: ms.plotting.cost_shapes(given, ["soleus"]),
    "sensitivity_map": lambda given: ms.plotting.sensitivity_map([given]),
    "passive_moment_figure": lambda given: ms.plotting.passive_moment_figure("set", {"none": [given]}),
    "certify": lambda given: ms.sharing.certify(given, "stress_cubed", [], [], []),
}


@pytest.mark.parametrize("name", TAKE_A_MODEL)
def test_what_is_none_of_them_is_refused(name):
    for given in NONE:
        with pytest.raises(ms.InputError) as error:
            TAKE_A_MODEL[name](given)
        assert error.value.expected, f"{name}({given!r:.40}) does not say what it expects"


@pytest.mark.parametrize("given", NONE)
def test_a_set_refuses_what_is_none(given):
    calls = (
        lambda: muscle_db.to_toml(given),
        lambda: muscle_db.standing_length(given, given),
        lambda: muscle_db.load("gait2392_hip")[given],
    )
    for call in calls:
        with pytest.raises(muscle_db.MuscleDatabaseError):
            call()


def test_names_of_nothing_are_refused_by_name():
    model = D.human_model()
    with refused("unknown_name", "kne_r", "knee_r"):
        D.fixed(model.topology, model.standing, "kne_r")
    with refused("unknown_name", "3"):
        D.human_model(offsets={3: np.zeros(3)})
    with refused("bad_type", "offsets"):
        D.human_model(offsets=3)
    with pytest.raises(muscle_db.MuscleDatabaseError, match="femor"):
        muscle_db.load("gait2392_hip").reference["femor"]


def test_a_set_and_a_stream_say_what_they_are_in_a_line():
    said = repr(muscle_db.load("gait2392_hip"))
    assert said.startswith("<MuscleDatabase 'gait2392_hip': 4") and len(said) < 100
    live = repr(ms.apps.live.Live(ms.data.reference_stride(), side="r"))
    assert "markers and 2 plates at 60 Hz, 43 muscles" in live


@pytest.mark.parametrize("count", [5001, 20_000])
def test_a_model_of_too_many_bodies_is_refused_before_it_is_built(tmp_path, count):
    bodies = "".join(f"<Body name='b{k}'/>" for k in range(count))
    path = tmp_path / "many.osim"
    path.write_text(
        f"<OpenSimDocument Version='40000'><Model name='m'><BodySet><objects>{bodies}</objects></BodySet>"
        "</Model></OpenSimDocument>"
    )
    with refused("too_large", f"{count} bodies", "5000"):
        ms.read_osim(path)
