"""Ultrasound and other measurements of the calf in walking (published.toml), beside our results."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import xarray as xr

from benchmarks.elastic_tendons.variants import DYNAMIC, OWN, RIGID, SOFT, TRICEPS, events, moving, result
from benchmarks.validation.page import table

VALUES = tomllib.loads((Path(__file__).parent / "published.toml").read_text(encoding="utf-8"))
SIDE = "l"
"""Whose stance is complete in the recording."""
ACTIVE = 0.1
"""Of its greatest activation from which on a muscle is called active."""
COLUMNS = {
    "gait2392_hip": (RIGID, OWN, SOFT[0], SOFT[1]),
    "rajagopal_2023": (RIGID, OWN, SOFT[1], SOFT[2]),
}


def published() -> str:
    """Every published value beside the same quantity of our results, left leg."""
    found = {(name, kind): result(name, kind) for name, kinds in COLUMNS.items() for kind in kinds}
    rows = [
        (record["quantity"], stated(record), *(MEASURES[key](each) for each in found.values()))
        for key, record in VALUES.items()
    ]
    heads = (f"`{name}`, {kind.label}" for name, kind in found)
    return table(("quantity", "published", *heads), rows)


def stated(record: dict[str, object]) -> str:
    if "value" in record:
        number = f"{record['value']:g}"
    elif "least" in record:
        number = f"{record['least']:g} to {record['most']:g}"
    else:
        number = f"below {record['most']:g}"
    unit = "" if record["unit"] == "1" else f" {record['unit']}"
    return f"{number}{unit} ({record['short']})"


def _triceps(found: xr.Dataset) -> tuple[xr.Dataset, xr.Dataset, xr.Dataset]:
    soleus, medial, lateral = moving(found, SIDE)
    return soleus, medial, lateral


def tendon(muscle: xr.Dataset, name: str) -> np.ndarray:
    """A variable of elastic tendons, zero behind rigid ones."""
    return muscle[name].values if name in muscle else np.zeros(muscle.sizes["time"])


def gastrocnemius_strain(found: xr.Dataset) -> str:
    """Largest strain in stance."""
    return f"{100.0 * tendon(_triceps(found)[1], 'tendon_strain').max():.1f}"


def strain_at_875_newtons(found: xr.Dataset) -> str:
    """Read off the course of force and strain of this result, where the force rises through 875 N."""
    medial = _triceps(found)[1]
    force, strain = medial.muscle_force.values, tendon(medial, "tendon_strain")
    if not force.max() > 875.0 or not strain.any():
        return "" if strain.any() else "0.0"
    order = np.argsort(force)
    return f"{100.0 * np.interp(875.0, force[order], strain[order]):.1f}"


def achilles_force(found: xr.Dataset) -> str:
    """Largest sum of the three forces over body mass."""
    return f"{_sum_of_forces(found) / float(found.attrs['subject_mass_kg']):.0f}"


def achilles_force_by_strain(found: xr.Dataset) -> str:
    """Return the force of the Achilles tendon by its strain, in newtons."""
    return f"{_sum_of_forces(found):.0f}"


def _sum_of_forces(found: xr.Dataset) -> float:
    return float(sum(muscle.muscle_force.values for muscle in _triceps(found)).max())


def achilles_energy(found: xr.Dataset) -> str:
    """Return the energy that the three tendons release from its largest sum to toe-off."""
    energy = np.sum([tendon(muscle, "tendon_energy") for muscle in _triceps(found)], axis=0)
    return f"{energy.max() - energy[-1]:.1f}"


def _single_support(found: xr.Dataset) -> xr.Dataset:
    """Gastrocnemius medialis while the other foot is off the ground."""
    medial, other = _triceps(found)[1], "r"
    lift = max(time for time in events(found, "toe_off", other) if time < medial.time.values[-1])
    strike = min(time for time in events(found, "heel_strike", other) if time > lift)
    return medial.sel(time=slice(lift, strike))


def gastrocnemius_elongation(found: xr.Dataset) -> str:
    """Return the elongation from the beginning of single support to the greatest length in it."""
    if "tendon_length" not in found:
        return "0.0"
    length = _single_support(found).tendon_length.values
    return f"{1e3 * (length.max() - length[0]):.1f}"


def gastrocnemius_length(found: xr.Dataset) -> str:
    """Least and greatest length in single support."""
    length = 1e3 * _single_support(found).fiber_length.values
    return f"{length.min():.0f} to {length.max():.0f}"


def soleus_active_length(found: xr.Dataset) -> str:
    """Least and greatest normalized length in stance while active."""
    soleus = _triceps(found)[0]
    active = soleus.activation.values >= ACTIVE * soleus.activation.values.max()
    length = (soleus.fiber_length / soleus.optimal_fiber_length).values[active]
    return f"{length.min():.2f} to {length.max():.2f}"


def soleus_length_at_peak(found: xr.Dataset) -> str:
    """Normalized length where the activation is greatest."""
    soleus = _triceps(found)[0]
    length = (soleus.fiber_length / soleus.optimal_fiber_length).values
    return f"{length[soleus.activation.values.argmax()]:.2f}"


def soleus_share_of_length(found: xr.Dataset) -> str:
    """Range of the fiber length in stance over the range of the path."""
    soleus = _triceps(found)[0]
    return f"{100.0 * np.ptp(soleus.fiber_length.values) / np.ptp(soleus.musculotendon_length.values):.0f}"


def soleus_share_of_velocity(found: xr.Dataset) -> str:
    """Fastest shortening of the fiber in stance over the fastest of the path."""
    soleus = _triceps(found)[0]
    fastest = soleus.fiber_velocity.values.min() / soleus.musculotendon_velocity.values.min()
    return f"{100.0 * fastest:.0f}"


def soleus_over_gastrocnemius(found: xr.Dataset) -> str:
    """Fastest shortening in stance while the force is above half of its peak [m/s over m/s]."""
    soleus, medial, _ = _triceps(found)
    return f"{loaded_shortening(soleus) / loaded_shortening(medial):.2f}"


def loaded_shortening(muscle: xr.Dataset) -> float:
    """Fastest shortening [m/s] while the force is above half of its peak."""
    force = muscle.muscle_force.values
    return float(-muscle.fiber_velocity.values[force > 0.5 * force.max()].min())


MEASURES: dict[str, Callable[[xr.Dataset], str]] = {
    measure.__name__: measure
    for measure in (
        *(gastrocnemius_strain, strain_at_875_newtons, achilles_force, achilles_force_by_strain),
        *(achilles_energy, gastrocnemius_elongation, gastrocnemius_length, soleus_active_length),
        *(soleus_length_at_peak, soleus_share_of_length, soleus_share_of_velocity, soleus_over_gastrocnemius),
    )
}
"""The quantity of each published value, by its key."""


def push_off() -> str:
    """Soleus and gastrocnemii of the right leg in stance."""
    rows = []
    for database in COLUMNS:
        for muscle_number, name in enumerate(TRICEPS):
            for kind in (RIGID, DYNAMIC, OWN, SOFT[1]):
                muscle = moving(result(database, kind), "r")[muscle_number]
                rows.append((f"`{database}`", name.replace("_", " "), kind.label, *_course(muscle)))
    head = ("activation", "at [s]", "force [N]", "at [s]", "fiber velocity at peak force [L0/s]")
    more = ("fastest loaded shortening [L0/s]", "tendon strain [%]", "energy [J]")
    return table(("set", "muscle", "tendons", *head, *more), rows)


def _course(muscle: xr.Dataset) -> tuple[str, ...]:
    """Peaks, when they are, and velocities; loaded: with more than half of the peak force."""
    time, force = muscle.time.values, muscle.muscle_force.values
    activation, optimal = muscle.activation.values, float(muscle.optimal_fiber_length)
    velocity, peak = muscle.fiber_velocity.values / optimal, int(force.argmax())
    return (
        *(f"{activation.max():.2f}", f"{time[activation.argmax()]:.2f}"),
        *(f"{force[peak]:.0f}", f"{time[peak]:.2f}", f"{velocity[peak]:.2f}"),
        f"{-loaded_shortening(muscle) / optimal:.2f}",
        f"{100.0 * tendon(muscle, 'tendon_strain').max():.1f}",
        f"{tendon(muscle, 'tendon_energy').max():.1f}",
    )
