"""Recordings and tables as files: C3D, TRC, MOT, STO and CSV; what markers mean; the muscles of one person."""

from musclesolve.opensim.person_file import read_person, write_person
from musclesolve.recording.c3d.c3d_file import C3D, read_c3d
from musclesolve.recording.data import Event, Gap, Markers, PlateForce, Subject, Table, Trial
from musclesolve.recording.formats import read_forces_table, read_markers
from musclesolve.recording.markers.landmarks import Landmark, landmarks
from musclesolve.recording.markers.marker_names import MarkerSet, marker_sets
from musclesolve.recording.text.opensim_text import read_mot, read_trc, write_mot, write_trc

__all__ = [
    "C3D",
    "Event",
    "Gap",
    "Landmark",
    "MarkerSet",
    "Markers",
    "PlateForce",
    "Subject",
    "Table",
    "Trial",
    "landmarks",
    "marker_sets",
    "read_c3d",
    "read_forces_table",
    "read_markers",
    "read_mot",
    "read_person",
    "read_trc",
    "write_mot",
    "write_person",
    "write_trc",
]
