from .analysis.cost_mixture import (
    Mixture as Mixture,
)
from .analysis.cost_mixture import (
    explain as explain,
)
from .analysis.diagnosis import (
    Diagnosis as Diagnosis,
)
from .analysis.diagnosis import (
    diagnose as diagnose,
)
from .analysis.force_ranges import (
    ForceRange as ForceRange,
)
from .analysis.force_ranges import (
    feasible_range as feasible_range,
)
from .analysis.near_optimal import (
    near_optimal_range as near_optimal_range,
)
from .analysis.pareto import (
    ParetoFront as ParetoFront,
)
from .analysis.pareto import (
    pareto_front as pareto_front,
)
from .analysis.reserve_check import (
    ReserveCheck as ReserveCheck,
)
from .analysis.reserve_check import (
    Verdict as Verdict,
)
from .analysis.reserve_check import (
    check_reserves as check_reserves,
)
from .certificate import (
    kkt_residual as kkt_residual,
)
from .cost.casadi_expression import (
    expression_cost as expression_cost,
)
from .cost.cost_base import (
    Cost as Cost,
)
from .cost.cost_registry import (
    costs as costs,
)
from .derivatives.solution_derivatives import (
    SolutionChange as SolutionChange,
)
from .derivatives.solution_derivatives import (
    SolutionDerivatives as SolutionDerivatives,
)
from .derivatives.solution_derivatives import (
    solution_derivatives as solution_derivatives,
)
from .full.full_problem import (
    FullProblem as FullProblem,
)
from .full.solve_full import (
    FullSolution as FullSolution,
)
from .full.solve_full import (
    solve_full as solve_full,
)
from .problem import (
    Problem as Problem,
)
from .rate.rate_limits import (
    RateLimits as RateLimits,
)
from .rate.solve_rate_limited import (
    RateLimited as RateLimited,
)
from .rate.solve_rate_limited import (
    solve_rate_limited as solve_rate_limited,
)
from .solution import (
    Solution as Solution,
)
from .solver.solver_registry import (
    solvers as solvers,
)
from .solving import (
    solve as solve,
)
from .status import (
    Status as Status,
)
