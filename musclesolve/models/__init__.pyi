from . import biorbd as biorbd
from . import mujoco as mujoco
from . import opensim as opensim
from .opensim.person_file import read_person as read_person
from .opensim.person_file import write_person as write_person
from .opensim.verify_solution import VerifiedSolution as VerifiedSolution
from .opensim.verify_solution import verify_solution as verify_solution
