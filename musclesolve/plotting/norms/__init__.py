"""Published normative curves behind those of a result."""
