"""Figures that a browser draws, without a network: D3, the drawing, its style."""
