"""Seven costs and constraints of one's own, on the leg of the bundled stride, each with exact derivatives.

One learns how an expression sees every field of the problem, how terms over several frames and further unknowns enter a
program of a whole window, and that every answer comes back with a certificate.
"""

import casadi
import numpy as np

import musclesolve as ms


def window(frames: int = 12) -> ms.Problem:
    """Frames of the right leg in stance, with joint reactions."""
    trial = ms.data.reference_stride()
    problem = ms.leg_problem(ms.run(trial), "r", trial=trial)
    return problem.frames(np.flatnonzero(problem.valid)[:frames])


def knee_contact(activation, force, data):
    """Contact force of the knee [N^2], R = reaction_matrix F + reaction_offset, and some effort."""
    reaction = data.reaction_matrix @ force + data.reaction_offset
    return casadi.dot(data.is_knee, reaction**2) + 1e4 * casadi.sumsqr(activation)


def instantaneous_moment(activation, force, data):
    """Force over the largest moment at this pose, M = F0 |r| (Silva 2003, eq. 6.18)."""
    arm = casadi.sqrt(casadi.sum1(data.moment_arm**2)).T
    contractile = data.fiber_force_capacity * activation
    return casadi.sumsqr(contractile / (data.max_isometric_force * casadi.fmax(arm, 1e-3)))


def metabolic_rate(activation, force, data):
    """Heat of active muscle [W]: less beyond the optimal fiber length (after Umberger et al. 2003)."""
    mass = data.max_isometric_force * data.optimal_fiber_length * 1060 / 25e4
    length = data.fiber_length / data.optimal_fiber_length
    active = 0.4 + 0.6 * casadi.exp(-(((length - 1) / 0.45) ** 2))
    return casadi.sum1(25.0 * mass * active * (activation + activation**2))


def ankle_stiffness(activation, force, data):
    """Short-range stiffness of the ankle, sum r^2 23.4 F / L0 [N m/rad] (Cui et al. 2008)."""
    arm = data.moment_arm.T @ data.is_ankle
    return casadi.sum1(arm**2 * 23.4 * force / data.optimal_fiber_length)


def weighted_emg(activation, force, data):
    """Distance from EMG with a weight that changes in time, beside effort."""
    miss = casadi.dot(data.is_measured, (activation - data.envelope) ** 2)
    return data.weight * miss + casadi.sumsqr(activation)


def activation_rate(activation, force, data):
    """Squares of the rates of activation [1/s^2]."""
    rate = (activation[:, 1:] - activation[:, :-1]) / casadi.repmat(data.dt, activation.shape[0], 1)
    return 1e-3 * casadi.sumsqr(rate)


def synergies(activation, force, data):
    """Distance of the activations from W H: modules W are given, H is found."""
    return 10.0 * casadi.sumsqr(activation - data.W @ data.H)


def main() -> None:
    """Solve the window under each cost, and print value, certificate and what the cost was made for."""
    problem = window()
    is_knee = np.array([name.startswith("knee") for name in problem.reaction], dtype=float)
    is_ankle = np.array([name == "ankle_dorsiflexion_r" for name in problem.dof], dtype=float)
    is_measured = np.isin(problem.muscle, ["soleus_r", "tibialis_anterior_r"]).astype(float)
    frames, cost = problem.n_frames, ms.sharing.expression_cost
    usual = ms.solve(problem, "activation_power")

    per_frame = {
        "knee contact": cost(
            "knee contact",
            knee_contact,
            uses=("reaction_matrix", "reaction_offset"),
            constants={"is_knee": is_knee},
            convex=True,
        ),
        "instantaneous moment": cost(
            "instantaneous moment",
            instantaneous_moment,
            uses=("moment_arm", "max_isometric_force", "fiber_force_capacity"),
            convex=True,
        ),
        "metabolic rate": cost(
            "metabolic rate",
            metabolic_rate,
            uses=("max_isometric_force", "optimal_fiber_length", "fiber_length"),
            convex=True,
        ),
        "weighted EMG": cost(
            "weighted EMG",
            weighted_emg,
            constants={"is_measured": is_measured},
            frame_constants={"weight": np.linspace(0.0, 5.0, frames), "envelope": usual.activation + 0.05},
            convex=True,
        ),
    }
    answers = {name: ms.solve(problem, each, "ipopt") for name, each in per_frame.items()}
    stiff = ms.sharing.expression_constraint(
        "ankle stiffness",
        ankle_stiffness,
        lower=60.0,
        uses=("moment_arm", "optimal_fiber_length"),
        constants={"is_ankle": is_ankle},
    )
    answers["stiffness of at least 60 N m/rad"] = ms.sharing.program(
        problem, "activation_power", stiff
    ).solve()

    rate = ms.sharing.motion_cost("rate", activation_rate, uses=("dt",), convex=True)
    answers["activation rate"] = ms.sharing.program(problem, "activation_power", motion_costs=rate).solve()
    modules = np.linalg.svd(usual.activation.T)[0][:, :3]
    synergy = ms.sharing.motion_cost(
        "synergies",
        synergies,
        constants={"W": modules},
        unknowns={"H": ms.sharing.Unknown((3, frames))},
        convex=True,
    )
    answers["synergies"] = ms.sharing.program(problem, "activation_power", motion_costs=synergy).solve()

    soleus = problem.muscle.index("soleus_r")
    for name, answer in answers.items():
        print(
            f"{name:<33} {int(answer.solved.sum())} of {frames} frames, certificate "
            f"{answer.kkt_residual.max():.0e}, soleus {answer.force[:, soleus].max():5.0f} N"
        )


if __name__ == "__main__":
    main()
