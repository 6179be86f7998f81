"""Names of the figure files of a result, for those who replace or remove such files without drawing any."""

import re
from collections.abc import Iterable
from pathlib import Path

from musclesolve._util.bundled_toml import bundled_toml
from musclesolve.plotting.page.page_style import FORMATS

RESULT_FIGURES = (
    *("activations.png", "muscle_forces.png", "function_groups.png", "fibers_and_tendons.png"),
    "measured_fascicles.png",
    "joint_angles_and_moments.png",
    *("joint_powers.png", "contact_forces.png", "knee_contact_forces.png", "contact_force_components.png"),
    "ground_reaction.png",
    *("reserves_and_residual.png", "consistency_shift.png", "cutoff_and_noise.png"),
)
MODEL_FIGURES = (
    *("activations.png", "muscle_forces.png", "function_groups.png", "fibers_and_tendons.png"),
    "measured_fascicles.png",
    *("coordinates_and_moments.png", "joint_powers.png", "contact_forces.png", "knee_contact_forces.png"),
    *("contact_force_components.png", "reserves.png"),
)
"""Files of the figures of a result on an OpenSim model."""
UNCERTAINTY_FIGURES = (
    *("uncertainty_muscle_forces.png", "uncertainty_contact_forces.png"),
    *("error_sources_muscle_forces.png", "error_sources_contact_forces.png"),
)
UNCERTAINTY = "uncertainty.nc"


def in_every_format(files: Iterable[str]) -> tuple[str, ...]:
    """The names of these figure files with the suffix of every format: those that an earlier result may have."""
    stems = dict.fromkeys(name.rpartition(".")[0] for name in files)
    return tuple(f"{stem}.{file_format}" for stem in stems for file_format in FORMATS)


def group_figures_in(folder: Path) -> list[str]:
    """The names of the files in a folder that figures of the groups of a study have, of any variable and format."""
    variables = "|".join(map(re.escape, bundled_toml("musclesolve.results.dataset", "variables.toml")))
    name = re.compile(rf"group_({variables})(_\d+)?\.({'|'.join(FORMATS)})")
    return [path.name for path in folder.iterdir() if name.fullmatch(path.name)]
