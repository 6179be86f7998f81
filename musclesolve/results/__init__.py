"""What a result says: which frames are valid, the summary for people, the file it is kept in."""

from musclesolve.results.leg_problem import leg_problem
from musclesolve.results.netcdf import netcdf_bytes, read_result, write_result
from musclesolve.results.summary import summary
from musclesolve.results.writing import write_files

__all__ = ["leg_problem", "netcdf_bytes", "read_result", "summary", "write_files", "write_result"]
