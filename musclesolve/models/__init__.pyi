from . import biorbd as biorbd
from . import mujoco as mujoco
from . import opensim as opensim
