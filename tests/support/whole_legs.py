"""Muscle sets of a whole leg: what is said of legs is tested on these, whatever other sets there are."""

WHOLE_LEGS = ("gait2392", "gait2392_hip", "rajagopal_2023", "silva_2003", "silva_2003_wrapped")
