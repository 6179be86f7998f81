"""Force sharing over a whole motion with limits on the rate of activation, for muscles of given capacities."""
