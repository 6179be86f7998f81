"""Names that the shell completes behind options; nothing is imported before they are asked for."""

from __future__ import annotations


def cost_names(incomplete: str) -> list[str]:
    """Costs."""
    from musclesolve.sharing.cost.cost_registry import REGISTRY

    return [name for name in REGISTRY if name.startswith(incomplete)]


def solver_names(incomplete: str) -> list[str]:
    """Solvers that are installed."""
    from musclesolve.sharing.solver.solver_registry import REGISTRY

    return [name for name, record in REGISTRY.items() if record.installed and name.startswith(incomplete)]


def marker_set_names(incomplete: str) -> list[str]:
    """Bundled marker sets."""
    from musclesolve.recording.markers.marker_set import marker_sets

    return [name for name in marker_sets() if name.startswith(incomplete)]


def muscle_set_names(incomplete: str) -> list[str]:
    """Bundled muscle sets."""
    import muscle_db

    return [name for name in muscle_db.available() if name.startswith(incomplete)]


def muscle_names(incomplete: str) -> list[str]:
    """Muscles of the default set."""
    import muscle_db

    return [muscle.name for muscle in muscle_db.load() if muscle.name.startswith(incomplete)]


def fault_names(incomplete: str) -> list[str]:
    """Faults that can be planted."""
    from musclesolve.synthetic.faults import faults

    return [name for name in faults() if name.startswith(incomplete)]
