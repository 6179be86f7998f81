from .collocation.collocation import Collocation as Collocation
from .motion_problem import MotionProblem as MotionProblem
from .motion_solution import MotionSolution as MotionSolution
from .rate.solve_rate_limited import RateLimited as RateLimited
from .rate.solve_rate_limited import solve_rate_limited as solve_rate_limited
from .solve_motion import solve_motion as solve_motion
from .structured import Structured as Structured
