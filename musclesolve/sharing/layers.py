"""Force sharing as a layer of PyTorch and JAX: problems in, forces out, and exact gradients back.

The common part, `ArrayLayer`, works on arrays of numpy. A loss L has the derivatives g = dL/da by activations and h =
dL/dF by the forces F = c a, with the force capacities c. Its gradient by the arrays of the problem is one product with
the derivatives of the solution, of the weights g + c h (`SolutionDerivatives.gradient_of`), and by the capacities h a
more.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple, Self

import numpy as np

from musclesolve._util.arrays import AnyArray, Array
from musclesolve._util.checks import check_choice
from musclesolve._util.messages import unknown_name
from musclesolve.constants import USUAL_COST, USUAL_SOLVER
from musclesolve.errors import not_installed
from musclesolve.sharing.arguments import check_smooth_cost
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_arrays import ARRAY_AXES
from musclesolve.sharing.solution import Solution
from musclesolve.sharing.solution_derivatives import solution_derivatives
from musclesolve.sharing.solver.solver_registry import Solver, find_solver
from musclesolve.sharing.solving import ON_INFEASIBLE, solve


class LayerSolution(NamedTuple):
    """The solution that a layer returns, as arrays of its library. A single frame has no frame axis.

    Attributes:
        activation: (T, n), NaN in a frame without a certified solution.
        force: (T, n) [N], force capacity times activation.
        status: (T,) members of Status, as integers.
        valid: (T,) mask of the frames with a certified solution.
    """

    activation: Any
    force: Any
    status: Any
    valid: Any


@dataclass(frozen=True)
class ArrayLayer:
    """Solves problems that come as arrays by name, and returns the gradient of a loss by these arrays."""

    cost: Cost
    solver: Solver
    on_infeasible: str
    dof: tuple[str, ...] | None

    @classmethod
    def from_options(
        cls, cost: str | Cost, solver: str | Solver, on_infeasible: str, dof: Sequence[str] | None, where: str
    ) -> Self:
        """Check the options of `solve` that a layer takes; `where` names the layer in messages."""
        check_choice(on_infeasible, "on_infeasible", ON_INFEASIBLE, where=where)
        chosen = check_smooth_cost(cost, None, "differentiated", f"{where}(cost=...)", convex=True)
        return cls(chosen, find_solver(solver), on_infeasible, None if dof is None else tuple(dof))

    def named(self, *required: Any, **others: Any) -> dict[str, Any]:
        """The arrays by name, the four required ones first, without those that are None."""
        for name in set(others) - set(ARRAY_AXES):
            raise unknown_name(name, "array of a Problem", ARRAY_AXES, where="layer")
        arrays = dict(zip(ARRAY_AXES, required, strict=False)) | others
        return {name: array for name, array in arrays.items() if array is not None}

    def solve(self, arrays: Mapping[str, AnyArray]) -> tuple[Problem, Solution]:
        """Solve and certify the problem with these arrays."""
        plain: dict[str, Any] = {name: np.asarray(array, np.float64) for name, array in arrays.items()}
        problem = Problem(**plain, dof=self.dof)
        return problem, solve(problem, self.cost, self.solver, self.on_infeasible)

    def gradient(
        self,
        arrays: Mapping[str, AnyArray],
        problem: Problem,
        solution: Solution,
        by_activation: AnyArray,
        by_force: AnyArray,
    ) -> dict[str, Array]:
        """Return the gradient of a loss by every array, in its shape.

        The weights are dL/da (T, n) and dL/dF (T, n) [per N]. An array by which solutions are not differentiated, such
        as `time`, has the gradient NaN.
        """
        by_activation, by_force = (np.asarray(x, np.float64) for x in (by_activation, by_force))
        capacity = problem.force_capacity[0] if problem.single_frame else problem.force_capacity
        derivatives = solution_derivatives(problem, self.cost, solution)
        gradient = derivatives.gradient_of(by_activation + capacity * by_force)
        # the activation is NaN in a frame without a solution, which the loss may leave out
        gradient["force_capacity"] += np.where(by_force == 0.0, 0.0, by_force * solution.activation)
        found = {}
        for name, array in arrays.items():
            full = gradient.get(name, np.full(array.shape, np.nan))
            shared = tuple(range(full.ndim - array.ndim))  # axes along which the array holds for all frames
            found[name] = full.sum(axis=shared)
        return found


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

    Examples:
        >>> share = ms.sharing.torch_layer("stress_cubed")
        >>> moment = torch.tensor([[20.0], [35.0]], requires_grad=True)             # (T, m) [N m]
        >>> force = share([[0.05, 0.05]], moment, [1000.0] * 2, [1000.0] * 2).force  # (T, n) [N]
        >>> force[:, 0].sum().backward()
        >>> moment.grad.round().tolist()                                            # [N per N m]
        [[10.0], [10.0]]
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


def jax_layer(
    cost: str | Cost = USUAL_COST,
    solver: str | Solver = USUAL_SOLVER,
    on_infeasible: str = "report",
    dof: Sequence[str] | None = None,
) -> Callable[..., LayerSolution]:
    """Force sharing as a function of arrays with exact gradients, for JAX: under jit, grad and vmap.

    The function takes the arrays of a Problem by name and returns a LayerSolution of arrays, with the gradients and the
    NaN of `torch_layer`. The loss leaves a frame out by `jnp.where(valid, ..., 0)`.

    Solutions are computed in double precision on the processor, by a callback, and once more for the gradient. Results
    and gradients have the precision of the arguments: `jax.config.update("jax_enable_x64", True)` makes it double.
    `vmap` solves one problem after the other; frames on the axis T of one problem are faster.

    Arguments are as of `torch_layer`. The function has reverse derivatives of first order only.

    Raises:
        InputError: JAX is not installed; the cost has no derivatives; an unknown name. What Problem and `solve` raise
            while the function runs is the text of an error of JAX.

    Examples:
        >>> share = ms.sharing.jax_layer("stress_cubed")
        >>> def first(moment):                                                      # (T, m) [N m]
        ...     return share([[0.05, 0.05]], moment, [1000.0] * 2, [1000.0] * 2).force[:, 0].sum()
        >>> jax.jit(jax.grad(first))(np.array([[20.0], [35.0]])).round().tolist()   # [N per N m]
        [[10.0], [10.0]]
    """
    try:
        import jax
    except ImportError as error:
        raise not_installed("jax_layer needs", "jax", "jax") from error
    layer = ArrayLayer.from_options(cost, solver, on_infeasible, dof, "jax_layer")

    def solve(arrays: dict[str, Any]) -> Any:
        dtype, solution = arrays["moment"].dtype, layer.solve(arrays)[1]
        status = np.asarray(solution.status, np.int32)
        return solution.activation.astype(dtype), solution.force.astype(dtype), status

    def gradient(arrays: dict[str, Any], by_activation: Any, by_force: Any) -> Any:
        by_array = layer.gradient(arrays, *layer.solve(arrays), by_activation, by_force)
        return {name: array.astype(arrays["moment"].dtype) for name, array in by_array.items()}

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
