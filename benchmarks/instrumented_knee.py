"""Computed forces in a knee beside those measured inside it, on two walks of a man with an instrumented knee.

python -m benchmarks.instrumented_knee [--uncertainty SAMPLES]

Recordings and models of the fifth Grand Challenge Competition to Predict In Vivo Knee Loads (Fregly et al. 2012, J
Orthop Res 30:503-13), in the folder instrumented_knee of the one that MUSCLESOLVE_DATA names. `run` on markers and
plates with muscle sets of the package, `share` on the scaled OpenSim model with its inverse kinematics, and on the same
with knee muscles weakened by 40 % by its authors because it then fits. Force: rms error, correlation, peak over the
measured peak, mean error between 40 and 60 % of the gait cycle, all of the total force, then rms errors of the medial
and the lateral one; in body weights. EMG: median and mean correlation over 16 channels of that leg.

With --uncertainty instead how often the band of 95 % of so many samples holds the measured force, how wide it is, and
what each kind of source adds to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import xarray as xr
from rich.table import Table as PrintedTable

import musclesolve as ms
from benchmarks.arguments import command_line
from benchmarks.timing import console, rms
from benchmarks.validation.page import Absent, data_folder, written_trials
from musclesolve._util.arrays import Array, Mask
from musclesolve.constants import FAST, USUAL_COST
from musclesolve.laboratory import read_c3d
from musclesolve.laboratory.bodies.recorded_body import RecordedBody
from musclesolve.laboratory.files.c3d.c3d_file import stated_events
from musclesolve.laboratory.forces import prepare_recording, recording_of
from musclesolve.laboratory.results.dataset.assemble import assemble
from musclesolve.models.body_sharing import share
from musclesolve.models.knee import compartments
from musclesolve.models.opensim.assemble_body import model_body
from musclesolve.models.opensim.model_body import ModelBody
from musclesolve.models.opensim.model_settings import model_settings
from musclesolve.sharing.cost import (
    ActivationPower,
    ActivationVolume,
    Cost,
    JointReactionSquared,
    JointWeightedActivation,
    KneeSparingActivation,
    StressCubed,
)
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.tables import Table, read_mot, write_mot

WALKS = ("ss1", "ss9")
SETS = ("gait2392_hip", "gait2392", "rajagopal_2023")
MODELS = {"Rajagopal2015-scaled": "scaled model", "GC5": "the same, weakened"}
WEIGHT = 75.0 * 9.81
"""Body weight by which the forces of the competition are divided [N]."""
SPACING = 0.046
"""Distance of the contacts with which OpenSim's published reactions are divided [m]."""
PUSH_OFF = (0.4, 0.6)  # of the gait cycle, in which most of the error lies
CHANNELS = {
    **{name: f"{name}_l" for name in ("gracilis", "sartorius", "soleus")},
    **{"semimem": "semimembranosus_l", "bifeml": "biceps_femoris_long_head_l", "rf": "rectus_femoris_l"},
    **{"vasmed": "vastus_medialis_l", "vaslat": "vastus_lateralis_l", "tfl": "tensor_fasciae_latae_l"},
    **{"medgas": "gastrocnemius_medial_l", "latgas": "gastrocnemius_lateral_l"},
    **{"tibant": "tibialis_anterior_l", "peronl": "peroneus_longus_l", "addmag": "adductor_magnus_l"},
    **{"gmax": "gluteus_maximus_l", "gmed": "gluteus_medius_l"},
}
COSTS: tuple[Cost, ...] = (
    KneeSparingActivation(),
    *(KneeSparingActivation(scale=scale) for scale in (1000.0, 2000.0)),
    JointWeightedActivation(),
    ActivationPower(),
    ActivationVolume(),
    StressCubed(),
    JointReactionSquared(),
)


@cache
def folder() -> Path:
    """The folder of the recordings."""
    found = data_folder() / "instrumented_knee"
    if not (found / "walk_ss1.toml").is_file():
        raise Absent(f"no recordings of an instrumented knee in {found}")
    return found


