"""A walk or run over ground as it is on the belts of a treadmill."""

from __future__ import annotations

from musclesolve.laboratory.recording.data import SIDES, Side


def on_a_treadmill(copy) -> None:
    """Return the motion seen from a belt that moves with it: nothing in the laws of motion changes."""
    ahead, time = copy.in_file((1.0, 0.0, 0.0)), copy.walk.time
    pelvis = copy.walk[copy.marker("asis_r")] @ ahead
    speed = (pelvis[-1] - pelvis[0]) / (time[-1] - time[0])
    copy.put(copy.walk.position - (speed * time[:, None] * ahead)[:, None])
    for plate in copy.plates():
        point = copy.plate(plate, "point").copy()
        point[:, 0] -= speed * copy.forces.time
        copy.set_plate(plate, "point", point)


def on_split_belts(copy, side: Side, ratio: float) -> None:
    """Run the belt of one side at another share of the speed, on which that foot makes shorter steps."""
    on_a_treadmill(copy)
    assert side in SIDES
    ahead, position = copy.in_file((1.0, 0.0, 0.0)), copy.walk.position.copy()
    for part in ("heel", "toe"):
        number = copy.walk.names.index(copy.marker(f"{part}_{side}"))
        along = position[:, number] @ ahead
        position[:, number] += ((ratio - 1.0) * (along - along.mean()))[:, None] * ahead
    copy.put(position)
