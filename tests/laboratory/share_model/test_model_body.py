"""The problem of an OpenSim model: laws on a small one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from measured_model import measured_model
from modeled import sharing_by
from refusals import refused
from small_model_motion import DOFS, TIME, feasible_moments, save_inputs, small_motion

from musclesolve import Problem, opensim_problem, read_osim
from musclesolve.laboratory.forces import share
from musclesolve.laboratory.results.facts import Facts
from musclesolve.laboratory.run_trial import share_model
from musclesolve.models.body_sharing import sharing_problem
from musclesolve.models.opensim import opensim_geometry
from musclesolve.models.opensim.moments import coordinate_moments
from musclesolve.models.opensim.shared_choice import shared_choice
from musclesolve.muscles.scaling.scale_muscles import separate_groups


def found(small, **choices: object):
    given = {"dofs": DOFS, "passive": "table", **choices}
    return measured_model(small, small_motion(small), feasible_moments(small), **given)  # type: ignore[arg-type]


def of_all(body) -> Problem:
    """The problem of all muscles and coordinates at once."""
    return sharing_problem(body.whole, body.sharing)


def shared(body, cost: str):
    return share(body, sharing_by(cost))


def test_a_muscle_has_arms_about_what_it_crosses_alone(small) -> None:
    names = [name for name in small.coordinates if name != "beta_r"]
    rng = np.random.default_rng(3)
    arms = opensim_geometry(small, {name: rng.uniform(0.1, 0.9, 5) for name in names}, names)
    for i, muscle in enumerate(arms.muscles):
        moved = {names[k] for k in np.flatnonzero(np.abs(arms.moment_arm[:, :, i]).max(axis=0) > 1e-12)}
        assert moved <= small.crossing[muscle]
    assert small.crossing["three_r"] == {"ankle_a_r", "ankle_b_r"}


def test_a_muscle_has_no_arm_at_all_about_what_it_does_not_cross(small) -> None:
    """Not even round-off, which would rule the optimum where the muscles of a coordinate have no capacity."""
    problem = found(small)
    for i, muscle in enumerate(problem.choice.names):
        for k, dof in enumerate(problem.choice.dofs):
            crossed = dof in problem.choice.crossing[muscle]
            assert problem.whole.state.moment_arm[:, k, i].any() == crossed


def test_groups_are_those_that_no_muscle_connects() -> None:
    acts = np.array([[dof in crossed for crossed in ("xy", "z", "yw", "z")] for dof in "xyzw"])
    found = [(dofs.tolist(), muscles.tolist()) for dofs, muscles in separate_groups(acts)]
    assert found == [([0, 1, 3], [0, 2]), ([2], [1, 3])]


def test_the_rate_of_the_length_is_its_derivative(small) -> None:
    """Over all coordinates, the driven patella and those that are not shared included."""
    problem = found(small, cutoff_hz=None)
    slope = np.gradient(problem.whole.state.musculotendon_length, TIME, axis=0, edge_order=2)
    error = np.abs(problem.whole.state.musculotendon_velocity - slope)[2:-2]
    assert error[:, 1:].max() < 6e-3
    assert np.sort(error[:, 0])[-5] < 6e-3  # a conditional point comes and goes twice
    assert np.abs(problem.whole.state.musculotendon_velocity).max() > 0.2


def test_known_activations_are_a_solution(small) -> None:
    """Contractile and passive forces together produce the given moments."""
    problem = found(small)
    whole = of_all(problem)
    assert whole.passive_force.max() > 1.0
    active = np.einsum("tmn,n->tm", whole.moment_matrix, np.full(3, 0.3))
    np.testing.assert_allclose(active, whole.moment, atol=1e-9)
    without = of_all(found(small, passive="none"))
    np.testing.assert_allclose(without.moment, problem.moment, atol=1e-12)
    assert not without.passive_force.any()


def test_a_locked_coordinate_stays_at_its_default(small, tmp_path: Path) -> None:
    from small_model import TEXT, save_model

    from musclesolve import read_osim

    text = TEXT.replace('<Coordinate name="ankle_b_r">', '<Coordinate name="ankle_b_r"><locked>true</locked>')
    locked = read_osim(save_model(tmp_path, text))
    usual = measured_model(locked, small_motion(small), {n: np.zeros(61) for n in small.coordinates})
    assert usual.choice.dofs == ("hip_a_r", "hip_b_r", "hip_c_r", "knee_r", "ankle_a_r")
    motion = {**small_motion(small), "ankle_b_r": np.full(61, small.coordinates["ankle_b_r"].default)}
    still = measured_model(small, motion, feasible_moments(small), dofs=DOFS)
    np.testing.assert_allclose(
        usual.whole.state.musculotendon_length, still.whole.state.musculotendon_length, atol=1e-12
    )


def test_groups_are_solved_as_the_whole_is(small) -> None:
    from musclesolve import solve

    problem = found(small)
    apart, whole = shared(problem, "activation_power"), solve(of_all(problem), "activation_power")
    assert len(apart.parts) == 2
    np.testing.assert_allclose(apart.activation, whole.activation, atol=2e-5)


def test_what_one_group_cannot_do_does_not_concern_another(small) -> None:
    moments = feasible_moments(small)
    moments["hip_a_r"] = np.full(61, np.nan)
    spoilt = measured_model(small, small_motion(small), moments, dofs=DOFS, passive="table")
    result = shared(spoilt, "activation_power")
    assert not result.parts[0].solution.solved.any() and result.parts[1].solution.solved.all()
    good = shared(found(small), "activation_power")
    np.testing.assert_allclose(result.activation[:, 1:], good.activation[:, 1:], atol=1e-12)


def test_files_give_the_same_problem_as_arrays(small, tmp_path: Path) -> None:
    files = save_inputs(tmp_path, small)
    from_files = opensim_problem(small.file, *files, dofs=DOFS, passive="table")
    np.testing.assert_allclose(from_files.moment, of_all(found(small)).moment, atol=1e-8)


def test_frames_are_those_with_moments_in_the_range(small) -> None:
    half = {"time": TIME[::2], **{name: values[::2] for name, values in feasible_moments(small).items()}}
    cut = {name: values[10:25] for name, values in half.items()}
    part = measured_model(small, small_motion(small), cut, dofs=DOFS)
    np.testing.assert_allclose(part.motion.time, TIME[20:49])
    assert any("have no moments" in note and "32" in note for note in part.notes)
    ranged = measured_model(small, small_motion(small), half, dofs=DOFS, start_s=0.2, end_s=0.3)
    assert not any("time range" in note for note in ranged.notes)
    beyond = measured_model(small, small_motion(small), half, dofs=DOFS, start_s=0.2, end_s=30.0)
    assert any("from 0.2 s to 30 s, reaches beyond" in note for note in beyond.notes)
    np.testing.assert_allclose(ranged.motion.time[[0, -1]], [0.2, 0.3])


def test_moments_are_interpolated_and_found_by_their_suffix() -> None:
    given = {"time": np.array([0.0, 1.0]), "a_moment": np.array([0.0, 2.0]), "t_force": np.array([1.0, 1.0])}
    moments = coordinate_moments(given, ("t", "a"), np.array([-0.5, 0.25, 1.0]))
    np.testing.assert_allclose(moments.moment[1:], [[1.0, 0.5], [1.0, 2.0]])
    assert moments.covered.tolist() == [False, True, True]


@pytest.mark.parametrize(
    ("choices", "code", "parts"),
    [
        ({"dofs": ["beta_r"]}, "conflict", ["beta_r", "knee_r"]),
        ({"dofs": ["tx"]}, "conflict", ["tx"]),
        ({"dofs": []}, "conflict", ["no muscle"]),
        ({"dofs": ["hip_r"]}, "unknown_name", ["hip_r"]),
        ({"dofs": ["knee_r", "knee_r"]}, "duplicate_name", ["knee_r"]),
        ({"muscles": ["four_r"]}, "unknown_name", ["four_r"]),
        ({"muscles": ["three_r"], "dofs": ["knee_r"]}, "conflict", ["knee_r"]),
        ({"side": "l"}, "conflict", ["no muscle"]),
        ({"side": "left"}, "unknown_name", ["left"]),
        ({"passive": "calibrated"}, "unknown_name", ["calibrated"]),
        ({"reserve_weight": -1.0}, "bad_number", ["reserve_weight"]),
        ({"contact_spacing_m": 46, "loads": "l.mot"}, "bad_number", ["46", "at most 0.1", "unit"]),
        ({"contact_spacing_m": 0.0, "loads": "l.mot"}, "bad_number", ["at least 0.01"]),
        ({"start_s": 3.0, "dofs": DOFS}, "bad_range", ["from 3 s"]),
        ({"start_s": "now", "dofs": DOFS}, "bad_number", ["start_s", "now"]),
        ({"dofs": ["knee_r"]}, "missing_column", ["knee_r_moment"]),
    ],
)
def test_what_cannot_be_asked_for_is_refused(
    small, choices: dict[str, Any], code: str, parts: list[str]
) -> None:
    with refused(code, *parts):
        opensim_problem(small, small_motion(small), feasible_moments(small), **choices)


def test_coordinates_and_moments_must_belong_together(small) -> None:
    motion, moments = small_motion(small), feasible_moments(small)
    without = {name: values for name, values in motion.items() if name != "ankle_b_r"}
    with refused("missing_column", "ankle_b_r"):
        opensim_problem(small, without, moments, dofs=DOFS)
    with refused("no_overlap", "5", "1"):
        opensim_problem(small, motion, {"time": TIME + 5.0, **moments}, dofs=DOFS)


def test_coordinates_given_as_moments_are_refused(small, tmp_path: Path) -> None:
    coordinates, _ = save_inputs(tmp_path, small)
    with refused("missing_column", "ik.mot", "hip_a_r_moment"):
        opensim_problem(small, coordinates, coordinates, dofs=DOFS)


def test_a_muscle_that_acts_on_nothing_shared_is_left_out_with_a_note(small) -> None:
    problem = found(small, dofs=["ankle_a_r"])
    assert problem.muscles == ("two_r", "three_r")
    assert any("one_r" in note for note in problem.notes)


def test_a_muscle_that_the_model_switches_off_is_left_out_with_a_note(tmp_path: Path) -> None:
    from small_model import TEXT, save_model

    from musclesolve import read_osim

    text = TEXT.replace(
        '<Thelen2003Muscle name="three_r">',
        '<Thelen2003Muscle name="three_r"><appliesForce>false</appliesForce>',
    )
    problem = found(read_osim(save_model(tmp_path, text)))
    assert problem.muscles == ("one_r", "two_r")
    assert any("switches off" in note and "three_r" in note for note in problem.notes)


def test_bounds_of_controls_that_opensim_keeps_are_noted(tmp_path: Path) -> None:
    """OpenSim's static optimization keeps activations from min_control to max_control, whose default is 0.01."""
    from small_model import TEXT, save_model

    bounds = {"one_r": (0.01, "1"), "two_r": (0.01, "0.6"), "three_r": (0.2, "Inf")}
    for name, (least, most) in bounds.items():
        start = f'<Thelen2003Muscle name="{name}">'
        stated = f"<min_control>{least}</min_control><max_control>{most}</max_control>"
        assert start in TEXT
        TEXT = TEXT.replace(start, start + stated)
    (note,) = (each for each in found(read_osim(save_model(tmp_path, TEXT))).notes if "controls" in each)
    assert "two_r (0.01 to 0.6), three_r (0.2 to inf)" in note and "one_r" not in note


