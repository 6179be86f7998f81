"""Force sharing as a layer of JAX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from musclesolve.constants import USUAL_COST, USUAL_SOLVER
from musclesolve.errors import not_installed
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.layers.array_layer import ArrayLayer, LayerSolution
from musclesolve.sharing.solver.solver_registry import Solver


def jax_layer(
    cost: str | Cost = USUAL_COST,
    solver: str | Solver = USUAL_SOLVER,
    on_infeasible: str = "report",
    dof: Sequence[str] | None = None,
) -> Callable[..., LayerSolution]:
    """Force sharing as a function of arrays with exact gradients, for JAX: under jit, grad and vmap.

    The function takes the arrays of a Problem, by the same names and in the same shapes and units: moment_arm (T, m, n)
    [m], moment (T, m) [N m], force_capacity (T, n) [N], max_isometric_force (n,) [N], and by keyword lower, upper,
    reserve_weight, emg and the others. It returns a LayerSolution of arrays. The gradient is one reverse product at the
    certified optimum, and at a kink the derivative to one of its two sides, a subgradient. A frame without a certified
    solution is NaN, and so is its gradient, unless the loss leaves the frame out (`jnp.where(valid, ..., 0)`). A solved
    frame without a derivative has the gradient NaN.

    Solutions are computed in double precision on the processor, by a callback, and once more for the gradient. Results
    and gradients have the precision of the arguments: `jax.config.update("jax_enable_x64", True)` makes it double.
    `vmap` solves one problem after the other; frames on the axis T of one problem are faster.

    Args:
        cost: smooth and convex, by name or as a Cost.
        solver: as in `solve`.
        on_infeasible: as in `solve`.
        dof: m names of the degrees of freedom, by which the usual cost knows the knee. Without them it is the sum of
            squared activations.

    Returns:
        The function. It has reverse derivatives of first order only. Arrays by which solutions are not differentiated,
        such as joints_crossed and time, have the gradient NaN.

    Raises:
        InputError: JAX is not installed; the cost has no derivatives; an unknown name. What Problem and `solve` raise
            while the function runs is the text of an error of JAX.
    """
    try:
        import jax
    except ImportError as error:
        raise not_installed("jax_layer needs", "jax", "jax") from error
    layer = ArrayLayer.from_options(cost, solver, on_infeasible, dof, "jax_layer")

    def solve(arrays: dict[str, Any]) -> Any:
        dtype, solution = arrays["moment"].dtype, layer.solve(_plain(arrays))[1]
        status = np.asarray(solution.status, np.int32)
        return solution.activation.astype(dtype), solution.force.astype(dtype), status

    def gradient(arrays: dict[str, Any], by_activation: Any, by_force: Any) -> Any:
        plain, dtype = _plain(arrays), arrays["moment"].dtype
        by_array = layer.gradient(plain, *layer.solve(plain), by_activation, by_force)
        return {name: array.astype(dtype) for name, array in by_array.items()}

    @jax.custom_vjp
    def outputs(arrays: dict[str, Any]) -> Any:
        frames = max((arrays[name].shape[:-1] for name in ("moment", "force_capacity")), key=len)
        frames = max(frames, arrays["moment_arm"].shape[:-2], key=len)
        muscles = arrays["force_capacity"].shape[-1]
        like = jax.ShapeDtypeStruct((*frames, muscles), arrays["moment"].dtype)
        shapes = like, like, jax.ShapeDtypeStruct(frames, np.int32)
        return jax.pure_callback(solve, shapes, arrays, vmap_method="sequential")

    def backward(arrays: dict[str, Any], weights: Any) -> Any:
        shapes = {name: jax.ShapeDtypeStruct(array.shape, array.dtype) for name, array in arrays.items()}
        return (jax.pure_callback(gradient, shapes, arrays, *weights[:2], vmap_method="sequential"),)

    outputs.defvjp(lambda arrays: (outputs(arrays), arrays), backward)

    def share(
        moment_arm: Any, moment: Any, force_capacity: Any, max_isometric_force: Any, **arrays: Any
    ) -> LayerSolution:
        named = layer.named(moment_arm, moment, force_capacity, max_isometric_force, **arrays)
        named = {name: jax.numpy.asarray(array) for name, array in named.items()}
        dtype = jax.numpy.result_type(float, *named.values())
        activation, force, status = outputs({name: array.astype(dtype) for name, array in named.items()})
        return LayerSolution(activation, force, status, jax.numpy.isfinite(activation).all(-1))

    return share


def _plain(arrays: dict[str, Any]) -> dict[str, Any]:
    return {name: np.asarray(array, np.float64) for name, array in arrays.items()}
