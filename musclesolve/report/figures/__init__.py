"""Figures of a report: which there are, and each as compact SVG."""
