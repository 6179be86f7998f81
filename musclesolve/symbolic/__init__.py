"""Muscles as CasADi functions: from a pose to lengths, moment arms, forces and moments, with exact derivatives."""

from musclesolve._util import lazy_names

__getattr__, __dir__, __all__ = lazy_names.attach_stub(__name__, __file__)
