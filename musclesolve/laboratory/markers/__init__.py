"""Meaning of markers: landmarks, mapping, marker sets, clusters, sides."""
