"""How far the results of a trial can be trusted: errors drawn at random, the road run again, spread and its causes."""

from musclesolve.uncertainty.run import uncertainty

__all__ = ["uncertainty"]
