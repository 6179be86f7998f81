"""How joint moments answer to errors of their inputs, differentiated exactly."""
