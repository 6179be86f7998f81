"""Names of a package that are imported at their first use; an unknown one suggests the nearest."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import lazy_loader


def attach_stub(
    package: str, file: str, table: str = ""
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return __getattr__, __dir__ and __all__ of a package by the stub beside its file.

    table: a module of the package, whose `NAMES` has functions by more names, which are attributes, too.
    """
    named, listed, names = lazy_loader.attach_stub(package, file)

    def more() -> Mapping[str, Any]:
        return import_module(f"{package}.{table}").NAMES if table else {}

    def attribute(name: str) -> Any:
        if name in names:
            return named(name)
        meant = None
        if not name.startswith("_"):  # those are asked by programs
            if name in (functions := more()):
                return functions[name]
            from muscle_db.similar_names import suggestion

            # A class begins with a capital letter, a function or a module does not.
            meant = suggestion(
                name, [one for one in (*names, *functions) if one[0].isupper() == name[0].isupper()]
            )
        problem = f"module {package!r} has no attribute {name!r}"
        raise AttributeError(f"{problem}; {meant}" if meant else problem, name=name)

    return attribute, lambda: [*listed(), *more()], names
