"""Sharing joint moments among muscles: problem, costs, solvers, and an answer that carries its own certificate.

Stands alone on arrays: nothing here knows of bodies, muscles paths or files.
"""

from musclesolve.sharing.certificate import kkt_residual
from musclesolve.sharing.costs.base import Cost
from musclesolve.sharing.costs.registry import costs
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solution import Solution
from musclesolve.sharing.solve import solve
from musclesolve.sharing.solvers.registry import solvers
from musclesolve.sharing.status import Status

__all__ = ["Cost", "Problem", "Solution", "Status", "costs", "kkt_residual", "solve", "solvers"]
