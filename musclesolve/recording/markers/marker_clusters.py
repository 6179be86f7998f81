"""Groups of markers that move together: the clusters of a trial file, and the bodies of its mapping."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources

from musclesolve.recording.data import SIDE_NAMES, Trial


@cache
def bodies() -> dict[str, tuple[str, ...]]:
    """Return body, in words -> its landmarks, as ``bodies.toml`` has them; sided ones once for each side."""
    text = resources.files(__package__).joinpath("bodies.toml").read_text(encoding="utf-8")
    found: dict[str, tuple[str, ...]] = {}
    for name, entry in tomllib.loads(text).items():
        if not entry.get("sided", False):
            found[f"the {name}"] = tuple(entry["landmarks"])
            continue
        for side, word in SIDE_NAMES.items():
            found[f"the {word} {name}"] = tuple(f"{landmark}_{side}" for landmark in entry["landmarks"])
    return found


def groups(trial: Trial) -> dict[str, tuple[str, ...]]:
    """Return group -> four or more markers of the motion that move together; clusters go by their own names."""
    together = {
        name: tuple(
            dict.fromkeys(
                marker
                for landmark in landmarks
                for marker in trial.mapping.get(landmark, ())
                if marker in trial.markers and marker not in trial.carried
            )
        )
        for name, landmarks in bodies().items()
    }
    together |= {f"the cluster {name}": tuple(markers) for name, markers in trial.clusters.items()}
    return {name: markers for name, markers in together.items() if len(markers) > 3}
