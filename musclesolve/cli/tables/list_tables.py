"""Marker sets and faults as tables, and one marker set in full."""

from __future__ import annotations

from rich.console import Group
from rich.table import Table

from musclesolve._util.names import unknown_name
from musclesolve.recording.markers.landmark_names import landmarks
from musclesolve.recording.markers.marker_set import MarkerSet, marker_sets, markers_of


def marker_set_table() -> Table:
    """One line per bundled marker set."""
    listing = Table(title="marker sets", title_justify="left")
    for heading in ("name", "markers", "what"):
        listing.add_column(heading, no_wrap=heading == "name")
    for name, chosen in marker_sets().items():
        listing.add_row(name, str(len(chosen.markers)), chosen.description)
    listing.caption = '[markers] set = "name" in a trial file'
    return listing


def marker_set_in_full(name: str) -> Group:
    """Landmarks of a set with their markers, the clusters, and markers of the standing trial."""
    if name not in marker_sets():
        raise unknown_name(name, "marker set", marker_sets())
    chosen = marker_sets()[name]
    mapped = Table(title=f"{name}: {chosen.description}", title_justify="left", caption=chosen.source)
    for heading in ("landmark", "what it is", "markers, the first present ones"):
        mapped.add_column(heading, no_wrap=heading == "landmark")
    for landmark, ways in chosen.mapping.items():
        shown = "; or ".join(" and ".join(markers_of(way)) for way in ways)
        mapped.add_row(landmark, landmarks()[landmark].description, shown)
    return Group(mapped, *_lines(chosen))


def _lines(chosen: MarkerSet) -> list[str]:
    clusters = [f"moves as one body: {name} = {', '.join(names)}" for name, names in chosen.clusters.items()]
    carried = [f"seen standing, carried by {cluster}: {marker}" for marker, cluster in chosen.carried.items()]
    aliases = [f"also called: {name} = {', '.join(others)}" for name, others in chosen.aliases.items()]
    return [*clusters, *carried, *aliases]


def fault_table() -> Table:
    """One row for each fault that can be planted: its name, and what is done wrong."""
    from musclesolve.synthetic.faults import faults

    rows = Table(title="faults for `musclesolve synthesize --fault`", title_justify="left")
    rows.add_column("fault", no_wrap=True)
    rows.add_column("what is done wrong")
    for name, fault in faults().items():
        rows.add_row(name, " ".join(fault.about.split()))
    return rows
