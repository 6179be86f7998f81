from .b3d import read_b3d as read_b3d
from .b3d import unpack_b3d as unpack_b3d
from .geometry import opensim_geometry as opensim_geometry
from .inverse_dynamics import inverse_dynamics as inverse_dynamics
