"""What a result says: which frames are valid, the summary for people, the file it is kept in."""

from musclesolve.results.netcdf import read_result, write_result
from musclesolve.results.summary import summary

__all__ = ["read_result", "summary", "write_result"]
