"""The gradient that the layers share, against differences of solutions, and what it is where there is none."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from layer_cases import OWN_COST, SHARP, half_unsolved, leg_arrays
from refusals import refused

import musclesolve as ms
from musclesolve.sharing.layers import ArrayLayer


def layer_of(cost, solver=SHARP):
    return ArrayLayer.from_options(cost, solver, "report", None, "layer")


@pytest.mark.parametrize(
    ("cost", "others"),
    [
        ("stress_cubed", ("lower",)),
        ("soft_saturation", ()),
        ("muscle_power", ("fiber_velocity", "optimal_fiber_length")),
        ("joint_reaction_squared", ("reaction_matrix", "reaction_offset")),
        ("emg_tracking", ("emg",)),
        (OWN_COST, ()),
    ],
    ids=lambda cost: getattr(cost, "name", cost),
)
def test_the_gradient_equals_differences_of_the_loss(cost, others):
    """Along a random direction of all arrays at once."""
    arrays, random = leg_arrays(*others), np.random.default_rng(1)
    layer = layer_of(cost, SHARP if isinstance(cost, str) else "ipopt")
    by_activation, by_force = random.normal(size=(4, 12)), 1e-3 * random.normal(size=(4, 12))
    direction = {name: np.abs(array) * random.normal(size=array.shape) for name, array in arrays.items()}
    if "lower" in direction:
        direction["lower"] = np.abs(random.normal(size=(4, 12)))
        arrays["lower"] = np.full((4, 12), 0.02)

    def loss(step):
        _, solution = layer.solve({name: array + step * direction[name] for name, array in arrays.items()})
        assert solution.solved.all()
        return (by_activation * solution.activation + by_force * solution.force).sum()

    problem, solution = layer.solve(arrays)
    gradient = layer.gradient(arrays, problem, solution, by_activation, by_force)
    assert {name: x.shape for name, x in gradient.items()} == {name: x.shape for name, x in arrays.items()}
    h = 1e-4
    by_difference = (8 * (loss(h) - loss(-h)) - (loss(2 * h) - loss(-2 * h))) / (12 * h)
    along = sum(np.nansum(gradient[name] * direction[name]) for name in arrays)
    size = sum(np.nansum(np.abs(gradient[name] * direction[name])) for name in arrays)
    assert abs(along - by_difference) < 1e-6 * size


def test_an_array_for_all_frames_has_the_sum_of_their_gradients():
    arrays, layer, weight = (
        leg_arrays(),
        layer_of("stress_cubed"),
        np.random.default_rng(1).normal(size=(4, 12)),
    )
    arrays["force_capacity"] = np.tile(arrays["force_capacity"][0], (4, 1))
    whole = layer.gradient(arrays, *layer.solve(arrays), weight, 0.01 * weight)
    shared = arrays | {"force_capacity": arrays["force_capacity"][0], "upper": np.array(0.8)}
    summed = layer.gradient(shared, *layer.solve(shared), weight, 0.01 * weight)
    np.testing.assert_allclose(summed["force_capacity"], whole["force_capacity"].sum(axis=0), rtol=1e-10)
    np.testing.assert_allclose(summed["upper"], whole["upper"].sum(), rtol=1e-10)


def test_a_single_frame_has_no_frame_axis():
    arrays, layer, weight = leg_arrays(), layer_of("stress_cubed"), np.ones((4, 12))
    first = {name: x[0] if name != "max_isometric_force" else x for name, x in arrays.items()}
    alone = layer.gradient(first, *layer.solve(first), weight[0], weight[0])
    weight[1:] = 0.0
    every = layer.gradient(arrays, *layer.solve(arrays), weight, weight)
    for name, gradient in alone.items():
        other = every[name] if name == "max_isometric_force" else every[name][0]
        np.testing.assert_allclose(gradient, other, rtol=1e-10, atol=1e-15)


def test_frames_without_a_solution_have_a_gradient_only_where_they_are_left_out():
    arrays, layer = half_unsolved(), layer_of("force_squared")
    problem, solution = layer.solve(arrays)
    np.testing.assert_array_equal(solution.solved, [True, False, False, True])
    nothing, weight = np.zeros((4, 2)), np.ones((4, 2)) * solution.solved[:, None]
    left_out = layer.gradient(arrays, problem, solution, nothing, weight)
    assert all(np.isfinite(gradient).all() for gradient in left_out.values())
    np.testing.assert_allclose(left_out["moment"].ravel(), [12.0, 0.0, 0.0, 12.0], atol=1e-9)
    counted = layer.gradient(arrays, problem, solution, nothing, np.ones((4, 2)))
    np.testing.assert_array_equal(np.isnan(counted["moment"].ravel()), [False, True, True, False])
    assert np.isnan(counted["max_isometric_force"]).all() and np.isnan(counted["force_capacity"]).all()


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_at_a_kink_the_gradient_is_that_of_one_side(side):
    """Two muscles with moments of the same sign; the stronger one reaches its bound of 0.8 at 10 N m.

    With sum F^2 the forces are in the ratio of the arms, 80 N and 40 N at the kink. Below it the weaker muscle has
    dF/dM = 0.05 / (0.1^2 + 0.05^2) = 4, above it 1 / 0.05 = 20, and for a step of 1e-9 to a side that of this side.
    """
    arrays = half_unsolved() | {"upper": np.array(0.8)}
    layer = layer_of("force_squared")

    def slope(moment):
        arrays["moment"] = np.array([[moment]])
        weight = np.array([[0.0, 1.0]])
        return layer.gradient(arrays, *layer.solve(arrays), 0.0 * weight, weight)["moment"].item()

    assert slope(10.0 + 1e-3 * side) == pytest.approx(4.0 if side < 0 else 20.0)
    assert min(abs(slope(10.0) - 4.0), abs(slope(10.0) - 20.0)) < 1e-9


def test_an_array_without_derivatives_has_no_gradient():
    arrays, layer = (
        leg_arrays("joints_crossed") | {"time": np.arange(4.0)},
        layer_of("joint_weighted_activation"),
    )
    gradient = layer.gradient(arrays, *layer.solve(arrays), np.ones((4, 12)), np.zeros((4, 12)))
    assert np.isnan(gradient["joints_crossed"]).all() and np.isnan(gradient["time"]).all()
    assert np.isfinite(gradient["moment"]).all()


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_a_library_that_is_not_installed_is_named_with_its_extra(library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with refused("missing_package", f".[{library}]"):
        getattr(ms.sharing, f"{library}_layer")()


def test_costs_and_names_that_do_not_fit_are_refused():
    with refused("bad_cost", "min_max"):
        layer_of("min_max")
    with refused("unknown_name", "nothing"):
        ArrayLayer.from_options("stress_cubed", "nothing", "report", None, "layer")
    with refused("unknown_name", "'emgs'"):
        layer_of("stress_cubed").named(1.0, 1.0, 1.0, 1.0, emgs=1.0)
