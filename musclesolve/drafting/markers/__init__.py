"""What the markers mean: a bundled set, or landmarks by the words in their names."""
