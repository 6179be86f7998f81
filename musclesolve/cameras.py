"""Three-dimensional points from camera images: the direct linear transformation, calibrated on known points.

The camera is a pinhole with eleven coefficients; lenses that bend straight lines are not modeled: undistort their
images first.
"""

from musclesolve.laboratory.files.cameras.calibration import Calibration, calibrate_cameras
from musclesolve.laboratory.files.cameras.camera import Camera, camera_at, ring
from musclesolve.laboratory.files.cameras.camera_file import CameraFile, read_camera_file, write_camera_file
from musclesolve.laboratory.files.cameras.reconstruction import Reconstruction, reconstruct

__all__ = [
    "Calibration",
    "Camera",
    "CameraFile",
    "Reconstruction",
    "calibrate_cameras",
    "camera_at",
    "read_camera_file",
    "reconstruct",
    "ring",
    "write_camera_file",
]
