"""Names of a package that are imported at their first use; an unknown one suggests the nearest."""

from collections.abc import Callable
from typing import Any

import lazy_loader


def attach_stub(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return __getattr__, __dir__ and __all__ of a package by the stub beside its file."""
    found, listed, names = lazy_loader.attach_stub(package, file)

    def attribute(name: str) -> Any:
        if name in names:
            return found(name)
        meant = None
        if not name.startswith("_"):  # those are asked by programs
            from musclesolve._util.names import suggestion

            meant = suggestion(name, names)
        problem = f"module {package!r} has no attribute {name!r}"
        raise AttributeError(f"{problem}; {meant}" if meant else problem, name=name)

    return attribute, listed, names
