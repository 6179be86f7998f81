"""Clusters with a marker that another cluster carries."""

from musclesolve.laboratory.markers.landmarks import cluster_rounds

CLUSTERS = {"shank": ("KNE", "ANK", "ANM"), "foot": ("ANK", "HEE", "TOE")}
SHOWN = {"KNE", "ANK", "HEE", "TOE"}


def test_a_cluster_is_known_after_that_of_its_carried_marker() -> None:
    assert cluster_rounds(CLUSTERS, {"ANM": "foot", "KNM": "shank"}, SHOWN) == {"foot": 1, "shank": 2}


def test_clusters_in_a_circle_are_never_known() -> None:
    assert cluster_rounds(CLUSTERS, {"ANM": "shank"}, SHOWN) == {"foot": 1}
