"""Force sharing over a whole motion: tendons that stretch, activations that take time."""
