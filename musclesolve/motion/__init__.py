"""From a checked recording to the measured anatomy, gait events and ground reactions."""
