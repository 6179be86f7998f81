"""How joint moments respond to errors of their inputs, differentiated exactly."""
