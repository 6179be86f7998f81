"""A public bank of force-sharing problems with certified optima: its makers, and a reader that needs numpy alone."""