def test_gravity_along_another_axis_is_refused_with_loads_and_noted_with_moments(small) -> None:
    """Global axes of a result are made of a y axis that points up; a tilted floor is none of another axis."""
    upward = replace(small, gravity=np.array([0.0, 0.0, -9.81]))
    with refused("unsupported", "-9.81", "-y"):
        measured_model(upward, small_motion(small), dofs=DOFS, loads="predicted")
    assert any("not along -y" in note for note in found(upward).notes)
    tilted = replace(small, gravity=9.81 * np.array([np.sin(0.2), -np.cos(0.2), 0.0]))
    assert not any("not along -y" in note for note in found(tilted).notes)


def test_tendons_are_carried_and_change_no_problem_of_rigid_ones(small, tmp_path: Path) -> None:
    from small_model import TEXT, save_model

    from musclesolve import read_osim

    usual, elastic = found(small), found(small, tendon="elastic", tendon_strain={"two": 0.08})
    assert (usual.settings.muscles.tendon, elastic.settings.muscles.tendon) == ("rigid", "elastic")
    assert usual.whole.state.parameters.tendon_strain.tolist() == [0.04] * 3
    assert elastic.whole.state.parameters.tendon_strain.tolist() == [0.04, 0.08, 0.04]
    text = TEXT.replace("<FmaxMuscleStrain>", "<FmaxTendonStrain>0</FmaxTendonStrain><FmaxMuscleStrain>")
    stiff = read_osim(save_model(tmp_path, text))
    again = found(stiff)
    np.testing.assert_array_equal(again.whole.state.force_capacity, usual.whole.state.force_capacity)
    np.testing.assert_array_equal(again.moment, usual.moment)
    with refused("bad_number", "one_r", "small"):
        found(stiff, tendon="elastic")
    softened = found(stiff, tendon="elastic", tendon_strain=0.05)
    assert softened.whole.state.parameters.tendon_strain.tolist() == [0.05] * 3


