"""The muscles of a user's model as a muscle set: its leg bodies, its left leg, and what is left out."""
