"""Questions asked of a force-sharing problem: why infeasible, how free the forces are, which costs explain them."""
