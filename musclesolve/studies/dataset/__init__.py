"""A data set: the forces of all trials that lie in some folders and files, for statistics and learning."""
