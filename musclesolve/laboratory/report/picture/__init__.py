"""The moving picture of a result or a simulation: a page, a fragment of another page, GIF and MP4."""
