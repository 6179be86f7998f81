"""The skeleton in symbols equals the numeric roads to round-off: natural coordinates, joint coordinates, models."""

from __future__ import annotations

import pickle
import shutil
import subprocess
from dataclasses import replace

import casadi
import numpy as np
import pytest
from moving_stride import moving_stride
from recorded_data import recorded
from refusals import refused
from symbolic_states import drawn_motion

import musclesolve as ms
from musclesolve.dynamics.inverse.inverse_dynamics import required_force
from musclesolve.models.opensim.inverse_dynamics import inverse_dynamics
from musclesolve.symbolic.skeleton import ROOT

FRAMES = 66


@pytest.fixture(scope="module")
def stride():
    """Model, motion and loads of the bundled stride, and its skeleton."""
    model, motion, wrenches = moving_stride(FRAMES)
    walker = ms.symbolic.skeleton(model, [wrench.body for wrench in wrenches])
    return model, motion, wrenches, walker


def loads_of(wrenches):
    return np.hstack([np.hstack([wrench.force, wrench.moment]) for wrench in wrenches])


def values(function, *arrays):
    """A function of columns in all frames, (T, ...)."""
    return np.array(function.map(len(arrays[0]))(*(array.T for array in arrays))).T


def test_coordinates_give_the_pose_of_the_stride(stride):
    _, motion, _, walker = stride
    pose = np.stack([np.array(walker.pose(c)).T for c in motion.coordinates])
    np.testing.assert_allclose(pose, motion.q, atol=1e-12)
    assert walker.dofs[-6:] == ROOT and len(walker.dofs) == 44 and len(walker.bodies) == 33


def test_inverse_dynamics_is_that_of_the_numeric_road(stride):
    model, motion, wrenches, walker = stride
    tau = values(walker.inverse_dynamics, motion.coordinates, motion.rates, motion.second, loads_of(wrenches))
    np.testing.assert_allclose(tau, ms.dynamics.projected_moments(model, motion, wrenches), atol=1e-10)


def test_natural_functions_are_those_of_the_model(stride):
    model, motion, wrenches, walker = stride
    q, qd, qdd = (array.reshape(FRAMES, -1) for array in (motion.q, motion.qd, motion.qdd))
    natural, k = walker.natural, slice(20, 21)
    np.testing.assert_allclose(values(natural.phi, q), model.constraints.value(motion.q), atol=1e-12)
    np.testing.assert_allclose(values(natural.gamma, q, qd), model.constraints.gamma(motion.qd), atol=1e-11)
    np.testing.assert_allclose(
        values(natural.needed, q, qd, qdd, loads_of(wrenches)),
        required_force(model, motion.q, motion.qd, motion.qdd, wrenches).reshape(FRAMES, -1),
        atol=1e-9,
    )
    angles = values(natural.angles, q)
    np.testing.assert_allclose(angles, motion.coordinates[:, : angles.shape[1]], atol=1e-12)
    rows = np.array(natural.phi_q(q[20]))
    np.testing.assert_allclose(
        rows, model.constraints.jacobian(motion.q[k])[0].reshape(rows.shape), atol=1e-12
    )
    mass = ms.dynamics.mass_matrix(model.rigid_bodies, model.basic_mass, motion.q[k])[0]
    np.testing.assert_allclose(np.array(natural.mass(q[20])), mass, atol=1e-12)
    directions = np.array(natural.directions(q[20]))
    allowed = model.tree.allowed(motion.q[k], motion.origin[k])[0].reshape(directions.shape)
    np.testing.assert_allclose(directions, allowed, atol=1e-12)
    np.testing.assert_allclose(rows @ directions, 0.0, atol=1e-12)


