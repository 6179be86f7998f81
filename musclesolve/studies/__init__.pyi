from .calibration.body_record import BodyCalibration as BodyCalibration
from .calibration.calibrate import Calibration as Calibration
from .center_of_pressure import (
    center_of_pressure_correction as center_of_pressure_correction,
)
from .emg_offset import emg_offset as emg_offset
from .emg_trade_off import emg_trade_off as emg_trade_off
from .force_sensitivity import force_sensitivity as force_sensitivity
from .many_trials.trial_record import TrialRecord as TrialRecord
from .questions.contributions import contributions as contributions
from .questions.coordination import coordination as coordination
from .questions.margins import margins as margins
from .questions.what_if import Scenario as Scenario
from .questions.what_if import what_if as what_if
from .study.analysis import StudyResult as StudyResult
from .study.curve_tests import compare_curves as compare_curves
from .study.means import group_means as group_means
from .study.means import subject_means as subject_means
