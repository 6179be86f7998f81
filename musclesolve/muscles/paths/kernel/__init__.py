"""The compiled path engine: arrays of points and wrap objects, no skeleton."""
