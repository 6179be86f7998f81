"""Muscle sets and costs beside measured EMG and contact forces: on the people at hand, or on trials in all detail.

python -m benchmarks.muscle_sets                      every person at hand: sets and costs without passive forces
python -m benchmarks.muscle_sets TRIAL.toml [...]     one table for each trial: every set, passive rule and cost

r: Pearson correlation of activation and envelope over the channels of EMG; lowest: its channel; reserves: leg-frames
that need one and the largest [N m]; full: muscles at full activation, mean of the frames; contact: peaks of hip, knee
and ankle over both legs [body weights].

People: the recorded walk, two walks of a man with an instrumented knee, two people on a treadmill, and the bundled
stride, whose markers place a set; and two walks of a subject of AddBiomechanics, whose markers have no medial ones, so
that only the muscles of the scaled model can be shared, along its inverse kinematics (in weights of the model, which
is lighter than what the plates carry). Recordings that are absent are
named and left out. hip: peak of the right and left leg; least: the peak of the
least contact force that any admissible muscle forces give, frame by frame; knee: rms error and peak of the force in the
instrumented knee [body weights]; fibers: muscles of both legs that are active (0.1) outside 0.4 to 1.6 optimal lengths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from rich.table import Table

import muscle_db
import musclesolve as ms
from benchmarks import instrumented_knee
from benchmarks.arguments import command_line, input_file
from benchmarks.timing import console
from benchmarks.validation.page import Absent, data_folder, recorded_walk, written_trials
from musclesolve._util.arrays import Array
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.laboratory import Trial
from musclesolve.laboratory.bodies.measured_activation import channel_muscles
from musclesolve.laboratory.bodies.recorded_body import RecordedBody, recorded_body
from musclesolve.laboratory.forces import prepare_recording, recording_of
from musclesolve.laboratory.results.dataset.assemble import assemble
from musclesolve.models.body import Analysis
from musclesolve.models.body_sharing import share
from musclesolve.models.opensim.assemble_body import model_body
from musclesolve.models.opensim.model_body import ModelBody
from musclesolve.models.opensim.model_settings import model_settings
from musclesolve.muscles.muscle_state import MuscleState
from musclesolve.sharing.cost import Cost, JointReactionSquared
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.status import Status

COSTS = (
    *("knee_sparing_activation", "joint_weighted_activation", "activation_power"),
    *("activation_volume", "force_squared", "normalized_force_squared", "stress_cubed"),
)
PASSIVE = ("calibrated", "table", "none")
JOINTS = ("hip", "knee", "ankle")


@dataclass(frozen=True)
class Agreement:
    """How one combination does on one trial."""

    correlation: np.ndarray  # (k,) by channel
    reserve_frames: int
    largest_reserve: float
    full: float
    contact: tuple[float, ...]

    @classmethod
    def from_analysis(cls, analysis: Analysis) -> Agreement:
        """Return the measures of an analyzed trial with EMG."""
        body = analysis.body
        assert isinstance(body, RecordedBody)
        activation = analysis.activation
        assert body.emg is not None
        time, weight = body.time, body.mechanics.model.mass.total * STANDARD_GRAVITY
        status = np.stack([leg.solution.status for leg in analysis.parts])
        reserve = np.concatenate([leg.solution.reserve for leg in analysis.parts])
        peaks = (
            max(
                np.nanmax(np.linalg.norm(leg.contact_force[f"{joint}_{leg.side}"], axis=1))
                for leg in analysis.parts
            )
            / weight
            for joint in JOINTS
        )
        return cls(
            body.emg.agreement(time, activation, body.muscles)[0],
            int((status == Status.SOLVED_WITH_RESERVE).sum()),
            float(np.nanmax(np.abs(reserve), initial=0.0)),
            float(np.nansum(activation > 0.99) / len(time)),
            tuple(peaks),
        )


def combinations(prepared: RecordedBody) -> dict[tuple[str, str, str], Agreement]:
    """Every set, passive rule and cost on one trial whose mechanics are known."""
    trial, found = prepared.trial, {}
    for name, passive in product(muscle_db.available(), PASSIVE):
        database = muscle_db.load(name)
        if passive == "calibrated" and database.calibrated_passive is None:
            continue
        channels = channel_muscles(trial, database)
        options = replace(prepared.options, database=database, passive=passive, channels=channels)
        body = recorded_body(trial, options, prepared.mechanics)
        for cost in COSTS:
            found[name, passive, cost] = Agreement.from_analysis(
                share(body, replace(options.sharing, cost=find_cost(cost)))
            )
    return found


def table(prepared: RecordedBody, found: dict[tuple[str, str, str], Agreement]) -> Table:
    """One line for each combination, the best median r first."""
    assert prepared.emg is not None
    shown = Table("set", "passive", "cost", "r median", "mean", "lowest", "reserves", "full", "contact")
    for key, one in sorted(found.items(), key=lambda item: -np.nanmedian(item[1].correlation)):
        lowest = int(np.nanargmin(one.correlation))
        shown.add_row(
            *key,
            f"{np.nanmedian(one.correlation):.3f}",
            f"{np.nanmean(one.correlation):.3f}",
            f"{one.correlation[lowest]:.2f} {prepared.emg.channels[lowest]}",
            f"{one.reserve_frames} ({one.largest_reserve:.1f})",
            f"{one.full:.2f}",
            " ".join(f"{peak:.1f}" for peak in one.contact),
        )
    return shown


PEOPLE_SETS = ("gait2392", "gait2392_hip", "rajagopal_2023")
PEOPLE_COSTS = COSTS[:3]
LEAST_HIP = JointReactionSquared({"hip": 1.0}, effort=1.0)
"""The least contact force of the hip; the effort only decides between forces that load the hip alike."""
ACTIVE, USABLE = 0.1, (0.4, 1.6)


def people() -> Iterator[tuple[str, RecordedBody]]:
    """The people at hand, both legs; a sentence is printed for each that is absent."""
    recordings: dict[str, Callable[[], Trial]] = {
        "recorded walk": recorded_walk,
        **{walk: partial(instrumented_walk, walk) for walk in instrumented_knee.WALKS},
        **{f"treadmill {who}": partial(treadmill_walk, who) for who in ("p1", "p3")},
        "bundled stride": bundled_stride,
    }
    for name, trial in recordings.items():
        try:
            yield name, prepare_recording(trial(), side="both")
        except Absent as reason:
            console.print(f"{name} left out: {reason}")


def instrumented_walk(walk: str) -> Trial:
    """A walk with an instrumented knee, with its EMG."""
    file = Path(written_trials().name) / f"{walk}.toml"
    file.write_text(instrumented_knee.trial_text(walk, file.with_suffix(".sto")), encoding="utf-8")
    return recording_of(file, "this comparison")


def treadmill_walk(who: str) -> Trial:
    """The walk of a person on a treadmill."""
    file = data_folder() / "treadmill_walk" / who / "walk.toml"
    if not file.is_file():
        raise Absent(f"no {file}")
    return recording_of(file, "this comparison")


def bundled_stride() -> Trial:
    """A recording of the reference stride without noise."""
    return recording_of(
        ms.studies.synthetic_recording(Path(written_trials().name) / "stride"), "this comparison"
    )


@dataclass(frozen=True)
class Person:
    """How one set and cost do on one person."""

    agreement: Agreement | None  # None without EMG
    hip: tuple[float, ...]  # peaks by leg [body weights]
    reserves: int
    full: float
    fibers: int
    knee: tuple[float, float] | None  # rms error and peak [body weights]

    @classmethod
    def from_analysis(cls, name: str, analysis: Analysis) -> Person:
        """Return the measures of an analyzed recording, or of a model along its motion."""
        body = analysis.body
        status = np.stack([leg.solution.status for leg in analysis.parts])
        return cls(
            Agreement.from_analysis(analysis) if isinstance(body, RecordedBody) and body.emg else None,
            hip_peaks(analysis),
            int((status == Status.SOLVED_WITH_RESERVE).sum()),
            float(np.nansum(analysis.activation > 0.99) / len(body.time)),
            sum(unusable_fibers(leg.state, leg.solution.activation) for leg in analysis.parts),
            knee_error(name, analysis) if name in instrumented_knee.WALKS else None,
        )


def hip_peaks(analysis: Analysis) -> tuple[float, ...]:
    """The largest contact force of each hip [body weights]."""
    body = analysis.body
    if isinstance(body, RecordedBody):
        weight = body.mechanics.model.mass.total * STANDARD_GRAVITY
    else:
        assert isinstance(body, ModelBody) and body.dynamics is not None
        weight = body.model.weight
    return tuple(
        float(np.nanmax(np.linalg.norm(leg.contact_force[f"hip_{leg.side}"], axis=1)) / weight)
        for leg in analysis.parts
    )


def unusable_fibers(state: MuscleState, activation: Array) -> int:
    """How many muscles are active at fiber lengths outside `USABLE`."""
    length = state.fiber_length / state.parameters.optimal_fiber_length
    outside = (length < USABLE[0]) | (length > USABLE[1])
    return int(np.any(outside & (activation > ACTIVE), axis=0).sum())


def knee_error(walk: str, analysis: Analysis) -> tuple[float, float]:
    """Rms error and peak of the total force in the instrumented left knee [body weights]."""
    result = assemble(analysis)
    found = instrumented_knee.Agreement.from_result(result, walk)
    return found.rms, found.peak


MODEL_WALKS = ("walking2", "walking3")
OWN = "its model"


def models() -> Iterator[tuple[str, ModelBody]]:
    """The walks of a subject of AddBiomechanics on its scaled model; a sentence is printed where they are absent."""
    folder = data_folder() / "addbiomechanics" / "opencap_subject"
    if not folder.is_dir():
        console.print(f"AddBiomechanics left out: no {folder}")
        return
    for walk in MODEL_WALKS:
        settings = model_settings(loads=folder / "ID" / f"{walk}_grf.mot", passive="none")
        model, motion = folder / "Models" / "final.osim", folder / "IK" / f"{walk}_ik.mot"
        yield f"AddBiomechanics {walk}", model_body(model, motion, None, settings)


def comparison() -> tuple[Table, Table]:
    """A line for each person, set and cost, and one for each set and cost over all people."""
    heads = ("r median, mean, lowest", "knee", "hip", "least", "reserves", "full", "fibers")
    each = Table("person", "set", "cost", *heads)
    hips: dict[tuple[str, str], list[float]] = {}
    for name, prepared in people():
        for database in PEOPLE_SETS:
            placed = with_muscles(prepared, database)
            costs: list[Cost] = [find_cost(cost) for cost in PEOPLE_COSTS]
            least = hip_peaks(share(placed, replace(placed.sharing, cost=LEAST_HIP)))
            for cost in costs:
                person = Person.from_analysis(name, share(placed, replace(placed.sharing, cost=cost)))
                hips.setdefault((database, cost.label), []).extend(person.hip)
                each.add_row(name, database, cost.label, *cells(person, least))
        each.add_section()
    for name, body in models():
        costs = [find_cost(cost) for cost in PEOPLE_COSTS]
        least = hip_peaks(share(body, replace(body.sharing, cost=LEAST_HIP)))
        for cost in costs:
            person = Person.from_analysis(name, share(body, replace(body.sharing, cost=cost)))
            hips.setdefault((OWN, cost.label), []).extend(person.hip)
            each.add_row(name, OWN, cost.label, *cells(person, least))
        each.add_section()
    over_all = Table("set", "cost", "hip median", "lowest", "highest", "legs")
    for (database, label), peaks in hips.items():
        shown = (f"{value:.2f}" for value in (np.median(peaks), min(peaks), max(peaks)))
        over_all.add_row(database, label, *shown, str(len(peaks)))
    return each, over_all


def emg_words(person: Person) -> str:
    """Correlation of activation and EMG over the channels: median, mean, lowest."""
    if person.agreement is None:
        return ""
    r = person.agreement.correlation
    return f"{np.nanmedian(r):.3f} {np.nanmean(r):.3f} {np.nanmin(r):.2f}"


def with_muscles(prepared: RecordedBody, name: str) -> RecordedBody:
    """A body with the muscles of a set, at the strengths of its table, without passive forces."""
    database = muscle_db.load(name)
    channels = channel_muscles(prepared.trial, database) if prepared.emg is not None else ()
    options = replace(
        prepared.options, database=database, passive="none", channels=channels, strength="table"
    )
    return recorded_body(prepared.trial, options, prepared.mechanics)


def cells(person: Person, least: tuple[float, ...]) -> tuple[str, ...]:
    """Return the cells of a person in the table."""
    return (
        emg_words(person),
        "" if person.knee is None else "{:.2f} {:.1f}".format(*person.knee),
        " ".join(f"{peak:.2f}" for peak in person.hip),
        " ".join(f"{peak:.2f}" for peak in least),
        str(person.reserves),
        f"{person.full:.2f}",
        str(person.fibers),
    )


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("trials", nargs="*", type=input_file, metavar="TRIAL.toml")
    files = parser.parse_args().trials
    for file in files:
        prepared = prepare_recording(recording_of(file, "this comparison"), side="both")
        console.print(file, table(prepared, combinations(prepared)))
    if not files:
        console.width = 170
        console.print(*comparison())


if __name__ == "__main__":
    main()
