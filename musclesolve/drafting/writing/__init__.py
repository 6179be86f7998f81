"""A trial file as text: lines with where each value comes from, and lines that are left open."""