@dataclass(frozen=True)
class Agreement:
    """How far the force in the left knee of a result is from the measured one [body weights]."""

    rms: float
    correlation: float
    peak: float
    measured_peak: float
    push_off: float  # mean error in `PUSH_OFF`
    medial: float  # rms
    lateral: float  # rms
    reserves: int  # frames

    @classmethod
    def from_result(cls, result: xr.Dataset, walk: str) -> Agreement:
        """Compare a result in its valid frames."""
        reserves = int((result["status"].sel(side="l") == 1).sum())
        valid = result["valid"].sel(side="l").values.astype(bool)
        return cls.from_forces(result["time"].values[valid], computed(result, valid), walk, reserves)

    @classmethod
    def from_forces(cls, time: Array, forces: dict[str, Array], walk: str, reserves: int = 0) -> Agreement:
        """Compare forces, (T,) [N] each at times (T,) [s], within the measured gait cycle."""
        truth = measured(walk)
        inside = time <= truth["time_s"][-1]
        phase = time[inside] / truth["time_s"][-1]
        known = {
            name: np.interp(time[inside], truth["time_s"], truth[f"{name}_N"]) / WEIGHT for name in PARTS
        }
        error = {name: force[inside] / WEIGHT - known[name] for name, force in forces.items()}
        late = (phase > PUSH_OFF[0]) & (phase < PUSH_OFF[1])
        total = error["total"] + known["total"]
        return cls(
            *(rms(error["total"]), float(np.corrcoef(total, known["total"])[0, 1])),
            *(float(total.max()), float(known["total"].max()), float(error["total"][late].mean())),
            *(rms(error["medial"]), rms(error["lateral"])),
            reserves,
        )

    @property
    def cells(self) -> tuple[str, ...]:
        """As columns of a table."""
        return (
            *(f"{self.rms:.2f}", f"{self.correlation:.2f}", f"{self.peak:.1f} / {self.measured_peak:.1f}"),
            *(f"{self.push_off:+.2f}", f"{self.medial:.2f}", f"{self.lateral:.2f}", str(self.reserves)),
        )


PARTS = ("total", "medial", "lateral")
HEAD = ("rms", "r", "peak", "push-off", "medial", "lateral", "reserves")


@cache
def measured(walk: str) -> dict[str, Array]:
    """Time [s] and force in the knee [N] over a gait cycle, by the columns of the file."""
    columns = np.genfromtxt(folder() / f"measured_contact_{walk}.csv", delimiter=",", names=True)
    return {str(name): columns[name] for name in columns.dtype.names}


def computed(result: xr.Dataset, frames: Mask | slice = slice(None)) -> dict[str, Array]:
    """Force in the left knee in some frames, (T,) [N] each: total, medial, lateral."""
    (joint,) = [name for name in result["joint"].values.astype(str) if "knee" in name and name.endswith("_l")]
    total = np.linalg.norm(result["joint_reaction"].sel(joint=joint).transpose("time", "axis").values, axis=1)
    sides = {name: result[f"knee_contact_{name}"].sel(side="l").values for name in PARTS[1:]}
    return {name: force[frames] for name, force in {"total": total, **sides}.items()}


def published(walk: str) -> tuple[Array, dict[str, Array]]:
    """Times (T,) [s] and forces (T,) [N] of OpenSim's joint reactions of the weakened model, as they were published.

    On the tibia in its own axes (forward, up, right); contacts as far apart as `SPACING`.
    """
    table = read_mot(folder() / f"opensim_joint_reactions_{walk}.sto")
    force, moment = (
        np.stack([table[f"walker_knee_l_on_tibia_l_in_tibia_l_{kind}{axis}"] for axis in "xyz"], axis=1)
        for kind in "fm"
    )
    axes = np.broadcast_to([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], (len(force), 3, 3))
    medial, lateral, _ = compartments(force, moment, axes, SPACING)
    return table.time, {"total": np.linalg.norm(force, axis=1), "medial": medial, "lateral": lateral}


def trial_text(walk: str, emg: Path) -> str:
    """The trial file of a walk, with the EMG of its C3D file on the clock of its markers."""
    file = folder() / f"PS_ngait_og_{walk}.c3d"
    raw, (events, _) = read_c3d(file), stated_events({"markers": file})
    strike = next(event.time for event in events)  # where the markers of the trial begin
    channels = raw.channels()
    values = np.stack([channels[name] - channels[name].mean() for name in CHANNELS], axis=1)
    write_mot(emg, Table(channels.time - strike, tuple(CHANNELS), values, False, emg))
    text = (folder() / f"walk_{walk}.toml").read_text(encoding="utf-8")
    for file in ("PS_ngait", "Static"):
        text = text.replace(f'"{file}', f'"{folder().resolve().as_posix()}/{file}')
    lines = [f'{name} = "{muscle}"' for name, muscle in CHANNELS.items()]
    return "\n".join([text, "[emg]", f'file = "{emg.as_posix()}"', "[emg.channels]", *lines])