@pytest.mark.parametrize(
    ("choices", "code", "parts"),
    [
        ({"tendon": "stiff"}, "unknown_name", ["stiff", "elastic"]),
        ({"tendon_strain": 0.06}, "conflict", ["tendon_strain", "rigid"]),
        ({"tendon": "elastic", "tendon_strain": 0.6}, "bad_number", ["tendon_strain", "0.6"]),
        ({"tendon": "elastic", "tendon_strain": {"two_r": -1}}, "bad_number", ["'two_r'", "-1"]),
        ({"tendon": "elastic", "tendon_strain": {"tow_r": 0.06}}, "unknown_name", ["'tow_r'", "'two_r'"]),
        ({"tendon": "elastic", "tendon_strain": {"achilles": 0.06}}, "unknown_name", ["soleus", "one_r"]),
    ],
)
def test_tendons_that_cannot_be_are_refused(
    small, choices: dict[str, Any], code: str, parts: list[str]
) -> None:
    with refused(code, *parts):
        found(small, **choices)


def test_a_problem_of_single_frames_has_rigid_tendons(small) -> None:
    with refused("conflict", "elastic", "share_model"):
        opensim_problem(small, small_motion(small), feasible_moments(small), dofs=DOFS, tendon="elastic")


def test_one_side_leaves_out_what_muscles_of_both_move(small, tmp_path: Path) -> None:
    """The moment of a coordinate is shared among all of its muscles or not at all, unless it is asked for."""
    from small_model import MUSCLES, TEXT, muscle, point, save_model

    left = muscle(
        "one_l", point("PathPoint", "pelvis", "0 -0.1 0") + point("PathPoint", "femur_r", "0 -0.3 0")
    )
    both = read_osim(save_model(tmp_path, TEXT.replace(MUSCLES, MUSCLES + left)))
    hip = {"hip_a_r", "hip_b_r", "hip_c_r"}
    assert hip <= set(shared_choice(small, side="r").dofs) and hip <= set(shared_choice(both).dofs)
    choice = shared_choice(both, side="r")
    assert set(choice.dofs) == set(shared_choice(small, side="r").dofs) - hip
    assert "hip_a_r, hip_b_r, hip_c_r" in " ".join(choice.notes)
    assert shared_choice(both, dofs=["hip_a_r"], side="r").dofs == ("hip_a_r",)


