"""Force sharing over a whole motion: tendons that stretch, activations that take time.

`solve_motion` finds the activations of a motion with elastic tendons, `solve_rate_limited` the activations of muscles
of given capacities within limits on the rate of activation; both by the same method, with the same certificate.
"""

import lazy_loader

from musclesolve._util.old_names import with_old_names

_names, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__getattr__ = with_old_names(__name__, _names)
