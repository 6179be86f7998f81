"""Strengths of muscle groups, learned from joint moments and EMG by descent along exact gradients.

One learns how force sharing is used as a layer of PyTorch or JAX, and what EMG does not say. The EMG is synthetic:
activations of planted strengths, as shares of the maximum, with noise. The muscles of a group share a factor. Tibialis
anterior is near its least activation: its strength is hardly identifiable, and its error is larger than it seems.
"""

from importlib.util import find_spec

import numpy as np
from scipy.optimize import minimize

import musclesolve as ms

GROUPS = ("gluteus_m", "iliacus psoas", "semi biceps", "rectus vastus", "gastroc", "soleus", "tibialis_a")
PLANTED = (0.9, 1.25, 0.8, 1.2, 0.85, 1.15, 0.75)  # factors of the strength of each group
CHANNELS = "gluteus_medius_m gluteus_maximus_m semit biceps_f rectus vastus_l gastroc soleus tibialis_a"
STRENGTHS, NOISE = ("force_capacity", "fiber_force_capacity", "max_isometric_force"), 0.02
OTHERS = ("moment_arm", "moment", "lower", "joints_crossed")

problem = ms.leg_problem(ms.run(ms.data.reference_stride(), side="r"), "r")
member = np.array([[1.0 * name.startswith(tuple(g.split())) for name in problem.muscle] for g in GROUPS])
seen = [next(k for k, name in enumerate(problem.muscle) if name.startswith(c)) for c in CHANNELS.split()]
true = {name: np.exp(np.log(PLANTED) @ member) * getattr(problem, name) for name in STRENGTHS}
emg = np.random.default_rng(0).normal(ms.solve(problem.with_arrays(**true)).activation[:, seen], NOISE)
LIBRARY = "torch" if find_spec("torch") else "jax"
if LIBRARY == "torch":
    from torch import tensor as array
    from torch.autograd.functional import jacobian as gradient
else:
    import jax

    jax.config.update("jax_enable_x64", True)
    array, gradient = jax.numpy.asarray, lambda function, at: jax.grad(function)(at)
layer = getattr(ms.sharing, f"{LIBRARY}_layer")(on_infeasible="reserve", dof=problem.dof)


def misfit(log_factor):
    """Mean square of EMG - activation over its noise, with strengths multiplied by exp(log_factor)."""
    grown = {name: np.e ** (log_factor @ array(member)) * array(getattr(problem, name)) for name in STRENGTHS}
    activation = layer(**{name: getattr(problem, name) for name in OTHERS}, **grown).activation
    return (((activation[:, seen] - array(emg)) / NOISE) ** 2).mean()


slope = lambda at: np.asarray(gradient(misfit, array(at)))  # noqa: E731
learned = minimize(lambda at: float(misfit(array(at))), np.zeros(len(GROUPS)), jac=slope, method="SLSQP").x
curvature = [(slope(learned + step) - slope(learned - step)) / 2e-3 for step in 1e-3 * np.eye(len(GROUPS))]
variance = np.diag(np.linalg.inv(0.5 * emg.size * np.array(curvature)))
for group, planted, factor, sd in zip(GROUPS, PLANTED, np.exp(learned), np.sqrt(variance), strict=True):
    print(f"{group:<14} planted {planted:.2f}, learned {factor:.2f} ± {factor * sd:.2f}")