def test_reactions_are_the_loads_of_newton_and_euler(stride):
    model, motion, wrenches, walker = stride
    segments = ms.dynamics.segment_motion(model, motion)
    loads = ms.dynamics.joint_loads(model, motion, segments, wrenches)
    names = [body.name for body in model.topology.bodies]
    last = {  # the last degree of freedom before each body
        names[child]: model.topology.dof_names[k]
        for k, child in enumerate(model.tree.child.tolist())
        if child < len(names)
    }
    arguments = motion.coordinates, motion.rates, motion.second, loads_of(wrenches)
    found = np.stack([np.array(walker.reactions(*(array[t] for array in arguments))) for t in (0, 20, 65)])
    assert set(walker.joints) == set(last)
    for column, body in enumerate(walker.joints):
        load = loads[last[body]]
        both = np.hstack([load.force, load.moment])[[0, 20, 65]]
        np.testing.assert_allclose(found[:, :, column], both, atol=1e-9)


def test_derivatives_are_those_of_differences(stride):
    _, motion, wrenches, walker = stride
    c, cd, cdd = (casadi.SX.sym(name, 44) for name in ("c", "cd", "cdd"))
    load = loads_of(wrenches)[20]
    jacobian = casadi.Function(
        "jacobian",
        [c, cd, cdd],
        [casadi.jacobian(walker.inverse_dynamics(c, cd, cdd, load), casadi.vertcat(c, cd, cdd))],
    )
    at = [motion.coordinates[20], motion.rates[20], motion.second[20]]
    exact, state = np.array(jacobian(*at)), np.concatenate(at)

    def tau(whole):
        return np.array(walker.inverse_dynamics(*np.split(whole, 3), load)).ravel()

    for column in np.random.default_rng(0).choice(132, 30, replace=False):
        move = np.zeros(132)
        move[column] = 1e-6
        slope = (tau(state + move) - tau(state - move)) / 2e-6
        np.testing.assert_allclose(exact[:, column], slope, atol=1e-5 * np.abs(exact).max())
    mass = np.array(walker.mass(at[0]))
    np.testing.assert_allclose(mass[:38], exact[:38, 88:], atol=1e-10)  # the base has other forces


def test_the_mass_matrix_gives_the_kinetic_energy(stride):
    _, motion, _, walker = stride
    q, qd = motion.q[20].ravel(), motion.qd[20].ravel()
    mass, rate = np.array(walker.mass(motion.coordinates[20])), motion.rates[20]
    np.testing.assert_allclose(mass, mass.T, atol=1e-10)
    assert np.linalg.eigvalsh(mass).min() > 0.0
    natural = np.array(walker.natural.mass(q))
    assert rate @ mass @ rate == pytest.approx(qd @ natural @ qd, rel=1e-9)


def test_markers_move_with_their_bodies(stride):
    model, motion, _, walker = stride
    body, slot = next(
        (body, model.topology.slot[name])
        for body in model.topology.bodies
        for name in body.members
        if model.topology.slot[name] < model.topology.point_count
    )
    places = walker.markers({"point": (body.name, model.standing[slot])})
    found = np.stack([np.array(places(c)).ravel() for c in motion.coordinates])
    np.testing.assert_allclose(found, motion.q[:, slot], atol=1e-12)


def test_muscles_have_the_coordinates_of_the_skeleton(stride):
    """The power of the muscle moments on the joint rates is tension times rate of length."""
    model, motion, _, walker = stride
    chain = ms.symbolic.muscle_chain(model, "silva_2003", side="r")
    numbers = [walker.dofs.index(name) for name in chain.dofs]
    q, qd = motion.coordinates[20, numbers], motion.rates[20, numbers]
    moment, force = (np.array(f(q, qd, np.full(43, 0.2))).ravel() for f in (chain.moment, chain.force))
    rate = np.array(chain.velocity(q, qd)).ravel()
    assert moment @ qd == pytest.approx(-force @ rate, rel=1e-10)


def opensim_model(name):
    """A public model, without its springs and limits."""
    return replace(ms.read_osim(recorded("opensim_models") / f"{name}.osim"), devices=())


@pytest.mark.parametrize("name", ["rajagopal_lai_uhlrich_2023", "gait2392", "arm26"])
def test_models_have_the_inverse_dynamics_of_the_numeric_road(name):
    model = opensim_model(name)
    body = ms.symbolic.skeleton(model)
    free, motion = drawn_motion(model, body.dofs)
    numeric = inverse_dynamics(model, motion)
    columns = [numeric.coordinates.index(dof) for dof in body.dofs]
    tau = np.stack(
        [np.array(body.inverse_dynamics(*row, np.zeros(0))).ravel() for row in zip(*free, strict=True)]
    )
    np.testing.assert_allclose(tau, numeric.force[:, columns], atol=1e-9)
    assert body.natural is None and body.left_out == ()


