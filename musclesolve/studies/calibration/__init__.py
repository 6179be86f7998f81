"""Calibration to one subject: muscles from EMG, fascicles and strength tests; body and plates from ground forces."""
