"""Do loads or moments balance the motion? What remains at the root of the model (`LoadDynamics`)."""

from collections.abc import Iterator

import numpy as np

from musclesolve._util.arrays import long_enough, time_spans, within
from musclesolve.constants import LOADED_FROM_N
from musclesolve.laboratory.checks.model.model_case import ModelCase
from musclesolve.laboratory.results.finding import Finding, Where, error_if, finding
from musclesolve.models.opensim.external_loads import side_in
from musclesolve.models.opensim.inverse_dynamics import joint_forces
from musclesolve.models.opensim.load_dynamics import MISSING
from musclesolve.models.opensim.loads_without_plates import coordinate_columns

SHORTEST_S = 0.1
"""Duration below which standing feet without a load are the edge of a contact [s]: up to 0.06 s on treadmills that
measure each contact (stanford_hamner), 0.12 s and more beside plates and on boxes (jag, stanford_opencap)."""
CARRIED = 0.5
"""Share of the weight at the root from which ground reactions are missing; public files have up to 0.1."""
OTHER_TRIAL = 0.5
"""Share of the frames with loads that do not balance the motion from which the loads are of another trial."""


def carried_by_nothing(case: ModelCase) -> Iterator[Finding]:
    """Find a body on feet whose loads never act."""
    if case.feet and not any(np.linalg.norm(load.force, axis=1).max() > LOADED_FROM_N for load in case.loads):
        values = {"least": LOADED_FROM_N, "weight": case.model.weight}
        yield case.fault("contact_without_force.none", "error", values)


def balance_of_loads(case: ModelCase) -> Iterator[Finding]:
    """Find feet that stand without a load, and frames in which loads and motion do not balance."""
    dynamics, time = case.body.dynamics, case.time
    if dynamics is None:
        return
    on_any = np.any([*dynamics.unmeasured_feet.values(), np.zeros(len(time), bool)], axis=0)
    lasting = long_enough(on_any, max(1, round(SHORTEST_S * case.rate)))
    for foot, frames in dynamics.unmeasured_feet.items():
        if (standing := frames & lasting).any():
            values = {"foot": foot, "count": int(standing.sum()), "frames": len(time), "limit": MISSING}
            times, side = time_spans(standing, time), side_in(foot) or ""
            yield case.fault("contact_without_force.model", "warning", values, None, times, side)
    kept, limit, residual = dynamics.balanced, dynamics.balance_limit, dynamics.root_residual
    if kept is None or limit is None or residual is None or kept[case.inside].all():
        return
    acting = np.isfinite(residual) & case.great(case.force())
    lost = float(np.mean(~kept[acting])) if acting.any() else 0.0
    values = {"count": int(np.sum(~kept)), "frames": int(kept.size), "limit": limit, "share": lost}
    values |= {"most": float(np.nanmax(residual))}
    code = "another_trial.loads" if lost > OTHER_TRIAL else "unbalanced"
    yield case.fault(code, error_if(lost > OTHER_TRIAL), values, None, time_spans(~kept, time))


def weight_at_root(case: ModelCase) -> Iterator[Finding]:
    """Find files in which the root carries the body: no ground reaction was given to inverse dynamics."""
    model, table = case.model, case.body.moment_table
    if table is None or not case.stands_free or not case.feet or not case.ground_counts:
        return
    columns, alone = coordinate_columns(model, table), joint_forces(model, case.bodies.pose, case.need)
    for name in [name for name in model.roots[0].coordinates if name in columns]:
        due = float(alone[case.inside, model.coordinate_number[name]].mean()) if case.inside.any() else 0.0
        if not model.coordinates[name].rotational and due > 0.8 * model.weight:
            inside = within(table.time, *case.time[[0, -1]])
            force = float(np.nan_to_num(table.values[inside, columns[name]]).mean()) if inside.any() else 0.0
            if force > CARRIED * due:
                values = {"share": force / due, "force": force, "limit": CARRIED}
                yield finding("root_carries", "error", values, Where(case.body.moment_file))
