"""Recordings with known truth: strides that satisfy the equations of motion, and files made from them."""

from musclesolve._util import lazy_names

__getattr__, __dir__, __all__ = lazy_names.attach_stub(__name__, __file__)
