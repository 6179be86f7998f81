"""Force sharing over a whole motion: tendons that stretch, activations that take time.

`solve_motion` finds the activations of a motion with elastic tendons, `solve_rate_limited` the activations of muscles
of given capacities within limits on the rate of activation; both by the same method, with the same certificate.
"""

from musclesolve._util import lazy_names

__getattr__, __dir__, __all__ = lazy_names.attach_stub(__name__, __file__)
