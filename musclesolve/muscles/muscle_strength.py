"""Whether maximum isometric forces can be those of human muscles."""

from __future__ import annotations

from collections.abc import Sequence

from musclesolve._util.arrays import Array
from musclesolve._util.message_text import few

STRONGEST_N = 20000.0
"""Maximum isometric force beyond which a muscle is none [N]: 330 cm2 at 60 N/cm2. The largest cross-section measured in
legs is that of the soleus, 52 cm2 on average (Ward et al. 2009, Clin Orthop Relat Res 467:1074-82), and up to twice as
much in strong young men; the soleus of the public models has 6.2 kN."""
_TENSION = 60.0
"""Specific tension [N/cm2], the highest that models of legs are made with."""


def strength_warnings(names: Sequence[str], max_isometric_force: Array) -> list[str]:
    """A sentence on the muscles whose maximum isometric forces (n,) [N] no human muscle has; none of the others."""
    beyond = {
        name: float(force)
        for name, force in zip(names, max_isometric_force, strict=True)
        if force > STRONGEST_N
    }
    if not beyond:
        return []
    largest = max(beyond, key=lambda name: beyond[name])
    return [
        f"The maximum isometric force of {few(list(beyond), 6)} is beyond that of any human muscle: up to "
        f"{beyond[largest]:.3g} N ({largest}), a cross-section of {beyond[largest] / _TENSION:.3g} cm2 at {_TENSION:g} "
        f"N/cm2; at most {STRONGEST_N:g} N is expected. Correct its unit (N) or factor: muscle forces are shared by "
        "strength."
    ]
