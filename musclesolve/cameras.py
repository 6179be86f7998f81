"""Three-dimensional points from camera images: the direct linear transformation, calibrated on known points.

The camera is a pinhole with eleven coefficients; lenses that bend straight lines are not modeled: undistort their
images first.
"""

from musclesolve.recording.cameras.calibration import Calibration, calibrate_cameras
from musclesolve.recording.cameras.camera import Camera, camera_at, ring
from musclesolve.recording.cameras.camera_file import CameraFile, read_camera_file, write_camera_file
from musclesolve.recording.cameras.reconstruction import Reconstruction, reconstruct

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
