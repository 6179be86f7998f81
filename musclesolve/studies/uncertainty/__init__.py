"""How far the results of a trial can be trusted: Monte Carlo over the sources of error."""
