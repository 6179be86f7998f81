"""A stride as an ordinary recording: markers, plates, cameras, trial file, truth."""
