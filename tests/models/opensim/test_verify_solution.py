"""Tables of other programs against the certified optimum: planted errors are found with muscle, time, N and N m."""

from __future__ import annotations

import csv
import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import typed
from recorded_data import REPOSITORY, recorded
from refusals import refused
from small_model import TEXT, near_optimal_lengths, save_model
from small_model_motion import DOFS, TIME, feasible_moments, save_inputs, small_motion

import musclesolve as ms
from musclesolve.models import verify_solution
from musclesolve.models.opensim.foreign_solution import CEINMS, CMC, MOCO, OPENSIM, read_foreign_solution
from musclesolve.models.opensim.read_muscles import muscle_parameters
from musclesolve.models.opensim.solution_defects import solution_defects
from musclesolve.models.opensim.verify_solution import _frames
from musclesolve.muscles.driving.muscle_forces import ActivationDynamics
from musclesolve.tables import Table, write_mot

MUSCLES = ("one_r", "two_r", "three_r")
GIVEN: dict[str, Any] = {"dofs": DOFS, "cutoff_hz": "none"}
FRAME = 24


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory):
    """The small model with muscles near their optimal lengths."""
    return ms.read_osim(save_model(tmp_path_factory.mktemp("model"), near_optimal_lengths(TEXT)))


@pytest.fixture(scope="module")
def moments(model) -> dict[str, np.ndarray]:
    """Moments of activations 0.3, without passive forces."""
    return feasible_moments(model, passive="none", cutoff_hz="none")


@pytest.fixture(scope="module")
def optimum(model, moments) -> tuple[ms.Problem, ms.Solution]:
    problem = ms.opensim_problem(model, small_motion(model), moments, **GIVEN)
    solution = ms.solve(problem, "activation_power")
    assert solution.solved.all()
    return problem, solution


def written(path: Path, columns: dict[str, np.ndarray], time: np.ndarray = TIME) -> Path:
    """A table of columns over time."""
    table = Table(time, tuple(columns), np.stack(list(columns.values()), axis=1), False, path)
    write_mot(path, table, decimals=15)
    return path


def by_name(array: np.ndarray, form: str = "{}") -> dict[str, np.ndarray]:
    return {form.format(name): column for name, column in zip(MUSCLES, array.T, strict=True)}


def along_equal_moments(problem: ms.Problem) -> np.ndarray:
    """A direction (T, 3) of activations that changes no moment, of length 1."""
    return np.array([np.linalg.svd(matrix)[2][-1] for matrix in problem.moment_matrix])


@pytest.mark.parametrize("quantity", ["forces", "activations"])
def test_an_optimum_is_called_the_least_cost(model, moments, optimum, tmp_path, quantity):
    _, solution = optimum
    array = solution.force if quantity == "forces" else solution.activation
    file = written(tmp_path / "table.sto", by_name(array))
    found = verify_solution(file, model, small_motion(model), moments, **GIVEN)
    assert found.compared.all() and found.complete
    assert np.abs(found.excess).max() < 1e-8
    assert found.missing_moment is not None and np.abs(found.missing_moment).max() < 1e-5
    assert any("is the least cost" in sentence for sentence in found.sentences["cost"])
    np.testing.assert_allclose(found.least.cost, solution.cost, rtol=1e-7)


def test_a_planted_excess_is_stated_with_its_muscle_time_and_newtons(model, moments, optimum, tmp_path):
    problem, solution = optimum
    activation, step = solution.activation.copy(), 0.02 * along_equal_moments(problem)
    activation[FRAME] += step[FRAME] * np.sign(step[FRAME].sum())
    file = written(tmp_path / "table.sto", by_name(activation))
    found = verify_solution(file, model, small_motion(model), moments, **GIVEN)
    rise = (activation[FRAME] ** 2).sum() / solution.cost[FRAME] - 1.0
    assert found.missing_moment is not None and np.abs(found.missing_moment).max() < 1e-5
    np.testing.assert_allclose(found.excess[FRAME], rise, rtol=1e-6)
    assert np.abs(np.delete(found.excess, FRAME)).max() < 1e-8
    newtons = np.abs(activation[FRAME] - solution.activation[FRAME]) * problem.force_capacity[FRAME]
    by = found.facts["cost"]["difference"]
    assert by["muscle"] == MUSCLES[newtons.argmax()] and by["time_s"] == pytest.approx(TIME[FRAME])
    assert abs(by["force_n"]) == pytest.approx(newtons.max(), rel=1e-6)
    assert f"{by['muscle']}, {newtons.max():.3g} N" in found.sentences["cost"][1]


