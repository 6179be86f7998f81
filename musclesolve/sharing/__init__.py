"""Sharing joint moments among muscles: problem, costs, solvers, and a solution that carries its own certificate.

Stands alone on arrays: nothing here knows of bodies, muscle paths or files. `costs` and `solvers` are the functions
that list the registries; the classes are imported from the packages of the same names.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
