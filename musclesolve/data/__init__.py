"""Recordings that come with the package."""

from musclesolve.data.bundled import reference_stride as reference_stride
