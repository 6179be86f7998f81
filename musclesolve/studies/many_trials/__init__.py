"""Many trials, each with its own folder, computed side by side on one machine or on a cluster."""
