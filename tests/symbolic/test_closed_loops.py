"""Closed loops and paths by functions in symbols, beside the numeric road."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from function_paths import COEFFICIENTS, with_function
from loop_models import AT_REST, CONSTRAINTS, independent, model_text
from recorded_data import recorded
from refusals import refused

import musclesolve as ms
from musclesolve.models.opensim import opensim_geometry
from musclesolve.models.opensim.inverse_dynamics import inverse_dynamics, model_motion
from musclesolve.models.opensim.read_model import with_function_paths

FRAMES = 4


@pytest.fixture(params=CONSTRAINTS)
def loop(request: pytest.FixtureRequest, tmp_path: Path):
    """A model with a loop, and values of its independent coordinates near a closed pose."""
    path = tmp_path / "loop.osim"
    path.write_text(model_text(request.param), encoding="utf-8")
    model = ms.read_osim(path)
    return model, np.array([AT_REST[request.param][name][0] for name in independent(model)])


def moving(model, pose):
    """Random values, rates and accelerations (T, m) near a pose, and the generalized forces of the numeric road."""
    names, draw = independent(model), np.random.default_rng(1)
    around = [size * draw.normal(size=(FRAMES, len(names))) for size in (0.02, 1.0, 4.0)]
    around[0] += pose
    given = [dict(zip(names, array.T, strict=True)) for array in around]
    motion = model_motion(model, 0.1 * np.arange(FRAMES), *given)
    return around, inverse_dynamics(model, motion)


def compare(model, pose) -> None:
    body, (states, numeric) = ms.symbolic.skeleton(model), moving(model, pose)
    assert body.dofs == tuple(independent(model)) and len(body.dependent) == len(
        model.in_loops - {*body.dofs}
    )
    columns = [numeric.coordinates.index(name) for name in body.dofs]
    rows = zip(*states, strict=True)
    tau = np.stack([np.array(body.inverse_dynamics(*row, [])).ravel() for row in rows])
    np.testing.assert_allclose(tau, numeric.force[:, columns], atol=1e-8)
    place = np.array(body.pose(states[0][0])).T
    np.testing.assert_allclose(place, numeric.bodies.pose.position[0], atol=1e-10)
    tip = np.array(body.markers({"tip": (model.bodies[-1], (0.1, 0.2, 0.3))})(states[0][0])).ravel()
    turned = numeric.bodies.pose.rotation[0, -1] @ [0.1, 0.2, 0.3]
    np.testing.assert_allclose(tip, place[-1] + turned, atol=1e-10)
    c, rate = states[0][0], states[1][0]
    force = [np.array(body.inverse_dynamics(c, 0 * rate, s * rate, [])).ravel() for s in (1.0, 0.0)]
    np.testing.assert_allclose(np.array(body.mass(c)) @ rate, force[0] - force[1], atol=1e-9)


def test_generalized_forces_of_a_loop_are_those_of_the_numeric_road(loop) -> None:
    compare(*loop)


def test_a_shoulder_on_an_ellipsoid_within_a_loop() -> None:
    model = replace(ms.read_osim(recorded("models_of_today") / "thoracoscapular.osim"), devices=())
    compare(model, np.array([model.coordinates[name].default for name in independent(model)]))
    body = ms.symbolic.skeleton(model)
    # the constraint at the acromion shares the force of the joints of clavicle and scapula
    assert body.joints == ("thorax", "humerus", "ulna", "radius", "hand")


def test_lengths_over_a_loop_and_their_derivatives(loop) -> None:
    model, pose = loop
    chain = ms.symbolic.muscle_chain(model, "pull")
    names = list(chain.dofs)
    q = np.array([pose[independent(model).index(name)] for name in names])
    numeric = opensim_geometry(model, dict(zip(names, q[:, None], strict=True)), names, ["pull"])
    np.testing.assert_allclose(np.array(chain.length(q)).ravel(), numeric.length[0], atol=1e-12)
    np.testing.assert_allclose(np.array(chain.moment_arm(q)), numeric.moment_arm[0], atol=1e-10)
    symbol = ca.MX.sym("q", len(q))
    slope = ca.Function("slope", [symbol], [ca.gradient(chain.length(symbol), symbol)])
    bend = ca.Function("bend", [symbol], [ca.hessian(chain.length(symbol), symbol)[0]])
    moved = [[np.array(slope(q + s * d)).ravel() for s in (1e-5, -1e-5)] for d in np.eye(len(q))]
    quotients = np.array([(after - before) / 2e-5 for after, before in moved])
    np.testing.assert_allclose(np.array(bend(q)), quotients, atol=1e-7)


def test_where_a_loop_stays_open_there_is_no_number(tmp_path: Path) -> None:
    path = tmp_path / "loop.osim"
    far = model_text("PointConstraint").replace("<location_body_1>0.3", "<location_body_1>5")
    path.write_text(far, encoding="utf-8")
    model = ms.read_osim(path)
    body = ms.symbolic.skeleton(model)
    assert body.dependent
    assert np.isnan(np.array(body.pose(np.zeros(len(body.dofs))))).any()
    for tendon in ("rigid", "elastic"):
        chain = ms.symbolic.muscle_chain(model, "pull", tendon=tendon)
        still = np.zeros(len(chain.dofs))
        functions = chain.length, chain.moment_arm, chain.velocity, chain.fiber, chain.force, chain.moment
        for function in (*functions, *filter(None, (chain.capacity, chain.passive))):
            found = function.call([still, still, 0.5][: function.n_in()])
            assert all(np.isnan(np.array(each)).all() for each in found), function.name()
    with refused("bad_value", "stays open"):
        ms.symbolic.muscle_chain(model, "pull").sharing_program().problem(still, still, still)


@pytest.mark.parametrize("name", ["shaft", "rod_x", "rock_x"])
def test_a_loop_closes_at_any_value_of_a_locked_coordinate(name: str, tmp_path: Path) -> None:
    path, start = tmp_path / "loop.osim", f'<Coordinate name="{name}">'
    path.write_text(
        model_text("PointConstraint").replace(start, f"{start}<locked>true</locked>"), encoding="utf-8"
    )
    model = ms.read_osim(path)
    body = ms.symbolic.skeleton(model)
    assert model.coordinates[name].locked and name in body.dofs
    ends = body.markers({"rod": ("rod", (0.3, 0.1, 0.0)), "rocker": ("rocker", (0.2, 0.1, 0.1))})
    pose = np.array([model.coordinates[each].default for each in body.dofs])
    pose[body.dofs.index(name)] += 0.1
    places = np.array(ends(pose))
    np.testing.assert_allclose(places[:, 0], places[:, 1], atol=1e-9)


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_a_loop_has_c_code(loop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # CasADi writes into the working folder
    model, pose = loop
    body = ms.symbolic.skeleton(model)
    body.pose.generate("pose.c")
    subprocess.run(["cc", "-O0", "-fPIC", "-shared", "pose.c", "-o", "pose.so", "-lm"], check=True)
    compiled = np.array(ca.external("pose", "./pose.so")(pose))
    np.testing.assert_allclose(compiled, np.array(body.pose(pose)), atol=1e-12)


def test_a_path_by_a_function_has_length_arm_and_curvature(tmp_path: Path) -> None:
    model = ms.read_osim(with_function(tmp_path / "leg.osim"))
    chain = ms.symbolic.muscle_chain(model, ["soleus_r", "tib_ant_r"])
    b, a = 0.3, -0.2
    q = np.array([{"knee_angle_r": a, "ankle_angle_r": b}.get(name, 0.0) for name in chain.dofs])
    length = COEFFICIENTS @ [1.0, b, b**2, a, a * b, a**2]
    values = dict(zip(chain.dofs, q[:, None], strict=True))
    numeric = opensim_geometry(model, values, chain.dofs, chain.muscles, reported=False)
    found = np.array(chain.length(q)).ravel()
    np.testing.assert_allclose(found, numeric.length[0], atol=1e-12)
    np.testing.assert_allclose(np.array(chain.moment_arm(q)), numeric.moment_arm[0], atol=1e-12)
    assert found[0] == pytest.approx(length, abs=1e-12)
    symbol, knee = ca.MX.sym("q", len(q)), chain.dofs.index("knee_angle_r")
    bend = ca.Function("bend", [symbol], [ca.hessian(chain.length(symbol)[0], symbol)[0]])
    assert float(bend(q)[knee, knee]) == pytest.approx(2.0 * COEFFICIENTS[5], abs=1e-12)


def test_a_walk_model_with_functions_alone() -> None:
    folder = recorded("models_of_today")
    model = ms.read_osim(folder / "walk_scaled.osim")
    model = with_function_paths(model, folder / "walk_function_based_paths.xml")
    fitted = [name for name, muscle in model.muscles.items() if muscle.by_function is not None][:6]
    chain = ms.symbolic.muscle_chain(model, fitted)
    q = np.linspace(-0.3, 0.2, len(chain.dofs))
    values = dict(zip(chain.dofs, q[:, None], strict=True))
    numeric = opensim_geometry(model, values, chain.dofs, fitted)
    np.testing.assert_allclose(np.array(chain.length(q)).ravel(), numeric.length[0], atol=1e-11)
    np.testing.assert_allclose(np.array(chain.moment_arm(q)), numeric.moment_arm[0], atol=1e-10)


def test_a_function_of_another_kind_is_refused_in_words(tmp_path: Path) -> None:
    model = ms.read_osim(with_function(tmp_path / "leg.osim"))
    soleus = model.muscles["soleus_r"]
    foreign = replace(soleus, by_function=replace(soleus.by_function, function=object()))
    other = replace(model, muscles={**model.muscles, "soleus_r": foreign})
    with refused("unsupported", "follows a object", "path of the model"):
        ms.symbolic.muscle_chain(other, "soleus_r")
