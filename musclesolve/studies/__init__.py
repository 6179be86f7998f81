"""Everything built on a finished run: comparison, averages, sensitivity, uncertainty, many trials, benchmark."""

from musclesolve._util import lazy_names

__getattr__, __dir__, __all__ = lazy_names.attach_stub(__name__, __file__)
