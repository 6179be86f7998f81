"""The sources of error, and how large each one is in this analysis."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.checks import check_number, check_type
from musclesolve._util.names import check_known
from musclesolve.errors import input_error
from musclesolve.recording.trial.settings import error_keys
from musclesolve.settings.schema import settings_of
from musclesolve.settings.trial import UncertaintySettings

MILLIMETER, DEGREE = 1e-3, math.pi / 180.0
BODY_WEIGHTS = "body weights"


@dataclass(frozen=True)
class Source:
    """One source of error."""

    name: str  # name in results
    key: str  # name in trial files and arguments, with the unit
    sd: float  # usual standard deviation, in the unit of the key
    label: str  # for figures
    about: str  # description of the error
    source: str  # source of the number

    @property
    def unit(self) -> str:
        """Unit of its standard deviation: "m", "rad", "body weights", or "1" where it is relative."""
        units = {"mm": "m", "deg": "rad", "bw": BODY_WEIGHTS}
        return units.get(self.key.rpartition("_")[2], "1")

    def in_si(self, sd: float) -> float:
        """A standard deviation in the unit of the key as one in `unit`."""
        return sd * {"m": MILLIMETER, "rad": DEGREE}.get(self.unit, 1.0)


@cache
def sources() -> dict[str, Source]:
    """Every source by its name, as ``sources.toml`` has them."""
    return {name: Source(name=name, **of) for name, of in bundled_toml(__package__, "sources.toml").items()}


def standard_deviations(
    stated: Mapping[str, float], given: Mapping[str, float] | None = None
) -> dict[str, float]:
    """Source -> standard deviation in SI: as given by key, else as a trial file states by key, else the usual one."""
    expected = "keys and numbers, such as {'marker_placement_mm': 3}"
    own = dict(check_type({} if given is None else given, Mapping, "standard deviations", expected))  # type: ignore[type-abstract]
    keys = [source.key for source in sources().values()]
    for key, sd in own.items():
        check_known([key], "source of error", keys, where="standard deviations")
        most = settings_of(UncertaintySettings)[key].maximum
        expected = f"a number from 0, which switches the source off, to {most:g}"
        check_number(
            sd, f"the standard deviation {key}", expected, least=0.0, most=most, where="standard deviations"
        )
    chosen = {source.key: source.sd for source in sources().values()} | dict(stated) | own
    return {name: source.in_si(float(chosen[source.key])) for name, source in sources().items()}


def check_sources(
    given: Mapping[str, float], body: str, person: bool = False, predicted: bool = False
) -> None:
    """Refuse standard deviations, by key, of sources that a body does not have, but for zeros.

    Args:
        given: standard deviations of a trial file and of the caller.
        body, person, predicted: what the errors are of, see `error_keys`.
    """
    known = error_keys(body, person, predicted)
    about = {source.key: source.about for source in sources().values()}
    for key, sd in given.items():
        if sd and key not in known:
            raise input_error(
                "conflict",
                where="standard deviations",
                problem=f"{key} does not err here: {about[key]}",
                expected=f"sources of this body: {', '.join(map(str, known))}",
                remedy="leave it out, or write 0",
            )
