"""Benchmark of `musclesolve benchmark`: solvers side by side, one frame, the stages of a run."""
