"""Passive forces of muscles, and the passive joint moments that were measured."""
