from .banded_interior_point import BandedInteriorPoint as BandedInteriorPoint
from .collocation.collocation import Collocation as Collocation
from .motion_problem import MotionProblem as MotionProblem
from .motion_solution import MotionSolution as MotionSolution
from .solve_motion import solve_motion as solve_motion
from .solve_rate_limited import RateLimited as RateLimited
from .solve_rate_limited import solve_rate_limited as solve_rate_limited
