"""From pixels to points: the direct linear transformation, calibrated on known points, solved for unknown ones.

Stands alone on arrays. The camera is a pinhole with eleven coefficients; lenses that bend straight lines are not
modelled, so their images have to be undistorted first.
"""

from musclesolve.cameras.calibration import Calibration, calibrate
from musclesolve.cameras.camera import Camera
from musclesolve.cameras.reconstruction import Reconstruction, reconstruct
from musclesolve.cameras.setups import camera_at, ring

__all__ = ["Calibration", "Camera", "Reconstruction", "calibrate", "camera_at", "reconstruct", "ring"]
