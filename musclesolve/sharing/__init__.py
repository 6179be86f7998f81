"""Sharing joint moments among muscles: problem, costs, solvers, and an answer that carries its own certificate.

Stands alone on arrays: nothing here knows of bodies, muscle paths or files. `costs` and `solvers` are the functions
that list the registries; the classes are imported from the packages of the same names.
"""

from musclesolve.sharing.certificate import kkt_residual
from musclesolve.sharing.cost import Cost, costs, expression_cost
from musclesolve.sharing.derivatives import SolutionChange, SolutionDerivatives, solution_derivatives
from musclesolve.sharing.diagnosis import Diagnosis, diagnose
from musclesolve.sharing.full import FullProblem
from musclesolve.sharing.full_solving import FullSolution, solve_full
from musclesolve.sharing.mixture import Mixture, explain
from musclesolve.sharing.near_optimal import near_optimal_range
from musclesolve.sharing.pareto import ParetoFront, pareto_front
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.ranges import ForceRange, feasible_range
from musclesolve.sharing.rate_limits import RateLimits
from musclesolve.sharing.rate_solving import RateLimited, solve_rate_limited
from musclesolve.sharing.reserve_check import ReserveCheck, Verdict, check_reserves
from musclesolve.sharing.solution import Solution
from musclesolve.sharing.solver import solvers
from musclesolve.sharing.solving import solve
from musclesolve.sharing.status import Status

__all__ = [
    "Cost",
    "Diagnosis",
    "ForceRange",
    "FullProblem",
    "FullSolution",
    "Mixture",
    "ParetoFront",
    "Problem",
    "RateLimited",
    "RateLimits",
    "ReserveCheck",
    "Solution",
    "SolutionChange",
    "SolutionDerivatives",
    "Status",
    "Verdict",
    "check_reserves",
    "costs",
    "diagnose",
    "explain",
    "expression_cost",
    "feasible_range",
    "kkt_residual",
    "near_optimal_range",
    "pareto_front",
    "solution_derivatives",
    "solve",
    "solve_full",
    "solve_rate_limited",
    "solvers",
]
