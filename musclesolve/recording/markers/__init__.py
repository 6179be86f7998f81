"""What markers mean: landmarks, mapping, marker sets, clusters, sides."""
