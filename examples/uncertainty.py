"""How far a muscle force can be trusted: Monte Carlo over what is not known of the subject and the measurement.

One learns to draw samples of all sources of error, to read mean, spread and band of a force in one frame, and to see
how much is due to one source by switching it off.
On the command line: musclesolve run TRIAL.toml -o OUT --uncertainty 1000
"""

# The stride with all sources of error; contributions=False: not which source contributes how much
import musclesolve as ms
from musclesolve.data import reference_stride

SAMPLES = 12  # a few, to be quick; 200 give a band, 1000 a smooth one
quick = {"side": "r", "seed": 0, "jobs": 1, "contributions": False}  # jobs=1: no further processes
found = ms.studies.uncertainty(reference_stride(), SAMPLES, **quick)

# The same, were markers where they should be
in_place = {"marker_placement_mm": 0.0, "soft_tissue_mm": 0.0, "hip_center_mm": 0.0}
settings = {
    "all sources": found,
    "markers in place": ms.studies.uncertainty(reference_stride(), SAMPLES, sd=in_place, **quick),
}

# The force of the soleus in the frame of its peak
for name, of in settings.items():
    own = of.sel(muscle="soleus_r")
    peak = own.isel(time=int(own["muscle_force"].argmax("time")))  # one frame, for all that is printed
    value, mean, sd = (float(peak[f"muscle_force{part}"]) for part in ("", "_mean", "_sd"))
    low, high = (float(peak["muscle_force_quantile"].sel(quantile=each)) for each in (0.025, 0.975))
    print(f"{name}, soleus at {float(peak['time']):.2f} s: {value:.0f} N without errors,")
    print(f"    samples {mean:.0f} ± {sd:.0f} N, 95 % of them from {low:.0f} to {high:.0f} N")
