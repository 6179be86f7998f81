"""Recordings whose truth is known: a stride that satisfies the equations of motion, and files made from it."""

from musclesolve.synthetic.options import Gap, RecordingOptions
from musclesolve.synthetic.recording import synthetic_recording
from musclesolve.synthetic.stride import GroundForce, Stride, read_stride, reference_stride

__all__ = [
    "Gap",
    "GroundForce",
    "RecordingOptions",
    "Stride",
    "read_stride",
    "reference_stride",
    "synthetic_recording",
]
