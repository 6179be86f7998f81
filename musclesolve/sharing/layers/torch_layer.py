"""Force sharing as a layer of PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from musclesolve.constants import USUAL_COST, USUAL_SOLVER
from musclesolve.errors import not_installed
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.layers.array_layer import ArrayLayer, LayerSolution
from musclesolve.sharing.solver.solver_registry import Solver


def torch_layer(
    cost: str | Cost = USUAL_COST,
    solver: str | Solver = USUAL_SOLVER,
    on_infeasible: str = "report",
    dof: Sequence[str] | None = None,
) -> Callable[..., LayerSolution]:
    """Force sharing as a function of tensors with exact gradients, for PyTorch.

    The function takes the arrays of a Problem, by the same names and in the same shapes and units: moment_arm (T, m, n)
    [m], moment (T, m) [N m], force_capacity (T, n) [N], max_isometric_force (n,) [N], and by keyword lower, upper,
    reserve_weight, emg and the others. It returns a LayerSolution of tensors. Solutions are computed in double
    precision on the processor. Results and gradients have the precision and the device of the tensors.

    `backward` is one reverse product at the certified optimum. With forces F = c a of the force capacities c, and any
    array p of the problem, the gradient of a loss L is

        dL/dp = (da/dp)^T (dL/da + c dL/dF) + (dF/dp at fixed a)^T dL/dF

    A muscle at a bound moves with the bound. Where a muscle is just about to reach or to leave a bound, activations
    have a kink. The gradient is then the derivative to one of the two sides, which round-off chooses: a subgradient.
    A frame without a certified solution is NaN, and so is its gradient, unless the loss leaves the frame out
    (`force[valid]`, `torch.where(valid, ..., 0)`). A solved frame without a derivative has the gradient NaN. Weights
    of reserves that on_infeasible="reserve" chooses count as constants.

    Args:
        cost: smooth and convex, by name or as a Cost.
        solver: as in `solve`.
        on_infeasible: as in `solve`.
        dof: m names of the degrees of freedom, by which the usual cost knows the knee. Without them it is the sum of
            squared activations.

    Returns:
        The function. It has first derivatives only. Arrays by which solutions are not differentiated, such as
        joints_crossed and time, have the gradient NaN.

    Raises:
        InputError: PyTorch is not installed; the cost has no derivatives; an unknown name. The function raises what
            Problem and `solve` raise.
    """
    try:
        import torch
    except ImportError as error:
        raise not_installed("torch_layer needs", "torch", "torch") from error
    layer = ArrayLayer.from_options(cost, solver, on_infeasible, dof, "torch_layer")

    class ForceSharing(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, names: tuple[str, ...], *tensors: Any) -> Any:
            arrays = {name: tensor.numpy() for name, tensor in zip(names, tensors, strict=True)}
            problem, solution = layer.solve(arrays)
            ctx.of_backward = arrays, problem, solution
            status = torch.tensor(solution.status)
            ctx.mark_non_differentiable(status)
            return torch.tensor(solution.activation), torch.tensor(solution.force), status

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx: Any, by_activation: Any, by_force: Any, _: Any) -> Any:
            arrays, problem, solution = ctx.of_backward
            gradient = layer.gradient(arrays, problem, solution, by_activation.numpy(), by_force.numpy())
            return None, *(torch.tensor(array) for array in gradient.values())

    def share(
        moment_arm: Any, moment: Any, force_capacity: Any, max_isometric_force: Any, **arrays: Any
    ) -> LayerSolution:
        named = layer.named(moment_arm, moment, force_capacity, max_isometric_force, **arrays)
        given = [x for x in named.values() if isinstance(x, torch.Tensor) and x.is_floating_point()]
        dtype = reduce(torch.promote_types, (x.dtype for x in given)) if given else torch.float64
        device = given[0].device if given else None
        tensors = (x if isinstance(x, torch.Tensor) else torch.tensor(np.asarray(x)) for x in named.values())
        activation, force, status = ForceSharing.apply(
            tuple(named), *(tensor.to("cpu", torch.float64) for tensor in tensors)
        )
        activation, force = activation.to(device, dtype), force.to(device, dtype)
        return LayerSolution(activation, force, status.to(device), torch.isfinite(activation).all(-1))

    return share
