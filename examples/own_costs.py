"""Seven costs and constraints of one's own on a leg of the bundled stride, with exact derivatives and certificates.

One learns how an expression sees every field of the problem in its own shape, how numbers of every frame enter, and how
terms over several frames and further unknowns enter a program of a whole window.
"""

import casadi
import numpy as np

import musclesolve as ms
from musclesolve.sharing import Unknown, expression_constraint, expression_cost, motion_cost, program

STRENGTH = ("max_isometric_force", "optimal_fiber_length")


def knee_contact(activation, force, data):
    """Contact force of the knee [N^2], R = reaction_matrix F + reaction_offset, and some effort."""
    reaction = data.reaction_matrix @ force + data.reaction_offset
    return casadi.dot(data.is_knee, reaction**2) + 1e4 * casadi.sumsqr(activation)


def instantaneous_moment(activation, force, data):
    """Contractile force over the largest moment of the pose, M = F0 |r| (Silva 2003, eq. 6.18)."""
    arm = casadi.sqrt(casadi.sum1(data.moment_arm**2)).T
    contractile = data.fiber_force_capacity * activation
    return casadi.sumsqr(contractile / (data.max_isometric_force * casadi.fmax(arm, 1e-3)))


def metabolic_rate(activation, force, data):
    """Heat of active muscle [W], less beyond the optimal fiber length (after Umberger et al. 2003)."""
    mass = data.max_isometric_force * data.optimal_fiber_length * 1060 / 25e4
    stretch = data.fiber_length / data.optimal_fiber_length - 1
    return casadi.sum1(
        25.0 * mass * (0.4 + 0.6 * casadi.exp(-((stretch / 0.45) ** 2))) * (activation + activation**2)
    )


def weighted_emg(activation, force, data):
    """Distance from EMG with a weight that changes in time, beside effort."""
    miss = casadi.dot(data.is_measured, (activation - data.envelope) ** 2)
    return data.weight * miss + casadi.sumsqr(activation)


def ankle_stiffness(activation, force, data):
    """Short-range stiffness of the ankle, sum r^2 23.4 F / L0 [N m/rad] (Cui et al. 2008)."""
    arm = data.moment_arm.T @ data.is_ankle
    return casadi.sum1(arm**2 * 23.4 * force / data.optimal_fiber_length)


def activation_rate(activation, force, data):
    """Squares of the rates of activation [1/s^2]; a column is a frame."""
    rate = (activation[:, 1:] - activation[:, :-1]) / casadi.repmat(data.dt, activation.shape[0], 1)
    return 1e-3 * casadi.sumsqr(rate)


def synergies(activation, force, data):
    """Distance of the activations from W H: the modules W are given, H is found."""
    return 10.0 * casadi.sumsqr(activation - data.W @ data.H)


def main() -> None:
    """Solve twelve frames of stance under each cost; print certificates and the largest force of the soleus."""
    trial = ms.data.reference_stride()
    whole = ms.leg_problem(ms.run(trial), "r", trial=trial)  # with joint reactions
    problem = whole.frames(np.flatnonzero(whole.valid)[:12])
    usual, frames = ms.solve(whole, "activation_power").activation, problem.n_frames
    knee = {"is_knee": [name.startswith("knee") for name in problem.reaction]}
    ankle = {"is_ankle": [name == "ankle_dorsiflexion_r" for name in problem.dof]}
    measured = {"is_measured": np.isin(problem.muscle, ["soleus_r", "tibialis_anterior_r"]) * 1.0}
    # of every frame of the whole problem; finite also where it has no solution
    emg = {"weight": np.linspace(0.0, 5.0, whole.n_frames), "envelope": np.nan_to_num(usual) + 0.05}
    modules = {"W": np.linalg.svd(usual[problem.frame_number].T)[0][:, :3]}

    reactions, arms = ("reaction_matrix", "reaction_offset"), ("moment_arm", "fiber_force_capacity")
    costs = [
        expression_cost("knee contact", knee_contact, uses=reactions, constants=knee, convex=True),
        expression_cost("instantaneous moment", instantaneous_moment, uses=(*arms, STRENGTH[0]), convex=True),
        expression_cost("metabolic rate", metabolic_rate, uses=(*STRENGTH, "fiber_length"), convex=True),
        expression_cost("weighted EMG", weighted_emg, constants=measured, frame_constants=emg, convex=True),
    ]
    answers = {cost.name: ms.solve(problem, cost, "ipopt") for cost in costs}
    uses = ("moment_arm", "optimal_fiber_length")
    stiff = expression_constraint("stiffness", ankle_stiffness, lower=60.0, uses=uses, constants=ankle)
    answers["stiffness of at least 60 N m/rad"] = program(problem, "activation_power", stiff).solve()
    rate = motion_cost("rate", activation_rate, uses=("dt",), convex=True)
    answers["activation rate"] = program(problem, "activation_power", motion_costs=rate).solve()
    found = {"H": Unknown((3, frames))}
    synergy = motion_cost("synergies", synergies, constants=modules, unknowns=found, convex=True)
    answers["synergies"] = program(problem, "activation_power", motion_costs=synergy).solve()

    soleus = problem.muscle.index("soleus_r")
    for name, answer in answers.items():
        largest, residual = answer.force[:, soleus].max(), answer.kkt_residual.max()
        print(
            f"{name:<33} {int(answer.solved.sum())} frames, certificate {residual:.0e}, soleus {largest:5.0f} N"
        )


if __name__ == "__main__":
    main()
