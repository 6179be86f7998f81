"""Where a center of pressure would have to lie for ground force and motion to agree best."""
