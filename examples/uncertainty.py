"""How far a muscle force can be trusted: Monte Carlo over what is not known of the subject and the measurement.

One learns to draw samples of all sources of error, to read mean, spread and band of a force in one frame, and to see
how much is due to one source by switching it off.
On the command line: musclesolve run TRIAL.toml -o OUT --uncertainty 1000
"""

import musclesolve as ms
from musclesolve.data import reference_stride

SAMPLES = 12  # a few, to be quick; 200 give a band, 1000 a smooth one


def main() -> None:
    """The force of the soleus in the frame of its peak, with all sources of error and without misplaced markers."""
    settings = {
        "all sources": {},
        "markers in place": {"marker_placement_mm": 0.0, "soft_tissue_mm": 0.0, "hip_center_mm": 0.0},
    }
    for name, sd in settings.items():
        # workers=1: no further processes; contributions=False: not which source contributes how much
        found = ms.uncertainty(
            reference_stride(), SAMPLES, seed=0, sd=sd, side="r", workers=1, contributions=False
        )
        own = found.sel(muscle="soleus_r")
        peak = own.isel(time=int(own["muscle_force"].argmax("time")))  # one frame, for all that is printed
        value, mean, sd = (float(peak[f"muscle_force{part}"]) for part in ("", "_mean", "_sd"))
        low, high = (float(peak["muscle_force_quantile"].sel(quantile=each)) for each in (0.025, 0.975))
        print(f"{name}, soleus at {float(peak['time']):.2f} s: {value:.0f} N without errors,")
        print(f"    samples {mean:.0f} ± {sd:.0f} N, 95 % of them from {low:.0f} to {high:.0f} N")


if __name__ == "__main__":
    main()
