"""A study file drafted from the folders of its trials."""
