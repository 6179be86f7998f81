"""Programs with a page of their own: the desk, and forces while the subject moves."""

from musclesolve._util import lazy_names

__getattr__, __dir__, __all__ = lazy_names.attach_stub(__name__, __file__)
