"""From files to a checked trial: readers and writers, the trial file, marker mapping, checks on incoming data."""

from musclesolve.recording.c3d import C3D, read_c3d
from musclesolve.recording.camera_file import CameraFile, read_camera_file
from musclesolve.recording.camera_writing import write_camera_file
from musclesolve.recording.data import (
    Event,
    FilterOptions,
    Gap,
    Markers,
    MuscleOptions,
    PlateForce,
    SharingOptions,
    Subject,
    Table,
    Trial,
)
from musclesolve.recording.formats import read_forces_table, read_markers
from musclesolve.recording.landmarks import Landmark, landmarks
from musclesolve.recording.marker_set import MarkerSet, marker_sets
from musclesolve.recording.mot import read_mot, write_mot
from musclesolve.recording.trc import read_trc, write_trc
from musclesolve.recording.trial import read_trial

__all__ = [
    "C3D",
    "CameraFile",
    "Event",
    "FilterOptions",
    "Gap",
    "Landmark",
    "MarkerSet",
    "Markers",
    "MuscleOptions",
    "PlateForce",
    "SharingOptions",
    "Subject",
    "Table",
    "Trial",
    "landmarks",
    "marker_sets",
    "read_c3d",
    "read_camera_file",
    "read_forces_table",
    "read_markers",
    "read_mot",
    "read_trc",
    "read_trial",
    "write_camera_file",
    "write_mot",
    "write_trc",
]