def test_toes_are_shared_where_they_are_named_alone(model_folder: Path) -> None:
    """The muscles of the toes flex the ankle as well: none is lost."""
    model = read_osim(model_folder / "gait2392.osim")
    usual = shared_choice(model)
    toes = {"mtp_angle_r", "mtp_angle_l"}
    assert not toes & set(usual.dofs) and any("mtp_angle_r" in note for note in usual.notes)
    named = shared_choice(model, dofs=[*usual.dofs, *sorted(toes)])
    assert set(named.names) == set(usual.names) and toes <= set(named.dofs)


def test_coordinates_are_left_out_by_name(small) -> None:
    usual = shared_choice(small)
    fewer = shared_choice(small, without=["ankle_a_r"])
    assert fewer.dofs == tuple(name for name in usual.dofs if name != "ankle_a_r")
    with refused("unknown_name", "ankel"):
        shared_choice(small, without=["ankel"])
    with refused("conflict", "ankle_a_r", "without"):
        shared_choice(small, dofs=["ankle_a_r"], without=["ankle_a_r"])


def test_a_coordinate_that_no_muscle_can_serve_condemns_no_leg(small) -> None:
    """A moment beyond all muscles in every frame is named, and its reserve is no failure of the leg."""
    moments = feasible_moments(small)
    assert not found(small).unserved
    muscles = found(small).whole
    arm, strength = muscles.state.moment_arm[:, 1], muscles.state.parameters.max_isometric_force
    assert moments.keys() == set(DOFS)
    beyond = {**moments, DOFS[1]: 4.0 * (np.abs(arm) @ strength)}
    given = dict(dofs=DOFS, passive="table")
    body = measured_model(small, small_motion(small), beyond, **given)
    assert list(body.unserved) == [DOFS[1]] and 0.7 < body.unserved[DOFS[1]] < 1.0
    assert any("--without" in warning.remedy and DOFS[1] in warning for warning in body.warnings)
    # at its peak alone it is a lack of strength, which stays a failure
    once = {**moments, DOFS[1]: np.where(TIME == TIME[30], beyond[DOFS[1]], moments[DOFS[1]])}
    assert not measured_model(small, small_motion(small), once, **given).unserved
    # moments in another unit are beyond all muscles, and no fault of the coordinates
    scaled = {name: 1000.0 * moment for name, moment in moments.items()}
    assert not measured_model(small, small_motion(small), scaled, **given).unserved
    sound, excused, failed = (
        Facts(share_model(small, small_motion(small), each, cost="activation_power", **given)).legs["r"]
        for each in (moments, beyond, once)
    )
    assert sound.reserve_share is None and sound.with_reserve == 0
    assert excused.reserve_share is None and excused.with_reserve == 0 and excused.solved == excused.valid > 0
    assert failed.reserve_share is not None and failed.with_reserve > 0


@pytest.mark.filterwarnings("ignore:the moment of")  # the moments are feasible for the strong muscle
def test_a_muscle_that_is_a_thousand_times_too_strong_is_named(small) -> None:
    usual = found(small).warnings  # its conditional point lets the path jump
    assert not any("one_r" in warning and "jump" not in warning for warning in usual)
    strong = replace(
        small.muscles["one_r"], max_isometric_force=1000.0 * small.muscles["one_r"].max_isometric_force
    )
    model = replace(small, muscles={**small.muscles, "one_r": strong})
    new = [warning for warning in found(model).warnings if warning not in usual]
    assert any("one_r" in warning and "two_r" not in warning for warning in new)
