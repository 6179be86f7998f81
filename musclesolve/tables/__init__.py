"""Files of numbers and of settings: text tables (MOT, STO, TRC), units, TOML documents with checked keys."""

from musclesolve._util import lazy_names

__getattr__, __dir__, __all__ = lazy_names.attach_stub(__name__, __file__)
