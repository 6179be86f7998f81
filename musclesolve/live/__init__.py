"""Muscle and joint forces while the subject moves: frame by frame, from past samples alone."""