def test_a_load_on_a_model_does_virtual_work():
    """tau changes by -(dx/dc)^T F for a force at the origin of a body, whose moment is x times F."""
    model = opensim_model("arm26")
    body = ms.symbolic.skeleton(model, "r_ulna_radius_hand")
    c, force = np.array([0.4, 0.9]), np.array([3.0, -20.0, 5.0])
    place = body.markers({"origin": ("r_ulna_radius_hand", (0.0, 0.0, 0.0))})
    load = np.concatenate([force, np.cross(np.array(place(c)).ravel(), force)])
    still = np.zeros(2)
    change = np.array(body.inverse_dynamics(c, still, still, load)) - np.array(
        body.inverse_dynamics(c, still, still, np.zeros(6))
    )
    symbol = casadi.SX.sym("c", 2)
    slope = np.array(casadi.Function("slope", [symbol], [casadi.jacobian(place(symbol), symbol)])(c))
    np.testing.assert_allclose(change.ravel(), -slope.T @ force, atol=1e-12)


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_compiled_code_gives_the_same_moments(stride, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # CasADi writes into the working folder
    _, motion, wrenches, walker = stride
    walker.inverse_dynamics.generate("dynamics.c")
    subprocess.run(["cc", "-O0", "-fPIC", "-shared", "dynamics.c", "-o", "dynamics.so", "-lm"], check=True)
    compiled = casadi.external("inverse_dynamics", "./dynamics.so")
    at = [motion.coordinates[20], motion.rates[20], motion.second[20], loads_of(wrenches)[20]]
    np.testing.assert_allclose(compiled(*at), walker.inverse_dynamics(*at), rtol=1e-12, atol=1e-9)


def test_what_has_no_expression_is_refused(stride):
    model, *_ = stride
    with refused("unknown_name", "'foot'"):
        ms.symbolic.skeleton(model, "foot")
    with refused("duplicate_name", "twice"):
        ms.symbolic.skeleton(model, ["foot_r", "foot_r"])
    with refused("wrong_type", "str"):
        ms.symbolic.skeleton("human")
    walker = ms.symbolic.skeleton(model)
    with refused("unknown_name", "'hand'"):
        walker.markers({"m": ("hand", (0, 0, 0))})
    with refused("bad_shape", "'m'"):
        walker.markers({"m": ("foot_r", (0, 0))})
    for places in (None, [], "foot_r"):
        with refused("wrong_type", "places"):
            walker.markers(places)
    for place in ("foot_r", ("foot_r", 0, 0, 0), None):
        with refused("bad_value", "'m'"):
            walker.markers({"m": place})
    with refused("not_finite", "places: the place of 'm' of z is nan"):
        walker.markers({"m": ("foot_r", (0, 0, np.nan))})
    with refused("missing_argument", "no point"):
        walker.markers({})


def test_a_model_without_mass_has_no_mass_center():
    model = opensim_model("arm26")
    masses = {name: replace(of, mass=0.0) for name, of in model.masses.items()}
    with refused("bad_value", "mass_center", "no body"):
        ms.symbolic.skeleton(replace(model, masses=masses)).mass_center  # noqa: B018


def test_functions_refuse_inputs_by_the_names_of_coordinates(stride):
    """Numbers, symbols and matrices of poses that fit are taken; others are refused by name, not in CasADi's words."""
    _, motion, wrenches, walker = stride
    c, cd, cdd, w = (
        array[20] for array in (motion.coordinates, motion.rates, motion.second, loads_of(wrenches))
    )
    with refused("bad_value", "c of skeleton.pose", "(3,)", "44 numbers", walker.dofs[0]):
        walker.pose(np.zeros(3))
    with refused("bad_value", "(3, 1)"):
        walker.pose(casadi.MX.sym("c", 3))
    with refused("bad_value", "w of skeleton.inverse_dynamics", "12 numbers", "force_x on"):
        walker.inverse_dynamics(c, cd, cdd, np.zeros(6))
    with refused("bad_value", "lacks w", "force_x on"):
        walker.reactions(c, cd, cdd)
    with refused("bad_value", "lacks cd"):
        walker.inverse_dynamics(c=c, cdd=cdd, w=w)
    with refused("bad_value", "(66, 44)", "transpose"):
        walker.pose(motion.coordinates)
    with refused("bad_value", "2 of c, 3 of cd"):
        walker.inverse_dynamics(np.zeros((44, 2)), np.zeros((44, 3)), 0, 0)
    for value in ("knee", ["a", "b"], None, [[0.0, 1.0], [2.0]]):
        with refused("bad_value", "c of skeleton.mass"):
            walker.mass(value)
    with refused("bad_value", "is a dict", "skeleton.dofs"):
        walker.pose(dict.fromkeys(walker.dofs, 0.0))
    knee = walker.dofs.index("knee_flexion_r")
    for number in (np.nan, np.inf):
        lost = np.where(np.arange(44) == knee, number, c)
        for value in (lost, list(lost), casadi.DM(lost)):
            with refused("not_finite", "c of skeleton.pose", "knee_flexion_r"):
                walker.pose(value)
        with refused("not_finite", "cd of skeleton.inverse_dynamics", "knee_flexion_r"):
            walker.inverse_dynamics(c, lost, cdd, w)
    with refused("not_finite", "knee_flexion_r", "column 1"):
        walker.pose(np.stack([c, lost], axis=1))
    with refused("not_finite"):
        walker.pose(np.nan)
    place = walker.markers({"point": ("foot_r", (0, 0, 0))})
    with refused("bad_value", "c of skeleton.markers", "44 numbers"):
        place(c[:-1])
    with refused("bad_value", "cd of skeleton.mass_center"):
        walker.mass_center(c, cd[:-1])
    with refused("bad_value", "q of skeleton.natural.phi", "141 numbers", "toe_r x, "):
        walker.natural.phi(c)
    with refused("not_finite", "q of skeleton.natural.angles"):
        walker.natural.angles(np.full(141, np.nan))
    with pytest.warns(UserWarning, match="200 rad for knee_flexion_r"):
        walker.pose(np.where(np.arange(44) == knee, 200.0, c))
    still = ms.symbolic.skeleton(stride[0])
    with refused("bad_value", "w of skeleton.inverse_dynamics", "no numbers", "skeleton(loads=...)"):
        still.inverse_dynamics(c, cd, cdd, np.zeros(6))

    expected = np.array(walker.pose(c))
    np.testing.assert_array_equal(np.array(walker.pose(c.tolist())), expected)
    assert walker.pose(np.stack([c, c, c], axis=1)).shape == (3, 3 * expected.shape[1])
    np.testing.assert_array_equal(walker.pose(c=c)["pose"], expected)
    for kind in (casadi.SX, casadi.MX):
        symbol = kind.sym("c", 44)
        again = casadi.Function("again", [symbol], [walker.pose(symbol)])
        np.testing.assert_allclose(np.array(again(c)), expected, atol=1e-15)
    both = walker.inverse_dynamics(casadi.MX.sym("c", 44), cd, cdd, w)  # symbols and numbers
    assert both.shape == (44, 1)
    copied = pickle.loads(pickle.dumps(walker.pose))
    with refused("bad_value", "c of skeleton.pose"):
        copied(np.zeros(3))


def test_symbols_of_scalars_are_refused_where_tendons_are_iterated():
    chain = ms.symbolic.muscle_chain(muscles="silva_2003", side="r", tendon="elastic")
    q = casadi.SX.sym("q", 7)
    with refused("bad_value", "chain.force", "MX"):
        chain.force(q, np.zeros(7), np.full(43, 0.5))
    assert chain.force(casadi.MX.sym("q", 7), np.zeros(7), np.full(43, 0.5)).shape == (43, 1)
