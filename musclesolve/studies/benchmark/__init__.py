"""Solvers and stages measured beside each other, in one run on one machine."""
