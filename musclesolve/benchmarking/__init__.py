"""Solvers and stages measured beside each other, in one run on one machine; what `musclesolve benchmark` shows."""

from musclesolve.benchmarking.contest import Row, contest
from musclesolve.benchmarking.problems import random_problem, varied

__all__ = ["Row", "contest", "random_problem", "varied"]
