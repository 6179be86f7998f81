"""What is wrong with a recording, all of it at once, before anything is computed from it."""
