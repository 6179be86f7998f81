"""Many trials: each into a folder of its own, side by side on one machine or on a cluster, none stopping the others."""

from musclesolve.many.record import Outcome, TrialRecord
from musclesolve.many.run import run_many

__all__ = ["Outcome", "TrialRecord", "run_many"]
