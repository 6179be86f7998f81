"""Force plates: wrenches, their assignment to feet, and whether they are plausible."""
