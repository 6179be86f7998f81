"""Points from the pixels of cameras: the direct linear transformation.

Stands alone on arrays; see `musclesolve.cameras`.
"""

from musclesolve._util.old_names import with_old_names

__getattr__ = with_old_names(__name__)
