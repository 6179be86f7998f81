"""Recordings and tables as files: C3D, TRC, MOT, STO and CSV; what markers mean; the muscles of one person."""

from musclesolve.laboratory.files.b3d import read_b3d, unpack_b3d
from musclesolve.laboratory.files.c3d.c3d_file import C3D, read_c3d
from musclesolve.laboratory.files.formats import read_forces_table, read_markers
from musclesolve.laboratory.markers.landmarks import Landmark, landmarks
from musclesolve.laboratory.markers.marker_names import MarkerSet, marker_sets
from musclesolve.laboratory.recording.data import Event, Gap, PlateForce, Subject, Trial
from musclesolve.models.opensim.person_file import read_person, write_person
from musclesolve.tables.opensim_text import read_mot, read_trc, write_mot, write_trc
from musclesolve.tables.sampled import Markers, Table

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
    "read_b3d",
    "read_c3d",
    "read_forces_table",
    "read_markers",
    "read_mot",
    "read_person",
    "read_trc",
    "unpack_b3d",
    "write_mot",
    "write_person",
    "write_trc",
]
