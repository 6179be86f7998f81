"""The laboratory, from recordings to results: files, markers, trial, motion, analysis, checks, figures, report."""

from musclesolve._util import lazy_names

__getattr__, __dir__, __all__ = lazy_names.attach_stub(__name__, __file__)
