"""Analyses of force sharing: infeasible frames, reserves, ranges of forces, Pareto fronts, mixtures of costs."""