def test_reserves_and_other_actuators_count_apart(model, moments, optimum, tmp_path):
    _, solution = optimum
    columns = by_name(solution.force) | {"ankle_a_r_reserve": 2.0 + TIME, "FY": -30.0 * TIME}
    more = {"ankle_a_r": moments["ankle_a_r"] + 2.0 + TIME + 0.5}
    found = verify_solution(
        written(tmp_path / "t.sto", columns), model, small_motion(model), moments | more, **GIVEN
    )
    rows = {row["dof"]: row for row in found.facts["moments"]}
    assert rows["ankle_a_r"]["missing_rms"] == pytest.approx(0.5, rel=1e-6)
    assert rows["ankle_a_r"]["reserve_most"] == pytest.approx(3.0)
    assert abs(rows["hip_a_r"]["missing_most"]) < 1e-5
    (residual,) = found.facts["actuators"]
    assert (residual["name"], residual["unit"], residual["time_s"]) == ("FY", "N", 1.0)
    assert residual["most"] == pytest.approx(-30.0)
    assert np.abs(found.excess).max() < 1e-8  # the muscles are optimal for the moments that they produce


def test_controls_of_reserves_need_their_optimal_force(model, moments, optimum, tmp_path):
    _, solution = optimum
    columns = by_name(solution.activation) | {"ankle_a_r_reserve": 0.1 * np.ones(len(TIME))}
    file = written(tmp_path / "t.sto", columns)
    without = verify_solution(file, model, small_motion(model), moments, **GIVEN)
    assert any("--reserve-strength" in sentence for sentence in without.not_computed)
    known = verify_solution(file, model, small_motion(model), moments, reserve_strength=20.0, **GIVEN)
    assert not known.not_computed
    np.testing.assert_allclose(known.reserve[:, DOFS.index("ankle_a_r")], 2.0)


def test_a_muscle_beyond_its_strength_is_named_and_its_frames_are_not_compared(
    model, moments, optimum, tmp_path
):
    problem, solution = optimum
    force = solution.force.copy()
    force[FRAME, 1] = 1.25 * problem.force_capacity[FRAME, 1]
    found = verify_solution(
        written(tmp_path / "t.sto", by_name(force)), model, small_motion(model), moments, **GIVEN
    )
    (row,) = found.facts["bounds"]["above"]
    assert row["muscle"] == "two_r" and row["frames"] == 1 and row["time_s"] == pytest.approx(TIME[FRAME])
    assert row["activation"] == pytest.approx(1.25)
    assert row["strength_n"] == pytest.approx(problem.force_capacity[FRAME, 1])
    assert np.flatnonzero(~found.compared).tolist() == [FRAME] and found.complete
    assert found.facts["cost"]["frames_out_of_bounds"] == 1


def test_a_deciding_bound_is_named(model, moments, optimum, tmp_path):
    """One muscle is at its bound, and the others are what the moments leave: a stronger one would cost less."""
    problem, solution = optimum
    for k in range(3):
        bound, least = model.muscles[MUSCLES[k]], float(solution.activation[FRAME, k]) - 0.005
        held = problem.with_arrays(
            upper=np.where(np.arange(3) == k, least, 1.0) * np.ones_like(problem.lower)
        )
        there = ms.solve(held, "activation_power")
        if there.solved[FRAME]:
            break
    assert there.solved[FRAME]
    text = near_optimal_lengths(TEXT).replace(
        f'<Thelen2003Muscle name="{bound.name}">',
        f'<Thelen2003Muscle name="{bound.name}"><max_control>{least:.15g}</max_control>',
    )
    weaker = ms.read_osim(save_model(tmp_path, text))
    rows = np.flatnonzero(there.solved)
    file = written(tmp_path / "t.sto", by_name(there.activation[rows]), TIME[rows])
    found = verify_solution(file, weaker, small_motion(model), moments, **GIVEN)
    deciding = found.facts["bounds"]["deciding"]
    assert [row["muscle"] for row in deciding] == [bound.name]
    assert deciding[0]["frames"] == int((there.activation[rows, k] >= least - 1e-9).sum())
    assert np.abs(found.excess[found.compared]).max() < 1e-7


def test_least_activations_are_those_of_the_model_or_of_the_table(model, moments, optimum, tmp_path):
    _, solution = optimum
    assert all(muscle.controls == (0.01, 1.0) for muscle in model.muscles.values())
    columns = by_name(solution.activation) | {"three_r": np.zeros(len(TIME))}
    file = written(tmp_path / "t.sto", columns)
    found = verify_solution(file, model, small_motion(model), moments, **GIVEN)
    assert found.lower[0].tolist() == [0.01, 0.01, 0.0] and not found.facts["bounds"]["below"]
    assert any("three_r 0" in note for note in found.notes)
    stated = verify_solution(file, model, small_motion(model), moments, least_activation=0.01, **GIVEN)
    (row,) = stated.facts["bounds"]["below"]
    assert (row["muscle"], row["frames"]) == ("three_r", len(TIME)) and not stated.compared.any()


