"""Force sharing on plain arrays: no recording, no model, only moment arms, moments and strengths.

One learns what a problem is made of, how thousands of frames are solved in one call, and that every frame comes back
with a status and a certificate, also one whose moment no muscle can produce.
"""

import numpy as np

import musclesolve as ms


def main() -> None:
    """An elbow with three muscles over a thousand frames; in the last frames the moment is out of reach."""
    frames = 1000
    angle = np.radians(np.linspace(0.0, 120.0, frames))
    biceps, brachialis, triceps = (
        0.03 + 0.02 * np.sin(angle),
        0.02 + 0.01 * np.sin(angle),
        np.full(frames, -0.02),
    )
    strength = np.array([800.0, 1000.0, 1500.0])
    problem = ms.Problem(
        moment_arm=np.stack([biceps, brachialis, triceps], axis=1)[:, None, :],  # (T, m, n) [m]
        moment=np.linspace(0.0, 80.0, frames)[:, None],  # (T, m) [N m]
        force_capacity=np.tile(strength, (frames, 1)),  # (T, n) [N] at activation 1
        max_isometric_force=strength,  # (n,) [N]
        muscle=("biceps", "brachialis", "triceps"),
        dof=("elbow_flexion",),
    )
    solution = ms.solve(problem, cost="stress_cubed")
    middle = frames // 2
    for name, force in zip(problem.muscle, solution.force[middle], strict=True):
        print(f"{name:<11} {force:6.1f} N at {problem.moment[middle, 0]:.1f} N m")
    print(f"largest gap of the solved frames: {solution.gap[solution.solved].max():.1e}")
    first = int(np.flatnonzero(~solution.solved)[0])
    print(f"{int(solution.solved.sum())} of {frames} frames solved; the first other one, {first}:")
    print(ms.diagnose(problem, frames=[first]).sentence(0))


if __name__ == "__main__":
    main()
