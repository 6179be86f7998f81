"""The desk: a local page that leads from a folder of recordings to a report; the trial file is its only state."""
