"""A study: many trials of many subjects described by one file, computed, compared and shown on one page."""
