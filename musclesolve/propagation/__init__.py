"""How far the results of a trial can be trusted: errors drawn at random, the road run again, spread and its causes."""

from musclesolve.propagation.run import uncertainty

__all__ = ["uncertainty"]
