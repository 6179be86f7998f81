from .checking.check import (
    check as check,
)
from .errors import (
    InputError as InputError,
)
from .errors import (
    MuscleSolveError as MuscleSolveError,
)
from .motion.events.gait_events import (
    gait_events as gait_events,
)
from .motion.signals.low_pass import (
    low_pass as low_pass,
)
from .motion.signals.residual_analysis import (
    residual_analysis as residual_analysis,
)
from .motion.signals.smoothing_spline import (
    smoothing_spline as smoothing_spline,
)
from .muscles.pose_geometry import (
    muscle_geometry as muscle_geometry,
)
from .recording.cameras.calibration import (
    calibrate as calibrate,
)
from .recording.cameras.camera import (
    Camera as Camera,
)
from .recording.cameras.camera_file import (
    read_camera_file as read_camera_file,
)
from .recording.cameras.camera_writing import (
    write_camera_file as write_camera_file,
)
from .recording.cameras.reconstruction import (
    reconstruct as reconstruct,
)
from .recording.data import (
    Markers as Markers,
)
from .recording.data import (
    Table as Table,
)
from .recording.formats import (
    read_forces_table as read_forces_table,
)
from .recording.formats import (
    read_markers as read_markers,
)
from .recording.text.mot_file import (
    read_mot as read_mot,
)
from .recording.text.mot_file import (
    write_mot as write_mot,
)
from .recording.text.trc_file import (
    read_trc as read_trc,
)
from .recording.text.trc_file import (
    write_trc as write_trc,
)
from .recording.trial.trial_file import (
    read_trial as read_trial,
)
from .results.cycles.cycle_averages import (
    average_cycles as average_cycles,
)
from .results.cycles.gait_cycles import (
    gait_cycles as gait_cycles,
)
from .results.dataset.leg_problem import (
    leg_problem as leg_problem,
)
from .results.files.netcdf import (
    read_result as read_result,
)
from .results.run_trial import (
    run as run,
)
from .sharing.analysis.cost_mixture import (
    explain as explain,
)
from .sharing.analysis.diagnosis import (
    diagnose as diagnose,
)
from .sharing.analysis.force_ranges import (
    feasible_range as feasible_range,
)
from .sharing.analysis.near_optimal import (
    near_optimal_range as near_optimal_range,
)
from .sharing.analysis.pareto import (
    pareto_front as pareto_front,
)
from .sharing.analysis.reserve_check import (
    check_reserves as check_reserves,
)
from .sharing.cost.casadi_expression import (
    expression_cost as expression_cost,
)
from .sharing.cost.cost_base import (
    Cost as Cost,
)
from .sharing.cost.cost_registry import (
    costs as costs,
)
from .sharing.derivatives.solution_derivatives import (
    solution_derivatives as solution_derivatives,
)
from .sharing.kernel.compiled_solver import (
    compile_kernel as compile_kernel,
)
from .sharing.problem import (
    Problem as Problem,
)
from .sharing.rate.rate_limits import (
    RateLimits as RateLimits,
)
from .sharing.rate.solve_rate_limited import (
    solve_rate_limited as solve_rate_limited,
)
from .sharing.solution import (
    Solution as Solution,
)
from .sharing.solver.solver_registry import (
    solvers as solvers,
)
from .sharing.solving import (
    solve as solve,
)
from .sharing.status import (
    Status as Status,
)
from .studies.compare import (
    compare as compare,
)
from .studies.force_sensitivity import (
    force_sensitivity as force_sensitivity,
)
from .studies.many_trials.run_many import (
    run_many as run_many,
)
from .studies.many_trials.trial_record import (
    TrialRecord as TrialRecord,
)
from .studies.uncertainty.monte_carlo import (
    uncertainty as uncertainty,
)
from .synthetic.recording.synthetic_recording import (
    synthetic_recording as synthetic_recording,
)
from .synthetic.stride.reference_stride import (
    reference_stride as reference_stride,
)
from .version import (
    __version__ as __version__,
)
