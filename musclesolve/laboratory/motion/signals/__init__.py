"""Low-pass filters, smoothing splines and the choice of cut-off frequencies."""
