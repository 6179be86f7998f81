"""Lengths, moment arms, forces and moments of the symbolic chain beside the numeric one, and their derivatives."""

import copy
import pickle
from dataclasses import replace
from functools import cache
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from recorded_data import recorded
from symbolic_states import (
    FAMILIES,
    MODELS,
    SETS,
    derivative_differences,
    differences,
    elastic_differences,
    numeric_state,
    random_states,
    symbolic,
)

import musclesolve as ms
from musclesolve.muscles.muscle_parameters import load_muscle_set
from musclesolve.muscles.paths.paths import NaturalSpline
from tests.support.refusals import refused

FEW = {
    "silva_2003_wrapped": "med_gas_r psoas_r soleus_r vas_med_r",
    "gait2392_hip": "glut_max1_r iliacus_r rect_fem_r med_gas_r soleus_r vas_med_r",
    "rajagopal_2023": "addbrev_r gasmed_r psoas_r recfem_r vaslat_r",
}
"""Muscles with objects, conditional points and moving points."""
LEG = Path(__file__).parents[2] / "examples" / "opensim_model" / "leg.osim"
MODEL_FILES = [LEG, *(MODELS / f"{name}.osim" for name in ("arm26", "gait2392", "rajagopal_2016"))]
POSES = 6
EXACT = {"length": 1e-13, "velocity": 1e-11, "arm": 1e-11, "fiber": 1e-11}
"""Largest differences [m, m/s]; of forces and moments 1e-8 N, where forces have thousands of newtons."""


@cache
def subject(stature):
    return ms.dynamics.human_model(stature=stature, mass=80.0)


@cache
def scaled(name, stature=1.75, curves=None):
    return ms.muscles.scale_muscles(
        subject(stature), load_muscle_set(name), "r", passive="table", curves=curves
    )


@cache
def few(name, curves=None):
    """Some muscles of a set on the right leg."""
    whole = scaled(name, curves=curves)
    numbers = np.sort([whole.short_names.index(muscle) for muscle in FEW[name].split()])
    return replace(
        whole, paths=whole.paths.subset(numbers), parameters=whole.parameters.muscles(numbers), acts=None
    )


def check_exact(found):
    assert {name: value for name, value in found.items() if value > EXACT.get(name, 5e-9)} == {}


@pytest.mark.in_part(2)
@pytest.mark.parametrize(("name", "stature"), list(zip(SETS, (1.60, 1.90, 1.90, 1.60, 1.90), strict=True)))
def test_sets_on_scaled_subjects_have_the_numeric_numbers(name, stature):
    muscles = scaled(name, stature)
    chain = ms.symbolic.muscle_chain(subject(stature), muscles)
    states = random_states(chain, POSES)
    check_exact(differences(chain, states, numeric_state(subject(stature), muscles, chain, states)))


def test_both_sides_are_those_of_muscle_geometry():
    chain = ms.symbolic.muscle_chain(muscles="gait2392_hip")
    q = random_states(chain, 3).q
    poses = ms.muscle_geometry(dict(zip(chain.dofs, q.T, strict=True)), muscles="gait2392_hip")
    poses = poses.sel(muscle=list(chain.muscles), dof=list(chain.dofs))
    for name, function in (("musculotendon_length", chain.length), ("moment_arm", chain.moment_arm)):
        np.testing.assert_allclose(symbolic(function, q)[0], poses[name], atol=1e-13)
    for name, function in (("force_capacity", chain.capacity), ("passive_force", chain.passive)):
        found = symbolic(function, q, np.zeros_like(q))[0]
        np.testing.assert_allclose(found, poses[name], atol=5e-9)


@pytest.mark.in_part(2)
@pytest.mark.parametrize("file", MODEL_FILES, ids=lambda file: file.stem)
def test_opensim_models_have_the_numeric_numbers(file):
    model = ms.read_osim(file if file == LEG else recorded(f"opensim_models/{file.name}"))
    chain = ms.symbolic.muscle_chain(model, [name for name in model.muscles if not name.endswith("_l")])
    states = random_states(chain, POSES, model)
    check_exact(differences(chain, states, numeric_state(model, None, chain, states)))


@pytest.mark.in_part(2)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_of_curves_has_the_numeric_forces(family):
    """Also at lengths and velocities far beyond those of poses, and behind elastic tendons."""
    muscles = few("gait2392_hip", curves=family)
    chain = ms.symbolic.muscle_chain(subject(1.75), muscles)
    states = random_states(chain, POSES)
    states = states._replace(qd=20.0 * states.qd)
    state = numeric_state(subject(1.75), muscles, chain, states)
    found = differences(chain, states, state)
    check_exact(found | {"velocity": found["velocity"] / 20.0})
    elastic = ms.symbolic.muscle_chain(subject(1.75), muscles, tendon="elastic")
    check_exact(elastic_differences(elastic, states, state))


