"""The recording under examination: read leniently, with what is known of it."""
