"""From a checked trial to a labelled result, one call per stage."""
