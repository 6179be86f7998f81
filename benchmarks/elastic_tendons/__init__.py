"""What elastic tendons change on a recorded walk, beside published values: docs/elastic_tendons.md."""
