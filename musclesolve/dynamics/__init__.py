"""Multibody dynamics in natural coordinates: a core that stands alone.

A model is a set of points and unit vectors laid out in the standing pose, the rigid bodies that they form, and the
degrees of freedom between them (`Topology`). Everything else follows: constraints, mass matrices, forward kinematics,
the nearest consistent motion, inverse dynamics by independent routes, and forward dynamics. The modules are listed by
what they compute in docs/dynamics.md.
"""

from musclesolve._util import lazy_names

__getattr__, __dir__, __all__ = lazy_names.attach_stub(__name__, __file__)