@pytest.mark.in_part(2)
@pytest.mark.parametrize("name", FEW)
def test_derivatives_by_the_pose_are_those_of_differences(name):
    chain = ms.symbolic.muscle_chain(subject(1.75), few(name))
    found = derivative_differences(chain, random_states(chain, 4))
    assert len(found) == (3 if chain.iterated else 4)
    assert max(found.values()) < 2e-5
    assert found["d length, order 2"] < 1e-6


def test_below_the_least_activation_no_force_of_elastic_tendons_changes():
    still, pose = np.zeros(3), [0.3, -0.6, 0.1]
    force = {}
    for name, options in {"elastic": {}, "damped": {"damping": 0.1}, "rigid": {"tendon": "rigid"}}.items():
        chain = ms.symbolic.muscle_chain(ms.read_osim(LEG), **({"tendon": "elastic"} | options))
        some = np.full(len(chain.muscles), 0.01)
        force[name] = [np.array(chain.force(pose, still, share * some)) for share in (0.0, 1.0, 2.0)]
        assert chain.least_activation == (0.01 if name == "elastic" else 0.0)
    np.testing.assert_array_equal(force["elastic"][0], force["elastic"][1])
    for name, (none, least, more) in force.items():
        assert (more - least).max() > 1.0 and (name == "elastic" or (least - none).max() > 1.0)


@pytest.mark.thorough
def test_second_derivatives_of_elastic_forces_are_those_of_differences():
    chain = ms.symbolic.muscle_chain(subject(1.75), few("gait2392_hip"), tendon="elastic")
    found = derivative_differences(chain, random_states(chain, 3))
    assert found["d moment, order 1"] < 1e-6
    assert found["d moment, order 2"] < 1e-5


@pytest.mark.thorough
def test_derivatives_of_iterated_paths_reach_the_second_derivative_of_a_moment():
    chain = ms.symbolic.muscle_chain(subject(1.75), few("rajagopal_2023"))
    assert chain.iterated == ("gastrocnemius_medial_r",)
    q, knee = ca.MX.sym("q", 7), chain.dofs.index("knee_flexion_r")
    still, active = np.zeros(7), np.zeros(len(chain.muscles))
    active[chain.muscles.index("gastrocnemius_medial_r")] = 1.0
    moment = chain.moment(q, still, active)[knee]
    bend = ca.Function("bend", [q], [ca.jacobian(ca.jacobian(moment, q), q)[knee, knee]])
    slope = ca.Function("slope", [q], [ca.jacobian(moment, q)[knee]])
    pose, step = np.radians([20.0, 0.0, 0.0, 30.0, 5.0, 0.0, 0.0]), 2e-3 * np.eye(7)[knee]
    quotient = float(slope(pose + step) - slope(pose - step)) / 4e-3
    assert float(bend(pose)) == pytest.approx(quotient, rel=1e-2, abs=1.0)


FACTORS = ("size", "max_isometric_force", "optimal_fiber_length", "tendon_slack_length", "tendon_strain")


@pytest.mark.in_part(2)
@pytest.mark.parametrize("tendon", ["elastic", "rigid"])
def test_factors_are_those_on_the_numeric_muscles_and_have_derivatives(tendon):
    """Sizes scale points, objects, moving frames and joints; strengths and lengths as in `with_factors`."""
    muscles, model = few("gait2392_hip"), subject(1.75)
    chain = ms.symbolic.muscle_chain(model, muscles, tendon=tendon, factors=FACTORS)
    size, factors = 1.04, np.random.default_rng(2).uniform(0.95, 1.05, (4, len(chain.muscles)))
    states = random_states(chain, POSES)
    state = numeric_state(*enlarged(model, muscles, size, factors), chain, states)
    given = [np.broadcast_to(each, (POSES, *np.shape(each))) for each in (size, *factors)]
    fixed = ms.symbolic.muscle_chain(*enlarged(model, muscles, size, factors), tendon=tendon)
    for name, arguments in (("length", states[:1]), ("moment_arm", states[:1]), ("force", states)):
        one = symbolic(getattr(chain, name), *arguments, *given)[0]
        other = symbolic(getattr(fixed, name), *arguments)[0]
        np.testing.assert_allclose(one, other, atol=5e-9, rtol=1e-11)
    if tendon == "elastic":
        check_exact(elastic_differences(fixed, states, state))
    else:
        check_exact(differences(fixed, states, state))

    vector = ca.MX.sym("vector", 1 + factors.size)
    parts = ca.vertsplit(vector, [0, *(1 + len(chain.muscles) * k for k in range(5))])
    total = ca.sum1(chain.force(*(each[0] for each in states), *parts))
    value = ca.Function("value", [vector], [total])
    slope = ca.Function("slope", [vector], [ca.gradient(total, vector)])
    curvature = ca.Function("curvature", [vector], [ca.hessian(total, vector)[0]])
    at = np.concatenate([[size], *factors])
    direction = np.random.default_rng(3).normal(size=at.size)
    ends = at + 1e-6 * direction, at - 1e-6 * direction
    quotient = float(value(ends[0]) - value(ends[1])) / 2e-6
    assert float(ca.dot(slope(at), direction)) == pytest.approx(quotient, rel=1e-6)
    quotients = np.array(slope(ends[0]) - slope(ends[1])).ravel() / 2e-6
    exact = np.array(curvature(at) @ direction).ravel()
    np.testing.assert_allclose(exact, quotients, rtol=1e-4, atol=1e-5 * np.abs(exact).max())


