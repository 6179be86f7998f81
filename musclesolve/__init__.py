"""musclesolve: from recorded motion and ground forces to the force of every muscle of the legs."""

from musclesolve.muscles import muscle_geometry
from musclesolve.pipeline import run
from musclesolve.recording import read_trial
from musclesolve.sharing import Problem, Solution, Status, costs, solve, solvers

__all__ = ["Problem", "Solution", "Status", "costs", "muscle_geometry", "read_trial", "run", "solve", "solvers"]
