"""The layer of JAX: JAX's own check of gradients, jit, vmap, precision, frames that are left out."""

from __future__ import annotations

import doctest
import inspect

import numpy as np
import pytest
from layer_cases import OWN_COST, SHARP, half_unsolved, leg_arrays
from packages import Later

import musclesolve as ms

jax, jnp, jax_tests = Later("jax"), Later("jax.numpy"), Later("jax.test_util")


@pytest.fixture(autouse=True)
def double_precision():
    with jax.enable_x64(True):
        yield


def small():
    return {
        "moment_arm": jnp.array([[[0.05, 0.03, -0.02], [0.0, 0.04, 0.03]]] * 2),
        "moment": jnp.array([[20.0, 15.0], [25.0, 10.0]]),
        "force_capacity": jnp.array([[1000.0, 400.0, 600.0]] * 2),
        "max_isometric_force": jnp.array([1100.0, 500.0, 600.0]),
        "upper": jnp.array([0.9, 0.5, 0.8]),
    }


@pytest.mark.parametrize("cost", ["stress_cubed", "soft_saturation", OWN_COST], ids=str)
def test_check_grads(cost):
    """Every array by every output, with arrays in units of their size, so that one step suits all."""
    layer = ms.sharing.jax_layer(cost, SHARP if isinstance(cost, str) else "ipopt")
    size = {name: float(jnp.abs(array).max()) for name, array in small().items()}

    def outputs(units):
        found = layer(**{name: unit * size[name] for name, unit in units.items()})
        return found.activation, found.force / 1000.0

    units = {name: array / size[name] for name, array in small().items()}
    jax_tests.check_grads(outputs, (units,), order=1, modes=["rev"], eps=1e-5, atol=1e-5, rtol=1e-4)


def test_values_and_gradients_are_those_of_the_package():
    arrays = leg_arrays()
    problem = ms.Problem(**arrays)
    solution, weight = ms.solve(problem, "stress_cubed"), np.random.default_rng(2).normal(size=(4, 12))
    layer = ms.sharing.jax_layer("stress_cubed")

    @jax.jit
    def loss(given):
        found = layer(**given)
        return (found.activation * weight).sum(), found

    (_, found), by_array = jax.value_and_grad(loss, has_aux=True)(arrays)
    np.testing.assert_array_equal(found.force, solution.force)
    np.testing.assert_array_equal(found.status, solution.status)
    gradient = ms.sharing.solution_derivatives(problem, "stress_cubed", solution).gradient_of(weight)
    for name, array in by_array.items():
        np.testing.assert_allclose(array, gradient[name], rtol=1e-12, atol=1e-12)


def test_vmap_is_one_problem_after_the_other():
    """Of strengths that differ between the problems, which one problem of many frames cannot have."""
    given, layer = small(), ms.sharing.jax_layer("stress_cubed")
    strengths = given.pop("max_isometric_force") * jnp.array([[1.0], [0.8], [1.3]])

    def loss(strength):
        return (layer(**given, max_isometric_force=strength).force ** 2).sum()

    together = jax.jit(jax.vmap(jax.grad(loss)))(strengths)
    np.testing.assert_allclose(together, [jax.grad(loss)(strength) for strength in strengths], rtol=1e-12)
    assert np.abs(together).min() > 0.0


def test_single_precision_goes_in_and_out():
    double, layer = small(), ms.sharing.jax_layer()

    def loss(given):
        return (layer(**given).force ** 2).sum()

    expected = jax.grad(loss)(double)
    with jax.enable_x64(False):
        single = {name: jnp.asarray(array, jnp.float32) for name, array in double.items()}
        found, gradient = layer(**single), jax.jit(jax.grad(loss))(single)
    assert found.force.dtype == gradient["moment"].dtype == jnp.float32
    for name, array in gradient.items():
        scale = np.abs(expected[name]).max()
        np.testing.assert_allclose(array, expected[name], rtol=1e-4, atol=1e-4 * scale)


def test_frames_without_a_solution_are_nan_and_may_be_left_out():
    layer, given = ms.sharing.jax_layer("force_squared"), half_unsolved()

    def loss(arrays, leave_out):
        found = layer(**arrays)
        return jnp.where(found.valid[:, None] | (not leave_out), found.force, 0.0).sum()

    found = layer(**given)
    assert found.valid.tolist() == [True, False, False, True] and jnp.isnan(found.force[1:3]).all()
    left_out = jax.grad(loss)(given, True)
    assert all(jnp.isfinite(array).all() for array in left_out.values())
    counted = jax.grad(loss)(given, False)
    assert jnp.isnan(counted["max_isometric_force"]).all()
    assert jnp.isnan(counted["moment"]).ravel().tolist() == [False, True, True, False]


def test_what_does_not_fit_is_said_within_the_error_of_jax():
    with pytest.raises(Exception, match="moment"):
        jax.block_until_ready(ms.sharing.jax_layer()(**small() | {"moment": jnp.ones(3)}))


def test_the_example_in_the_docstring_prints_what_it_shows():
    text = inspect.getdoc(ms.sharing.jax_layer)
    names = {"ms": ms, "np": np, "jax": jax}
    test, said = doctest.DocTestParser().get_doctest(text, names, "jax_layer", None, None), []
    doctest.DocTestRunner().run(test, out=said.append)
    assert test.examples and not said, "".join(said)
