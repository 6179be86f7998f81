"""Joint centers, segment frames and subject dimensions from landmarks."""
