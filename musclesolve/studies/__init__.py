"""Everything built on a finished run: comparison, averages, sensitivity, uncertainty, many trials, benchmark."""
