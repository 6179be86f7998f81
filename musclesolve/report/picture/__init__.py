"""The moving picture of a result: a page, a fragment of another page, GIF and MP4."""