def enlarged(model, muscles, size, factors):
    """The subject and the muscles with all lengths of the skeleton times `size`, parameters times factors (4, n)."""
    standing = model.standing.copy()
    standing[: model.topology.point_count] *= size
    larger = model.resized(standing, model.mass, model.pelvis_depth)
    paths, grown = muscles.paths, np.diag([size] * 3 + [1.0] * 3)
    motion = tuple(NaturalSpline.mapped(each, grown, np.zeros(6)) for each in paths.frames.motion)
    layout = paths.layout
    paths = replace(
        paths,
        rigid_bodies=larger.rigid_bodies,
        layout=replace(layout, radii=size * layout.radii, half_length=size * layout.half_length),
        standing=size * paths.standing,
        objects=replace(paths.objects, center=size * paths.objects.center),
        frames=replace(paths.frames, pivot=size * paths.frames.pivot, motion=motion),
    )
    return larger, replace(muscles, paths=paths, parameters=muscles.parameters.with_factors(factors))


def test_velocity_is_the_rate_of_the_length_and_moment_its_power():
    chain = ms.symbolic.muscle_chain(muscles="gait2392", side="l")
    q, qd, a = (each[0] for each in random_states(chain, 1))
    rate = (chain.length(q + 1e-6 * qd) - chain.length(q - 1e-6 * qd)) / 2e-6
    np.testing.assert_allclose(chain.velocity(q, qd), rate, atol=1e-8)
    power = ca.dot(chain.force(q, qd, a), chain.velocity(q, qd))
    assert float(ca.dot(chain.moment(q, qd, a), qd)) == pytest.approx(-float(power), rel=1e-12)


@pytest.mark.parametrize("again", [lambda c: pickle.loads(pickle.dumps(c)), copy.copy, copy.deepcopy])
def test_a_chain_can_be_copied_and_sent_to_another_process(again):
    chain = ms.symbolic.muscle_chain(muscles="silva_2003", side="r")
    other, state = again(chain), (np.full(7, 0.2), np.full(7, 1.0), np.full(43, 0.1))
    np.testing.assert_array_equal(np.array(other.force(*state)), np.array(chain.force(*state)))
    assert again(chain.moment).name_in() == chain.moment.name_in()
    with refused("bad_value", "a of chain.force"):
        other.force(*state[:2], np.zeros(5))


@pytest.mark.parametrize("tendon", ["elastic", "rigid"])
def test_an_input_that_is_no_number_gives_no_number(tendon):
    factors = ["optimal_fiber_length", "size"]
    chain = ms.symbolic.muscle_chain(muscles="silva_2003", side="r", tendon=tendon, factors=factors)
    state = [np.zeros(7), np.zeros(7), np.full(43, 0.1), np.ones(43), np.ones(1)]
    force = np.array(chain.force(*state))
    crossing = np.array(chain.moment_arm(state[0], *state[3:]))[3] != 0.0
    of_first = np.arange(43) == 0
    # entry -> the muscles whose force it leaves unknown
    for number, entry, lost in (
        (0, 3, True),
        (1, 3, crossing),
        (2, 0, of_first),
        (3, 0, of_first),
        (4, 0, True),
    ):
        other = [each.copy() for each in state]
        other[number][entry] = np.nan
        expected = np.where(lost, np.nan, force.ravel())
        assert np.isnan(np.array(chain.force(*other)).ravel()[np.isnan(expected)]).all()
        if number > 1:
            np.testing.assert_array_equal(np.array(chain.force(*other)).ravel(), expected)
        assert np.isnan(np.array(chain.moment(*other))).any()


def test_an_unknown_pose_leaves_derivatives_as_sparse_as_they_are():
    chain = ms.symbolic.muscle_chain(muscles="silva_2003", side="r")
    assert chain.force.jac_sparsity(0, 2).nnz() == 43  # of activations
    assert chain.length.jac_sparsity(0, 0).nnz() < 7 * 43  # no muscle of the foot crosses the hip


