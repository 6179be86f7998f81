"""Inverse dynamics by independent routes: multipliers, Newton-Euler, Hof, projection."""
