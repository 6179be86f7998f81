from .geometry import opensim_geometry as opensim_geometry
from .inverse_dynamics import inverse_dynamics as inverse_dynamics
