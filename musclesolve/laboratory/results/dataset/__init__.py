"""The variables of a result and how they are assembled."""
