"""Many trials: each into a folder of its own, side by side on one machine or on a cluster."""
