"""What is wrong with a recording, all of it at once, before anything is computed from it."""

from musclesolve.checking.check import check
from musclesolve.checking.report import Finding, Report, Where

__all__ = ["Finding", "Report", "Where", "check"]
