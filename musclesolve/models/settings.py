"""Settings of the sharing of moments: the tables [sharing] and, of a model, [plates]."""

from __future__ import annotations

from musclesolve.constants import USUAL_COST, USUAL_LEAST_ACTIVATION, USUAL_SOLVER
from musclesolve.tables.settings import Settings, setting


class SharingSettings(Settings):
    """[sharing]."""

    cost: str = setting(
        "name of the cost function, followed by its options in brackets", default=USUAL_COST, of_run=True
    )
    solver: str = setting("name of the solver", default=USUAL_SOLVER, of_run=True)
    reserve_weight: float | None = setting(
        "weight of reserve moments; without it joint moments are met exactly", above=0.0
    )
    least_activation: float = setting(
        "least activation of every muscle; the default is the minimum of OpenSim's muscles",
        default=USUAL_LEAST_ACTIVATION,
        within=(0.0, 0.5),
        of_run=True,
    )
    dofs: tuple[str, ...] | None = setting(
        "degrees of freedom whose moments the muscles must produce; hip, knee and ankle dorsiflexion when absent"
    )


class ModelPlateSettings(Settings):
    """[plates] of an OpenSim model."""

    feet: str = setting(
        "feet that the loads act on: as stated in an ExternalLoads file, or determined from their contacts whatever it "
        "states",
        default="stated",
        choices=("stated", "nearest"),
    )
