"""The uncertainty of an OpenSim model: with moments and with loads, against the first order, laws and the nominal."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from measured_model import measured_model
from refusals import refused
from replays import NO_ERRORS, keys_of, replay_of
from said import uncertainty_document, uncertainty_summary
from small_model import near_optimal_lengths, save_model
from small_model_motion import DOFS, TIME, feasible_moments, small_motion
from stored_results import write_result

from musclesolve import read_osim, read_result
from musclesolve.laboratory.forces import share
from musclesolve.laboratory.plotting.figure_names import pages_of
from musclesolve.laboratory.plotting.page.page_style import figures_of
from musclesolve.laboratory.trial.dependent_settings import error_keys
from musclesolve.models.opensim.assemble_body import model_body
from musclesolve.models.opensim.external_loads import load_in_ground
from musclesolve.models.opensim.kinematics import body_motion, coordinate_values
from musclesolve.studies import uncertainty
from musclesolve.studies.uncertainty.contributions import Linear
from musclesolve.studies.uncertainty.replay import sources
from musclesolve.tables import Table, write_mot

OF_MUSCLES = ("strength", "max_isometric_force", "optimal_fiber_length", "tendon_slack_length")


def body_with_moments(folder: Path, **options: object):
    model = read_osim(save_model(folder, near_optimal_lengths()))
    return measured_model(
        model,
        small_motion(model),
        feasible_moments(model, passive="none"),
        dofs=DOFS,
        start_s=0.2,
        end_s=0.5,
        passive="none",
        **options,
    )


def body_with_loads(folder: Path):
    model = read_osim(save_model(folder, near_optimal_lengths()))
    push = np.stack([0.0 * TIME + 4.0, 30.0 + 5.0 * np.sin(6.0 * TIME), 0.0 * TIME - 2.0], axis=1)
    place = np.stack([0.1 * TIME, 0.0 * TIME - 0.5, 0.0 * TIME + 0.05], axis=1)
    columns = {f"ground_force_r_v{axis}": push[:, k] for k, axis in enumerate("xyz")}
    columns |= {f"ground_force_r_p{axis}": place[:, k] for k, axis in enumerate("xyz")}
    columns |= {f"ground_torque_r_{axis}": 0.0 * TIME for axis in "xyz"}
    file = folder / "grf.mot"
    write_mot(file, Table(TIME, tuple(columns), np.stack(list(columns.values()), axis=1), False, file))
    external = folder / "loads.xml"
    external.write_text(
        "<OpenSimDocument><ExternalLoads><objects><ExternalForce name='plate'><applied_to_body>talus_r"
        "</applied_to_body><force_expressed_in_body>ground</force_expressed_in_body>"
        "<point_expressed_in_body>ground</point_expressed_in_body>"
        "<force_identifier>ground_force_r_v</force_identifier><point_identifier>ground_force_r_p"
        "</point_identifier><torque_identifier>ground_torque_r_</torque_identifier></ExternalForce></objects>"
        "<datafile>grf.mot</datafile></ExternalLoads></OpenSimDocument>",
        encoding="utf-8",
    )
    return measured_model(
        model, small_motion(model), dofs=DOFS, start_s=0.2, end_s=0.5, loads=external, passive="none"
    )


@pytest.fixture(scope="module", params=[body_with_moments, body_with_loads], ids=["moments", "loads"])
def body(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    return request.param(tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="module")
def replay(body):
    return replay_of(body)


def errors_of(replay, **some: object) -> dict[str, np.ndarray]:
    none = replay.parameters.errors(np.zeros(replay.parameters.count))
    return {name: np.broadcast_to(some.get(name, 0.0), array.shape) + 0.0 for name, array in none.items()}


def turning_axis(body, coordinate: str, name: str) -> np.ndarray:
    """Angular velocity of a body by the rate of a coordinate, (T, 3), from differences of its rotation."""

    def rotation(turn: float) -> np.ndarray:
        values = body.motion.by_name(body.motion.value)
        turned = coordinate_values(body.model, values | {coordinate: values[coordinate] + turn})
        return body_motion(body.model, turned).rotation[:, body.model.body_number[name]]

    rate = (rotation(1e-5) - rotation(-1e-5)) / 2e-5 @ rotation(0.0).transpose(0, 2, 1)
    return np.stack([rate[:, 2, 1], rate[:, 0, 2], rate[:, 1, 0]], axis=1)


def test_it_has_the_sources_that_a_trial_file_may_state(body, replay) -> None:
    known = keys_of(replay.parameters.shapes)
    assert known == set(error_keys("moments" if body.dynamics is None else "loads"))


def test_the_sample_without_errors_is_the_nominal_result(body, replay) -> None:
    again, parts = replay.run(replay.parameters.errors(np.zeros(replay.parameters.count)))
    nominal = share(body)
    for one, other in zip(nominal.parts, parts, strict=True):
        assert np.array_equal(one.tension, other.tension, equal_nan=True)
        assert one.contact_force.keys() == other.contact_force.keys()
        for joint, force in one.contact_force.items():
            assert np.array_equal(force, other.contact_force[joint], equal_nan=True)
    assert np.array_equal(again.moment, body.moment, equal_nan=True)
    assert np.array_equal(again.angle, body.angle)


def test_an_angle_that_errs_is_that_of_other_coordinates(tmp_path: Path) -> None:
    body = body_with_moments(tmp_path, cutoff_hz=None)
    replay = replay_of(body)
    shift = np.zeros(len(replay.angles))
    shift[replay.angles.index("knee_r")] = 0.03
    moved = replay.body(errors_of(replay, joint_angle=shift))
    motion = small_motion(body.model)
    motion["knee_r"] = motion["knee_r"] + 0.03
    expected = model_body(body.model, motion, feasible_moments(body.model, passive="none"), body.settings)
    state = expected.whole.state
    assert moved.length == pytest.approx(state.musculotendon_length, abs=1e-12)
    assert moved.velocity == pytest.approx(state.musculotendon_velocity, abs=1e-9)
    assert moved.arm == pytest.approx(state.moment_arm, abs=1e-9)
    assert np.abs(moved.length - body.whole.state.musculotendon_length).max() > 1e-4


def test_loads_act_elsewhere_and_feet_stay(tmp_path: Path) -> None:
    body = body_with_loads(tmp_path)
    replay = replay_of(body)
    assert body.dynamics is not None
    (load,), pose = body.dynamics.loads, body.dynamics.dynamics.bodies.pose
    force = load_in_ground(body.model, load, body.time, pose)[0]
    couple = np.cross([0.004, 0.0, 0.003], force)  # forward, up, right
    moved = replay.body(errors_of(replay, center_of_pressure=np.array([0.004, -0.003])))
    axis = turning_axis(body, "ankle_a_r", "talus_r")
    change = moved.moment - body.moment
    assert change[:, body.dofs.index("ankle_a_r")] == pytest.approx(
        -np.einsum("tx,tx->t", axis, couple), abs=1e-6
    )
    assert np.abs(change).max() > 0.01
    # what is left of the errors of the angles does not move the loaded body along any of three axes
    assert replay.kept @ replay.kept == pytest.approx(replay.kept, abs=1e-9)
    assert len(replay.angles) - np.trace(replay.kept) == pytest.approx(3.0, abs=1e-9)
    assert {"px", "hip_a_r", "knee_r"} <= set(replay.angles)
    assert "beta_r" not in replay.angles


@pytest.mark.thorough
def test_the_samples_spread_as_the_first_order_says_where_errors_are_small(body, replay) -> None:
    small = {sources()[name].key: 0.01 * sources()[name].sd for name in replay.parameters.shapes}
    found = uncertainty(body, 60, seed=1, sd=small, jobs=1)
    assert list(found["source"].values) == list(replay.parameters.shapes)
    names = ("muscle_force", "joint_moment", *(["contact_force"] if body.joints else []))
    for name in names:
        drawn, predicted = found[f"{name}_sd"] ** 2, found[f"{name}_first_order_sd"] ** 2
        last = predicted.dims[-1]
        ratio = np.sqrt(drawn.sum(last) / predicted.sum(last)).values[
            found["first_order_unique"].values[:, 0]
        ]
        assert ratio.size > 10
        assert np.median(ratio) == pytest.approx(1.0, abs=0.2), name
        shares = found[f"{name}_contribution"].sum("source")
        assert shares.where(predicted > 0.0).max() == pytest.approx(1.0)


def test_a_source_that_is_switched_off_contributes_nothing(body) -> None:
    found = uncertainty(body, 3, sd=NO_ERRORS | {"joint_angle_deg": 1.0}, jobs=1)
    share_of = found["muscle_force_contribution"]
    assert float(share_of.sel(source=list(OF_MUSCLES)).max()) == 0.0
    assert float(share_of.sel(source="joint_angle").max()) == 1.0
    still = uncertainty(body, 3, sd=NO_ERRORS, jobs=1)
    assert (still["muscle_force_sd"] == 0.0).all()
    assert still.attrs["without_contributions"] == "every source is switched off"


def test_a_moment_that_is_given_has_its_factor_alone(tmp_path: Path) -> None:
    found = uncertainty(body_with_moments(tmp_path), 2, sd={"joint_moment": 0.05}, jobs=1)
    expected = 0.05 * np.abs(found["joint_moment"])
    assert found["joint_moment_first_order_sd"].values == pytest.approx(expected.values, rel=1e-3)
    assert found["joint_angle_sd"].sel(dof="ankle_a_r").min() > 0.0
    assert "contact_force" not in found
    assert "contact_force_peak_sd" not in found


def test_one_difference_serves_all_muscles(replay) -> None:
    linear = Linear(replay)
    for source in ("optimal_fiber_length", "max_isometric_force"):
        tasks = [task for task in linear.tasks() if task.source == source]
        assert len(tasks) == len(replay.layout.muscles)
        summed = sum(linear.squares(task)["muscle_force"] for task in tasks)
        assert np.isfinite(summed).all()
        assert summed.max() > 0.0


@pytest.mark.in_part(2)
def test_it_is_written_summed_up_and_drawn(body, tmp_path: Path) -> None:
    write_result(uncertainty(body, 4, jobs=1), tmp_path / "uncertainty.nc")
    found: xr.Dataset = read_result(tmp_path / "uncertainty.nc")
    text = uncertainty_summary(found)
    assert "4 samples, seed 0" in text
    assert "least certain" in text
    document = uncertainty_document(found)
    assert set(document["muscle_force_peaks_n"]) == set(body.muscles)
    (peaks,) = (document[name] for name in document if name.startswith("contact_force_peaks"))
    assert set(peaks) == set(body.joints)
    figures = figures_of(found, pages_of(found, "uncertainty"))
    assert all(content.startswith(b"\x89PNG") for content in figures.values())
    assert len(figures) == (4 if body.joints else 2)


def test_it_is_the_same_after_it_was_sent(tmp_path: Path) -> None:
    """To processes: `test_uncertainty.py` starts some."""
    body = body_with_moments(tmp_path)
    alone = uncertainty(body, 5, seed=2, contributions=False, jobs=1)
    together = uncertainty(body, 5, seed=2, contributions=False, jobs=2)
    # a process that compiles a kernel may round otherwise than one that finds it compiled
    xr.testing.assert_allclose(together, alone, rtol=1e-9, atol=1e-9)


def test_elastic_tendons_have_samples_alone(tmp_path: Path) -> None:
    found = uncertainty(body_with_moments(tmp_path, tendon="elastic"), 2, sd={"joint_angle_deg": 0.5}, jobs=1)
    assert "elastic" in found.attrs["without_contributions"]
    assert float(found["muscle_force_sd"].max()) > 0.0


def test_sources_of_another_body_are_refused(tmp_path: Path) -> None:
    body = body_with_moments(tmp_path)
    with refused("conflict", "center_of_pressure_mm"):
        uncertainty(body, 2, sd={"center_of_pressure_mm": 3.0})
    with refused("conflict", "body that is ready"):
        uncertainty(body, 2, cost="force_squared")
