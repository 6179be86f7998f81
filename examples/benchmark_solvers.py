"""Solvers side by side on the same frames: time, cost reached, certificate.

One learns which solvers there are, which of them are installed, and that the certificate is recomputed from the
problem, whoever has solved it. On the command line, each solver in a process of its own: musclesolve benchmark
"""

from time import perf_counter

import musclesolve as ms
from musclesolve.data import reference_stride

COST, FRAMES = "force_squared", 5


def main() -> None:
    """Every installed solver that takes the cost, on a few frames of the right leg."""
    problem = ms.leg_problem(ms.run(reference_stride(), side="r"), "r")
    part = problem.frames(range(FRAMES))
    print(f"{COST}, {part.n_frames} frames, {part.n_dof} moments, {part.n_muscles} muscles")
    for name, record in ms.solvers().items():
        if not record.installed:
            print(f"{name:<13} not installed: {record.install}")
            continue
        try:
            ms.solve(problem.frames([0]), COST, name)  # the first call compiles or imports
        except ms.InputError as error:
            print(f"{name:<13} {error.code}")
            continue
        start = perf_counter()
        solution = ms.solve(part, COST, name)
        time = 1e6 * (perf_counter() - start) / FRAMES
        worst = solution.gap[solution.solved].max()
        print(f"{name:<13} {time:9.1f} us/frame, {int(solution.solved.sum())} solved, gap {worst:.0e}")


if __name__ == "__main__":
    main()
