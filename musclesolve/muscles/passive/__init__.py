"""Passive forces of muscles, and measured passive joint moments."""
