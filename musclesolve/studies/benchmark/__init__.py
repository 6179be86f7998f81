"""What `musclesolve benchmark` measures and prints: solvers side by side, one frame, the stages of a run."""
