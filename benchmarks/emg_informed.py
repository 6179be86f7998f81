"""EMG-informed sharing on recordings: channels predicted without themselves, and the force in an instrumented knee.

python -m benchmarks.emg_informed

A healthy walk (Rajagopal et al. 2016, ten channels) and two walks of a man with an instrumented knee (Fregly et al.
2012, sixteen channels), in the folder that MUSCLESOLVE_DATA names. For each weight of EMG beside the default cost:
correlation of the channels that are followed, which is no test; of each channel predicted while it alone is not
followed; rms error of the knee force and mean error at push-off [body weights], where it was measured.

Neither recording has maximum voluntary contractions. With "trial" the largest envelope of a recording counts as
activation 1, the rule of a trial file that states no maximum; with "effort" as the largest activation of the channel
under the cost alone: EMG then says when muscles work, and no longer how strongly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from rich.table import Table as PrintedTable

from benchmarks.instrumented_knee import WALKS, Agreement, prepared
from benchmarks.timing import console
from benchmarks.validation.recorded import recorded_walk
from musclesolve._util.arrays import Array
from musclesolve.forces import prepare_recording
from musclesolve.pipeline.emg_informed import MISFIT
from musclesolve.pipeline.recorded_body import RecordedBody
from musclesolve.pipeline.share import share
from musclesolve.recording.data import Trial
from musclesolve.results.dataset.assemble import assemble

WEIGHTS = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0)
TENDONS = {"rigid": WEIGHTS, "elastic": (0.0, 0.3, 1.0)}
HEAD = ("r followed", "r left out", "knee rms", "push-off", "knee peak", "reserves")


def bodies(tendon: str) -> Iterator[tuple[str, RecordedBody]]:
    """The walks, ready to share the moments of the leg with EMG."""
    walk = recorded_walk()
    assert isinstance(walk, Trial)
    yield "healthy", prepare_recording(walk.with_settings(muscles={"tendon": tendon}), side="r")
    for name in WALKS:
        yield name, prepared(name, f'[muscles]\ntendon = "{tendon}"\n')


def scaled(body: RecordedBody) -> RecordedBody:
    """The body with envelopes as large as the activations under the cost alone."""
    assert body.emg is not None
    largest = np.nanmax(body.emg.mean_activation(share(body).activation, body.muscles), axis=0)
    recorded = np.nanmax(body.emg.at(body.time, body.emg.delay), axis=0)
    emg = replace(body.emg, envelope=body.emg.envelope * largest / recorded)
    parts = tuple(
        replace(part, emg=emg.expected(part.time, part.state.parameters.names)) for part in body.parts
    )
    return replace(body, emg=emg, parts=parts)


def row(name: str, body: RecordedBody, weight: float) -> tuple[str, ...]:
    """The numbers of one walk at one weight."""
    cost = body.sharing.cost + weight * MISFIT if weight else body.sharing.cost
    analysis = share(body, replace(body.sharing, cost=cost))
    result = assemble(analysis)
    left_out = result["emg_correlation"].values
    followed = result.get("emg_correlation_followed", result["emg_correlation"]).values
    weight_n = float(result.attrs["subject_mass_kg"]) * 9.80665
    side = "r" if name == "healthy" else "l"
    peak = np.linalg.norm(result.joint_reaction.sel(joint=f"knee_{side}").values, axis=1).max() / weight_n
    knee = ["", ""]
    if name in WALKS:
        found = Agreement.from_result(result, name)
        knee = [f"{found.rms:.2f}", f"{found.push_off:+.2f}"]
    reserves = int((result["status"].sel(side=side) == 1).sum())
    return (_both(followed), _both(left_out), *knee, f"{peak:.1f}", str(reserves))


def _both(r: Array) -> str:
    return f"{np.nanmedian(r):.2f} {np.nanmean(r):.2f}"


def table(tendon: str) -> PrintedTable:
    """A line for each walk, scale of the envelopes and weight; correlations are median and mean."""
    shown = PrintedTable("walk", "tendon", "activation 1", "weight", *HEAD)
    for name, body in bodies(tendon):
        scales = {"trial": body} | ({"effort": scaled(body)} if tendon == "rigid" else {})
        for scale, own in scales.items():
            for weight in TENDONS[tendon]:
                shown.add_row(name, tendon, scale, f"{weight:g}", *row(name, own, weight))
    return shown


def main() -> None:
    console.width = 130
    for tendon in TENDONS:
        console.print(table(tendon))


if __name__ == "__main__":
    main()
