"""Muscle and joint forces while the subject moves: frame by frame, from past samples alone."""

from musclesolve._util import lazy_names

__getattr__, __dir__, __all__ = lazy_names.attach_stub(__name__, __file__)