def test_static_optimization_of_opensim_leaves_the_cosine_out_except_of_thelen(model, tmp_path):
    pennate = near_optimal_lengths(TEXT).replace(
        "<max_isometric_force>900",
        "<pennation_angle_at_optimal>0.4</pennation_angle_at_optimal><max_isometric_force>900",
    )
    header = "ModelForces\nversion=1\nnRows=61\nnColumns=4\ninDegrees=no\nendheader\n"
    rows = "\n".join(f"{t:.9f}\t50\t50\t50" for t in TIME)
    file = tmp_path / "force.sto"
    names = "\t".join(("time", *MUSCLES))
    file.write_text(f"{header}{names}\n{rows}\n", encoding="utf-8")
    for text, fiber in ((pennate, False), (pennate.replace("Thelen2003", "Millard2012Equilibrium"), True)):
        text = text.replace("<FmaxMuscleStrain>0.5</FmaxMuscleStrain>", "") if fiber else text
        (folder := tmp_path / str(fiber)).mkdir()
        own = ms.read_osim(save_model(folder, text))
        found = verify_solution(file, own, small_motion(own), **GIVEN)
        assert found.table.program == OPENSIM
        state = found.body.whole.state
        assert (state.fiber_force_capacity > 1.01 * state.force_capacity).any()
        expected = state.fiber_force_capacity if fiber else state.force_capacity
        np.testing.assert_array_equal(found.force_capacity, expected)
        packed = tmp_path / "force.sto.gz"
        packed.write_bytes(gzip.compress(file.read_bytes()))
        again = verify_solution(packed, own, small_motion(own), **GIVEN)
        assert again.table.program == OPENSIM
        np.testing.assert_array_equal(again.force_capacity, expected)
        stated = verify_solution(file, own, small_motion(own), strength="tendon", **GIVEN)
        np.testing.assert_array_equal(stated.force_capacity, state.force_capacity)


def moco_table(model, path: Path, activation: np.ndarray, speed_error: float = 0.0) -> Path:
    """A solution as Moco writes it, with states and controls; the speed of the ankle is wrong in one frame."""
    motion = small_motion(model)
    columns = by_name(activation, "/forceset/{}/activation")
    phase = {name: k for k, name in enumerate(name for name in motion if name != "time")}
    for name, k in phase.items():
        columns[f"/jointset/joint/{name}/value"] = motion[name]
        speed = 0.4 * np.pi * np.cos(2.0 * np.pi * TIME + k)
        speed[FRAME] += speed_error * (name == "ankle_a_r")
        columns[f"/jointset/joint/{name}/speed"] = speed
    columns |= by_name(activation, "/forceset/{}")
    columns["/forceset/reserve_jointset_ankle_r_ankle_a_r"] = np.zeros(len(TIME))
    written(path, columns)
    path.write_text(path.read_text(encoding="utf-8").replace("endheader", "num_controls=4\nendheader", 1))
    return path


def test_a_solution_of_moco_brings_its_coordinates_and_its_defects(model, moments, optimum, tmp_path):
    _, solution = optimum
    right = verify_solution(
        moco_table(model, tmp_path / "a.sto", solution.activation),
        model,
        moments=moments,
        passive="none",
        dofs=DOFS,
    )
    assert right.table.program == MOCO and right.table.coordinate_of
    assert np.abs(right.excess).max() < 1e-8
    positions = [defect for defect in right.defects if defect.kind == "position"]
    assert len(positions) == 14 and all(defect.at_node < 5e-4 for defect in positions)
    wrong = moco_table(model, tmp_path / "b.sto", solution.activation, speed_error=0.2)
    every = solution_defects(read_foreign_solution(wrong, model), model)
    found = {one.name: one for one in every if one.kind == "position"}
    ankle = found["ankle_a_r"]
    assert ankle.at_node == pytest.approx(0.2, abs=5e-3) and ankle.node_s == pytest.approx(TIME[FRAME])
    assert ankle.unit == "rad/s" and 0.05 < ankle.at_middle < 0.2
    assert all(one.at_node < 5e-3 for name, one in found.items() if name != "ankle_a_r")


def test_defects_of_activation_dynamics(model, tmp_path):
    fine = np.linspace(0.0, 1.0, 1001)
    excitation = {name: 0.4 + 0.3 * np.sin(4.0 * fine + k) for k, name in enumerate(MUSCLES)}
    rise, fall = model.muscles["one_r"].time_constants
    assert (rise, fall) == (0.015, 0.050)
    dynamics = ActivationDynamics("thelen_2003", rise, fall)
    course = dynamics.activation(
        MUSCLES, lambda t: np.stack([np.interp(t, fine, excitation[name]) for name in MUSCLES], axis=1), fine
    )
    columns = by_name(course(fine), "/forceset/{}/activation") | {
        f"/forceset/{name}": values for name, values in excitation.items()
    }
    found = solution_defects(read_foreign_solution(written(tmp_path / "a.sto", columns, fine), model), model)
    assert {one.kind for one in found} == {"activation"} and len(found) == 3
    assert all(one.at_node < 0.05 for one in found)  # at the switch of the equation the spline has an error
    columns["/forceset/two_r"] = columns["/forceset/two_r"] + 0.1
    planted = {
        one.name: one
        for one in solution_defects(
            read_foreign_solution(written(tmp_path / "b.sto", columns, fine), model), model
        )
    }
    assert planted["two_r"].at_node > 2.0 > planted["one_r"].at_node  # about 0.1 / fall [1/s]


