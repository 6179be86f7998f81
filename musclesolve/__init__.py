"""musclesolve: from recorded motion and ground forces to the force of every muscle of the legs.

Names are imported when they are first used, so that `import musclesolve` and the command line start at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from musclesolve.cameras import Camera, calibrate, reconstruct
    from musclesolve.checking import check
    from musclesolve.comparison import compare
    from musclesolve.errors import InputError, MuscleSolveError
    from musclesolve.many import TrialRecord, run_many
    from musclesolve.motion import gait_events, low_pass, residual_analysis, smoothing_spline
    from musclesolve.muscles import muscle_geometry
    from musclesolve.pipeline import run
    from musclesolve.propagation import uncertainty
    from musclesolve.recording import (
        Markers,
        Table,
        read_camera_file,
        read_forces_table,
        read_markers,
        read_mot,
        read_trc,
        read_trial,
        write_camera_file,
        write_mot,
        write_trc,
    )
    from musclesolve.results import average_cycles, gait_cycles, leg_problem, read_result
    from musclesolve.sensitivity import force_sensitivity
    from musclesolve.sharing import (
        Cost,
        Problem,
        RateLimits,
        Solution,
        Status,
        check_reserves,
        costs,
        diagnose,
        explain,
        expression_cost,
        feasible_range,
        near_optimal_range,
        pareto_front,
        solution_derivatives,
        solve,
        solve_rate_limited,
        solvers,
    )
    from musclesolve.sharing.kernel import compile_kernel
    from musclesolve.synthetic import reference_stride, synthetic_recording
    from musclesolve.version import __version__

_HOME = {
    "Camera": "musclesolve.cameras",
    "Cost": "musclesolve.sharing",
    "InputError": "musclesolve.errors",
    "Markers": "musclesolve.recording",
    "MuscleSolveError": "musclesolve.errors",
    "Problem": "musclesolve.sharing",
    "RateLimits": "musclesolve.sharing",
    "Solution": "musclesolve.sharing",
    "Status": "musclesolve.sharing",
    "Table": "musclesolve.recording",
    "TrialRecord": "musclesolve.many",
    "__version__": "musclesolve.version",
    "average_cycles": "musclesolve.results",
    "calibrate": "musclesolve.cameras",
    "check": "musclesolve.checking",
    "check_reserves": "musclesolve.sharing",
    "compare": "musclesolve.comparison",
    "compile_kernel": "musclesolve.sharing.kernel",
    "costs": "musclesolve.sharing",
    "diagnose": "musclesolve.sharing",
    "explain": "musclesolve.sharing",
    "expression_cost": "musclesolve.sharing",
    "feasible_range": "musclesolve.sharing",
    "force_sensitivity": "musclesolve.sensitivity",
    "gait_cycles": "musclesolve.results",
    "gait_events": "musclesolve.motion",
    "leg_problem": "musclesolve.results",
    "low_pass": "musclesolve.motion",
    "muscle_geometry": "musclesolve.muscles",
    "near_optimal_range": "musclesolve.sharing",
    "pareto_front": "musclesolve.sharing",
    "read_camera_file": "musclesolve.recording",
    "read_forces_table": "musclesolve.recording",
    "read_markers": "musclesolve.recording",
    "read_mot": "musclesolve.recording",
    "read_result": "musclesolve.results",
    "read_trc": "musclesolve.recording",
    "read_trial": "musclesolve.recording",
    "reconstruct": "musclesolve.cameras",
    "reference_stride": "musclesolve.synthetic",
    "residual_analysis": "musclesolve.motion",
    "run": "musclesolve.pipeline",
    "run_many": "musclesolve.many",
    "smoothing_spline": "musclesolve.motion",
    "solution_derivatives": "musclesolve.sharing",
    "solve": "musclesolve.sharing",
    "solve_rate_limited": "musclesolve.sharing",
    "solvers": "musclesolve.sharing",
    "synthetic_recording": "musclesolve.synthetic",
    "uncertainty": "musclesolve.propagation",
    "write_camera_file": "musclesolve.recording",
    "write_mot": "musclesolve.recording",
    "write_trc": "musclesolve.recording",
}

__all__ = [
    "Camera",
    "Cost",
    "InputError",
    "Markers",
    "MuscleSolveError",
    "Problem",
    "RateLimits",
    "Solution",
    "Status",
    "Table",
    "TrialRecord",
    "__version__",
    "average_cycles",
    "calibrate",
    "check",
    "check_reserves",
    "compare",
    "compile_kernel",
    "costs",
    "diagnose",
    "explain",
    "expression_cost",
    "feasible_range",
    "force_sensitivity",
    "gait_cycles",
    "gait_events",
    "leg_problem",
    "low_pass",
    "muscle_geometry",
    "near_optimal_range",
    "pareto_front",
    "read_camera_file",
    "read_forces_table",
    "read_markers",
    "read_mot",
    "read_result",
    "read_trc",
    "read_trial",
    "reconstruct",
    "reference_stride",
    "residual_analysis",
    "run",
    "run_many",
    "smoothing_spline",
    "solution_derivatives",
    "solve",
    "solve_rate_limited",
    "solvers",
    "synthetic_recording",
    "uncertainty",
    "write_camera_file",
    "write_mot",
    "write_trc",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'musclesolve' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
