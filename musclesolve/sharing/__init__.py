"""Sharing joint moments among muscles: problem, costs, solvers, and a solution that carries its own certificate.

The steps from a problem to a certified solution:

    problem.py              the arrays, checked
    cost/cost_terms.py      what a cost is made of; cost/sum_of_terms.py makes the costs of the library of it
    solving.py              `solve`: the compiled solver where the cost is data, any other solver where it is not
    kernel/solve_frame.py   one frame: Newton's method on the dual (dual_newton.py), then the interior point
    certificate.py          what proves an optimum, and what proves that there is no solution
    solution.py             activations, multipliers, statuses and certificates of all frames

Stands alone on arrays: nothing here knows of bodies, muscle paths or files. `ms.Problem`, `ms.solve`, `ms.costs` and
`ms.solvers` are the front of this room.
"""

from musclesolve._util import lazy_names

__getattr__, __dir__, __all__ = lazy_names.attach_stub(__name__, __file__)
