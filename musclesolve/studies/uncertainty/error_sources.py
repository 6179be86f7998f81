"""The sources of error, and how large each one is in this analysis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.checks import check_number
from musclesolve._util.message_text import as_text
from musclesolve._util.names import unknown_name
from musclesolve.errors import InputError
from musclesolve.recording.data import Trial
from musclesolve.recording.schema import trial_keys

MILLIMETRE = 1e-3


@dataclass(frozen=True)
class Source:
    """One source of error."""

    name: str  # what the results call it
    key: str  # what a trial file and an argument call it, with the unit
    sd: float  # usual standard deviation, in the unit of the key
    label: str  # for figures
    about: str  # what errs, and how
    source: str  # where the number comes from

    @property
    def unit(self) -> str:
        """Of its standard deviation in SI: "m", or "1" where it is relative."""
        return "m" if self.key.endswith("_mm") else "1"

    def in_si(self, sd: float) -> float:
        """A standard deviation in the unit of the key as one in SI."""
        return sd * MILLIMETRE if self.unit == "m" else sd


@cache
def sources() -> dict[str, Source]:
    """Every source by its name, as ``sources.toml`` has them."""
    return {
        name: Source(name=name, **entry) for name, entry in bundled_toml(__package__, "sources.toml").items()
    }


def standard_deviations(trial: Trial, given: Mapping[str, float] | None = None) -> dict[str, float]:
    """Source -> its standard deviation in SI: as given by key, else in the trial file, else the usual one."""
    if given is not None and not isinstance(given, Mapping):
        raise InputError(
            f"{as_text(given)} is no set of standard deviations",
            code="bad_type",
            where="standard deviations",
            expected="keys and numbers, such as {'marker_placement_mm': 3}",
        )
    own = dict(given or {})
    keys = [source.key for source in sources().values()]
    for key, sd in own.items():
        if key not in keys:
            raise unknown_name(key, "source of error", keys, where="standard deviations")
        most = trial_keys()["uncertainty"]["keys"][key]["maximum"]
        expected = f"a number from 0, which switches the source off, to {most:g}"
        check_number(
            sd, f"the standard deviation {key}", expected, least=0.0, most=most, where="standard deviations"
        )
    chosen = {source.key: source.sd for source in sources().values()} | dict(trial.uncertainty) | own
    return {name: source.in_si(float(chosen[source.key])) for name, source in sources().items()}
