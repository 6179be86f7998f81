"""Muscle parameters from measured fascicle lengths: the formulation of KU Leuven in CasADi, a rival and a reference."""