def test_elastic_tendons_leave_the_cost_out_and_say_so(model, moments, optimum, tmp_path):
    _, solution = optimum
    columns = by_name(solution.force / 900.0, "/forceset/{}/normalized_tendon_force")
    found = verify_solution(
        written(tmp_path / "t.sto", columns), model, small_motion(model), moments, **GIVEN
    )
    assert found.least is None and any("elastic" in sentence for sentence in found.not_computed)
    assert found.missing_moment is not None and np.abs(found.missing_moment).max() < 1e-5
    np.testing.assert_allclose(found.force, solution.force, rtol=1e-9)


def test_tables_of_elastic_tendons_of_this_program_have_no_cost(tmp_path):
    """Activations of elastic tendons are no optimum of rigid ones; their forces carry the moments all the same."""
    time = np.linspace(0.0, 1.0, 101)
    wave, names = np.sin(2.0 * np.pi * time), ("hip_flexion_r", "knee_angle_r", "ankle_angle_r")
    poses = np.stack([0.3 * wave, 0.3 * wave - 0.5, 0.1 * wave], axis=1)
    due = np.stack([-30.0 * wave, 20.0 * wave, 0.0 * wave - 50.0], axis=1)
    write_mot(tmp_path / "ik.mot", Table(time, names, poses, False, tmp_path))
    write_mot(
        tmp_path / "id.sto", Table(time, tuple(f"{name}_moment" for name in names), due, False, tmp_path)
    )
    inputs = REPOSITORY / "examples" / "opensim_model" / "leg.osim", tmp_path / "ik.mot", tmp_path / "id.sto"
    words = [*zip(("--model", "--coordinates", "--moments"), map(str, inputs), strict=True)]
    choice = ["--cost", "activation_power", "--cutoff-hz", "none", "--no-figures", "--tendon"]
    for tendon in ("rigid", "elastic"):
        folder = tmp_path / tendon
        done = typed("share", *(word for pair in words for word in pair), *choice, tendon, "-o", folder)
        assert done.exit_code == 0, done.output
        for ending in ("force", "activation"):
            found = verify_solution(folder / f"ik_{ending}.sto", *inputs, cutoff_hz="none")
            assert found.table.program == "musclesolve"
            assert (found.facts["cost"] is None) == found.table.elastic == (tendon == "elastic")
            missed = np.abs(found.missing_moment).max()
            if (tendon, ending) == ("elastic", "activation"):
                assert missed > 1.0 and any("moments of rigid tendons" in said for said in found.not_computed)
            else:
                assert missed < 1e-4


def test_without_moments_the_cost_is_compared_all_the_same(model, optimum, tmp_path):
    _, solution = optimum
    file = written(tmp_path / "t.sto", by_name(solution.activation))
    found = verify_solution(file, model, small_motion(model), **GIVEN)
    assert found.missing_moment is None and found.sentences["moments"] == []
    assert any("not known" in sentence for sentence in found.not_computed)
    assert found.compared.all() and np.abs(found.excess).max() < 1e-8


def test_tables_of_another_rate_are_compared_at_the_nearest_frames(model, moments, optimum, tmp_path):
    _, solution = optimum
    every = np.s_[::5]
    file = written(tmp_path / "t.sto", by_name(solution.activation[every]), TIME[every] + 1e-9)
    found = verify_solution(file, model, small_motion(model), moments, **GIVEN)
    np.testing.assert_allclose(found.time, TIME[every])
    assert np.abs(found.excess).max() < 1e-5


def test_what_is_no_table_of_the_model_is_refused(model, moments, tmp_path):
    for table in (model, None, {"time": TIME}):
        with refused("bad_type", "to_csv"):
            verify_solution(table, model, small_motion(model))
    zero = np.zeros(len(TIME))
    with refused("missing_column", "no_muscle"):
        verify_solution(written(tmp_path / "a.sto", {"no_muscle": zero}), model, small_motion(model), moments)
    twice = {"one_r": zero, "/forceset/one_r/activation": zero, "one_r.activation": zero}
    with refused("duplicate_name", "one_r"):
        verify_solution(written(tmp_path / "b.sto", twice), model, small_motion(model), moments)
    plain = written(tmp_path / "c.sto", by_name(np.zeros((len(TIME), 3))))
    with refused("missing_argument", "coordinates"):
        verify_solution(plain, model)
    late = {name: values + 9.0 * (name == "time") for name, values in small_motion(model).items()}
    with refused("no_overlap"):
        verify_solution(plain, model, late)
    with refused("models.problem_single_frames"):
        verify_solution(plain, model, small_motion(model), moments, tendon="elastic")


