"""The layer of PyTorch: PyTorch's own check of gradients, precision, frames that are left out."""

from __future__ import annotations

import doctest
import inspect

import numpy as np
import pytest
from layer_cases import OWN_COST, SHARP, half_unsolved, leg_arrays
from packages import Later
from refusals import refused

import musclesolve as ms

torch = Later("torch")


def tensors(arrays):
    return {
        name: torch.tensor(array, dtype=torch.float64, requires_grad=True) for name, array in arrays.items()
    }


@pytest.mark.parametrize("cost", ["stress_cubed", "soft_saturation", OWN_COST], ids=str)
def test_gradcheck(cost):
    """Every array by every output, with arrays in units of their size, so that one step suits all."""
    layer = ms.sharing.torch_layer(cost, SHARP if isinstance(cost, str) else "ipopt")
    arrays = {
        "moment_arm": np.array([[[0.05, 0.03, -0.02], [0.0, 0.04, 0.03]]] * 2),
        "moment": np.array([[20.0, 15.0], [25.0, 10.0]]),
        "force_capacity": np.array([[1000.0, 400.0, 600.0]] * 2),
        "max_isometric_force": np.array([1100.0, 500.0, 600.0]),
        "upper": np.array([0.9, 0.5, 0.8]),
    }
    size = {name: np.abs(array).max() for name, array in arrays.items()}

    def outputs(*units):
        found = layer(**{name: unit * size[name] for name, unit in zip(size, units, strict=True)})
        return found.activation, found.force / 1000.0

    units = tensors({name: array / size[name] for name, array in arrays.items()})
    assert torch.autograd.gradcheck(outputs, tuple(units.values()), eps=1e-5, atol=1e-5, rtol=1e-4)


def test_values_and_gradients_are_those_of_the_package():
    arrays = leg_arrays()
    problem = ms.Problem(**arrays)
    solution, given = ms.solve(problem, "stress_cubed"), tensors(arrays)
    found = ms.sharing.torch_layer("stress_cubed")(**given)
    np.testing.assert_array_equal(found.force.detach(), solution.force)
    np.testing.assert_array_equal(found.status, solution.status)
    weight = np.random.default_rng(2).normal(size=(4, 12))
    (found.activation * torch.tensor(weight)).sum().backward()
    gradient = ms.sharing.solution_derivatives(problem, "stress_cubed", solution).gradient_of(weight)
    for name, tensor in given.items():
        np.testing.assert_allclose(tensor.grad, gradient[name], rtol=1e-12, atol=1e-12)


def test_single_precision_goes_in_and_out_and_what_is_constant_may_be_numpy():
    arrays = leg_arrays()
    single = torch.tensor(arrays["moment"], dtype=torch.float32, requires_grad=True)
    found = ms.sharing.torch_layer()(**arrays | {"moment": single})
    found.force.sum().backward()
    assert found.force.dtype == found.activation.dtype == single.grad.dtype == torch.float32
    double = tensors(arrays | {"moment": arrays["moment"].astype(np.float32)})
    ms.sharing.torch_layer()(**double).force.sum().backward()
    np.testing.assert_allclose(single.grad, double["moment"].grad, rtol=1e-6, atol=1e-6)


def test_frames_without_a_solution_are_nan_and_may_be_left_out():
    given = tensors(half_unsolved())
    layer = ms.sharing.torch_layer("force_squared")
    found = layer(**given)
    assert found.valid.tolist() == [True, False, False, True]
    assert found.force[1:3].isnan().all() and ms.Status(int(found.status[1])) == ms.Status.INFEASIBLE
    torch.where(found.valid[:, None], found.force, 0.0).sum().backward()
    assert all(tensor.grad.isfinite().all() for tensor in given.values())
    again = tensors(half_unsolved())
    layer(**again).force.sum().backward()
    assert again["max_isometric_force"].grad.isnan().all()
    assert again["moment"].grad.isnan().ravel().tolist() == [False, True, True, False]


def test_reserves_help_where_the_muscles_do_not_suffice():
    given = tensors(half_unsolved())
    found = ms.sharing.torch_layer("force_squared", on_infeasible="reserve")(**given)
    assert found.valid.tolist() == [True, True, False, True]
    found.force[found.valid].sum().backward()
    np.testing.assert_allclose(given["moment"].grad.ravel(), [12.0, 0.0, 0.0, 12.0], atol=1e-6)


def test_there_is_no_second_derivative():
    given = tensors(leg_arrays())
    force = ms.sharing.torch_layer()(**given).force
    (first,) = torch.autograd.grad((force**2).sum(), given["moment"], create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        first.sum().backward()


def test_what_does_not_fit_is_refused():
    with refused("bad_shape", "moment"):
        ms.sharing.torch_layer()(**leg_arrays() | {"moment": np.ones(3)})


def test_the_example_in_the_docstring_prints_what_it_shows():
    text = inspect.getdoc(ms.sharing.torch_layer)
    names = {"ms": ms, "np": np, "torch": torch}
    test, said = doctest.DocTestParser().get_doctest(text, names, "torch_layer", None, None), []
    doctest.DocTestRunner().run(test, out=said.append)
    assert test.examples and not said, "".join(said)
