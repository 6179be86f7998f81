"""Planar bodies in absolute and independent coordinates, after Blajer & Czaplicki and Blajer, Dziewiecki & Mazur.

`planar_body` reads a body, a `PlanarMotion` moves it; then `inverse_dynamics` (known loads, or flight),
`supported_inverse` (a foot held by the ground), `joint_reactions`, and `PlanarMuscles` with the matrix B.
"""

from musclesolve._util import lazy_names

__getattr__, __dir__, __all__ = lazy_names.attach_stub(__name__, __file__)
