"""Force plates: wrenches, their assignment to feet, and checks of plausibility."""