def test_what_cannot_be_is_refused():
    with refused("unknown_name", "femur"):
        ms.symbolic.muscle_chain(muscles="silva_2003", side="r", factors=["femur"])
    with refused("unknown_name", "springy"):
        ms.symbolic.muscle_chain(muscles="silva_2003", tendon="springy")
    with refused("bad_type"):
        ms.symbolic.muscle_chain("silva_2003")
    model = ms.read_osim(LEG)
    with refused("unknown_name", "nothing"):
        ms.symbolic.muscle_chain(model, ["nothing"])
    with refused("conflict", "side is 'l'", "in model.muscles if name.endswith('_l')"):
        ms.symbolic.muscle_chain(model, side="l")
    right = [name for name in model.muscles if name.endswith("_r")]  # the remedy
    assert len(ms.symbolic.muscle_chain(model, right).muscles) == 8


def test_muscles_of_a_foreign_family_are_refused():
    muscles = scaled("silva_2003")

    class Foreign:
        name, passive_strain = "foreign", (0.0, 0.5)

    strange = replace(muscles.parameters, families=((Foreign(), np.arange(43)),))
    with refused("unknown_name", "foreign"):
        ms.symbolic.muscle_chain(subject(1.75), replace(muscles, parameters=strange))


def test_the_chain_says_what_it_is_and_refuses_inputs_by_the_names_of_its_angles():
    chain = ms.symbolic.muscle_chain(muscles="silva_2003", side="r")
    assert repr(chain).startswith(
        "<MuscleChain: 43 muscles, rigid tendons, q = hip_flexion_r, hip_adduction_r"
    )
    program = chain.sharing_program("stress_cubed")
    assert repr(program) == "<SharingProgram: stress_cubed, 43 activations, 64 numbers p>"
    with refused("bad_value", "q of chain.length", "(3,)", "7 numbers", "knee_flexion_r"):
        chain.length(np.zeros(3))
    with refused("bad_value", "(3, 1)"):
        chain.length(ca.MX.sym("q", 3))
    with refused("bad_value", "q of chain.moment_arm", "chain.dofs"):
        chain.moment_arm({"knee_flexion_r": 1.0})
    with refused("bad_value", "a of chain.force", "43 numbers"):
        chain.force(np.zeros(7), np.zeros(7), np.zeros(5))
    with refused("bad_value", "qd, a"):
        chain.force(np.zeros(7))
    with refused("bad_value", "'p'"):
        chain.length(p=0.0)
    still = np.zeros(7)
    for fault in ({"q": np.zeros(6)}, {"qd": np.zeros((7, 1))}, {"moment": np.zeros(3)}):
        with refused("bad_shape", *fault, "(7,)"):
            program.parameters(**({"q": still, "qd": still, "moment": still} | fault))
    with refused("not_finite", "q", "hip_adduction_r"):
        program.problem([0, np.nan, 0, 0, 0, 0, 0], still, still)
    with refused("bad_value", "lacks a"):
        chain.force(q=still, qd=still)
    with refused("bad_value", "q, qd, a", "names"):
        chain.force(still, qd=still, a=0.1)
    for value in ("knee", ["a", "b"], None, [[0.0, 1.0], [2.0]]):
        with refused("bad_value", "q of chain.length", "7 numbers"):
            chain.length(value)
    assert chain.length(np.zeros((7, 3))).shape == (43, 3)  # three poses, as CasADi takes them
    assert chain.length(q=np.zeros(7))["length"].shape == (43, 1)


def test_angles_and_rates_of_a_chain_in_degrees_are_warned_of():
    chain = ms.symbolic.muscle_chain(muscles="silva_2003", side="r")
    bent, still = np.radians([30.0, 0, 0, 40.0, 0, 0, 0]), np.zeros(7)
    with pytest.warns(UserWarning, match=r"q of length is 40 rad for knee_flexion_r.*numpy.radians\(q\)"):
        chain.length([0, 0, 0, 40.0, 0, 0, 0])
    for pose in (ca.DM([0, 0, 0, 40.0, 0, 0, 0]), np.outer([0, 0, 0, 1.0, 0, 0, 0], [1.0, 40.0])):
        with pytest.warns(UserWarning, match=r"q of length is 40 rad for knee_flexion_r"):
            chain.length(pose)
    with pytest.warns(UserWarning, match=r"qd of velocity is 300 rad/s for knee_flexion_r"):
        chain.velocity(bent, [0, 0, 0, 300.0, 0, 0, 0])
    chain.velocity(bent, still)  # and no warning of what radians explain
    with pytest.warns(UserWarning, match="joint_rate is up to 300 rad/s .* degrees/s") as said:
        chain.sharing_program().problem(bent, [0, 0, 0, 300.0, 0, 0, 0], still)
    assert not [each for each in said if "qd of" in str(each.message)]  # once is enough
