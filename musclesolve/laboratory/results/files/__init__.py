"""The files of a result: NetCDF, complete or not at all."""
