from .model import OpenSimModel as OpenSimModel
from .model import OpenSimMuscle as OpenSimMuscle
from .read_model import read_osim as read_osim
