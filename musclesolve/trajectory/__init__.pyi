from .motion_problem import MotionProblem as MotionProblem
from .solve_motion import solve_motion as solve_motion
from .solve_rate_limited import solve_rate_limited as solve_rate_limited
