"""Muscles of one person from EMG, fascicle lengths and strength tests."""