@dataclass(frozen=True, eq=False)
class Row:
    """One combination on all walks: its words, the result of each walk, and EMG (median, mean) of each."""

    words: tuple[str, ...]
    results: dict[str, xr.Dataset]
    emg: dict[str, tuple[float, float]]

    @property
    def agreement(self) -> dict[str, Agreement]:
        """By walk."""
        return {walk: Agreement.from_result(result, walk) for walk, result in self.results.items()}


def recordings(sets: tuple[str, ...] = SETS) -> Iterator[Row]:
    """`run`: sets, passive rules and tendons with the default cost, and every cost with the defaults of each set."""
    default = find_cost(USUAL_COST)
    for name in sets:
        rules = [("none", "rigid", cost) for cost in COSTS]
        rules += [
            (passive, tendon, cost)
            for passive, tendon in (("calibrated", "rigid"), ("none", "elastic"))
            for cost in (default, ActivationPower())
        ]
        bodies = {}
        for passive, tendon, cost in rules:
            results, emg = {}, {}
            for walk in WALKS:
                if (passive, tendon, walk) not in bodies:
                    muscles = f'[muscles]\ndatabase = "{name}"\npassive = "{passive}"\ntendon = "{tendon}"\n'
                    bodies[passive, tendon, walk] = prepared(walk, muscles)
                body = bodies[passive, tendon, walk]
                assert body.emg is not None
                analysis = share(body, replace(body.sharing, cost=cost))
                results[walk] = assemble(analysis)
                r = body.emg.agreement(body.time, analysis.activation, body.muscles)[0]
                emg[walk] = float(np.nanmedian(r)), float(np.nanmean(r))
            yield Row((name, passive, tendon, cost.label), results, emg)


def prepared(walk: str, muscles: str) -> RecordedBody:
    """The left leg of a walk, ready to share, with a table of the trial file."""
    file = Path(written_trials().name) / f"{walk}.toml"
    file.write_text(trial_text(walk, file.with_suffix(".sto")) + "\n" + muscles, encoding="utf-8")
    return prepare_recording(recording_of(file, "this comparison"), side="l")


def models() -> Iterator[Row]:
    """`share` on the OpenSim models: the default, other costs, and what were the defaults."""
    usual = find_cost(USUAL_COST), JointWeightedActivation(), ActivationPower()
    choices = [(cost, "none") for cost in usual] + [(StressCubed(), "table")]
    for model, about in MODELS.items():
        for cost, passive in choices:
            results = {
                walk: ms.share_model(
                    folder() / f"{model}.osim",
                    folder() / f"PS_ngait_og_{walk}_kinematics.mot",
                    loads=folder() / f"loads_{walk}.xml",
                    cost=cost,
                    passive=passive,
                    side="l",
                )
                for walk in WALKS
            }
            yield Row((about, passive, "rigid", cost.label), results, {})


def table(rows: Iterator[Row]) -> PrintedTable:
    """One line for each combination and walk."""
    shown = PrintedTable("muscles", "passive", "tendon", "cost", "walk", *HEAD, "EMG")
    for row in rows:
        for walk, agreement in row.agreement.items():
            emg = "{:.2f} {:.2f}".format(*row.emg[walk]) if walk in row.emg else ""
            shown.add_row(*row.words, walk, *agreement.cells, emg)
    return shown


def published_table() -> PrintedTable:
    """How far OpenSim's published joint reactions are from what was measured."""
    shown = PrintedTable("OpenSim, weakened model, contacts 46 mm apart", *HEAD)
    for walk in WALKS:
        shown.add_row(walk, *Agreement.from_forces(*published(walk), walk).cells)
    return shown


OF_INPUTS = "recording and muscles"
SOURCES = {
    OF_INPUTS: (),
    "and cost": ("cost_exponent", "multi_joint_weight", "muscle_weight"),
    "and co-contraction": ("co_contraction",),
    "and patellar ligament": ("patellar_ligament",),
    "and contact model": ("contact_model_bw",),
}
"""Kinds of sources of error, each besides those before, and the keys of their standard deviations."""
STANCE = 20.0
"""Ground force above which the leg stands [N]."""


