"""Many trials side by side, and the mean over their gait cycles.

One learns that a trial that fails does not stop the others, that a second call computes only what has changed, and how
cycles of several results become a mean with its spread. The three recordings are synthesized, with other noise each.
On the command line: musclesolve run trials -o results; musclesolve average results/*/result.nc -o mean
"""

import sys
from pathlib import Path

import musclesolve as ms


def main(folder: Path) -> None:
    """Three recordings and a trial file that is wrong: compute them, average what there is."""
    trials = [
        ms.studies.synthetic_recording(folder / f"walk{k}", truth=False, noise_mm=1.0, noise="skin", seed=k)
        for k in range(3)
    ]
    wrong = folder / "wrong.toml"
    wrong.write_text("[subject]\nmass_kg = -70\n", encoding="utf-8")
    records = ms.run_many([*trials, wrong], folder / "results", jobs=1, side="r", figures=False)
    for record in records:
        first_line = record.message.partition("\n")[0]
        print(f"{record.name:<12} {record.outcome.value:<10} {first_line}")

    results = [ms.read_result(record.folder / "result.nc") for record in records if record.outcome.has_result]
    mean = ms.laboratory.average_cycles(
        [ms.laboratory.cycles(result, "r", strides=True) for result in results]
    )
    soleus = mean.sel(muscle="soleus_r")
    peak = soleus.isel(percent=int(soleus["muscle_force"].argmax("percent")))
    print(
        f"soleus, mean of {len(mean.attrs['cycles'])} cycles: {float(peak['muscle_force']):.0f} "
        f"± {float(peak['muscle_force_std']):.0f} N at {float(peak['percent']):.0f} % of the cycle"
    )


if __name__ == "__main__":  # run_many starts processes, and they read this script again
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("many-trials"))
