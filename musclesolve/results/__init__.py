"""What a result says: which frames are valid, gait cycles and their averages, the summary for people, the file."""

from musclesolve.results.averages import average_cycles
from musclesolve.results.cycles import gait_cycles
from musclesolve.results.leg_problem import leg_problem
from musclesolve.results.netcdf import netcdf_bytes, read_result, write_result
from musclesolve.results.replacing import check_folder
from musclesolve.results.summary import summary
from musclesolve.results.writing import reserved, write_files

__all__ = [
    "average_cycles",
    "check_folder",
    "gait_cycles",
    "leg_problem",
    "netcdf_bytes",
    "read_result",
    "reserved",
    "summary",
    "write_files",
    "write_result",
]
