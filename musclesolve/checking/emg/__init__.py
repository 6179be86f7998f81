"""Checks of the signals of EMG."""
