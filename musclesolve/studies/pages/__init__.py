"""The pages of a study and of a data set."""
