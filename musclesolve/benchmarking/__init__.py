"""Solvers and stages measured beside each other, in one run on one machine; what `musclesolve benchmark` shows."""

from musclesolve.benchmarking.problems import random_problem, varied

__all__ = ["random_problem", "varied"]
