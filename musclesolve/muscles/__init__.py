"""Muscles on a skeleton: lengths, rates, moment arms, Hill capacity and passive force."""

import lazy_loader

from musclesolve._util.old_names import with_old_names

_names, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__getattr__ = with_old_names(__name__, _names)
