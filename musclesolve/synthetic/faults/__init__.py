"""Faults as a careless laboratory makes them, planted into the files of a copy of a trial."""
