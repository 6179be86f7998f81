"""The compiled solver: many frames, or one, in one call."""
