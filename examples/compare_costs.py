"""One trial under several cost functions: which numbers depend on the choice, and how much.

One learns that mechanics is computed once and shared by all costs, where the measures of agreement are, and that a
cost is a name or an object with options. On the command line: musclesolve compare TRIAL.toml --cost A --cost B -o OUT
"""

# Two costs of the literature by their names, and a sum of sixth powers as an object
import musclesolve as ms
from musclesolve.data import reference_stride
from musclesolve.sharing.cost import ActivationPower

costs = ["stress_cubed", "force_squared", ActivationPower(6.0)]
comparison = ms.compare(reference_stride(), costs, side="r")

# One muscle under each of them
first, *others = comparison["cost"].values
for cost in comparison["cost"].values:
    force = comparison["muscle_force"].sel(cost=cost)
    solved = int(comparison["valid"].sel(cost=cost, side="r").sum())
    soleus = float(force.sel(muscle="soleus_r").max())
    print(f"{cost}: {solved} frames solved, soleus at most {soleus:.0f} N")

# Where they differ most
for other in others:
    apart = comparison["rms_difference"].sel(cost=other, other=first)
    muscle = str(apart.idxmax("muscle").values)
    print(f"{other} and {first} differ most in {muscle}: {float(apart.max()):.0f} N rms")
