"""Can the feet of a model carry what its motion requires, where ground reactions are predicted?"""

from collections.abc import Iterator

import numpy as np

from musclesolve._util.sides import SIDES
from musclesolve.motion.standing_soles import sole_warnings
from musclesolve.opensim.external_loads import load_in_ground
from musclesolve.opensim.model import TO_GLOBAL
from musclesolve.pipeline.opensim.model_body import ModelBody
from musclesolve.pipeline.opensim.predicted_loads import sole_points
from musclesolve.results.finding import Finding, Where, finding


def predicted_loads(body: ModelBody) -> Iterator[Finding]:
    """Warn of loads that no plate measured, and of frames in which they do not carry the body."""
    place = Where(body.motion.file)
    if body.trial is not None:
        place = Where(body.trial.path, body.trial.document.line("files", "loads"), "[files] loads")
    yield finding("predicted_forces.model", "warning", {}, place)
    dynamics = body.dynamics
    if dynamics is not None and dynamics.balance_limit is not None:
        pose = dynamics.dynamics.bodies.pose
        forces = [load_in_ground(body.model, load, body.time, pose)[0] for load in dynamics.loads]
        upward = np.stack([(force @ TO_GLOBAL.T)[:, 2] for force in forces], axis=1) / dynamics.weight
        soles = [sole_points(body.model, dynamics.dynamics.bodies, side) @ TO_GLOBAL.T for side in SIDES]
        of_soles = sole_warnings(body.time, np.stack(soles, axis=1), upward)
        for warning in (*dynamics.support.warnings, *of_soles):
            place = Where(body.motion.file, times=warning.times)
            yield Finding(warning.code, "warning", warning.what, warning.remedy, place)
