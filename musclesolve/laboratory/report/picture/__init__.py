"""The moving picture of a result or a simulation: a page, a part of another page, a still."""
