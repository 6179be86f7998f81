"""Figures of a report: their choice, and each as compact SVG."""
