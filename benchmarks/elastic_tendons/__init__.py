"""Changes by elastic tendons on a recorded walk, beside published values: docs/elastic_tendons.md."""
