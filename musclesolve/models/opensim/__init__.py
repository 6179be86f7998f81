"""OpenSim models: skeleton, muscles and their geometry, read without OpenSim."""

from musclesolve._util import lazy_names

__getattr__, __dir__, __all__ = lazy_names.attach_stub(__name__, __file__)