def test_the_command_prints_sentences_and_writes_a_table(optimum, tmp_path):
    path = save_model(tmp_path, near_optimal_lengths(TEXT))
    coordinates, moments = save_inputs(tmp_path, ms.read_osim(path))
    given = feasible_given(path)
    table = tmp_path / "solution.csv"
    with table.open("w", newline="") as file:
        csv.writer(file).writerows([["time", *MUSCLES], *np.column_stack([TIME, given]).tolist()])
    words = ["verify", table, "--model", path, "--coordinates", coordinates, "--moments", moments]
    words += [
        "--passive",
        "table",
        "--cutoff-hz",
        "none",
        "--coordinate",
        "hip_a_r",
        "--coordinate",
        "ankle_a_r",
    ]
    done = typed(*words, "-o", tmp_path / "frames.csv")
    assert done.exit_code == 0, done.output
    assert "above the least cost" in done.output and "solution.csv: activations of 3 muscles" in done.output
    rows = list(csv.DictReader((tmp_path / "frames.csv").read_text(encoding="utf-8").splitlines()))
    assert len(rows) == len(TIME) and {"cost", "least_cost", "two_r_difference_n"} <= rows[0].keys()
    costs = np.array([[float(row["cost"]), float(row["least_cost"])] for row in rows])
    np.testing.assert_allclose(costs[:, 0], (given**2).sum(axis=1), rtol=1e-6)
    assert (costs[:, 0] >= costs[:, 1] * (1.0 - 1e-9)).all()
    document = json.loads(typed(*words, "--json").output)
    assert document["command"] == "verify" and document["cost"]["excess"] > 0.0
    refusal = typed(*words, "--quantity", "work")
    assert refusal.exit_code == 2 and "forces" in refusal.output


def feasible_given(path: Path) -> np.ndarray:
    """Activations 0.3 of all muscles, which `save_inputs` made the moments of."""
    return np.full((len(TIME), len(ms.read_osim(path).muscles)), 0.3)


def test_static_optimization_of_a_published_run_is_near_the_least_cost():
    """Its moments are met within half a newton meter, and its cost is the least to a thousandth."""
    folder = recorded("foreign_recordings/opensim_rra")
    found = verify_solution(
        folder / "task_StaticOptimization_force.sto",
        folder / "model_adjusted.osim",
        folder / "task_Kinematics_q.sto",
        folder / "task_InverseDynamics.sto",
        cutoff_hz="none",
    )
    assert found.table.program == OPENSIM and found.compared.all() and len(found.muscles) == 92
    assert 0.0 <= found.facts["cost"]["excess"] < 1e-3
    assert found.missing_moment is not None and np.abs(found.missing_moment).max() < 0.5
    assert found.activation.min() == pytest.approx(0.01, abs=1e-4)