@dataclass(frozen=True)
class Coverage:
    """The band of the total force in the left knee beside the measured force; forces in body weights."""

    inside: float  # share of the frames in which the band of 95 % holds the measured force
    stance: float  # the same of the frames of stance
    swing: float  # and of swing
    width: float  # of the band, mean over the frames
    deviation: float  # standard deviation, mean over the frames

    @classmethod
    def from_uncertainty(cls, found: xr.Dataset, walk: str) -> Coverage:
        """Compare in the valid frames of the measured gait cycle."""
        truth, time = measured(walk), found["time"].values
        (joint,) = [
            name for name in found["joint"].values.astype(str) if "knee" in name and name.endswith("_l")
        ]
        known = found["valid"].sel(side="l").values.astype(bool) & (time <= truth["time_s"][-1])
        force = np.interp(time, truth["time_s"], truth["total_N"])
        band = found["contact_force_quantile"].sel(joint=joint)
        low, high = (band.sel(quantile=share).values for share in (0.025, 0.975))
        inside = (low <= force) & (force <= high)
        ground = found["ground_reaction_force"].sel(side="l").transpose("time", "axis").values
        stands = np.linalg.norm(ground, axis=1) > STANCE
        return cls(
            inside=float(inside[known].mean()),
            stance=float(inside[known & stands].mean()),
            swing=float(inside[known & ~stands].mean()),
            width=float((high - low)[known].mean() / WEIGHT),
            deviation=float(found["contact_force_sd"].sel(joint=joint).values[known].mean() / WEIGHT),
        )

    @property
    def cells(self) -> tuple[str, ...]:
        """As columns of a table."""
        shares = (f"{100.0 * share:.0f} %" for share in (self.inside, self.stance, self.swing))
        return *shares, f"{self.width:.2f}", f"{self.deviation:.2f}"


BAND_HEAD = ("frames in the band", "stance", "swing", "mean width", "mean standard deviation")


def bands(samples: int | str) -> Iterator[tuple[tuple[str, str], dict[str, xr.Dataset]]]:
    """Muscles and sources, and the uncertainty of each walk: kinds of sources added one by one, then all with others.

    The last ones belong to the scaled OpenSim model.
    """
    off = {key: 0.0 for keys in SOURCES.values() for key in keys}
    for muscles in (*SETS, MODELS["Rajagopal2015-scaled"]):
        bodies = {walk: body_with(muscles, walk) for walk in WALKS}
        left = dict(off)
        for kind, keys in SOURCES.items():
            left = {key: sd for key, sd in left.items() if key not in keys}
            if muscles == SETS[0] or left in (off, {}):
                found = {
                    walk: ms.studies.uncertainty(body, samples, sd=left, contributions=False)
                    for walk, body in bodies.items()
                }
                yield (muscles, kind if left or muscles == SETS[0] else "all"), found


def body_with(muscles: str, walk: str) -> RecordedBody | ModelBody:
    """The left leg of a walk with a muscle set, or the scaled model."""
    if muscles in SETS:
        return prepared(walk, f'[muscles]\ndatabase = "{muscles}"\n')
    (name,) = [name for name, about in MODELS.items() if about == muscles]
    return walk_on_model(name, walk, side="l")


def walk_on_model(name: str, walk: str, side: str = "both") -> ModelBody:
    """A walk on a model of `MODELS` along its inverse kinematics."""
    settings = model_settings(loads=folder() / f"loads_{walk}.xml")
    kinematics = folder() / f"PS_ngait_og_{walk}_kinematics.mot"
    return model_body(folder() / f"{name}.osim", kinematics, None, settings, side=side)


def band_table(samples: int | str) -> PrintedTable:
    """One line for each choice and walk."""
    shown = PrintedTable("muscles", "errors of", "walk", *BAND_HEAD, title=f"{samples} samples, seed 0")
    for words, found in bands(samples):
        for walk, each in found.items():
            shown.add_row(*words, walk, *Coverage.from_uncertainty(each, walk).cells)
    return shown


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument(
        "--uncertainty",
        type=lambda given: given if given == FAST else int(given),
        metavar="SAMPLES",
        help=f"the bands instead of the forces; {FAST}: of designed samples",
    )
    samples = parser.parse_args().uncertainty
    console.width = 170
    if samples is not None:
        console.print(band_table(samples))
        return
    console.print(table(recordings()), table(models()), published_table())


if __name__ == "__main__":
    main()
