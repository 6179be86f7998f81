from .calibration import Calibration as Calibration
from .calibration import calibrate as calibrate
from .camera import Camera as Camera
from .camera import camera_at as camera_at
from .camera import ring as ring
from .reconstruction import Reconstruction as Reconstruction
from .reconstruction import reconstruct as reconstruct