def test_tables_of_this_program_have_its_strengths(tmp_path):
    """With the cosine of pennation, along the tendons: the forces that `share` writes are the least cost."""
    folder = recorded("rajagopal_walk/reference")
    inputs = [
        folder / name
        for name in ("rajagopal_lai_uhlrich_2023_scaled.osim", "opensim_ik.mot", "opensim_id.sto")
    ]
    words = [*zip(("--model", "--coordinates", "--moments"), map(str, inputs), strict=True)]
    choice = ["--cost", "activation_power", "--side", "r", "--end", "0.8", "--no-figures"]
    done = typed("share", *(word for pair in words for word in pair), *choice, "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    for ending in ("force", "activation"):
        found = verify_solution(tmp_path / "out" / f"opensim_ik_{ending}.sto", *inputs, side="r", end_s=0.8)
        assert found.table.program == "musclesolve" and found.compared.all()
        assert abs(found.facts["cost"]["excess"]) < 1e-6
        assert found.missing_moment is not None and np.abs(found.missing_moment).max() < 1e-4
        assert not any("check that" in sentence for sentence in found.sentences["solution"])


def test_a_table_of_another_model_or_filter_is_doubted_at_its_joint():
    """Muscles of the same names in another model miss a fifth of a moment; a filter some newton meters."""
    walk, run = recorded("rajagopal_walk/reference"), recorded("foreign_recordings/opensim_rra")
    of_2016 = verify_solution(
        walk / "opensim_so_rajagopal2016_force.sto",
        walk / "rajagopal_lai_uhlrich_2023_scaled.osim",
        walk / "opensim_ik.mot",
        walk / "opensim_id.sto",
    )
    assert "hip_rotation_r" in of_2016.sentences["solution"][1]
    filtered = verify_solution(
        run / "task_StaticOptimization_force.sto",
        run / "model_adjusted.osim",
        run / "task_Kinematics_q.sto",
        loads=run / "setup_grf.xml",
    )
    assert "--cutoff-hz; the coordinates are filtered at 6 Hz" in filtered.sentences["solution"][1]


def test_frames_without_known_coordinates_are_named_and_left_out(model, moments, optimum, tmp_path):
    _, solution = optimum
    motion = {name: values.copy() for name, values in small_motion(model).items()}
    motion["knee_r"][FRAME] = np.nan
    file = written(tmp_path / "t.sto", by_name(solution.activation))
    found = verify_solution(file, model, motion, moments, dofs=DOFS)
    assert found.missing_moment is not None and np.isnan(found.missing_moment[FRAME]).all()
    assert np.isfinite(found.missing_moment[0]).all()
    assert any("coordinates have no value" in sentence for sentence in found.not_computed)
    assert all(np.isfinite(row["missing_most"]) for row in found.facts["moments"])


def test_frames_without_a_number_are_counted_apart(model, moments, optimum, tmp_path):
    _, solution = optimum
    columns = by_name(solution.force.copy())
    columns["two_r"][FRAME] = np.nan
    found = verify_solution(
        written(tmp_path / "t.sto", columns), model, small_motion(model), moments, **GIVEN
    )
    cost = found.facts["cost"]
    assert (cost["frames_out_of_bounds"], cost["frames_without_number"]) == (0, 1)
    assert np.flatnonzero(~found.compared).tolist() == [FRAME] and found.complete
    assert "no number for the activation of two_r: 1 frame" in " ".join(found.sentences["cost"])
    assert "out of their bounds" not in " ".join(found.sentences["cost"])


def test_a_doubled_column_is_refused(model, tmp_path):
    file = tmp_path / "t.csv"
    rows = "\n".join(f"{t:.3f},0.1,0.2,0.3,0.4" for t in TIME)
    file.write_text(f"time,one_r,two_r,three_r,two_r\n{rows}\n", encoding="utf-8")
    with refused("duplicate_name", "two_r"):
        read_foreign_solution(file, model)


@pytest.mark.parametrize("form", ["semicolons", "packed", "unit", "latin-1"])
def test_columns_of_text_as_spreadsheets_write_them(model, tmp_path, form):
    title, mark = ("Time (s)" if form == "unit" else "time"), ";" if form == "semicolons" else ","
    names = (title, *MUSCLES, "Kraft \N{LATIN SMALL LETTER A WITH DIAERESIS}")
    lines = [mark.join(names), *(mark.join([f"{t:.9f}", "0.1", "0.2", "0.3", "7"]) for t in TIME)]
    raw = ("\n".join(lines) + "\n").encode("latin-1" if form == "latin-1" else "utf-8")
    file = tmp_path / ("t.csv.gz" if form == "packed" else "t.csv")
    file.write_bytes(gzip.compress(raw) if form == "packed" else raw)
    found = read_foreign_solution(file, model)
    assert found.muscles == MUSCLES and found.left_out == (names[-1],)
    np.testing.assert_allclose(found.time, TIME, atol=1e-8)
    np.testing.assert_array_equal(found.activation["two_r"], 0.2)


def test_a_time_without_a_number_is_refused_with_its_line(model, tmp_path):
    file = tmp_path / "t.csv"
    lines = [f"{t:.3f},0.1,0.2,0.3" for t in TIME]
    lines[5] = "nan,0.1,0.2,0.3"
    file.write_text("\n".join(["time,one_r,two_r,three_r", *lines, ""]), encoding="utf-8")
    with pytest.raises(ms.InputError, match="7"):
        read_foreign_solution(file, model)


def test_rows_out_of_the_motion_are_counted_and_rounded_ones_are_within(model, moments, optimum, tmp_path):
    _, solution = optimum
    part = {name: values[10:] for name, values in small_motion(model).items()}
    due = {name: values[10:] for name, values in moments.items()}
    file = written(tmp_path / "t.sto", by_name(solution.force))
    found = verify_solution(file, model, part, due, **GIVEN)
    assert len(found.time) == len(TIME) - 10
    assert any(
        note.startswith("Rows of the table outside") and note.endswith(": 10.") for note in found.notes
    )
    step = TIME[1] - TIME[0]
    short = TIME - 0.2 * step * (np.arange(len(TIME)) == len(TIME) - 1)
    table = read_foreign_solution(file, model)
    notes: list[str] = []
    rows, _, outside = _frames(replace(table, time=short), TIME, notes)
    assert rows.tolist() == list(range(len(TIME))) and not notes and outside == 0


def test_a_table_of_another_unit_or_model_is_doubted_first(model, moments, optimum, tmp_path):
    _, solution = optimum
    right = verify_solution(
        written(tmp_path / "a.sto", by_name(solution.force)), model, small_motion(model), moments, **GIVEN
    )
    assert len(right.sentences["solution"]) == 1
    milli = written(tmp_path / "b.sto", by_name(solution.force / 100.0))
    found = verify_solution(milli, model, small_motion(model), moments, quantity="forces", **GIVEN)
    assert "belong together" in found.sentences["solution"][1]
    others = {f"/forceset/{name}/fiber_length": np.full(len(TIME), 0.1) for name in MUSCLES}
    others |= {f"muscle_{k}": np.full(len(TIME), 0.2) for k in range(4)}
    alien = written(tmp_path / "c.sto", by_name(solution.force) | others)
    found = verify_solution(alien, model, small_motion(model), moments, **GIVEN)
    assert "only 3 of 7 columns" in found.sentences["solution"][1]


def test_a_table_in_milliseconds_or_without_any_force_is_doubted_first(model, moments, optimum, tmp_path):
    """Else a single common time, or a cost of zero, would look like agreement."""
    _, solution = optimum
    late = written(tmp_path / "a.sto", by_name(solution.force), 1000.0 * (TIME - TIME[0]) + TIME[0])
    found = verify_solution(late, model, small_motion(model), moments, **GIVEN)
    assert f"only 1 of {len(TIME)} rows" in found.sentences["solution"][1]
    assert found.rows_outside == len(TIME) - 1
    empty = written(tmp_path / "b.sto", by_name(0.0 * solution.force))
    found = verify_solution(empty, model, small_motion(model), **GIVEN)
    assert "no force in any frame" in found.sentences["solution"][1]


def test_a_table_that_opensim_titles_as_forces_has_forces(model, optimum, tmp_path):
    """Forces of weak muscles may all be below 1.5 N."""
    file = written(tmp_path / "a.sto", by_name(1e-3 * optimum[1].force))
    assert read_foreign_solution(file, model).activation
    titled = tmp_path / "b.sto"
    titled.write_text("\n".join(["ModelForces", *file.read_text().splitlines()[1:]]))
    assert read_foreign_solution(titled, model).force
    assert read_foreign_solution(titled, model, "activations").activation


def test_forces_that_push_are_no_bound_and_equal_forces_no_difference(model, moments, tmp_path):
    zero = np.zeros(len(TIME))
    pushing = {"one_r": zero - 300.0, "two_r": zero + 10.0, "three_r": zero}
    found = verify_solution(
        written(tmp_path / "a.sto", pushing), model, small_motion(model), moments, **GIVEN
    )
    (note,) = [note for note in found.notes if "least controls" in note]
    assert "one_r" not in note and "three_r 0" in note
    assert found.facts["bounds"]["below"][0]["muscle"] == "one_r"
    rest = written(tmp_path / "b.sto", dict.fromkeys(MUSCLES, zero))
    still = verify_solution(rest, model, small_motion(model), **GIVEN)
    assert "largest difference" not in " ".join(still.sentences["cost"])


def test_a_misspelled_keyword_gets_the_names_of_the_function(model):
    with pytest.raises(TypeError, match="did you mean 'strength'"):
        verify_solution("t.sto", model, strenght="fiber")


def test_other_actuators_are_taken_from_the_frames_alone(model, moments, optimum, tmp_path):
    _, solution = optimum
    columns = by_name(solution.force) | {"FY": -30.0 * TIME}
    file = written(tmp_path / "t.sto", columns)
    found = verify_solution(file, model, small_motion(model), moments, start_s=0.2, end_s=0.5, **GIVEN)
    (row,) = found.facts["actuators"]
    assert row["time_s"] <= 0.5 + 1e-9 and row["most"] == pytest.approx(-30.0 * row["time_s"])


def test_the_optimal_forces_of_reserves_are_those_of_the_model(model, moments, optimum, tmp_path):
    """As `ModOpAddReserves` of OpenSim adds them; the note that they exert no force is left out."""
    reserve = """<CoordinateActuator name="ankle_a_r_reserve"><coordinate>ankle_a_r</coordinate>
        <optimal_force>20</optimal_force></CoordinateActuator>"""
    text = near_optimal_lengths(TEXT)
    assert text.count("<ForceSet>") == 1
    at = text.index("<objects>", text.index("<ForceSet>")) + len("<objects>")
    with_reserve = ms.read_osim(save_model(tmp_path, text[:at] + reserve + text[at:]))
    assert with_reserve.actuators["ankle_a_r_reserve"].optimal_force == 20.0
    _, solution = optimum
    columns = by_name(solution.activation) | {"ankle_a_r_reserve": 0.1 * np.ones(len(TIME))}
    file = written(tmp_path / "t.sto", columns)
    found = verify_solution(file, with_reserve, small_motion(with_reserve), moments, **GIVEN)
    np.testing.assert_allclose(found.reserve[:, DOFS.index("ankle_a_r")], 2.0)
    assert not found.not_computed and not [note for note in found.notes if "exert no force" in str(note)]
    stated = verify_solution(
        file, with_reserve, small_motion(with_reserve), moments, reserve_strength=10.0, **GIVEN
    )
    np.testing.assert_allclose(stated.reserve[:, DOFS.index("ankle_a_r")], 1.0)


def test_tables_of_cmc_have_elastic_tendons_and_no_cost(model, moments, optimum, tmp_path):
    _, solution = optimum
    forces = written(tmp_path / "cmc_Actuation_force.sto", by_name(solution.force))
    lines = forces.read_text(encoding="utf-8").splitlines()
    forces.write_text("\n".join(["ActuatorForces", *lines[1:]]) + "\n", encoding="utf-8")
    found = verify_solution(forces, model, small_motion(model), moments, **GIVEN)
    assert found.table.program == CMC and found.table.elastic and found.facts["cost"] is None
    assert max(abs(row["missing_most"]) for row in found.facts["moments"]) < 1e-4
    assert not found.sentences["bounds"] and any("elastic" in each for each in found.not_computed)
    controls = written(tmp_path / "cmc_controls.sto", by_name(solution.activation))
    lines = controls.read_text(encoding="utf-8").splitlines()
    controls.write_text("\n".join(["controls", *lines[1:]]) + "\n", encoding="utf-8")
    with refused("bad_value", "cmc_controls.sto", "excitations", "_Actuation_force.sto"):
        verify_solution(controls, model, small_motion(model), moments, **GIVEN)


@pytest.mark.parametrize("form", ["storage", "comma", "real time"])
def test_tables_of_ceinms(model, moments, optimum, tmp_path, form):
    """As its loggers write them: "datacolumns" without degrees, "Time" with commas, tabs at the ends of lines."""
    _, solution = optimum
    folder = tmp_path / form
    folder.mkdir()

    def saved(name: str, values: np.ndarray) -> Path:
        rows = [("time", *MUSCLES), *np.column_stack([TIME, values]).tolist()]
        mark, end, head = {
            "storage": ("\t", "", f"CEINMS output\ndatacolumns 4\ndatarows {len(TIME)}\nendheader\n"),
            "comma": (",", "", ""),
            "real time": ("\t", "\t", f"{name}\nnRows={len(TIME)}\nnColumns=4\nendheader\n"),
        }[form]
        if form == "comma":
            rows[0] = ("Time", *MUSCLES)
        path = folder / f"{name}.{'csv' if form == 'comma' else 'sto'}"
        path.write_text(
            head + "".join(f"{mark.join(map(str, row))}{end}\n" for row in rows), encoding="utf-8"
        )
        return path

    motion = small_motion(model)
    for name, values in (("MuscleForces", solution.force), ("Activations", solution.activation)):
        found = verify_solution(saved(name, values), model, motion, moments, passive="none", **GIVEN)
        assert (found.table.program == CEINMS) == (form == "storage")
        np.testing.assert_allclose(found.activation, solution.activation, atol=1e-9)
        assert max(abs(row["missing_most"]) for row in found.facts["moments"]) < 1e-4
        assert abs(found.facts["cost"]["excess"]) < 1e-6
    for name in ("FiberLengths", "normFibreLengths", "Emgs", "AdjustedEmgs", "PennationAngles", "lmt"):
        with refused("bad_value", f"{name}.", "MuscleForces.sto"):
            read_foreign_solution(saved(name, solution.activation), model)
    assert read_foreign_solution(saved("Emgs", solution.activation), model, "activations").activation


def test_passive_forces_of_ceinms_are_those_of_the_model(model, moments, optimum, tmp_path):
    _, solution = optimum
    path = written(tmp_path / "MuscleForces.sto", by_name(solution.force))
    lines = path.read_text(encoding="utf-8").splitlines()
    found = []
    for title in ("forces", "CEINMS output"):
        path.write_text("\n".join([title, *lines[1:]]) + "\n", encoding="utf-8")
        found.append(verify_solution(path, model, small_motion(model), moments, **GIVEN).body)
    assert [body.settings.muscles.passive for body in found] == ["none", "table"]


def test_states_of_cmc_whose_names_follow_in_a_line_of_their_own(model, moments, optimum, tmp_path):
    """As OpenSim 4.6 writes them."""
    _, solution = optimum
    columns = by_name(solution.activation, "/forceset/{}/activation")
    columns |= {f"/forceset/{name}/fiber_length": np.full(len(TIME), 0.1) for name in MUSCLES}
    file = written(tmp_path / "cmc_states.sto", columns)
    text = file.read_text(encoding="utf-8").replace("\ntime\t", "\ntime\n", 1)
    file.write_text(text, encoding="utf-8")
    found = verify_solution(file, model, small_motion(model), moments, **GIVEN)
    assert found.table.fiber_states and found.facts["cost"] is None
    np.testing.assert_allclose(found.activation, solution.activation, atol=1e-12)
    assert any("rigid tendons" in each for each in found.not_computed)


def test_muscles_whose_passive_forces_the_model_leaves_out_have_none(tmp_path):
    """`ignore_passive_fiber_force`, as `ModOpIgnorePassiveFiberForcesDGF` sets it: of one muscle of three."""
    flag = "<ignore_passive_fiber_force>true</ignore_passive_fiber_force></Thelen2003Muscle>"
    forces = []
    for text in (TEXT, flag.join(TEXT.rsplit("</Thelen2003Muscle>", 1))):
        model = ms.read_osim(save_model(tmp_path, text))
        parameters = muscle_parameters(list(model.muscles.values()))
        forces.append(parameters.passive.force)
    (switched,) = np.flatnonzero(forces[0] != forces[1])
    assert forces[0].min() > 0.0 and forces[1][switched] == 0.0
    assert [muscle.passive for muscle in model.muscles.values()].index(False) == switched
