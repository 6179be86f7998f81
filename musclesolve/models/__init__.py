"""Skeletons with muscles in motion, ready to share moments; OpenSim, MuJoCo and biorbd models."""

from musclesolve._util import lazy_names

__getattr__, __dir__, __all__ = lazy_names.attach_stub(__name__, __file__)
