"""The full formulation: all Lagrange multipliers and activations as unknowns (Silva 2003, 6.22)."""
